//! VkDeviceMemory.

mod sparse;

use crate::boundary::{creates, destroys, entries};
use crate::caps::later::ZERO_INITIALIZE;
use crate::caps::limits;
use crate::caps::memory;
use crate::check::calls;
use crate::check::hazards::Hazards;
use crate::check::host::Mappable;
use crate::device::Device;
use crate::entry::destroy::{bytes_ended, destroy};
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::commands::Range;
use pellucid_memory::device::{ATOM, Allocation, HostMemory};
use pellucid_memory::heap::{HeapError, Placement};
use pellucid_memory::shared::MemoryFile;
use std::ffi::c_void;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Device memory. Freeing ends the handle; the bytes stay until nothing bound to them is in use.
pub struct DeviceMemory {
    /// Whose bytes it uses up; `None`: it is a sparse resource's, and has addresses alone.
    heap: Option<usize>,
    /// The host can map it.
    pub host_visible: bool,
    /// Its type is HOST_COHERENT.
    pub coherent: bool,
    lazy: bool,
    handle: OnceLock<vk::DeviceMemory>,
    bytes: Arc<Allocation>,
    mapped: Mutex<Option<(u64, u64)>>,
    /// The host had a part of it mapped at some time.
    was_mapped: AtomicBool,
    freed: AtomicBool,
    /// Forgets the accesses when the bytes end: their addresses may become another allocation's.
    hazards: Option<Arc<Hazards>>,
    /// Others may access it, too.
    external: bool,
    /// The file that may be exported.
    exported: Option<Arc<MemoryFile>>,
    /// The memory of the sparse resources that parts of it were bound to.
    sparse: Mutex<Vec<Weak<DeviceMemory>>>,
    /// It is the memory of a sparse resource with SPARSE_ALIASED.
    aliased: bool,
}

/// Where memory comes from.
enum Source {
    /// From nowhere: it is new.
    New,
    /// VkImportMemoryFdInfoKHR.
    File(Arc<MemoryFile>),
    /// VkImportMemoryHostPointerInfoEXT.
    Pointer(*mut u8),
}

/// Where the memory is to come from that this chain asks for, and whether it is to be exported.
///
/// # Errors
/// There is no such memory.
///
/// # Safety
/// The chain is the application's.
unsafe fn source(info: &vk::MemoryAllocateInfo<'_>) -> Outcome<(Source, bool)> {
    use vk::ExternalMemoryHandleTypeFlags as Types;
    let refused = |what: &str, types: Types| {
        let text = format!("not implemented in Pellucid: memory that is {what} as {types:?}");
        Err(Error::new(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, text))
    };
    // SAFETY: the contract.
    let (export, import, pointer) = unsafe {
        (
            ffi::find::<vk::ExportMemoryAllocateInfo<'_>>(info.p_next),
            ffi::find::<vk::ImportMemoryFdInfoKHR<'_>>(info.p_next).filter(|i| !i.handle_type.is_empty()),
            ffi::find::<vk::ImportMemoryHostPointerInfoEXT<'_>>(info.p_next)
                .filter(|i| !i.handle_type.is_empty()),
        )
    };
    let exports = export.map_or(Types::empty(), |export| export.handle_types);
    if !(exports & !Types::OPAQUE_FD).is_empty() {
        return refused("exported", exports);
    }
    let source = match (import, pointer) {
        (Some(import), _) if import.handle_type != Types::OPAQUE_FD => {
            return refused("imported", import.handle_type);
        }
        (Some(import), _) => {
            let invalid =
                |error: HeapError| Error::new(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, error.to_string());
            // SAFETY: the contract.
            let file = MemoryFile::import(unsafe { ffi::descriptor(import.fd) }?).map_err(invalid)?;
            if file.size() < info.allocation_size {
                let text = format!("the memory has {} bytes, and allocationSize is more", file.size());
                return Err(Error::new(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, text));
            }
            Source::File(Arc::new(file))
        }
        (None, Some(import)) => {
            let types = Types::HOST_ALLOCATION_EXT | Types::HOST_MAPPED_FOREIGN_MEMORY_EXT;
            if !types.contains(import.handle_type) {
                return refused("imported", import.handle_type);
            }
            let pointer = import.p_host_pointer;
            let aligned = |at: u64| at.is_multiple_of(memory::POINTER_ALIGNMENT);
            if !aligned(pointer as u64) || !aligned(info.allocation_size) || pointer.is_null() {
                return Err(Error::new(
                    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE,
                    format!("pHostPointer and allocationSize are multiples of {}", memory::POINTER_ALIGNMENT),
                ));
            }
            if memory::APPLICATION & 1u32.checked_shl(info.memory_type_index).unwrap_or(0) == 0 {
                return Err(Error::usage(format!(
                    "memory type {} is not among the memoryTypeBits of a host pointer",
                    info.memory_type_index
                )));
            }
            Source::Pointer(pointer.cast())
        }
        (None, None) => Source::New,
    };
    Ok((source, !exports.is_empty()))
}

