//! What the application is told by status queries in check mode depends on its calls, and on no time.

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};
use std::time::Duration;

/// Long enough for anything that these tests submit.
const LONG: Duration = Duration::from_millis(300);

/// A device, and a dispatch that takes some milliseconds.
struct Case {
    v: Vulkan,
    slow: vk::CommandBuffer,
    buffer: vk::Buffer,
}

impl Case {
    fn new() -> Case {
        let v = Vulkan::new();
        let spin = Spin::new(&v, false);
        let (buffer, ..) = v.buffer(4096, 1);
        let (_, set) = spin.set(&v);
        spin.update(&v, set, buffer);
        let slow = v.record(|c| spin.record(&v, c, set, buffer, 2000));
        Case { v, slow, buffer }
    }

    fn fence(&self) -> vk::Fence {
        // SAFETY: valid usage.
        unsafe { self.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap() }
    }

    fn is_signaled(&self, fence: vk::Fence) -> bool {
        // SAFETY: a live handle.
        unsafe { self.v.device.get_fence_status(fence).unwrap() }
    }

    fn submit(&self, commands: &[vk::CommandBuffer], fence: vk::Fence) {
        let info = [vk::SubmitInfo::default().command_buffers(commands)];
        // SAFETY: valid usage.
        unsafe { self.v.device.queue_submit(self.v.queues[0], &info, fence).unwrap() };
    }

    /// Submits, and signals a timeline semaphore.
    fn reach(&self, semaphore: vk::Semaphore, value: u64, commands: &[vk::CommandBuffer]) {
        let (semaphores, values) = ([semaphore], [value]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline);
        // SAFETY: valid usage.
        unsafe { self.v.device.queue_submit(self.v.queues[0], &[info], vk::Fence::null()).unwrap() };
    }

    fn reached(&self, semaphore: vk::Semaphore) -> u64 {
        // SAFETY: a live handle.
        unsafe { self.v.device.get_semaphore_counter_value(semaphore).unwrap() }
    }

    fn idle(&self) {
        // SAFETY: valid usage.
        unsafe { self.v.device.device_wait_idle().unwrap() };
    }
}

/// Runs a case in a process of its own in check mode with this seed; what it wrote to standard error.
fn seeded(name: &str, seed: &str, case: impl FnOnce()) -> Option<String> {
    let text = alone(name, &[("PELLUCID_MODE", "check"), ("PELLUCID_SEED", seed)]);
    if text.is_none() {
        case();
    }
    text
}

#[test]
fn a_fence_is_told_of_to_who_asks_again() {
    seeded("a_fence_is_told_of_to_who_asks_again", "0", || {
        let case = Case::new();
        for wait in [Duration::ZERO, LONG] {
            let fence = case.fence();
            case.submit(&[case.slow], fence);
            std::thread::sleep(wait);
            assert!(!case.is_signaled(fence));
            std::thread::sleep(wait);
            assert!(case.is_signaled(fence));
        }
    });
}

#[test]
fn a_wait_without_time_is_a_query() {
    seeded("a_wait_without_time_is_a_query", "0", || {
        let case = Case::new();
        for wait in [Duration::ZERO, LONG] {
            let fence = case.fence();
            case.submit(&[case.slow], fence);
            std::thread::sleep(wait);
            // SAFETY: a live handle.
            let asked = || unsafe { case.v.device.wait_for_fences(&[fence], true, 0) };
            assert_eq!(asked(), Err(vk::Result::TIMEOUT));
            assert_eq!(asked(), Ok(()));
        }
    });
}

#[test]
fn a_fence_of_work_that_is_known_to_have_completed_is_told_of_at_once() {
    seeded("a_fence_of_work_that_is_known_to_have_completed_is_told_of_at_once", "0", || {
        let case = Case::new();
        let (first, second) = (case.fence(), case.fence());
        case.submit(&[case.slow], first);
        case.submit(&[case.slow], second);
        // SAFETY: a live handle.
        unsafe { case.v.device.wait_for_fences(&[second], true, u64::MAX).unwrap() };
        assert!(case.is_signaled(first) && case.is_signaled(second));
        // SAFETY: a live handle.
        unsafe { case.v.device.reset_fences(&[first]).unwrap() };
        assert!(!case.is_signaled(first));
    });
}

