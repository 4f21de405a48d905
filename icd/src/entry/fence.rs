//! VkFence.

use crate::boundary::entries;
use crate::entry::destroy::destroy;
use crate::entry::device::Device;
use crate::entry::kind;
use crate::ffi;
use crate::handle::{self, object};
use crate::queue::completion::Told;
use crate::queue::progress::deadline;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A fence.
pub struct Fence {
    signaled: AtomicBool,
    /// What it tells whoever sees it signaled.
    pub told: Told,
}

object!(Fence, vk::Fence, kind::FENCE);

impl Fence {
    /// Signals it. The caller notifies the device's progress.
    pub fn signal(&self) {
        self.signaled.store(true, Ordering::SeqCst);
    }

    /// True if signaled.
    pub fn is_signaled(&self) -> bool {
        self.signaled.load(Ordering::SeqCst)
    }
}

/// What signaled fences tell the host.
fn saw(device: &Device, fences: &[Arc<Fence>]) {
    for fence in fences.iter().filter(|f| f.is_signaled()) {
        device.completion.host_saw(fence.told.get());
    }
    if let Some(hazards) = &device.hazards {
        for fence in fences.iter().filter(|f| f.is_signaled()) {
            hazards.host_saw_fence(Arc::as_ptr(fence) as usize);
        }
    }
}

entries! {
    /// vkCreateFence.
    fn create_fence(
        device: vk::Device,
        info: *const vk::FenceCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Fence,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let signaled = ffi::read(info)?.flags.contains(vk::FenceCreateFlags::SIGNALED);
        ffi::write(out, handle::insert(Arc::new(Fence { signaled: AtomicBool::new(signaled), told: Told::default() })))
    }

    /// vkDestroyFence.
    fn destroy_fence(device: vk::Device, fence: vk::Fence, _allocator: *const vk::AllocationCallbacks<'_>) {
        destroy::<Fence>(device, fence, "vkDestroyFence")?;
        Ok(())
    }

    /// vkResetFences.
    fn reset_fences(device: vk::Device, count: u32, fences: *const vk::Fence) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        for fence in ffi::slice(fences, count) {
            handle::get::<Fence>(*fence)?.signaled.store(false, Ordering::SeqCst);
        }
        Ok(())
    }

    /// vkGetFenceStatus.
    fn get_fence_status(device: vk::Device, fence: vk::Fence) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let fence = handle::get::<Fence>(fence)?;
        device.alive()?;
        saw(&device, std::slice::from_ref(&fence));
        Ok(if fence.is_signaled() { vk::Result::SUCCESS } else { vk::Result::NOT_READY })
    }

    /// vkWaitForFences.
    fn wait_for_fences(
        device: vk::Device,
        count: u32,
        fences: *const vk::Fence,
        all: vk::Bool32,
        timeout: u64,
    ) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let fences = ffi::slice(fences, count)
            .iter()
            .map(|f| handle::get::<Fence>(*f))
            .collect::<Result<Vec<_>, _>>()?;
        let reached = || {
            if all == vk::TRUE {
                fences.iter().all(|f| f.is_signaled())
            } else {
                fences.iter().any(|f| f.is_signaled())
            }
        };
        if let ([fence], u64::MAX) = (fences.as_slice(), timeout)
            && !fence.is_signaled()
        {
            device.workers().iter().for_each(|worker| worker.help(&device, fence));
        }
        device.progress.wait(deadline(timeout), || device.is_lost() || reached());
        device.alive()?;
        saw(&device, &fences);
        Ok(if reached() { vk::Result::SUCCESS } else { vk::Result::TIMEOUT })
    }
}
