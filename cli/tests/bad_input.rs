//! What applications do wrong: each mistake gives its specified error or is named, and the process goes on.
//!
//! Every test opens the driver as an application would, without a loader.

use ash::{Device, vk};
use pellucid_test_host::{COHERENT, Vulkan};

fn open() -> Vulkan {
    Vulkan::open(&pellucid::driver::library().expect("the driver is beside the tests")).unwrap()
}

/// A pipeline of these words, or why there is none.
fn pipeline(opened: &Vulkan, words: &[u32], entry: &std::ffi::CStr) -> Result<vk::Pipeline, vk::Result> {
    // SAFETY: valid usage.
    let layout = unsafe { opened.device.create_pipeline_layout(&Default::default(), None)? };
    opened.pipeline(words, entry, layout)
}

fn buffer(opened: &Vulkan) -> (vk::Buffer, vk::DeviceMemory) {
    let (buffer, memory, _) = opened.buffer(4096, opened.memory_type(!0, COHERENT).unwrap()).unwrap();
    (buffer, memory)
}

/// Records with `record` and submits; the first error on the way.
fn submit(opened: &Vulkan, record: impl FnOnce(&Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
    opened.run(opened.record(|commands| record(&opened.device, commands))?)
}

/// The device still works.
fn works(opened: &Vulkan) -> bool {
    let (buffer, _) = buffer(opened);
    // SAFETY: valid usage.
    submit(opened, |device, commands| unsafe { device.cmd_fill_buffer(commands, buffer, 0, 64, 7) }).is_ok()
}

/// Runs the test of that name in a process of its own, whose messages are shown only if it fails: the driver
/// writes to the process's standard error, which the test harness does not hold back. True in that process.
fn in_child(name: &str) -> bool {
    const MARK: &str = "BAD_INPUT_CHILD";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this)
        .args(["--exact", name, "--nocapture"])
        .env(MARK, "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{:?}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    false
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

#[test]
fn invalid_spirv_makes_no_pipeline() {
    if !in_child("invalid_spirv_makes_no_pipeline") {
        return;
    }
    let opened = open();
    let good = words(include_bytes!("compute/saxpy.spv"));
    let mut cases =
        vec![vec![], vec![1, 2, 3], vec![0x0723_0203], good[..5].to_vec(), good[..good.len() / 2].to_vec()];
    // Every instruction's first word replaced by nonsense, one at a time.
    let mut at = 5;
    while at < good.len() {
        let mut bad = good.clone();
        bad[at] = 0xffff_ffff;
        cases.push(bad);
        at += (good[at] >> 16) as usize;
    }
    for case in cases {
        assert!(pipeline(&opened, &case, c"main").is_err(), "{} words", case.len());
    }
    assert!(works(&opened));
}

#[test]
fn spirv_with_any_one_word_changed_does_not_crash() {
    if !in_child("spirv_with_any_one_word_changed_does_not_crash") {
        return;
    }
    let opened = open();
    let good = words(include_bytes!("compute/control.spv"));
    for at in (0..good.len()).step_by(7) {
        for change in [0, 1, 0x8000_0000, good[at].wrapping_add(1), good[at] ^ 0x10] {
            let mut bad = good.clone();
            bad[at] = change;
            // Either answer will do: some changes leave the module valid.
            let _ = pipeline(&opened, &bad, c"main");
        }
    }
    assert!(works(&opened));
}

#[test]
fn an_entry_point_that_is_not_there_makes_no_pipeline() {
    if !in_child("an_entry_point_that_is_not_there_makes_no_pipeline") {
        return;
    }
    let opened = open();
    let good = words(include_bytes!("compute/saxpy.spv"));
    assert!(pipeline(&opened, &good, c"absent").is_err());
    assert!(works(&opened));
}

#[test]
fn memory_that_is_not_host_visible_cannot_be_mapped() {
    if !in_child("memory_that_is_not_host_visible_cannot_be_mapped") {
        return;
    }
    let opened = open();
    // SAFETY: a query.
    let types = unsafe { opened.instance.get_physical_device_memory_properties(opened.physical) };
    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE;
    let hidden = types.memory_types_as_slice().iter().position(|t| !t.property_flags.contains(visible));
    let kind = hidden.expect("memory that the host does not see") as u32;
    let info = vk::MemoryAllocateInfo::default().allocation_size(4096).memory_type_index(kind);
    // SAFETY: valid usage, except for the mapping.
    unsafe {
        let memory = opened.device.allocate_memory(&info, None).unwrap();
        let mapped = opened.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
        assert_eq!(mapped, Err(vk::Result::ERROR_MEMORY_MAP_FAILED));
        opened.device.free_memory(memory, None);
    }
}

#[test]
fn an_allocation_over_the_heap_is_out_of_device_memory() {
    if !in_child("an_allocation_over_the_heap_is_out_of_device_memory") {
        return;
    }
    let opened = open();
    // SAFETY: queries, and an allocation that is too large.
    unsafe {
        let properties = opened.instance.get_physical_device_memory_properties(opened.physical);
        for (index, kind) in properties.memory_types_as_slice().iter().enumerate() {
            let size = properties.memory_heaps[kind.heap_index as usize].size + 1;
            let info =
                vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index as u32);
            assert_eq!(
                opened.device.allocate_memory(&info, None),
                Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
                "type {index}"
            );
        }
    }
    assert!(works(&opened));
}

#[test]
fn a_destroyed_buffer_in_a_command_is_an_error_and_not_a_crash() {
    if !in_child("a_destroyed_buffer_in_a_command_is_an_error_and_not_a_crash") {
        return;
    }
    let opened = open();
    let (buffer, memory) = buffer(&opened);
    // SAFETY: the buffer is used after it was destroyed, on purpose.
    let used = unsafe {
        opened.device.destroy_buffer(buffer, None);
        opened.device.free_memory(memory, None);
        submit(&opened, |device, commands| device.cmd_fill_buffer(commands, buffer, 0, 64, 7))
    };
    assert!(used.is_err(), "{used:?}");
}

#[test]
fn objects_destroyed_twice_or_of_another_kind_do_not_crash() {
    if !in_child("objects_destroyed_twice_or_of_another_kind_do_not_crash") {
        return;
    }
    use vk::Handle;
    let opened = open();
    let (buffer, memory) = buffer(&opened);
    // SAFETY: the mistakes are the point.
    unsafe {
        opened.device.destroy_buffer(buffer, None);
        opened.device.destroy_buffer(buffer, None);
        opened.device.destroy_image(vk::Image::from_raw(memory.as_raw()), None);
        opened.device.destroy_pipeline(vk::Pipeline::from_raw(0x1234_5678_9abc_def0), None);
        opened.device.free_memory(memory, None);
        opened.device.free_memory(memory, None);
        let info = vk::MemoryAllocateInfo::default().allocation_size(64).memory_type_index(99);
        assert!(opened.device.allocate_memory(&info, None).is_err());
    }
    assert!(works(&opened));
}

#[test]
fn memory_freed_while_a_submission_may_use_it_does_not_crash() {
    if !in_child("memory_freed_while_a_submission_may_use_it_does_not_crash") {
        return;
    }
    let opened = open();
    for _ in 0..20 {
        let (buffer, memory) = buffer(&opened);
        // SAFETY: the memory is freed before the submission is known to have ended, on purpose.
        unsafe {
            let pool =
                opened.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = opened.device.allocate_command_buffers(&info).unwrap();
            opened.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            for _ in 0..100 {
                opened.device.cmd_fill_buffer(commands[0], buffer, 0, 4096, 7);
            }
            opened.device.end_command_buffer(commands[0]).unwrap();
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            let submitted = opened.device.queue_submit(opened.queues[0], &submit, vk::Fence::null());
            opened.device.free_memory(memory, None);
            opened.device.destroy_buffer(buffer, None);
            if submitted.is_err() || opened.device.queue_wait_idle(opened.queues[0]).is_err() {
                return; // the device was lost, which is a specified answer
            }
        }
    }
    assert!(works(&opened));
}
