//! What lanes write, by state.

use super::super::super::core::Core;
use super::super::super::words::{Place, Words, equal};
use super::super::FastPath;
use super::super::shape::{per_word, word};
use super::units::{Units, before, origin};
use super::{FEW, MOST, ROUNDS, Situated, WHOEVER, units_of};
use crate::access::Access;
use crate::component::each;
use crate::plain;
use crate::race::{AgentId, ELSEWHERE, Next, StateList, States};
use crate::raw;
use crate::system::{LANES, Lanes, Mask};
use std::sync::atomic::Ordering;

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Lanes store; returns those that are left: of two that share units the later one if it is not both.
    #[inline(always)]
    pub(in crate::checked::lanes) fn store_by_state<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        (access, value): (&Access, &[Lanes]),
    ) -> Mask {
        let (units, bytes) = units_of(access);
        if !C::has_states(bytes) || !self.may_be_by_state(place, units) {
            return mask;
        }
        let inside = mask & before(mask & !place.aligned_to(bytes, u64::from(units)));
        if inside == 0 {
            return mask;
        }
        let first = Units::of(place, inside, (units, bytes));
        let shape = (units, bytes);
        let (lanes, does) = ((inside, &first, shape), (access, value));
        if bytes == 4 && self.store_all_words(core, cells, place, (first, units), does) {
            return 0;
        }
        let left = match (inside.count_ones() <= FEW, units) {
            (true, _) => self.store_each(core, cells, place, lanes, does),
            (_, 1) => self.store_units::<C, 1, 4>(core, cells, place, lanes, does),
            (_, 2..=4) => self.store_units::<C, 4, 16>(core, cells, place, lanes, does),
            _ => self.store_units::<C, { MOST as usize }, 16>(core, cells, place, lanes, does),
        };
        mask & !inside | left
    }

    /// The same where the words of all lanes follow one another in the memory of a workgroup and have few
    /// states; false, and nothing done, if that is not so.
    #[inline(always)]
    fn store_all_words<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        (mut first, units): (Units, u32),
        (access, value): (&Access, &[Lanes]),
    ) -> bool {
        if !(self.in_workgroup && self.alike && first.steps) || self.counts {
            return false;
        }
        cells.places(4, origin(place), &mut first.index, Mask::MAX);
        let (_, how) = self.at_one_time((core, cells.states()), Mask::MAX, 0, true);
        let (list, states) = cells.by_state(4);
        let Some(mut stretches) = first.stretches(list, units) else { return false };
        for (words, next) in &mut stretches {
            let after = self.whoever_writes(core, (list, states), words.start, how, 0);
            let Some(after) = after else { return false };
            *next = after;
        }
        if !self.follow_all(list, &stretches, units) {
            return false;
        }
        let start = first.index[0] as usize;
        let words = start..start + LANES * units as usize;
        raw::copy_words_out(place.view, place.offset(0), &mut list.before[words]);
        plain::store_view(place.view, place.offset, place.immediate, Mask::MAX, access, value);
        true
    }

    /// What the write by a lane makes of its unit, if writes by all others of the workgroup make the same of
    /// units in this state.
    #[inline(always)]
    fn whoever_writes(
        &mut self,
        core: &Core,
        (list, states): (&StateList, &mut States),
        index: usize,
        how: Situated,
        lane: usize,
    ) -> Option<Next> {
        let state = list.states[index];
        if !self.may_be_whoever(state) {
            return None;
        }
        let question = how.question(state, WHOEVER);
        states.next(question, |states| self.after_any_write(core, states, (list, index), lane))
    }

    /// The same of accesses of up to `UNITS` units, of up to `VALUES` components, as registers have them.
    #[inline(always)]
    fn store_units<C: Words, const UNITS: usize, const VALUES: usize>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        (lanes, first, (units, bytes)): (Mask, &Units, (u32, u32)),
        (access, value): (&Access, &[Lanes]),
    ) -> Mask {
        let mut todo = lanes;
        if !first.are_apart(units, lanes) {
            let sharing = first.sharing(units);
            let mut second = 0;
            for lane in 0..LANES {
                second |= Mask::from(sharing[lane] & lanes != 0) << lane;
            }
            todo &= before(second & lanes);
        }
        // Several units are written together or not at all. No lane of these has units of another, so that
        // their order says nothing.
        let (mut all, mut after) = ([*first; UNITS], [[0; LANES]; UNITS]);
        let mut early = [0; UNITS];
        for (k, (here, after)) in (0..units).zip(all.iter_mut().zip(&mut after)) {
            *here = first.behind(k);
            todo &= cells.places(bytes, origin(place), &mut here.index, todo);
            *here = first.at(here.index);
            let mut open = todo;
            while open != 0 {
                let (lanes, how) = self.at_one_time((core, cells.states()), open, 0, true);
                let (list, states) = cells.by_state(bytes);
                let served = self.overwrite_units(core, (list, states), here, how, lanes, after);
                todo &= !lanes | served;
                open &= !lanes;
            }
        }
        if todo == 0 {
            return lanes;
        }
        if C::KEEPS_EARLY {
            let mut any = 0;
            for (here, early) in all.iter().zip(&mut early).take(units as usize) {
                let (list, states) = cells.by_state(bytes);
                *early = early_lanes(list, states, here, todo);
                any |= *early;
            }
            each(any, |lane| {
                for (k, here) in (0..units as usize).zip(&all) {
                    if early[k] >> lane & 1 != 0 {
                        note_early(cells, place, (lane, k as u32), (here.index[lane] as usize, bytes));
                    }
                }
            });
        }
        let mut old = [Lanes::ZERO; VALUES];
        plain::load_view(place.view, place.offset, place.immediate, todo, access, &mut old[..value.len()]);
        let mut by = [0; LANES];
        for lane in 0..LANES {
            by[lane] = self.first_lane + lane as AgentId;
        }
        let per_word = per_word(access);
        for (k, (here, after)) in (0..units).zip(all.iter().zip(&after)) {
            let (list, states) = cells.by_state(bytes);
            if self.counts {
                each(todo, |lane| {
                    let cell = list.cell(states, here.index[lane] as usize);
                    self.count(core, &cell, lane, (1, if bytes < 4 { 1 } else { per_word }));
                });
            }
            let mut before = [0; LANES];
            for lane in 0..LANES {
                before[lane] = match bytes {
                    4 => word(&old, per_word, k as usize, lane),
                    _ => old[k as usize].0[lane] << first_bit(first.index[lane].wrapping_add(k), bytes),
                };
            }
            here.put(&mut list.states, todo, after);
            here.put(&mut list.before, todo, &before);
            here.put(&mut list.parties[0], todo, &by);
        }
        plain::store_view(place.view, place.offset, place.immediate, todo, access, value);
        lanes & !todo
    }

    /// The same, one lane after the other.
    #[inline(never)]
    fn store_each<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        (lanes, first, (units, bytes)): (Mask, &Units, (u32, u32)),
        (access, value): (&Access, &[Lanes]),
    ) -> Mask {
        let per_word = per_word(access);
        let mut todo = lanes;
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let (_, how) = self.at_one_time((core, cells.states()), 1 << lane, 0, true);
            let mut after = [(0, 0); MOST as usize];
            for (k, after) in (0..units).zip(&mut after) {
                let index = cells.place(bytes, origin(place), first.index[lane].wrapping_add(k));
                let Some(index) = index else { return todo };
                let (list, states) = cells.by_state(bytes);
                let next = self.overwrite_one(core, (list, states), index as usize, how, lane);
                let Some(next) = next else { return todo };
                *after = (index as usize, next.state);
            }
            for (k, (index, state)) in (0..units).zip(after) {
                if C::KEEPS_EARLY {
                    note_early(cells, place, (lane, k), (index, bytes));
                }
                let (list, states) = cells.by_state(bytes);
                let (at, size) = (place.offset(lane) + u64::from(k * bytes), bytes as u8);
                let old = raw::load(place.view, at, size, Ordering::Relaxed).unwrap_or(0) as u32;
                if self.counts {
                    let cell = list.cell(states, index);
                    self.count(core, &cell, lane, (1, if bytes < 4 { 1 } else { per_word }));
                }
                list.before[index] = old << first_bit(first.index[lane].wrapping_add(k), bytes);
                list.states[index] = state;
                list.parties[0][index] = self.first_lane + lane as AgentId;
                let new = match bytes {
                    4 => word(value, per_word, k as usize, lane),
                    _ => value[k as usize].0[lane],
                };
                raw::store(place.view, at, size, u64::from(new), Ordering::Relaxed);
            }
            todo &= todo - 1;
        }
        0
    }

    /// What the write by a lane makes of the unit with this index.
    #[inline(always)]
    fn overwrite_one(
        &mut self,
        core: &Core,
        (list, states): (&StateList, &mut States),
        index: usize,
        how: Situated,
        lane: usize,
    ) -> Option<Next> {
        let state = list.states[index];
        if state >= ELSEWHERE {
            return None;
        }
        let stands = self.stand(core, list, index, states, lane);
        self.write_of(core, (list, states), index, how, (lane, stands))
    }

    /// What the write by a lane makes of its unit, to whose agents it stands so.
    #[inline(always)]
    fn write_of(
        &mut self,
        core: &Core,
        (list, states): (&StateList, &mut States),
        index: usize,
        how: Situated,
        (lane, stands): (usize, u32),
    ) -> Option<Next> {
        let question = how.question(list.states[index], stands);
        states.next(question, |states| self.after_write(core, states, (list, index), lane))
    }

    /// Which of the lanes may write over a unit each, and the states of these after it.
    #[inline(always)]
    fn overwrite_units(
        &mut self,
        core: &Core,
        (list, states): (&mut StateList, &mut States),
        units: &Units,
        how: Situated,
        mask: Mask,
        after: &mut [u32; LANES],
    ) -> Mask {
        let known = units.get(&list.states);
        let (mut todo, mut served) = (mask, mask);
        let mut rounds = 0;
        while todo != 0 {
            let lead = todo.trailing_zeros() as usize % LANES;
            let (state, index) = (known[lead], units.index[lead] as usize);
            let mut next = None;
            let mut alike = 1 << lead;
            if state >= ELSEWHERE {
                alike = equal(&known, state) & todo;
            } else {
                next = self.whoever_writes(core, (list, states), index, how, lead);
                if next.is_some() {
                    alike = equal(&known, state) & todo;
                } else {
                    let stands = self.stand(core, list, index, states, lead);
                    next = self.write_of(core, (list, states), index, how, (lead, stands));
                    rounds += 1;
                    if rounds <= ROUNDS {
                        let all = self.stands(core, list, units, states, state);
                        alike = equal(&all, stands) & equal(&known, state) & todo;
                    }
                }
            }
            todo &= !alike;
            match next {
                Some(next) => {
                    for lane in 0..LANES {
                        after[lane] = if alike >> lane & 1 != 0 { next.state } else { after[lane] };
                    }
                }
                None => served &= !alike,
            }
        }
        served
    }
}

/// The lanes of these whose words were read, and not written, before.
#[inline(always)]
fn early_lanes(list: &StateList, states: &States, here: &Units, lanes: Mask) -> Mask {
    let known = here.get(&list.states);
    let (mut todo, mut early) = (lanes, 0);
    while todo != 0 {
        let state = known[todo.trailing_zeros() as usize % LANES];
        let same = equal(&known, state);
        early |= if states.get(state).is_early() { same } else { 0 };
        todo &= !same;
    }
    early & lanes
}

/// Unit `k` of a lane's, with this index and so many bytes, is about to be written.
#[inline(always)]
fn note_early<C: Words>(
    cells: &mut C,
    place: &Place<'_>,
    (lane, k): (usize, u32),
    (index, bytes): (usize, u32),
) {
    let (list, states) = cells.by_state(bytes);
    if states.get(list.states[index]).is_early() {
        let cell = list.cell(states, index);
        cells.note_early((place.view.address + place.offset(lane)) / 4 + u64::from(k), &cell);
    }
}

/// Where in its word a unit of so many bytes begins.
#[inline(always)]
fn first_bit(unit: u32, bytes: u32) -> u32 {
    8 * (unit.wrapping_mul(bytes) % 4)
}
