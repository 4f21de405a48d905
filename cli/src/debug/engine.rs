//! The debugger itself: it runs a dispatch up to where its front end wants to be, forward and backward.
//!
//! A position is a turn of the schedule and an instruction of that turn. An execution is a function of the
//! seed, the options and what was chosen in it, so that going back is running again: turns that nobody wants
//! to see run as fast as check mode does, and only those near the goal are stepped.

mod reached;

use super::copies::{Copies, Copy};
use super::stop::{
    At, Count, Edit, Front, Motion, Position, Reason, Resume, Session, Stop, Which, apply, lane_of, who_is,
};
use super::target::{Spot, Target, Who};
use super::types::Types;
use super::values::Item;
use super::values::condition::Condition;
use pellucid_memory::access::Site;
use pellucid_memory::agent::Invocation;
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::exec::modelled::Unit;
use pellucid_shader_interp::exec::modelled::debugged::{Follower, Moment, Snapshot};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use vulkan_pellucid::debugger::{self, Debugged, Debugger, Kept, Turns};

/// From where a motion starts.
#[derive(Clone, Debug)]
struct Start {
    at: Position,
    spot: Option<Spot>,
    /// What the invocation in focus executed last.
    pc: Option<u32>,
    /// Of a motion of a workgroup: its subgroups that have not moved, and where they stood.
    left: BTreeMap<u32, Option<Spot>>,
}

#[derive(Clone, Debug)]
enum Goal {
    /// This position, for this reason.
    At(Position, Reason, Option<Who>),
    /// The first stop after the start.
    Forward(Motion, Start),
    /// The last one before the start.
    Backward(Motion, Start, Option<(Position, Reason, Who)>),
    Entry,
    Leave,
}

/// A run towards a goal.
struct Runner<'r, 't> {
    session: &'r mut Session,
    front: &'r mut dyn Front,
    target: &'r Target<'t>,
    turns: &'r Turns,
    goal: Goal,
    /// Findings so far, and those at which it has stopped.
    found: Count,
    seen: Count,
    previous: Option<(Position, Who)>,
    choosing: bool,
    polled: u32,
    /// The only finding that matters until it is there.
    wanted: Option<Wanted>,
    /// Run again towards this goal; with so many findings at which it has stopped.
    again: Option<(Goal, Count)>,
    quit: bool,
    copies: &'r mut Copies,
    /// The turn of the copy that the run began at; `None`: at the beginning.
    from: Option<u64>,
    /// A search on the way back ends here: what comes later was searched.
    until: Option<Position>,
    /// Conditions with what their names stand for, by breakpoint and instruction; or why that is nothing.
    judged: BTreeMap<(u32, u32), Result<Condition<Item>, String>>,
}

const AGAIN: &str = "the debugger runs it again";

/// Instructions between two looks at whether the user wants a stop.
const POLL: u32 = 1 << 12;

impl Follower<CheckedMemory> for Runner<'_, '_> {
    fn follows(&mut self, turn: u64, unit: &Unit) -> bool {
        let edited = || {
            let first = Position { turn, index: 0 };
            self.session.edits.range(first..).next().is_some_and(|(at, _)| at.turn == turn)
        };
        match &self.goal {
            Goal::At(at, ..) => turn >= at.turn || edited(),
            Goal::Forward(..) | Goal::Entry => true,
            Goal::Backward(Motion::In | Motion::Over | Motion::Out | Motion::Instruction, start, _) => {
                let end = self.until.unwrap_or(start.at);
                unit.workgroup == self.session.focus.workgroup || turn >= end.turn || edited()
            }
            Goal::Backward(..) => true,
            Goal::Leave => edited(),
        }
    }

    fn wants_copy(&mut self, turn: u64, ended: &dyn Fn(u32) -> bool) -> Result<bool, Trap> {
        if let Goal::Backward(motion, ..) = &self.goal
            && motion.is_of_focus()
            && ended(self.session.focus.workgroup)
        {
            // Nothing that it did comes later.
            self.search_ends()?;
        }
        Ok(!matches!(self.goal, Goal::Leave) && self.copies.wanted(turn, self.session))
    }

    fn keep(&mut self, execution: Snapshot, memory: &CheckedMemory) {
        let found = Count::of(memory, &self.turns.watched.lock());
        self.copies.keep(execution, memory, found, self.session);
    }

