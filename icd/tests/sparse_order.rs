//! The order of vkQueueBindSparse and the work that uses what it binds, in check mode: semaphores, fences and
//! waits of the host make it, and nothing else.
// What a test does in a process of its own is told apart by marks.
#![allow(clippy::print_stderr)]

mod common;

use ash::vk;
use common::{Vulkan, alone};

/// Bytes of a sparse block.
const BLOCK: u64 = 1 << 16;

/// A sparse buffer of two blocks, memory for two, and its bindings in turn.
struct Sparse<'a> {
    v: &'a Vulkan,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

/// What a submission waits for and signals: values of a timeline semaphore.
type Values = (Option<u64>, Option<u64>);

impl<'a> Sparse<'a> {
    fn new(v: &'a Vulkan) -> Sparse<'a> {
        let info = vk::BufferCreateInfo::default()
            .size(2 * BLOCK)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST)
            .flags(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY);
        let memory = vk::MemoryAllocateInfo::default().allocation_size(2 * BLOCK).memory_type_index(0);
        // SAFETY: valid usage.
        let (buffer, memory) = unsafe {
            (v.device.create_buffer(&info, None).unwrap(), v.device.allocate_memory(&memory, None).unwrap())
        };
        Sparse { v, buffer, memory }
    }

    /// Binds block `n` of the memory to the first of the buffer.
    fn bind(&self, queue: usize, n: u64, semaphore: vk::Semaphore, (wait, signal): Values, fence: vk::Fence) {
        let part = [vk::SparseMemoryBind::default().size(BLOCK).memory(self.memory).memory_offset(n * BLOCK)];
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(self.buffer).binds(&part)];
        let all = [semaphore];
        let (waits, signals): (Vec<u64>, Vec<u64>) =
            (wait.into_iter().collect(), signal.into_iter().collect());
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&waits)
            .signal_semaphore_values(&signals);
        let info = vk::BindSparseInfo::default()
            .buffer_binds(&buffers)
            .wait_semaphores(&all[..waits.len()])
            .signal_semaphores(&all[..signals.len()])
            .push_next(&mut timeline);
        // SAFETY: valid usage, but for the order.
        unsafe { self.v.device.queue_bind_sparse(self.v.queues[queue], &[info], fence).unwrap() };
    }

    /// Fills a word of a block of the buffer.
    fn fill(
        &self,
        queue: usize,
        block: u64,
        semaphore: vk::Semaphore,
        (wait, signal): Values,
        stage: vk::PipelineStageFlags,
    ) {
        let device = &self.v.device;
        // SAFETY: valid usage.
        let commands =
            self.v.record(|c| unsafe { device.cmd_fill_buffer(c, self.buffer, block * BLOCK, 4, 1) });
        let (commands, all, stages) = ([commands], [semaphore], [stage]);
        let (waits, signals): (Vec<u64>, Vec<u64>) =
            (wait.into_iter().collect(), signal.into_iter().collect());
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&waits)
            .signal_semaphore_values(&signals);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .wait_semaphores(&all[..waits.len()])
            .wait_dst_stage_mask(&stages[..waits.len()])
            .signal_semaphores(&all[..signals.len()])
            .push_next(&mut timeline);
        // SAFETY: valid usage, but for the order.
        unsafe { device.queue_submit(self.v.queues[queue], &[info], vk::Fence::null()).unwrap() };
    }
}

const NONE: Values = (None, None);
const TRANSFER: vk::PipelineStageFlags = vk::PipelineStageFlags::TRANSFER;

