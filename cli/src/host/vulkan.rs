//! The Vulkan side of a program: what is bound, recorded and read, in the order in which an application does
//! it. The argument behind each unsafe block is that of [`super::context`].

use super::context::{Bound, Buffer, Commands, Context, Named as _, Physical};
use super::{BindingKind, Contents, HostError, HostProgram};
use ash::{Device, Entry, vk};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ops::Range;

/// The first device of a driver with all its features but robust accesses: those out of bounds are to be
/// found.
fn context(entry: &Entry) -> Result<Context, HostError> {
    let physical = Physical::first(entry, c"pellucid exec")?;
    let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut features11)
        .push_next(&mut features12)
        .push_next(&mut features13);
    // SAFETY: see `context`.
    unsafe { physical.instance.get_physical_device_features2(physical.device, &mut features) };
    let features10 = features.features.robust_buffer_access(false);
    features13.robust_image_access = vk::FALSE;
    let info = vk::DeviceCreateInfo::default().enabled_features(&features10).push_next(&mut features13);
    physical.create(info)
}

fn buffer(context: &Context, contents: &[u8]) -> Result<Buffer, HostError> {
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::UNIFORM_BUFFER;
    let buffer = Buffer::new(context, contents.len(), usage)?;
    // SAFETY: the mapping covers `contents.len()` bytes and nothing else writes to it yet.
    unsafe { std::ptr::copy_nonoverlapping(contents.as_ptr(), buffer.host, contents.len()) };
    Ok(buffer)
}

fn read(buffer: &Buffer) -> Result<Vec<u8>, HostError> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(buffer.size).map_err(|_| {
        HostError::Program(format!("there is no memory for the {} bytes of a buffer", buffer.size))
    })?;
    // SAFETY: the memory is mapped for `size` bytes and the device is idle.
    bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(buffer.host, buffer.size) });
    Ok(bytes)
}

type Bindings = BTreeMap<(u32, u32), BindingKind>;

fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
    }
}

/// Bytes of the push constant range.
fn push_size(program: &HostProgram) -> u32 {
    program.push_constants.iter().map(|(offset, bytes)| offset + bytes.len() as u32).max().unwrap_or(0)
}

fn bound(context: &Context, program: &HostProgram, bindings: &Bindings) -> Result<Bound, HostError> {
    let set_count = bindings.keys().map(|(set, _)| set + 1).max().unwrap_or(0);
    let entry =
        CString::new(program.entry.as_str()).map_err(|_| HostError::Program("bad entry point".to_owned()))?;
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (id, bytes) in &program.specialization {
        entries.push(vk::SpecializationMapEntry {
            constant_id: *id,
            offset: data.len() as u32,
            size: bytes.len(),
        });
        data.extend_from_slice(bytes);
    }
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut sets = vec![Vec::new(); set_count as usize];
    for ((set, binding), kind) in bindings {
        sets[*set as usize].push((*binding, descriptor_type(*kind)));
    }
    let stage =
        vk::PipelineShaderStageCreateInfo::default().name(&entry).specialization_info(&specialization);
    Bound::new(context, &program.words, stage, &sets, push_size(program))
}

fn write(device: &Device, bound: &Bound, bindings: &Bindings, buffer_of: impl Fn(u32, u32) -> vk::Buffer) {
    for ((set, binding), kind) in bindings {
        let whole = vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE);
        let info = [whole.buffer(buffer_of(*set, *binding))];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(bound.sets[*set as usize])
            .dst_binding(*binding)
            .descriptor_type(descriptor_type(*kind))
            .buffer_info(&info);
        // SAFETY: see `context`.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }
}

/// Dispatches recorded before they are submitted: a command buffer holds every one of them.
const RECORDED: u32 = 4096;

/// Records, submits and waits.
fn dispatch(context: &Context, bound: &Bound, program: &HostProgram) -> Result<(), HostError> {
    let commands = Commands::new(context)?;
    let all = program.repeat.max(1);
    let done = (0..all).step_by(RECORDED as usize).try_for_each(|first| {
        let repetitions = first..all.min(first.saturating_add(RECORDED));
        // SAFETY: the command buffer was reset after it was waited for, and `bound` outlives this function.
        unsafe { record(&context.device, commands.buffer, bound, program, repetitions, all)? };
        commands.run(context, u64::MAX)
    });
    commands.destroy(&context.device);
    done
}