    fn before(&mut self, moment: &mut Moment<'_, '_, CheckedMemory>) -> Result<(), Trap> {
        let here = Position { turn: moment.turn, index: moment.index };
        if std::mem::take(&mut self.choosing) {
            moment.memory.choose_nothing();
        }
        let found = Count::of(moment.memory, &self.turns.watched.lock());
        let fresh = self.found.max(self.seen).first_new(found);
        self.found = found;
        if let (Some(which), Some((at, who)), false) = (fresh, self.previous, self.session.ignore_findings) {
            let reason = Reason::Finding(which);
            let wanted = self.is_wanted(moment.memory, which);
            let next = which.onward(moment.memory, &self.turns.watched.lock()).next().cloned();
            match &mut self.goal {
                Goal::Forward(..) if !wanted => self.seen = found,
                Goal::Forward(..) => {
                    self.session.next = next;
                    return self.restart(Goal::At(at, reason, Some(who)), found);
                }
                Goal::Backward(Motion::Continue, start, last) if at < start.at => {
                    *last = Some((at, reason, who));
                    self.session.next = next;
                }
                _ => {}
            }
        }
        let (mask, who, pc) = {
            let standing = moment.current();
            let lane = standing.strand.mask().trailing_zeros().min(31);
            (standing.strand.mask(), who_is(&standing, lane), standing.strand.pc())
        };
        if mask == 0 {
            return Ok(());
        }
        self.previous = Some((here, who));
        if let Some(edits) = self.session.edits.get(&here) {
            for edit in edits {
                apply(moment, edit);
                self.choosing |= matches!(edit, Edit::Read(_));
            }
        }
        self.polled += 1;
        if self.polled >= POLL {
            self.polled = 0;
            if self.front.interrupts() {
                return self.stop(moment, here, Reason::Pause, Some(who));
            }
        }
        match &self.goal {
            Goal::Leave => Ok(()),
            Goal::Entry => self.stop(moment, here, Reason::Entry, Some(who)),
            Goal::At(at, reason, who) => {
                if here < *at {
                    return Ok(());
                }
                let (reason, who) = (reason.clone(), *who);
                self.stop(moment, here, reason, who)
            }
            Goal::Forward(motion, start) => {
                if here <= start.at {
                    return Ok(());
                }
                let motion = *motion;
                let reached = self.reached(moment, motion, pc, false);
                match self.hit(moment, pc, motion).map_err(Trap::Stopped)?.or(reached) {
                    Some((reason, who)) => self.stop(moment, here, reason, Some(who)),
                    None => Ok(()),
                }
            }
            Goal::Backward(motion, start, _) => {
                if here >= self.until.unwrap_or(start.at) {
                    return self.search_ends();
                }
                let motion = *motion;
                let hit = match motion {
                    Motion::Continue | Motion::Wrote(_) => {
                        self.hit(moment, pc, motion).map_err(Trap::Stopped)?
                    }
                    _ => self.reached(moment, motion, pc, true),
                };
                if let (Some((reason, who)), Goal::Backward(_, _, last)) = (hit, &mut self.goal) {
                    *last = Some((here, reason, who));
                }
                Ok(())
            }
        }
    }
}

impl Runner<'_, '_> {
    fn restart(&mut self, goal: Goal, seen: Count) -> Result<(), Trap> {
        self.again = Some((goal, seen));
        Err(Trap::Stopped(AGAIN.to_owned()))
    }

    /// Whether a finding is the one that is wanted, or one that need not be.
    fn is_wanted(&self, memory: &CheckedMemory, which: Which) -> bool {
        let Some(wanted) = self.wanted.as_ref().filter(|_| !self.session.reached) else { return true };
        let sites = &self.target.program.shader.sites;
        let word = |site: Site| sites.get(site.0 as usize).map_or(0, |site| u64::from(site.word));
        which.onward(memory, &self.turns.watched.lock()).any(|finding| {
            let words: Vec<u64> = finding.accesses.iter().map(|access| word(access.site)).collect();
            // Who has ended stands nowhere: a report has no word for that.
            let same = match which {
                Which::Access(_) => words == wanted.words,
                Which::Waiting(_) => words.starts_with(&wanted.words),
            };
            finding.id.name() == wanted.id && same
        })
    }