/// Where memory is to be: whether its address is captured or replayed.
///
/// # Safety
/// The chain is the application's.
unsafe fn placement(info: &vk::MemoryAllocateInfo<'_>) -> Placement {
    // SAFETY: the contract.
    let (flags, replayed) = unsafe {
        (
            ffi::find::<vk::MemoryAllocateFlagsInfo<'_>>(info.p_next),
            ffi::find::<vk::MemoryOpaqueCaptureAddressAllocateInfo<'_>>(info.p_next),
        )
    };
    let flag = vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
    match replayed.map_or(0, |replayed| replayed.opaque_capture_address) {
        0 if flags.is_some_and(|flags| flags.flags.contains(flag)) => Placement::Captured,
        0 => Placement::Anywhere,
        address => Placement::At(address),
    }
}

object!(DeviceMemory, vk::DeviceMemory, kind::MEMORY);

impl DeviceMemory {
    pub fn handle(&self) -> u64 {
        self.handle.get().map_or(0, |handle| vk::Handle::as_raw(*handle))
    }

    pub fn bytes(&self) -> &Arc<Allocation> {
        &self.bytes
    }

    /// Other processes or the application have it, too.
    pub fn is_external(&self) -> bool {
        self.external
    }

    /// It may be written without a word: others have it, too, or the host has mapped a part of it.
    pub fn is_written_unseen(&self) -> bool {
        self.external || self.was_mapped.load(Ordering::Relaxed)
    }

    /// The host maps a part of it.
    pub fn note_mapped(&self) {
        self.was_mapped.store(true, Ordering::Relaxed);
    }

    /// Nobody but queues writes it.
    pub fn is_device_only(&self) -> bool {
        !self.host_visible && !self.external
    }

    /// A file descriptor of it for somebody else.
    ///
    /// # Errors
    /// It was not allocated to be exported, or the operating system refuses.
    pub fn export(&self) -> Outcome<i32> {
        let file =
            self.exported.as_ref().ok_or_else(|| Error::usage("it was not allocated to be exported"))?;
        let descriptor =
            file.duplicate().map_err(|e| Error::new(vk::Result::ERROR_TOO_MANY_OBJECTS, e.to_string()))?;
        Ok(descriptor.into_raw_fd())
    }

