//! A dispatch that stands still: where and why, what its front end may look at and change, how it goes on.

use super::target::{Spot, Target, Who};
use super::values::Eyes;
use super::values::condition::Condition;
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::checked::inspect::Chosen;
use pellucid_memory::finding::Finding;
use pellucid_shader_interp::exec::modelled::debugged::{Accessed, Moment, Standing};
use std::collections::BTreeMap;

/// Where an execution is: before an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Turn of the schedule, from 0.
    pub turn: u64,
    /// Instruction of the turn, from 0.
    pub index: u64,
}

impl Position {
    /// Behind all others.
    pub const END: Position = Position { turn: u64::MAX, index: 0 };
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Position::END => write!(f, "end"),
            Position { turn, index } => write!(f, "{turn}.{index}"),
        }
    }
}

/// A moment of a dispatch, or its end.
pub enum At<'x, 'm, 'a> {
    /// Between two instructions.
    Moment(&'x mut Moment<'m, 'a, CheckedMemory>),
    /// Nothing runs any more.
    End(&'x mut CheckedMemory),
}

impl At<'_, '_, '_> {
    /// The checked memory, whose histories say who sees what.
    pub fn memory(&mut self) -> &mut CheckedMemory {
        match self {
            At::Moment(moment) => moment.memory,
            At::End(memory) => memory,
        }
    }

    /// The strand and the lane of an invocation that runs.
    pub fn standing(&self, who: Who) -> Option<(Standing<'_>, usize)> {
        let At::Moment(moment) = self else { return None };
        // Mostly it is of the strand whose turn it is.
        let mut all = std::iter::once(moment.current()).chain(moment.strands());
        all.find_map(|standing| Some(lane_of(&standing, who).map(|lane| (standing, lane)))?)
    }

    /// What an invocation does next to memory that others may see.
    pub fn access(&self, who: Who) -> Option<Accessed> {
        let At::Moment(moment) = self else { return None };
        let (standing, lane) = self.standing(who)?;
        let runs = standing.strand.mask() >> lane & 1 != 0 && !standing.at_barrier;
        if runs { moment.access(standing.strand, lane) } else { None }
    }

    /// Whether an invocation is about to sample texels.
    pub fn samples(&self, who: Who) -> bool {
        let (At::Moment(moment), Some((standing, lane))) = (self, self.standing(who)) else { return false };
        !standing.at_barrier && moment.sampled_texels(standing.strand).iter().any(|of| of.lane == lane)
    }
}

/// What accesses of memory were found to do wrong so far, in order.
pub(super) fn found(memory: &CheckedMemory) -> impl Iterator<Item = &Finding> {
    memory.found().iter().filter(|finding| !finding.accesses.is_empty())
}

/// How much was found: of accesses, and of those who wait, at barriers or for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub accesses: usize,
    pub waiting: usize,
}

impl Count {
    /// However much it is.
    pub const ALL: Count = Count { accesses: usize::MAX, waiting: usize::MAX };

    /// What was found until now; `waiting`: of those who wait.
    pub fn of(memory: &CheckedMemory, waiting: &[Finding]) -> Count {
        Count { accesses: found(memory).count(), waiting: waiting.len() }
    }

    /// The greater of each.
    pub fn max(self, other: Count) -> Count {
        Count { accesses: self.accesses.max(other.accesses), waiting: self.waiting.max(other.waiting) }
    }

    /// The first finding that is in `now` and not in this.
    pub fn first_new(self, now: Count) -> Option<Which> {
        if now.accesses > self.accesses {
            Some(Which::Access(self.accesses))
        } else {
            (now.waiting > self.waiting).then_some(Which::Waiting(self.waiting))
        }
    }
}

/// A finding, by its index among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Of accesses.
    Access(usize),
    /// Of those who wait.
    Waiting(usize),
}

impl Which {
    /// The findings up to this one.
    pub(super) fn count(self) -> Count {
        match self {
            Which::Access(index) => Count { accesses: index + 1, waiting: 0 },
            Which::Waiting(index) => Count { accesses: 0, waiting: index + 1 },
        }
    }

