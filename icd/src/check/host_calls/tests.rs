//! Calls of several threads, and which of them a timeline tells.

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
