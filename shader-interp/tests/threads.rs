//! What the host threads of a dispatch share, under interleavings of a few threads: every workgroup runs
//! once, the right trap is told, and nobody calls those stuck who are not.

use pellucid_memory::system::Trap;
use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use shuttle::thread;
use std::sync::Arc;

mod sync {
    pub use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub use shuttle::sync::{Mutex, MutexGuard};
}

#[allow(dead_code)]
#[path = "../src/exec/shared.rs"]
mod shared;
use shared::{Crowd, Traps, WorkgroupQueue};

const WORKGROUPS: u64 = 11;

/// What becomes of a workgroup: three trap, one runs into the watchdog, one would be stopped.
fn outcome(workgroup: u32) -> Result<(), Trap> {
    match workgroup {
        2 => Err(Trap::Watchdog(Vec::new())),
        1 => Err(Trap::Stopped("one".into())),
        4 | 6 | 9 => Err(Trap::NotImplemented(workgroup.to_string())),
        _ => Ok(()),
    }
}

/// A watchdog ends later workgroups; so the trap that is told is 4's if that one began before, and else the
/// watchdog's.
#[test]
fn the_least_trap_is_told() {
    for watchdog in [false, true] {
        shuttle::check_random(
            move || {
                let ran: [AtomicU32; WORKGROUPS as usize] = std::array::from_fn(|_| AtomicU32::new(0));
                let all = Arc::new((WorkgroupQueue::new(WORKGROUPS, 2), Traps::new(), ran));
                let work = |all: Arc<(WorkgroupQueue, Traps, [AtomicU32; WORKGROUPS as usize])>| {
                    move || {
                        let (queue, traps, ran) = &*all;
                        while let Some(workgroups) = queue.take() {
                            for workgroup in workgroups {
                                if traps.precede(workgroup) {
                                    break;
                                }
                                ran[workgroup as usize].fetch_add(1, Ordering::SeqCst);
                                if watchdog || workgroup != 2 {
                                    outcome(workgroup).unwrap_or_else(|trap| traps.tell((workgroup, trap)));
                                }
                            }
                        }
                    }
                };
                let threads: Vec<_> = (0..2).map(|_| thread::spawn(work(all.clone()))).collect();
                work(all.clone())();
                threads.into_iter().for_each(|thread| thread.join().expect("a thread that ends"));
                let (queue, traps, ran) = Arc::try_unwrap(all).expect("nobody else has it");
                assert_eq!(queue.left(), 0);
                let ran = ran.map(|times| times.load(Ordering::SeqCst));
                let must_run = if watchdog { 2 } else { 4 };
                assert!(ran.iter().all(|times| *times <= 1), "{ran:?}");
                assert!(ran[..=must_run].iter().all(|times| *times == 1), "{ran:?}");
                let first = [4, 6, 9].into_iter().find(|trapping| ran[*trapping] == 1);
                match (traps.into_told().expect("a trap"), first) {
                    (Trap::NotImplemented(told), Some(first)) => {
                        assert_eq!(told, first.to_string(), "{ran:?}")
                    }
                    (Trap::Watchdog(_), None) => assert!(watchdog),
                    (other, _) => panic!("{other:?} of {ran:?}"),
                }
            },
            2000,
        );
    }
}

/// What a thread does when its flag is set: it sets that of another one, and may end.
enum Act {
    Set(usize),
    End(Option<usize>),
}

/// Threads wait for their flags, and look again and again. Somebody says that all are stuck if, and only if,
/// they are.
fn crowd(scripts: &'static [&'static [Act]], stuck: &'static [usize]) {
    struct Shared {
        crowd: Crowd<usize>,
        flags: Vec<AtomicBool>,
        over: AtomicBool,
    }
    shuttle::check_random(
        move || {
            let flags: Vec<AtomicBool> = scripts.iter().map(|_| AtomicBool::new(false)).collect();
            flags[0].store(true, Ordering::SeqCst);
            let all =
                Arc::new(Shared { crowd: Crowd::new(scripts.len()), flags, over: AtomicBool::new(false) });
            let run = |all: Arc<Shared>, thread: usize| {
                move || {
                    let set = |other: usize| all.flags[other].store(true, Ordering::SeqCst);
                    let mut acts = scripts[thread].iter();
                    while !all.over.load(Ordering::SeqCst) {
                        if all.flags[thread].swap(false, Ordering::SeqCst) {
                            all.crowd.goes_on(thread);
                            match acts.next() {
                                Some(Act::Set(other)) => set(*other),
                                Some(Act::End(other)) => {
                                    other.iter().copied().for_each(set);
                                    return all.crowd.ends(thread);
                                }
                                None => {}
                            }
                        } else if let Some(waiting) = all.crowd.waits(thread, vec![thread]) {
                            assert_eq!(waiting, stuck);
                            assert!(all.flags.iter().all(|flag| !flag.load(Ordering::SeqCst)));
                            all.over.store(true, Ordering::SeqCst);
                        }
                        thread::yield_now();
                    }
                }
            };
            let threads: Vec<_> =
                (1..scripts.len()).map(|number| thread::spawn(run(all.clone(), number))).collect();
            run(all.clone(), 0)();
            threads.into_iter().for_each(|thread| thread.join().expect("a thread that ends"));
            assert_eq!(all.over.load(Ordering::SeqCst), !stuck.is_empty());
        },
        2000,
    );
}

#[test]
fn those_are_stuck_who_wait_for_nobody() {
    crowd(&[&[Act::Set(1)], &[Act::Set(2), Act::End(None)], &[Act::Set(1)]], &[0, 2]);
}

#[test]
fn those_who_wait_for_each_other_in_turn_are_not_stuck() {
    crowd(
        &[
            &[Act::Set(1), Act::Set(2), Act::End(Some(2))],
            &[Act::Set(0), Act::End(Some(2))],
            &[Act::Set(1), Act::Set(0), Act::End(None)],
        ],
        &[],
    );
}
