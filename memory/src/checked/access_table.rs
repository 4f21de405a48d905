//! The kinds of accesses that a dispatch makes, numbered.

use crate::access::{Access, Reference, Site};
use crate::race::{AgentId, Cell, StaticAccess, bytes_of};
use crate::scope::{Scope, Semantics, StorageClasses};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

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
        /// Of one agent the earlier one is ordered before this one.
        const OWN = 4;
        /// They have one reference, and both are non-private.
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
        /// Of one agent the two race, which was told so often that it is only counted from now on.
        const TOLD = 1024;
    }
}

/// What is known of a pair, or nothing yet.
type Known = std::cell::Cell<Looked>;

/// Of so many kinds, 1 << `PAIRED`, pairs are known: an unrolled transform has hundreds.
const PAIRED: u32 = 11;
/// The same at first.
const SMALL: u32 = 4;

/// Numbers kinds; number 0 is never used.
#[derive(Clone)]
pub(super) struct AccessTable {
    list: Vec<StaticAccess>,
    /// Of the first ones, beside each earlier one: a row of 1 << `row` for each.
    looked: Vec<Known>,
    row: u32,
    index: FxHashMap<StaticAccess, u32>,
    /// So many pairs of one agent race and are only counted, and how often they were.
    told: u32,
    counted: RefCell<FxHashMap<(u32, u32), u64>>,
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
            looked: vec![Known::default(); 1 << (2 * SMALL)],
            row: SMALL,
            told: 0,
            counted: RefCell::default(),
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

    #[inline(always)]
    fn known(&self, number: u32, earlier: u32) -> Option<&Known> {
        let inside = (number | earlier) >> self.row == 0;
        self.looked.get((number << self.row | earlier) as usize).filter(|_| inside)
    }

    /// Every kind in the list has a row, up to the most that are known in pairs.
    fn make_room(&mut self) {
        if self.list.len() > 1 << self.row && self.row < PAIRED {
            let old = std::mem::replace(&mut self.looked, vec![Known::default(); 1 << (2 * self.row + 2)]);
            for (number, row) in old.chunks(1 << self.row).enumerate() {
                let start = number << (self.row + 1);
                self.looked[start..start + row.len()].clone_from_slice(row);
            }
            self.row += 1;
        }
    }

    /// What is known of the kind `earlier` beside this one.
    #[inline(always)]
    pub fn beside(&self, number: u32, earlier: u32) -> Looked {
        let place = self.known(number, earlier);
        match place.map(Known::get) {
            Some(looked) if looked.contains(Looked::KNOWN) => looked,
            _ => self.look(number, earlier, place),
        }
    }

    #[cold]
    fn look(&self, number: u32, earlier: u32, place: Option<&Known>) -> Looked {
        let (own, earlier) = (self.get(number), self.get(earlier));
        let same = own.reference == earlier.reference;
        let mutual = same && own.atomic && earlier.atomic && own.size == earlier.size;
        let level = own.level.min(earlier.level);
        let mut looked = Looked::KNOWN;
        looked.set(Looked::ATOMIC, earlier.atomic);
        looked.set(Looked::OWN, earlier.precedes_own(own));
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

    /// A race of one agent by accesses of these kinds, the later one a plain write, is only counted from now
    /// on.
    pub fn only_count(&mut self, number: u32, earlier: u32) {
        let known = self.beside(number, earlier);
        let place = self.known(number, earlier);
        if let Some(place) = place.filter(|_| !known.contains(Looked::TOLD)) {
            place.set(known | Looked::TOLD);
            self.told += 1;
        }
    }

    /// How many pairs of kinds are only counted.
    #[inline(always)]
    pub fn only_counted(&self) -> u32 {
        self.told
    }

    /// An agent writes so many words, that have this cell, over what it accessed through another reference:
    /// counts the races of their components, so many of a word. Accesses by `agent` are its own.
    #[cold]
    #[inline(never)]
    pub fn count(&self, number: u32, cell: &Cell, agent: AgentId, (words, per_word): (u64, usize)) {
        let [first, latest] = cell.reader_bytes;
        let earlier = [(&cell.readers[0], first), (&cell.readers[1], latest), (&cell.write, 15)];
        for (earlier, bytes) in earlier {
            if earlier.kind != 0
                && earlier.agent == agent
                && self.beside(number, earlier.kind).contains(Looked::TOLD)
            {
                let touched = bytes_of(per_word).iter().filter(|part| bytes & **part != 0).count() as u64;
                *self.counted.borrow_mut().entry((earlier.kind, number)).or_default() += words * touched;
            }
        }
    }

    /// About how many bytes what is known of pairs takes.
    pub fn weight(&self) -> usize {
        size_of_val(&self.looked[..])
    }

    /// What was counted since this was last asked, by the earlier and the later kind.
    pub fn take_counted(&self) -> impl Iterator<Item = ((u32, u32), u64)> + use<> {
        self.counted.take().into_iter()
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
            self.make_room();
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
