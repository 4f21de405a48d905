//! Objects that end before the submission that uses them, fences that are used twice at once, objects of
//! another device: each mistake is named, every time, and its legal twin is silent.

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};

const MODES: [&str; 2] = ["run", "check"];

/// What a case works with.
struct Case {
    v: Vulkan,
    spin: Spin,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Case {
    fn new() -> Case {
        let v = Vulkan::new();
        let spin = Spin::new(&v, false);
        let (buffer, memory, _) = v.buffer(4096, 1);
        let (pool, set) = spin.set(&v);
        spin.update(&v, set, buffer);
        Case { v, spin, pool, set, buffer, memory }
    }

    fn dispatch(&self) -> vk::CommandBuffer {
        self.v.record(|c| self.spin.record(&self.v, c, self.set, self.buffer, 1))
    }

    fn fill(&self) -> vk::CommandBuffer {
        // SAFETY: valid usage.
        self.v.record(|c| unsafe { self.v.device.cmd_fill_buffer(c, self.buffer, 0, 64, 7) })
    }

    fn destroy_buffer(&self) {
        // SAFETY: a live handle; no work is pending.
        unsafe { self.v.device.destroy_buffer(self.buffer, None) };
    }

    fn submit(&self, commands: &[vk::CommandBuffer], fence: vk::Fence) {
        let info = [vk::SubmitInfo::default().command_buffers(commands)];
        // SAFETY: valid usage, up to what the test is about.
        unsafe { self.v.device.queue_submit(self.v.queues[0], &info, fence).unwrap() };
    }

    fn idle(&self) {
        // SAFETY: valid usage.
        unsafe { self.v.device.device_wait_idle().unwrap() };
    }

    fn fence(&self) -> vk::Fence {
        // SAFETY: valid usage.
        unsafe { self.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap() }
    }

    fn run(&self, commands: vk::CommandBuffer) {
        self.submit(&[commands], vk::Fence::null());
        self.idle();
    }
}

/// Runs a mistake and its twin in processes of their own, in each mode: the first says `told`, once, the
/// second nothing.
fn told(name: &str, told: &str, mistake: impl FnOnce(), twin: impl FnOnce()) {
    const WHICH: &str = "TEST_TWIN";
    for mode in MODES {
        for which in ["0", "1"] {
            let Some(text) = alone(name, &[("PELLUCID_MODE", mode), (WHICH, which)]) else {
                return match std::env::var(WHICH).as_deref() {
                    Ok("1") => twin(),
                    _ => mistake(),
                };
            };
            let said =
                text.contains("pellucid: queue_") || text.contains("error[") || text.contains("pellucid: vk");
            if which == "0" {
                assert_eq!(text.matches(told).count(), 1, "{mode}, \"{told}\": {text}");
            } else {
                assert!(!said && !text.contains(told), "{mode}: {text}");
            }
        }
    }
}

#[test]
fn a_buffer_of_a_recorded_command() {
    told(
        "a_buffer_of_a_recorded_command",
        "vkCmdFillBuffer (command 1 of the submission) uses VkBuffer \"target\", which vkDestroyBuffer has ended",
        || {
            let case = Case::new();
            case.v.name(case.buffer, "target");
            let commands = case.fill();
            case.destroy_buffer();
            case.run(commands);
        },
        || {
            let case = Case::new();
            case.run(case.fill());
            case.destroy_buffer();
            case.run(case.v.record(|_| ()));
        },
    );
}

#[test]
fn a_buffer_of_a_bound_set() {
    told(
        "a_buffer_of_a_bound_set",
        "vkCmdDispatch (command 1 of the submission) uses VkBuffer ",
        || {
            let case = Case::new();
            let commands = case.dispatch();
            case.destroy_buffer();
            case.run(commands);
        },
        || {
            // The set is bound, but no dispatch uses it; then it holds another buffer.
            let case = Case::new();
            let point = vk::PipelineBindPoint::COMPUTE;
            let bound = case.v.record(|c| {
                // SAFETY: valid usage.
                unsafe {
                    case.v.device.cmd_bind_descriptor_sets(c, point, case.spin.layout, 0, &[case.set], &[]);
                }
            });
            case.destroy_buffer();
            case.run(bound);
            let (buffer, ..) = case.v.buffer(4096, 1);
            case.spin.update(&case.v, case.set, buffer);
            case.run(case.v.record(|c| case.spin.record(&case.v, c, case.set, buffer, 1)));
        },
    );
}

#[test]
fn a_pipeline() {
    told(
        "a_pipeline",
        "vkCmdBindPipeline uses VkPipeline ",
        || {
            let case = Case::new();
            let commands = case.dispatch();
            // SAFETY: a live handle; no work is pending.
            unsafe { case.v.device.destroy_pipeline(case.spin.pipeline, None) };
            case.run(commands);
        },
        || {
            let case = Case::new();
            let commands = case.dispatch();
            // SAFETY: live handles that the pipeline and the set need no more.
            unsafe {
                case.v.device.destroy_pipeline_layout(case.spin.layout, None);
                case.v.device.destroy_descriptor_set_layout(case.spin.set_layout, None);
            }
            case.run(commands);
        },
    );
}

#[test]
fn a_set_whose_pool_was_reset() {
    let reset = |case: &Case| {
        let flags = vk::DescriptorPoolResetFlags::empty();
        // SAFETY: a live handle; no work is pending.
        unsafe { case.v.device.reset_descriptor_pool(case.pool, flags).unwrap() };
    };
    told(
        "a_set_whose_pool_was_reset",
        "vkCmdBindDescriptorSets uses VkDescriptorSet ",
        || {
            let case = Case::new();
            let commands = case.dispatch();
            reset(&case);
            case.run(commands);
        },
        || {
            let case = Case::new();
            case.run(case.dispatch());
            reset(&case);
            case.run(case.fill());
        },
    );
}

#[test]
fn memory_of_a_buffer() {
    let free = |case: &Case| {
        // SAFETY: a live handle; no work is pending.
        unsafe { case.v.device.free_memory(case.memory, None) };
    };
    told(
        "memory_of_a_buffer",
        "uses VkDeviceMemory ",
        || {
            let case = Case::new();
            let commands = case.dispatch();
            free(&case);
            case.run(commands);
        },
        || {
            let case = Case::new();
            case.run(case.dispatch());
            free(&case);
            case.run(case.v.record(|_| ()));
            case.destroy_buffer();
        },
    );
}

#[test]
fn a_fence_that_is_reset_while_it_is_pending() {
    told(
        "a_fence_that_is_reset_while_it_is_pending",
        "vkResetFences resets VkFence ",
        || {
            let case = Case::new();
            let fence = case.fence();
            case.submit(&[case.fill()], fence);
            // SAFETY: a live handle, too early.
            unsafe { case.v.device.reset_fences(&[fence]).unwrap() };
            case.idle();
        },
        || {
            let case = Case::new();
            let fence = case.fence();
            for way in 0..3 {
                case.submit(&[case.fill()], fence);
                // SAFETY: valid usage.
                unsafe {
                    match way {
                        0 => case.v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap(),
                        1 => while !case.v.device.get_fence_status(fence).unwrap() {},
                        _ => case.idle(),
                    }
                    case.v.device.reset_fences(&[fence]).unwrap();
                }
            }
        },
    );
}

#[test]
fn a_fence_of_two_submissions() {
    told(
        "a_fence_of_two_submissions",
        "vkQueueSubmit submits again VkFence ",
        || {
            let case = Case::new();
            let fence = case.fence();
            case.submit(&[case.fill()], fence);
            case.submit(&[], fence);
            case.idle();
        },
        || {
            let case = Case::new();
            let (first, second) = (case.fence(), case.fence());
            case.submit(&[case.fill()], first);
            case.submit(&[], second);
            case.idle();
        },
    );
}

#[test]
fn a_fence_that_is_signaled_already() {
    told(
        "a_fence_that_is_signaled_already",
        "is signaled already: it has to be reset first",
        || {
            let case = Case::new();
            let fence = case.fence();
            case.submit(&[case.fill()], fence);
            case.idle();
            case.submit(&[], fence);
            case.idle();
        },
        || {
            let case = Case::new();
            let fence = case.fence();
            case.submit(&[case.fill()], fence);
            case.idle();
            // SAFETY: valid usage.
            unsafe { case.v.device.reset_fences(&[fence]).unwrap() };
            case.submit(&[], fence);
            case.idle();
        },
    );
}

#[test]
fn a_device_with_pending_work() {
    told(
        "a_device_with_pending_work",
        "vkDestroyDevice ends VkDevice ",
        || {
            let case = Case::new();
            case.submit(&[case.fill()], vk::Fence::null());
            drop(case);
        },
        || {
            let case = Case::new();
            case.run(case.fill());
            drop(case);
        },
    );
}

#[test]
fn a_buffer_of_another_device() {
    told(
        "a_buffer_of_another_device",
        "is of another VkDevice",
        || {
            let (case, other) = (Case::new(), Vulkan::new());
            // SAFETY: the buffer is of another device on purpose.
            let bits = unsafe { other.device.get_buffer_memory_requirements(case.buffer) };
            assert_eq!(bits.size, 0);
        },
        || {
            let (case, other) = (Case::new(), Case::new());
            case.run(case.dispatch());
            other.run(other.dispatch());
            case.run(case.dispatch());
        },
    );
}

#[test]
fn a_command_buffer_of_another_device() {
    told(
        "a_command_buffer_of_another_device",
        "is of another VkDevice",
        || {
            let (case, other) = (Case::new(), Vulkan::new());
            let commands = [case.fill()];
            let info = [vk::SubmitInfo::default().command_buffers(&commands)];
            // SAFETY: the command buffer is of another device on purpose.
            let answer = unsafe { other.device.queue_submit(other.queues[0], &info, vk::Fence::null()) };
            assert!(answer.is_err());
        },
        || {
            let (case, other) = (Case::new(), Case::new());
            other.run(other.fill());
            case.run(case.fill());
        },
    );
}

#[test]
fn work_that_waits_for_what_nothing_signals() {
    let submit = |case: &Case, signal: bool| {
        let semaphore = case.v.timeline().unwrap();
        case.v.name(semaphore, "steps");
        case.v.submit_after(semaphore, 5, case.fill(), vk::Fence::null()).unwrap();
        // SAFETY: a live handle; no work reaches the value before.
        unsafe {
            let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore);
            case.v.device.signal_semaphore(&info.value(if signal { 5 } else { 4 })).unwrap();
            if signal {
                case.idle();
            } else {
                std::process::exit(0);
            }
        }
    };
    told(
        "work_that_waits_for_what_nothing_signals",
        "submission 1 on queue 0 waits for VkSemaphore \"steps\" to reach 5; it is at 4",
        || submit(&Case::new(), false),
        || submit(&Case::new(), true),
    );
}

