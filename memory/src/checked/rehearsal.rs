//! Rehearsals: executions of a dispatch whose stores to device memory nobody else sees. They are made before
//! the one that counts, to find what only some schedules and values show.

use super::CheckedMemory;
use super::core::Core;
use super::lane::{Lane, pieces};
use super::report::Report;
use crate::access::{Access, Site};
use crate::history::ValuePolicy;
use crate::race::{AgentId, Space};
use crate::raw::{self, MemoryView};
use crate::system::{LANES, Lanes, Mask, Pointers};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// What a rehearsal has stored.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    /// Of the rehearsal, among those of a dispatch: from 1 on, or 0 where it has the dispatch's own seed.
    pub number: u32,
    /// By the address of an aligned word of device memory its bits, and which of its bytes (bit `b` for byte
    /// `b`).
    words: FxHashMap<u64, (u32, u8)>,
}

impl Overlay {
    /// The bits of `size` bytes at `address`, where memory has `held`.
    pub fn over(&self, address: u64, size: u8, held: u64) -> u64 {
        pieces(address, size).fold(held, |value, piece| {
            let Some((word, stored)) = self.words.get(&piece.word) else { return value };
            let bytes = piece.bytes & stored;
            let mask = piece.lift_of(u32::MAX, bytes);
            value & !mask | piece.lift_of(*word, bytes)
        })
    }

    fn store(&mut self, address: u64, size: u8, value: u64) {
        for piece in pieces(address, size) {
            let (word, stored) = self.words.entry(piece.word).or_default();
            let mask = crate::history::bits(piece.bytes);
            *word = *word & !mask | piece.place(value) & mask;
            *stored |= piece.bytes;
        }
    }
}

/// Loads whose undefined values a rehearsal follows to where they are used.
#[derive(Clone, Debug, Default)]
pub(super) struct FollowedLoads {
    loads: FxHashSet<Site>,
    /// Who has with its last load, and which components, as bits.
    readers: Vec<(AgentId, u32)>,
    /// What of its next store to workgroup memory an invocation has from memory that nothing has written: the
    /// component, and the load that read it.
    storing: FxHashMap<AgentId, SmallVec<[(u32, Site); 4]>>,
    /// By workgroup and byte of its memory what holds a copy of such, and that load.
    copies: FxHashMap<(u32, u64), Site>,
    /// What has come of them.
    reads: FollowedReads,
}

/// What came of loads that were followed.
#[derive(Clone, Debug, Default)]
pub struct FollowedReads {
    /// Those that have read what nothing had written.
    undefined: BTreeSet<Site>,
    /// Loads of copies in workgroup memory of what nothing had written, and the loads by which these were
    /// made.
    copied: BTreeSet<(Site, Site)>,
    /// The loads whose copies an atomic operation read.
    used: BTreeSet<Site>,
}

impl FollowedReads {
    /// Of those that have read what nothing had written, the ones whose values were not used: neither by what
    /// tells of them (`used`), nor as copies.
    pub fn unused(&self, mut used: BTreeSet<Site>) -> BTreeSet<Site> {
        used.extend(&self.used);
        loop {
            let copied = self.copied.iter().filter(|(load, _)| used.contains(load));
            let made: Vec<Site> = copied.map(|&(_, by)| by).collect();
            let before = used.len();
            used.extend(made);
            if used.len() == before {
                return self.undefined.difference(&used).copied().collect();
            }
        }
    }
}

impl Report {
    /// Whether a load by this instruction is followed, and need not be told.
    pub(super) fn follows(&mut self, site: Site, reader: AgentId, component: u8) -> bool {
        let Some(followed) = self.followed.as_mut().filter(|followed| followed.loads.contains(&site)) else {
            return false;
        };
        followed.reads.undefined.insert(site);
        followed.readers.push((reader, 1 << component.min(31)));
        true
    }

