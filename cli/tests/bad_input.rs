//! What applications do wrong: each mistake gives its specified error or is named, and the process goes on.
//!
//! Every test opens the driver as an application would, without a loader.

use ash::{Device, Entry, Instance, vk};

struct Opened {
    instance: Instance,
    physical: vk::PhysicalDevice,
    device: Device,
    queue: vk::Queue,
}

fn open() -> Opened {
    let path = pellucid::driver::library().expect("the driver is beside the tests");
    // SAFETY: the library is a Vulkan driver, never unloaded; valid usage up to the mistake that a test makes
    // on purpose.
    unsafe {
        let library: &'static libloading::Library =
            Box::leak(Box::new(libloading::Library::new(path).unwrap()));
        let get = *library.get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0").unwrap();
        let entry = Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get });
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None).unwrap();
        let queue = device.get_device_queue(0, 0);
        Opened { instance, physical, device, queue }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the device is idle; what a test leaves behind the driver has to take.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

impl Opened {
    /// A pipeline of these words, or why there is none.
    fn pipeline(&self, words: &[u32], entry: &std::ffi::CStr) -> Result<vk::Pipeline, vk::Result> {
        // SAFETY: the words may be bad on purpose; everything else is valid usage.
        unsafe {
            let module =
                self.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None)?;
            let layout =
                self.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default();
            let stage = stage.stage(vk::ShaderStageFlags::COMPUTE).module(module).name(entry);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            self.device.destroy_shader_module(module, None);
            made.map(|pipelines| pipelines[0]).map_err(|(_, result)| result)
        }
    }

    fn memory_type(&self, with: vk::MemoryPropertyFlags, without: vk::MemoryPropertyFlags) -> u32 {
        // SAFETY: a query.
        let properties = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let fits =
            |t: &vk::MemoryType| t.property_flags.contains(with) && !t.property_flags.intersects(without);
        properties.memory_types_as_slice().iter().position(fits).expect("such a type") as u32
    }

    fn buffer(&self) -> (vk::Buffer, vk::DeviceMemory) {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
        let coherent = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let kind = self.memory_type(coherent, vk::MemoryPropertyFlags::empty());
        // SAFETY: valid usage.
        unsafe {
            let buffer = self.device.create_buffer(&info, None).unwrap();
            let size = self.device.get_buffer_memory_requirements(buffer).size;
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(kind);
            let memory = self.device.allocate_memory(&info, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            (buffer, memory)
        }
    }

    /// Records with `record` and submits; the first error on the way.
    fn submit(&self, record: impl FnOnce(&Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
        // SAFETY: valid usage up to what `record` does.
        unsafe {
            let pool = self.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = self.device.allocate_command_buffers(&info)?;
            self.device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            record(&self.device, commands[0]);
            self.device.end_command_buffer(commands[0])?;
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            self.device.queue_submit(self.queue, &submit, vk::Fence::null())?;
            self.device.queue_wait_idle(self.queue)
        }
    }

    /// The device still works.
    fn works(&self) -> bool {
        let (buffer, _) = self.buffer();
        // SAFETY: valid usage.
        self.submit(|device, commands| unsafe { device.cmd_fill_buffer(commands, buffer, 0, 64, 7) }).is_ok()
    }
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
        assert!(opened.pipeline(&case, c"main").is_err(), "{} words", case.len());
    }
    assert!(opened.works());
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
            let _ = opened.pipeline(&bad, c"main");
        }
    }
    assert!(opened.works());
}

#[test]
fn an_entry_point_that_is_not_there_makes_no_pipeline() {
    if !in_child("an_entry_point_that_is_not_there_makes_no_pipeline") {
        return;
    }
    let opened = open();
    let good = words(include_bytes!("compute/saxpy.spv"));
    assert!(opened.pipeline(&good, c"absent").is_err());
    assert!(opened.works());
}

#[test]
fn memory_that_is_not_host_visible_cannot_be_mapped() {
    if !in_child("memory_that_is_not_host_visible_cannot_be_mapped") {
        return;
    }
    let opened = open();
    let kind =
        opened.memory_type(vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::HOST_VISIBLE);
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
    assert!(opened.works());
}

#[test]
fn a_destroyed_buffer_in_a_command_is_an_error_and_not_a_crash() {
    if !in_child("a_destroyed_buffer_in_a_command_is_an_error_and_not_a_crash") {
        return;
    }
    let opened = open();
    let (buffer, memory) = opened.buffer();
    // SAFETY: the buffer is used after it was destroyed, on purpose.
    let used = unsafe {
        opened.device.destroy_buffer(buffer, None);
        opened.device.free_memory(memory, None);
        opened.submit(|device, commands| device.cmd_fill_buffer(commands, buffer, 0, 64, 7))
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
    let (buffer, memory) = opened.buffer();
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
    assert!(opened.works());
}

#[test]
fn memory_freed_while_a_submission_may_use_it_does_not_crash() {
    if !in_child("memory_freed_while_a_submission_may_use_it_does_not_crash") {
        return;
    }
    let opened = open();
    for _ in 0..20 {
        let (buffer, memory) = opened.buffer();
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
            let submitted = opened.device.queue_submit(opened.queue, &submit, vk::Fence::null());
            opened.device.free_memory(memory, None);
            opened.device.destroy_buffer(buffer, None);
            if submitted.is_err() || opened.device.queue_wait_idle(opened.queue).is_err() {
                return; // the device was lost, which is a specified answer
            }
        }
    }
    assert!(opened.works());
}