#[test]
fn a_fence_is_told_of_at_once_under_an_odd_seed() {
    seeded("a_fence_is_told_of_at_once_under_an_odd_seed", "1", || {
        let case = Case::new();
        let fence = case.fence();
        case.submit(&[case.slow], fence);
        assert!(case.is_signaled(fence));
    });
}

#[test]
fn a_timeline_is_some_submissions_behind_who_looks_in_passing() {
    seeded("a_timeline_is_some_submissions_behind_who_looks_in_passing", "0", || {
        for wait in [Duration::ZERO, LONG / 10] {
            let case = Case::new();
            let semaphore = case.v.timeline().unwrap();
            let told: Vec<u64> = (1..=20)
                .map(|value| {
                    case.reach(semaphore, value, &[]);
                    std::thread::sleep(wait);
                    case.reached(semaphore)
                })
                .collect();
            let expected: Vec<u64> = (1..=20u64).map(|value| value.saturating_sub(16)).collect();
            assert_eq!(told, expected);
            assert_eq!(case.reached(semaphore), 20);
        }
    });
}

#[test]
fn a_timeline_never_goes_back() {
    seeded("a_timeline_never_goes_back", "0", || {
        let case = Case::new();
        let semaphore = case.v.timeline().unwrap();
        case.reach(semaphore, 1, &[case.slow]);
        let (semaphores, values) = ([semaphore], [1]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: live handles.
        unsafe { case.v.device.wait_semaphores(&info, u64::MAX).unwrap() };
        for value in 2..=200 {
            case.reach(semaphore, value, &[]);
        }
        assert_eq!(case.reached(semaphore), 184);
        assert_eq!(case.reached(semaphore), 200);
        // What the host itself signals it knows.
        // SAFETY: a live handle; the value is higher than what is pending.
        unsafe {
            case.v
                .device
                .signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(300))
        }
        .unwrap();
        assert_eq!(case.reached(semaphore), 300);
    });
}

#[test]
fn a_wait_with_a_timeout_waits_for_work_that_is_under_way_and_for_no_other() {
    seeded("a_wait_with_a_timeout_waits_for_work_that_is_under_way_and_for_no_other", "0", || {
        let case = Case::new();
        let (fence, never) = (case.fence(), case.fence());
        case.submit(&[case.slow], fence);
        // SAFETY: live handles.
        unsafe { case.v.device.wait_for_fences(&[fence], true, 1).unwrap() };
        let semaphore = case.v.timeline().unwrap();
        case.v.submit_after(semaphore, 5, case.slow, never).unwrap();
        // SAFETY: live handles.
        let waited = unsafe { case.v.device.wait_for_fences(&[never], true, 1_000_000) };
        assert_eq!(waited, Err(vk::Result::TIMEOUT));
        assert!(!case.is_signaled(never) && !case.is_signaled(never));
        // SAFETY: a live handle.
        unsafe {
            case.v.device.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(5))
        }
        .unwrap();
        case.idle();
        assert!(case.is_signaled(never));
    });
}

#[test]
fn of_several_fences_the_first_is_told_of() {
    seeded("of_several_fences_the_first_is_told_of", "0", || {
        let case = Case::new();
        let (slow, quick) = (case.fence(), case.fence());
        for wait in [Duration::ZERO, LONG] {
            case.submit(&[], quick);
            case.submit(&[case.slow], slow);
            std::thread::sleep(wait);
            // SAFETY: live handles.
            unsafe { case.v.device.wait_for_fences(&[slow, quick], false, u64::MAX).unwrap() };
            assert!(case.is_signaled(quick) && !case.is_signaled(slow) && case.is_signaled(slow));
            // SAFETY: live handles of work that has completed.
            unsafe { case.v.device.reset_fences(&[slow, quick]).unwrap() };
        }
    });
}

