//! Submission to VkQueue.

use crate::boundary::entries;
use crate::check::calls;
use crate::command::batch::Batch;
use crate::command::buffer::CommandBuffer;
use crate::command::family::Family;
use crate::command::{Busy, Recorded};
use crate::device::Device;
use crate::entry::descriptor_set::DescriptorSet;
use crate::entry::destroy::{called, fence_in_use};
use crate::entry::sparse;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, Object as _};
use crate::queue::fence::Fence;
use crate::queue::semaphore::Semaphore;
use crate::queue::submission::SemaphoreOperation;
use crate::queue::{Host, Queue, Submission};
use ash::vk;
use smallvec::SmallVec;
use std::sync::Arc;

fn queue(handle: vk::Queue) -> Outcome<(Arc<Queue>, Arc<Device>)> {
    let queue = handle::dispatchable::<Queue>(handle)?;
    let device = Device::of(&queue).ok_or_else(|| Error::usage("the device is destroyed"))?;
    device.alive()?;
    Ok((queue, device))
}

fn operations(
    semaphores: &[vk::Semaphore],
    values: &[u64],
    stages: &[vk::PipelineStageFlags],
) -> Outcome<Vec<SemaphoreOperation>> {
    semaphores
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let value = values.get(i).copied().unwrap_or(0);
            let stages = stages.get(i).map(|s| vk::PipelineStageFlags2::from_raw(u64::from(s.as_raw())));
            Ok(SemaphoreOperation { semaphore: handle::get::<Semaphore>(*s)?, handle: *s, value, stages })
        })
        .collect()
}

/// The values of waits and of signals of a submission: VkTimelineSemaphoreSubmitInfo.
///
/// # Safety
/// The chain is the application's.
unsafe fn timeline_values<'a>(next: *const std::ffi::c_void) -> [&'a [u64]; 2] {
    // SAFETY: the contract.
    unsafe {
        ffi::find::<vk::TimelineSemaphoreSubmitInfo<'_>>(next).map_or([&[], &[]], |t| {
            [
                ffi::slice(t.p_wait_semaphore_values, t.wait_semaphore_value_count),
                ffi::slice(t.p_signal_semaphore_values, t.signal_semaphore_value_count),
            ]
        })
    }
}

