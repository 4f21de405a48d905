//! VK_EXT_shader_object, and what else is asked of compiled shaders and of time.

mod common;

use ash::vk;
use common::{Spin, Vulkan};

/// Bytes that lie as words do.
#[repr(align(4))]
struct Words<const N: usize>([u8; N]);

const CODE: &[u8] = &Words(*include_bytes!("shaders/spin.spv")).0;

/// What creates the shader of [`Spin`] from code of a type.
fn info<'a>(
    kind: vk::ShaderCodeTypeEXT,
    code: &'a [u8],
    layouts: &'a [vk::DescriptorSetLayout],
    push: &'a [vk::PushConstantRange],
) -> vk::ShaderCreateInfoEXT<'a> {
    vk::ShaderCreateInfoEXT::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .code_type(kind)
        .code(code)
        .name(c"main")
        .set_layouts(layouts)
        .push_constant_ranges(push)
}

#[test]
fn a_shader_object_runs_and_comes_back_from_its_binary() {
    let mut feature = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    let v = Vulkan::with(&[ash::ext::shader_object::NAME], &mut feature);
    let objects = ash::ext::shader_object::Device::new(&v.instance, &v.device);
    let spin = Spin::new(&v, false);
    let (buffer, _, words) = v.buffer(128, 1);
    let (_, set) = spin.set(&v);
    spin.update(&v, set, buffer);
    let (compute, point) = (vk::ShaderStageFlags::COMPUTE, vk::PipelineBindPoint::COMPUTE);
    let push = [vk::PushConstantRange::default().size(16).stage_flags(compute)];
    let layouts = [spin.set_layout];
    // SAFETY: valid usage, but for the binary of another driver, which is to be refused.
    unsafe {
        words.write_bytes(0, 128);
        let of = |kind, code| objects.create_shaders(&[info(kind, code, &layouts, &push)], None);
        let first = of(vk::ShaderCodeTypeEXT::SPIRV, CODE).unwrap()[0];
        let binary = objects.get_shader_binary_data(first).unwrap();
        let (mut size, mut room) = (binary.len() - 1, vec![7u8; binary.len()]);
        let get = objects.fp().get_shader_binary_data_ext;
        let short = get(v.device.handle(), first, &raw mut size, room.as_mut_ptr().cast());
        assert_eq!((short, size, room[0]), (vk::Result::INCOMPLETE, 0, 7));
        objects.destroy_shader(first, None);
        let others = of(vk::ShaderCodeTypeEXT::BINARY, &room).unwrap_err();
        assert_eq!(others.1, vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT);
        assert_eq!(others.0, [vk::ShaderEXT::null()]);
        let again = of(vk::ShaderCodeTypeEXT::BINARY, &binary).unwrap()[0];
        v.run(v.record(|c| {
            v.device.cmd_bind_descriptor_sets(c, point, spin.layout, 0, &[set], &[]);
            v.device.cmd_push_constants(c, spin.layout, compute, 0, &3u32.to_le_bytes());
            objects.cmd_bind_shaders(c, &[compute], &[again]);
            v.device.cmd_dispatch(c, 1, 1, 1);
        }));
        v.device.device_wait_idle().unwrap();
        objects.destroy_shader(again, None);
    }
    assert_eq!(v.words(words, 32), [3; 32]);
}

