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
mod tests {
    use super::*;

    #[test]
    fn the_calls_from_one_submission_to_another_are_told() {
        let mut calls = HostCalls::default();
        calls.made("vkQueueSubmit");
        let first = calls.hands_in().unwrap();
        for name in ["vkGetFenceStatus", "vkGetFenceStatus", "vkWaitForFences"] {
            calls.made(name);
        }
        assert_eq!(calls.hands_in(), None, "a wait hands in nothing");
        calls.made("vkQueueSubmit");
        let second = calls.hands_in().unwrap();
        calls.made("vkQueueWaitIdle");
        let step = |call, handed_in: &[(u32, u64)]| HostStep { call, handed_in: handed_in.to_vec() };
        let (steps, left_out) = calls.between(&[((0, 2), second), ((0, 1), first)]);
        let expected = [
            step("vkQueueSubmit", &[(0, 1)]),
            step("vkGetFenceStatus", &[]),
            step("vkWaitForFences", &[]),
            step("vkQueueSubmit", &[(0, 2)]),
        ];
        assert_eq!((steps.as_slice(), left_out), (&expected[..], (0, 0)));
    }

    #[test]
    fn what_another_thread_waits_for_is_not_told() {
        let calls = parking_lot::Mutex::new(HostCalls::default());
        let made = |name| calls.lock().made(name);
        made("vkQueueSubmit");
        let first = calls.lock().hands_in().unwrap();
        std::thread::scope(|scope| scope.spawn(|| made("vkWaitSemaphores")).join()).unwrap();
        made("vkQueueSubmit2");
        let second = calls.lock().hands_in().unwrap();
        let (steps, _) = calls.lock().between(&[((0, 1), first), ((1, 1), second)]);
        let names: Vec<&str> = steps.iter().map(|step| step.call).collect();
        assert_eq!(names, ["vkQueueSubmit", "vkQueueSubmit2"]);
    }

    /// However two threads that poll take turns, each polls once as far as the timeline is concerned.
    #[test]
    fn what_repeats_does_not_depend_on_other_threads() {
        let other = std::thread::spawn(|| std::thread::current().id()).join().unwrap();
        let mut calls = HostCalls::default();
        calls.made("vkQueueSubmit");
        let first = calls.hands_in().unwrap();
        for _ in 0..REMEMBERED {
            calls.made("vkGetFenceStatus");
            calls.made_by(other, "vkGetSemaphoreCounterValue");
        }
        calls.made("vkQueueSubmit");
        let second = calls.hands_in().unwrap();
        let (steps, _) = calls.between(&[((0, 1), first), ((0, 2), second)]);
        let names: Vec<&str> = steps.iter().map(|step| step.call).collect();
        assert_eq!(names, ["vkQueueSubmit", "vkGetFenceStatus", "vkQueueSubmit"]);
    }

    #[test]
    fn of_many_calls_the_first_and_the_last_are_told() {
        let mut calls = HostCalls::default();
        let mut submissions = Vec::new();
        for k in 1..=20 {
            calls.made("vkQueueSubmit");
            submissions.push(((0, k), calls.hands_in().unwrap()));
        }
        let (steps, left_out) = calls.between(&submissions);
        assert_eq!((steps.len(), left_out), (2 * TOLD, (TOLD, 20 - 2 * TOLD)));
        assert_eq!(steps.last().unwrap().handed_in, [(0, 20)]);
    }
}
