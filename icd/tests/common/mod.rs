//! A device on the driver's own symbols: no loader, nothing installed; what fails panics.
#![allow(dead_code)]

use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

/// Ids of the messages with an id of their own, in order.
pub type Ids = Mutex<Vec<String>>;

unsafe extern "system" fn collect(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver hands over a complete structure; `user` is the list that outlives the messenger.
    unsafe {
        let data = &*data;
        if !data.p_message_id_name.is_null() {
            let id = CStr::from_ptr(data.p_message_id_name).to_string_lossy().into_owned();
            (*user.cast::<Ids>()).lock().unwrap().push(id);
        }
    }
    vk::FALSE
}

/// Findings are shown once for each kind of mistake in a process, and the mode is a process's: runs the test
/// `name` in a process of its own with these variables and hands back what that wrote to standard error.
/// `None` in that process.
pub fn alone(name: &str, variables: &[(&str, &str)]) -> Option<String> {
    const MARK: &str = "TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        return None;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).env(MARK, "1").envs(variables.iter().copied());
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} with {variables:?}: {}: {text}", output.status);
    // A name that no test has runs none, and succeeds; a test that ends its process does not say that it
    // passed.
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("running 1 test\n"), "{name} is no test: {told}");
    Some(text)
}

/// An instance and a device with all queues and features.
pub struct Vulkan(pellucid_test_host::Vulkan);

pub fn entry() -> ash::Entry {
    // SAFETY: the function is the driver's, which follows the specification of vkGetInstanceProcAddr.
    unsafe { pellucid_test_host::linked(vulkan_pellucid::vkGetInstanceProcAddr) }
}

impl std::ops::Deref for Vulkan {
    type Target = pellucid_test_host::Vulkan;

    fn deref(&self) -> &pellucid_test_host::Vulkan {
        &self.0
    }
}

impl Vulkan {
    pub fn new() -> Vulkan {
        Vulkan(pellucid_test_host::Vulkan::new(entry()).unwrap())
    }

    /// With robustBufferAccess and robustImageAccess.
    pub fn robust() -> Vulkan {
        Vulkan(pellucid_test_host::Vulkan::with_robustness(entry(), true).unwrap())
    }

    /// With one queue, these extensions, and the features that the chain begins with.
    pub fn with(extensions: &[&CStr], features: &mut impl vk::ExtendsDeviceCreateInfo) -> Vulkan {
        Vulkan::with_families(1, extensions, features)
    }

    /// The same, with the first queue of each of so many queue families.
    pub fn with_families(
        families: u32,
        extensions: &[&CStr],
        features: &mut impl vk::ExtendsDeviceCreateInfo,
    ) -> Vulkan {
        Vulkan::with_version(vk::API_VERSION_1_3, families, extensions, features)
    }

    /// The same, of an instance that asks for this version of Vulkan.
    pub fn with_version(
        version: u32,
        families: u32,
        extensions: &[&CStr],
        features: &mut impl vk::ExtendsDeviceCreateInfo,
    ) -> Vulkan {
        let mut v = pellucid_test_host::Vulkan::of_version(entry(), false, version).unwrap();
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let queue = |f| vk::DeviceQueueCreateInfo::default().queue_family_index(f).queue_priorities(&[1.0]);
        let queues: Vec<_> = (0..families).map(queue).collect();
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(features);
        // SAFETY: valid usage: nothing is in use yet.
        unsafe {
            v.device.destroy_command_pool(v.pool, None);
            v.device.destroy_device(None);
            v.device = v.instance.create_device(v.physical, &info, None).unwrap();
            v.pool = v.device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            v.queues = (0..families).map(|family| v.device.get_device_queue(family, 0)).collect();
        }
        v.debug = None;
        Vulkan(v)
    }

