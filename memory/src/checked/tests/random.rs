//! Random programs through the whole memory system, judged by the axioms: values are consistent, and no alarm
//! is false.

use super::*;
use crate::access::{AtomicOp, ShaderRead};
use crate::agent::Placement;
use crate::finding::FindingId;
use crate::machine::{MACHINES, Machine};
use crate::model::{BarrierInstance, Event, EventId, Execution, ModelOptions};
use crate::race::StaticAccess;
use crate::race::tests::{Case, Step, event, random_case, scope};
use crate::random::Random;
use crate::system::{LANES, MemoryView};

#[derive(Default, Debug)]
struct Tally {
    racy: u32,
    race_free: u32,
    reads: u32,
    stale: u32,
    silent: u32,
}

/// One execution of a random program: two workgroups of three invocations in subgroups of two.
struct Run {
    memory: CheckedMemory,
    words: Vec<u32>,
    execution: Execution,
    /// The event that wrote each value.
    writers: Vec<EventId>,
    reads: Vec<(EventId, u32, u32)>,
}

impl Run {
    fn enter(&mut self, agent: u32) -> Mask {
        let (group, local) = (agent / 3, agent % 3);
        self.memory.enter_subgroup(&SubgroupIdentity {
            workgroup: group,
            workgroup_id: [group, 0, 0],
            subgroup: local / 2,
            lanes: if local < 2 { 2 } else { 1 },
            placement: Placement::in_order(2),
        });
        1 << (local % 2)
    }

    fn access(&mut self, site: u32, agent: u32, kind: &StaticAccess, word: u32, event: EventId) {
        let mask = self.enter(agent);
        let at = scope(kind.level);
        let access = Access {
            non_private: kind.non_private,
            available: (kind.available && !kind.atomic).then_some(at),
            visible: (kind.visible && !kind.atomic).then_some(at),
            atomic: kind.atomic.then_some(at),
            semantics: kind.semantics,
            read_as: if kind.class == StorageClasses::UNIFORM && kind.reference % 2 == 1 {
                ShaderRead::Uniform
            } else {
                ShaderRead::Storage
            },
            ..Access::plain(kind.class, 4, 1)
        };
        let newest = self.words[word as usize];
        let view = MemoryView::of_words(&mut self.words).at(0x1000).through(Reference(kind.reference));
        let offset = Lanes([4 * word; LANES]);
        let pointers = Pointers::View { view: &view, offset: &offset, immediate: 0 };
        let value = [Lanes([self.writers.len() as u32 + 1; LANES])];
        let mut out = [Lanes::ZERO];
        let memory = &mut self.memory;
        match (kind.read, kind.write) {
            (true, true) => memory
                .read_modify_write(
                    Site(site),
                    AtomicOp::Exchange,
                    pointers,
                    mask,
                    &access,
                    &value,
                    None,
                    &mut out,
                )
                .expect("in bounds"),
            (false, true) => memory.store(Site(site), pointers, mask, &access, &value).expect("in bounds"),
            _ => memory.load(Site(site), pointers, mask, &access, &mut out).expect("in bounds"),
        }
        if kind.read {
            let got = out[0].0[mask.trailing_zeros() as usize];
            if got != 0 {
                self.execution.reads_from(self.writers[got as usize - 1], event);
            }
            self.reads.push((event, got, newest));
        }
        if kind.write {
            self.writers.push(event);
        }
    }
}

/// Whether a step is a barrier of the workgroup by these members.
fn meet_at(step: &Step, who: &[u32]) -> bool {
    matches!(step, Step::Barrier { members, execution: Scope::Workgroup, .. } if members[..] == *who)
}

fn subgroups(members: &[u32]) -> impl Iterator<Item = &[u32]> {
    members.chunk_by(|a, b| a / 3 == b / 3 && a % 3 / 2 == b % 3 / 2)
}

