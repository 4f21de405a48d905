//! Objects that end while submitted work uses them: a finding, the same way every time, unless the host was
//! told that the work has completed.
//!
//! What counts is what the application asked and not how far a thread has come: most tests here destroy after
//! the work is long done.

mod common;

use ash::vk;
use common::{Ids, Vulkan};

/// A device, two buffers, and the findings that its messenger hears.
struct Watched {
    v: Vulkan,
    ids: &'static Ids,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Watched {
    fn new() -> Watched {
        let v = Vulkan::new();
        let ids = v.listen();
        let (buffer, memory, _) = v.buffer(64, 1);
        Watched { v, ids, buffer, memory }
    }

    /// A command buffer that fills the buffer, and whatever `more` records.
    fn fill(&self, more: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        self.v.record(|c| {
            // SAFETY: valid usage.
            unsafe { self.v.device.cmd_fill_buffer(c, self.buffer, 0, 64, 7) };
            more(c);
        })
    }

    fn submit(&self, queue: usize, commands: &[vk::CommandBuffer], fence: vk::Fence) {
        let info = [vk::SubmitInfo::default().command_buffers(commands)];
        // SAFETY: valid usage.
        unsafe { self.v.device.queue_submit(self.v.queues[queue], &info, fence).unwrap() };
    }

    fn fence(&self) -> vk::Fence {
        // SAFETY: valid usage.
        unsafe { self.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap() }
    }

    /// Destroys the buffer and its memory, and says how many findings there were since the device was made.
    fn destroy(&self) -> usize {
        // SAFETY: live handles; whether work uses them is what the test is about.
        unsafe {
            self.v.device.destroy_buffer(self.buffer, None);
            self.v.device.free_memory(self.memory, None);
        }
        self.found()
    }

    fn found(&self) -> usize {
        self.ids.lock().unwrap().iter().filter(|id| *id == "freed-in-use").count()
    }

    /// Lets the work end without asking the driver about it.
    fn rest(&self) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    fn idle(&self) {
        // SAFETY: valid usage.
        unsafe { self.v.device.device_wait_idle().unwrap() };
    }
}

fn alone(name: &str) -> bool {
    let Some(text) = common::alone(name, &[]) else { return true };
    assert!(
        text.contains("error[freed-in-use]: an object is destroyed or changed while the device uses it"),
        "{text}"
    );
    assert!(
        text.contains("missing: nothing has told the host that submission 1 on queue 0 has completed"),
        "{text}"
    );
    false
}

#[test]
fn a_buffer_whose_submission_nobody_waited_for() {
    if alone("a_buffer_whose_submission_nobody_waited_for") {
        let w = Watched::new();
        w.submit(0, &[w.fill(|_| ())], vk::Fence::null());
        w.rest();
        assert_eq!(w.destroy(), 2, "the buffer, and the memory");
        w.idle();
    }
}

#[test]
fn memory_behind_a_semaphore_that_was_never_signaled() {
    if alone("memory_behind_a_semaphore_that_was_never_signaled") {
        let w = Watched::new();
        let semaphore = w.v.timeline().unwrap();
        w.v.submit_after(semaphore, 1, w.fill(|_| ()), vk::Fence::null()).unwrap();
        // SAFETY: valid usage, up to the early free.
        unsafe {
            assert_eq!(w.destroy(), 2);
            let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
            w.v.device.signal_semaphore(&signal).unwrap();
        }
        w.idle();
    }
}

#[test]
fn a_fence_of_other_work_says_nothing() {
    if alone("a_fence_of_other_work_says_nothing") {
        let w = Watched::new();
        w.submit(0, &[w.fill(|_| ())], vk::Fence::null());
        let other = w.fence();
        w.submit(1, &[w.v.record(|_| ())], other);
        // SAFETY: valid usage.
        unsafe { w.v.device.wait_for_fences(&[other], true, u64::MAX).unwrap() };
        w.rest();
        assert_eq!(w.destroy(), 2);
        w.idle();
    }
}

#[test]
fn a_command_pool_a_fence_and_an_event() {
    if alone("a_command_pool_a_fence_and_an_event") {
        let w = Watched::new();
        // SAFETY: valid usage, up to the early ends.
        unsafe {
            let event = w.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            let stage = vk::PipelineStageFlags::TRANSFER;
            let commands = w.fill(|c| w.v.device.cmd_set_event(c, event, stage));
            let fence = w.fence();
            w.submit(0, &[commands], fence);
            w.rest();
            w.v.device.destroy_event(event, None);
            w.v.device.destroy_fence(fence, None);
            w.v.device.free_command_buffers(w.v.pool, &[commands]);
        }
        assert_eq!(w.found(), 3);
        w.idle();
    }
}

#[test]
fn a_command_buffer_that_is_begun_and_reset_while_it_is_pending() {
    if alone("a_command_buffer_that_is_begun_and_reset_while_it_is_pending") {
        let w = Watched::new();
        let commands: Vec<vk::CommandBuffer> = (0..3).map(|_| w.fill(|_| ())).collect();
        w.submit(0, &commands, vk::Fence::null());
        w.rest();
        // SAFETY: valid usage, but for the commands that nobody waited for.
        unsafe {
            w.v.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            w.v.device.end_command_buffer(commands[0]).unwrap();
            w.v.device.reset_command_buffer(commands[1], vk::CommandBufferResetFlags::empty()).unwrap();
            assert_eq!(w.found(), 2);
            w.v.device.reset_command_pool(w.v.pool, vk::CommandPoolResetFlags::empty()).unwrap();
        }
        assert_eq!(w.found(), 3, "each of them ends once");
        w.idle();
        assert_eq!(w.destroy(), 3);
    }
}