    fn search_ends(&mut self) -> Result<(), Trap> {
        let Goal::Backward(motion, _, last) = &self.goal else { return Ok(()) };
        let none = if matches!(motion, Motion::Wrote(_)) { Reason::NeverWritten } else { Reason::Start };
        let (goal, seen) = match (last.clone(), motion) {
            (Some((at, reason, who)), _) => {
                let seen = if let Reason::Finding(which) = reason { which.count() } else { Count::default() };
                (Goal::At(at, reason, Some(who)), seen)
            }
            (None, motion) if self.from.is_some() => {
                // It may be before the copy.
                let Goal::Backward(_, start, _) = &self.goal else { return Ok(()) };
                (Goal::Backward(*motion, start.clone(), None), Count::default())
            }
            (None, Motion::Wrote(_)) => {
                let Goal::Backward(_, start, _) = &self.goal else { return Ok(()) };
                (Goal::At(start.at, none, None), self.seen)
            }
            (None, _) => (Goal::At(Position::default(), none, None), Count::default()),
        };
        let earlier = matches!(goal, Goal::Backward(..));
        self.until = self.from.filter(|_| earlier).map(|turn| Position { turn, index: 0 });
        self.restart(goal, seen)
    }

    /// The dispatch has ended: the last instruction may have been the second access, or nobody is left who
    /// would go on.
    fn ended(&mut self, memory: &CheckedMemory) {
        if self.again.is_some() {
            return;
        }
        let waiting = self.turns.watched.lock();
        let found = Count::of(memory, &waiting);
        let fresh = self.found.max(self.seen).first_new(found);
        if let (Some(which), Some((at, who)), false) = (fresh, self.previous, self.session.ignore_findings) {
            let reason = Reason::Finding(which);
            let next = which.onward(memory, &waiting).next().cloned();
            match &mut self.goal {
                Goal::Forward(..) => {
                    self.session.next = next;
                    self.again = Some((Goal::At(at, reason, Some(who)), found));
                }
                Goal::Backward(Motion::Continue, _, last) => {
                    self.session.next = next;
                    *last = Some((at, reason, who));
                }
                _ => {}
            }
        }
        if matches!(self.goal, Goal::Backward(..)) {
            // It ended before it came to where the search began.
            let _ = self.search_ends();
        }
    }

    /// Asks the front end what to do here.
    fn stop(
        &mut self,
        moment: &mut Moment<'_, '_, CheckedMemory>,
        here: Position,
        reason: Reason,
        who: Option<Who>,
    ) -> Result<(), Trap> {
        let gone = |who: Who, moment: &Moment<'_, '_, CheckedMemory>| {
            !moment.strands().any(|standing| lane_of(&standing, who).is_some())
        };
        let who = match reason {
            Reason::Finding(Which::Access(_)) => self.finder(moment).or(who),
            Reason::Finding(Which::Waiting(_)) => self.waiter().or(who),
            _ => who,
        };
        let own = reason != Reason::Position && reason != Reason::Step;
        match who {
            Some(who) if own || gone(self.session.focus, moment) => self.session.focus = who,
            _ => {}
        }
        if gone(self.session.focus, moment)
            && let Some((_, who)) = self.previous
        {
            self.session.focus = who;
        }
        let unjudged = matches!(reason, Reason::Unjudged(..));
        if let Reason::Unjudged(id, _) = reason {
            self.session.breakpoints.iter_mut().filter(|of| of.id == id).for_each(|of| of.told = true);
        }
        self.session.frame = 0;
        self.session.reached = true;
        self.seen = self.seen.max(self.found);
        let choice = self.turns.made.load(Ordering::Relaxed);
        let session = &mut *self.session;
        session.waiting.clone_from(&self.turns.watched.lock());
        let mut stop = Stop { target: self.target, session, at: At::Moment(moment), reason, here, choice };
        let resume = self.front.stopped(&mut stop);
        self.copies.go_on();
        self.until = None;
        self.choosing |= self
            .session
            .edits
            .get(&here)
            .is_some_and(|edits| edits.iter().any(|edit| matches!(edit, Edit::Read(_))));
        match resume {
            Resume::Move(motion, back) => {
                let start = self.start(moment, here);
                if back {
                    self.restart(Goal::Backward(motion, start, None), Count::default())
                } else {
                    self.goal = Goal::Forward(motion, start);
                    // What was told of one breakpoint says nothing of the others here.
                    let hit = match unjudged && motion == Motion::Continue {
                        true => {
                            self.hit(moment, moment.current().strand.pc(), motion).map_err(Trap::Stopped)?
                        }
                        false => None,
                    };
                    hit.map_or(Ok(()), |(reason, who)| self.stop(moment, here, reason, Some(who)))
                }
            }
            Resume::To(at) => self.restart(Goal::At(at, Reason::Position, None), Count::default()),
            Resume::Again => {
                let seen = self.seen;
                self.restart(Goal::At(here, Reason::Position, None), seen)
            }
            Resume::Leave => {
                self.goal = Goal::Leave;
                Ok(())
            }
            Resume::Quit => {
                self.quit = true;
                Err(Trap::Stopped("the debugger has ended it".to_owned()))
            }
        }
    }

