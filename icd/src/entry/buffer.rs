//! VkBuffer.

use crate::boundary::{creates, destroys, entries};
use crate::caps::external::check_types;
use crate::caps::{BIND_ALIGNMENT, memory};
use crate::check::ownership::{Place, Resource, Sharing};
use crate::described::Creation;
use crate::device::Device;
use crate::entry::destroy::{bytes_ended, destroy};
use crate::entry::memory::{DeviceMemory, bind_each, no_dedicated};
use crate::entry::sparse;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::Range;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::heap::Placement;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub struct Buffer {
    /// Bytes.
    pub size: u64,
    pub flags: vk::BufferCreateFlags,
    pub usage: vk::BufferUsageFlags,
    /// Which queue families may access it.
    pub sharing: Sharing,
    /// Its handle, for messages.
    pub handle: AtomicU64,
    binding: OnceLock<(Arc<DeviceMemory>, u64)>,
    /// The address that it has to have, which was captured; 0: any.
    captured: u64,
}

object!(Buffer, vk::Buffer, kind::BUFFER);

impl Buffer {
    /// The memory that it is bound to, and where.
    ///
    /// # Errors
    /// It is not bound.
    pub fn memory(&self) -> Outcome<(&Arc<DeviceMemory>, u64)> {
        self.binding
            .get()
            .map(|(memory, offset)| (memory, *offset))
            .ok_or_else(|| Error::usage(format!("VkBuffer {:#x} is not bound to memory", self.handle())))
    }

    pub fn handle(&self) -> u64 {
        self.handle.load(Ordering::Relaxed)
    }

    /// Where it is, once it is bound to memory.
    pub fn place(&self) -> Option<Place> {
        let (memory, base) = self.binding.get()?;
        let sharing = self.sharing.seen(memory.is_device_only());
        let resource = Resource { kind: vk::ObjectType::BUFFER, handle: self.handle(), sharing };
        Some(Place { bytes: Range::new(memory.bytes().address() + base, self.size), resource })
    }

    /// Where the buffer is that has these device addresses, if one alone has.
    pub fn at(device: &Device, bytes: Range) -> Option<Place> {
        handle::get::<Buffer>(vk::Handle::from_raw(device.addresses.only(bytes)?)).ok()?.place()
    }

    /// True if it is, or is bound to, the object at `object`.
    pub fn is_or_uses(self: &Arc<Self>, object: *const ()) -> bool {
        Arc::as_ptr(self).cast::<()>() == object
            || self.binding.get().is_some_and(|(m, _)| Arc::as_ptr(m).cast::<()>() == object)
    }

    /// The addresses of `size` bytes (or VK_WHOLE_SIZE) from `offset`, cut to the buffer, if it is bound to
    /// the object at `memory`.
    pub fn bytes_of(&self, memory: *const (), offset: u64, size: u64) -> Option<Range> {
        let (bound, base) = self.binding.get().filter(|(m, _)| Arc::as_ptr(m).cast::<()>() == memory)?;
        let offset = offset.min(self.size);
        Some(Range::new(bound.bytes().address() + base + offset, size.min(self.size - offset)))
    }

    /// `range` bytes (or VK_WHOLE_SIZE) from `offset`, cut to the buffer.
    pub fn range(&self, offset: u64, range: u64, reference: Reference) -> MemoryRange {
        match self.binding.get() {
            Some((memory, base)) if offset <= self.size => {
                MemoryRange::new(memory.bytes(), base + offset, range.min(self.size - offset), reference)
            }
            _ => MemoryRange::NULL,
        }
    }

