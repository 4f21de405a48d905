//! Programs with a mistake of the host, each beside its right twin: `wrong` says which of the two runs.

use crate::common::Spin;
use crate::program::{ALL, Buffer, CACHED, COHERENT, DEVICE, PAGES, Program};
use ash::vk;
use std::time::Duration;

pub type Stage = vk::PipelineStageFlags;
pub type Access = vk::AccessFlags;

/// Commands that copy `b` to memory of the device.
fn upload(p: &Program, b: &Buffer) -> vk::CommandBuffer {
    let target = p.buffer("target", b.size, DEVICE);
    let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
    p.record(|c| {
        // The commands may be submitted again.
        p.barrier(c, transfer, transfer);
        p.copy(c, b, &target);
    })
}

/// Commands that fill `b` for the host.
fn fill_for_host(p: &Program, b: &Buffer) -> vk::CommandBuffer {
    p.record(|c| {
        p.fill(c, b, 7);
        p.to_host(c);
    })
}

/// Submits commands that signal 1 of a timeline semaphore.
fn signal_after(p: &Program, commands: vk::CommandBuffer, semaphore: vk::Semaphore) {
    let (list, signals, values) = ([commands], [semaphore], [1]);
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
    let info = vk::SubmitInfo::default().command_buffers(&list).signal_semaphores(&signals);
    let info = [info.push_next(&mut timeline)];
    // SAFETY: live handles.
    unsafe { p.v.device.queue_submit(p.v.queues[0], &info, vk::Fence::null()).unwrap() };
}

pub fn flush(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 256, CACHED);
    b.put_all(5);
    if !wrong {
        p.flush(&b, 0, ALL);
    }
    p.run(upload(p, &b));
}

pub fn flush_of_half(p: &Program, wrong: bool) {
    let b = p.buffer("staging", PAGES, CACHED);
    b.put_all(5);
    p.flush(&b, 0, if wrong { PAGES / 2 } else { PAGES });
    p.run(upload(p, &b));
}

pub fn flush_after_submit<const MILLISECONDS: u64>(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 256, CACHED);
    let commands = upload(p, &b);
    b.put_all(5);
    if !wrong {
        p.flush(&b, 0, ALL);
    }
    let fence = p.submit(commands);
    if wrong {
        std::thread::sleep(Duration::from_millis(MILLISECONDS));
        p.flush(&b, 0, ALL);
    }
    p.wait(fence);
}

pub fn unmapping_is_no_flush(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 256, CACHED);
    b.put_all(5);
    if !wrong {
        p.flush(&b, 0, ALL);
    }
    // SAFETY: live handles.
    unsafe { p.v.device.unmap_memory(b.memory) };
    p.run(upload(p, &b));
}

pub fn flush_for_a_shader(p: &Program, wrong: bool) {
    let counter = p.buffer("counter", 64, COHERENT);
    let steps = p.buffer("steps", 256, CACHED);
    counter.put_all(0);
    steps.put_all(1);
    // The last atom is read as well.
    p.flush(&steps, 0, if wrong { 192 } else { 256 });
    p.run(p.count(&counter, &steps));
}

pub fn invalidate(p: &Program, wrong: bool) {
    let b = p.buffer("results", 256, CACHED);
    p.run(fill_for_host(p, &b));
    if !wrong {
        p.invalidate(&b, 0, ALL);
        assert_eq!(b.get(0), 7);
    }
    b.sum();
}

/// An invalidate before the wait counts for nothing, however far the device was; the right twin makes
/// another one after the wait.
pub fn invalidate_before_the_wait<const MILLISECONDS: u64>(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, CACHED);
    let fence = p.submit(fill_for_host(p, &b));
    std::thread::sleep(Duration::from_millis(MILLISECONDS));
    p.invalidate(&b, 0, ALL);
    p.wait(fence);
    if !wrong {
        p.invalidate(&b, 0, ALL);
        assert_eq!(b.sum(), 7 * (PAGES / 4) as u32);
    }
    b.sum();
}

/// The same with a timeline semaphore.
pub fn invalidate_before_the_semaphore<const MILLISECONDS: u64>(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, CACHED);
    let (commands, semaphore) = (fill_for_host(p, &b), p.v.timeline().unwrap());
    signal_after(p, commands, semaphore);
    std::thread::sleep(Duration::from_millis(MILLISECONDS));
    p.invalidate(&b, 0, ALL);
    let (semaphores, values) = ([semaphore], [1]);
    let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // SAFETY: live handles.
    unsafe { p.v.device.wait_semaphores(&wait, u64::MAX).unwrap() };
    if !wrong {
        p.invalidate(&b, 0, ALL);
        assert_eq!(b.sum(), 7 * (PAGES / 4) as u32);
    }
    b.sum();
}

