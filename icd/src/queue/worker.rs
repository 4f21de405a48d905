//! The thread that works off one queue, or all queues of a device.

use super::inbox::{Inbox, Job, Next};
use super::{Host, Submission, float};
use crate::queue::fence::Fence;
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long work waits before it is noted, should the process be killed, that it may do so in vain.
const PATIENCE: Duration = Duration::from_millis(250);

/// A worker: its inbox and its thread.
pub struct Worker {
    number: u32,
    inbox: Inbox<Arc<Submission>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Job for Arc<Submission> {
    fn queue(&self) -> u32 {
        self.queue.as_ref().map_or(0, |queue| queue.index)
    }

    fn is_ready(&self) -> bool {
        Submission::is_ready(self)
    }
}

impl Worker {
    /// A worker without a thread: the first submission starts it.
    pub fn new(number: u32) -> Worker {
        Worker { number, inbox: Inbox::default(), thread: Mutex::default() }
    }

    /// The submissions that have not ended, and whether each has begun.
    pub fn submissions(&self) -> Vec<(Arc<Submission>, bool)> {
        self.inbox.all()
    }

    /// True if it can do nothing more by itself.
    pub fn rests(&self) -> bool {
        let blocked = |s: &Arc<Submission>| s.queue.as_ref().is_some_and(|q| q.blocked.lock().is_some());
        self.inbox.rests(blocked)
    }

    /// Appends work.
    pub fn push(self: &Arc<Self>, host: &Arc<dyn Host>, submission: Arc<Submission>) {
        self.inbox.push(submission);
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let (worker, host) = (self.clone(), host.clone());
            let name = format!("pellucid-queue-{}", self.number);
            match std::thread::Builder::new().name(name).spawn(move || worker.work(&host)) {
                Ok(handle) => *thread = Some(handle),
                Err(error) => device_without_thread(self, &error),
            }
        }
        drop(thread);
        host.progress().notify();
    }

    /// Ends the thread, with whatever it runs, and waits for it.
    pub fn join(&self, host: &dyn Host) {
        self.inbox.stop();
        host.progress().notify();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // A panic in the thread has been turned into a lost device already.
            let _ = thread.join();
        }
    }

    /// A thread that is about to wait for `fence` runs the submission that signals it, if that is all there
    /// is to do and nobody has begun: this saves waking two threads.
    pub fn help(&self, host: &Arc<dyn Host>, fence: &Arc<Fence>) {
        let ours = |s: &Arc<Submission>| s.fence.as_ref().is_some_and(|f| Arc::ptr_eq(f, fence));
        let Some(submission) = self.inbox.take_only(ours) else { return };
        float::with_default_environment(|| submission.run(&**host));
        self.ended(&**host);
    }

    /// What ran has ended: wakes who has something to do now, or waits for the end of all there is to do.
    fn ended(&self, host: &dyn Host) {
        if self.inbox.ended() || host.hazards().is_some() {
            host.progress().notify();
        }
    }

    fn work(&self, host: &Arc<dyn Host>) {
        let mut stuck = false;
        loop {
            let mut next = None;
            let mut patience = None;
            while next.is_none() {
                let mut waits = false;
                let came = host.progress().wait(patience, || {
                    next = self.inbox.next(host.is_lost());
                    waits = next.is_none() && self.inbox.waits();
                    next.is_some() || (waits && patience.is_none())
                });
                if !came {
                    stuck = true;
                    host.note_stuck();
                }
                patience = waits.then(|| Instant::now() + PATIENCE);
            }
            match next {
                Some(Next::Run(submission)) => {
                    if std::mem::take(&mut stuck) {
                        host.note_stuck();
                    }
                    submission.run(&**host);
                    self.ended(&**host);
                }
                Some(Next::Stop) | None => return,
            }
        }
    }
}

fn device_without_thread(worker: &Worker, error: &std::io::Error) {
    if let Some(submission) = worker.inbox.take_back()
        && let Some(host) = submission.queue.as_ref().and_then(|q| q.host())
    {
        host.lose(&format!("no thread for queue {}: {error}", worker.number));
    }
}
