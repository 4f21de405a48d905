//! VK_EXT_mutable_descriptor_type: descriptors of one binding that are of different types.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use vk::{AccessFlags as Access, DescriptorType as Type, PipelineStageFlags as Stage};

/// Fills two buffers; behind a barrier to these accesses, a shader reads them through the elements of one
/// mutable binding, of which the first is a uniform and the second a storage buffer: their sum.
fn sum(read: Access) -> u32 {
    let mut feature =
        vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT::default().mutable_descriptor_type(true);
    let v = Vulkan::with(&[ash::ext::mutable_descriptor_type::NAME], &mut feature);
    let [(first, ..), (second, ..), (result, _, mapped)] = std::array::from_fn(|_| v.buffer(256, 1));
    let (compute, point) = (vk::ShaderStageFlags::COMPUTE, vk::PipelineBindPoint::COMPUTE);
    let types = [Type::UNIFORM_BUFFER, Type::STORAGE_BUFFER];
    let lists = [vk::MutableDescriptorTypeListEXT::default().descriptor_types(&types)];
    let mut lists = vk::MutableDescriptorTypeCreateInfoEXT::default().mutable_descriptor_type_lists(&lists);
    let binding = |number, kind, count| {
        let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(kind);
        binding.descriptor_count(count).stage_flags(compute)
    };
    let bindings = [binding(0, Type::MUTABLE_EXT, 2), binding(1, Type::STORAGE_BUFFER, 1)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).push_next(&mut lists);
    let sizes = [
        vk::DescriptorPoolSize::default().ty(Type::MUTABLE_EXT).descriptor_count(2),
        vk::DescriptorPoolSize::default().ty(Type::STORAGE_BUFFER).descriptor_count(1),
    ];
    let barrier =
        [vk::MemoryBarrier::default().src_access_mask(Access::TRANSFER_WRITE).dst_access_mask(read)];
    let after = [vk::MemoryBarrier::default()
        .src_access_mask(Access::SHADER_WRITE)
        .dst_access_mask(Access::HOST_READ)];
    // SAFETY: valid usage, but for the barrier's accesses.
    unsafe {
        let layout = v.device.create_descriptor_set_layout(&info, None).unwrap();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = v.device.create_descriptor_pool(&info, None).unwrap();
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = v.device.allocate_descriptor_sets(&info).unwrap()[0];
        for (buffer, number, element, kind) in [
            (first, 0, 0, Type::UNIFORM_BUFFER),
            (second, 0, 1, Type::STORAGE_BUFFER),
            (result, 1, 0, Type::STORAGE_BUFFER),
        ] {
            let info = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number);
            let write = write.dst_array_element(element).descriptor_type(kind).buffer_info(&info);
            v.device.update_descriptor_sets(&[write], &[]);
        }
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let layout = v.device.create_pipeline_layout(&info, None).unwrap();
        let code = include_bytes!("shaders/mutable.spv");
        let words = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
        let pipeline = v.pipeline(&words, c"main", layout).unwrap();
        v.run(v.record(|c| {
            let flags = vk::DependencyFlags::empty();
            let (transfer, shader) = (Stage::TRANSFER, Stage::COMPUTE_SHADER);
            v.device.cmd_fill_buffer(c, first, 0, 256, 30);
            v.device.cmd_fill_buffer(c, second, 0, 256, 12);
            v.device.cmd_pipeline_barrier(c, transfer, shader, flags, &barrier, &[], &[]);
            v.device.cmd_bind_pipeline(c, point, pipeline);
            v.device.cmd_bind_descriptor_sets(c, point, layout, 0, &[set], &[]);
            v.device.cmd_dispatch(c, 1, 1, 1);
            v.device.cmd_pipeline_barrier(c, shader, Stage::HOST, flags, &after, &[], &[]);
        }));
    }
    v.words(mapped, 1)[0]
}

#[test]
fn reads_of_one_binding_have_the_access_types_of_their_descriptors() {
    let cases = [Access::UNIFORM_READ | Access::SHADER_READ, Access::UNIFORM_READ, Access::SHADER_READ];
    let mut told = Vec::new();
    for (number, read) in cases.into_iter().enumerate() {
        let name = "reads_of_one_binding_have_the_access_types_of_their_descriptors";
        let variables = [("PELLUCID_MODE", "check"), ("TEST_CASE", &number.to_string())];
        match alone(name, &variables) {
            Some(text) => told.push(text),
            None if std::env::var("TEST_CASE").unwrap() == number.to_string() => {
                sum(read);
                return;
            }
            None => {}
        }
    }
    let found: Vec<_> = told.iter().map(|text| text.matches("error[").count()).collect();
    assert_eq!(found, [0, 1, 1], "{told:#?}");
    let missing = |text: &str, access: &str| text.contains(&format!("help: add {access} to dstAccessMask"));
    assert!(missing(&told[1], "SHADER_STORAGE_READ") && missing(&told[2], "UNIFORM_READ"), "{told:#?}");
}

#[test]
fn each_descriptor_is_read_as_what_it_is() {
    assert_eq!(sum(Access::UNIFORM_READ | Access::SHADER_READ), 42);
}