pub fn invalidate_of_half(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, CACHED);
    p.run(fill_for_host(p, &b));
    p.invalidate(&b, 0, if wrong { PAGES / 2 } else { PAGES });
    b.sum();
}

pub fn shared_atom(p: &Program, wrong: bool) {
    let b = p.buffer("shared", 256, CACHED);
    // SAFETY: live handles.
    let commands = p.record(|c| unsafe {
        p.v.device.cmd_fill_buffer(c, b.buffer, 0, 32, 7);
        p.to_host(c);
    });
    p.run(commands);
    if !wrong {
        p.invalidate(&b, 0, 64);
    }
    b.put(40, &[1]);
    p.flush(&b, 0, 64);
}

pub fn staging_used_again(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 4096, COHERENT);
    let commands = upload(p, &b);
    b.put_all(1);
    let fence = p.submit(commands);
    if wrong {
        b.put_all(2);
        p.wait(fence);
    } else {
        p.wait(fence);
        b.put_all(2);
    }
}

pub fn write_before_the_devices_write_is_done(p: &Program, wrong: bool) {
    let b = p.buffer("results", 4096, COHERENT);
    let fence = p.submit(fill_for_host(p, &b));
    if wrong {
        std::thread::sleep(Duration::from_millis(30));
        b.put(8, &[9; 4]);
        p.wait(fence);
    } else {
        p.wait(fence);
        b.put(8, &[9; 4]);
    }
}

pub fn sleep_is_no_wait(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, COHERENT);
    let fence = p.submit(fill_for_host(p, &b));
    if wrong {
        std::thread::sleep(Duration::from_millis(100));
        b.sum();
        p.wait(fence);
    } else {
        p.wait(fence);
        assert_eq!(b.get(0), 7);
        b.sum();
    }
}

pub fn shader_input_changed(p: &Program, wrong: bool) {
    let counter = p.buffer("counter", 64, COHERENT);
    let steps = p.buffer("steps", 256, COHERENT);
    counter.put_all(0);
    steps.put_all(1);
    let fence = p.submit(p.count(&counter, &steps));
    if !wrong {
        p.wait(fence);
    }
    steps.put(252, &[2]);
    if wrong {
        p.wait(fence);
    }
}

/// A system call writes mapped memory.
pub fn read_from_a_file(p: &Program, wrong: bool) {
    use std::io::{Read as _, Seek as _};
    let b = p.buffer("staging", 4096, COHERENT);
    let mut file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let mut read = || {
        file.rewind().unwrap();
        // SAFETY: the mapping is that long.
        file.read_exact(unsafe { std::slice::from_raw_parts_mut(b.mapped, 4096) }).unwrap();
    };
    let commands = upload(p, &b);
    if !wrong {
        read();
    }
    let fence = p.submit(commands);
    if wrong {
        read();
    }
    p.wait(fence);
}

pub fn another_thread_writes(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 4096, COHERENT);
    let commands = upload(p, &b);
    let address = b.mapped as usize;
    let writer = || {
        let thread = std::thread::spawn(move || {
            // SAFETY: the mapping outlives the thread.
            unsafe { (address as *mut u8).add(100).write_volatile(1) };
        });
        thread.join().unwrap();
    };
    if !wrong {
        writer();
    }
    let fence = p.submit(commands);
    if wrong {
        writer();
    }
    p.wait(fence);
}

/// A ring of two slots: the wrong one does not wait for the slot that it fills.
pub fn ring(p: &Program, wrong: bool) {
    let slots = [p.buffer("slot 0", 256, COHERENT), p.buffer("slot 1", 256, COHERENT)];
    let commands = slots.map(|slot| upload(p, &slot));
    let mut fences: [Option<vk::Fence>; 2] = [None, None];
    for frame in 0..4usize {
        let slot = frame % 2;
        if let Some(fence) = fences[slot].take_if(|_| !wrong || frame < 3) {
            p.wait(fence);
        }
        slots[slot].put_all(frame as u32 + 1);
        let fence = p.submit(commands[slot]);
        if let Some(before) = fences[slot].replace(fence) {
            p.wait(before);
        }
    }
    fences.into_iter().flatten().for_each(|fence| p.wait(fence));
}