    /// Who makes the second access of the finding that is about to happen, if it is about to.
    fn finder(&self, moment: &Moment<'_, '_, CheckedMemory>) -> Option<Who> {
        let current = moment.current();
        let runs =
            |who: &Who| lane_of(&current, *who).is_some_and(|lane| current.strand.mask() >> lane & 1 != 0);
        let accesses = &self.session.next.as_ref()?.accesses;
        accesses.iter().rev().filter_map(|access| self.who(&access.by)).find(runs)
    }

    /// Who waits, of the finding that is about to happen: the first.
    fn waiter(&self) -> Option<Who> {
        self.who(&self.session.next.as_ref()?.accesses.first()?.by)
    }

    fn who(&self, by: &Invocation) -> Option<Who> {
        Some(Who { workgroup: self.target.workgroup(by.workgroup)?, local_index: by.local_index })
    }

    fn start(&self, moment: &Moment<'_, '_, CheckedMemory>, at: Position) -> Start {
        let focus = self.session.focus;
        let own = moment.strands().find(|standing| lane_of(standing, focus).is_some());
        let pc = own.as_ref().map_or(0, |standing| standing.strand.pc());
        let current = moment.current();
        let runs = lane_of(&current, focus).is_some_and(|lane| current.strand.mask() >> lane & 1 != 0);
        let ours = moment.strands().filter(|standing| standing.identity.workgroup == focus.workgroup);
        let left = ours.map(|of| (of.identity.subgroup, self.target.spot(of.strand.pc()))).collect();
        Start { at, spot: self.target.spot(pc), pc: runs.then_some(pc), left }
    }
}

/// The debugger of a process: a front end, and the dispatches that it is for.
pub struct Engine {
    front: Box<dyn Front>,
    types: Types,
    session: Session,
    /// Dispatches that are not looked at before the first that is.
    skip: u32,
    /// Run to the first finding before the first stop.
    to_finding: bool,
    wanted: Option<Wanted>,
    at_quit: AtQuit,
}

/// What is to be done where the program is left in the midst of a dispatch.
pub type AtQuit = Box<dyn Fn() + Send>;

/// The finding at which to stop first.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What kind of finding.
    pub id: String,
    /// The words of the module where the instructions of its accesses begin.
    pub words: Vec<u64>,
}

impl Engine {
    /// A debugger of the shader in `words`. It leaves `skip` dispatches alone; `to_finding`: it stops first
    /// where the first finding is, or the `wanted` one.
    pub fn new(
        front: Box<dyn Front>,
        words: &[u32],
        skip: u32,
        to_finding: bool,
        wanted: Option<Wanted>,
        at_quit: AtQuit,
    ) -> Engine {
        let (types, session) = (Types::new(words), Session::default());
        Engine { front, types, session, skip, to_finding, wanted, at_quit }
    }
}

/// The copy that a run towards a goal begins from, and the findings by then.
fn begins(
    copies: &Copies,
    goal: &Goal,
    until: Option<Position>,
    session: &Session,
) -> Option<(Rc<Kept>, Count)> {
    let found = match goal {
        // Before the turn, or at its first instruction.
        Goal::At(at, ..) => copies.before(Position { index: at.index + 1, ..*at }, session, |_| true),
        Goal::Forward(_, start) => {
            copies.before(start.at, session, |_| true).filter(|_| start.at == Position::END)
        }
        Goal::Backward(motion, start, _) => {
            let focus = session.focus.workgroup;
            let fits = |copy: &Copy| !motion.is_of_focus() || !copy.kept.execution().has_ended(focus);
            copies.before(until.unwrap_or(start.at), session, fits)
        }
        Goal::Entry | Goal::Leave => None,
    };
    found.map(|copy| (copy.kept.clone(), copy.found))
}

