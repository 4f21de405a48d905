//! Programs that write much memory, which is left alone while no pending work uses it: `wrong` says whether
//! they make a mistake afterwards.

use crate::common::Spin;
use crate::program::{Buffer, COHERENT, Program};
use ash::vk;
use std::time::Duration;

const SIZE: u64 = 4 << 20;
/// Memory that only the device reaches.
const DEVICE: u32 = 0;

/// A large buffer that was written between submissions that do not use it.
pub fn large(p: &Program) -> Buffer {
    let (b, other) = (p.buffer("large", SIZE, COHERENT), p.buffer("other", 64, DEVICE));
    let idle = p.record(|c| p.fill(c, &other, 1));
    for round in 1..5 {
        b.put_all(round);
        p.run(idle);
        idle_barrier(p);
    }
    b
}

/// What the idle work did is ordered before what comes.
fn idle_barrier(p: &Program) {
    let transfer = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
    p.run(p.record(|c| p.barrier(c, transfer, transfer)));
}

/// Submits commands, and writes these bytes after the wait, or before it.
fn write_beside(p: &Program, b: &Buffer, commands: vk::CommandBuffer, early: bool, bytes: (u64, &[u8])) {
    let fence = p.submit(commands);
    if early {
        b.put(bytes.0, bytes.1);
        p.wait(fence);
    } else {
        p.wait(fence);
        b.put(bytes.0, bytes.1);
    }
}

/// Commands that copy the first bytes to memory of the device.
fn copy_of_first(p: &Program, b: &Buffer, bytes: u64) -> vk::CommandBuffer {
    let target = p.buffer("target", bytes, DEVICE);
    p.record(|c| p.copy(c, b, &target))
}

/// All of it is staging memory, which is written for each round.
pub fn staging(p: &Program, wrong: bool) {
    let b = large(p);
    let target = p.buffer("target", SIZE, DEVICE);
    let transfer = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
    let commands = p.record(|c| {
        p.barrier(c, transfer, transfer);
        p.copy(c, &b, &target);
    });
    for round in 10..13 {
        b.put_all(round);
        p.run(commands);
    }
    write_beside(p, &b, commands, wrong, (SIZE - 5, &[1; 3]));
}

/// The pending work reads half of the page that the host goes on to write.
pub fn beside_a_copy(p: &Program, wrong: bool) {
    let b = large(p);
    b.put_all(77);
    let at = if wrong { 2047 } else { 2048 };
    write_beside(p, &b, copy_of_first(p, &b, 2048), true, (at, &[1; 100]));
}

/// Much is written beside the bytes that pending work reads.
pub fn much_beside_a_copy(p: &Program, wrong: bool) {
    let b = large(p);
    b.put_all(77);
    let bytes = vec![3; 3 << 20];
    let at = if wrong { 2047 } else { 2048 };
    write_beside(p, &b, copy_of_first(p, &b, 2048), true, (at, &bytes));
}

/// The pending work reads it by a descriptor, of a binding of which not all has to be bound, or by its
/// address.
fn dispatched(p: &Program, wrong: bool, spin: &Spin, set: impl FnOnce(&Buffer) -> vk::DescriptorSet) {
    let b = large(p);
    let set = set(&b);
    let commands = p.record(|c| {
        spin.record(&p.v, c, set, b.buffer, 1);
        p.to_host(c);
    });
    let fence = p.submit(commands);
    if wrong {
        // Of a write that the work overwrites as it goes nothing is left to see.
        std::thread::sleep(Duration::from_millis(10));
        b.put(0, &[9; 3]);
        p.wait(fence);
    } else {
        p.wait(fence);
        b.put(0, &[9; 3]);
    }
}

pub fn by_a_descriptor(p: &Program, wrong: bool) {
    let spin = Spin::with_flags(&p.v, false, vk::DescriptorBindingFlags::PARTIALLY_BOUND);
    dispatched(p, wrong, &spin, |b| {
        let (_, set) = spin.set(&p.v);
        spin.update(&p.v, set, b.buffer);
        set
    });
}

pub fn by_address(p: &Program, wrong: bool) {
    let spin = Spin::new(&p.v, true);
    dispatched(p, wrong, &spin, |_| vk::DescriptorSet::null());
}

/// The device writes it, and the host all of it after the wait.
pub fn without_a_barrier(p: &Program, wrong: bool) {
    let b = large(p);
    let commands = p.record(|c| {
        p.fill(c, &b, 7);
        if !wrong {
            p.to_host(c);
        }
    });
    p.run(commands);
    b.put_all(9);
}
