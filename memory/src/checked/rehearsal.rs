//! Rehearsals: executions of a dispatch whose stores to device memory nobody else sees. They are made before
//! the one that counts, to find what only some schedules and values show.

use super::CheckedMemory;
use super::core::Core;
use super::lane::{Lane, pieces};
use super::report::Report;
use crate::access::Site;
use crate::history::ValuePolicy;
use crate::race::{AgentId, Space};
use crate::raw::{self, MemoryView};
use crate::system::Lanes;
use rustc_hash::{FxHashMap, FxHashSet};
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
#[derive(Clone, Debug)]
pub(super) struct FollowedLoads {
    loads: FxHashSet<Site>,
    /// Those that have read what nothing had written.
    undefined: BTreeSet<Site>,
    /// Who has with its last load, and which components, as bits.
    readers: Vec<(AgentId, u32)>,
}

impl Report {
    /// Whether a load by this instruction is followed, and need not be told.
    pub(super) fn follows(&mut self, site: Site, reader: AgentId, component: u8) -> bool {
        let Some(followed) = self.followed.as_mut().filter(|followed| followed.loads.contains(&site)) else {
            return false;
        };
        followed.undefined.insert(site);
        followed.readers.push((reader, 1 << component.min(31)));
        true
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
    /// The next dispatch is a rehearsal with the dispatch's own seed, of a program that follows what these
    /// loads read (`follow_loads`): it tells of them where it uses what nothing had written.
    pub fn follow_loads(&mut self, loads: &[Site]) {
        self.rehearse(Some((0, self.options.values)));
        self.core.report.followed = Some(Box::new(FollowedLoads {
            loads: loads.iter().copied().collect(),
            undefined: BTreeSet::new(),
            readers: Vec::new(),
        }));
    }

    /// The next dispatch counts; of the loads that were followed those that have read what nothing had
    /// written.
    pub fn followed_loads(&mut self) -> BTreeSet<Site> {
        self.rehearse(None);
        self.core.report.followed.take().map(|followed| followed.undefined).unwrap_or_default()
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