/// One memory, mapped once for ever, written for each frame.
pub fn persistent_mapping(p: &Program, wrong: bool) {
    let b = p.buffer("uniforms", 256, CACHED);
    let commands = upload(p, &b);
    for frame in 1..5u32 {
        b.put(64, &frame.to_le_bytes());
        if !wrong || frame != 3 {
            p.flush(&b, 64, 64);
        }
        p.run(commands);
    }
}

/// Commands that take a while, and then fill `b` once more.
fn fill_later(p: &Program, b: &Buffer) -> vk::CommandBuffer {
    let large = p.buffer("large", 4 << 20, DEVICE);
    let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
    p.record(|c| {
        for word in 0..4 {
            p.fill(c, &large, word);
            p.barrier(c, transfer, transfer);
        }
        p.fill(c, b, 8);
        p.to_host(c);
    })
}

/// The host still reads what it waited for, while other work overwrites it.
pub fn read_of_what_is_overwritten(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, COHERENT);
    p.run(fill_for_host(p, &b));
    let commands = fill_later(p, &b);
    b.sum();
    let fence = p.submit(commands);
    if wrong {
        b.sum();
    }
    p.wait(fence);
    b.sum();
}

/// Reads memory that two submissions write and nobody has touched before: when neither, one or both have.
pub fn read_between<const MILLISECONDS: u64>(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, COHERENT);
    let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
    let commands = [1, 2].map(|word| {
        p.record(|c| {
            p.barrier(c, transfer, transfer);
            p.fill(c, &b, word);
            p.to_host(c);
        })
    });
    let [_, fence] = commands.map(|commands| p.submit(commands));
    if wrong {
        std::thread::sleep(Duration::from_millis(MILLISECONDS));
        b.sum();
    }
    p.wait(fence);
    assert_eq!(b.get(0), 2);
}

/// The wrong one asks the memory itself whether the work is done, and not the semaphore.
pub fn status_that_was_not_looked_at(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, COHERENT);
    let (commands, semaphore) = (fill_later(p, &b), p.v.timeline().unwrap());
    signal_after(p, commands, semaphore);
    // SAFETY: live handles.
    unsafe {
        if wrong {
            while b.get(0) != 8 {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(100));
            b.put(8, &[9; 4]);
        }
        while p.v.device.get_semaphore_counter_value(semaphore).unwrap() < 1 {}
    }
    b.put(8, &[9; 4]);
}

/// The size of an indirect dispatch, changed under it.
pub fn size_of_an_indirect_dispatch(p: &Program, wrong: bool) {
    let (counter, steps) = (p.buffer("counter", 64, COHERENT), p.buffer("steps", 256, COHERENT));
    let sizes = p.buffer("sizes", 12, COHERENT);
    counter.put_all(0);
    steps.put_all(1);
    sizes.put_all(1);
    let fence = p.submit(p.count_by(&counter, &steps, Some(&sizes)));
    if !wrong {
        p.wait(fence);
    }
    sizes.put(0, &[0; 4]);
    if wrong {
        p.wait(fence);
    }
}

/// A descriptor of pending work, written anew.
pub fn descriptor_of_pending_work(p: &Program, wrong: bool) {
    let (counter, steps) = (p.buffer("counter", 64, COHERENT), p.buffer("steps", 256, COHERENT));
    counter.put_all(0);
    steps.put_all(1);
    let commands = p.count(&counter, &steps);
    let fence = p.submit(commands);
    if !wrong {
        p.wait(fence);
    }
    p.put_in_set(1, &counter);
    if wrong {
        p.wait(fence);
    }
}

/// Memory that work reaches by its address, freed under it.
pub fn memory_behind_an_address(p: &Program, wrong: bool) {
    let spin = Spin::new(&p.v, true);
    let b = p.buffer("behind an address", 4096, COHERENT);
    let commands = p.record(|c| spin.record(&p.v, c, vk::DescriptorSet::null(), b.buffer, 1));
    let fence = p.submit(commands);
    if !wrong {
        p.wait(fence);
    }
    // SAFETY: live handles; that work uses them is what the program is about.
    unsafe {
        p.v.device.destroy_buffer(b.buffer, None);
        p.v.device.free_memory(b.memory, None);
    }
    if wrong {
        p.wait(fence);
    }
}

/// Staging memory whose copy was ordered with nothing: the wrong one reuses it for the next upload at once.
pub fn upload_after_upload(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 4096, CACHED);
    let commands = upload(p, &b);
    let mut before: Option<vk::Fence> = None;
    for frame in 1..4 {
        if let Some(fence) = before.take_if(|_| !wrong) {
            p.wait(fence);
        }
        b.put_all(frame);
        p.flush(&b, 0, ALL);
        let fence = p.submit(commands);
        if let Some(fence) = before.replace(fence) {
            p.wait(fence);
        }
    }
    before.into_iter().for_each(|fence| p.wait(fence));
}