#[test]
fn work_that_waits_for_an_event_that_nothing_sets() {
    let submit = |case: &Case, sets: bool| {
        let (host, transfer) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::TRANSFER);
        // SAFETY: valid usage; the event that nobody sets is what the test is about.
        unsafe {
            let event = case.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            case.v.name(event, "loaded");
            let commands = case.v.record(|c| {
                case.v.device.cmd_wait_events(c, &[event], host, transfer, &[], &[], &[]);
            });
            if sets {
                case.v.device.set_event(event).unwrap();
                return case.run(commands);
            }
            case.submit(&[commands], vk::Fence::null());
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        std::process::exit(0);
    };
    told(
        "work_that_waits_for_an_event_that_nothing_sets",
        "vkCmdWaitEvents on queue 0 waits for VkEvent \"loaded\", which nothing has set",
        || submit(&Case::new(), false),
        || submit(&Case::new(), true),
    );
}

#[test]
fn a_set_that_is_updated_after_it_was_bound() {
    told(
        "a_set_that_is_updated_after_it_was_bound",
        "is invalid: VkDescriptorSet \"inputs\", which it binds, was updated later",
        || {
            let case = Case::new();
            case.v.name(case.set, "inputs");
            let commands = case.dispatch();
            case.spin.update(&case.v, case.set, case.buffer);
            case.run(commands);
        },
        || {
            let case = Case::new();
            let commands = case.dispatch();
            case.run(commands);
            case.spin.update(&case.v, case.set, case.buffer);
            // SAFETY: valid usage.
            unsafe {
                case.v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
                case.spin.record(&case.v, commands, case.set, case.buffer, 1);
                case.v.device.end_command_buffer(commands).unwrap();
            }
            case.run(commands);
            case.run(commands);
        },
    );
}

