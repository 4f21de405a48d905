//! What looking at the host costs: `cargo bench -p pellucid-icd --bench host_access [DRIVER...]`.
//!
//! Each driver (this build's, and those named) runs in processes of its own, in each mode: a submission and a
//! wait with 64 MiB mapped and idle, and a program that writes all of them between submissions, or three
//! bytes of each word, on coherent and on non-coherent memory.
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
        let mut written = |write: &dyn Fn(u8)| {
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
        let (bytes, words) = (written(&fill), written(&words));
        let [idle, bytes, words] = [idle, bytes, words].map(|time| time.as_nanos() as f64 / 1e3);
        println!(
            "    type {index} {coherent:5}: idle {idle:8.1} us, written {:8.1} ms, three bytes of each word {:8.1} ms",
            bytes / 1e3,
            words / 1e3
        );
        // SAFETY: valid usage.
        unsafe {
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
            println!(
                "{} {mode} (memory type, coherent):",
                if driver.is_empty() { "this build" } else { &driver }
            );
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.env(PART, &driver).env("PELLUCID_MODE", mode);
            assert!(command.status().unwrap().success(), "{driver}");
        }
    }
}