    /// Allocates memory of a type.
    ///
    /// # Errors
    /// The heap is full, or what is imported is nothing of that size.
    ///
    /// # Safety
    /// What is imported of the application is there as long as the memory.
    unsafe fn allocate(
        device: &Arc<Device>,
        size: u64,
        memory_type: usize,
        (source, exports): (Source, bool),
        placement: Placement,
    ) -> Outcome<DeviceMemory> {
        let types = memory::types(device.caps.coherent);
        let Some((flags, heap)) = types.get(memory_type) else {
            return Err(Error::usage(format!("there is no memory type {memory_type}")));
        };
        let heap = *heap as usize;
        let host_visible = flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let system = |error: HeapError| Error::new(vk::Result::ERROR_OUT_OF_HOST_MEMORY, error.to_string());
        let (file, pointer) = match source {
            Source::New if exports => (Some(Arc::new(MemoryFile::new(size).map_err(system)?)), None),
            Source::New => (None, None),
            Source::File(file) => (Some(file), None),
            Source::Pointer(pointer) => (None, Some(pointer)),
        };
        let kind = match flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT) {
            _ if !host_visible || !device.instance.config.mode.modelled() => HostMemory::Flat,
            true => HostMemory::Coherent,
            false => device.instance.config.host_cache().map_or(HostMemory::NonCoherent, HostMemory::Cached),
        };
        // The heaps are one, whatever the number of devices.
        if !memory::take(heap, device.caps.heap_size, size) {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.into());
        }
        let in_heap = &device.heaps[heap];
        let allocated = match (&file, pointer) {
            (Some(file), _) => Allocation::shared(in_heap, placement, size, file.clone()),
            // SAFETY: the contract.
            (None, Some(pointer)) => unsafe { Allocation::of_application(in_heap, placement, pointer, size) },
            (None, None) => Allocation::at(in_heap, size, kind, placement),
        };
        let external = file.is_some() || pointer.is_some();
        let bytes = allocated.map_err(|error| {
            memory::give(heap, size);
            match error {
                HeapError::OutOfMemory { .. } => Error::from(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
                HeapError::Taken { .. } => {
                    Error::new(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, error.to_string())
                }
                HeapError::System { .. } => {
                    Error::new(vk::Result::ERROR_OUT_OF_HOST_MEMORY, error.to_string())
                }
            }
        })?;
        let mut memory = DeviceMemory::of(device, bytes);
        memory.heap = Some(heap);
        memory.host_visible = host_visible;
        memory.coherent = flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT);
        memory.lazy = flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED);
        memory.external = external;
        memory.exported = file.filter(|_| exports);
        Ok(memory)
    }

    /// Bytes of no heap, which only the device reaches.
    fn of(device: &Device, bytes: Arc<Allocation>) -> DeviceMemory {
        DeviceMemory {
            heap: None,
            host_visible: false,
            coherent: false,
            lazy: false,
            handle: OnceLock::new(),
            bytes,
            mapped: Mutex::default(),
            was_mapped: AtomicBool::new(false),
            freed: AtomicBool::new(false),
            hazards: device.hazards.clone(),
            external: false,
            exported: None,
            sparse: Mutex::default(),
            aliased: false,
        }
    }

    /// True once vkFreeMemory ended the handle.
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Relaxed)
    }

    fn range(&self, device: &Device, call: &str, range: &vk::MappedMemoryRange<'_>) -> Outcome<(u64, u64)> {
        let mapped = self.mapped.lock();
        let (start, end) = mapped.ok_or_else(|| Error::usage("the memory is not mapped"))?;
        let stop = if range.size == vk::WHOLE_SIZE { end } else { range.offset.saturating_add(range.size) };
        // An atom that reaches over the end of the mapping is in the range; the allocation cuts it.
        if range.offset < start || range.offset > end || stop > self.bytes.size() {
            return Err(Error::usage(format!(
                "range {}..{stop} is not inside the mapped range {start}..{end}",
                range.offset
            )));
        }
        if stop > end.next_multiple_of(ATOM) {
            let text =
                format!("{call}: range {}..{stop} goes over the mapped range {start}..{end}", range.offset);
            device.instance.misuse(&text);
        }
        // The end of the memory, and that of the mapping, need no alignment.
        let ends = stop == self.bytes.size() || range.size == vk::WHOLE_SIZE;
        let aligned = range.offset.is_multiple_of(ATOM) && (ends || range.size.is_multiple_of(ATOM));
        if !self.coherent && !aligned {
            let text = format!(
                "{call}: range {}..{stop} is not in units of nonCoherentAtomSize, {ATOM} bytes",
                range.offset
            );
            device.instance.misuse(&text);
        }
        Ok((range.offset, stop.saturating_sub(range.offset)))
    }

    /// Maps `size` bytes (or VK_WHOLE_SIZE) from `offset`. Where that is, and which bytes of the memory.
    fn map(&self, offset: u64, size: u64) -> Outcome<(*mut c_void, std::ops::Range<u64>)> {
        let failed = |text: &str| Error::new(vk::Result::ERROR_MEMORY_MAP_FAILED, text);
        if !self.host_visible {
            return Err(failed("the memory's type is not HOST_VISIBLE"));
        }
        let end = if size == vk::WHOLE_SIZE { self.bytes.size() } else { offset.saturating_add(size) };
        if offset >= self.bytes.size() || end > self.bytes.size() || size == 0 {
            let size = self.bytes.size();
            return Err(failed(&format!("{offset}..{end} is not inside the memory's {size} bytes")));
        }
        let mut mapped = self.mapped.lock();
        if mapped.is_some() {
            return Err(failed("the memory is mapped already"));
        }
        let start = self.bytes.map().map_err(|e| failed(&e.to_string()))?;
        *mapped = Some((offset, end));
        Ok((start.wrapping_add(offset as usize).cast(), offset..end))
    }

    fn unmap(&self) -> Outcome<()> {
        let mut mapped = self.mapped.lock();
        mapped.take().map(|_| ()).ok_or_else(|| Error::usage("the memory is not mapped"))
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Some(heap) = self.heap {
            memory::give(heap, self.bytes.size());
        }
        if let Some(hazards) = &self.hazards {
            hazards.forget(self.bytes.address(), self.bytes.size());
        }
    }
}

