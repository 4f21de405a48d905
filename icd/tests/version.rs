//! Vulkan 1.4: what it brought into the core is there under its own name and without an extension, where the
//! application asked for that version.

mod common;

use ash::vk;
use common::{Vulkan, alone, entry};
use pellucid_test_host::COHERENT;
use std::ffi::{CStr, c_void};

/// The version.
const V1_4: u32 = vk::make_api_version(0, 1, 4, 0);

/// The functions that are core since 1.4.
const NEW: [&CStr; 19] = [
    c"vkCmdBindDescriptorSets2",
    c"vkCmdBindIndexBuffer2",
    c"vkCmdPushConstants2",
    c"vkCmdPushDescriptorSet",
    c"vkCmdPushDescriptorSet2",
    c"vkCmdPushDescriptorSetWithTemplate",
    c"vkCmdPushDescriptorSetWithTemplate2",
    c"vkCmdSetLineStipple",
    c"vkCmdSetRenderingAttachmentLocations",
    c"vkCmdSetRenderingInputAttachmentIndices",
    c"vkCopyImageToImage",
    c"vkCopyImageToMemory",
    c"vkCopyMemoryToImage",
    c"vkGetDeviceImageSubresourceLayout",
    c"vkGetImageSubresourceLayout2",
    c"vkGetRenderingAreaGranularity",
    c"vkMapMemory2",
    c"vkTransitionImageLayout",
    c"vkUnmapMemory2",
];

/// VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_4_FEATURES.
const FEATURES: vk::StructureType = vk::StructureType::from_raw(55);

/// VkPhysicalDeviceVulkan14Features.
#[repr(C)]
struct Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// In the order of the header, globalPriorityQuery to pushDescriptor.
    members: [vk::Bool32; 21],
}

/// The members that are of graphics, and pipelineProtectedAccess, which is of protected memory.
const ABSENT: [usize; 11] = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17];

// SAFETY: the structure begins with sType and pNext.
unsafe impl vk::TaggedStructure for Features {
    const STRUCTURE_TYPE: vk::StructureType = FEATURES;
}
// SAFETY: these are the structures that it extends.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}
// SAFETY: the same.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}

impl Features {
    fn new(value: vk::Bool32) -> Features {
        Features { s_type: FEATURES, p_next: std::ptr::null_mut(), members: [value; 21] }
    }

    /// Those that are there.
    fn present() -> Features {
        let mut features = Features::new(vk::TRUE);
        ABSENT.iter().for_each(|member| features.members[*member] = vk::FALSE);
        features
    }

    /// What the device says of them; `value` where it says nothing.
    fn told(v: &Vulkan, value: vk::Bool32) -> [vk::Bool32; 21] {
        let mut features = Features::new(value);
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        // SAFETY: live handles, complete structures.
        unsafe { v.instance.get_physical_device_features2(v.physical, &mut all) };
        features.members
    }
}

/// A device without an extension, and with all features of 1.4 that it has, of an instance that asks for this
/// version.
fn open(version: u32) -> Vulkan {
    Vulkan::with_version(version, 1, &[], &mut Features::present())
}

/// The versions that the instance and the device show.
fn shown(v: &Vulkan) -> [u32; 2] {
    // SAFETY: live handles.
    unsafe {
        let device = v.instance.get_physical_device_properties(v.physical).api_version;
        [entry().try_enumerate_instance_version().unwrap().unwrap(), device]
    }
}

fn there(v: &Vulkan, name: &CStr) -> bool {
    // SAFETY: a live device.
    unsafe { v.instance.get_device_proc_addr(v.device.handle(), name.as_ptr()).is_some() }
}

#[test]
fn the_version_and_what_it_requires_are_shown() {
    let v = open(V1_4);
    let [instance, device] = shown(&v);
    assert_eq!((vk::api_version_major(instance), vk::api_version_minor(instance)), (1, 4));
    assert_eq!(device, instance);
    assert_eq!(Features::told(&v, 9), Features::present().members);
}

