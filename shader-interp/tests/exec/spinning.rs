//! Loops that wait while memory changes: those that nobody ends are ended and told, the others are not.

use crate::support::{checked, options, resources, tier};
use pellucid_memory::agent::Invocation;
use pellucid_memory::finding::{Fact, WaitReason};
use pellucid_memory::system::Trap;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions, Scheduler, SeededScheduler, Unit};
use pellucid_shader_interp::exec::plain::{self, PlainOptions};
use pellucid_shader_interp::exec::waiting::{Reason, Turn, Waiting};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::{Program, compile};

const TRIES: usize = 0;
const LOCK: usize = 1;
const SUM: usize = 5;

fn program(modelled: bool) -> Program {
    let bytes = include_bytes!("shaders/spins.spv").as_chunks::<4>().0;
    let words: Vec<u32> = bytes.iter().map(|word| u32::from_le_bytes(*word)).collect();
    compile(&words, &CompileOptions { modelled, ..options(32) }).expect("a shader that compiles")
}

/// The word of [`LOCK`] is 1, so that nobody has the lock, where nobody is to get it.
fn memory(program: &Program, kind: u32, count: u32) -> Resources {
    let mut words = vec![0; 6 + 4096];
    words[LOCK] = u32::from(kind == 1);
    resources(program, &[words], &[kind, count])
}

fn word(resources: &Resources, k: usize) -> u32 {
    let Descriptor::Buffer(range) = &resources.bindings[0][0] else { panic!("a buffer") };
    range.words()[k]
}

fn grid(groups: u32) -> Grid {
    Grid { base: [0; 3], groups: [groups, 1, 1] }
}

/// Run mode, on so many host threads.
fn run(kind: u32, count: u32, groups: u32, threads: usize) -> (Result<(), Trap>, Resources) {
    let program = program(false);
    let resources = memory(&program, kind, count);
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let options =
        PlainOptions { threads: Some(&pool), spins: Some(1 << 22), tier: tier(), ..PlainOptions::default() };
    (plain::dispatch(&program, &grid(groups), &resources, &options), resources)
}

#[derive(Default)]
struct Told {
    waiting: Vec<Waiting>,
    turns: Vec<Turn>,
}

struct Listening<'a>(SeededScheduler, &'a mut Told);

impl Scheduler for Listening<'_> {
    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.0.pick(runnable)
    }

    fn priority(&self, unit: &Unit) -> u64 {
        self.0.priority(unit)
    }

    fn tells_livelocks(&self) -> bool {
        true
    }

    fn livelock(&mut self, waiting: &[Waiting], _: u64, turns: &[Turn]) {
        self.1.waiting.extend_from_slice(waiting);
        self.1.turns.extend_from_slice(turns);
    }
}

/// Check mode.
fn check(kind: u32, count: u32, groups: u32) -> (Result<(), Trap>, Told, Resources) {
    let program = program(true);
    let resources = memory(&program, kind, count);
    let mut memory = checked(&program, [groups, 1, 1]);
    let options = ModelledOptions { spins: Some(1 << 18), tier: tier(), ..ModelledOptions::default() };
    let mut told = Told::default();
    let mut scheduler = Listening(SeededScheduler::new(1), &mut told);
    let ended =
        modelled::dispatch(&program, &grid(groups), &resources, &mut memory, &mut scheduler, &options);
    (ended, told, resources)
}

#[test]
fn loops_that_nobody_ends_are_ended_in_run_mode() {
    for (kind, groups, threads) in [(0, 1, 1), (0, 3, 2), (1, 2, 1), (2, 2, 2)] {
        let (ended, resources) = run(kind, 0, groups, threads);
        let Err(Trap::Watchdog(facts)) = ended else { panic!("kind {kind}: {ended:?}") };
        assert_eq!(facts.len(), groups as usize, "kind {kind}: {facts:?}");
        for fact in facts {
            let Fact::Waits(wait) = fact else { panic!("{fact:?}") };
            assert_eq!(wait.reason, WaitReason::Repeats);
            assert!(wait.access.place.size == 4 && wait.access.returned.is_some(), "{wait:?}");
            assert_eq!(wait.invocations, [if kind == 1 { (0, 0) } else { (0, 31) }]);
        }
        assert!(word(&resources, TRIES) > 1000 && word(&resources, SUM) == 0);
    }
}

#[test]
fn loops_that_nobody_ends_are_ended_in_check_mode() {
    for (kind, groups) in [(0, 1), (0, 3), (1, 2), (2, 2), (2, 20)] {
        let (ended, told, _) = check(kind, 0, groups);
        assert_eq!(ended, Err(Trap::Livelock), "kind {kind}");
        assert_eq!(told.waiting.len(), groups as usize);
        for wait in &told.waiting {
            assert!(matches!(wait.reason, Reason::Repeats(Some(_))), "kind {kind}: {wait:?}");
        }
    }
}

/// Nothing is to be seen in more turns than it takes each to do the same again.
#[test]
fn the_last_turns_end_where_everybody_repeats_one() {
    // Its one turn, told once.
    assert_eq!(check(0, 0, 1).1.turns.len(), 1);
    // Of two, each looks at its flag and counts.
    let (_, told, _) = check(2, 0, 2);
    for workgroup in 0..2 {
        let own: Vec<&Turn> = told.turns.iter().filter(|turn| turn.who.0 == workgroup).collect();
        assert!(own.len() >= 2 && own[0].site != own[1].site, "{:?}", told.turns);
    }
}

/// Whoever spins on a lock by exchanges writes to it, and has not got it.
#[test]
fn who_waits_for_a_lock_is_not_told_to_hold_it() {
    let (ended, told, resources) = check(6, 0, 4);
    let told = told.waiting;
    assert_eq!((ended, told.len(), word(&resources, SUM)), (Err(Trap::Livelock), 3, 1));
    for wait in &told {
        let spins = |by: &Invocation| told.iter().any(|other| other.unit.workgroup == by.workgroup[0]);
        assert!(matches!(wait.reason, Reason::Repeats(Some(_))), "{wait:?}");
        assert!(!wait.wrote.as_ref().is_some_and(spins), "{wait:?}");
    }
}

#[test]
fn what_computes_is_not_ended_however_many_wait() {
    for threads in [1, 2] {
        let (ended, resources) = run(3, 4_000_000, 3, threads);
        assert_eq!((ended, word(&resources, SUM) != 0), (Ok(()), true));
    }
    let (ended, _) = run(4, 1 << 24, 3, 1);
    assert_eq!(ended, Ok(()));
    let (ended, resources) = run(5, 20_000, 4, 2);
    assert_eq!((ended, word(&resources, SUM)), (Ok(()), 80_000));
}

#[test]
fn what_computes_is_not_ended_in_check_mode() {
    let (ended, _, resources) = check(3, 10_000_000, 3);
    assert_eq!((ended, word(&resources, SUM) != 0), (Ok(()), true));
    let (ended, ..) = check(4, 1 << 19, 3);
    assert_eq!(ended, Ok(()));
    let (ended, _, resources) = check(5, 2_000, 4);
    assert_eq!((ended, word(&resources, SUM)), (Ok(()), 8_000));
}
