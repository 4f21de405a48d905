//! What lanes read, by state.

use super::super::super::core::Core;
use super::super::super::words::{Place, Words, equal};
use super::super::FastPath;
use super::units::{Units, origin};
use super::{FEW, ROUNDS, Situated, WHOEVER, units_of};
use crate::access::Access;
use crate::component::each;
use crate::race::{AgentId, ELSEWHERE, Next, StateList, States};
use crate::system::{LANES, Mask};
use smallvec::SmallVec;

/// So many lanes that read one unit are looked at one after the other: few change anything.
const CROWD: u32 = 4;

/// So many words among those of all lanes are looked at one by one.
const FEW_WORDS: usize = 8;

/// That three lanes of a subgroup do, or more.
const ALL: u32 = u32::MAX - 2;

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Lanes read, but for the values; returns those that are left.
    #[inline(always)]
    pub(in crate::checked::lanes) fn load_by_state<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        mask: Mask,
        access: &Access,
    ) -> Mask {
        let (units, bytes) = units_of(access);
        if !C::has_states(bytes) || !self.may_be_by_state(place, units) {
            return mask;
        }
        let inside = mask & place.aligned_to(bytes, u64::from(units));
        if inside == 0 {
            return mask;
        }
        let first = Units::of(place, inside, (units, bytes));
        let undefined = self.undefined(core, place, inside, units * bytes);
        let overlap = || units > 1 && !first.are_apart(units, inside) && first.overlap(units, inside);
        if inside.count_ones() <= FEW || overlap() {
            return mask & !inside
                | self.load_each(core, cells, place, (inside, undefined), (&first, units, bytes));
        }
        if bytes == 4
            && let Some(left) = self.load_all_words(core, cells, place, (first, units), undefined)
        {
            return left;
        }
        let (mut served, mut todo) = (inside, inside);
        while todo != 0 {
            let (lanes, how) = self.at_one_time((core, cells.states()), todo, undefined, false);
            todo &= !lanes;
            for k in 0..units {
                let mut here = first.behind(k);
                served &= !lanes | cells.places(bytes, origin(place), &mut here.index, served & lanes);
                let (list, states) = cells.by_state(bytes);
                let here = first.at(here.index);
                served &= !lanes | self.read_units(core, (list, states), &here, how, served & lanes);
            }
        }
        mask & !served
    }

    /// The same where the words of all lanes follow one another in the memory of a workgroup and have few
    /// states; nothing, and nothing done, if that is not so. Of few words it may matter who reads them.
    #[inline(always)]
    fn load_all_words<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        (mut first, units): (Units, u32),
        undefined: Mask,
    ) -> Option<Mask> {
        if !(self.in_workgroup && self.alike && first.steps) {
            return None;
        }
        cells.places(4, origin(place), &mut first.index, Mask::MAX);
        let (_, how) = self.at_one_time((core, cells.states()), Mask::MAX, undefined, false);
        let (list, states) = cells.by_state(4);
        let mut stretches = first.stretches(list, units)?;
        let (mut same, mut apart) = (true, SmallVec::<[usize; FEW_WORDS]>::new());
        for (words, next) in &mut stretches {
            match self.whoever_reads(core, (list, states), words.start, how, 0) {
                Some(after) => {
                    same &= *next == after;
                    *next = after;
                }
                None if apart.len() + words.len() <= FEW_WORDS => apart.extend(words.clone()),
                None => return None,
            }
        }
        if !same && !self.follow_all(list, &stretches, units) {
            return None;
        }
        let mut left = 0;
        for word in apart {
            let lane = (word as u32 - first.index[0]) / units;
            left |= self.read_one(core, (list, states), word, how, 1 << lane);
        }
        Some(left)
    }

    /// The same, one lane after the other.
    #[inline(never)]
    fn load_each<C: Words>(
        &mut self,
        core: &Core,
        cells: &mut C,
        place: &Place<'_>,
        (lanes, undefined): (Mask, Mask),
        (first, units, bytes): (&Units, u32, u32),
    ) -> Mask {
        let mut left = 0;
        each(lanes, |lane| {
            let (_, how) = self.at_one_time((core, cells.states()), 1 << lane, undefined, false);
            for k in 0..units {
                let index = cells.place(bytes, origin(place), first.index[lane].wrapping_add(k));
                let Some(index) = index.map(|index| index as usize) else {
                    left |= 1 << lane;
                    return;
                };
                let (list, states) = cells.by_state(bytes);
                if list.states[index] >= ELSEWHERE {
                    left |= 1 << lane;
                } else {
                    left |= self.read_one(core, (list, states), index, how, 1 << lane);
                }
            }
        });
        left
    }

    /// Lanes read a unit each; returns those that are served.
    #[inline(always)]
    fn read_units(
        &mut self,
        core: &Core,
        (list, states): (&mut StateList, &mut States),
        units: &Units,
        how: Situated,
        mask: Mask,
    ) -> Mask {
        let known = units.get(&list.states);
        let (mut todo, mut open, mut served) = (0, mask, mask);
        let (mut apart, mut sharing) = (units.apart, None);
        while open != 0 {
            let lead = open.trailing_zeros() as usize % LANES;
            let same = equal(&known, known[lead]) & open;
            open &= !same;
            if known[lead] >= ELSEWHERE {
                served &= !same;
                continue;
            }
            let index = units.index[lead] as usize;
            let next = self.whoever_reads(core, (list, states), index, how, lead);
            if next == Some(Next::same(known[lead])) {
                continue;
            }
            apart = apart || units.are_apart(1, mask);
            match next {
                Some(next) if apart => self.follow(list, states, units, same, next),
                // Many lanes read few units.
                _ if !apart && (equal(&units.index, units.index[lead]) & same).count_ones() >= CROWD => {
                    let mut rest = same;
                    while rest != 0 {
                        let index = units.index[rest.trailing_zeros() as usize % LANES];
                        let readers = equal(&units.index, index) & rest;
                        rest &= !readers;
                        served &= !self.read_one(core, (list, states), index as usize, how, readers);
                    }
                }
                Some(next) => {
                    let sharing = sharing.get_or_insert_with(|| units.sharing(1));
                    let mut firsts = same;
                    for lane in 0..LANES {
                        firsts &= !(Mask::from(sharing[lane] & same != 0) << lane);
                    }
                    self.follow(list, states, units, firsts, next);
                    todo |= same & !firsts;
                }
                None => todo |= same,
            }
        }
        let sharing = match sharing {
            None if !apart && todo != 0 => units.sharing(1),
            known => known.unwrap_or([0; LANES]),
        };
        let mut rounds = 0;
        while todo != 0 {
            let lead = todo.trailing_zeros() as usize % LANES;
            let state = list.states[units.index[lead] as usize];
            rounds += 1;
            if rounds > ROUNDS {
                let index = units.index[lead] as usize;
                served &= !self.read_one(core, (list, states), index, how, 1 << lead);
                todo &= todo - 1;
                continue;
            }
            let stands = self.stands(core, list, units, states, state);
            let mut alike = equal(&stands, stands[lead]) & equal(&units.get(&list.states), state) & todo;
            let index = units.index[lead] as usize;
            match self.read_of(core, (list, states), index, how, (lead, stands[lead])) {
                None => served &= !alike,
                Some(next) if next == Next::same(state) => {}
                Some(next) => {
                    for lane in 0..LANES {
                        alike &= !(Mask::from(sharing[lane] & todo != 0) << lane);
                    }
                    self.follow(list, states, units, alike, next);
                }
            }
            todo &= !alike;
        }
        served
    }

    /// Lanes read one unit, one after the other; returns those that are left.
    #[inline(never)]
    fn read_one(
        &mut self,
        core: &Core,
        (list, states): (&mut StateList, &mut States),
        index: usize,
        how: Situated,
        lanes: Mask,
    ) -> Mask {
        let (mut todo, mut left) = (lanes, 0);
        while todo != 0 {
            let lane = todo.trailing_zeros() as usize;
            let state = list.states[index];
            let next = self.whoever_reads(core, (list, states), index, how, lane);
            if next == Some(Next::same(state)) {
                break;
            }
            if self.crowd_reads(core, (list, states), index, how, todo) {
                break;
            }
            todo &= todo - 1;
            let stands = self.stand(core, list, index, states, lane);
            match self.read_of(core, (list, states), index, how, (lane, stands)) {
                None => left |= 1 << lane,
                Some(next) => {
                    // The last one of those that make the same of it is the one that is remembered.
                    let mut last = lane;
                    while next.state == state && todo != 0 {
                        let other = todo.trailing_zeros() as usize;
                        if self.stand(core, list, index, states, other) != stands {
                            break;
                        }
                        last = other;
                        todo &= todo - 1;
                    }
                    self.become_next(list, index, next, [self.first_lane + last as AgentId; 2]);
                }
            }
        }
        left
    }

    /// Several lanes read one unit whose agents do not matter: what their reads make of it is done at once,
    /// if it is the same however many there are.
    #[inline(always)]
    fn crowd_reads(
        &mut self,
        core: &Core,
        (list, states): (&mut StateList, &mut States),
        index: usize,
        how: Situated,
        lanes: Mask,
    ) -> bool {
        if lanes.count_ones() < 3 || !self.may_be_whoever(list.states[index]) {
            return false;
        }
        let first = lanes.trailing_zeros() as usize;
        let rest = lanes & (lanes - 1);
        let second = rest.trailing_zeros() as usize;
        let third = (rest & (rest - 1)).trailing_zeros() as usize;
        let question = how.question(list.states[index], ALL);
        let next = states.next(question, |states| {
            self.after_crowd_read(core, states, (list, index), [first, second, third], how.undefined)
        });
        if let Some(next) = next {
            self.become_next(
                list,
                index,
                next,
                [first, second].map(|lane| self.first_lane + lane as AgentId),
            );
        }
        next.is_some()
    }

    /// The unit with this index is what follows, by the one who accesses and another one.
    #[inline(always)]
    fn become_next(&self, list: &mut StateList, index: usize, next: Next, [own, second]: [AgentId; 2]) {
        let before = list.parties(index);
        for (party, from) in list.parties.iter_mut().zip(next.from) {
            party[index] = match from {
                Next::SELF => own,
                Next::SECOND => second,
                from => before[usize::from(from) % 3],
            };
        }
        list.states[index] = next.state;
    }

    /// What the read by a lane makes of its unit, if reads by all others of the workgroup make the same of
    /// units in this state.
    #[inline(always)]
    fn whoever_reads(
        &mut self,
        core: &Core,
        (list, states): (&StateList, &mut States),
        index: usize,
        how: Situated,
        lane: usize,
    ) -> Option<Next> {
        if !self.may_be_whoever(list.states[index]) {
            return None;
        }
        let question = how.question(list.states[index], WHOEVER);
        states.next(question, |states| self.after_any_read(core, states, (list, index), lane, how.undefined))
    }

    /// What the read by a lane makes of its unit, to whose agents it stands so.
    #[inline(always)]
    fn read_of(
        &mut self,
        core: &Core,
        (list, states): (&StateList, &mut States),
        index: usize,
        how: Situated,
        (lane, stands): (usize, u32),
    ) -> Option<Next> {
        let question = how.question(list.states[index], stands);
        states.next(question, |states| self.after_read(core, states, (list, index), lane, how.undefined))
    }
}