    /// The bytes of workgroup memory that each lane's components are at, with the component.
    fn bytes_of<'a>(
        (workgroup, offset, immediate): (u32, &'a Lanes, u32),
        mask: Mask,
        access: &Access,
    ) -> impl Iterator<Item = (usize, u32, (u32, u64))> + 'a {
        let (size, components) = (u64::from(access.size), u64::from(access.components));
        (0..LANES).filter(move |lane| mask >> lane & 1 == 1).flat_map(move |lane| {
            let start = u64::from(offset.0[lane].wrapping_add(immediate));
            (0..size * components).map(move |by| (lane, (by / size) as u32, (workgroup, start + by)))
        })
    }

    /// Lanes of the subgroup whose first is `first` load from workgroup memory: of copies it is known who
    /// does.
    pub(super) fn load_copies(
        &mut self,
        (site, first): (Site, AgentId),
        place: (u32, &Lanes, u32),
        mask: Mask,
        access: &Access,
    ) {
        let Some(followed) = self.followed.as_mut().filter(|followed| !followed.copies.is_empty()) else {
            return;
        };
        let follows = followed.loads.contains(&site);
        for (lane, component, byte) in Report::bytes_of(place, mask, access) {
            let Some(&by) = followed.copies.get(&byte) else { continue };
            if follows {
                followed.reads.copied.insert((site, by));
                followed.readers.push((first + lane as u32, 1 << component.min(31)));
            } else {
                followed.reads.used.insert(by);
            }
        }
    }

    /// Lanes store to workgroup memory; what they store of undefined values are copies from here on.
    pub(super) fn store_copies(
        &mut self,
        first: AgentId,
        place: (u32, &Lanes, u32),
        mask: Mask,
        access: &Access,
    ) {
        let Some(followed) = &mut self.followed else { return };
        if followed.storing.is_empty() && followed.copies.is_empty() {
            return;
        }
        for (lane, component, byte) in Report::bytes_of(place, mask, access) {
            let storing = followed.storing.get(&(first + lane as u32));
            let by = storing.and_then(|all| all.iter().find(|(of, _)| *of == component));
            match by {
                Some(&(_, by)) => followed.copies.insert(byte, by),
                None => followed.copies.remove(&byte),
            };
        }
        let stored = |lane: usize| mask >> lane & 1 == 1;
        (0..LANES).filter(|&lane| stored(lane)).for_each(|lane| {
            followed.storing.remove(&(first + lane as u32));
        });
    }

    /// See [`crate::system::MemorySystem::store_undefined`].
    pub(super) fn store_undefined(&mut self, first: AgentId, mask: Mask, component: u32, loads: &Lanes) {
        let Some(followed) = &mut self.followed else { return };
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1 && loads.0[*lane] != 0) {
            let storing = followed.storing.entry(first + lane as u32).or_default();
            storing.push((component, Site(loads.0[lane])));
        }
    }

    /// The workgroup has ended, and with it its memory.
    pub(super) fn forget_copies(&mut self, workgroup: u32) {
        if let Some(followed) = &mut self.followed {
            followed.copies.retain(|(of, _), _| *of != workgroup);
        }
    }

    /// Of the lanes of the subgroup whose first is `first` the components that their last load read and
    /// nothing had written: bit `k` for component `k`, the last bit for all from 31 on.
    pub(super) fn read_undefined(&mut self, first: AgentId) -> Lanes {
        let mut lanes = Lanes::ZERO;
        let Some(followed) = &mut self.followed else { return lanes };
        followed.readers.retain(|(reader, components)| {
            let lane = lanes.0.get_mut(reader.wrapping_sub(first) as usize);
            let elsewhere = lane.is_none();
            lane.into_iter().for_each(|lane| *lane |= components);
            elsewhere
        });
        lanes
    }
}

impl CheckedMemory {
    /// What the subgroup loads of copies of undefined values in the memory of its workgroup.
    #[cold]
    pub(super) fn load_copies(&mut self, at: Site, from: &Pointers<'_>, mask: Mask, access: &Access) {
        if let Pointers::Workgroup { offset, immediate, .. } = *from {
            let place = (self.current, offset, immediate);
            self.core.report.load_copies((at, self.first_lane), place, mask, access);
        }
    }

    /// What the subgroup stores, copies of undefined values or not.
    #[cold]
    pub(super) fn store_copies(&mut self, to: &Pointers<'_>, mask: Mask, access: &Access) {
        if let Pointers::Workgroup { offset, immediate, .. } = *to {
            let place = (self.current, offset, immediate);
            self.core.report.store_copies(self.first_lane, place, mask, access);
        }
    }

    /// The next dispatch is a rehearsal with the dispatch's own seed, of a program that follows what these
    /// loads read (`follow_loads`): it tells of them where it uses what nothing had written.
    pub fn follow_loads(&mut self, loads: &[Site]) {
        self.rehearse(Some((0, self.options.values)));
        self.core.report.followed = Some(Box::new(FollowedLoads {
            loads: loads.iter().copied().collect(),
            ..FollowedLoads::default()
        }));
    }

    /// The next dispatch counts. What came of the loads that were followed.
    pub fn followed_loads(&mut self) -> FollowedReads {
        self.rehearse(None);
        self.core.report.followed.take().map(|followed| followed.reads).unwrap_or_default()
    }

    /// The next dispatch is a rehearsal with this policy, the `number`-th, from 1 on; `None`: it counts.
    pub fn rehearse(&mut self, how: Option<(u32, ValuePolicy)>) {
        self.core.overlay = how.map(|(number, _)| Box::new(Overlay { number, words: FxHashMap::default() }));
        self.core.values = how.map_or(self.options.values, |(_, values)| values);
    }
}

impl Core {
    /// The bits of `size` bytes at an offset into the view; nothing if they are not all in it.
    #[inline(always)]
    pub(super) fn held(&self, view: &MemoryView<'_>, space: Space, offset: u64, size: u8) -> Option<u64> {
        let held = raw::load(view, offset, size, Ordering::Relaxed)?;
        match &self.overlay {
            Some(overlay) if space == Space::Device => {
                Some(overlay.over(view.address.wrapping_add(offset), size, held))
            }
            _ => Some(held),
        }
    }
}

impl Lane<'_> {
    /// The bits of `size` bytes at an offset into the view; nothing if they are not all in it.
    #[inline(always)]
    pub(super) fn held(&self, offset: u64, size: u8) -> Option<u64> {
        self.core.held(&self.view, self.space, offset, size)
    }

    /// Stores bytes that are all in the view.
    #[inline(always)]
    pub(super) fn hold(&mut self, offset: u64, size: u8, value: u64) {
        match &mut self.core.overlay {
            Some(overlay) if self.space == Space::Device => {
                overlay.store(self.view.address.wrapping_add(offset), size, value);
            }
            _ => drop(raw::store(&self.view, offset, size, value, Ordering::Relaxed)),
        }
    }
}