/// VkPhysicalDeviceVulkan14Properties.
#[repr(C)]
struct Properties {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    /// lineSubPixelPrecisionBits to defaultRobustnessImages.
    words: [u32; 19],
    source_count: u32,
    sources: *mut vk::ImageLayout,
    target_count: u32,
    targets: *mut vk::ImageLayout,
    layout_uuid: [u8; vk::UUID_SIZE],
    identical: vk::Bool32,
}

// SAFETY: the structure begins with sType and pNext.
unsafe impl vk::TaggedStructure for Properties {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(56);
}
// SAFETY: this is the structure that it extends.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for Properties {}

/// What the extensions say that were promoted, in one structure.
#[test]
fn properties_are_those_of_the_extensions() {
    let v = open(V1_4);
    let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
    let mut six = vk::PhysicalDeviceMaintenance6PropertiesKHR::default();
    let mut robust = vk::PhysicalDevicePipelineRobustnessPropertiesEXT::default();
    let mut copies = vk::PhysicalDeviceHostImageCopyPropertiesEXT::default();
    let mut properties = Properties {
        s_type: <Properties as vk::TaggedStructure>::STRUCTURE_TYPE,
        p_next: std::ptr::null_mut(),
        words: [99; 19],
        source_count: 0,
        sources: std::ptr::null_mut(),
        target_count: 0,
        targets: std::ptr::null_mut(),
        layout_uuid: [0; vk::UUID_SIZE],
        identical: 9,
    };
    let mut all = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut push)
        .push_next(&mut six)
        .push_next(&mut robust)
        .push_next(&mut copies)
        .push_next(&mut properties);
    // SAFETY: live handles, complete structures.
    unsafe { v.instance.get_physical_device_properties2(v.physical, &mut all) };
    assert_eq!(properties.words[3], push.max_push_descriptors);
    assert_eq!(properties.words[13], six.max_combined_image_sampler_descriptor_count);
    assert_eq!(properties.words[15], robust.default_robustness_storage_buffers.as_raw() as u32);
    assert_eq!(properties.words[18], robust.default_robustness_images.as_raw() as u32);
    assert!(properties.words.iter().all(|word| *word != 99));
    assert_eq!(properties.source_count, copies.copy_src_layout_count);
    assert_eq!(properties.target_count, copies.copy_dst_layout_count);
    assert_eq!(properties.layout_uuid, copies.optimal_tiling_layout_uuid);
    assert_eq!(properties.identical, copies.identical_memory_type_requirements);
}

/// A device with this member of VkPhysicalDeviceVulkan14Features, and a queue of this global priority.
fn with_feature(member: usize, priority: vk::QueueGlobalPriorityKHR) -> vk::Result {
    let v = open(V1_4);
    let mut features = Features::new(0);
    features.members[member] = vk::TRUE;
    let mut priority = vk::DeviceQueueGlobalPriorityCreateInfoKHR::default().global_priority(priority);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0]).push_next(&mut priority)];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
    // SAFETY: a live handle, complete structures.
    unsafe { v.instance.create_device(v.physical, &info, None) }.err().unwrap_or(vk::Result::SUCCESS)
}

#[test]
fn features_that_are_not_there_are_refused() {
    let medium = vk::QueueGlobalPriorityKHR::MEDIUM;
    for member in 0..21 {
        let expected = match ABSENT.contains(&member) {
            true => vk::Result::ERROR_FEATURE_NOT_PRESENT,
            false => vk::Result::SUCCESS,
        };
        assert_eq!(with_feature(member, medium), expected, "member {member}");
    }
}

/// globalPriorityQuery, the first member: a priority that is not reported has to fail.
#[test]
fn the_structure_enables_what_that_of_the_extension_does() {
    let refused = vk::Result::ERROR_INITIALIZATION_FAILED;
    assert_eq!(with_feature(0, vk::QueueGlobalPriorityKHR::LOW), refused);
}