    fn requirements(size: u64, flags: vk::BufferCreateFlags) -> vk::MemoryRequirements {
        if flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            return sparse::requirements(size);
        }
        vk::MemoryRequirements {
            size: size.next_multiple_of(BIND_ALIGNMENT),
            alignment: BIND_ALIGNMENT,
            memory_type_bits: memory::ORDINARY,
        }
    }

    fn bind(self: &Arc<Self>, device: &Device, memory: vk::DeviceMemory, offset: u64) -> Outcome<()> {
        let memory = handle::get::<DeviceMemory>(memory)?;
        if self.sparse().is_some() {
            return Err(Error::usage("memory is bound to a sparse buffer by vkQueueBindSparse"));
        }
        let needs = Buffer::requirements(self.size, self.flags);
        if !offset.is_multiple_of(BIND_ALIGNMENT) || offset.saturating_add(needs.size) > memory.bytes().size()
        {
            return Err(Error::usage(format!(
                "a buffer that needs {} bytes does not fit at offset {offset} of {} bytes of memory",
                needs.size,
                memory.bytes().size()
            )));
        }
        self.bind_to(device, memory, offset)
    }

    /// The memory of a sparse buffer.
    pub fn sparse(&self) -> Option<&Arc<DeviceMemory>> {
        self.binding.get().map(|(memory, _)| memory).filter(|memory| memory.is_sparse())
    }

    fn bind_to(&self, device: &Device, memory: Arc<DeviceMemory>, offset: u64) -> Outcome<()> {
        let needs = Buffer::requirements(self.size, self.flags);
        let address = memory.bytes().address() + offset;
        if self.captured != 0 && self.captured != address {
            let text = format!("the buffer has the captured address {:#x}, not {address:#x}", self.captured);
            return Err(Error::new(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, text));
        }
        self.binding.set((memory, offset)).map_err(|_| Error::usage("the buffer is bound already"))?;
        if self.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            // Where nobody checks, all that the buffer's memory must have may be accessed, as elsewhere.
            let size = if device.checked.is_some() { self.size } else { needs.size };
            if let Some((memory, offset)) = self.binding.get() {
                let range = MemoryRange::new(memory.bytes(), *offset, size, Reference::PHYSICAL);
                device.addresses.add(self.handle(), range);
            }
        }
        Ok(())
    }
}

/// How a buffer or image is shared that is created with this mode and so many queue families; `preserved`: an
/// exclusive one needs no transfers.
///
/// # Safety
/// With VK_SHARING_MODE_CONCURRENT the pointer is to so many numbers; otherwise it is ignored.
pub unsafe fn sharing(
    device: &Device,
    (mode, count, families): (vk::SharingMode, u32, *const u32),
    preserved: bool,
) -> Sharing {
    if mode != vk::SharingMode::CONCURRENT {
        return if preserved { Sharing::Preserved } else { Sharing::Exclusive };
    }
    // SAFETY: the contract.
    let (sharing, wrong) = Sharing::concurrent(unsafe { ffi::slice(families, count) });
    if let Some(wrong) = wrong {
        device.instance.misuse(&wrong);
    }
    sharing
}

creates! {
    fn create_buffer(device, info: vk::BufferCreateInfo<'_>) -> vk::Buffer {
        sparse::check_flags(vk::ImageCreateFlags::from_raw(info.flags.as_raw()))?;
        if info.size == 0 {
            return Err(Error::usage("size is 0"));
        }
        let external = ffi::find::<vk::ExternalMemoryBufferCreateInfo<'_>>(info.p_next);
        check_types("buffers", external.map_or_else(Default::default, |e| e.handle_types))?;
        let usage = ffi::find::<vk::BufferUsageFlags2CreateInfoKHR<'_>>(info.p_next)
            .map_or(info.usage, |two| vk::BufferUsageFlags::from_raw(two.usage.as_raw() as u32));
        if info.size > device.caps.heap_size {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.into());
        }
        let captured = ffi::find::<vk::BufferOpaqueCaptureAddressCreateInfo<'_>>(info.p_next)
            .map_or(0, |captured| captured.opaque_capture_address);
        // Of sparse buffers alone: others are where their memory is.
        let described = info.flags.contains(vk::BufferCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
        let placement = match (captured, Creation::of(described, info.p_next)?) {
            (0, Creation::Replayed(address @ 1..)) => Placement::At(address),
            (0, Creation::Captured) => Placement::Captured,
            (0, _) if info.flags.contains(vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY) => {
                Placement::Captured
            }
            (0, _) => Placement::Anywhere,
            (address, _) => Placement::At(address),
        };
        let sparse = match info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            true => {
                let aliased = info.flags.contains(vk::BufferCreateFlags::SPARSE_ALIASED);
                Some(Arc::new(DeviceMemory::sparse(&device, placement, info.size, aliased)?))
            }
            false => None,
        };
        let buffer = Arc::new(Buffer {
            size: info.size,
            flags: info.flags,
            usage,
            sharing: sharing(
                &device,
                (info.sharing_mode, info.queue_family_index_count, info.p_queue_family_indices),
                device.slices,
            ),
            handle: AtomicU64::new(0),
            binding: OnceLock::new(),
            captured,
        });
        let handle = handle::insert(buffer.clone());
        buffer.handle.store(vk::Handle::as_raw(handle), Ordering::Relaxed);
        if let Some(memory) = sparse {
            if !info.flags.contains(vk::BufferCreateFlags::SPARSE_RESIDENCY) {
                memory.must_be_whole(&device, (vk::ObjectType::BUFFER, buffer.handle()));
            }
            buffer.bind_to(&device, memory, 0)?;
        }
        Ok(handle)
    }
}