fn run(case: &Case, options: CheckOptions, tally: &mut Tally) {
    let mut memory = CheckedMemory::new(options);
    let mut semantics = Vec::new();
    for step in &case.steps {
        semantics.push(match step {
            Step::Access { kind, .. } => kind.semantics.classes,
            Step::Fence { operation, .. } | Step::Barrier { operation, .. } => operation.semantics.classes,
        });
    }
    memory.begin_dispatch(DispatchInfo {
        groups: [2, 1, 1],
        workgroup_size: 3,
        placement: Placement::in_order(2),
        semantics,
        ..DispatchInfo::default()
    });
    memory.workgroup_begin(0, 0, false);
    memory.workgroup_begin(1, 0, false);
    let mut run = Run {
        memory,
        words: vec![0; 8],
        execution: Execution::new(),
        writers: Vec::new(),
        reads: Vec::new(),
    };
    let who = |agent: u32| case.agent(agent);
    for (number, step) in case.steps.iter().enumerate() {
        let site = number as u32 + 1;
        match step {
            Step::Fence { members, operation } => {
                let (at, scope, semantics) = (Site(site), scope(operation.level), &operation.semantics);
                let behind = number.checked_sub(1).is_some_and(|last| meet_at(&case.steps[last], members));
                let before = case.steps.get(number + 1).is_some_and(|next| meet_at(next, members));
                if behind || before {
                    for lanes in subgroups(members) {
                        let events = lanes.iter().map(|member| Event::fence(who(*member), scope, *semantics));
                        events.for_each(|event| _ = run.execution.push(event));
                        let mask = lanes.iter().fold(0, |mask, agent| mask | run.enter(*agent));
                        match behind {
                            true => run.memory.fence_behind_barrier(at, mask, scope, semantics),
                            false => run.memory.fence_before_barrier(at, mask, scope, semantics),
                        }
                    }
                    continue;
                }
                for member in members {
                    run.execution.push(Event::fence(who(*member), scope, *semantics));
                    let mask = run.enter(*member);
                    run.memory.fence(at, mask, scope, semantics);
                }
            }
            Step::Barrier { members, execution, operation } => {
                let instance =
                    BarrierInstance { instance: site, execution: *execution, arrives: true, waits: true };
                for member in members {
                    let event =
                        Event::barrier(who(*member), instance, scope(operation.level), operation.semantics);
                    run.execution.push(event);
                }
                for lanes in subgroups(members) {
                    let mask = lanes.iter().fold(0, |mask, agent| mask | run.enter(*agent));
                    if let Some(Step::Fence { members: others, operation }) = case.steps.get(number + 1)
                        && meet_at(step, others)
                    {
                        let (at, scope) = (Site(site + 1), scope(operation.level));
                        run.memory.announce_fence(at, mask, scope, &operation.semantics);
                    }
                    run.memory.barrier_arrive(
                        Site(site),
                        mask,
                        *execution,
                        scope(operation.level),
                        &operation.semantics,
                    );
                }
                if *execution == Scope::Workgroup {
                    run.memory.barrier_complete(members[0] / 3);
                }
            }
            Step::Access { agent, kind, locations, .. } => {
                let kind = kind.normalised();
                let event = run.execution.push(event(who(*agent), &kind, *locations));
                run.access(site, *agent, &kind, locations.first, event);
            }
        }
    }
    let findings = run.memory.end_dispatch();
    let options = ModelOptions { chains: options.chains, ..ModelOptions::default() };
    let judgement = run.execution.judge(&options).expect("a well-formed execution");
    assert!(judgement.consistent(), "{:?} of {:#?}", judgement.inconsistency(), run.execution.events());
    let found = findings.iter().filter(|finding| finding.id != FindingId::UninitialisedRead).count();
    let racy = !judgement.races().is_empty();
    assert!(racy || found == 0, "a false alarm: {findings:#?}\n{:#?}", run.execution.events());
    tally.racy += u32::from(racy);
    tally.race_free += u32::from(!racy);
    tally.silent += u32::from(racy && found == 0);
    for (event, got, newest) in &run.reads {
        tally.reads += 1;
        tally.stale += u32::from(got != newest);
        if !racy && !run.execution.events()[*event as usize].atomic {
            assert_eq!(got, newest, "a plain read of a race-free execution has one candidate");
        }
    }
}

#[test]
fn random_programs_are_consistent_and_alarms_are_true() {
    let programs: u32 =
        std::env::var("PELLUCID_TEST_EXECUTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut tally = Tally::default();
    // Lines of a word or two, so that they do not all travel together, and often evicted.
    let small = "units 2\nfirst write-back line 8 lines 2\nsecond write-back line 16 lines 2 units 1\n\
                 texture line 4 lines 2\nconstant line 4 lines 2\ntraffic 8";
    let machines = MACHINES.map(|(_, text)| text).into_iter().chain([small]);
    let machines: Vec<Machine> = machines.map(|text| Machine::parse(text).expect("a machine")).collect();
    let mut random = Random::new(0x51_7cc1_b727_220a);
    for seed in 0..programs {
        // Short programs are often race-free, long ones hardly ever.
        let case = random_case(&mut random, true, 6, 6 + (seed % 16) as usize, 2);
        for values in [
            ValuePolicy::Stale,
            ValuePolicy::Seeded,
            ValuePolicy::Latest,
            ValuePolicy::Varied,
            ValuePolicy::Caches,
        ] {
            for chains in [true, false] {
                let machines = if values == ValuePolicy::Caches { &machines[..] } else { &machines[..1] };
                for machine in machines.iter().copied() {
                    let seed = u64::from(seed);
                    let options = CheckOptions { values, machine, chains, seed, ..CheckOptions::default() };
                    run(&case, options, &mut tally);
                }
            }
        }
    }
    assert!(tally.race_free > programs / 4 && tally.racy > programs / 4, "{tally:?}");
    assert!(tally.stale > 0 && tally.silent * 50 <= tally.racy, "{tally:?}");
}
