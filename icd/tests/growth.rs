//! What the driver remembers of submissions that have ended is bounded.
// The figures are told, not only judged.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Counts the bytes that the process, and so the driver, has allocated and not freed.
struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the contract.
        unsafe { System.dealloc(bytes, layout) }
    }
}

/// Bytes that are allocated now; lists that grow by doubling may be larger than at the next call.
fn live() -> i64 {
    LIVE.load(Ordering::Relaxed)
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
                let most: u32 = std::env::var("PAIRS").map_or(160_000, |n| n.parse().unwrap());
                // As many as are remembered.
                let first = most - most / 8;
                submissions(&v, &spin, set, buffer, first);
                let before = live();
                submissions(&v, &spin, set, buffer, most - first);
                let after = live();
                eprintln!("{before} bytes after {first} pairs, {after} after {most}");
                // Less than a byte a pair, of 20,000.
                assert!(after < before + (8 << 10), "{before} bytes, then {after}");
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
        let before = live();
        many(40_000);
        let more = live() - before;
        eprintln!("{more} bytes for 40,000 dispatches");
        assert!(more < 16 << 10, "{more} bytes for 40,000 dispatches");
    }
}
