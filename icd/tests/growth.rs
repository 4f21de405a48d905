//! What the driver remembers of submissions that have ended is bounded.
// The figures are told, not only judged.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};

/// Resident bytes of this process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Submissions with a fence, a semaphore and an event that end after each, on two queues; every eighth has a
/// dispatch and memory of its own.
fn submissions(v: &Vulkan, spin: &Spin, set: vk::DescriptorSet, buffer: vk::Buffer, count: u32) {
    let d = &v.device;
    let dispatch = v.record(|c| spin.record(v, c, set, buffer, 1));
    for number in 0..count {
        // SAFETY: valid usage.
        unsafe {
            let fence = d.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            let semaphores = [d.create_semaphore(&vk::SemaphoreCreateInfo::default(), None).unwrap()];
            let event = d.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            let own = (number % 8 == 0).then(|| v.buffer(256, 1));
            let commands = v.record(|c| {
                d.cmd_set_event(c, event, vk::PipelineStageFlags::ALL_COMMANDS);
                if let Some((buffer, ..)) = own {
                    d.cmd_fill_buffer(c, buffer, 0, 256, number);
                }
            });
            let list = [commands, dispatch];
            let list = &list[..1 + usize::from(number % 8 == 1)];
            let first = [vk::SubmitInfo::default().command_buffers(list).signal_semaphores(&semaphores)];
            d.queue_submit(v.queues[0], &first, vk::Fence::null()).unwrap();
            let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
            let second =
                [vk::SubmitInfo::default().wait_semaphores(&semaphores).wait_dst_stage_mask(&stages)];
            d.queue_submit(v.queues[1], &second, fence).unwrap();
            d.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            d.free_command_buffers(v.pool, &[commands]);
            d.destroy_fence(fence, None);
            d.destroy_semaphore(semaphores[0], None);
            d.destroy_event(event, None);
            if let Some((buffer, memory, _)) = own {
                d.destroy_buffer(buffer, None);
                d.free_memory(memory, None);
            }
        }
    }
}

/// Runs many submissions and prints what they cost; `PAIRS` sets how many pairs of them.
#[test]
fn memory_does_not_grow_with_submissions() {
    for mode in ["run", "check"] {
        let name = "memory_does_not_grow_with_submissions";
        match alone(name, &[("PELLUCID_MODE", mode)]) {
            Some(text) => println!("{mode}: {text}"),
            None => {
                let v = Vulkan::new();
                let spin = Spin::new(&v, false);
                let (buffer, ..) = v.buffer(4096, 1);
                let (_, set) = spin.set(&v);
                spin.update(&v, set, buffer);
                let most: u32 = std::env::var("PAIRS").map_or(24_000, |n| n.parse().unwrap());
                submissions(&v, &spin, set, buffer, most / 2);
                let before = resident();
                submissions(&v, &spin, set, buffer, most - most / 2);
                let after = resident();
                eprintln!("{} KiB after {} pairs, {} KiB after {most}", before >> 10, most / 2, after >> 10);
                assert!(after < before + (2 << 20), "{before} bytes, then {after}");
                return;
            }
        }
    }
}

/// In check mode a dispatch is remembered by name, but not for ever.
#[test]
fn memory_does_not_grow_with_dispatches() {
    let name = "memory_does_not_grow_with_dispatches";
    if alone(name, &[("PELLUCID_MODE", "check")]).is_none() {
        let v = Vulkan::new();
        let spin = Spin::new(&v, false);
        let (buffer, ..) = v.buffer(4096, 1);
        let (_, set) = spin.set(&v);
        spin.update(&v, set, buffer);
        let commands = v.record(|c| spin.record(&v, c, set, buffer, 1));
        let many = |count: u32| (0..count).for_each(|_| v.run(commands));
        // As many as are remembered.
        many(3 << 14);
        let before = resident();
        many(40_000);
        let each = resident().saturating_sub(before) / 40_000;
        eprintln!("{each} bytes a dispatch");
        assert!(each < 64, "{each} bytes a dispatch");
    }
}
