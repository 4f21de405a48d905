//! Products of cooperative matrices that are offered. The interpreter computes others, too; these are the
//! sizes of other devices, so that programs find theirs.

use super::later::{BFLOAT16, E4M3, E5M2};
use ash::vk;
use vk::ComponentTypeKHR as C;

/// Rows of A, columns of B, columns of A.
type Size = [u32; 3];

/// What every type has. Programs that take the first of a type get this.
const SQUARE: &[Size] = &[[16, 16, 16]];
const OF_HALVES: &[Size] = &[[16, 16, 16], [16, 8, 16], [16, 8, 8], [8, 16, 16], [8, 8, 16]];
const OF_BYTES: &[Size] = &[[16, 16, 16], [16, 16, 32], [16, 8, 32], [8, 16, 32], [8, 8, 32]];

/// Types of A, B, and both C and the result; sizes.
const TYPES: &[(C, C, C, &[Size])] = &[
    (C::FLOAT16, C::FLOAT16, C::FLOAT32, OF_HALVES),
    (C::FLOAT16, C::FLOAT16, C::FLOAT16, OF_HALVES),
    (C::FLOAT32, C::FLOAT32, C::FLOAT32, SQUARE),
    (C::FLOAT64, C::FLOAT64, C::FLOAT64, SQUARE),
    (BFLOAT16, BFLOAT16, C::FLOAT32, OF_HALVES),
    (BFLOAT16, BFLOAT16, BFLOAT16, OF_HALVES),
    (E4M3, E4M3, C::FLOAT32, SQUARE),
    (E5M2, E5M2, C::FLOAT32, SQUARE),
    (E4M3, E4M3, C::FLOAT16, SQUARE),
    (E5M2, E5M2, C::FLOAT16, SQUARE),
    (E4M3, E4M3, E4M3, SQUARE),
    (E5M2, E5M2, E5M2, SQUARE),
    (C::SINT8, C::SINT8, C::SINT32, OF_BYTES),
    (C::UINT8, C::UINT8, C::UINT32, OF_BYTES),
    (C::UINT8, C::UINT8, C::SINT32, OF_BYTES),
    (C::SINT8, C::UINT8, C::SINT32, SQUARE),
    (C::UINT8, C::SINT8, C::SINT32, SQUARE),
    (C::SINT8, C::SINT8, C::SINT8, SQUARE),
    (C::UINT8, C::UINT8, C::UINT8, SQUARE),
    (C::SINT16, C::SINT16, C::SINT32, SQUARE),
    (C::UINT16, C::UINT16, C::UINT32, SQUARE),
    (C::SINT16, C::SINT16, C::SINT16, SQUARE),
    (C::UINT16, C::UINT16, C::UINT16, SQUARE),
    (C::SINT32, C::SINT32, C::SINT32, SQUARE),
    (C::UINT32, C::UINT32, C::UINT32, SQUARE),
];

/// Whether sums of a type are offered without and with saturating accumulation. The conformance suite expects
/// of signed sums of 8 bits that wrap that they are read as unsigned (`truncate the result` in
/// vktComputeCooperativeMatrixTests.cpp), so narrow signed ones are offered with it alone.
fn accumulations(sum: C) -> &'static [bool] {
    match sum {
        C::FLOAT16 | C::FLOAT32 | C::FLOAT64 | BFLOAT16 | E4M3 | E5M2 => &[false],
        C::SINT8 | C::SINT16 => &[true],
        _ => &[false, true],
    }
}

/// All products, in the order of the table.
pub fn products() -> Vec<vk::CooperativeMatrixPropertiesKHR<'static>> {
    let mut products = Vec::new();
    for &(a, b, sum, sizes) in TYPES {
        for &saturating in accumulations(sum) {
            products.extend(sizes.iter().map(|&[m, n, k]| {
                vk::CooperativeMatrixPropertiesKHR::default()
                    .m_size(m)
                    .n_size(n)
                    .k_size(k)
                    .a_type(a)
                    .b_type(b)
                    .c_type(sum)
                    .result_type(sum)
                    .saturating_accumulation(saturating)
                    .scope(vk::ScopeKHR::SUBGROUP)
            }));
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_matrix_divides_into_components_of_the_largest_subgroup() {
        for p in products() {
            for scalars in [p.m_size * p.k_size, p.k_size * p.n_size, p.m_size * p.n_size] {
                assert_eq!(scalars % 32, 0, "{p:?}");
            }
        }
    }
}