/// Binds each of several objects; `bind` also gives what extends its structure, where the application may ask
/// how that one went.
///
/// # Errors
/// The first one.
///
/// # Safety
/// The infos are the application's.
pub(crate) unsafe fn bind_each<I>(
    infos: &[I],
    mut bind: impl FnMut(&I) -> (Outcome<()>, *const c_void),
) -> Outcome<()> {
    let mut all = Ok(());
    for info in infos {
        let (outcome, next) = bind(info);
        // SAFETY: the contract.
        unsafe {
            if let Some(status) = ffi::find::<vk::BindMemoryStatusKHR<'_>>(next) {
                let code = outcome.as_ref().map_or_else(|error| error.code, |()| vk::Result::SUCCESS);
                ffi::write(status.p_result, code)?;
            }
        }
        all = all.and(outcome);
    }
    all
}

/// Fills VkMemoryDedicatedRequirements in a chain of outputs: nothing wants memory of its own.
pub(crate) fn no_dedicated<'a>(chain: impl Iterator<Item = ffi::LinkMut<'a>>) {
    for mut link in chain {
        if let Some(dedicated) = link.write::<vk::MemoryDedicatedRequirements<'_>>() {
            dedicated.prefers_dedicated_allocation = vk::FALSE;
            dedicated.requires_dedicated_allocation = vk::FALSE;
        }
    }
}

/// Maps memory from an offset on, so many bytes, in one of the calls that do. Where that is.
fn map(
    device: &Device,
    call: &'static str,
    memory: vk::DeviceMemory,
    (offset, size): (u64, u64),
) -> Outcome<*mut c_void> {
    let memory = handle::get::<DeviceMemory>(memory)?;
    let (start, bytes) = memory.map(offset, size)?;
    calls::map(device, call, &memory, &bytes);
    Ok(start)
}

