//! The thread that works off one queue, or all queues of a device.

use super::{Host, Submission, float};
use crate::queue::fence::Fence;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A worker: its inbox and its thread.
pub struct Worker {
    number: u32,
    inbox: Mutex<Inbox>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Inbox {
    pending: VecDeque<Arc<Submission>>,
    running: Option<Arc<Submission>>,
    stop: bool,
}

enum Next {
    Run(Arc<Submission>),
    Stop,
}

impl Worker {
    /// A worker without a thread: the first submission starts it.
    pub fn new(number: u32) -> Worker {
        Worker { number, inbox: Mutex::default(), thread: Mutex::default() }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends work.
    pub fn push(self: &Arc<Self>, host: &Arc<dyn Host>, submission: Arc<Submission>) {
        self.inbox().pending.push_back(submission);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.inbox().stop = true;
        host.progress().notify();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic in the thread has been turned into a lost device already.
            let _ = thread.join();
        }
    }

    fn next(&self, host: &dyn Host) -> Option<Next> {
        let mut inbox = self.inbox();
        if inbox.stop {
            return Some(Next::Stop);
        }
        if inbox.running.is_some() {
            // A waiting thread runs it, see `help`.
            return None;
        }
        let mut blocked = 0u64;
        let found = inbox.pending.iter().position(|submission| {
            let bit = 1u64 << submission.queue.as_ref().map_or(0, |q| q.index);
            if blocked & bit != 0 {
                return false;
            }
            let ready = host.is_lost() || submission.is_ready();
            if !ready {
                blocked |= bit;
            }
            ready
        })?;
        let submission = inbox.pending.remove(found)?;
        inbox.running = Some(submission.clone());
        Some(Next::Run(submission))
    }

    /// A thread that is about to wait for `fence` runs the submission that signals it, if that is all there
    /// is to do and nobody has begun: this saves waking two threads.
    pub fn help(&self, host: &Arc<dyn Host>, fence: &Arc<Fence>) {
        let mut inbox = self.inbox();
        let alone = inbox.pending.len() == 1 && inbox.running.is_none() && !inbox.stop;
        let ours =
            |s: &Arc<Submission>| s.fence.as_ref().is_some_and(|f| Arc::ptr_eq(f, fence)) && s.is_ready();
        if !alone || !inbox.pending.front().is_some_and(ours) {
            return;
        }
        let Some(submission) = inbox.pending.pop_front() else { return };
        inbox.running = Some(submission.clone());
        drop(inbox);
        float::with_default_environment(|| submission.run(&**host));
        self.inbox().running = None;
        host.progress().notify();
    }

    fn work(&self, host: &Arc<dyn Host>) {
        loop {
            let mut next = None;
            host.progress().wait(None, || {
                next = self.next(&**host);
                next.is_some()
            });
            match next {
                Some(Next::Run(submission)) => {
                    submission.run(&**host);
                    self.inbox().running = None;
                }
                Some(Next::Stop) | None => return,
            }
        }
    }
}

fn device_without_thread(worker: &Worker, error: &std::io::Error) {
    if let Some(submission) = worker.inbox().pending.pop_back()
        && let Some(host) = submission.queue.as_ref().and_then(|q| q.host())
    {
        host.lose(&format!("no thread for queue {}: {error}", worker.number));
    }
}
