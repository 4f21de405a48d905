//! The common case of words, halves and bytes of which [states](crate::race::States) are remembered: lanes
//! whose words have the same one, and whose agents stand to those of the words in the same way, are served
//! together. What the access makes of the state is asked once, of one of them.
//!
//! | | |
//! |---|---|
//! | unit | a word, half or byte of which a state is remembered; an access has one or several |
//! | index | where a unit is in the [`StateList`] of those of its size |
//! | state | a [cell](crate::race::Cell) without its agents and values: a number among the [`States`] |
//! | parties | the agents of that cell: who wrote, and two who read |
//! | stands | how the parties stand to a lane: itself, of its subgroup, of one subgroup with another |
//! | situation | what else an answer hangs on: the kind of the access, times, barriers |
//! | next | the answer: the state after the access, and where its parties come from |

mod next;
mod reads;
mod units;
mod writes;

use self::units::{Stretches, Units};
use super::super::core::Core;
use super::super::words::Place;
use super::FastPath;
use super::shape::{by_parts, words};
use crate::access::Access;
use crate::component::each;
use crate::race::{AgentId, Next, Parties, Question, Situation, StateList, States};
use crate::system::{LANES, Mask};

/// Most units of an access that are looked at.
const MOST: u32 = 16;

/// States of units, and ways to stand to them, that are looked at together before the lanes that are left
/// are looked at one by one.
const ROUNDS: u32 = 6;

/// That any agent of the workgroup accesses, in a [`Question`].
const WHOEVER: u32 = u32::MAX;

/// So many lanes are served one after the other, which is quicker.
const FEW: u32 = 4;

/// The number of a [`Situation`], and whether words that nobody wrote are undefined in it.
#[derive(Clone, Copy)]
struct Situated {
    number: u32,
    undefined: bool,
}

impl Situated {
    /// What an access makes of this state, whose agents stand so to it.
    #[inline(always)]
    fn question(self, state: u32, stands: u32) -> Question {
        Question { situation: self.number, state, stands }
    }
}

/// How many words an access has, or parts of words, and of how many bytes each.
#[inline(always)]
fn units_of(access: &Access) -> (u32, u32) {
    match by_parts(access) {
        true => (u32::from(access.components), u32::from(access.size)),
        false => (words(access) as u32, 4),
    }
}