#[test]
fn an_event_and_results_of_queries_are_told_when_the_device_can_do_no_more() {
    seeded("an_event_and_results_of_queries_are_told_when_the_device_can_do_no_more", "0", || {
        let case = Case::new();
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: valid usage.
        unsafe {
            let event = case.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
            let pool = case.v.device.create_query_pool(&info, None).unwrap();
            let tell = case.v.record(|c| {
                case.v.device.cmd_reset_query_pool(c, pool, 0, 1);
                case.v.device.cmd_set_event(c, event, stage);
                case.v.device.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            });
            case.submit(&[case.slow, tell], vk::Fence::null());
            assert!(case.v.device.get_event_status(event).unwrap());
            let flags = vk::QueryResultFlags::TYPE_64;
            case.v.device.get_query_pool_results(pool, 0, &mut [0u64], flags).unwrap();
            case.idle();
        }
    });
}

#[test]
fn what_is_found_does_not_depend_on_when_the_host_looked() {
    const WAIT: &str = "TEST_WAIT";
    let name = "what_is_found_does_not_depend_on_when_the_host_looked";
    for (wait, seed, found) in [("0", "0", true), ("100", "0", true), ("0", "1", false), ("100", "1", false)]
    {
        let variables = [("PELLUCID_MODE", "check"), ("PELLUCID_SEED", seed), (WAIT, wait)];
        let Some(text) = alone(name, &variables) else {
            let wait = std::env::var(WAIT).unwrap().parse().unwrap();
            let case = Case::new();
            let fence = case.fence();
            // SAFETY: valid usage.
            let fill = case.v.record(|c| unsafe { case.v.device.cmd_fill_buffer(c, case.buffer, 0, 128, 7) });
            case.submit(&[fill], fence);
            std::thread::sleep(Duration::from_millis(wait));
            // A host that has seen the fence has ordered the fill before the dispatch.
            case.is_signaled(fence);
            case.submit(&[case.slow], vk::Fence::null());
            return case.idle();
        };
        assert_eq!(text.contains("error[hazard-"), found, "waiting {wait} ms, seed {seed}: {text}");
    }
}

#[test]
fn writes_while_work_is_pending_are_one_finding_whenever_the_device_looks() {
    const WAIT: &str = "TEST_WAIT";
    const SIZE: usize = 1 << 20;
    let name = "writes_while_work_is_pending_are_one_finding_whenever_the_device_looks";
    for wait in ["0", "100"] {
        let Some(text) = alone(name, &[("PELLUCID_MODE", "check"), (WAIT, wait)]) else {
            let wait = std::env::var(WAIT).unwrap().parse().unwrap();
            let v = Vulkan::new();
            let (from, _, bytes) = v.buffer(SIZE as u64, 1);
            let (to, ..) = v.buffer(SIZE as u64, 1);
            // SAFETY: memory of that size that no submission uses yet.
            unsafe { bytes.write_bytes(1, SIZE) };
            let region = [vk::BufferCopy::default().size(SIZE as u64)];
            // SAFETY: valid usage.
            let copy = v.record(|c| unsafe { v.device.cmd_copy_buffer(c, from, to, &region) });
            let commands = [copy];
            let info = [vk::SubmitInfo::default().command_buffers(&commands)];
            // SAFETY: valid usage but for the writes under the copy, which are what the test is about.
            unsafe {
                v.device.queue_submit(v.queues[0], &info, vk::Fence::null()).unwrap();
                for page in 0..SIZE / 4096 {
                    if page == 100 {
                        std::thread::sleep(Duration::from_millis(wait));
                    }
                    bytes.add(page * 4096).write_volatile(2);
                }
                v.device.device_wait_idle().unwrap();
            }
            return;
        };
        assert_eq!(text.matches("error[host-in-flight]").count(), 1, "{text}");
        assert!(text.contains("and 252 more runs"), "waiting {wait} ms: {text}");
    }
}
