//! Programs whose host waits for something else than the work that it has to wait for, each beside its right
//! twin: `wrong` says which of the two runs.

use crate::program::{Buffer, COHERENT, DEVICE, PAGES, Program};
use ash::vk;

type Stage = vk::PipelineStageFlags;
type Access = vk::AccessFlags;

/// Commands that copy `b` to memory of the device, any number of times.
fn upload(p: &Program, b: &Buffer) -> vk::CommandBuffer {
    let target = p.buffer("target", b.size, DEVICE);
    let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
    p.record(|c| {
        p.barrier(c, transfer, transfer);
        p.copy(c, b, &target);
    })
}

fn staging(p: &Program) -> (Buffer, vk::CommandBuffer) {
    let b = p.buffer("staging", 4096, COHERENT);
    b.put_all(1);
    (b, upload(p, &b))
}

/// What a submission waits for and signals: semaphores, with values where they are timelines.
type Value = (vk::Semaphore, u64);

fn submit_to(
    p: &Program,
    queue: usize,
    commands: vk::CommandBuffer,
    (wait, signal): (Option<Value>, Option<Value>),
) -> vk::Fence {
    let parts = |value: Option<Value>| value.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    let ((waits, wait_values), (signals, signal_values)) = (parts(wait), parts(signal));
    let stages = vec![Stage::ALL_COMMANDS; waits.len()];
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&wait_values)
        .signal_semaphore_values(&signal_values);
    let list = [commands];
    let info = vk::SubmitInfo::default()
        .command_buffers(&list)
        .wait_semaphores(&waits)
        .wait_dst_stage_mask(&stages)
        .signal_semaphores(&signals);
    // SAFETY: live handles.
    unsafe {
        let fence = p.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        p.v.device.queue_submit(p.v.queues[queue], &[info.push_next(&mut timeline)], fence).unwrap();
        fence
    }
}

fn wait_for(p: &Program, (semaphore, value): Value) {
    let (semaphores, values) = ([semaphore], [value]);
    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    // SAFETY: live handles.
    unsafe { p.v.device.wait_semaphores(&info, u64::MAX).unwrap() };
}

fn signal(p: &Program, (semaphore, value): Value) {
    let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(value);
    // SAFETY: live handles.
    unsafe { p.v.device.signal_semaphore(&info).unwrap() };
}

/// The host waits for the queue that has nothing to do.
pub fn another_queue_is_idle(p: &Program, wrong: bool) {
    let (b, commands) = staging(p);
    let fence = submit_to(p, 1, commands, (None, None));
    // SAFETY: live handles.
    unsafe { p.v.device.queue_wait_idle(p.v.queues[usize::from(!wrong)]).unwrap() };
    b.put_all(2);
    p.wait(fence);
}

/// The host waits for another device.
pub fn another_device_is_idle(p: &Program, wrong: bool) {
    let other = Program::new();
    let (b, commands) = staging(p);
    let fence = p.submit(commands);
    let idle = if wrong { &other } else { p };
    // SAFETY: live handles.
    unsafe { idle.v.device.device_wait_idle().unwrap() };
    b.put_all(2);
    p.wait(fence);
}

/// The same commands are submitted twice, and the host waits for the first time.
pub fn fence_of_the_submission_before(p: &Program, wrong: bool) {
    let (b, commands) = staging(p);
    let [before, last] = [(); 2].map(|()| p.submit(commands));
    p.wait(if wrong { before } else { last });
    b.put_all(2);
    p.wait(if wrong { last } else { before });
}

/// The fence of a submission to another queue tells of the copy only where that waits for it.
pub fn fence_of_what_does_not_wait(p: &Program, wrong: bool) {
    let (b, commands) = staging(p);
    let other = p.buffer("other", 256, DEVICE);
    let semaphore = p.v.timeline().unwrap();
    let copied = submit_to(p, 0, commands, (None, Some((semaphore, 1))));
    let fill = p.record(|c| p.fill(c, &other, 1));
    let filled = submit_to(p, 1, fill, ((!wrong).then_some((semaphore, 1)), None));
    p.wait(filled);
    b.put_all(2);
    p.wait(copied);
}

