//! The thread that works off one queue, or all queues of a device.

use super::inbox::{Inbox, Job, Next};
use super::{Host, Submission, float};
use crate::queue::fence::Fence;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

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

    /// Appends work.
    pub fn push(self: &Arc<Self>, host: &Arc<dyn Host>, submission: Arc<Submission>) {
        self.inbox.push(submission);
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
        self.inbox.stop();
        host.progress().notify();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
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
        self.inbox.ended();
        host.progress().notify();
    }

    fn work(&self, host: &Arc<dyn Host>) {
        loop {
            let mut next = None;
            host.progress().wait(None, || {
                next = self.inbox.next(host.is_lost());
                next.is_some()
            });
            match next {
                Some(Next::Run(submission)) => {
                    submission.run(&**host);
                    self.inbox.ended();
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
