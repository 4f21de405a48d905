//! A dispatch whose lanes are driven one by one.

use super::super::*;
use crate::access::{Reference, ShaderRead};
use crate::agent::Placement;
use crate::finding::FindingId;
use crate::system::{LANES, MemoryView};

pub(super) const U: StorageClasses = StorageClasses::UNIFORM;
pub(super) const W: StorageClasses = StorageClasses::WORKGROUP;

/// A dispatch of two workgroups of 64 invocations in two subgroups, over one buffer of 64 words and 256 bytes
/// of workgroup memory.
pub(super) struct Machine {
    pub(super) memory: CheckedMemory,
    pub(super) words: Vec<u32>,
    pub(super) open: Vec<u32>,
}

/// How a plain access is made.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) size: u8,
    pub(super) non_private: bool,
    pub(super) coherent: Option<Scope>,
    pub(super) reference: u32,
    pub(super) read_as: ShaderRead,
}

pub(super) const PRIVATE: How = How { non_private: false, ..SHARED };
pub(super) const SHARED: How =
    How { size: 4, non_private: true, coherent: None, reference: 0, read_as: ShaderRead::Storage };

pub(super) fn coherent(scope: Scope) -> How {
    How { coherent: Some(scope), ..SHARED }
}

pub(super) fn access(how: How, class: StorageClasses, write: bool) -> Access {
    Access {
        read_as: how.read_as,
        non_private: how.non_private,
        available: how.coherent.filter(|_| write),
        visible: how.coherent.filter(|_| !write),
        ..Access::plain(class, how.size, 1)
    }
}

pub(super) fn semantics(acquire: bool, release: bool, classes: StorageClasses, make: bool) -> Semantics {
    Semantics {
        acquire,
        release,
        classes,
        make_available: make && release,
        make_visible: make && acquire,
        volatile: false,
    }
}

pub(super) fn both(classes: StorageClasses) -> Semantics {
    semantics(true, true, classes, true)
}

impl Machine {
    pub(super) fn new(options: CheckOptions) -> Machine {
        Machine::of(options, 256, (true, false))
    }

    /// With so many bytes of memory for each workgroup; whether subgroups may have barriers of their own, and
    /// whether barriers of workgroups alone order, and their memory has no private accesses.
    pub(super) fn of(
        options: CheckOptions,
        bytes: u32,
        (subgroup_barriers, barriers_alone): (bool, bool),
    ) -> Machine {
        let mut memory = CheckedMemory::new(options);
        memory.begin_dispatch(DispatchInfo {
            number: 7,
            groups: [2, 1, 1],
            workgroup_size: 64,
            placement: Placement::in_order(32),
            subgroup_barriers,
            barriers_alone,
            non_private_workgroup: barriers_alone,
            ..DispatchInfo::default()
        });
        for group in 0..2 {
            memory.workgroup_begin(group, bytes, false);
        }
        Machine { memory, words: vec![0; 64], open: vec![0, 1] }
    }

    pub(super) fn stale() -> Machine {
        Machine::new(CheckOptions::default())
    }

    pub(super) fn enter(&mut self, lane: u32) {
        let (group, local) = (lane / 64, lane % 64);
        self.memory.enter_subgroup(&SubgroupIdentity {
            workgroup: group,
            workgroup_id: [group, 0, 0],
            subgroup: local / 32,
            lanes: 32,
            placement: Placement::in_order(32),
        });
    }