    /// The ids of the findings from now on.
    pub fn listen(&self) -> &'static Ids {
        let ids: &'static Ids = Box::leak(Box::default());
        let messages = ash::ext::debug_utils::Instance::new(&self.entry, &self.instance);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(collect))
            .user_data(std::ptr::from_ref(ids).cast_mut().cast());
        // SAFETY: valid usage; the messenger ends with the process.
        unsafe { messages.create_debug_utils_messenger(&info, None).unwrap() };
        ids
    }

    pub fn buffer(&self, size: u64, memory_type: u32) -> (vk::Buffer, vk::DeviceMemory, *mut u8) {
        self.0.buffer(size, memory_type).unwrap()
    }

    pub fn image(&self, info: &vk::ImageCreateInfo<'_>, memory_type: u32) -> vk::Image {
        self.0.image(info, memory_type).unwrap()
    }

    pub fn commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        self.0.commands(level).unwrap()
    }

    pub fn record(&self, body: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        self.0.record(body).unwrap()
    }

    pub fn run(&self, buffer: vk::CommandBuffer) {
        self.0.run(buffer).unwrap();
    }
}

/// A compute pipeline that works for a while on 32 words of a buffer: of set 0, binding 0, or behind an
/// address in the push constants.
pub struct Spin {
    pub layout: vk::PipelineLayout,
    pub set_layout: vk::DescriptorSetLayout,
    pub pipeline: vk::Pipeline,
    by_address: bool,
}

impl Spin {
    pub fn new(v: &Vulkan, by_address: bool) -> Spin {
        Spin::with_flags(v, by_address, vk::DescriptorBindingFlags::empty())
    }

    /// With these flags of the binding.
    pub fn with_flags(v: &Vulkan, by_address: bool, flags: vk::DescriptorBindingFlags) -> Spin {
        let code: &[u8] = match by_address {
            true => include_bytes!("../shaders/spin_address.spv"),
            false => include_bytes!("../shaders/spin.spv"),
        };
        // SAFETY: valid usage.
        unsafe {
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let of_layout = match flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND) {
                true => vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL,
                false => vk::DescriptorSetLayoutCreateFlags::empty(),
            };
            let flags = [flags];
            let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
            let info = vk::DescriptorSetLayoutCreateInfo::default().flags(of_layout).bindings(&bindings);
            let info = info.push_next(&mut flags);
            let set_layout = v.device.create_descriptor_set_layout(&info, None).unwrap();
            let push = [vk::PushConstantRange::default().size(16).stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let layouts = [set_layout];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = v.device.create_pipeline_layout(&info, None).unwrap();
            let words = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
            let pipeline = v.pipeline(&words, c"main", layout).unwrap();
            Spin { layout, set_layout, pipeline, by_address }
        }
    }

    /// A pool with one set.
    pub fn set(&self, v: &Vulkan) -> (vk::DescriptorPool, vk::DescriptorSet) {
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .flags(vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND)
            .max_sets(1)
            .pool_sizes(&sizes);
        let layouts = [self.set_layout];
        // SAFETY: valid usage.
        unsafe {
            let pool = v.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            (pool, v.device.allocate_descriptor_sets(&info).unwrap()[0])
        }
    }

    pub fn update(&self, v: &Vulkan, set: vk::DescriptorSet, buffer: vk::Buffer) {
        let info = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&info);
        // SAFETY: live handles.
        unsafe { v.device.update_descriptor_sets(&[write], &[]) };
    }

    /// Records a dispatch on a buffer: that of `set`, or the one behind its address.
    pub fn record(
        &self,
        v: &Vulkan,
        c: vk::CommandBuffer,
        set: vk::DescriptorSet,
        buffer: vk::Buffer,
        rounds: u32,
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        let mut push = rounds.to_le_bytes().to_vec();
        // SAFETY: valid usage.
        unsafe {
            if self.by_address {
                let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
                push = v.device.get_buffer_device_address(&info).to_le_bytes().to_vec();
                push.extend(rounds.to_le_bytes());
            } else {
                v.device.cmd_bind_descriptor_sets(c, point, self.layout, 0, &[set], &[]);
            }
            v.device.cmd_bind_pipeline(c, point, self.pipeline);
            v.device.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            v.device.cmd_dispatch(c, 1, 1, 1);
        }
    }
}