    /// This one and those of its kind that follow it.
    pub(super) fn onward<'f>(
        self,
        memory: &'f CheckedMemory,
        waiting: &'f [Finding],
    ) -> Box<dyn Iterator<Item = &'f Finding> + 'f> {
        match self {
            Which::Access(index) => Box::new(found(memory).skip(index)),
            Which::Waiting(index) => Box::new(waiting.iter().skip(index)),
        }
    }
}

/// The invocation that a lane of a strand is.
pub(super) fn who_is(standing: &Standing<'_>, lane: u32) -> Who {
    Who { workgroup: standing.identity.workgroup, local_index: standing.identity.local_index(lane) }
}

/// The lane of an invocation in a strand.
pub(super) fn lane_of(standing: &Standing<'_>, who: Who) -> Option<usize> {
    let identity = standing.identity;
    if identity.workgroup != who.workgroup {
        return None;
    }
    let lane = identity.lane(who.local_index)?;
    (standing.strand.live() >> lane & 1 != 0).then_some(lane as usize)
}

/// Which accesses a data breakpoint is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accesses {
    /// Stores and read-modify-writes.
    Write,
    /// Loads and read-modify-writes.
    Read,
    /// All.
    Any,
}

/// Bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The workgroup whose memory it is in; `None`: device memory.
    pub workgroup: Option<u32>,
    /// First byte: device address, or offset into workgroup memory.
    pub address: u64,
    /// How many bytes of the buffer.
    pub bytes: u64,
}

/// What a breakpoint waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// One of these instructions, at which a line begins.
    Line {
        /// What the user named.
        shown: String,
        /// Ascending.
        pcs: Vec<u32>,
    },
    /// An access.
    Data {
        /// What the user named.
        shown: String,
        /// The bytes that are watched.
        range: Range,
        /// Whether loads, stores or both stop the dispatch.
        accesses: Accesses,
    },
}

/// Where an invocation stops, and which.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// What it waits for.
    pub place: Place,
    /// What has to hold for the invocation.
    pub condition: Option<Condition>,
    /// It was told why the condition could not be judged somewhere.
    pub told: bool,
    /// The only invocation that it is for.
    pub who: Option<Who>,
}

/// Something that the user changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The next instruction of an invocation reads this in a word.
    Read(Chosen),
    /// A word of an invocation's private memory, and the bits of it that change.
    Private(Who, u32, u32, u32),
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// To a breakpoint or a finding.
    Continue,
    /// To another line, in functions that are called, too.
    In,
    /// To another line of the same function.
    Over,
    /// Out of the function.
    Out,
    /// One instruction of the invocation.
    Instruction,
    /// One line of any part of its subgroup.
    Subgroup,
    /// One line of every subgroup of its workgroup that can run.
    Workgroup,
    /// To a write of these bytes.
    Wrote(Range),
}

impl Motion {
    /// Whether it ends at what the invocation in focus, or its workgroup, does.
    pub fn is_of_focus(self) -> bool {
        !matches!(self, Motion::Continue | Motion::Wrote(_))
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Go on, backward if so.
    Move(Motion, bool),
    /// Go there.
    To(Position),
    /// Come here again, with what was changed.
    Again,
    /// Let this dispatch run to its end and the program go on.
    Leave,
    /// End the program.
    Quit,
}

/// Why a dispatch stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// At its first instruction.
    Entry,
    /// A motion is done.
    Step,
    /// A breakpoint, by its number.
    Breakpoint(u32),
    /// A data breakpoint.
    Data(u32),
    /// A breakpoint whose condition cannot be judged here, and why.
    Unjudged(u32, String),
    /// The access that is next is the second one of a finding; or behind the instruction that is next, who is
    /// in focus is found to wait for those who do not come.
    Finding(Which),
    /// The front end asked for it.
    Pause,
    /// The position that was asked for.
    Position,
    /// The write that was asked for is next.
    Wrote,
    /// There is nothing of that kind earlier.
    Start,
    /// There is no write of these bytes earlier.
    NeverWritten,
    /// The invocation has ended.
    Gone,
    /// The dispatch has ended: why, if not well; or what was looked for in vain.
    Ended(Option<String>),
}

