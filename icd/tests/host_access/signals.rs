//! Programs that take a signal between the host and the device for more than it says: events, timestamps and
//! timeline semaphores.

use crate::pairs::{Access, Stage};
use crate::program::{COHERENT, DEVICE, PAGES, Program};
use ash::vk;

/// Commands wait for an event of the host, from these stages and accesses on; it writes before or after it
/// sets the event.
fn after_event(p: &Program, (from, wrote): (Stage, Access), late: bool) {
    let b = p.buffer("staging", 256, COHERENT);
    let target = p.buffer("target", 256, DEVICE);
    // SAFETY: live handles.
    unsafe {
        let event = p.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let commands = p.record(|c| {
            let barrier =
                [vk::MemoryBarrier::default().src_access_mask(wrote).dst_access_mask(Access::TRANSFER_READ)];
            p.v.device.cmd_wait_events(c, &[event], from, Stage::TRANSFER, &barrier, &[], &[]);
            p.copy(c, &b, &target);
        });
        let fence = p.submit(commands);
        if !late {
            b.put_all(3);
        }
        p.v.device.set_event(event).unwrap();
        if late {
            b.put_all(3);
        }
        p.wait(fence);
    }
}

/// The host sees an event that the wrong commands set before the copy is done, and writes what it reads.
pub fn event_behind_the_copy(p: &Program, wrong: bool) {
    let (b, target) = (p.buffer("staging", PAGES, COHERENT), p.buffer("target", PAGES, DEVICE));
    b.put_all(1);
    // SAFETY: live handles.
    unsafe {
        let event = p.v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        let fence = p.submit(p.record(|c| {
            p.copy(c, &b, &target);
            let stage = if wrong { Stage::TOP_OF_PIPE } else { Stage::TRANSFER };
            p.v.device.cmd_set_event(c, event, stage);
        }));
        while !p.v.device.get_event_status(event).unwrap() {}
        b.put_all(2);
        p.wait(fence);
    }
}

/// The same with a timestamp.
pub fn timestamp_behind_the_copy(p: &Program, wrong: bool) {
    let (b, target) = (p.buffer("staging", PAGES, COHERENT), p.buffer("target", PAGES, DEVICE));
    b.put_all(1);
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
    // SAFETY: live handles.
    unsafe {
        let pool = p.v.device.create_query_pool(&info, None).unwrap();
        let fence = p.submit(p.record(|c| {
            p.v.device.cmd_reset_query_pool(c, pool, 0, 1);
            let write = || p.v.device.cmd_write_timestamp(c, Stage::BOTTOM_OF_PIPE, pool, 0);
            if wrong {
                write();
            }
            p.copy(c, &b, &target);
            if !wrong {
                write();
            }
        }));
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        p.v.device.get_query_pool_results(pool, 0, &mut [0u64], flags).unwrap();
        b.put_all(2);
        p.wait(fence);
    }
}

pub fn event_of_the_host(p: &Program, wrong: bool) {
    after_event(p, (Stage::HOST, Access::HOST_WRITE), wrong);
}

pub fn event_without_the_hosts_stage(p: &Program, wrong: bool) {
    let from =
        if wrong { (Stage::TRANSFER, Access::TRANSFER_WRITE) } else { (Stage::HOST, Access::HOST_WRITE) };
    after_event(p, from, false);
}

pub fn event_without_the_hosts_writes(p: &Program, wrong: bool) {
    let wrote = if wrong { Access::empty() } else { Access::HOST_WRITE };
    after_event(p, (Stage::HOST, wrote), false);
}

/// Commands wait for a timeline semaphore of the host, and for its writes if `barrier`; it writes before or
/// after it signals.
fn after_timeline(p: &Program, barrier: bool, late: bool) {
    let b = p.buffer("staging", 256, COHERENT);
    let target = p.buffer("target", 256, DEVICE);
    let semaphore = p.v.timeline().unwrap();
    let commands = p.record(|c| {
        if barrier {
            p.barrier(c, (Stage::HOST, Access::HOST_WRITE), (Stage::TRANSFER, Access::TRANSFER_READ));
        }
        p.copy(c, &b, &target);
    });
    // SAFETY: live handles.
    unsafe {
        let fence = p.v.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        p.v.submit_after(semaphore, 1, commands, fence).unwrap();
        if !late {
            b.put_all(3);
        }
        let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
        p.v.device.signal_semaphore(&signal).unwrap();
        if late {
            b.put_all(3);
        }
        p.wait(fence);
    }
}

pub fn timeline_of_the_host(p: &Program, wrong: bool) {
    after_timeline(p, true, wrong);
}

pub fn no_barrier_behind_the_hosts_timeline(p: &Program, wrong: bool) {
    after_timeline(p, !wrong, false);
}
