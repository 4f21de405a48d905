//! Waiting for a device and handing work to its workers, under interleavings of a few threads: nobody sleeps
//! on, and everything runs once, in its turn.

use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use shuttle::thread;
use std::sync::Arc;

mod sync {
    pub use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    pub use shuttle::sync::{Condvar, Mutex, MutexGuard};

    /// Every wait goes to sleep.
    pub const SPIN: std::time::Duration = std::time::Duration::ZERO;
}

#[path = "../src/queue/progress.rs"]
mod progress;
use progress::{Progress, deadline};
// Nothing is taken back here: the worker has its thread.
#[allow(dead_code)]
#[path = "../src/queue/inbox.rs"]
mod inbox;
use inbox::{Inbox, Job, Next};

/// A submission of a test: it waits for another's end, and notes when it runs.
#[derive(Clone)]
struct Work {
    queue: u32,
    number: usize,
    waits_for: Option<usize>,
    device: Arc<Device>,
}

#[derive(Default)]
struct Device {
    progress: Progress,
    inbox: Inbox<Work>,
    running: AtomicBool,
    ended: shuttle::sync::Mutex<Vec<(u32, usize)>>,
}

impl Device {
    fn has_ended(&self, number: usize) -> bool {
        self.ended.lock().expect("no panic").iter().any(|(_, ended)| *ended == number)
    }
}

impl Job for Work {
    fn queue(&self) -> u32 {
        self.queue
    }

    fn is_ready(&self) -> bool {
        self.waits_for.is_none_or(|other| self.device.has_ended(other))
    }
}

impl Work {
    fn run(&self) {
        assert!(!self.device.running.swap(true, Ordering::SeqCst), "two run at a time");
        assert!(self.is_ready());
        thread::yield_now();
        self.device.running.store(false, Ordering::SeqCst);
        self.device.ended.lock().expect("no panic").push((self.queue, self.number));
        self.device.progress.notify();
    }
}

/// Two threads submit to three queues of one worker, whose jobs wait for each other, and wait for the last
/// ones themselves, with their help.
#[test]
fn work_is_run_once_in_its_turn() {
    shuttle::check_random(
        || {
            let device = Arc::new(Device::default());
            let worker = device.clone();
            let worker = thread::spawn(move || {
                loop {
                    let mut next = None;
                    worker.progress.wait(None, || {
                        next = worker.inbox.next(false);
                        next.is_some()
                    });
                    match next {
                        Some(Next::Run(work)) => {
                            work.run();
                            worker.inbox.ended();
                        }
                        Some(Next::Stop) | None => return,
                    }
                }
            });
            let application = |device: Arc<Device>, jobs: Vec<(u32, usize, Option<usize>)>| {
                let last = jobs.last().map(|job| job.1).expect("a job");
                for (queue, number, waits_for) in jobs {
                    device.inbox.push(Work { queue, number, waits_for, device: device.clone() });
                    device.progress.notify();
                }
                if let Some(work) = device.inbox.take_only(|work| work.number == last) {
                    work.run();
                    device.inbox.ended();
                    device.progress.notify();
                }
                device.progress.wait(None, || device.has_ended(last));
            };
            let other = device.clone();
            let other = thread::spawn(move || application(other, vec![(0, 0, Some(3)), (1, 1, None)]));
            application(device.clone(), vec![(2, 2, None), (2, 3, None), (2, 4, Some(0))]);
            other.join().expect("a thread that ends");
            device.inbox.stop();
            device.progress.notify();
            worker.join().expect("a worker that ends");
            let ended = device.ended.lock().expect("no panic").clone();
            assert_eq!(ended.len(), 5, "{ended:?}");
            let of_one: Vec<usize> = ended.iter().filter(|(queue, _)| *queue == 2).map(|(_, n)| *n).collect();
            assert_eq!(of_one, [2, 3, 4]);
        },
        1000,
    );
}

#[test]
fn whoever_waits_for_a_change_wakes() {
    shuttle::check_dfs(
        || {
            let shared = Arc::new((Progress::default(), AtomicBool::new(false)));
            let waiter = shared.clone();
            let waiter = thread::spawn(move || waiter.0.wait(None, || waiter.1.load(Ordering::SeqCst)));
            shared.1.store(true, Ordering::SeqCst);
            shared.0.notify();
            assert!(waiter.join().expect("a thread that ends"));
        },
        None,
    );
}

#[test]
fn two_that_wait_for_each_other_wake() {
    let each = |shared: &(Progress, AtomicU32), mine: u32| {
        let (progress, turn) = shared;
        progress.wait(None, || turn.load(Ordering::SeqCst) == mine);
        turn.fetch_add(1, Ordering::SeqCst);
        progress.notify();
    };
    shuttle::check_random(
        move || {
            let shared = Arc::new((Progress::default(), AtomicU32::new(0)));
            let other = shared.clone();
            let other = thread::spawn(move || [0, 2].into_iter().for_each(|mine| each(&other, mine)));
            [1, 3].into_iter().for_each(|mine| each(&shared, mine));
            other.join().expect("a thread that ends");
            assert!(!shared.0.wait(deadline(0), || false));
        },
        1000,
    );
}
