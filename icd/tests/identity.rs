//! What the device says of itself, and what it refuses.

mod common;

use ash::vk;
use common::{Vulkan, entry};

#[test]
fn the_device_is_a_compute_device_of_1_3() {
    let v = Vulkan::new();
    // SAFETY: live handles.
    unsafe {
        let properties = v.instance.get_physical_device_properties(v.physical);
        assert!(properties.api_version >= vk::API_VERSION_1_3);
        assert_eq!(properties.device_name_as_c_str().unwrap(), c"Pellucid");
        let families = v.instance.get_physical_device_queue_family_properties(v.physical);
        let flags = vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER | vk::QueueFlags::SPARSE_BINDING;
        assert_eq!(families[0].queue_flags, flags);
        assert!(families[0].queue_count >= 2);
        assert_eq!(families[0].timestamp_valid_bits, 64);
    }
}

#[test]
fn memory_types_offer_what_programs_look_for() {
    use vk::MemoryPropertyFlags as P;
    let v = Vulkan::new();
    // SAFETY: live handles.
    let memory = unsafe { v.instance.get_physical_device_memory_properties(v.physical) };
    let types: Vec<P> = memory.memory_types_as_slice().iter().map(|t| t.property_flags).collect();
    for wanted in [
        P::DEVICE_LOCAL,
        P::DEVICE_LOCAL | P::HOST_VISIBLE | P::HOST_COHERENT,
        P::HOST_VISIBLE | P::HOST_COHERENT,
        P::HOST_VISIBLE | P::HOST_CACHED,
    ] {
        assert!(types.contains(&wanted), "{wanted:?}");
    }
    assert_eq!(memory.memory_heap_count, 2);
}

#[test]
fn extension_structures_agree_with_the_core_versions() {
    let v = Vulkan::new();
    let mut model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut floats = vk::PhysicalDeviceShaderAtomicFloat2FeaturesEXT::default();
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
    // SAFETY: live handles, complete structures.
    unsafe {
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut model)
            .push_next(&mut v12)
            .push_next(&mut floats);
        v.instance.get_physical_device_features2(v.physical, &mut features);
        let mut properties =
            vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup).push_next(&mut v11);
        v.instance.get_physical_device_properties2(v.physical, &mut properties);
    }
    assert_eq!(model.vulkan_memory_model, vk::TRUE);
    assert_eq!(
        floats.shader_buffer_float64_atomic_min_max & floats.shader_image_float32_atomic_min_max,
        vk::TRUE
    );
    assert_eq!(floats.shader_buffer_float16_atomic_min_max, vk::TRUE);
    assert_eq!(model.vulkan_memory_model_device_scope, v12.vulkan_memory_model_device_scope);
    assert_eq!(subgroup.subgroup_size, v11.subgroup_size);
    assert_eq!(subgroup.supported_operations, v11.subgroup_supported_operations);
}

#[test]
fn products_of_cooperative_matrices_are_listed_as_far_as_there_is_room() {
    let mut feature = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default().cooperative_matrix(true);
    let v = Vulkan::with(&[ash::khr::cooperative_matrix::NAME], &mut feature);
    let matrices = ash::khr::cooperative_matrix::Instance::new(&v.entry, &v.instance);
    let mut stages = vk::PhysicalDeviceCooperativeMatrixPropertiesKHR::default();
    // SAFETY: live handles, complete structures.
    let (all, some, count) = unsafe {
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut stages);
        v.instance.get_physical_device_properties2(v.physical, &mut properties);
        let all = matrices.get_physical_device_cooperative_matrix_properties(v.physical).unwrap();
        let (mut two, mut count) = ([vk::CooperativeMatrixPropertiesKHR::default(); 2], 2);
        let get = matrices.fp().get_physical_device_cooperative_matrix_properties_khr;
        let some = get(v.physical, &raw mut count, two.as_mut_ptr());
        (all, some, count)
    };
    assert_eq!(stages.cooperative_matrix_supported_stages, vk::ShaderStageFlags::COMPUTE);
    assert_eq!((some, count), (vk::Result::INCOMPLETE, 2));
    let has = |a, b, sum, saturating| {
        all.iter().any(|p| {
            (p.m_size, p.n_size, p.k_size, p.scope) == (16, 16, 16, vk::ScopeKHR::SUBGROUP)
                && (p.a_type, p.b_type, p.c_type, p.result_type) == (a, b, sum, sum)
                && p.saturating_accumulation == vk::Bool32::from(saturating)
        })
    };
    use vk::ComponentTypeKHR as C;
    assert!(has(C::FLOAT16, C::FLOAT16, C::FLOAT32, false) && has(C::FLOAT16, C::FLOAT16, C::FLOAT16, false));
    assert!(has(C::SINT8, C::SINT8, C::SINT32, true) && has(C::UINT8, C::UINT8, C::UINT32, false));
    assert!(!has(C::FLOAT16, C::FLOAT16, C::FLOAT32, true));
}

