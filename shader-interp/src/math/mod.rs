//! Arithmetic of one lane: **the same bits on every host and in every lane**, within the precision that
//! *Precision of Individual Operations* (Vulkan specification, appendix *Vulkan Environment for SPIR-V*) asks
//! for.
//!
//! Every function is a pure scalar without branches that depend on its arguments and without tables: called
//! for each of the 32 lanes in a loop it becomes vector code. Nothing is left to the host's mathematical
//! library, no multiplication is fused with an addition, and a NaN that is made or passed on by a function of
//! [`single`] or [`double`] is the canonical quiet NaN, because its sign and payload would otherwise depend
//! on the processor and on how the compiler ordered operands.
//!
//! Functions of [`single`] that shaders call most (`exp`, `exp2`, `log`, `log2`, `sin`, `cos`) are faithfully
//! rounded: their result is one of the two floats beside the exact value. They are computed in single
//! precision, twice as many lanes at a time as in double precision; machine code has the same steps. The
//! other transcendental functions are computed in double precision ([`wide`]), with a relative error of 2^-34
//! or better, and rounded once, so that most results are correctly rounded. 16-bit functions are computed in
//! single precision and rounded once more: `half::from_f32(single::sin(half::to_f32(h)))`.

pub mod convert;
pub mod double;
pub mod format;
pub mod half;
pub mod integer;
mod operations;
pub mod pack;
pub mod single;
pub mod small;
pub(crate) mod wide;

/// Estrin's scheme, which has fewer steps that wait for one another: the polynomial with these coefficients,
/// constant term first, of neighbouring terms with x, of their neighbouring sums with x^2, and so on.
#[inline(always)]
fn estrin<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let (mut terms, mut left, mut power) = (coefficients, N, x);
    while left > 1 {
        for k in 0..left / 2 {
            terms[k] = terms[2 * k] + terms[2 * k + 1] * power;
        }
        if left % 2 == 1 {
            terms[left / 2] = terms[left - 1];
        }
        left = left.div_ceil(2);
        power *= power;
    }
    terms[0]
}

/// The canonical NaN in place of any other.
#[inline(always)]
pub(crate) fn canonical(x: f32) -> f32 {
    // On bits throughout: where the comparison is one of floats, the compiler may drop it, as it is free to
    // choose the payload of a NaN.
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0_0000 } else { bits })
}

/// The canonical NaN in place of any other.
#[inline(always)]
fn canonical_64(x: f64) -> f64 {
    let bits = x.to_bits();
    f64::from_bits(if bits & !(1 << 63) > 0x7ff0_0000_0000_0000 { 0x7ff8_0000_0000_0000 } else { bits })
}
