//! Products of cooperative matrices.
//!
//! A matrix of R rows and C columns is R * C scalars in row-major order, spread over a subgroup of S
//! invocations: scalar `e` is component `e / S` of invocation `e % S`, whatever the matrix is of or for.

use super::module::{Component, Scalar};

/// OpCooperativeMatrixMulAddKHR: `m` x `k` by `k` x `n`, plus `m` x `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixMulAdd {
    /// Rows of A, C and the result.
    pub m: u32,
    /// Columns of B, C and the result.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// What is computed.
    pub of: MatrixComponents,
}

/// What the components of a product are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixComponents {
    /// Numbers, all floats or all integers: of A, B, C and the result.
    Numbers {
        /// Component type of A.
        a: Component,
        /// Component type of B.
        b: Component,
        /// Component type of C.
        c: Component,
        /// Component type of the result.
        result: Component,
        /// SaturatingAccumulationKHR.
        saturating: bool,
    },
    /// Shadows of `pass::defined`: the greatest of all that a component of the result hangs on.
    Shadows,
}

impl MatrixMulAdd {
    /// The types of the components of A, B, C and the result.
    pub fn scalars(&self) -> [Scalar; 4] {
        match self.of {
            MatrixComponents::Numbers { a, b, c, result, .. } => {
                [a.scalar, b.scalar, c.scalar, result.scalar]
            }
            MatrixComponents::Shadows => [Scalar::I32; 4],
        }
    }

    /// Scalars of A, B and C, or the result.
    pub fn sizes(&self) -> [usize; 3] {
        [self.m * self.k, self.k * self.n, self.m * self.n].map(|size| size as usize)
    }
}

/// A type of components, in the terms of VkComponentTypeKHR; integers and floats by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ComponentType {
    Float(u32),
    Bfloat16,
    FloatE4m3,
    FloatE5m2,
    Sint(u32),
    Uint(u32),
}

impl ComponentType {
    /// The same without the sign of an integer, of which types say nothing that counts.
    pub(crate) fn unsigned(self) -> ComponentType {
        if let Sint(bits) = self { Uint(bits) } else { self }
    }
}

impl std::fmt::Display for ComponentType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Float(bits) => write!(f, "FLOAT{bits}"),
            Bfloat16 => f.write_str("BFLOAT16"),
            FloatE4m3 => f.write_str("FLOAT8_E4M3"),
            FloatE5m2 => f.write_str("FLOAT8_E5M2"),
            Sint(bits) => write!(f, "SINT{bits}"),
            Uint(bits) => write!(f, "UINT{bits}"),
        }
    }
}

use ComponentType::{Bfloat16, Float, FloatE4m3, FloatE5m2, Sint, Uint};

/// A product of cooperative matrices of scope Subgroup that is offered: VkCooperativeMatrixPropertiesKHR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferedProduct {
    /// MSize, NSize, KSize.
    pub size: [u32; 3],
    /// What A has.
    pub a: ComponentType,
    /// What B has.
    pub b: ComponentType,
    /// What C and the result have.
    pub sum: ComponentType,
    /// SaturatingAccumulationKHR must be used; else it must not.
    pub saturating: bool,
}

/// What every type has. Programs that take the first of a type get this.
const SQUARE: &[[u32; 3]] = &[[16, 16, 16]];
const OF_HALVES: &[[u32; 3]] = &[[16, 16, 16], [16, 8, 16], [16, 8, 8], [8, 16, 16], [8, 8, 16]];
const OF_BYTES: &[[u32; 3]] = &[[16, 16, 16], [16, 16, 32], [16, 8, 32], [8, 16, 32], [8, 8, 32]];

/// Types of A, B, and both C and the result; the sizes of other devices, so that programs find theirs.
const OFFERED: &[(ComponentType, ComponentType, ComponentType, &[[u32; 3]])] = &[
    (Float(16), Float(16), Float(32), OF_HALVES),
    (Float(16), Float(16), Float(16), OF_HALVES),
    (Float(32), Float(32), Float(32), SQUARE),
    (Float(64), Float(64), Float(64), SQUARE),
    (Bfloat16, Bfloat16, Float(32), OF_HALVES),
    (Bfloat16, Bfloat16, Bfloat16, OF_HALVES),
    (FloatE4m3, FloatE4m3, Float(32), SQUARE),
    (FloatE5m2, FloatE5m2, Float(32), SQUARE),
    (FloatE4m3, FloatE4m3, Float(16), SQUARE),
    (FloatE5m2, FloatE5m2, Float(16), SQUARE),
    (FloatE4m3, FloatE4m3, FloatE4m3, SQUARE),
    (FloatE5m2, FloatE5m2, FloatE5m2, SQUARE),
    (Sint(8), Sint(8), Sint(32), OF_BYTES),
    (Uint(8), Uint(8), Uint(32), OF_BYTES),
    (Uint(8), Uint(8), Sint(32), OF_BYTES),
    (Sint(8), Uint(8), Sint(32), SQUARE),
    (Uint(8), Sint(8), Sint(32), SQUARE),
    (Sint(8), Sint(8), Sint(8), SQUARE),
    (Uint(8), Uint(8), Uint(8), SQUARE),
    (Sint(16), Sint(16), Sint(32), SQUARE),
    (Uint(16), Uint(16), Uint(32), SQUARE),
    (Sint(16), Sint(16), Sint(16), SQUARE),
    (Uint(16), Uint(16), Uint(16), SQUARE),
    (Sint(32), Sint(32), Sint(32), SQUARE),
    (Uint(32), Uint(32), Uint(32), SQUARE),
];

/// Whether sums of a type are offered without and with saturating accumulation. The conformance suite expects
/// of signed sums of 8 bits that wrap that they are read as unsigned (`truncate the result` in
/// vktComputeCooperativeMatrixTests.cpp), so narrow signed ones are offered with it alone.
fn accumulations(sum: ComponentType) -> &'static [bool] {
    match sum {
        Float(_) | Bfloat16 | FloatE4m3 | FloatE5m2 => &[false],
        Sint(8 | 16) => &[true],
        Sint(_) | Uint(_) => &[false, true],
    }
}

/// All products that are offered, in the order of the table.
pub fn offered_products() -> impl Iterator<Item = OfferedProduct> {
    OFFERED.iter().flat_map(|&(a, b, sum, sizes)| {
        accumulations(sum).iter().flat_map(move |&saturating| {
            sizes.iter().map(move |&size| OfferedProduct { size, a, b, sum, saturating })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `row_and_column` of the front end takes for granted.
    #[test]
    fn rows_divide_subgroups_or_the_other_way_round_and_matrices_divide_into_components() {
        for OfferedProduct { size: [m, n, k], .. } in offered_products() {
            for scalars in [m * k, k * n, m * n] {
                assert_eq!(scalars % 32, 0, "{m}x{n}x{k}");
            }
            assert!(n.is_power_of_two() && k.is_power_of_two(), "{m}x{n}x{k}");
        }
    }
}