/// What is between the device's write and the fence in the shapes of a missing dependency to the host.
fn to_host(p: &Program, shape: Option<u32>, memory_type: u32) -> Buffer {
    let b = p.buffer("results", PAGES, memory_type);
    let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
    let none = vk::DependencyFlags::empty();
    let commands = p.record(|c| {
        if shape == Some(1) {
            p.barrier(c, transfer, (Stage::HOST, Access::HOST_READ));
        }
        p.fill(c, &b, 7);
        match shape {
            None => p.barrier(c, transfer, (Stage::HOST, Access::HOST_READ)),
            Some(2) => p.barrier(c, transfer, (Stage::TRANSFER, Access::TRANSFER_READ)),
            Some(3) => p.barrier(
                c,
                (Stage::ALL_COMMANDS, Access::MEMORY_WRITE),
                (Stage::ALL_COMMANDS, Access::MEMORY_READ),
            ),
            Some(4) => p.barrier(c, transfer, (Stage::HOST, Access::empty())),
            Some(5) => p.barrier(c, (Stage::TRANSFER, Access::empty()), (Stage::HOST, Access::HOST_READ)),
            Some(6 | 7) => {
                let other = p.buffer("other", 64, DEVICE);
                let (buffer, size) = if shape == Some(6) { (other, ALL) } else { (b, PAGES / 2) };
                let barrier = [vk::BufferMemoryBarrier::default()
                    .src_access_mask(Access::TRANSFER_WRITE)
                    .dst_access_mask(Access::HOST_READ)
                    .buffer(buffer.buffer)
                    .size(size)];
                // SAFETY: live handles.
                unsafe {
                    p.v.device.cmd_pipeline_barrier(
                        c,
                        Stage::TRANSFER,
                        Stage::HOST,
                        none,
                        &[],
                        &barrier,
                        &[],
                    );
                }
            }
            _ => {}
        }
    });
    p.run(commands);
    b
}

pub fn barrier_to_the_host<const SHAPE: u32>(p: &Program, wrong: bool) {
    to_host(p, wrong.then_some(SHAPE), COHERENT).sum();
}

/// The host waits for a semaphore whose signal names stages: HOST is not among them, whichever they are.
pub fn signal_that_names_stages(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, COHERENT);
    for stages in [vk::PipelineStageFlags2::ALL_COMMANDS, vk::PipelineStageFlags2::CLEAR] {
        let commands = p.record(|c| {
            p.fill(c, &b, 7);
            if !wrong {
                p.to_host(c);
            }
        });
        let semaphore = p.v.timeline().unwrap();
        let signals = [vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(1).stage_mask(stages)];
        let list = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let info = [vk::SubmitInfo2::default().command_buffer_infos(&list).signal_semaphore_infos(&signals)];
        let (semaphores, values) = ([semaphore], [1]);
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: live handles.
        unsafe {
            p.v.device.queue_submit2(p.v.queues[0], &info, vk::Fence::null()).unwrap();
            p.v.device.wait_semaphores(&wait, u64::MAX).unwrap();
        }
        assert_eq!(b.sum(), 7 * (PAGES / 4) as u32);
    }
}

/// The program locks all its memory, as programs do that must not wait for pages.
pub fn locked_memory(p: &Program, wrong: bool) {
    // SAFETY: plain system call. Where it is not permitted, the program is right or wrong all the same.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) };
    let b = p.buffer("results", PAGES, CACHED);
    p.run(fill_for_host(p, &b));
    if !wrong {
        p.invalidate(&b, 0, ALL);
        assert_eq!(b.get(0), 7);
    }
    b.sum();
}

/// The process ends with nothing but a read behind its last call.
pub fn read_before_the_end(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, CACHED);
    p.run(fill_for_host(p, &b));
    if !wrong {
        p.invalidate(&b, 0, ALL);
    }
    b.sum();
    std::process::exit(0);
}

pub fn barrier_before_the_invalidate(p: &Program, wrong: bool) {
    let b = to_host(p, wrong.then_some(0), CACHED);
    p.invalidate(&b, 0, ALL);
    b.sum();
}

pub fn barrier_before_the_hosts_write(p: &Program, wrong: bool) {
    to_host(p, wrong.then_some(0), COHERENT).put(40, &[1]);
}
