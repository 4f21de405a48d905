//! What atomic writes stored that others superseded, as a debugger is told.

use super::*;
use crate::random::Random;

const SITES: u32 = 3;

/// One step of a random program on the word at byte 8: what was written, or read.
enum Did {
    Wrote(u32),
    Read(u32),
    Else,
}

fn step(m: &mut Machine, (kind, lane, value): (u32, u32, u32)) -> Did {
    let relaxed = Semantics::RELAXED;
    match kind {
        0..3 => Did::Wrote(m.add(1 + kind % SITES, lane, U, 8, Scope::Device, relaxed, value) + value),
        3..5 => {
            m.exchange(4, lane, 8, Scope::Device, relaxed, value);
            Did::Wrote(value)
        }
        5 => {
            m.atomic_store(5, lane, U, 8, Scope::Device, relaxed, value);
            Did::Wrote(value)
        }
        6 => Did::Read(m.atomic_load(6, lane, U, 8, Scope::Device, relaxed)),
        7 => Did::Read(m.load(7, lane, U, 8, SHARED)),
        8 => {
            m.barrier(8, lane / 64, Scope::Workgroup, both(U));
            Did::Else
        }
        _ => {
            m.store(9, lane, U, 8, SHARED, value);
            Did::Wrote(value)
        }
    }
}

#[test]
fn each_write_is_told_with_what_it_stored() {
    let mut superseded = 0;
    for seed in 0..120 {
        let mut random = Random::new(seed);
        // Mostly updates alone: other accesses make histories of the cells.
        let kinds = [6, 6, 7, 10][seed as usize % 4];
        let mut watched = Machine::stale();
        watched.memory.remember_superseded();
        let mut plain = Machine::stale();
        let mut log: Vec<(u32, u32)> = Vec::new();
        for k in 0..12 {
            let lane = [0, 1, 33, 64, 70][random.below(5) as usize];
            let does = (random.below(kinds) as u32, lane, 100 * (k + 1) + lane);
            let did = step(&mut watched, does);
            let told = format!("seed {seed}, step {k}");
            match (did, step(&mut plain, does)) {
                (Did::Wrote(value), Did::Wrote(same)) if value == same => log.push((lane, value)),
                (Did::Read(value), Did::Read(same)) if value == same => {}
                (Did::Else, Did::Else) => {}
                _ => panic!("{told}: being watched changes the execution"),
            }
            let newest = watched.words[2];
            let word = inspect::Word { workgroup: None, address: 0x1008, newest };
            let relaxed = watched.atomic(U, Scope::Device, Semantics::RELAXED);
            let reader = inspect::Reader {
                workgroup: 1,
                local_index: 60,
                site: Site(6),
                access: &relaxed,
                reference: Reference(0),
                bytes: 15,
                modifies: false,
            };
            let seen = watched.memory.look(&word, &reader);
            superseded += usize::from(seen.writes.len() > 1);
            let mut rest = log.iter();
            for write in &seen.writes {
                let by = write.by.workgroup[0] * 64 + write.by.local_index;
                assert!(rest.any(|one| *one == (by, write.value)), "{told}: {write:?} of {log:?}");
            }
            let before = |value: u32| value == 0 || log.iter().any(|(_, stored)| *stored == value);
            assert!(before(seen.before), "{told}: {} of {log:?}", seen.before);
            for value in seen.values {
                let mut chosen = Machine {
                    memory: watched.memory.clone(),
                    words: watched.words.clone(),
                    open: watched.open.clone(),
                };
                let (workgroup, local_index) = (1, 60);
                let choice = inspect::Chosen { workgroup, local_index, address: 0x1008, value, saw: None };
                chosen.memory.choose(choice);
                let got = chosen.atomic_load(6, 124, U, 8, Scope::Device, Semantics::RELAXED);
                assert_eq!(got, value, "{told}");
            }
        }
        assert_eq!(watched.ids(), plain.ids());
    }
    assert!(superseded > 300, "{superseded}");
}
