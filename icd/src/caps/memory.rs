//! Memory heaps and types (*Device Memory Properties*).
//!
//! Two heaps: one device-local, one not. The order of types is the one that the specification asks for: a
//! type comes before every type whose properties are a strict superset of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk::{self, MemoryPropertyFlags as P};

/// The heaps' flags.
pub const HEAPS: [vk::MemoryHeapFlags; 2] = [vk::MemoryHeapFlags::DEVICE_LOCAL, vk::MemoryHeapFlags::empty()];

/// The device address of the first byte of each heap.
pub const BASES: [u64; 2] = [0x0001_0000_0000, 0x4001_0000_0000];

/// The device address of the first byte of the first sparse resource.
pub const SPARSE_BASE: u64 = 0x2001_0000_0000;

/// `sparseAddressSpaceSize`, in bytes.
pub const SPARSE_ADDRESS_SPACE: u64 = 1 << 40;

/// Bytes of a sparse block: what is bound is that large and aligned.
pub const SPARSE_BLOCK: u64 = 1 << 16;

/// Bytes of a row of a sparse image block: a page.
pub const SPARSE_ROW: u64 = 1 << 12;

/// Bytes in use on each heap, by all devices of all instances of the process.
pub static USAGE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Takes bytes of a heap of `size` bytes; false, and nothing taken, if too few are left.
pub fn take(heap: usize, size: u64, bytes: u64) -> bool {
    let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= size);
    USAGE[heap].fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// Gives bytes of a heap back.
pub fn give(heap: usize, bytes: u64) {
    USAGE[heap].fetch_sub(bytes, Ordering::Relaxed);
}

/// Types: properties and heap. `coherent`: all that is host-visible is HOST_COHERENT.
pub fn types(coherent: bool) -> [(P, u32); 6] {
    let cached = P::HOST_VISIBLE | P::HOST_CACHED;
    [
        (P::DEVICE_LOCAL, 0),
        (P::HOST_VISIBLE | P::HOST_COHERENT, 1),
        (P::DEVICE_LOCAL | P::HOST_VISIBLE | P::HOST_COHERENT, 0),
        (if coherent { cached | P::HOST_COHERENT } else { cached }, 1),
        (P::DEVICE_LOCAL | P::LAZILY_ALLOCATED, 0),
        (cached | P::HOST_COHERENT, 1),
    ]
}

/// `memoryTypeBits` of buffers and ordinary images.
pub const ORDINARY: u32 = 0b10_1111;
/// `memoryTypeBits` of sparse resources: what the host cannot map. In check mode a byte is known by its
/// address in the resource, and the host would write it by another.
pub const SPARSE: u32 = 0b1;
/// `minImportedHostPointerAlignment`, in bytes.
pub const POINTER_ALIGNMENT: u64 = 4096;
/// `memoryTypeBits` of the application's own memory: the types that are coherent on every profile.
pub const APPLICATION: u32 = 0b10_0110;
/// `memoryTypeBits` of images with transient attachment usage.
pub const TRANSIENT: u32 = 0b11_1111;

/// Bytes of each heap: half of the machine's memory, in whole 64 MiB.
pub fn heap_size() -> u64 {
    // SAFETY: these queries have no precondition.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let total = u64::try_from(pages).unwrap_or(0) * u64::try_from(page).unwrap_or(0);
    (total / 2 / (64 << 20) * (64 << 20)).max(1 << 30)
}

/// VkPhysicalDeviceMemoryProperties.
pub fn properties(heap_size: u64, coherent: bool) -> vk::PhysicalDeviceMemoryProperties {
    let types = types(coherent);
    let mut out = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: types.len() as u32,
        memory_heap_count: HEAPS.len() as u32,
        ..Default::default()
    };
    for (slot, (property_flags, heap_index)) in out.memory_types.iter_mut().zip(types) {
        *slot = vk::MemoryType { property_flags, heap_index };
    }
    for (slot, flags) in out.memory_heaps.iter_mut().zip(HEAPS) {
        *slot = vk::MemoryHeap { size: heap_size, flags };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_comes_after_a_strict_superset() {
        for types in [types(false), types(true)] {
            for (i, (x, _)) in types.iter().enumerate() {
                for (y, _) in &types[..i] {
                    assert!(!(y.contains(*x) && y != x), "{y:?} comes before its subset {x:?}");
                }
            }
        }
    }

    #[test]
    fn device_local_types_sit_on_the_device_local_heap() {
        for (flags, heap) in types(false) {
            assert_eq!(
                flags.contains(P::DEVICE_LOCAL),
                HEAPS[heap as usize].contains(vk::MemoryHeapFlags::DEVICE_LOCAL)
            );
        }
    }
}