#[test]
fn a_set_of_a_secondary_command_buffer_that_is_updated_after_it_was_bound() {
    let run = |flags: vk::DescriptorBindingFlags| {
        let v = Vulkan::new();
        let spin = Spin::with_flags(&v, false, flags);
        let (_, set) = spin.set(&v);
        let (buffer, ..) = v.buffer(4096, 1);
        spin.update(&v, set, buffer);
        let inner = v.commands(vk::CommandBufferLevel::SECONDARY);
        let inherited = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inherited);
        // SAFETY: valid usage, up to the update.
        unsafe {
            v.device.begin_command_buffer(inner, &info).unwrap();
            spin.record(&v, inner, set, buffer, 1);
            v.device.end_command_buffer(inner).unwrap();
            let outer = v.record(|c| v.device.cmd_execute_commands(c, &[inner]));
            spin.update(&v, set, buffer);
            v.run(outer);
        }
    };
    told(
        "a_set_of_a_secondary_command_buffer_that_is_updated_after_it_was_bound",
        ", which it binds, was updated later",
        || run(vk::DescriptorBindingFlags::empty()),
        || run(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND),
    );
}

#[test]
fn private_data_end_with_their_object() {
    let v = Vulkan::new();
    // SAFETY: valid usage, up to the question about a handle that has ended.
    unsafe {
        let slot =
            v.device.create_private_data_slot(&vk::PrivateDataSlotCreateInfo::default(), None).unwrap();
        let (buffer, ..) = v.buffer(64, 1);
        v.device.set_private_data(buffer, slot, 7).unwrap();
        assert_eq!(v.device.get_private_data(buffer, slot), 7);
        v.device.destroy_buffer(buffer, None);
        assert_eq!(v.device.get_private_data(buffer, slot), 0);
        // Objects whose end nothing else takes note of.
        macro_rules! ends {
            ($create:ident, $info:expr, $destroy:ident) => {
                let object = v.device.$create(&$info, None).unwrap();
                v.device.set_private_data(object, slot, 8).unwrap();
                v.device.$destroy(object, None);
                assert_eq!(v.device.get_private_data(object, slot), 0, stringify!($destroy));
            };
        }
        let layout = vk::DescriptorSetLayoutCreateInfo::default();
        ends!(create_descriptor_set_layout, layout, destroy_descriptor_set_layout);
        ends!(create_pipeline_layout, vk::PipelineLayoutCreateInfo::default(), destroy_pipeline_layout);
        ends!(create_pipeline_cache, vk::PipelineCacheCreateInfo::default(), destroy_pipeline_cache);
        let pool = vk::DescriptorPoolCreateInfo::default().max_sets(1);
        ends!(create_descriptor_pool, pool, destroy_descriptor_pool);
        ends!(create_command_pool, vk::CommandPoolCreateInfo::default(), destroy_command_pool);
        ends!(create_private_data_slot, vk::PrivateDataSlotCreateInfo::default(), destroy_private_data_slot);
    }
}

/// Like an object of C++ whose destructor runs when the thread, or the process, ends.
struct Last(Case);

impl Drop for Last {
    fn drop(&mut self) {
        let Last(case) = self;
        case.run(case.fill());
        case.destroy_buffer();
        // SAFETY: a live handle; no work is pending.
        unsafe { case.v.device.free_memory(case.memory, None) };
    }
}

#[test]
fn a_thread_calls_on_when_its_variables_have_ended() {
    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }
    for mode in MODES {
        let name = "a_thread_calls_on_when_its_variables_have_ended";
        let Some(text) = alone(name, &[("PELLUCID_MODE", mode)]) else {
            let thread = std::thread::spawn(|| {
                // It comes first and ends last: the driver's variables of this thread are gone by then.
                LAST.set(Some(Last(Case::new())));
                LAST.with_borrow(|last| last.iter().for_each(|Last(case)| case.run(case.fill())));
            });
            return thread.join().unwrap();
        };
        assert!(!text.contains("internal error") && !text.contains("panicked"), "{mode}: {text}");
    }
}
