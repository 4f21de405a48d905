//! The crate `vulkano`: one dispatch of square.spv with a specialization constant, its result checked.

use std::error::Error;
use std::sync::Arc;
use vulkano::buffer::{Buffer, BufferCreateInfo, BufferUsage};
use vulkano::command_buffer::allocator::StandardCommandBufferAllocator;
use vulkano::command_buffer::{AutoCommandBufferBuilder, CommandBufferUsage};
use vulkano::descriptor_set::allocator::StandardDescriptorSetAllocator;
use vulkano::descriptor_set::{DescriptorSet, WriteDescriptorSet};
use vulkano::device::{Device, DeviceCreateInfo, QueueCreateInfo, QueueFlags};
use vulkano::instance::{Instance, InstanceCreateInfo};
use vulkano::memory::allocator::{AllocationCreateInfo, MemoryTypeFilter, StandardMemoryAllocator};
use vulkano::pipeline::compute::ComputePipelineCreateInfo;
use vulkano::pipeline::layout::PipelineDescriptorSetLayoutCreateInfo;
use vulkano::pipeline::{
    ComputePipeline, Pipeline, PipelineBindPoint, PipelineLayout, PipelineShaderStageCreateInfo,
};
use vulkano::shader::{ShaderModule, ShaderModuleCreateInfo};
use vulkano::sync::{self, GpuFuture};
use vulkano::VulkanLibrary;

const COUNT: u32 = 4096;
const BIAS: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let instance = Instance::new(VulkanLibrary::new()?, InstanceCreateInfo::default())?;
    let physical = instance.enumerate_physical_devices()?.next().ok_or("no device")?;
    println!("device: {}", physical.properties().device_name);
    let compute = |flags: QueueFlags| flags.intersects(QueueFlags::COMPUTE);
    let family =
        physical.queue_family_properties().iter().position(|f| compute(f.queue_flags)).ok_or("no queue")?;
    let queue_create_infos =
        vec![QueueCreateInfo { queue_family_index: family as u32, ..Default::default() }];
    let (device, mut queues) =
        Device::new(physical, DeviceCreateInfo { queue_create_infos, ..Default::default() })?;
    let queue = queues.next().ok_or("no queue")?;

    let bytes = include_bytes!("../../square.spv");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    // SAFETY: the module is valid SPIR-V, made by glslangValidator.
    let module = unsafe { ShaderModule::new(device.clone(), ShaderModuleCreateInfo::new(&words))? };
    let module = module.specialize([(0, BIAS.into())].into_iter().collect())?;
    let stage = PipelineShaderStageCreateInfo::new(module.entry_point("main").ok_or("no entry point")?);
    let layout = PipelineDescriptorSetLayoutCreateInfo::from_stages([&stage]);
    let layout =
        PipelineLayout::new(device.clone(), layout.into_pipeline_layout_create_info(device.clone())?)?;
    let pipeline =
        ComputePipeline::new(device.clone(), None, ComputePipelineCreateInfo::stage_layout(stage, layout))?;

    let memory = Arc::new(StandardMemoryAllocator::new_default(device.clone()));
    let buffer = Buffer::from_iter(
        memory,
        BufferCreateInfo { usage: BufferUsage::STORAGE_BUFFER, ..Default::default() },
        AllocationCreateInfo {
            memory_type_filter: MemoryTypeFilter::PREFER_DEVICE | MemoryTypeFilter::HOST_RANDOM_ACCESS,
            ..Default::default()
        },
        0..COUNT,
    )?;
    let sets = Arc::new(StandardDescriptorSetAllocator::new(device.clone(), Default::default()));
    let write = [WriteDescriptorSet::buffer(0, buffer.clone())];
    let set = DescriptorSet::new(sets, pipeline.layout().set_layouts()[0].clone(), write, [])?;

    let commands = Arc::new(StandardCommandBufferAllocator::new(device.clone(), Default::default()));
    let mut builder = AutoCommandBufferBuilder::primary(
        commands,
        queue.queue_family_index(),
        CommandBufferUsage::OneTimeSubmit,
    )?;
    builder.bind_pipeline_compute(pipeline.clone())?;
    builder.bind_descriptor_sets(PipelineBindPoint::Compute, pipeline.layout().clone(), 0, set)?;
    // SAFETY: the shader checks its index against the buffer's length.
    unsafe { builder.dispatch([COUNT / 64, 1, 1])? };
    let future = sync::now(device).then_execute(queue, builder.build()?)?.then_signal_fence_and_flush()?;
    future.wait(None)?;

    let result = buffer.read()?;
    for (i, value) in (0u32..).zip(result.iter()) {
        assert_eq!(*value, i.wrapping_mul(i).wrapping_add(BIAS), "element {i}");
    }
    println!("first results: {:?}", &result[..6]);
    println!("vulkano: ok");
    Ok(())
}