    pub(super) fn with<T>(
        &mut self,
        lane: u32,
        class: StorageClasses,
        byte: u32,
        reference: u32,
        act: impl FnOnce(&mut CheckedMemory, Pointers<'_>, Mask) -> T,
    ) -> T {
        self.enter(lane);
        let view = MemoryView::of_words(&mut self.words).at(0x1000).through(Reference(reference));
        let offset = Lanes([byte; LANES]);
        let pointers = if class == W {
            Pointers::Workgroup { offset: &offset, immediate: 0, reference: Reference(reference) }
        } else {
            Pointers::View { view: &view, offset: &offset, immediate: 0 }
        };
        act(&mut self.memory, pointers, 1 << (lane % 32))
    }

    pub(super) fn store(
        &mut self,
        site: u32,
        lane: u32,
        class: StorageClasses,
        byte: u32,
        how: How,
        value: u32,
    ) {
        let access = access(how, class, true);
        self.with(lane, class, byte, how.reference, |memory, to, mask| {
            memory.store(Site(site), to, mask, &access, &[Lanes([value; LANES])]).unwrap();
        });
    }

    pub(super) fn load(&mut self, site: u32, lane: u32, class: StorageClasses, byte: u32, how: How) -> u32 {
        let access = access(how, class, false);
        self.with(lane, class, byte, how.reference, |memory, from, mask| {
            let mut out = [Lanes::ZERO];
            memory.load(Site(site), from, mask, &access, &mut out).unwrap();
            out[0].0[(lane % 32) as usize]
        })
    }

    pub(super) fn atomic(&self, class: StorageClasses, scope: Scope, semantics: Semantics) -> Access {
        Access { atomic: Some(scope), semantics, non_private: true, ..Access::plain(class, 4, 1) }
    }

    pub(super) fn atomic_store(
        &mut self,
        site: u32,
        lane: u32,
        class: StorageClasses,
        byte: u32,
        scope: Scope,
        semantics: Semantics,
        value: u32,
    ) {
        let access = self.atomic(class, scope, semantics);
        self.with(lane, class, byte, 0, |memory, to, mask| {
            memory.store(Site(site), to, mask, &access, &[Lanes([value; LANES])]).unwrap();
        });
    }

    pub(super) fn atomic_load(
        &mut self,
        site: u32,
        lane: u32,
        class: StorageClasses,
        byte: u32,
        scope: Scope,
        semantics: Semantics,
    ) -> u32 {
        let access = self.atomic(class, scope, semantics);
        self.with(lane, class, byte, 0, |memory, from, mask| {
            let mut out = [Lanes::ZERO];
            memory.load(Site(site), from, mask, &access, &mut out).unwrap();
            out[0].0[(lane % 32) as usize]
        })
    }

    pub(super) fn add(
        &mut self,
        site: u32,
        lane: u32,
        class: StorageClasses,
        byte: u32,
        scope: Scope,
        semantics: Semantics,
        value: u32,
    ) -> u32 {
        let access = self.atomic(class, scope, semantics);
        self.with(lane, class, byte, 0, |memory, to, mask| {
            let mut out = [Lanes::ZERO];
            let value = [Lanes([value; LANES])];
            memory
                .read_modify_write(Site(site), AtomicOp::IAdd, to, mask, &access, &value, None, &mut out)
                .unwrap();
            out[0].0[(lane % 32) as usize]
        })
    }

    /// An update of the word at `byte`; returns what was there.
    pub(super) fn update(
        &mut self,
        at: (u32, u32),
        op: AtomicOp,
        access: &Access,
        byte: u32,
        value: u32,
        comparator: u32,
    ) -> u32 {
        let (site, lane) = at;
        self.with(lane, access.class, byte, 0, |memory, to, mask| {
            let (mut out, value) = ([Lanes::ZERO], [Lanes([value; LANES])]);
            let comparator = [Lanes([comparator; LANES])];
            let comparator = (op == AtomicOp::CompareExchange).then_some(&comparator[..]);
            memory.read_modify_write(Site(site), op, to, mask, access, &value, comparator, &mut out).unwrap();
            out[0].0[(lane % 32) as usize]
        })
    }

    /// Semantics: where it finds the comparator, and else.
    pub(super) fn compare_exchange(
        &mut self,
        site: u32,
        lane: u32,
        byte: u32,
        scope: Scope,
        (equal, unequal): (Semantics, Semantics),
        comparator: u32,
        value: u32,
    ) -> u32 {
        let access = Access { unequal, ..self.atomic(U, scope, equal) };
        self.update((site, lane), AtomicOp::CompareExchange, &access, byte, value, comparator)
    }

    pub(super) fn exchange(
        &mut self,
        site: u32,
        lane: u32,
        byte: u32,
        scope: Scope,
        semantics: Semantics,
        value: u32,
    ) -> u32 {
        let access = self.atomic(U, scope, semantics);
        self.update((site, lane), AtomicOp::Exchange, &access, byte, value, 0)
    }

    pub(super) fn fence(&mut self, site: u32, lane: u32, scope: Scope, semantics: Semantics) {
        self.enter(lane);
        self.memory.fence(Site(site), 1 << (lane % 32), scope, &semantics);
    }

    /// A workgroup barrier by all 64 invocations of `group`.
    pub(super) fn barrier(&mut self, site: u32, group: u32, memory: Scope, semantics: Semantics) {
        for lane in [group * 64, group * 64 + 32] {
            self.enter(lane);
            self.memory.barrier_arrive(Site(site), Mask::MAX, Scope::Workgroup, memory, &semantics);
        }
        self.memory.barrier_complete(group);
    }

    pub(super) fn end(mut self) -> Vec<Finding> {
        for group in std::mem::take(&mut self.open) {
            self.memory.workgroup_end(group);
        }
        self.memory.end_dispatch()
    }

    pub(super) fn ids(self) -> Vec<FindingId> {
        self.end().into_iter().map(|finding| finding.id).collect()
    }
}
