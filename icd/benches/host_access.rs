//! What looking at the host costs: `cargo bench -p pellucid-icd --bench host_access [DRIVER...]`.
//!
//! Each driver (this build's, and those named) runs in processes of its own, in each mode: a submission and a
//! wait with 64 MiB mapped and idle, and a program that writes all of them between submissions, or three
//! bytes of each word, on coherent and on non-coherent memory; then with work that copies 64 bytes of
//! them, and with work that copies all of them.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use ash::vk;
use pellucid_test_host::{Vulkan, linked};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SIZE: u64 = 64 << 20;
const PART: &str = "HOST_ACCESS_BENCH";

/// The median over a second: the first writes to pages cost more, and a value may repeat by chance.
fn median(mut once: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < Duration::from_secs(1) {
        let one = Instant::now();
        once();
        times.push(one.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn part(driver: &str) {
    let v = match driver {
        // SAFETY: the function is the driver's, which follows the specification of vkGetInstanceProcAddr.
        "" => Vulkan::new(unsafe { linked(vulkan_pellucid::vkGetInstanceProcAddr) }).unwrap(),
        path => Vulkan::open(Path::new(path)).unwrap(),
    };
    // SAFETY: live handles.
    let types = unsafe { v.instance.get_physical_device_memory_properties(v.physical) };
    let visible = types
        .memory_types_as_slice()
        .iter()
        .enumerate()
        .filter(|(_, t)| t.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE));
    for (index, kind) in visible {
        let coherent = kind.property_flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT);
        let (buffer, memory, mapped) = v.buffer(SIZE, index as u32).unwrap();
        let (other, ..) = v.buffer(64, 0).unwrap();
        // SAFETY: the mapping has that many bytes, and no work is pending that uses them.
        let fill = |byte: u8| unsafe { mapped.write_bytes(byte, SIZE as usize) };
        // Of each word one byte stays.
        // SAFETY: the mapping has that many words, and no work is pending that uses them.
        let words = |byte: u8| unsafe {
            let words = std::slice::from_raw_parts_mut(mapped.cast::<u32>(), SIZE as usize / 4);
            words.fill(0x3f00_0000 | (u32::from(byte) * 0x1_0101));
        };
        // SAFETY: valid usage.
        let commands = v.record(|c| unsafe { v.device.cmd_fill_buffer(c, other, 0, 64, 1) }).unwrap();
        fill(1);
        v.run(commands).unwrap();
        let idle = median(|| v.run(commands).unwrap());
        let mut byte = 1u8;
        let (target, target_memory, _) = v.buffer(SIZE, 0).unwrap();
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
        let (transfer, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
        let copy = |size| {
            let region = [vk::BufferCopy::default().size(size)];
            // SAFETY: valid usage.
            let copy = |c| unsafe {
                v.device.cmd_pipeline_barrier(c, transfer, transfer, none, &[barrier], &[], &[]);
                v.device.cmd_copy_buffer(c, buffer, target, &region);
            };
            v.record(copy).unwrap()
        };
        let (some, all) = (copy(64), copy(SIZE));
        let mut written = |write: &dyn Fn(u8), commands| {
            write(byte);
            median(|| {
                byte = byte.wrapping_add(1);
                write(byte);
                if !coherent {
                    let range = [vk::MappedMemoryRange::default().memory(memory).size(vk::WHOLE_SIZE)];
                    // SAFETY: valid usage.
                    unsafe { v.device.flush_mapped_memory_ranges(&range).unwrap() };
                }
                v.run(commands).unwrap();
            })
        };
        println!("    type {index}{}:", if coherent { ", coherent" } else { "" });
        println!("        idle                      {:8.1} us", idle.as_nanos() as f64 / 1e3);
        let parts = [
            ("written", &fill as &dyn Fn(u8), commands),
            ("three bytes of each word", &words, commands),
            ("written, and 64 bytes used", &fill, some),
            ("written, and all used", &fill, all),
        ];
        for (name, write, commands) in parts {
            println!("        {name:26}{:8.1} ms", written(write, commands).as_nanos() as f64 / 1e6);
        }
        // SAFETY: valid usage.
        unsafe {
            v.device.destroy_buffer(target, None);
            v.device.free_memory(target_memory, None);
            v.device.destroy_buffer(buffer, None);
            v.device.free_memory(memory, None);
        }
    }
}

fn main() {
    if let Ok(driver) = std::env::var(PART) {
        return part(&driver);
    }
    let named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    for driver in std::iter::once(String::new()).chain(named) {
        for mode in ["run", "check"] {
            println!("{} {mode}:", if driver.is_empty() { "this build" } else { &driver });
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.env(PART, &driver).env("PELLUCID_MODE", mode);
            assert!(command.status().unwrap().success(), "{driver}");
        }
    }
}