#[test]
fn a_command_buffer_that_has_completed_may_be_begun_again() {
    let w = Watched::new();
    let commands = w.fill(|_| ());
    for _ in 0..3 {
        w.submit(0, &[commands], vk::Fence::null());
        w.idle();
        // SAFETY: valid usage.
        unsafe {
            w.v.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            w.v.device.end_command_buffer(commands).unwrap();
        }
    }
    assert_eq!(w.found(), 0);
}

#[test]
fn a_fence_a_status_and_an_idle_queue_tell() {
    for way in 0..4 {
        let w = Watched::new();
        let fence = w.fence();
        w.submit(0, &[w.fill(|_| ())], if way == 3 { vk::Fence::null() } else { fence });
        // SAFETY: valid usage.
        unsafe {
            match way {
                0 => w.v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap(),
                1 => while !w.v.device.get_fence_status(fence).unwrap() {},
                2 => w.v.device.queue_wait_idle(w.v.queues[0]).unwrap(),
                // A fence of a later submission of the queue, which has no commands.
                _ => {
                    w.submit(0, &[], fence);
                    w.v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
                }
            }
        }
        assert_eq!(w.destroy(), 0, "way {way}");
    }
}

#[test]
fn semaphores_tell_through_other_queues() {
    let w = Watched::new();
    let (first, second) = (w.v.timeline().unwrap(), w.v.timeline().unwrap());
    let submit = |queue: usize, commands: &[vk::CommandBuffer], wait: Option<vk::Semaphore>, signal| {
        let (waits, signals, values) = (Vec::from_iter(wait), [signal], [5]);
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values[..waits.len()])
            .signal_semaphore_values(&values);
        let info = vk::SubmitInfo::default()
            .command_buffers(commands)
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        // SAFETY: valid usage.
        unsafe { w.v.device.queue_submit(w.v.queues[queue], &[info], vk::Fence::null()).unwrap() };
    };
    submit(0, &[w.fill(|_| ())], None, first);
    submit(1, &[], Some(first), second);
    let (semaphores, values) = ([second], [5]);
    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // SAFETY: valid usage.
    unsafe { w.v.device.wait_semaphores(&info, u64::MAX).unwrap() };
    assert_eq!(w.destroy(), 0);
    w.idle();
}

#[test]
fn a_status_that_the_host_reads_tells() {
    for query in [false, true] {
        let w = Watched::new();
        // SAFETY: valid usage.
        unsafe {
            let event = w.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
            let pool = w.v.device.create_query_pool(&info, None).unwrap();
            w.v.device.reset_query_pool(pool, 0, 1);
            let commands = w.fill(|c| {
                w.v.device.cmd_set_event(c, event, vk::PipelineStageFlags::TRANSFER);
                w.v.device.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            });
            w.submit(0, &[commands], vk::Fence::null());
            if query {
                let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
                w.v.device.get_query_pool_results(pool, 0, &mut [0u64], flags).unwrap();
            } else {
                while !w.v.device.get_event_status(event).unwrap() {}
            }
        }
        assert_eq!(w.destroy(), 0, "query: {query}");
        w.idle();
    }
}

#[test]
fn objects_that_only_an_idle_command_buffer_mentions_may_end() {
    let w = Watched::new();
    let commands = w.fill(|_| ());
    w.v.run(commands);
    assert_eq!(w.destroy(), 0);
}

#[test]
fn memory_can_be_allocated_again_once_the_host_knows_that_its_work_has_completed() {
    let v = Vulkan::new();
    // SAFETY: a live physical device.
    let heaps = unsafe { v.instance.get_physical_device_memory_properties(v.physical) }.memory_heaps;
    // There is room for one, and a little more; untouched memory takes no room of the machine.
    let size = heaps[0].size / 4 * 3;
    // SAFETY: valid usage.
    unsafe {
        let fence = v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        for round in 0..200 {
            let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = v.device.create_buffer(&info, None).unwrap();
            let allocate = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(0);
            let memory = v.device.allocate_memory(&allocate, None);
            let memory = memory.unwrap_or_else(|error| panic!("round {round}: {error}"));
            v.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let commands = v.record(|c| v.device.cmd_fill_buffer(c, buffer, 0, 64, 7));
            let (buffers, other) = ([commands], [v.record(|_| ())]);
            let infos = [&other, &buffers].map(|list| vk::SubmitInfo::default().command_buffers(list));
            v.device.queue_submit(v.queues[0], &infos, fence).unwrap();
            // Now and then the waiting thread runs the work itself; here the queue's thread begins.
            std::thread::yield_now();
            v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            v.device.reset_fences(&[fence]).unwrap();
            v.device.free_command_buffers(v.pool, &[commands, other[0]]);
            v.device.destroy_buffer(buffer, None);
            v.device.free_memory(memory, None);
        }
        v.device.destroy_fence(fence, None);
    }
}