/// Flushes or invalidates ranges of mapped memory.
fn each_range(
    device: &Device,
    call: &'static str,
    ranges: &[vk::MappedMemoryRange<'_>],
    does: impl Fn(&Device, &DeviceMemory, (u64, u64)),
) -> Outcome<()> {
    ranges.iter().try_for_each(|range| {
        let memory = handle::get::<DeviceMemory>(range.memory)?;
        let place = memory.range(device, call, range)?;
        does(device, &memory, place);
        Ok(())
    })
}

creates! {
    fn allocate_memory(device, info: vk::MemoryAllocateInfo<'_>) -> vk::DeviceMemory {
        if info.allocation_size == 0 {
            return Err(Error::usage("allocationSize is 0"));
        }
        if device.allocations.load(Ordering::Relaxed) >= limits::ALLOCATIONS {
            return Err(vk::Result::ERROR_TOO_MANY_OBJECTS.into());
        }
        let memory_type = info.memory_type_index as usize;
        let (size, source, placement) = (info.allocation_size, source(info)?, placement(info));
        let memory = DeviceMemory::allocate(&device, size, memory_type, source, placement)?;
        if let Some(import) = ffi::find::<vk::ImportMemoryFdInfoKHR<'_>>(info.p_next)
            .filter(|import| !import.handle_type.is_empty())
        {
            ffi::take(import.fd);
        }
        let memory = Arc::new(memory);
        device.allocations.fetch_add(1, Ordering::Relaxed);
        // All memory is zero when it is allocated, and of this it is promised.
        let zeroed = ffi::find::<vk::MemoryAllocateFlagsInfo<'_>>(info.p_next)
            .is_some_and(|flags| flags.flags.contains(ZERO_INITIALIZE));
        if let Some(hazards) = &device.hazards {
            // The addresses may have been an inline uniform block's.
            hazards.forget(memory.bytes().address(), memory.bytes().size());
            // What others have, they may write unseen: that counts as written from the start.
            if !zeroed && !memory.external {
                device.unwritten.lock().allocate(memory.bytes().address(), memory.bytes().size());
            }
        }
        let handle = handle::insert(memory.clone());
        let _ = memory.handle.set(handle);
        if let Some(host) = device.host.as_ref().filter(|_| memory.host_visible && !memory.external) {
            let (bytes, handle, coherent) = (&memory.bytes, memory.handle(), memory.coherent);
            host.allocated(Mappable { bytes, handle, coherent, zeroed });
        }
        Ok(handle)
    }
}

destroys! {
    fn free_memory(device, memory: vk::DeviceMemory) {
        calls::synchronize(&device, "vkFreeMemory");
        if let Some(object) = destroy::<DeviceMemory>(&device, memory, "vkFreeMemory")? {
            let bytes = Range::new(object.bytes.address(), object.bytes.size());
            bytes_ended(&device, "vkFreeMemory", memory, &object, bytes);
            object.freed.store(true, Ordering::Relaxed);
            device.unwritten.lock().forget(object.bytes().address(), object.bytes().size());
            device.allocations.fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

entries! {
    fn map_memory(
        device: Arc<Device>,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        _flags: vk::MemoryMapFlags,
        out: &mut *mut c_void,
    ) -> vk::Result {
        *out = map(&device, "vkMapMemory", memory, (offset, size))?;
        Ok(())
    }

    /// vkMapMemory2KHR.
    fn map_memory2(
        device: Arc<Device>,
        info: &vk::MemoryMapInfoKHR<'_>,
        out: &mut *mut c_void,
    ) -> vk::Result {
        *out = map(&device, "vkMapMemory2KHR", info.memory, (info.offset, info.size))?;
        Ok(())
    }

    fn unmap_memory(device: Arc<Device>, memory: Arc<DeviceMemory>) {
        calls::synchronize(&device, "vkUnmapMemory");
        memory.unmap()
    }

    /// vkUnmapMemory2KHR.
    fn unmap_memory2(device: Arc<Device>, info: &vk::MemoryUnmapInfoKHR<'_>) -> vk::Result {
        let memory = handle::get::<DeviceMemory>(info.memory)?;
        calls::synchronize(&device, "vkUnmapMemory2KHR");
        memory.unmap()
    }

    fn flush_mapped_memory_ranges(device: Arc<Device>, ranges: &[vk::MappedMemoryRange<'_>]) -> vk::Result {
        each_range(&device, "vkFlushMappedMemoryRanges", ranges, calls::flush)
    }

    fn invalidate_mapped_memory_ranges(device: Arc<Device>, ranges: &[vk::MappedMemoryRange<'_>]) -> vk::Result {
        each_range(&device, "vkInvalidateMappedMemoryRanges", ranges, calls::invalidate)
    }

    /// vkSetDeviceMemoryPriorityEXT: all memory is as near.
    fn set_device_memory_priority(_device: Arc<Device>, _memory: Arc<DeviceMemory>, _priority: f32) {
        Ok(())
    }

    fn get_device_memory_commitment(
        _device: Arc<Device>,
        memory: Arc<DeviceMemory>,
        out: *mut vk::DeviceSize,
    ) {
        let size = memory.bytes.size();
        ffi::write(out, if memory.lazy { memory.bytes.committed().min(size) } else { size })
    }

    fn get_device_memory_opaque_capture_address(
        _device: Arc<Device>,
        info: &vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>,
    ) -> u64 {
        Ok(handle::get::<DeviceMemory>(info.memory)?.bytes.address())
    }
}