impl<const NEAR: bool> FastPath<'_, NEAR> {
    /// Whether accesses of so many units may be of this case.
    #[inline(always)]
    fn may_be_by_state(&self, place: &Place<'_>, units: u32) -> bool {
        !self.tells && units <= MOST && place.view.address.is_multiple_of(4)
    }

    /// Lanes of these that access at one time, all or none of them words that are `undefined`; and in what
    /// situation.
    #[inline(always)]
    fn at_one_time(
        &self,
        (core, states): (&Core, &mut States),
        lanes: Mask,
        undefined: Mask,
        write: bool,
    ) -> (Mask, Situated) {
        let lead = lanes.trailing_zeros() as usize % LANES;
        let is_undefined = undefined >> lead & 1 != 0;
        let mut alike = lanes & if is_undefined { undefined } else { !undefined };
        let time = self.times.of(lead);
        if !self.alike {
            each(alike, |lane| alike &= !(Mask::from(self.times.of(lane) != time) << lane));
        }
        let [near, near_alone] = self.near;
        let number = states.situation(&Situation {
            kind: self.kind,
            write,
            time,
            until: [self.full, self.alone, near, near_alone],
            undefined: is_undefined,
            version: core.kinds.only_counted() << 1 | u32::from(core.agents.untracked()),
        });
        (alike, Situated { number, undefined: is_undefined })
    }

    /// The lanes that access words which were undefined when the dispatch began, so many bytes each.
    #[inline(always)]
    fn undefined(&self, core: &Core, place: &Place<'_>, lanes: Mask, bytes: u32) -> Mask {
        if !place.undefined || !place.device {
            return if place.undefined { lanes } else { 0 };
        }
        let mut undefined = 0;
        each(lanes, |lane| {
            let start = place.view.address + place.offset(lane);
            undefined |= Mask::from(core.unwritten.any(start, start + u64::from(bytes))) << lane;
        });
        undefined
    }

    /// By lane, how the agents of its unit, which is in this state, stand to it: all that
    /// [`FastPath::reads`] and [`FastPath::overwrites`] ask of them.
    #[inline(always)]
    fn stands(
        &self,
        core: &Core,
        list: &StateList,
        units: &Units,
        states: &States,
        state: u32,
    ) -> [u32; LANES] {
        let there = states.there(state);
        let mut agents = [[0; LANES]; 3];
        for i in 0..3 {
            if there[i] {
                agents[i] = units.get(&list.parties[i]);
            }
        }
        let mut stands = [0; LANES];
        for lane in 0..LANES {
            let parties = [agents[0][lane], agents[1][lane], agents[2][lane]];
            stands[lane] = self.stand_of(core, there, parties, lane);
        }
        stands
    }

    /// The same of the unit with this index alone.
    #[inline(always)]
    fn stand(&self, core: &Core, list: &StateList, index: usize, states: &States, lane: usize) -> u32 {
        self.stand_of(core, states.there(list.states[index]), list.parties(index), lane)
    }

    /// How those of a unit's agents that are there stand to a lane, and to each other.
    #[inline(always)]
    fn stand_of(&self, core: &Core, there: [bool; 3], parties: Parties, lane: usize) -> u32 {
        let (own, near) = (self.first_lane + lane as AgentId, core.subgroup.0);
        let mut stands = 0;
        for i in 0..3 {
            let bits = u32::from(parties[i] == own) | u32::from(near.contains(parties[i])) << 1;
            stands |= if there[i] { bits << (2 * i) } else { 0 };
        }
        let same = |a: usize, b: usize| u32::from(there[a] & there[b] & (parties[a] == parties[b]));
        stands |= same(0, 1) << 6 | same(0, 2) << 7 | same(1, 2) << 8;
        let one_subgroup = core.subgroup_of(parties[1]) == core.subgroup_of(parties[2]);
        stands |= u32::from(there[1] & there[2] & one_subgroup) << 9;
        // All who access the memory of a workgroup are of it.
        for i in 0..3 {
            let local = there[i] & !self.in_workgroup & self.is_local(parties[i]);
            stands |= u32::from(local) << (10 + i);
        }
        stands
    }

    /// The units of these lanes become what follows.
    #[inline(always)]
    fn follow(&self, list: &mut StateList, states: &States, units: &Units, lanes: Mask, next: Next) {
        let there = states.there(next.state);
        let mut agents = [[0; LANES]; 3];
        for i in 0..3 {
            if there[i] && usize::from(next.from[i]) != i {
                match next.from[i] {
                    Next::SELF => {
                        for lane in 0..LANES {
                            agents[i][lane] = self.first_lane + lane as AgentId;
                        }
                    }
                    party => agents[i] = units.get(&list.parties[usize::from(party) % 3]),
                }
            }
        }
        for i in 0..3 {
            if there[i] && usize::from(next.from[i]) != i {
                units.put(&mut list.parties[i], lanes, &agents[i]);
            }
        }
        units.put(&mut list.states, lanes, &[next.state; LANES]);
    }

    /// Whether an access may make the same of all units in this state, whoever of the workgroup it is by: all
    /// who accessed them are of the workgroup.
    #[inline(always)]
    fn may_be_whoever(&self, state: u32) -> bool {
        self.in_workgroup || state == 0
    }

    /// Words that follow one another, so many of each lane's, become what follows from their states; false,
    /// and nothing done, if others than those who access take places.
    #[inline(always)]
    fn follow_all(&self, list: &mut StateList, stretches: &Stretches, units: u32) -> bool {
        let moves = |(i, from): (usize, &u8)| *from != Next::SELF && usize::from(*from) != i;
        if stretches.iter().any(|(_, next)| next.from.iter().enumerate().any(moves)) {
            return false;
        }
        let first = stretches.first().map_or(0, |(words, _)| words.start);
        for (words, next) in stretches {
            list.states[words.clone()].fill(next.state);
            for (party, from) in list.parties.iter_mut().zip(next.from) {
                if from == Next::SELF {
                    for (word, party) in (words.start - first..).zip(&mut party[words.clone()]) {
                        *party = self.first_lane + word as AgentId / units;
                    }
                }
            }
        }
        true
    }
}