/// What is done with a sparse buffer and a timeline semaphore.
type Step<'a> = &'a dyn Fn(&Sparse<'_>, vk::Semaphore);

/// Runs each step with a new sparse buffer and timeline semaphore, between waits of the host: how many
/// findings each gave, and the text.
fn told(name: &str, steps: &[Step<'_>]) -> Option<(Vec<usize>, String)> {
    let Some(text) = alone(name, &[("PELLUCID_MODE", "check")]) else {
        let v = Vulkan::new();
        for step in steps {
            eprintln!("-- step");
            step(&Sparse::new(&v), v.timeline().unwrap());
            // SAFETY: a live handle.
            unsafe { v.device.device_wait_idle().unwrap() };
        }
        return None;
    };
    let said = |part: &str| part.matches("error[").count();
    assert_eq!(
        text.matches("error[").count(),
        text.matches("error[hazard-sparse-binding]").count(),
        "{text}"
    );
    Some((text.split("-- step").skip(1).map(said).collect(), text))
}

#[test]
fn submission_order_does_not_order_bindings() {
    let null = vk::Fence::null();
    let Some((found, text)) = told(
        "submission_order_does_not_order_bindings",
        &[
            &|s, t| {
                s.bind(0, 0, t, NONE, null);
                s.fill(0, 0, t, NONE, TRANSFER);
            },
            &|s, t| {
                s.bind(0, 0, t, (None, Some(1)), null);
                s.fill(0, 0, t, (Some(1), None), TRANSFER);
                s.bind(0, 1, t, NONE, null);
            },
            // The first block is bound while the second, which nobody binds, is used.
            &|s, t| {
                s.bind(0, 0, t, NONE, null);
                s.fill(0, 1, t, NONE, TRANSFER);
            },
            &|s, t| {
                s.bind(0, 0, t, NONE, null);
                s.bind(0, 1, t, NONE, null);
            },
            // A wait at other stages.
            &|s, t| {
                s.bind(0, 0, t, (None, Some(1)), null);
                s.fill(0, 0, t, (Some(1), None), vk::PipelineStageFlags::COMPUTE_SHADER);
            },
        ],
    ) else {
        return;
    };
    assert_eq!(found, [1, 1, 0, 1, 1], "{text}");
    for part in [
        "vkQueueBindSparse (command 1 of submission 1 on queue 0): binds or unbinds memory there",
        "vkCmdFillBuffer (command 1 of submission 2 on queue 0): stage CLEAR, access TRANSFER_WRITE",
        "signal a semaphore in vkQueueBindSparse on queue 0 and wait for it on queue 0 at CLEAR",
        "signal a semaphore in the submission on queue 0 and wait for it in vkQueueBindSparse on queue 0",
        "signal a semaphore in vkQueueBindSparse on queue 0 and wait for it in vkQueueBindSparse on queue 0",
        "in the submission on queue 0: add CLEAR to the stages that wait for the semaphore",
        "missing: an execution dependency: nothing makes (1) happen before (2)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn semaphores_and_the_host_order_bindings() {
    let null = vk::Fence::null();
    let Some((found, text)) = told(
        "semaphores_and_the_host_order_bindings",
        &[
            &|s, t| {
                s.bind(0, 0, t, (None, Some(1)), null);
                s.fill(0, 0, t, (Some(1), Some(2)), TRANSFER);
                s.bind(0, 1, t, (Some(2), Some(3)), null);
                s.fill(0, 0, t, (Some(3), None), TRANSFER);
            },
            // On several queues.
            &|s, t| {
                s.fill(0, 0, t, (None, Some(1)), TRANSFER);
                s.bind(1, 0, t, (Some(1), Some(2)), null);
                s.fill(0, 0, t, (Some(2), None), TRANSFER);
            },
            &|s, t| {
                s.bind(0, 0, t, NONE, null);
                // SAFETY: a live handle.
                unsafe { s.v.device.queue_wait_idle(s.v.queues[0]).unwrap() };
                s.fill(0, 0, t, NONE, TRANSFER);
                // SAFETY: a live handle.
                unsafe { s.v.device.device_wait_idle().unwrap() };
                s.bind(0, 1, t, NONE, null);
            },
            &|s, t| {
                // SAFETY: valid usage.
                let fence = unsafe { s.v.device.create_fence(&Default::default(), None).unwrap() };
                s.bind(1, 0, t, NONE, fence);
                // SAFETY: valid usage.
                unsafe { s.v.device.wait_for_fences(&[fence], true, u64::MAX).unwrap() };
                s.fill(0, 0, t, NONE, TRANSFER);
            },
            &|s, t| {
                s.bind(1, 0, t, (None, Some(1)), null);
                let (all, values) = ([t], [1]);
                let info = vk::SemaphoreWaitInfo::default().semaphores(&all).values(&values);
                // SAFETY: valid usage.
                unsafe { s.v.device.wait_semaphores(&info, u64::MAX).unwrap() };
                s.fill(0, 0, t, NONE, TRANSFER);
            },
        ],
    ) else {
        return;
    };
    assert_eq!(found, [0; 5], "{text}");
}
