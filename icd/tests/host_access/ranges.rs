//! Programs that flush or invalidate other bytes than they have to, or copy results of queries, each beside
//! its right twin: `wrong` says which of the two runs.

use crate::program::{ALL, Buffer, CACHED, COHERENT, DEVICE, PAGES, Program};
use ash::vk;

/// Commands that copy `size` bytes of `b` from an offset to memory of the device.
fn upload(p: &Program, b: &Buffer, src_offset: u64, size: u64) -> vk::CommandBuffer {
    let target = p.buffer("target", size, DEVICE);
    let region = [vk::BufferCopy { src_offset, dst_offset: 0, size }];
    // SAFETY: live handles.
    p.record(|c| unsafe { p.v.device.cmd_copy_buffer(c, b.buffer, target.buffer, &region) })
}

/// A ring of three slices of one memory: the wrong one flushes the slice of the frame before.
pub fn flush_of_another_slice(p: &Program, wrong: bool) {
    let b = p.buffer("uniforms", 768, CACHED);
    for frame in 0..4u8 {
        let slice = |frame: u8| u64::from(frame % 3) * 256;
        b.put(slice(frame), &[frame + 1; 256]);
        p.flush(&b, slice(if wrong && frame == 2 { 1 } else { frame }), 256);
        p.run(upload(p, &b, slice(frame), 256));
    }
}

/// The same for what is read back.
pub fn invalidate_of_another_slice(p: &Program, wrong: bool) {
    let b = p.buffer("results", 3 * 4096, CACHED);
    for frame in 0..3u32 {
        let slice = |frame: u32| u64::from(frame) * 4096;
        p.run(p.record(|c| {
            // SAFETY: live handles.
            unsafe { p.v.device.cmd_fill_buffer(c, b.buffer, slice(frame), 4096, frame) };
            p.to_host(c);
        }));
        p.invalidate(&b, slice(if wrong && frame == 2 { 1 } else { frame }), 4096);
        for at in (slice(frame)..slice(frame + 1)).step_by(4) {
            b.get(at);
        }
    }
}

/// Two ranges in one call, of which the wrong one names the same memory twice.
pub fn flush_of_another_memory(p: &Program, wrong: bool) {
    let [a, b] = ["a", "b"].map(|name| p.buffer(name, 256, CACHED));
    a.put_all(1);
    b.put_all(2);
    let range = |b: &Buffer| vk::MappedMemoryRange::default().memory(b.memory).size(ALL);
    let ranges = [range(&a), range(if wrong { &a } else { &b })];
    // SAFETY: live handles.
    unsafe { p.v.device.flush_mapped_memory_ranges(&ranges).unwrap() };
    [a, b].iter().for_each(|b| p.run(upload(p, b, 0, 256)));
}

/// An invalidate where the flush should be: what the host wrote is undefined, and no later flush helps.
pub fn invalidate_before_the_flush(p: &Program, wrong: bool) {
    let b = p.buffer("staging", 256, CACHED);
    b.put_all(4);
    if wrong {
        p.invalidate(&b, 0, ALL);
    }
    p.flush(&b, 0, ALL);
    p.run(upload(p, &b, 0, 256));
}

/// The host flushes bytes beside those that pending work writes: in the same atom the update is lost.
pub fn flush_beside_a_pending_write(p: &Program, wrong: bool) {
    let b = p.buffer("two objects", 4096, CACHED);
    let fence = p.submit(p.record(|c| {
        // SAFETY: live handles.
        unsafe { p.v.device.cmd_fill_buffer(c, b.buffer, 0, 32, 5) };
        p.to_host(c);
    }));
    let at = if wrong { 32 } else { 64 };
    b.put(at, &[6; 32]);
    p.flush(&b, at / 64 * 64, 64);
    p.wait(fence);
    p.run(upload(p, &b, at, 32));
}

/// A counter in memory that holds nothing else. The right twin reads a word of its own beside it before it
/// invalidates.
pub fn small_read_back(p: &Program, wrong: bool) {
    let b = p.buffer("counter", 65536, CACHED);
    if !wrong {
        b.put(0, &5u32.to_le_bytes());
        p.flush(&b, 0, 64);
    }
    p.run(p.record(|c| {
        // SAFETY: live handles.
        unsafe { p.v.device.cmd_fill_buffer(c, b.buffer, 64, 4, 7) };
        p.to_host(c);
    }));
    if !wrong {
        assert_eq!(b.get(0), 5);
        p.invalidate(&b, 64, 64);
        assert_eq!(b.get(64), 7);
    }
    b.get(64);
}

/// The same of two counters in different atoms, of which the right twin invalidates each before it reads it.
pub fn two_small_read_backs(p: &Program, wrong: bool) {
    let b = p.buffer("counters", 4096, CACHED);
    for round in 1..4 {
        p.run(p.record(|c| {
            // SAFETY: live handles.
            unsafe {
                p.v.device.cmd_fill_buffer(c, b.buffer, 64, 4, round);
                p.v.device.cmd_fill_buffer(c, b.buffer, 256, 4, round);
            }
            p.to_host(c);
        }));
        for at in [64, 256] {
            if !wrong {
                p.invalidate(&b, at, 64);
                assert_eq!(b.get(at), round);
            }
            b.get(at);
        }
    }
}

/// Timestamps that commands copy to `b`.
fn timestamps(p: &Program, b: &Buffer, barrier: bool) -> vk::CommandBuffer {
    let count = (b.size / 8) as u32;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: live handles.
    p.record(|c| unsafe {
        let pool = p.v.device.create_query_pool(&info, None).unwrap();
        p.v.device.cmd_reset_query_pool(c, pool, 0, count);
        for query in 0..count {
            p.v.device.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, query);
        }
        p.v.device.cmd_copy_query_pool_results(c, pool, 0, count, b.buffer, 0, 8, flags);
        if barrier {
            p.to_host(c);
        }
    })
}

pub fn query_results_before_the_wait(p: &Program, wrong: bool) {
    let b = p.buffer("timestamps", PAGES, COHERENT);
    let fence = p.submit(timestamps(p, &b, true));
    if wrong {
        b.sum();
    }
    p.wait(fence);
    b.sum();
}

pub fn query_results_not_invalidated(p: &Program, wrong: bool) {
    let b = p.buffer("timestamps", PAGES, CACHED);
    p.run(timestamps(p, &b, true));
    if !wrong {
        p.invalidate(&b, 0, ALL);
    }
    b.sum();
}

pub fn query_results_without_a_barrier(p: &Program, wrong: bool) {
    let b = p.buffer("timestamps", PAGES, COHERENT);
    p.run(timestamps(p, &b, !wrong));
    b.sum();
}
