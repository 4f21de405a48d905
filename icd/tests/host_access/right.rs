//! Correct programs: they see right values in every mode.

use crate::program::{CACHED, COHERENT, Program};
use ash::vk;

const ALL: u64 = vk::WHOLE_SIZE;

/// A counter that is cleared to the value that the host last knew.
pub fn counter_cleared_again(p: &Program) {
    let counter = p.buffer("counter", 64, CACHED);
    let steps = p.buffer("steps", 256, COHERENT);
    steps.put_all(1);
    let commands = p.count(&counter, &steps);
    for _ in 0..3 {
        counter.put(0, &[0; 4]);
        p.flush(&counter, 0, ALL);
        p.run(commands);
    }
    p.invalidate(&counter, 0, ALL);
    assert_eq!(counter.get(0), 64);
}

/// Single bytes, beside bytes that the device wrote and the host has seen.
pub fn single_bytes(p: &Program) {
    let b = p.buffer("b", 8192, CACHED);
    let back = p.buffer("back", 8192, COHERENT);
    let fill = p.record(|c| {
        p.fill(c, &b, 0x0101_0101);
        p.to_host(c);
    });
    let read = p.record(|c| {
        p.copy(c, &b, &back);
        p.to_host(c);
    });
    for round in 0..4 {
        p.run(fill);
        p.invalidate(&b, 0, ALL);
        b.put(5000 + round, &[7]);
        b.put(1, &[1]);
        p.flush(&b, 0, ALL);
        p.run(read);
        let mut expected = [1u8; 8];
        expected[round as usize] = 7;
        let got = [back.get(5000), back.get(5004)].map(u32::to_le_bytes).concat();
        assert_eq!(got, expected);
        assert_eq!(back.get(0), 0x0101_0101);
    }
}

/// A flush of all of the memory over what the device wrote in other atoms.
pub fn flush_over_device_writes(p: &Program) {
    let b = p.buffer("b", 4096, CACHED);
    // SAFETY: live handles.
    let fill = p.record(|c| unsafe {
        p.v.device.cmd_fill_buffer(c, b.buffer, 64, 128, 9);
        p.to_host(c);
    });
    p.run(fill);
    b.put(0, &[5; 64]);
    p.flush(&b, 0, ALL);
    p.invalidate(&b, 0, ALL);
    assert_eq!([b.get(0), b.get(64), b.get(188), b.get(192)], [0x0505_0505, 9, 9, 0]);
}

/// An invalidate of memory that the host has not written, mapped once for ever.
pub fn persistent_mapping(p: &Program) {
    let b = p.buffer("b", 1 << 16, CACHED);
    for round in 1..5 {
        let fill = p.record(|c| {
            p.fill(c, &b, round);
            p.to_host(c);
        });
        p.run(fill);
        p.invalidate(&b, 0, ALL);
        assert_eq!(b.sum(), round << 14);
    }
}

/// Whoever asks until the work is done was told, and may invalidate and read.
pub fn told_by_a_status(p: &Program) {
    let b = p.buffer("b", 8192, CACHED);
    for round in 1..4u32 {
        let fence = p.submit(p.record(|c| {
            p.fill(c, &b, round);
            p.to_host(c);
        }));
        // SAFETY: a live handle.
        while !unsafe { p.v.device.get_fence_status(fence).unwrap() } {
            p.invalidate(&b, 0, ALL);
        }
        p.invalidate(&b, 0, ALL);
        assert_eq!(b.sum(), round << 11);
        p.wait(fence);
    }
}

/// An invalidate of all of the memory while work on half of it is pending shows the other half, and leaves
/// what the host has there.
pub fn invalidate_beside_pending_work(p: &Program) {
    let b = p.buffer("b", 16384, CACHED);
    let fill = |offset, word| {
        p.record(|c| {
            // SAFETY: live handles.
            unsafe { p.v.device.cmd_fill_buffer(c, b.buffer, offset, 8192, word) };
            p.to_host(c);
        })
    };
    for round in 1..5 {
        p.run(fill(0, round));
        let fence = p.submit(fill(8192, round + 10));
        if round % 2 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        p.invalidate(&b, 0, ALL);
        assert_eq!([b.get(0), b.get(8188)], [round; 2]);
        p.wait(fence);
        p.invalidate(&b, 8192, 8192);
        assert_eq!([b.get(8188), b.get(8192), b.get(16380)], [round, round + 10, round + 10]);
    }
}
