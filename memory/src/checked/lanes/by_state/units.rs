//! The words, halves or bytes that lanes access, as places in lists.

use super::super::super::words::{Place, gather};
use crate::component::each;
use crate::race::{ELSEWHERE, Next, PAGE_BYTES, StateList};
use crate::system::{LANES, Mask};
use smallvec::SmallVec;
use std::ops::Range;

/// The units that the lanes access: words, halves or bytes.
#[derive(Clone, Copy)]
pub(super) struct Units {
    /// By lane: the number, from the origin on, or the place in a list.
    pub index: [u32; LANES],
    /// They follow one another.
    pub run: bool,
    /// All lanes access, each the next ones, so many as it has.
    pub steps: bool,
    /// All lanes have units, and each so many as it has that are none of another's, as far as can be told at
    /// once.
    pub apart: bool,
}

/// Words that have one state, and what follows from it.
pub(super) type Stretches = SmallVec<[(Range<usize>, Next); 6]>;

/// Units of memory are counted from this address on.
#[inline(always)]
pub(super) fn origin(place: &Place<'_>) -> u64 {
    place.view.address / PAGE_BYTES * PAGE_BYTES
}

impl Units {
    /// The first one of each lane's access to so many.
    #[inline(always)]
    pub fn of(place: &Place<'_>, mask: Mask, (units, bytes): (u32, u32)) -> Units {
        let shift = bytes.trailing_zeros();
        let first = (place.view.address % PAGE_BYTES) as u32 >> shift;
        let mut index = [0; LANES];
        for lane in 0..LANES {
            let offset = place.offset.0[lane].wrapping_add(place.immediate);
            index[lane] = first.wrapping_add(offset >> shift);
        }
        let steps = mask == Mask::MAX && are_steps(&index, units);
        let apart = steps || (mask == Mask::MAX && are_apart(&index, units));
        Units { index, run: steps && units == 1, steps, apart }
    }

    /// Those so many units behind these.
    #[inline(always)]
    pub fn behind(&self, units: u32) -> Units {
        let mut index = self.index;
        for lane in 0..LANES {
            index[lane] = index[lane].wrapping_add(units);
        }
        Units { index, ..*self }
    }

    /// The same at these places.
    #[inline(always)]
    pub fn at(&self, index: [u32; LANES]) -> Units {
        Units { run: self.run && index[LANES - 1].wrapping_sub(index[0]) == LANES as u32 - 1, index, ..*self }
    }

    /// Where the words of all lanes, which [follow one another](Units::steps), are in the list of a
    /// workgroup's memory, if these are few stretches of one state each.
    #[inline(always)]
    pub fn stretches(&self, list: &StateList, units: u32) -> Option<Stretches> {
        let mut start = self.index[0] as usize;
        let states = list.states.get(..start + LANES * units as usize)?;
        let mut stretches = Stretches::new();
        while start < states.len() {
            let rest = &states[start..];
            let state = rest[0];
            if state >= ELSEWHERE || stretches.len() == stretches.inline_size() {
                return None;
            }
            let is_alike =
                |words: &&[u32]| words.iter().fold(0, |differs, other| differs | (other ^ state)) == 0;
            let alike = LANES / 2 * rest.chunks(LANES / 2).take_while(is_alike).count();
            let rest = rest.get(alike..).unwrap_or_default();
            let end =
                (start + alike).min(states.len()) + rest.iter().take_while(|other| **other == state).count();
            stretches.push((start..end, Next::same(state)));
            start = end;
        }
        Some(stretches)
    }

    /// What a list has for them.
    #[inline(always)]
    pub fn get(&self, list: &[u32]) -> [u32; LANES] {
        let first = self.index[0] as usize;
        if self.run && first + LANES <= list.len() {
            let mut values = [0; LANES];
            values.copy_from_slice(&list[first..first + LANES]);
            return values;
        }
        gather(list, &self.index)
    }

    /// Puts the values of these lanes into a list.
    #[inline(always)]
    pub fn put(&self, list: &mut [u32], mask: Mask, values: &[u32; LANES]) {
        let first = self.index[0] as usize;
        if self.run && mask == Mask::MAX && first + LANES <= list.len() {
            list[first..first + LANES].copy_from_slice(values);
        } else if let Some(last) = list.len().checked_sub(1) {
            let mut todo = mask;
            while todo != 0 {
                let lane = todo.trailing_zeros() as usize;
                list[(self.index[lane] as usize).min(last)] = values[lane];
                todo &= todo - 1;
            }
        }
    }

    /// The same of these lanes, if each has so many.
    #[inline(always)]
    pub fn are_apart(&self, units: u32, lanes: Mask) -> bool {
        self.apart || (lanes != Mask::MAX && some_apart(&self.index, units, lanes))
    }

    /// By lane: the lanes before it that share some of its units, so many.
    #[inline(always)]
    pub fn sharing(&self, units: u32) -> [Mask; LANES] {
        let mut sharing = [0; LANES];
        for other in 0..LANES {
            for lane in 0..LANES {
                let apart = self.index[lane].wrapping_sub(self.index[other]).wrapping_add(units - 1);
                sharing[lane] |= Mask::from((apart < 2 * units - 1) & (other < lane)) << other;
            }
        }
        sharing
    }

    /// Whether some of these lanes share some of their units but not all.
    #[inline(never)]
    pub fn overlap(&self, units: u32, mask: Mask) -> bool {
        let first = self.index[mask.trailing_zeros() as usize % LANES];
        let mut apart = true;
        each(mask, |lane| apart &= self.index[lane].abs_diff(first).is_multiple_of(units));
        let mut overlap = false;
        each(if apart { 0 } else { mask }, |lane| {
            for other in 0..LANES {
                let behind = self.index[lane].wrapping_sub(self.index[other]);
                overlap |= (behind.wrapping_sub(1) < units - 1) & (mask >> other & 1 != 0);
            }
        });
        overlap
    }
}

/// Whether each number is so much more than the one before.
#[inline(always)]
fn are_steps(index: &[u32; LANES], units: u32) -> bool {
    let mut gaps = 0;
    for lane in 0..LANES {
        gaps |= index[lane] ^ index[0].wrapping_add(units.wrapping_mul(lane as u32));
    }
    gaps == 0
}

/// Whether so many units from each lane's on are none of another's, as far as can be told at once.
#[inline(always)]
fn are_apart(index: &[u32; LANES], units: u32) -> bool {
    let (mut up, mut down) = (true, true);
    for lane in 1..LANES {
        let (before, now) = (index[lane - 1], index[lane]);
        up &= now >= before.saturating_add(units);
        down &= before >= now.saturating_add(units);
    }
    up | down
}

/// The same of those of these lanes.
#[inline(always)]
fn some_apart(index: &[u32; LANES], units: u32, mask: Mask) -> bool {
    let (mut up, mut down) = (true, true);
    let mut last = None;
    each(mask, |lane| {
        if let Some(before) = last.replace(index[lane]) {
            up &= index[lane] >= before.saturating_add(units);
            down &= before >= index[lane].saturating_add(units);
        }
    });
    up | down
}

/// The lanes before the lowest one of these.
pub(super) fn before(lanes: Mask) -> Mask {
    (lanes & lanes.wrapping_neg()).wrapping_sub(1)
}