#[test]
fn names_of_1_4_are_there_for_those_who_ask_for_1_4() {
    for (version, new) in [(V1_4, true), (vk::API_VERSION_1_3, false)] {
        let v = open(version);
        for name in NEW {
            assert_eq!(there(&v, name), new, "{name:?} of {version:x}");
        }
        // No extension is enabled.
        assert!(!there(&v, c"vkCmdPushConstants2KHR"));
    }
}

/// With `api-version` 1.3 nothing of 1.4 is there, whatever the application asks for.
#[test]
fn an_older_version_can_be_shown() {
    if alone("an_older_version_can_be_shown", &[("PELLUCID_API_VERSION", "1.3")]).is_some() {
        return;
    }
    let v = open(V1_4);
    assert_eq!(shown(&v).map(vk::api_version_minor), [3; 2]);
    assert_eq!(Features::told(&v, 9), [9; 21], "a structure that it does not know");
    assert!(NEW.iter().all(|name| !there(&v, name)));
}

/// Memory that is mapped, a descriptor and constants that are pushed, all by functions of 1.4.
#[test]
fn a_program_of_1_4_needs_no_extension() {
    let v = open(V1_4);
    macro_rules! function {
        ($name:literal as $type:ty) => {{
            let function = v.instance.get_device_proc_addr(v.device.handle(), $name.as_ptr()).unwrap();
            std::mem::transmute::<unsafe extern "system" fn(), $type>(function)
        }};
    }
    let (stage, point) = (vk::ShaderStageFlags::COMPUTE, vk::PipelineBindPoint::COMPUTE);
    let (buffer, memory, _) = v.buffer(128, v.memory_type(u32::MAX, COHERENT).unwrap());
    // SAFETY: valid usage; the functions have the types of the extensions that they come from.
    unsafe {
        let map = function!(c"vkMapMemory2" as vk::PFN_vkMapMemory2KHR);
        let unmap = function!(c"vkUnmapMemory2" as vk::PFN_vkUnmapMemory2KHR);
        let push_set = function!(c"vkCmdPushDescriptorSet" as vk::PFN_vkCmdPushDescriptorSetKHR);
        let push_constants = function!(c"vkCmdPushConstants2" as vk::PFN_vkCmdPushConstants2KHR);

        let info = vk::MemoryUnmapInfoKHR::default().memory(memory);
        assert_eq!(unmap(v.device.handle(), &raw const info), vk::Result::SUCCESS);
        let info = vk::MemoryMapInfoKHR::default().memory(memory).size(vk::WHOLE_SIZE);
        let mut mapped = std::ptr::null_mut();
        assert_eq!(map(v.device.handle(), &raw const info, &raw mut mapped), vk::Result::SUCCESS);
        let words = std::slice::from_raw_parts_mut(mapped.cast::<u32>(), 32);
        words.copy_from_slice(&std::array::from_fn::<u32, 32, _>(|i| 100 * i as u32));

        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(stage)];
        let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
        let sets = [v.device.create_descriptor_set_layout(&info, None).unwrap()];
        let ranges = [vk::PushConstantRange::default().size(16).stage_flags(stage)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        let layout = v.device.create_pipeline_layout(&info, None).unwrap();
        let code = include_bytes!("shaders/spin.spv");
        let code = ash::util::read_spv(&mut std::io::Cursor::new(&code[..])).unwrap();
        let pipeline = v.pipeline(&code, c"main", layout).unwrap();
        v.run(v.record(|c| {
            v.device.cmd_bind_pipeline(c, point, pipeline);
            let range = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&range);
            push_set(c, point, layout, 0, 1, &raw const write);
            let rounds = 4u32.to_ne_bytes();
            let info = vk::PushConstantsInfoKHR::default().layout(layout).stage_flags(stage).values(&rounds);
            push_constants(c, &raw const info);
            v.device.cmd_dispatch(c, 1, 1, 1);
        }));
        let expected: Vec<u32> = (0..32).map(|i| 100 * i + 1 + 2 + 3).collect();
        assert_eq!(words, expected);
    }
}
