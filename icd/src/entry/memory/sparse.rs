//! Memory of sparse resources: addresses alone, at which other memory is bound.

use super::DeviceMemory;
use crate::caps::memory;
use crate::device::Device;
use crate::error::{Error, Outcome};
use ash::vk;
use pellucid_memory::device::Allocation;
use pellucid_memory::heap::{HeapError, Placement};
use std::ops::Range;
use std::sync::{Arc, Weak};

impl DeviceMemory {
    /// The addresses of a sparse resource, at which vkQueueBindSparse binds memory; what is bound may be
    /// bound to others that are `aliased`, too.
    ///
    /// # Errors
    /// There are not so many addresses left, or the operating system refuses.
    pub fn sparse(device: &Device, placement: Placement, size: u64, aliased: bool) -> Outcome<DeviceMemory> {
        let out = |error| match error {
            HeapError::Taken { .. } => {
                Error::new(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, error.to_string())
            }
            _ => Error::from(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
        };
        let addresses = device.sparse_addresses().map_err(out)?;
        let size = size.next_multiple_of(memory::SPARSE_BLOCK);
        let bytes = Allocation::sparse(addresses, placement, size).map_err(out)?;
        // The addresses may have been another resource's.
        device.unwritten.lock().forget(bytes.address(), bytes.size());
        if let Some(hazards) = &device.hazards {
            hazards.sparse(bytes.address(), bytes.size());
        }
        let mut memory = DeviceMemory::of(device, bytes);
        memory.aliased = aliased;
        Ok(memory)
    }

    /// Parts of it are about to be bound to a sparse resource.
    pub fn bind_sparse(&self, resource: &Arc<DeviceMemory>) {
        let mut all = self.sparse.lock();
        all.retain(|other| other.strong_count() > 0);
        if !all.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(resource))) {
            all.push(Arc::downgrade(resource));
        }
    }

    /// Whether some of these bytes are bound at two places, of which not both are of resources with
    /// SPARSE_ALIASED.
    pub fn is_bound_twice(&self, bytes: &Range<u64>) -> bool {
        let all = self.sparse.lock();
        let mut parts = Vec::new();
        for resource in all.iter().filter_map(Weak::upgrade) {
            let bound = resource.bytes.bound_of(&self.bytes, bytes);
            parts.extend(bound.into_iter().map(|part| (part.start, part.end, resource.aliased)));
        }
        parts.sort_unstable();
        // How far those before reach, and how far those of them reach that must be alone.
        let (mut reached, mut alone) = (0, 0);
        parts.into_iter().any(|(start, end, aliased)| {
            let twice = start < if aliased { alone } else { reached };
            reached = reached.max(end);
            if !aliased {
                alone = alone.max(end);
            }
            twice
        })
    }

    /// It is the memory of this sparse resource, which has to be bound as a whole before it is used.
    pub fn must_be_whole(&self, device: &Device, resource: (vk::ObjectType, u64)) {
        if device.hazards.is_some() {
            device.sparse_whole.lock().push((Arc::downgrade(&self.bytes), resource));
        }
    }

    /// It is the memory of a sparse resource with SPARSE_ALIASED.
    pub fn is_aliased(&self) -> bool {
        self.aliased
    }

    /// It is a sparse resource's: other memory is bound to it.
    pub fn is_sparse(&self) -> bool {
        self.heap.is_none()
    }
}