/// Ends the program where it stands: it has not run to its end, so there is nothing to sum up.
fn quit(at_quit: &AtQuit) -> ! {
    at_quit();
    debugger::abandon();
    std::process::exit(0)
}

impl Debugger for Engine {
    fn dispatch(&mut self, dispatch: &mut Debugged<'_>) -> Result<(), Trap> {
        let Engine { front, types, session, .. } = self;
        let (program, grid, resources) = (dispatch.program(), dispatch.grid(), dispatch.resources());
        let target = Target::new(program, grid, resources, dispatch.context, types);
        let start = Start { at: Position::default(), spot: None, pc: None, left: BTreeMap::new() };
        let mut goal = if dispatch.context.number < self.skip {
            Goal::Leave
        } else if self.to_finding {
            Goal::Forward(Motion::Continue, start.clone())
        } else {
            Goal::Entry
        };
        let mut seen = Count::default();
        session.edits.clear();
        session.turns.clear();
        let mut copies = Copies::new(dispatch.written());
        let mut until = None;
        loop {
            let from = begins(&copies, &goal, until, session);
            let found = from.as_ref().map_or(Count::default(), |(_, found)| *found);
            let from = from.map(|(kept, _)| kept);
            let turn = from.as_ref().map(|kept| kept.execution().turn());
            copies.run(turn);
            // Before its workgroup starts nothing is done by the one in focus.
            let focus = session.focus.workgroup;
            let searched = |kept: &Rc<Kept>| match &goal {
                Goal::Backward(motion, ..) => !motion.is_of_focus() || kept.execution().has_started(focus),
                _ => true,
            };
            let earlier = from.as_ref().filter(|kept| searched(kept)).and(turn);
            let turns = Turns { given: session.turns.values().copied().collect(), ..Turns::default() };
            let mut runner = Runner {
                session: &mut *session,
                front: &mut **front,
                target: &target,
                turns: &turns,
                goal,
                found,
                seen,
                previous: None,
                choosing: false,
                polled: 0,
                wanted: self.wanted.clone(),
                again: None,
                quit: false,
                copies: &mut copies,
                from: earlier,
                until,
                judged: BTreeMap::new(),
            };
            let outcome = dispatch.run(from.as_deref(), &turns, &mut runner);
            dispatch.memory().choose_nothing();
            if runner.quit {
                quit(&self.at_quit);
            }
            runner.ended(dispatch.memory());
            until = runner.until;
            (goal, seen) = match runner.again.take() {
                Some(again) => again,
                None if matches!(runner.goal, Goal::Leave) => return outcome,
                None => {
                    // Asked at the end, it looks for a write in all of the dispatch.
                    let never = matches!(runner.goal, Goal::At(_, Reason::NeverWritten, _));
                    let why = match &outcome {
                        Err(trap) => Some(trap.to_string()),
                        Ok(()) if never => Some("nothing in it has written that".to_owned()),
                        // It was to stop at a finding first.
                        Ok(()) if self.to_finding && !session.reached => {
                            Some("nothing was found in it; `continue` goes on with the program".to_owned())
                        }
                        Ok(()) => None,
                    };
                    let (choice, reason) = (0, Reason::Ended(why));
                    session.waiting.clone_from(&turns.watched.lock());
                    let at = At::End(dispatch.memory());
                    let (target, here) = (&target, Position::END);
                    let mut stop = Stop { target, session: &mut *session, at, reason, here, choice };
                    let end = Start { at: Position::END, ..start.clone() };
                    until = None;
                    match front.stopped(&mut stop) {
                        Resume::Move(Motion::Continue, false) | Resume::Leave => return outcome,
                        Resume::Move(motion, true) => (Goal::Backward(motion, end, None), Count::default()),
                        Resume::Move(_, false) => return outcome,
                        Resume::To(at) => (Goal::At(at, Reason::Position, None), Count::default()),
                        Resume::Again => (Goal::Forward(Motion::Continue, end), Count::ALL),
                        Resume::Quit => quit(&self.at_quit),
                    }
                }
            };
        }
    }
}
