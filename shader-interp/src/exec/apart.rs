//! Accesses as functions of their own for each instruction set. An image operation makes accesses in many
//! places; what modelled memory does for one is long.

use super::context::Context;
use super::target::{Target, Work};
use pellucid_memory::access::{Access, AtomicOp, Site};
use pellucid_memory::system::{LaneAccesses, Lanes, Mask, Notice, Pointers, Trap};
use std::marker::PhantomData;

/// A memory, each of whose accesses is a call.
pub(super) struct Apart<'a, T, M> {
    context: &'a Context<'a>,
    memory: &'a mut M,
    target: PhantomData<T>,
}

impl<'a, T, M> Apart<'a, T, M> {
    /// Such a view of a memory.
    pub fn new(context: &'a Context<'a>, memory: &'a mut M) -> Apart<'a, T, M> {
        Apart { context, memory, target: PhantomData }
    }
}

impl<T: Target, M: LaneAccesses> LaneAccesses for Apart<'_, T, M> {
    const MODELLED: bool = M::MODELLED;

    #[inline(always)]
    fn load(
        &mut self,
        at: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let load = Load { at, from, access };
        T::work::<Call, _, _>(self.context, &load, out, mask, self.memory).map_err(|trap| *trap)
    }

    #[inline(always)]
    fn store(
        &mut self,
        at: Site,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        let store = Store { at, to, access, value };
        T::work::<Call, _, _>(self.context, &store, &mut [], mask, self.memory).map_err(|trap| *trap)
    }

    #[inline(always)]
    fn read_modify_write(
        &mut self,
        at: Site,
        op: AtomicOp,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
        comparator: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let modification = Modification { at, op, to, access, value, comparator };
        T::work::<Call, _, _>(self.context, &modification, out, mask, self.memory).map_err(|trap| *trap)
    }

    fn notice(&mut self, at: Site, mask: Mask, notice: &Notice<'_>) {
        self.memory.notice(at, mask, notice);
    }
}

struct Load<'a> {
    at: Site,
    from: Pointers<'a>,
    access: &'a Access,
}

struct Store<'a> {
    at: Site,
    to: Pointers<'a>,
    access: &'a Access,
    value: &'a [Lanes],
}

struct Modification<'a> {
    at: Site,
    op: AtomicOp,
    to: Pointers<'a>,
    access: &'a Access,
    value: &'a [Lanes],
    comparator: Option<&'a [Lanes]>,
}

/// The call of an access.
struct Call;

macro_rules! calls {
    ($($access:ident($it:ident, $memory:ident, $mask:ident, $out:ident) $body:block)*) => {
        $(
            impl<M: LaneAccesses> Work<$access<'_>, M> for Call {
                type Output = ();

                #[inline(always)]
                fn run<T: Target>(
                    _: &Context<'_>,
                    $it: &$access<'_>,
                    $out: &mut [Lanes],
                    $mask: Mask,
                    $memory: &mut M,
                ) -> Result<(), Box<Trap>> {
                    $body.map_err(Box::new)
                }
            }
        )*
    };
}
calls! {
    Load(it, memory, mask, out) { memory.load(it.at, it.from, mask, it.access, out) }
    Store(it, memory, mask, _out) { memory.store(it.at, it.to, mask, it.access, it.value) }
    Modification(it, memory, mask, out) {
        memory.read_modify_write(it.at, it.op, it.to, mask, it.access, it.value, it.comparator, out)
    }
}
