//! What the application ends under work that is pending: the work goes on with what it was submitted with,
//! nothing crashes, and the mistake is found. And the twin: who asks whether the work has ended, in any of
//! the ways that Vulkan has, may end everything once the answer is yes.

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};

/// The modes that programs run in.
const MODES: [&str; 2] = ["run", "check"];

/// What a round has made, and its submission uses.
struct Round<'a> {
    v: &'a Vulkan,
    spin: &'a Spin,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Round<'_> {
    fn free(&self) {
        // SAFETY: live handles; that work uses them is what the test is about.
        unsafe {
            self.v.device.destroy_buffer(self.buffer, None);
            self.v.device.free_memory(self.memory, None);
        }
    }
}

/// Many rounds of: submit work of some milliseconds, end something under it, wait.
fn rounds(by_address: bool, count: u32, wanted: usize, end: impl Fn(&Round<'_>)) {
    let v = Vulkan::new();
    let ids = v.listen();
    for round in 0..count {
        let spin = Spin::new(&v, by_address);
        let (buffer, memory, words) = v.buffer(4096, 1);
        let (other, other_memory, _) = v.buffer(4096, 1);
        let (pool, set) = spin.set(&v);
        spin.update(&v, set, buffer);
        let commands = v.record(|c| {
            spin.record(&v, c, set, buffer, 2000);
            // SAFETY: valid usage.
            unsafe { v.device.cmd_copy_buffer(c, other, other, &[]) };
        });
        let list = [commands];
        let info = [vk::SubmitInfo::default().command_buffers(&list)];
        // SAFETY: valid usage, up to what `end` does.
        unsafe {
            v.device.queue_submit(v.queues[0], &info, vk::Fence::null()).unwrap();
            if round % 2 == 1 {
                while words.cast::<u32>().read_volatile() == 0 {
                    std::thread::yield_now();
                }
            }
            end(&Round { v: &v, spin: &spin, pool, set, buffer, memory });
            v.device.device_wait_idle().unwrap();
            v.device.destroy_buffer(other, None);
            v.device.free_memory(other_memory, None);
        }
    }
    let found = ids.lock().unwrap().iter().filter(|id| *id == "freed-in-use").count();
    assert_eq!(found, wanted);
}

/// Runs rounds in a process of their own, in each mode.
fn each_mode(name: &str, by_address: bool, wanted: usize, end: impl Fn(&Round<'_>)) {
    for mode in MODES {
        if alone(name, &[("PELLUCID_MODE", mode)]).is_none() {
            let rounds_of_mode = if mode == "run" { 40 } else { 20 };
            return rounds(by_address, rounds_of_mode, wanted, end);
        }
    }
}

#[test]
fn a_set_is_updated_and_its_buffer_ends() {
    each_mode("a_set_is_updated_and_its_buffer_ends", false, 3, |r| {
        let (other, ..) = r.v.buffer(4096, 1);
        r.spin.update(r.v, r.set, other);
        r.free();
    });
}

#[test]
fn a_pool_is_reset_and_the_buffer_ends() {
    each_mode("a_pool_is_reset_and_the_buffer_ends", false, 3, |r| {
        // SAFETY: as in `Round::free`.
        unsafe {
            r.v.device.reset_descriptor_pool(r.pool, vk::DescriptorPoolResetFlags::empty()).unwrap();
        }
        r.free();
    });
}

#[test]
fn a_pool_and_a_pipeline_end() {
    each_mode("a_pool_and_a_pipeline_end", false, 4, |r| {
        // SAFETY: as in `Round::free`.
        unsafe {
            r.v.device.destroy_descriptor_pool(r.pool, None);
            r.v.device.destroy_pipeline(r.spin.pipeline, None);
            r.v.device.destroy_pipeline_layout(r.spin.layout, None);
            r.v.device.destroy_descriptor_set_layout(r.spin.set_layout, None);
        }
        r.free();
    });
}

#[test]
fn a_command_pool_is_reset() {
    each_mode("a_command_pool_is_reset", false, 3, |r| {
        // SAFETY: as in `Round::free`.
        unsafe {
            r.v.device.reset_command_pool(r.v.pool, vk::CommandPoolResetFlags::empty()).unwrap();
        }
        r.free();
    });
}

#[test]
fn memory_behind_an_address_stays() {
    for mode in MODES {
        let name = "memory_behind_an_address_stays";
        if alone(name, &[("PELLUCID_MODE", mode)]).is_none() {
            // Which bytes a shader reaches is known in check mode alone.
            let wanted = if std::env::var("PELLUCID_MODE").unwrap() == "check" { 2 } else { 0 };
            return rounds(true, 20, wanted, |r| r.free());
        }
    }
}

#[test]
fn a_device_ends() {
    for mode in MODES {
        if let Some(text) = alone("a_device_ends", &[("PELLUCID_MODE", mode)]) {
            assert!(text.contains("vkDestroyDevice ends VkDevice"), "{text}");
            assert!(text.contains("freed-in-use"), "{text}");
            continue;
        }
        for _ in 0..10 {
            let v = Vulkan::new();
            let spin = Spin::new(&v, false);
            let (buffer, ..) = v.buffer(4096, 1);
            let (_, set) = spin.set(&v);
            spin.update(&v, set, buffer);
            let list = [v.record(|c| spin.record(&v, c, set, buffer, 2000))];
            let info = [vk::SubmitInfo::default().command_buffers(&list)];
            // SAFETY: valid usage; the device is destroyed too early on purpose.
            unsafe { v.device.queue_submit(v.queues[0], &info, vk::Fence::null()).unwrap() };
        }
        return;
    }
}

/// Submits a fill of a new buffer, polls in one of the ways until the work has ended, and ends the buffer.
fn poll(way: usize, times: u32) {
    let v = Vulkan::new();
    let ids = v.listen();
    let d = &v.device;
    // SAFETY: valid usage.
    unsafe {
        let fence = d.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let semaphore = d.create_semaphore(&info, None).unwrap();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let queries = d.create_query_pool(&info, None).unwrap();
        for time in 1..=u64::from(times) {
            let event = d.create_event(&vk::EventCreateInfo::default(), None).unwrap();
            let (buffer, memory, _) = v.buffer(64, 1);
            let list = [v.record(|c| {
                d.cmd_fill_buffer(c, buffer, 0, 64, 7);
                d.cmd_set_event(c, event, vk::PipelineStageFlags::TRANSFER);
                d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, queries, 0);
            })];
            d.reset_query_pool(queries, 0, 1);
            let (semaphores, values) = ([semaphore], [time]);
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
            let info = [vk::SubmitInfo::default()
                .command_buffers(&list)
                .signal_semaphores(&semaphores)
                .push_next(&mut timeline)];
            d.queue_submit(v.queues[0], &info, fence).unwrap();
            let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
            match way {
                0 => while d.get_semaphore_counter_value(semaphore).unwrap() < time {},
                1 => while !d.get_fence_status(fence).unwrap() {},
                2 => while !d.get_event_status(event).unwrap() {},
                3 => while d.wait_for_fences(&[fence], true, 0).is_err() {},
                4 => while d.wait_semaphores(&wait, 0).is_err() {},
                _ => {
                    let flags = vk::QueryResultFlags::TYPE_64;
                    while d.get_query_pool_results(queries, 0, &mut [0u64], flags).is_err() {}
                }
            }
            d.destroy_buffer(buffer, None);
            d.free_memory(memory, None);
            let found = ids.lock().unwrap().clone();
            assert!(found.is_empty(), "way {way}, time {time}: {found:?}");
            d.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            d.reset_fences(&[fence]).unwrap();
            d.destroy_event(event, None);
            d.free_command_buffers(v.pool, &list);
        }
    }
}

#[test]
fn every_way_of_polling_is_believed() {
    for mode in MODES {
        if alone("every_way_of_polling_is_believed", &[("PELLUCID_MODE", mode)]).is_none() {
            return (0..6).for_each(|way| poll(way, 1000));
        }
    }
}

/// Submits command buffers that were recorded with flags, and looks whether they are done between two
/// submissions or not; what of them is submitted again is the command buffer itself, it once more in the same
/// submission, or a secondary command buffer.
fn submit_again(flags: vk::CommandBufferUsageFlags, wait: bool, way: &str) {
    let v = Vulkan::new();
    let d = &v.device;
    let (buffer, ..) = v.buffer(64, 0);
    let record = |c: vk::CommandBuffer, flags, body: &dyn Fn(vk::CommandBuffer)| {
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default().flags(flags).inheritance_info(&inheritance);
        // SAFETY: valid usage.
        unsafe {
            d.begin_command_buffer(c, &info).unwrap();
            body(c);
            d.end_command_buffer(c).unwrap();
        }
        c
    };
    let work = |c| {
        let transfer = vk::PipelineStageFlags::TRANSFER;
        let writes = vk::AccessFlags::TRANSFER_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(writes)];
        // SAFETY: valid usage.
        unsafe {
            d.cmd_pipeline_barrier(c, transfer, transfer, vk::DependencyFlags::empty(), &barrier, &[], &[]);
            d.cmd_fill_buffer(c, buffer, 0, 64, 7);
        }
    };
    let primary = || v.commands(vk::CommandBufferLevel::PRIMARY);
    let lists = if way == "secondary" {
        let secondary = record(v.commands(vk::CommandBufferLevel::SECONDARY), flags, &work);
        // SAFETY: live handles.
        let execute = |c| unsafe { d.cmd_execute_commands(c, &[secondary]) };
        let simultaneous = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        [(); 2].map(|()| vec![record(primary(), simultaneous, &execute)])
    } else {
        let c = record(primary(), flags, &work);
        if way == "twice" { [vec![c, c], vec![]] } else { [vec![c], vec![c]] }
    };
    for list in &lists {
        let info = [vk::SubmitInfo::default().command_buffers(list)];
        // SAFETY: what is wrong with it is what the test is about.
        unsafe {
            let _ = d.queue_submit(v.queues[0], &info, vk::Fence::null());
            if wait {
                d.device_wait_idle().unwrap();
            } else {
                // However far the device comes.
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
    // SAFETY: a live handle.
    unsafe { d.device_wait_idle().unwrap() };
}

#[test]
fn command_buffers_are_submitted_again() {
    type Flags = vk::CommandBufferUsageFlags;
    let (pending, none) = ("is pending (nothing has told the host", "");
    let cases: [(Flags, bool, &str, &str); 9] = [
        (
            Flags::ONE_TIME_SUBMIT,
            true,
            "again",
            "was recorded with ONE_TIME_SUBMIT and has been submitted before",
        ),
        (Flags::empty(), true, "again", none),
        (Flags::empty(), false, "again", pending),
        (Flags::SIMULTANEOUS_USE, false, "again", none),
        (Flags::empty(), true, "twice", "is submitted twice at once"),
        (Flags::SIMULTANEOUS_USE, true, "twice", none),
        (Flags::empty(), true, "secondary", none),
        (Flags::empty(), false, "secondary", "executes a secondary command buffer that is pending"),
        (Flags::SIMULTANEOUS_USE, false, "secondary", none),
    ];
    let name = "command_buffers_are_submitted_again";
    for mode in MODES {
        for (index, (flags, wait, way, message)) in cases.into_iter().enumerate() {
            let number = index.to_string();
            let Some(text) = alone(name, &[("PELLUCID_MODE", mode), ("TEST_CASE", &number)]) else {
                if std::env::var("TEST_CASE").unwrap() == number {
                    return submit_again(flags, wait, way);
                }
                continue;
            };
            let said = text.matches("pellucid: vkQueueSubmit: VkCommandBuffer 1 ").count();
            let said = said + text.matches("pellucid: vkQueueSubmit: VkCommandBuffer 3 ").count();
            let said = said + text.matches("pellucid: vkQueueSubmit: VkCommandBuffer 1: ").count();
            assert_eq!(said, usize::from(!message.is_empty()), "{mode} {flags:?} {way}: {text}");
            assert!(text.contains(message), "{mode} {flags:?} {way}: {text}");
            let misuse = text.contains("1 finding (1 api)");
            assert_eq!(misuse, !message.is_empty(), "{mode} {flags:?} {way}: {text}");
        }
    }
}