destroys! {
    fn destroy_buffer(device, buffer: vk::Buffer) {
        if let Some(object) = destroy::<Buffer>(&device, buffer, "vkDestroyBuffer")?
            && let Some((memory, offset)) = object.binding.get()
            && object.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
        {
            let bytes = Range::new(memory.bytes().address() + offset, object.size);
            device.addresses.remove(object.handle(), bytes.start);
            // What another buffer shows as well may be used through that.
            let live = device.addresses.all();
            if !live.iter().any(|other| bytes.meets(Range::new(other.address(), other.size()))) {
                bytes_ended(&device, "vkDestroyBuffer", buffer, &object, bytes);
            }
        }
        Ok(())
    }
}

entries! {
    fn bind_buffer_memory(
        device: Arc<Device>,
        buffer: Arc<Buffer>,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
    ) -> vk::Result {
        buffer.bind(&device, memory, offset)
    }

    fn bind_buffer_memory2(device: Arc<Device>, infos: &[vk::BindBufferMemoryInfo<'_>]) -> vk::Result {
        bind_each(infos, |info| (
            handle::get::<Buffer>(info.buffer).and_then(|buffer| buffer.bind(&device, info.memory, info.memory_offset)),
            info.p_next,
        ))
    }

    fn get_buffer_memory_requirements(
        _device: Arc<Device>,
        buffer: vk::Buffer,
        out: *mut vk::MemoryRequirements,
    ) {
        // Of an object that is not there the application reads zeros, never what its memory held.
        ffi::write(out, vk::MemoryRequirements::default())?;
        let buffer = handle::get::<Buffer>(buffer)?;
        ffi::write(out, Buffer::requirements(buffer.size, buffer.flags))
    }

    fn get_buffer_memory_requirements2(
        _device: Arc<Device>,
        info: *const vk::BufferMemoryRequirementsInfo2<'_>,
        out: &mut vk::MemoryRequirements2<'_>,
    ) {
        out.memory_requirements = vk::MemoryRequirements::default();
        let buffer = handle::get::<Buffer>(ffi::read(info)?.buffer)?;
        out.memory_requirements = Buffer::requirements(buffer.size, buffer.flags);
        no_dedicated(ffi::chain_mut(out.p_next));
        Ok(())
    }

    fn get_device_buffer_memory_requirements(
        _device: Arc<Device>,
        info: *const vk::DeviceBufferMemoryRequirements<'_>,
        out: &mut vk::MemoryRequirements2<'_>,
    ) {
        let info = ffi::read(ffi::read(info)?.p_create_info)?;
        out.memory_requirements = Buffer::requirements(info.size, info.flags);
        no_dedicated(ffi::chain_mut(out.p_next));
        Ok(())
    }

    fn get_buffer_device_address(_device: Arc<Device>, info: &vk::BufferDeviceAddressInfo<'_>) -> u64 {
        let buffer = handle::get::<Buffer>(info.buffer)?;
        if !buffer.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            return Err(Error::usage("the buffer was not created with SHADER_DEVICE_ADDRESS"));
        }
        let (memory, offset) = buffer.memory()?;
        Ok(memory.bytes().address() + offset)
    }

    /// vkGetBufferOpaqueCaptureAddress: a buffer has the address of its memory.
    fn get_buffer_opaque_capture_address(
        _device: Arc<Device>,
        info: &vk::BufferDeviceAddressInfo<'_>,
    ) -> u64 {
        let buffer = handle::get::<Buffer>(info.buffer)?;
        let (memory, offset) = buffer.memory()?;
        Ok(memory.bytes().address() + offset)
    }
}