/// What outlives a stop.
#[derive(Default)]
pub struct Session {
    /// In the order of their numbers.
    pub breakpoints: Vec<Breakpoint>,
    /// The number of the last breakpoint.
    pub numbered: u32,
    /// Findings stop the dispatch.
    pub ignore_findings: bool,
    /// Whose variables are shown, and who steps.
    pub focus: Who,
    /// The finding that is about to happen.
    pub next: Option<Finding>,
    /// What was found of those who wait.
    pub waiting: Vec<Finding>,
    /// It has stopped once.
    pub reached: bool,
    /// The frame that is looked at, 0 for the innermost.
    pub frame: usize,
    /// What was changed where.
    pub edits: BTreeMap<Position, Vec<Edit>>,
    /// Turns that were given to a subgroup: where, the scheduler's choice, workgroup and subgroup.
    pub turns: BTreeMap<Position, (u64, (u32, u32))>,
}

/// A dispatch that has stopped.
pub struct Stop<'s, 'x, 'm, 'a, 't> {
    /// What is debugged.
    pub target: &'s Target<'t>,
    /// What outlives the stop.
    pub session: &'s mut Session,
    /// The moment.
    pub at: At<'x, 'm, 'a>,
    /// Which breakpoint, step or end made it stop.
    pub reason: Reason,
    /// The invocation that stopped, and its instruction.
    pub here: Position,
    /// The number of the scheduler's next choice.
    pub choice: u64,
}

impl<'t, 'm, 'a, 'x> Stop<'_, 'x, 'm, 'a, 't> {
    /// The eyes of the invocation in focus.
    pub fn eyes(&mut self) -> Eyes<'_, 't, 'a, 'm, 'x> {
        Eyes { target: self.target, at: &mut self.at, who: self.session.focus, frame: self.session.frame }
    }

    /// Where an invocation stands: at the barrier that it waits for, if it waits.
    pub fn spot(&self, who: Who) -> Option<Spot> {
        let (standing, _) = self.at.standing(who)?;
        self.target.spot(standing.strand.pc().saturating_sub(u32::from(standing.at_barrier)))
    }

    /// What was found so far, and what is about to be.
    pub fn findings(&mut self) -> Vec<Finding> {
        let found = found(self.at.memory()).cloned();
        let next = matches!(self.reason, Reason::Finding(_)).then(|| self.session.next.clone()).flatten();
        found.chain(self.session.waiting.iter().cloned()).chain(next).collect()
    }

    /// Changes something here; what was changed later is forgotten.
    pub fn edit(&mut self, edit: Edit) {
        self.forget_later();
        if let At::Moment(moment) = &mut self.at {
            apply(moment, &edit);
        }
        self.session.edits.entry(self.here).or_default().push(edit);
    }

    /// Gives the next choice of the scheduler to a subgroup.
    pub fn give_turn(&mut self, workgroup: u32, subgroup: u32) {
        self.forget_later();
        self.session.turns.insert(self.here, (self.choice, (workgroup, subgroup)));
    }

    fn forget_later(&mut self) {
        let here = self.here;
        self.session.edits.retain(|at, _| *at <= here);
        self.session.turns.retain(|at, _| *at < here);
    }
}

pub(super) fn apply(moment: &mut Moment<'_, '_, CheckedMemory>, edit: &Edit) {
    match edit {
        Edit::Read(chosen) => moment.memory.choose(*chosen),
        Edit::Private(who, word, bits, mask) => {
            let found = moment.strands().find_map(|standing| {
                lane_of(&standing, *who).map(|lane| (standing.identity.subgroup, standing.number, lane))
            });
            let Some((subgroup, number, lane)) = found else { return };
            if let Some(strand) = moment.strand_mut(who.workgroup, subgroup, number)
                && let Some(lanes) = strand.private_mut().get_mut(*word as usize)
            {
                lanes.0[lane] = lanes.0[lane] & !mask | bits & mask;
            }
        }
    }
}

/// What talks to the user.
pub trait Front: Send {
    /// The dispatch has stopped.
    fn stopped(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>) -> Resume;

    /// Whether the user wants it to stop.
    fn interrupts(&mut self) -> bool;
}