#[test]
fn an_unsupported_feature_or_extension_refuses_the_device() {
    let v = Vulkan::new();
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&priorities)];
    let geometry = vk::PhysicalDeviceFeatures::default().geometry_shader(true);
    let mut pointers = vk::PhysicalDeviceVulkan11Features::default().protected_memory(true);
    let swapchain = [c"VK_KHR_swapchain".as_ptr()];
    let base = || vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: live handles, complete structures.
    let create = |info: &vk::DeviceCreateInfo<'_>| unsafe {
        v.instance.create_device(v.physical, info, None).map(|_| ()).unwrap_err()
    };
    assert_eq!(create(&base().enabled_features(&geometry)), vk::Result::ERROR_FEATURE_NOT_PRESENT);
    assert_eq!(create(&base().push_next(&mut pointers)), vk::Result::ERROR_FEATURE_NOT_PRESENT);
    assert_eq!(create(&base().enabled_extension_names(&swapchain)), vk::Result::ERROR_EXTENSION_NOT_PRESENT);
}

/// What a client's profile shows, and what stands behind it.
#[test]
fn a_profile_shows_what_the_client_looks_for() {
    use vk::Format as F;
    let name = "a_profile_shows_what_the_client_looks_for";
    let variables = [("PELLUCID_FOR", "slangpy"), ("PELLUCID_CONFORMANCE_VERSION", "1.3.8.1")];
    if let Some(text) = common::alone(name, &variables) {
        assert!(text.contains("vkCreateXlibSurfaceKHR: not implemented in Pellucid"), "{text}");
        assert!(!text.contains("vkCreateImage"), "{text}");
        return;
    }
    let entry = entry();
    let names = [c"VK_KHR_surface".as_ptr(), c"VK_KHR_xlib_surface".as_ptr()];
    // SAFETY: live handles, complete structures.
    unsafe {
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        let instance = entry.create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let family = instance.get_physical_device_queue_family_properties(physical)[0];
        assert!(family.queue_flags.contains(vk::QueueFlags::GRAPHICS));
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        instance.get_physical_device_properties2(physical, &mut properties);
        let limits = properties.properties.limits;
        assert_eq!(limits.max_color_attachments, 8);
        assert!(limits.max_vertex_output_components > 64 && limits.max_fragment_input_components > 64);
        let version = driver.conformance_version;
        assert_eq!((version.major, version.minor, version.subminor, version.patch), (1, 3, 8, 1));
        let features = instance.get_physical_device_features(physical);
        assert_eq!(features.independent_blend & features.fragment_stores_and_atomics, vk::TRUE);
        let attached = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
        let known = instance.get_physical_device_format_properties(physical, F::D32_SFLOAT_S8_UINT);
        assert!(known.optimal_tiling_features.contains(attached));
        let surfaces = ash::khr::xlib_surface::Instance::new(&entry, &instance);
        let info = vk::XlibSurfaceCreateInfoKHR::default();
        assert!(surfaces.create_xlib_surface(&info, None).is_err());
        let swapchain = [c"VK_KHR_swapchain".as_ptr()];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&swapchain);
        let device = instance.create_device(physical, &info, None).unwrap();
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(F::BC1_RGBA_UNORM_BLOCK)
            .extent(vk::Extent3D { width: 4, height: 4, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED);
        device.destroy_image(device.create_image(&info, None).unwrap(), None);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
}

#[test]
fn a_refused_device_names_what_is_missing() {
    let name = "a_refused_device_names_what_is_missing";
    if let Some(text) = common::alone(name, &[]) {
        assert!(text.contains("the extension VK_KHR_swapchain is not there"), "{text}");
        assert!(text.contains("the feature geometryShader is not there"), "{text}");
        assert!(text.contains("the feature protectedMemory is not there"), "{text}");
        return;
    }
    an_unsupported_feature_or_extension_refuses_the_device();
}

#[test]
fn names_resolve_for_those_who_may_ask() {
    let v = Vulkan::new();
    // SAFETY: live handles, null-terminated names.
    unsafe {
        let global = |name: &std::ffi::CStr| {
            vulkan_pellucid::vkGetInstanceProcAddr(vk::Instance::null(), name.as_ptr())
        };
        assert!(global(c"vkCreateInstance").is_some());
        assert!(global(c"vkCreateDevice").is_none());
        let of_instance = |name: &std::ffi::CStr| {
            vulkan_pellucid::vkGetInstanceProcAddr(v.instance.handle(), name.as_ptr())
        };
        assert!(of_instance(c"vkCmdDraw").is_some());
        assert!(of_instance(c"vkCmdNothing").is_none());
        let of_device =
            |name: &std::ffi::CStr| v.instance.get_device_proc_addr(v.device.handle(), name.as_ptr());
        assert!(of_device(c"vkCmdDispatch").is_some());
        assert!(of_device(c"vkCmdPushDescriptorSetKHR").is_some());
        assert!(of_device(c"vkCmdPipelineBarrier2KHR").is_none(), "the extension is not enabled");
        assert!(of_device(c"vkDestroyInstance").is_none(), "not a device function");
    }
}

#[test]
fn interface_versions_are_negotiated() {
    let ask = |mut version: u32| {
        // SAFETY: the pointer is valid.
        let result = unsafe { vulkan_pellucid::vk_icdNegotiateLoaderICDInterfaceVersion(&raw mut version) };
        (result, version)
    };
    assert_eq!(ask(5), (vk::Result::SUCCESS, 5));
    assert_eq!(ask(99), (vk::Result::SUCCESS, 7));
    assert_eq!(ask(0).0, vk::Result::ERROR_INCOMPATIBLE_DRIVER);
}

#[test]
fn layers_are_not_there() {
    let entry = entry();
    // SAFETY: a null-terminated name.
    unsafe {
        assert!(entry.enumerate_instance_layer_properties().unwrap().is_empty());
        let layer = entry.enumerate_instance_extension_properties(Some(c"VK_LAYER_x"));
        assert_eq!(layer.unwrap_err(), vk::Result::ERROR_LAYER_NOT_PRESENT);
    }
}

#[test]
fn storage_images_have_samples_and_colors_are_blitted() {
    use vk::{FormatFeatureFlags as F, ImageTiling as T};
    let v = Vulkan::new();
    let four = vk::SampleCountFlags::TYPE_4;
    // SAFETY: live handles.
    unsafe {
        let features = v.instance.get_physical_device_features(v.physical);
        assert_eq!(features.shader_storage_image_multisample, vk::TRUE);
        let limits = v.instance.get_physical_device_properties(v.physical).limits;
        assert!(limits.storage_image_sample_counts.contains(four));
        let of = |format, tiling, usage| {
            let kind = vk::ImageType::TYPE_2D;
            v.instance.get_physical_device_image_format_properties(
                v.physical,
                format,
                kind,
                tiling,
                usage,
                Default::default(),
            )
        };
        let storage = of(vk::Format::R32_UINT, T::OPTIMAL, vk::ImageUsageFlags::STORAGE).unwrap();
        assert!(storage.sample_counts.contains(four));
        let linear = of(vk::Format::R32_UINT, T::LINEAR, vk::ImageUsageFlags::STORAGE).unwrap();
        assert_eq!(linear.sample_counts, vk::SampleCountFlags::TYPE_1);
        assert!(linear.max_mip_levels > 1 && linear.max_array_layers > 1);
        for format in [vk::Format::R4G4B4A4_UNORM_PACK16, vk::Format::A2B10G10R10_SNORM_PACK32] {
            let properties = v.instance.get_physical_device_format_properties(v.physical, format);
            let both = properties.linear_tiling_features & properties.optimal_tiling_features;
            assert!(both.contains(F::BLIT_SRC | F::BLIT_DST), "{format:?}: {both:?}");
        }
    }
}

/// *Required Format Support* has no exception for a device whose queues have no graphics, and scripts of the
/// conformance suite ask for it.
#[test]
fn required_formats_can_be_attachments_though_nothing_draws() {
    use vk::FormatFeatureFlags as F;
    let v = Vulkan::new();
    for (format, required) in [
        (
            vk::Format::B8G8R8A8_UNORM,
            F::COLOR_ATTACHMENT | F::COLOR_ATTACHMENT_BLEND | F::BLIT_SRC | F::BLIT_DST,
        ),
        (vk::Format::R32_UINT, F::COLOR_ATTACHMENT | F::BLIT_SRC | F::BLIT_DST),
        (vk::Format::D16_UNORM, F::DEPTH_STENCIL_ATTACHMENT | F::BLIT_SRC),
    ] {
        // SAFETY: live handles.
        let features = unsafe { v.instance.get_physical_device_format_properties(v.physical, format) };
        assert!(features.optimal_tiling_features.contains(required), "{format:?}: {features:?}");
        assert!(!features.linear_tiling_features.intersects(F::DEPTH_STENCIL_ATTACHMENT));
    }
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::B8G8R8A8_UNORM)
        .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_4)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
    // SAFETY: live handles, a complete structure; the image is destroyed once.
    unsafe {
        let image = v.device.create_image(&info, None).unwrap();
        let requirements = v.device.get_image_memory_requirements(image);
        let memory = v.instance.get_physical_device_memory_properties(v.physical);
        let lazy = memory
            .memory_types_as_slice()
            .iter()
            .position(|t| t.property_flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED));
        assert_eq!(requirements.memory_type_bits >> lazy.unwrap() & 1, 1);
        assert!(requirements.size >= 16 * 16 * 4 * 4);
        v.device.destroy_image(image, None);
    }
}
