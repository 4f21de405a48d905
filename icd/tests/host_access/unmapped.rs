//! Programs that read memory which the host can map, and has not mapped when they are submitted: nothing has
//! written it.

use crate::pairs::{Access, Stage};
use crate::program::{ALL, COHERENT, DEVICE, Program};
use ash::vk;

/// Shaders read what the right program has mapped.
pub fn never(p: &Program, wrong: bool) {
    let (counter, steps) = (p.buffer("counter", 4, COHERENT), p.unmapped("steps", 256, COHERENT));
    counter.put_all(0);
    if !wrong {
        p.map(&steps, 0, ALL);
    }
    p.run(p.count(&counter, &steps));
}

/// The host has mapped the other half of what shaders read.
pub fn in_part(p: &Program, wrong: bool) {
    let (counter, steps) = (p.buffer("counter", 4, COHERENT), p.unmapped("steps", 512, COHERENT));
    counter.put_all(0);
    p.map(&steps, if wrong { 256 } else { 0 }, 256);
    p.run(p.count(&counter, &steps));
}

/// The host maps it while commands that are slow run before the dispatch: in the right program it waits for
/// an event that the host sets then.
pub fn mapped_too_late(p: &Program, wrong: bool) {
    let (counter, steps) = (p.buffer("counter", 4, COHERENT), p.unmapped("steps", 256, COHERENT));
    let slow = p.buffer("slow", 64 << 20, DEVICE);
    counter.put_all(0);
    // SAFETY: live handles.
    unsafe {
        let event = p.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let commands = p.count_behind(&counter, &steps, None, |c| {
            p.fill(c, &slow, 1);
            if !wrong {
                let barrier = [vk::MemoryBarrier::default()
                    .src_access_mask(Access::HOST_WRITE)
                    .dst_access_mask(Access::SHADER_READ)];
                let (from, to) = (Stage::HOST, Stage::COMPUTE_SHADER);
                p.v.device.cmd_wait_events(c, &[event], from, to, &barrier, &[], &[]);
            }
        });
        let fence = p.submit(commands);
        p.map(&steps, 0, ALL);
        p.v.device.set_event(event).unwrap();
        p.wait(fence);
    }
}

/// The same where the submission waits for a semaphore that the host signals.
pub fn mapped_before_the_signal(p: &Program, wrong: bool) {
    let (counter, steps) = (p.buffer("counter", 4, COHERENT), p.unmapped("steps", 256, COHERENT));
    counter.put_all(0);
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: live handles.
    unsafe {
        let semaphore = p.v.device.create_semaphore(&info, None).unwrap();
        let signal = || {
            let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
            p.v.device.signal_semaphore(&info).unwrap();
        };
        let fence = p.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let (commands, semaphores) = ([p.count(&counter, &steps)], [semaphore]);
        let mut values = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&[1]);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&[Stage::ALL_COMMANDS])
            .push_next(&mut values);
        p.v.device.queue_submit(p.v.queues[0], &[info], fence).unwrap();
        if wrong {
            signal();
        }
        p.map(&steps, 0, ALL);
        if !wrong {
            signal();
        }
        p.wait(fence);
    }
}
