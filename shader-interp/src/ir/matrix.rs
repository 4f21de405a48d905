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
        /// Those of A.
        a: Component,
        /// Those of B.
        b: Component,
        /// Those of C.
        c: Component,
        /// Those of the result.
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
