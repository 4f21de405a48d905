//! The driver and a device with all of its features.

use anyhow::{Context, Result};
use ash::vk;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// Where the driver's library is: what `PLANTED_LIBRARY` names, else the one that was built with this
/// executable.
///
/// # Errors
/// There is none.
pub fn driver() -> Result<PathBuf> {
    if let Some(library) = std::env::var_os("PLANTED_LIBRARY") {
        return Ok(library.into());
    }
    let executable = std::env::current_exe()?;
    let folder = executable.parent().context("no folder")?;
    let name = "libvulkan_pellucid.so";
    let candidates = [folder.join("deps").join(name), folder.join(name)];
    let newest = candidates.iter().filter_map(|c| Some((c.metadata().ok()?.modified().ok()?, c))).max();
    newest.map(|(_, path)| path.clone()).with_context(|| format!("{name} is not in {}", folder.display()))
}

/// A device with two queues.
pub struct Device {
    /// Functions of the instance.
    pub instance: ash::Instance,
    /// Functions of the device.
    pub device: ash::Device,
    /// Of family 0.
    pub queues: Vec<vk::Queue>,
    /// Names and labels, where the driver has VK_EXT_debug_utils.
    pub debug: Option<ash::ext::debug_utils::Device>,
    memory: vk::PhysicalDeviceMemoryProperties,
    _library: libloading::Library,
}

const EXTENSIONS: [&CStr; 4] = [
    c"VK_EXT_shader_atomic_float",
    c"VK_KHR_workgroup_memory_explicit_layout",
    c"VK_EXT_shader_image_atomic_int64",
    c"VK_EXT_scalar_block_layout",
];

fn has(list: &[vk::ExtensionProperties], name: &CStr) -> bool {
    list.iter().any(|e| e.extension_name_as_c_str() == Ok(name))
}

impl Device {
    /// Loads a driver and creates the device.
    ///
    /// # Errors
    /// The library cannot be loaded, or a Vulkan call fails.
    pub fn open(library: &Path) -> Result<Device> {
        // SAFETY: the library is a Vulkan driver or loader; loading it runs nothing that depends on this
        // process.
        let library = unsafe { libloading::Library::new(library) }
            .with_context(|| format!("cannot load {}", library.display()))?;
        // SAFETY: vkGetInstanceProcAddr has this signature everywhere, and `Device` keeps the library loaded.
        let entry = unsafe {
            let get = library.get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0")?;
            ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: *get })
        };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        // SAFETY: the structures are valid for the calls, and the handles are live.
        unsafe {
            let known = entry.enumerate_instance_extension_properties(None)?;
            let named = has(&known, ash::ext::debug_utils::NAME);
            let names: Vec<_> = named.then_some(ash::ext::debug_utils::NAME.as_ptr()).into_iter().collect();
            let info = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&names);
            let instance = entry.create_instance(&info, None).context("vkCreateInstance")?;
            let physical =
                *instance.enumerate_physical_devices()?.first().context("the driver shows no device")?;
            let (device, queues) = create(&instance, physical)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let debug = named.then(|| ash::ext::debug_utils::Device::new(&instance, &device));
            Ok(Device { instance, device, queues, debug, memory, _library: library })
        }
    }

    /// The first memory type of these, that has `wanted`.
    ///
    /// # Errors
    /// There is none.
    pub fn memory_type(&self, bits: u32, wanted: vk::MemoryPropertyFlags) -> Result<u32> {
        (0..self.memory.memory_type_count)
            .find(|i| {
                bits & (1 << i) != 0 && self.memory.memory_types[*i as usize].property_flags.contains(wanted)
            })
            .with_context(|| format!("no memory type {wanted:?}"))
    }

    /// Gives an object its debug-utils name.
    pub fn name(&self, handle: impl vk::Handle, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = std::ffi::CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the object is live and belongs to this device. A name that is not kept is no reason to
        // fail.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }
}

/// SAFETY: `physical` belongs to `instance`.
unsafe fn create(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> Result<(ash::Device, Vec<vk::Queue>)> {
    // SAFETY: all structures outlive the calls; the chain of features is filled by the driver and given back
    // to it.
    unsafe {
        let known = instance.enumerate_device_extension_properties(physical)?;
        let names: Vec<_> = EXTENSIONS.into_iter().filter(|e| has(&known, e)).collect();
        let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut floats = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
        let mut layouts = vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut features11)
            .push_next(&mut features12)
            .push_next(&mut features13);
        if names.contains(&EXTENSIONS[0]) {
            features = features.push_next(&mut floats);
        }
        if names.contains(&EXTENSIONS[1]) {
            features = features.push_next(&mut layouts);
        }
        instance.get_physical_device_features2(physical, &mut features);
        let families = instance.get_physical_device_queue_family_properties(physical);
        let count = families.first().context("no queue family")?.queue_count.min(2);
        let priorities = [1.0; 2];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(0)
            .queue_priorities(&priorities[..count as usize])];
        let names: Vec<_> = names.iter().map(|n| n.as_ptr()).collect();
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut features);
        let device = instance.create_device(physical, &info, None).context("vkCreateDevice")?;
        let queues = (0..count).map(|i| device.get_device_queue(0, i)).collect();
        Ok((device, queues))
    }
}