fn operations2(infos: &[vk::SemaphoreSubmitInfo<'_>]) -> Outcome<Vec<SemaphoreOperation>> {
    infos
        .iter()
        .map(|i| {
            let semaphore = handle::get::<Semaphore>(i.semaphore)?;
            let stages = Some(i.stage_mask);
            Ok(SemaphoreOperation { semaphore, handle: i.semaphore, value: i.value, stages })
        })
        .collect()
}

/// Tells of waits at stages that the queue does not have.
fn check_waits(queue: &Queue, device: &Device, call: &'static str, list: &[Submission]) {
    let family = Family::new(queue.family(), device.caps.pretend_graphics);
    let stages = list.iter().flat_map(|s| &s.waits).filter_map(|wait| wait.stages);
    if let Some(text) = stages.into_iter().find_map(|stages| family.misused_stages(stages)) {
        device.instance.misuse(&format!("{call}: {text}"));
    }
}

/// What command buffers of a submission have recorded; `all` is that of the same call so far.
fn recorded(
    (queue, device): (&Queue, &Arc<Device>),
    call: &'static str,
    all: &mut SmallVec<[Arc<Recorded>; 1]>,
    buffers: impl Iterator<Item = vk::CommandBuffer>,
) -> Outcome<SmallVec<[Arc<Recorded>; 1]>> {
    let mut list = SmallVec::new();
    let host = device.completion.host();
    for raw in buffers {
        let number = || handle::number(vk::Handle::as_raw(raw)).unwrap_or_default();
        let buffer = handle::dispatchable::<CommandBuffer>(raw)?;
        if !Arc::ptr_eq(&buffer.device, device) {
            return Err(Error::usage(format!("VkCommandBuffer {} is of another VkDevice", number())));
        }
        if buffer.level != vk::CommandBufferLevel::PRIMARY {
            return Err(Error::usage("a secondary command buffer cannot be submitted"));
        }
        let recorded = buffer.executable().map_err(|error| Error {
            message: error.message.map(|text| format!("VkCommandBuffer {}: {text}", number())),
            ..error
        })?;
        let (family, ours) = (buffer.family.index, queue.family());
        if family != ours {
            device.instance.misuse(&format!(
                "{call}: VkCommandBuffer {} is of queue family {family}, the queue of queue family {ours}",
                number()
            ));
        }
        let twice = !recorded.is_simultaneous() && all.iter().any(|other| Arc::ptr_eq(other, &recorded));
        let pending = "is pending (nothing has told the host that its last submission has completed)";
        let what = match recorded.busy(host) {
            Some(Busy::Secondary) => Some(format!("executes a secondary command buffer that {pending}")),
            Some(Busy::Itself) => Some(pending.to_owned()),
            None => twice.then(|| "is submitted twice at once".to_owned()),
        };
        if let Some(what) = what {
            let number = number();
            device.instance.misuse(&format!(
                "{call}: VkCommandBuffer {number} {what}, and was not recorded with SIMULTANEOUS_USE"
            ));
        }
        all.push(recorded.clone());
        if let Some(set) = recorded.updated() {
            let set = (DescriptorSet::NAME, vk::ObjectType::DESCRIPTOR_SET, vk::Handle::as_raw(set));
            device.instance.misuse(&format!(
                "{call}: VkCommandBuffer {} is invalid: {}, which it binds, was updated later",
                number(),
                called(device, set)
            ));
        }
        list.push(recorded);
    }
    Ok(list)
}

/// Says which objects submissions use that have ended already.
fn uses_ended(device: &Device, list: &[Submission]) {
    for ended in device.ended.mentioned() {
        let object = ended.object.as_ptr().cast();
        let used = list.iter().find_map(|submission| submission.work.get()?.use_of_ended(object));
        if let Some(used) = used {
            let command = match used.index {
                Some(index) => format!("{} (command {index} of the submission)", used.command),
                None => used.command.to_owned(),
            };
            let (called, call) = (ended.called, ended.call);
            device
                .instance
                .misuse(&format!("vkQueueSubmit: {command} uses {called}, which {call} has ended before"));
        }
    }
}

fn hand_in(
    queue: &Arc<Queue>,
    device: &Arc<Device>,
    mut list: SmallVec<[Submission; 1]>,
    fence: vk::Fence,
    call: &'static str,
) -> Outcome<()> {
    calls::submit(device, call);
    check_waits(queue, device, call, &list);
    let raw = fence;
    let fence = handle::get_optional::<Fence>(fence)?;
    if let Some(fence) = &fence
        && !fence_in_use(device, call, raw, fence)
        && fence.is_signaled()
    {
        let raw = vk::Handle::as_raw(raw);
        device
            .instance
            .misuse(&format!("{call}: VkFence {raw:#x} is signaled already: it has to be reset first"));
    }
    uses_ended(device, &list);
    if fence.is_some() {
        match list.last_mut() {
            Some(last) => last.fence = fence,
            None => list.push(Submission { fence, ..Default::default() }),
        }
    }
    let labels = queue.labels.lock().clone();
    let host: Arc<dyn Host> = device.clone();
    let _handing_in = calls::hand_in(device, &list);
    if queue.handed_in() == 0 {
        device.instance.session.submitted();
    }
    for mut submission in list {
        submission.labels.clone_from(&labels);
        queue.submit(&host, submission);
    }
    Ok(())
}

entries! {
    fn queue_submit(handle: vk::Queue, infos: &[vk::SubmitInfo<'_>], fence: vk::Fence) -> vk::Result {
        let (queue, device) = queue(handle)?;
        let mut list: SmallVec<[Submission; 1]> = SmallVec::new();
        let mut all = SmallVec::new();
        for info in infos {
            let [wait_values, signal_values] = timeline_values(info.p_next);
            list.push(Submission {
                waits: operations(
                    ffi::slice(info.p_wait_semaphores, info.wait_semaphore_count),
                    wait_values,
                    ffi::slice(info.p_wait_dst_stage_mask, info.wait_semaphore_count),
                )?,
                signals: operations(
                    ffi::slice(info.p_signal_semaphores, info.signal_semaphore_count),
                    signal_values,
                    &[],
                )?,
                work: Batch::of(
                    &device,
                    recorded(
                        (&queue, &device),
                        "vkQueueSubmit",
                        &mut all,
                        ffi::slice(info.p_command_buffers, info.command_buffer_count).iter().copied(),
                    )?,
                )
                .into(),
                ..Default::default()
            });
        }
        hand_in(&queue, &device, list, fence, "vkQueueSubmit")
    }

    fn queue_submit2(handle: vk::Queue, infos: &[vk::SubmitInfo2<'_>], fence: vk::Fence) -> vk::Result {
        let (queue, device) = queue(handle)?;
        let mut list: SmallVec<[Submission; 1]> = SmallVec::new();
        let mut all = SmallVec::new();
        for info in infos {
            let buffers = ffi::slice(info.p_command_buffer_infos, info.command_buffer_info_count);
            list.push(Submission {
                waits: operations2(ffi::slice(info.p_wait_semaphore_infos, info.wait_semaphore_info_count))?,
                signals: operations2(ffi::slice(
                    info.p_signal_semaphore_infos,
                    info.signal_semaphore_info_count,
                ))?,
                work: Batch::of(
                    &device,
                    recorded((&queue, &device), "vkQueueSubmit2", &mut all, buffers.iter().map(|b| b.command_buffer))?,
                )
                .into(),
                ..Default::default()
            });
        }
        hand_in(&queue, &device, list, fence, "vkQueueSubmit2")
    }

    fn queue_bind_sparse(
        handle: vk::Queue,
        infos: &[vk::BindSparseInfo<'_>],
        fence: vk::Fence,
    ) -> vk::Result {
        let (queue, device) = queue(handle)?;
        let mut list: SmallVec<[Submission; 1]> = SmallVec::new();
        for info in infos {
            let [waits, signals] = timeline_values(info.p_next);
            list.push(Submission {
                waits: operations(ffi::slice(info.p_wait_semaphores, info.wait_semaphore_count), waits, &[])?,
                signals: operations(
                    ffi::slice(info.p_signal_semaphores, info.signal_semaphore_count),
                    signals,
                    &[],
                )?,
                work: sparse::binds(&device, info)?.into(),
                binds: true,
                ..Default::default()
            });
        }
        hand_in(&queue, &device, list, fence, "vkQueueBindSparse")
    }

    fn queue_wait_idle(handle: vk::Queue) -> vk::Result {
        let (queue, device) = queue(handle)?;
        queue.wait_idle(&*device, || calls::waited(&device, "vkQueueWaitIdle"));
        device.alive()
    }
}
