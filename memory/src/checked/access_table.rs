//! The kinds of accesses that a dispatch makes, numbered.

use crate::access::{Access, Reference, Site};
use crate::race::StaticAccess;
use crate::scope::{Scope, Semantics, StorageClasses};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// What an instruction does with the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Read,
    Write,
    Modify,
    /// A compare-exchange that fails: a read with the Unequal semantics.
    Fail,
}

#[derive(Clone)]
struct Recent {
    access: Access,
    reference: Reference,
    does: Role,
    number: u32,
}

bitflags::bitflags! {
    /// What is known of an earlier kind of accesses beside the present one.
    #[derive(Clone, Copy, Default)]
    pub(super) struct Looked: u16 {
        const KNOWN = 1;
        /// The earlier one is atomic.
        const ATOMIC = 2;
        /// They have one reference.
        const SAME = 4;
        /// And both are non-private.
        const SHARED = 8;
        /// Both are mutually ordered atomics.
        const MUTUAL = 16;
        /// They are within the workgroup.
        const LOCAL = 32;
        /// The earlier one is private, and this one is not.
        const HIDDEN = 64;
        /// They have one reference, and a barrier between them needs to order them alone.
        const PASSED = 128;
        /// The earlier one outlasts this one, unless a barrier orders all who can reach the location.
        const OUTLASTS = 256;
        /// The earlier one is more available: of one agent, times are looked at.
        const MORE_AVAILABLE = 512;
    }
}

/// So many kinds are known in pairs.
const PAIRED: usize = 32;

/// Numbers kinds; number 0 is never used.
#[derive(Clone)]
pub(super) struct AccessTable {
    list: Vec<StaticAccess>,
    /// Of the first ones, beside each earlier one: what is known, or nothing yet.
    looked: Vec<[Cell<Looked>; PAIRED]>,
    index: FxHashMap<StaticAccess, u32>,
    /// The last kind of each site.
    recent: Vec<Option<Recent>>,
    /// Workgroup variables that lie over others: they share the first one's reference.
    overlaid: Vec<u32>,
}

impl AccessTable {
    /// Kinds of accesses of a shader with these workgroup variables (first byte and bytes). Those that lie
    /// over each other are the blocks of VK_KHR_workgroup_memory_explicit_layout; all of them have a single
    /// common reference (Vulkan memory model, *Reference*).
    pub fn new(variables: &[(u32, u32)]) -> AccessTable {
        let ends = |(start, size): (u32, u32)| (u64::from(start), u64::from(start) + u64::from(size));
        let over = |a: u32, b: u32| {
            let ((start, end), (first, last)) = (ends(variables[a as usize]), ends(variables[b as usize]));
            a != b && start < last && first < end
        };
        let all = 0..variables.len() as u32;
        let overlaid = all.clone().filter(|a| all.clone().any(|b| over(*a, b))).collect();
        let nobody = StaticAccess::plain(Site(0), Default::default(), u32::MAX, false);
        AccessTable {
            list: vec![nobody],
            looked: Vec::new(),
            index: FxHashMap::default(),
            recent: Vec::new(),
            overlaid,
        }
    }

    pub fn list(&self) -> &[StaticAccess] {
        &self.list
    }

    #[inline]
    pub fn get(&self, number: u32) -> &StaticAccess {
        &self.list[number as usize]
    }

    /// What is known of the kind `earlier` beside this one.
    #[inline(always)]
    pub fn beside(&self, number: u32, earlier: u32) -> Looked {
        let place = self.looked.get(number as usize).and_then(|row| row.get(earlier as usize));
        match place.map(Cell::get) {
            Some(looked) if looked.contains(Looked::KNOWN) => looked,
            _ => self.look(number, earlier, place),
        }
    }

    #[cold]
    fn look(&self, number: u32, earlier: u32, place: Option<&Cell<Looked>>) -> Looked {
        let (own, earlier) = (self.get(number), self.get(earlier));
        let same = own.reference == earlier.reference;
        let mutual = same && own.atomic && earlier.atomic && own.size == earlier.size;
        let level = own.level.min(earlier.level);
        let mut looked = Looked::KNOWN;
        looked.set(Looked::ATOMIC, earlier.atomic);
        looked.set(Looked::SAME, same);
        looked.set(Looked::SHARED, earlier.shares(own));
        // Queue family and device scope: one instance in a dispatch.
        looked.set(Looked::MUTUAL, mutual && level >= Some(2));
        looked.set(Looked::LOCAL, mutual && level == Some(1));
        looked.set(Looked::OUTLASTS, earlier.outlasts(own));
        looked.set(Looked::PASSED, same && earlier.needs_order_alone(own));
        looked.set(Looked::HIDDEN, earlier.hidden_by(own));
        looked.set(Looked::MORE_AVAILABLE, earlier.own() > own.own());
        if let Some(place) = place {
            place.set(looked);
        }
        looked
    }

    /// The number of what this instruction does.
    #[inline]
    pub fn number(&mut self, at: Site, access: &Access, reference: Reference, does: Role) -> u32 {
        if let Some(Some(recent)) = self.recent.get(at.0 as usize)
            && recent.does == does
            && recent.reference == reference
            && recent.access == *access
        {
            return recent.number;
        }
        self.find(at, access, reference, does)
    }

    #[cold]
    fn find(&mut self, at: Site, access: &Access, reference: Reference, does: Role) -> u32 {
        let level = |scope: Option<Scope>| scope.and_then(Scope::level).map(|level| level as u8);
        let write = matches!(does, Role::Write | Role::Modify);
        let read = !matches!(does, Role::Write);
        let mut kind = StaticAccess::plain(at, access.class, reference.0, write);
        if access.class == StorageClasses::WORKGROUP && self.overlaid.contains(&reference.0) {
            kind.reference = self.overlaid[0];
        }
        kind.read = read;
        kind.write = write;
        kind.non_private = access.non_private;
        kind.size = access.size;
        kind.read_as = access.read_as;
        kind.dealt = access.dealt;
        if access.atomic.is_some() {
            kind.atomic = true;
            kind.level = level(access.atomic);
            let semantics = if does == Role::Fail { access.unequal } else { access.semantics };
            kind.semantics = Semantics {
                acquire: semantics.acquire && read,
                release: semantics.release && write,
                make_available: semantics.make_available && write,
                make_visible: semantics.make_visible && read,
                ..semantics
            };
        } else {
            kind.available = write && access.available.is_some();
            kind.visible = read && access.visible.is_some();
            kind.level = if write { level(access.available) } else { level(access.visible) };
        }
        let kind = kind.normalised();
        let next = self.list.len() as u32;
        let number = *self.index.entry(kind).or_insert(next);
        if number == next {
            self.list.push(kind);
            self.looked.resize_with(self.list.len().min(PAIRED), Default::default);
        }
        let slot = at.0 as usize;
        if slot < 1 << 20 {
            if self.recent.len() <= slot {
                self.recent.resize_with(slot + 1, || None);
            }
            self.recent[slot] = Some(Recent { access: *access, reference, does, number });
        }
        number
    }
}
