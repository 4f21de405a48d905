//! Loads and stores of flat memory that need no table entry: 32-bit components of a bound view or of
//! workgroup memory.

use super::context::Context;
use super::target::{Target, Work};
use crate::code::Inst;
use crate::ops::memory::shifted;
use pellucid_memory::access::{Access, Reference, Site};
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, Pointers, Trap};

/// Flat memory tells nobody of accesses.
const NOWHERE: Site = Site(0);

/// The offsets in bytes; `imm` is added to them.
#[inline(always)]
fn offset(inst: &Inst, vectors: &[Lanes]) -> Lanes {
    shifted(&vectors[inst.a as usize], u32::from(inst.c) & 31)
}

const fn access(components: u8) -> Access {
    Access::plain(StorageClasses::UNIFORM, 4, components)
}

macro_rules! flat_work {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$n:ident>)?($context:ident, $inst:ident, $vectors:ident, $mask:ident, $memory:ident) $body:block
    )*) => {
        $(
            $(#[$doc])*
            pub(super) struct $name $(<const $n: usize>)?;

            impl<M: LaneAccesses, $(const $n: usize)?> Work<Inst, M> for $name $(<$n>)? {
                type Output = ();

                #[inline(always)]
                fn run<T: Target>(
                    $context: &Context<'_>,
                    $inst: &Inst,
                    $vectors: &mut [Lanes],
                    $mask: Mask,
                    $memory: &mut M,
                ) -> Result<(), Box<Trap>> {
                    $body.map_err(Box::new)
                }
            }
        )*
    };
}
flat_work! {
    /// `N` components of the view in slot `b`, at the offsets in `a` (shifted by `c`), to the registers from
    /// `dst` on.
    LoadView<N>(context, inst, vectors, mask, memory) {
        let (view, offset) = (&context.views[inst.b as usize], &offset(inst, vectors));
        let from = Pointers::View { view, offset, immediate: inst.imm };
        memory.load(NOWHERE, from, mask, &access(N as u8), &mut vectors[inst.dst as usize..][..N])
    }

    /// One load for all lanes: of the first active lane.
    LoadViewUniform(context, inst, vectors, mask, memory) {
        let first = mask.trailing_zeros() as usize % LANES;
        let at = (vectors[inst.a as usize].0[first] << (inst.c & 31)).wrapping_add(inst.imm);
        let from = Pointers::View { view: &context.views[inst.b as usize], offset: &Lanes::ZERO, immediate: at };
        let mut word = [Lanes::ZERO];
        let done = memory.load(NOWHERE, from, 1, &access(1), &mut word);
        vectors[inst.dst as usize].0 = [word[0].0[0]; LANES];
        done
    }

    /// The same of workgroup memory.
    LoadWorkgroup<N>(_context, inst, vectors, mask, memory) {
        let offset = &offset(inst, vectors);
        let from = Pointers::Workgroup { offset, immediate: inst.imm, reference: Reference(0) };
        memory.load(NOWHERE, from, mask, &access(N as u8), &mut vectors[inst.dst as usize..][..N])
    }

    /// A component, `dst`, to the view.
    StoreView(context, inst, vectors, mask, memory) {
        let (view, offset) = (&context.views[inst.b as usize], &offset(inst, vectors));
        let to = Pointers::View { view, offset, immediate: inst.imm };
        memory.store(NOWHERE, to, mask, &access(1), &vectors[inst.dst as usize..][..1])
    }

    /// A component, `dst`, to workgroup memory.
    StoreWorkgroup(_context, inst, vectors, mask, memory) {
        let offset = &offset(inst, vectors);
        let to = Pointers::Workgroup { offset, immediate: inst.imm, reference: Reference(0) };
        memory.store(NOWHERE, to, mask, &access(1), &vectors[inst.dst as usize..][..1])
    }
}
