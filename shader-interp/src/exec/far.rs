//! What a loop calls instead of holding it: the table's long operations on lanes, in loops that are not to be
//! large the others as well, operations between lanes, products of matrices. Each is a function of its own
//! for each instruction set, and the same one whatever memory system the loop is compiled over.

use super::context::Context;
use super::lane::{Lane, lanes, test};
use super::target::{CHUNK, Target, Work};
use crate::code::isa::instruction_table;
use crate::code::{Inst, MatrixEntry};
use crate::ir::{GroupFold, GroupKind, Scalar};
use crate::math::integer::{self, wide};
use crate::math::{convert, double, half, pack, single, small};
use crate::ops::{group, matrix};
use pellucid_memory::system::{LANES, Lanes, Mask, Trap};

macro_rules! operations {
    ($($name:ident ($($x:ident : $t:ident),*) -> $result:ident $body:block)*) => {
        $(
            /// # Safety
            /// The registers of the instruction are inside the file, to which there is no reference.
            #[inline(always)]
            pub(in crate::exec) unsafe fn $name<T: Target>(file: *mut Lanes, inst: &Inst) {
                T::out_of_line(move || lanes!(file, inst, ($($x: $t),*) -> $result $body));
            }
        )*
    };
}

macro_rules! tests {
    ($($name:ident ($($x:ident : $t:ident),*) $body:block)*) => {
        $(
            /// # Safety
            /// As above.
            #[inline(always)]
            pub(in crate::exec) unsafe fn $name<T: Target>(file: *const Lanes, inst: &Inst) -> Mask {
                T::out_of_line(move || test!(T, file, inst, ($($x: $t),*) $body))
            }
        )*
    };
}

macro_rules! define_far {
    (
        ()
        near { $($(#[$near_doc:meta])* $near:ident ($($nx:ident : $nt:ident),*) -> $nr:ident $nb:block)* }
        far { $($(#[$far_doc:meta])* $far:ident ($($fx:ident : $ft:ident),*) -> $fr:ident $fb:block)* }
        test { $($test:ident $split:ident $jump:ident $repeat:ident ($($tx:ident : $tt:ident),*) $tb:block)* }
        far_test { $($far_test:ident ($($ux:ident : $ut:ident),*) $ub:block)* }
        special { $($special:tt)* }
    ) => {
        /// The rows of the table, by their names.
        #[allow(non_snake_case)]
        pub(super) mod row {
            use super::*;

            operations! {
                $($near ($($nx: $nt),*) -> $nr $nb)*
                $($far ($($fx: $ft),*) -> $fr $fb)*
            }
            tests! {
                $($test ($($tx: $tt),*) $tb)*
                $($far_test ($($ux: $ut),*) $ub)*
            }
        }
    };
}
instruction_table!(define_far);

/// The shuffle `which` of a [`Shuffle`](crate::code::Opcode::Shuffle), in subgroups of so many invocations.
#[inline(always)]
pub(super) fn shuffle<T: Target>(value: &Lanes, by: &Lanes, which: u32, subgroup_size: u32) -> Lanes {
    T::out_of_line(move || match which {
        0 => group::shuffle(value, by),
        1 => group::shuffle_xor(value, by),
        2 => group::shuffle_up(value, by),
        3 => group::shuffle_down(value, by),
        4 => group::quad_broadcast(value, by),
        k => group::rotate(value, by, (1 << (k - 5).min(5)).min(subgroup_size)),
    })
}

/// [`group::fold`] of registers.
#[inline(always)]
pub(super) fn fold<T: Target, const N: usize>(
    (fold, kind, scalar): (GroupFold, GroupKind, Scalar),
    value: &[Lanes; N],
    mask: Mask,
) -> [Lanes; N] {
    let mut out = [Lanes::ZERO; N];
    let to = &mut out;
    T::out_of_line(move || group::fold(fold, kind, scalar, value, mask, to));
    out
}

/// Products of cooperative matrices.
pub(super) struct ProductOf;

impl Work<MatrixEntry, ()> for ProductOf {
    type Output = ();

    #[inline(always)]
    fn run<T: Target>(
        context: &Context<'_>,
        entry: &MatrixEntry,
        vectors: &mut [Lanes],
        mask: Mask,
        (): &mut (),
    ) -> Result<(), Box<Trap>> {
        matrix::mul_add(context, entry, vectors, mask);
        Ok(())
    }
}
