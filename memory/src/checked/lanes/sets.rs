//! The common case for each instruction set: what a whole subgroup does is a few instructions on wide
//! vectors. It is compiled here, once, and not again for each kind of instruction of the interpreter.

use super::super::core::Core;
use super::super::words::{Place, Words};
use super::{FastPath, LaneOperation, serve};
use crate::access::Access;
use crate::instructions::{Level, Set};
use crate::race::AgentId;
use crate::system::Mask;

/// An instruction of a subgroup: the access, the number of its kind, and the workgroup and the first agent of
/// those that execute it.
pub(in crate::checked) type Executed<'a> = (&'a Access, u32, u32, AgentId);

macro_rules! common_case {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        $(
            $(#[$attribute])*
            #[inline(never)]
            fn $name<C: Words, const NEAR: bool>(
                core: &Core,
                (access, kind, workgroup, first_lane): Executed<'_>,
                cells: &mut C,
                place: &Place<'_>,
                mask: Mask,
                does: LaneOperation<'_>,
            ) -> Mask {
                let fast = FastPath::<NEAR>::new(core, kind, workgroup, first_lane);
                serve(fast, core, cells, place, mask, access, does)
            }
        )*
    };
}
common_case! {
    baseline;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    avx2;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt")]
    avx512;
}

/// Serves the lanes that are in the common case; returns the others. `NEAR`: the subgroup may have passed
/// barriers of its own.
#[inline(always)]
pub(in crate::checked) fn common_case<C: Words, const NEAR: bool>(
    core: &Core,
    executed: Executed<'_>,
    cells: &mut C,
    place: &Place<'_>,
    mask: Mask,
    does: LaneOperation<'_>,
) -> Mask {
    if cfg!(one_instruction_set) {
        return baseline::<C, NEAR>(core, executed, cells, place, mask, does);
    }
    match Level::detect().set() {
        // SAFETY: detected: `Level` is nothing else.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512::<C, NEAR>(core, executed, cells, place, mask, does) },
        // SAFETY: detected.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2::<C, NEAR>(core, executed, cells, place, mask, does) },
        Set::Baseline => baseline::<C, NEAR>(core, executed, cells, place, mask, does),
    }
}