/// Records some of the `all` repetitions of a program's dispatch.
///
/// # Safety
/// The command buffer is in its initial state, and `bound` lives until it has been executed.
unsafe fn record(
    device: &Device,
    commands: vk::CommandBuffer,
    bound: &Bound,
    program: &HostProgram,
    repetitions: Range<u32>,
    all: u32,
) -> Result<(), HostError> {
    let compute = vk::PipelineStageFlags::COMPUTE_SHADER;
    let none = vk::DependencyFlags::empty();
    let written = vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::SHADER_WRITE);
    // SAFETY: what the caller promises, and `context`.
    unsafe {
        let begin = vk::CommandBufferBeginInfo::default();
        device.begin_command_buffer(commands, &begin).named("vkBeginCommandBuffer")?;
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, bound.pipeline);
        if !bound.sets.is_empty() {
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_descriptor_sets(commands, point, bound.layout, 0, &bound.sets, &[]);
        }
        for (offset, bytes) in &program.push_constants {
            let stages = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, bound.layout, stages, *offset, bytes);
        }
        let last = repetitions.end == all;
        for repetition in repetitions {
            if repetition > 0 {
                let access = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
                let barrier = [written.dst_access_mask(access)];
                device.cmd_pipeline_barrier(commands, compute, compute, none, &barrier, &[], &[]);
            }
            let [x, y, z] = program.groups;
            device.cmd_dispatch(commands, x, y, z);
        }
        if last {
            let barrier = [written.dst_access_mask(vk::AccessFlags::HOST_READ)];
            let host = vk::PipelineStageFlags::HOST;
            device.cmd_pipeline_barrier(commands, compute, host, none, &barrier, &[], &[]);
        }
        device.end_command_buffer(commands).named("vkEndCommandBuffer")
    }
}

/// What `with` makes of a device.
///
/// # Errors
/// There is none.
pub fn with_device<T>(entry: &Entry, with: impl FnOnce(vk::Device) -> T) -> Result<T, HostError> {
    let context = context(entry)?;
    Ok(with(context.device.handle()))
}

/// Runs a program whose buffers fit `bindings`.
///
/// # Errors
/// A call fails.
pub fn run(
    entry: &Entry,
    program: &HostProgram,
    bindings: &Bindings,
) -> Result<BTreeMap<(u32, u32), Vec<u8>>, HostError> {
    let context = context(entry)?;
    let most_sets = context.limits.max_bound_descriptor_sets;
    if let Some((set, binding)) = bindings.keys().find(|(set, _)| *set >= most_sets) {
        return Err(HostError::Program(format!(
            "the shader's buffer {set}:{binding} is in a set beyond the device's {most_sets} (maxBoundDescriptorSets)"
        )));
    }
    let mut buffers: BTreeMap<(u32, u32), Buffer> = BTreeMap::new();
    let mut aliases: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
    for (key, contents) in &program.buffers {
        match contents {
            Contents::Bytes(bytes) => {
                buffers.insert(*key, buffer(&context, bytes)?);
            }
            Contents::Alias { set, binding } => {
                aliases.insert(*key, (*set, *binding));
            }
        }
    }
    let done = bound(&context, program, bindings).and_then(|bound| {
        write(&context.device, &bound, bindings, |set, binding| {
            let key = aliases.get(&(set, binding)).copied().unwrap_or((set, binding));
            buffers.get(&key).map_or(vk::Buffer::null(), |b| b.buffer)
        });
        let done = dispatch(&context, &bound, program);
        bound.destroy(&context.device);
        done
    });
    let contents = buffers.iter().map(|(key, buffer)| Ok((*key, read(buffer)?))).collect();
    buffers.values().for_each(|buffer| buffer.destroy(&context.device));
    done.and(contents)
}
