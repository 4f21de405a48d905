//! The calls of the host that order it with the device, for the timeline of a hazard: which handed in the
//! submissions of its commands, and which came between.

use std::collections::VecDeque;
use std::thread::ThreadId;

/// Calls that are remembered.
const REMEMBERED: usize = 256;
/// Calls of a timeline that are told: so many of the first and of the last.
const TOLD: usize = 5;

/// A call, and its number.
#[derive(Clone, Copy)]
struct Call {
    number: u64,
    thread: ThreadId,
    name: &'static str,
}

/// The number of the call that handed in a submission, and the thread that made it.
pub type HandedIn = (u64, ThreadId);

/// The latest calls of the host.
#[derive(Default)]
pub struct HostCalls {
    calls: VecDeque<Call>,
    next: u64,
}

/// A call as a timeline has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostStep {
    /// The entry point.
    pub call: &'static str,
    /// What it handed in: index of the queue and submission, from 1.
    pub handed_in: Vec<(u32, u64)>,
}

impl HostCalls {
    /// This thread makes a call. Of repetitions one is enough.
    pub fn made(&mut self, name: &'static str) {
        self.made_by(std::thread::current().id(), name);
    }

    fn made_by(&mut self, thread: ThreadId, name: &'static str) {
        // What other threads do in between depends on time.
        let again = self.last_of(thread).is_some_and(|last| last.name == name);
        // Each one that hands in work is one of its own.
        if again && !hands_in(name) {
            return;
        }
        self.calls.push_back(Call { number: self.next, thread, name });
        self.next += 1;
        if self.calls.len() > REMEMBERED {
            self.calls.pop_front();
        }
    }

    /// This thread hands in a submission by the call that it made last.
    pub fn hands_in(&self) -> Option<HandedIn> {
        let thread = std::thread::current().id();
        let last = self.last_of(thread)?;
        hands_in(last.name).then_some((last.number, thread))
    }

    fn last_of(&self, thread: ThreadId) -> Option<&Call> {
        self.calls.iter().rev().find(|call| call.thread == thread)
    }

    /// The calls from those that handed in the first of these submissions to that which handed in the last;
    /// of calls between them those of the last one's thread. How many of them are left out, behind how many.
    pub fn between(&self, submissions: &[((u32, u64), HandedIn)]) -> (Vec<HostStep>, (usize, usize)) {
        let numbers = || submissions.iter().map(|(_, (number, _))| *number);
        let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else { return Default::default() };
        let thread = submissions.iter().find(|(_, (number, _))| *number == last).map(|(_, by)| by.1);
        let mut steps: Vec<HostStep> = Vec::new();
        for call in self.calls.iter().filter(|call| (first..=last).contains(&call.number)) {
            let handed_in = submissions.iter().filter(|(_, by)| *by == (call.number, call.thread));
            let handed_in: Vec<(u32, u64)> = handed_in.map(|(submission, _)| *submission).collect();
            let again =
                || steps.last().is_some_and(|step| step.call == call.name && step.handed_in.is_empty());
            if handed_in.is_empty() && (Some(call.thread) != thread || again()) {
                continue;
            }
            steps.push(HostStep { call: call.name, handed_in });
        }
        let count = steps.len();
        if count <= 2 * TOLD {
            return (steps, (0, 0));
        }
        steps.drain(TOLD..count - TOLD);
        (steps, (TOLD, count - 2 * TOLD))
    }
}

fn hands_in(name: &str) -> bool {
    name.starts_with("vkQueueSubmit") || name.starts_with("vkQueueBindSparse")
}

#[cfg(test)]
mod tests;
