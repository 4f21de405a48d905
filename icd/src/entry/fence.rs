//! VkFence.

use crate::boundary::{creates, destroys, entries};
use crate::check::calls;
use crate::device::Device;
use crate::entry::destroy::fence_in_use;
use crate::error::Error;
use crate::ffi;
use crate::handle;
use crate::queue::Host;
use crate::queue::fence::Fence;
use crate::queue::status;
use crate::queue::told::Told;
use ash::vk;
use smallvec::SmallVec;
use std::sync::Arc;

creates! {
    fn create_fence(_device, info: vk::FenceCreateInfo<'_>) -> vk::Fence {
        let signaled = info.flags.contains(vk::FenceCreateFlags::SIGNALED);
        let export = ffi::find::<vk::ExportFenceCreateInfo<'_>>(info.p_next);
        let fence = match export.map(|e| e.handle_types).filter(|types| !types.is_empty()) {
            None => Fence::new(signaled),
            Some(vk::ExternalFenceHandleTypeFlags::OPAQUE_FD) => Fence::exportable(signaled),
            Some(types) => return Err(Error::not_implemented(&format!("fences that are exported as {types:?}"))),
        };
        Ok(handle::insert(Arc::new(fence)))
    }
}

destroys! {
    fn destroy_fence(Fence) as "vkDestroyFence";
}

entries! {
    /// vkGetFenceFdKHR.
    fn get_fence_fd(device: Arc<Device>, info: &vk::FenceGetFdInfoKHR<'_>, out: *mut i32) -> vk::Result {
        if info.handle_type != vk::ExternalFenceHandleTypeFlags::OPAQUE_FD {
            return Err(Error::not_implemented(&format!("fences that are exported as {:?}", info.handle_type)));
        }
        device.share()?;
        ffi::write(out, handle::get::<Fence>(info.fence)?.export()?)
    }

    /// vkImportFenceFdKHR.
    fn import_fence_fd(device: Arc<Device>, info: &vk::ImportFenceFdInfoKHR<'_>) -> vk::Result {
        if info.handle_type != vk::ExternalFenceHandleTypeFlags::OPAQUE_FD {
            return Err(Error::not_implemented(&format!("fences that are imported as {:?}", info.handle_type)));
        }
        device.share()?;
        let temporary = info.flags.contains(vk::FenceImportFlags::TEMPORARY);
        handle::get::<Fence>(info.fence)?.import(ffi::descriptor(info.fd)?, temporary)?;
        ffi::take(info.fd);
        Ok(())
    }

    fn reset_fences(device: Arc<Device>, fences: &[vk::Fence]) -> vk::Result {
        for raw in fences {
            let fence = handle::get::<Fence>(*raw)?;
            fence_in_use(&device, "vkResetFences", *raw, &fence);
            fence.reset();
        }
        Ok(())
    }

    fn get_fence_status(device: Arc<Device>, fence: Arc<Fence>) -> vk::Result {
        device.alive()?;
        let Some(told) = fence.ask(&*device) else { return Ok(vk::Result::NOT_READY) };
        calls::synchronize(&device, "vkGetFenceStatus");
        device.host_saw(&told);
        Ok(vk::Result::SUCCESS)
    }

    fn wait_for_fences(
        device: Arc<Device>,
        count: u32,
        fences: *const vk::Fence,
        all: vk::Bool32,
        timeout: u64,
    ) -> vk::Result {
        device.alive()?;
        let handles = ffi::slice(fences, count);
        let mut fences: SmallVec<[Arc<Fence>; 4]> = SmallVec::new();
        for fence in handles {
            fences.push(handle::get::<Fence>(*fence)?);
        }
        if let ([fence], u64::MAX) = (fences.as_slice(), timeout)
            && !fence.is_signaled()
        {
            let host: Arc<dyn Host> = device.clone();
            device.workers().iter().for_each(|worker| worker.help(&host, fence));
        }
        // What the wait saw last is what the application is told, and no more.
        let mut seen: SmallVec<[Option<Told>; 4]> = SmallVec::new();
        let mut look = |of: &dyn Fn(&Fence) -> Option<Told>| {
            seen.clear();
            seen.extend(fences.iter().map(|fence| of(fence)));
            let mut each = seen.iter().map(Option::is_some);
            device.is_lost() || if all == vk::TRUE { each.all(|s| s) } else { each.any(|s| s) }
        };
        let reached = match timeout {
            0 => look(&|fence| fence.ask(&*device)),
            _ => status::wait(&*device, timeout, || look(&|fence| fence.told(&*device))),
        };
        device.alive()?;
        if !reached {
            return Ok(vk::Result::TIMEOUT);
        }
        if all != vk::TRUE {
            status::tell_of_any(&*device, &mut seen);
        }
        calls::waited(&device, "vkWaitForFences");
        seen.iter().flatten().for_each(|told| device.host_saw(told));
        Ok(vk::Result::SUCCESS)
    }
}