#[test]
fn no_compute_shader_is_bound_where_none_is_named() {
    let mut faults = vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true);
    let mut feature = vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true);
    feature.p_next = (&raw mut faults).cast();
    let v = Vulkan::with(&[ash::ext::shader_object::NAME, ash::ext::device_fault::NAME], &mut feature);
    let faults = ash::ext::device_fault::Device::new(&v.instance, &v.device);
    let objects = ash::ext::shader_object::Device::new(&v.instance, &v.device);
    let spin = Spin::new(&v, false);
    let (buffer, _, words) = v.buffer(128, 1);
    let (_, set) = spin.set(&v);
    spin.update(&v, set, buffer);
    let (compute, point) = (vk::ShaderStageFlags::COMPUTE, vk::PipelineBindPoint::COMPUTE);
    let bind = objects.fp().cmd_bind_shaders_ext;
    // SAFETY: valid usage, but for the last dispatch, for which the driver promises an error.
    unsafe {
        words.write_bytes(0, 128);
        let record = |again: bool| {
            v.record(|c| {
                spin.record(&v, c, set, buffer, 3);
                bind(c, 1, &raw const compute, std::ptr::null());
                if again {
                    v.device.cmd_bind_pipeline(c, point, spin.pipeline);
                    objects.cmd_bind_shaders(c, &[vk::ShaderStageFlags::VERTEX], &[vk::ShaderEXT::null()]);
                }
                v.device.cmd_dispatch(c, 1, 1, 1);
            })
        };
        v.run(record(true));
        assert_eq!(v.words(words, 32), [6; 32]);
        let (buffers, fence) = ([record(false)], vk::Fence::null());
        let info = [vk::SubmitInfo::default().command_buffers(&buffers)];
        let fault = |info: *mut vk::DeviceFaultInfoEXT<'_>| {
            let mut counts = vk::DeviceFaultCountsEXT::default().address_info_count(7);
            let get = faults.fp().get_device_fault_info_ext;
            (get(v.device.handle(), &raw mut counts, info), counts.address_info_count)
        };
        assert_ne!(fault(std::ptr::null_mut()).0, vk::Result::SUCCESS, "the device is not lost yet");
        v.device.queue_submit(v.queues[0], &info, fence).unwrap();
        assert_eq!(v.device.device_wait_idle(), Err(vk::Result::ERROR_DEVICE_LOST));
        let mut told = vk::DeviceFaultInfoEXT::default();
        assert_eq!(fault(std::ptr::null_mut()), (vk::Result::SUCCESS, 0));
        assert_eq!(fault(&raw mut told), (vk::Result::SUCCESS, 0));
        let why = told.description_as_c_str().unwrap().to_str().unwrap();
        assert_eq!(why, "vkCmdDispatch: neither a compute pipeline nor a compute shader is bound");
    }
}

#[test]
fn a_pipeline_shows_its_instructions() {
    let mut feature =
        vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
    let v = Vulkan::with(&[ash::khr::pipeline_executable_properties::NAME], &mut feature);
    let shown = ash::khr::pipeline_executable_properties::Device::new(&v.instance, &v.device);
    let spin = Spin::new(&v, false);
    let info = vk::PipelineInfoKHR::default().pipeline(spin.pipeline);
    let which = vk::PipelineExecutableInfoKHR::default().pipeline(spin.pipeline);
    // SAFETY: valid usage.
    unsafe {
        let executables = shown.get_pipeline_executable_properties(&info).unwrap();
        assert_eq!((executables.len(), executables[0].stages), (1, vk::ShaderStageFlags::COMPUTE));
        let statistics = shown.get_pipeline_executable_statistics(&which).unwrap();
        assert!(!statistics.is_empty() && statistics.iter().all(|s| s.value.u64 < 1000));
        let get = shown.fp().get_pipeline_executable_internal_representations_khr;
        let mut text = [vk::PipelineExecutableInternalRepresentationKHR::default()];
        let mut count = 1;
        let mut ask = |text: *mut _| get(v.device.handle(), &raw const which, &raw mut count, text);
        assert_eq!(ask(text.as_mut_ptr()), vk::Result::SUCCESS);
        let mut bytes = vec![7u8; text[0].data_size];
        text[0].p_data = bytes.as_mut_ptr().cast();
        assert_eq!(ask(text.as_mut_ptr()), vk::Result::SUCCESS);
        assert!(bytes.iter().position(|b| *b == 0) == Some(bytes.len() - 1) && bytes.len() > 100);
        text[0].data_size = 10;
        bytes.fill(7);
        assert_eq!(ask(text.as_mut_ptr()), vk::Result::INCOMPLETE);
        assert_eq!((bytes[9], bytes[10]), (0, 7));
    }
}

#[test]
fn timestamps_of_host_and_device_are_taken_together() {
    let mut none = vk::PhysicalDeviceVulkan13Features::default();
    let v = Vulkan::with(&[ash::khr::calibrated_timestamps::NAME], &mut none);
    let host = ash::khr::calibrated_timestamps::Instance::new(&v.entry, &v.instance);
    let clocks = ash::khr::calibrated_timestamps::Device::new(&v.instance, &v.device);
    // SAFETY: valid usage.
    unsafe {
        let domains = host.get_physical_device_calibrateable_time_domains(v.physical).unwrap();
        assert!(domains.contains(&vk::TimeDomainKHR::DEVICE));
        let asked: Vec<_> =
            domains.iter().map(|d| vk::CalibratedTimestampInfoKHR::default().time_domain(*d)).collect();
        let ((early, deviation), (late, _)) = (
            clocks.get_calibrated_timestamps(&asked).unwrap(),
            clocks.get_calibrated_timestamps(&asked).unwrap(),
        );
        assert!(deviation > 0 && early.len() == 3);
        assert!(early.iter().zip(&late).all(|(a, b)| a <= b), "{early:?} {late:?}");
    }
}
