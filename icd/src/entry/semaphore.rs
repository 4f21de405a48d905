//! VkSemaphore, binary and timeline.

use crate::boundary::{creates, destroys, entries};
use crate::check::calls;
use crate::device::Device;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use crate::queue::semaphore::Semaphore;
use crate::queue::status;
use crate::queue::told::Told;
use ash::vk;
use std::sync::Arc;

fn timeline(semaphore: vk::Semaphore) -> Outcome<Arc<Semaphore>> {
    let semaphore = handle::get::<Semaphore>(semaphore)?;
    if semaphore.timeline {
        Ok(semaphore)
    } else {
        Err(Error::usage("the semaphore is not a timeline semaphore"))
    }
}

creates! {
    fn create_semaphore(_device, info: vk::SemaphoreCreateInfo<'_>) -> vk::Semaphore {
        let kind = ffi::find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next);
        let timeline = kind.filter(|t| t.semaphore_type == vk::SemaphoreType::TIMELINE);
        let (counts, value) = (timeline.is_some(), timeline.map_or(0, |t| t.initial_value));
        let export = ffi::find::<vk::ExportSemaphoreCreateInfo<'_>>(info.p_next);
        let semaphore = match export.map(|e| e.handle_types).filter(|types| !types.is_empty()) {
            None => Semaphore::new(counts, value),
            Some(vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD) => Semaphore::exportable(counts, value),
            Some(types) => {
                return Err(Error::not_implemented(&format!("semaphores that are exported as {types:?}")));
            }
        };
        Ok(handle::insert(Arc::new(semaphore)))
    }
}

destroys! {
    fn destroy_semaphore(Semaphore) as "vkDestroySemaphore";
}

entries! {
    /// vkGetSemaphoreFdKHR.
    fn get_semaphore_fd(
        device: Arc<Device>,
        info: &vk::SemaphoreGetFdInfoKHR<'_>,
        out: *mut i32,
    ) -> vk::Result {
        if info.handle_type != vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD {
            return Err(Error::not_implemented(&format!("semaphores that are exported as {:?}", info.handle_type)));
        }
        device.share()?;
        ffi::write(out, handle::get::<Semaphore>(info.semaphore)?.export()?)
    }

    /// vkImportSemaphoreFdKHR.
    fn import_semaphore_fd(device: Arc<Device>, info: &vk::ImportSemaphoreFdInfoKHR<'_>) -> vk::Result {
        if info.handle_type != vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD {
            return Err(Error::not_implemented(&format!("semaphores that are imported as {:?}", info.handle_type)));
        }
        let semaphore = handle::get::<Semaphore>(info.semaphore)?;
        let temporary = info.flags.contains(vk::SemaphoreImportFlags::TEMPORARY);
        if temporary && semaphore.timeline {
            return Err(Error::usage("a timeline semaphore has no temporary payload"));
        }
        device.share()?;
        semaphore.import(ffi::descriptor(info.fd)?, temporary)?;
        ffi::take(info.fd);
        Ok(())
    }

    fn get_semaphore_counter_value(
        device: Arc<Device>,
        semaphore: vk::Semaphore,
        out: *mut u64,
    ) -> vk::Result {
        let semaphore = timeline(semaphore)?;
        device.alive()?;
        let (value, told) = semaphore.ask(&*device);
        // Only what tells the host something orders it with the device.
        if !device.completion.host().knows(told.completed) {
            calls::synchronize(&device, "vkGetSemaphoreCounterValue");
        }
        device.host_saw(&told);
        ffi::write(out, value)
    }

    fn wait_semaphores(
        device: Arc<Device>,
        info: *const vk::SemaphoreWaitInfo<'_>,
        timeout: u64,
    ) -> vk::Result {
        device.alive()?;
        let info = ffi::read(info)?;
        let values = ffi::slice(info.p_values, info.semaphore_count);
        let waits = ffi::slice(info.p_semaphores, info.semaphore_count)
            .iter()
            .zip(values)
            .map(|(s, v)| Ok((timeline(*s)?, *v)))
            .collect::<Outcome<Vec<_>>>()?;
        let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        // What the wait saw last is what the application is told, and no more.
        let mut seen: Vec<Option<Told>> = Vec::new();
        let mut look = |of: &dyn Fn(&Semaphore, u64) -> Option<Told>| {
            seen = waits.iter().map(|(semaphore, value)| of(semaphore, *value)).collect();
            let mut each = seen.iter().map(Option::is_some);
            device.is_lost() || if any { each.any(|s| s) } else { each.all(|s| s) }
        };
        let reached = match timeout {
            0 => look(&|semaphore, value| (semaphore.ask(&*device).0 >= value).then(|| semaphore.saw(&*device, value)).flatten()),
            _ => status::wait(&*device, timeout, || look(&|semaphore, value| semaphore.saw(&*device, value))),
        };
        device.alive()?;
        if !reached {
            return Ok(vk::Result::TIMEOUT);
        }
        if any {
            status::tell_of_any(&*device, &mut seen);
        }
        waits.iter().zip(&seen).filter(|(_, told)| told.is_some()).for_each(|((s, value), _)| s.tell(*value));
        calls::waited(&device, "vkWaitSemaphores");
        seen.iter().flatten().for_each(|told| device.host_saw(told));
        Ok(vk::Result::SUCCESS)
    }

    fn signal_semaphore(device: Arc<Device>, info: &vk::SemaphoreSignalInfo<'_>) -> vk::Result {
        let semaphore = timeline(info.semaphore)?;
        if semaphore.is_reached(info.value) && !semaphore.is_shared() {
            return Err(Error::usage("the value of a timeline semaphore only increases"));
        }
        calls::synchronize(&device, "vkSignalSemaphore");
        let payload = device.hazards.as_ref().map(|h| Arc::new(h.host()));
        semaphore.signal(info.value, Told { completed: device.completion.host(), order: 0, payload });
        device.progress.notify();
        Ok(())
    }
}