/// Frames that a timeline semaphore counts, in a ring of two slots of one buffer: the wrong host waits for
/// the value of a frame too early.
pub fn value_of_a_frame_too_early(p: &Program, wrong: bool) {
    const SLOT: u64 = 4096;
    let (b, target) = (p.buffer("ring", 2 * SLOT, COHERENT), p.buffer("target", SLOT, DEVICE));
    let semaphore = p.v.timeline().unwrap();
    let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
    let commands = [0, SLOT].map(|src_offset| {
        let region = [vk::BufferCopy { src_offset, dst_offset: 0, size: SLOT }];
        p.record(|c| {
            p.barrier(c, transfer, transfer);
            // SAFETY: live handles.
            unsafe { p.v.device.cmd_copy_buffer(c, b.buffer, target.buffer, &region) };
        })
    });
    for frame in 1..=5u64 {
        if frame > 2 {
            wait_for(p, (semaphore, frame - if wrong { 3 } else { 2 }));
        }
        let slot = (frame % 2) as usize;
        b.put(slot as u64 * SLOT, &[frame as u8; SLOT as usize]);
        submit_to(p, 0, commands[slot], (None, Some((semaphore, frame))));
    }
    wait_for(p, (semaphore, 5));
}

/// The host writes twice and counts both on a timeline; the wrong work waits for the first only.
pub fn value_before_the_last_write(p: &Program, wrong: bool) {
    let (b, target) = (p.buffer("staging", 4096, COHERENT), p.buffer("target", 4096, DEVICE));
    let semaphore = p.v.timeline().unwrap();
    let commands = p.record(|c| {
        p.barrier(c, (Stage::HOST, Access::HOST_WRITE), (Stage::TRANSFER, Access::TRANSFER_READ));
        p.copy(c, &b, &target);
    });
    let fence = submit_to(p, 0, commands, (Some((semaphore, if wrong { 1 } else { 2 })), None));
    for value in 1..=2 {
        b.put_all(value);
        signal(p, (semaphore, u64::from(value)));
    }
    p.wait(fence);
}

/// The host writes the halves of a buffer and sets an event behind each; the wrong work waits for one event.
pub fn event_of_the_first_half(p: &Program, wrong: bool) {
    let (b, target) = (p.buffer("staging", 4096, COHERENT), p.buffer("target", 4096, DEVICE));
    // SAFETY: live handles.
    unsafe {
        let events =
            [(); 2].map(|()| p.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap());
        let waits = if wrong { &events[..1] } else { &events };
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(Access::HOST_WRITE)
            .dst_access_mask(Access::TRANSFER_READ)];
        let commands = p.record(|c| {
            p.v.device.cmd_wait_events(c, waits, Stage::HOST, Stage::TRANSFER, &barrier, &[], &[]);
            p.copy(c, &b, &target);
        });
        let fence = p.submit(commands);
        for (event, half) in events.into_iter().zip([0, 2048]) {
            b.put(half, &[7; 2048]);
            p.v.device.set_event(event).unwrap();
        }
        p.wait(fence);
    }
}

/// The host asks for the fence's status; the wrong one does not look at the answer.
pub fn status_that_says_not_ready(p: &Program, wrong: bool) {
    let (b, commands) = staging(p);
    let fence = p.submit(commands);
    // SAFETY: live handles.
    let ready = || unsafe { p.v.device.get_fence_status(fence).unwrap() };
    while !ready() && !wrong {}
    b.put_all(2);
    p.wait(fence);
}

/// The barrier to the host is in commands of another queue, which nothing orders with those that write.
pub fn barrier_in_another_queue(p: &Program, wrong: bool) {
    let b = p.buffer("results", PAGES, COHERENT);
    let fill = p.record(|c| {
        p.fill(c, &b, 7);
        if !wrong {
            p.to_host(c);
        }
    });
    let fences =
        [submit_to(p, 0, fill, (None, None)), submit_to(p, 1, p.record(|c| p.to_host(c)), (None, None))];
    fences.into_iter().for_each(|fence| p.wait(fence));
    b.sum();
}
