//! Pipelines, descriptors, and the steps of a case.

use super::Device;
use super::barriers;
use super::resource::{COLOUR, Object, Resources, whole};
use crate::corpus::shaders::Shader;
use crate::corpus::step::Dependency;
use crate::corpus::{Case, Descriptor, Step, Test, Value};
use anyhow::{Context, Result, anyhow};
use ash::vk;
use std::collections::BTreeMap;

/// Does the steps of a case.
pub struct Recorder<'a> {
    device: &'a Device,
    case: &'a Case,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    pipelines: BTreeMap<String, vk::Pipeline>,
    push: Vec<u8>,
    pool: vk::CommandPool,
    command: Option<vk::CommandBuffer>,
    queue: usize,
    semaphores: BTreeMap<String, vk::Semaphore>,
    timelines: Vec<String>,
    events: BTreeMap<String, vk::Event>,
    /// Layouts of images, GENERAL at first.
    layouts: BTreeMap<String, vk::ImageLayout>,
}

const MINUTE: u64 = 60_000_000_000;

fn descriptor_type(descriptor: Descriptor) -> vk::DescriptorType {
    match descriptor {
        Descriptor::Storage => vk::DescriptorType::STORAGE_BUFFER,
        Descriptor::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        Descriptor::Image => vk::DescriptorType::STORAGE_IMAGE,
        Descriptor::Texel => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

impl<'a> Recorder<'a> {
    /// Creates pipelines and descriptors.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn create(
        device: &'a Device,
        test: &Test,
        case: &'a Case,
        resources: &Resources,
    ) -> Result<Recorder<'a>> {
        let (set_layout, set) = descriptors(device, case, resources)?;
        let mut push = Vec::new();
        for value in &case.push {
            match value {
                Value::Word(word) => push.extend(word.to_le_bytes()),
                Value::Address(name) => {
                    push.resize(push.len().next_multiple_of(8), 0);
                    push.extend(resources.get(name)?.address.to_le_bytes());
                }
            }
        }
        let d = &device.device;
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(push.len() as u32)];
        let layouts = [set_layout];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        if !push.is_empty() {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: the set layout is live.
        let layout = unsafe { d.create_pipeline_layout(&info, None)? };
        let mut pipelines = BTreeMap::new();
        for name in case.shaders.keys().map(String::as_str).chain(["main"]) {
            if let Some(shader) = Shader::of(test, case, name) {
                let pipeline = pipeline(device, case, &shader, layout)?;
                device.name(pipeline, name);
                pipelines.insert(name.to_owned(), pipeline);
            }
        }
        // SAFETY: family 0 exists.
        let pool = unsafe { d.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)? };
        let timelines = case
            .steps
            .iter()
            .filter_map(|s| if let Step::HostSignal(name) = s { Some(name.clone()) } else { None })
            .collect();
        Ok(Recorder {
            device,
            case,
            layout,
            set,
            pipelines,
            push,
            pool,
            command: None,
            queue: 0,
            semaphores: BTreeMap::new(),
            timelines,
            events: BTreeMap::new(),
            layouts: BTreeMap::new(),
        })
    }

    /// Does all steps, and waits for the device.
    ///
    /// # Errors
    /// A Vulkan call fails.
    pub fn run(&mut self, resources: &mut Resources) -> Result<()> {
        let case = self.case;
        for step in &case.steps {
            self.step(step, resources).with_context(|| format!("{step:?}"))?;
        }
        if self.command.is_some() {
            self.submit(&[], &[], vk::Fence::null())?;
        }
        // SAFETY: the device is live.
        unsafe { self.device.device.device_wait_idle() }.context("vkDeviceWaitIdle")
    }

    fn step(&mut self, step: &Step, resources: &mut Resources) -> Result<()> {
        let d = &self.device.device;
        match step {
            Step::Submit { wait, signal } => return self.submit(wait, signal, vk::Fence::null()),
            Step::Queue(index) => {
                self.queue = *index as usize;
                self.device.queues.get(self.queue).context("the driver has no second queue")?;
                return Ok(());
            }
            Step::Fence => {
                // SAFETY: the fence is idle when it is destroyed.
                unsafe {
                    let fence = d.create_fence(&vk::FenceCreateInfo::default(), None)?;
                    self.submit(&[], &[], fence)?;
                    self.device.device.wait_for_fences(&[fence], true, MINUTE).context("vkWaitForFences")?;
                    self.device.device.destroy_fence(fence, None);
                }
                return Ok(());
            }
            Step::HostSignal(name) => {
                let semaphore = self.semaphore(name)?;
                let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
                // SAFETY: the semaphore is a timeline semaphore of this device.
                unsafe { self.device.device.signal_semaphore(&info)? };
                return Ok(());
            }
            Step::Free(name) => {
                let object = resources.0.remove(name).with_context(|| format!("no resource {name}"))?;
                // SAFETY: the handles are live. That the device still uses them is what the test is about.
                unsafe {
                    d.destroy_buffer(object.buffer, None);
                    d.free_memory(object.memory, None);
                }
                return Ok(());
            }
            _ => {}
        }
        let command = self.recording()?;
        self.record(command, step, resources)
    }

    fn recording(&mut self) -> Result<vk::CommandBuffer> {
        if let Some(command) = self.command {
            return Ok(command);
        }
        let d = &self.device.device;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is live and used by this thread only.
        let command = unsafe {
            let command = d.allocate_command_buffers(&info)?[0];
            d.begin_command_buffer(command, &vk::CommandBufferBeginInfo::default())?;
            command
        };
        self.command = Some(command);
        Ok(command)
    }

    fn bind(&self, command: vk::CommandBuffer, shader: &str, push: &[u32]) -> Result<()> {
        let d = &self.device.device;
        let pipeline = *self.pipelines.get(shader).with_context(|| format!("no shader {shader}"))?;
        let mut bytes = self.push.clone();
        for (slot, word) in bytes.chunks_exact_mut(4).zip(push) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        // SAFETY: the command buffer is being recorded, the handles are live, and the range is that of the
        // layout.
        unsafe {
            d.cmd_bind_pipeline(command, vk::PipelineBindPoint::COMPUTE, pipeline);
            let sets = [self.set];
            d.cmd_bind_descriptor_sets(command, vk::PipelineBindPoint::COMPUTE, self.layout, 0, &sets, &[]);
            if !bytes.is_empty() {
                d.cmd_push_constants(command, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &bytes);
            }
        }
        Ok(())
    }

    fn record(&mut self, command: vk::CommandBuffer, step: &Step, resources: &Resources) -> Result<()> {
        match step {
            Step::Dispatch { shader, push, .. } => self.bind(command, shader, push)?,
            Step::Indirect { shader, .. } => self.bind(command, shader, &[])?,
            _ => {}
        }
        let d = &self.device.device;
        // SAFETY: the command buffer is being recorded, the handles are live, and sizes are those of the
        // buffers.
        unsafe {
            match step {
                Step::Dispatch { groups: [x, y, z], .. } => d.cmd_dispatch(command, *x, *y, *z),
                Step::Indirect { buffer, offset, .. } => {
                    d.cmd_dispatch_indirect(command, resources.get(buffer)?.buffer, *offset);
                }
                Step::Fill { buffer, value } => {
                    let object = resources.get(buffer)?;
                    if object.image == vk::Image::null() {
                        d.cmd_fill_buffer(command, object.buffer, 0, vk::WHOLE_SIZE, *value);
                    } else {
                        let (layout, color) =
                            (self.layout_of(buffer), vk::ClearColorValue { uint32: [*value; 4] });
                        d.cmd_clear_color_image(command, object.image, layout, &color, &[COLOUR]);
                    }
                }
                Step::Copy { from, to } => {
                    let layouts = [from, to].map(|name| self.layout_of(name));
                    let (from, to) = (resources.get(from)?, resources.get(to)?);
                    if to.image != vk::Image::null() {
                        let region = [whole(to.extent)];
                        d.cmd_copy_buffer_to_image(command, from.buffer, to.image, layouts[1], &region);
                    } else if from.image != vk::Image::null() {
                        let region = [whole(from.extent)];
                        d.cmd_copy_image_to_buffer(command, from.image, layouts[0], to.buffer, &region);
                    } else {
                        let region = [vk::BufferCopy::default().size(from.size.min(to.size))];
                        d.cmd_copy_buffer(command, from.buffer, to.buffer, &region);
                    }
                }
                Step::Update { buffer, values } => {
                    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                    d.cmd_update_buffer(command, resources.get(buffer)?.buffer, 0, &bytes);
                }
                Step::Barrier(elements) => {
                    barriers::cmd2(d, command, elements, resources)?;
                    self.transitioned(elements);
                }
                Step::SharedBarrier(elements) => {
                    barriers::cmd1(d, command, elements, None, resources)?;
                    self.transitioned(elements);
                }
                Step::SetEvent(name, stages) => {
                    let event = self.event(name)?;
                    self.device.device.cmd_set_event(command, event, barriers::old(*stages));
                }
                Step::WaitEvent(name, dependency) => {
                    let event = self.event(name)?;
                    let elements = std::slice::from_ref(dependency);
                    barriers::cmd1(&self.device.device, command, elements, Some(event), resources)?;
                    self.transitioned(elements);
                }
                Step::Label(text) => {
                    if let Some(debug) = &self.device.debug {
                        let text = std::ffi::CString::new(text.as_str())?;
                        let label = vk::DebugUtilsLabelEXT::default().label_name(&text);
                        debug.cmd_begin_debug_utils_label(command, &label);
                    }
                }
                Step::EndLabel => {
                    if let Some(debug) = &self.device.debug {
                        debug.cmd_end_debug_utils_label(command);
                    }
                }
                _ => return Err(anyhow!("not a command")),
            }
        }
        Ok(())
    }

    fn layout_of(&self, image: &str) -> vk::ImageLayout {
        self.layouts.get(image).copied().unwrap_or(vk::ImageLayout::GENERAL)
    }

    fn transitioned(&mut self, elements: &[Dependency]) {
        for e in elements {
            if let (Some(image), Some((_, to))) = (&e.on, e.layouts) {
                self.layouts.insert(image.clone(), to);
            }
        }
    }

    fn semaphore(&mut self, name: &str) -> Result<vk::Semaphore> {
        if let Some(semaphore) = self.semaphores.get(name) {
            return Ok(*semaphore);
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let mut info = vk::SemaphoreCreateInfo::default();
        if self.timelines.iter().any(|t| t == name) {
            info = info.push_next(&mut kind);
        }
        // SAFETY: the structures are valid for the call.
        let semaphore = unsafe { self.device.device.create_semaphore(&info, None)? };
        self.semaphores.insert(name.to_owned(), semaphore);
        Ok(semaphore)
    }

    fn event(&mut self, name: &str) -> Result<vk::Event> {
        if let Some(event) = self.events.get(name) {
            return Ok(*event);
        }
        // SAFETY: the structure is valid for the call.
        let event = unsafe { self.device.device.create_event(&vk::EventCreateInfo::default(), None)? };
        self.events.insert(name.to_owned(), event);
        Ok(event)
    }

    fn submit(
        &mut self,
        wait: &[(String, vk::PipelineStageFlags2)],
        signal: &[(String, vk::PipelineStageFlags2)],
        fence: vk::Fence,
    ) -> Result<()> {
        let command = self.command.take();
        let mut semaphores = |list: &[(String, vk::PipelineStageFlags2)]| -> Result<Vec<_>> {
            list.iter()
                .map(|(name, stages)| {
                    let semaphore = self.semaphore(name)?;
                    Ok(vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(1).stage_mask(*stages))
                })
                .collect()
        };
        let (wait, signal) = (semaphores(wait)?, semaphores(signal)?);
        let d = &self.device.device;
        let commands: Vec<_> =
            command.map(|c| vk::CommandBufferSubmitInfo::default().command_buffer(c)).into_iter().collect();
        let submit = vk::SubmitInfo2::default()
            .wait_semaphore_infos(&wait)
            .signal_semaphore_infos(&signal)
            .command_buffer_infos(&commands);
        // SAFETY: the command buffer was recorded here and is submitted once; semaphores and fence are live.
        unsafe {
            if let Some(command) = command {
                d.end_command_buffer(command).context("vkEndCommandBuffer")?;
            }
            d.queue_submit2(self.device.queues[self.queue], &[submit], fence).context("vkQueueSubmit2")
        }
    }
}

fn descriptors(
    device: &Device,
    case: &Case,
    resources: &Resources,
) -> Result<(vk::DescriptorSetLayout, vk::DescriptorSet)> {
    let d = &device.device;
    let mut slots: BTreeMap<u32, (Descriptor, u32)> = BTreeMap::new();
    for b in &case.bindings {
        let slot = slots.entry(b.binding).or_insert((b.descriptor, 0));
        slot.1 = slot.1.max(b.element + 1);
    }
    let bindings: Vec<_> = slots
        .iter()
        .map(|(binding, (descriptor, count))| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(*binding)
                .descriptor_type(descriptor_type(*descriptor))
                .descriptor_count(*count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let sizes: Vec<_> = [Descriptor::Storage, Descriptor::Uniform, Descriptor::Image, Descriptor::Texel]
        .map(|t| vk::DescriptorPoolSize::default().ty(descriptor_type(t)).descriptor_count(16))
        .to_vec();
    // SAFETY: every handle is created here from this device, and every structure outlives its call.
    unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layout = d.create_descriptor_set_layout(&info, None)?;
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = d.create_descriptor_pool(&info, None)?;
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = d.allocate_descriptor_sets(&info)?[0];
        for b in &case.bindings {
            let object: &Object = resources.get(&b.resource)?;
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(b.binding)
                .dst_array_element(b.element)
                .descriptor_type(descriptor_type(b.descriptor));
            let range = b.size.unwrap_or(vk::WHOLE_SIZE);
            match b.descriptor {
                Descriptor::Storage | Descriptor::Uniform => {
                    let info = [vk::DescriptorBufferInfo { buffer: object.buffer, offset: b.offset, range }];
                    d.update_descriptor_sets(&[write.buffer_info(&info)], &[]);
                }
                Descriptor::Image => {
                    let info = [vk::DescriptorImageInfo {
                        sampler: vk::Sampler::null(),
                        image_view: object.view,
                        image_layout: vk::ImageLayout::GENERAL,
                    }];
                    d.update_descriptor_sets(&[write.image_info(&info)], &[]);
                }
                Descriptor::Texel => {
                    let info = vk::BufferViewCreateInfo::default()
                        .buffer(object.buffer)
                        .format(vk::Format::R32_UINT)
                        .offset(b.offset)
                        .range(range);
                    let view = [d.create_buffer_view(&info, None)?];
                    d.update_descriptor_sets(&[write.texel_buffer_view(&view)], &[]);
                }
            }
        }
        Ok((layout, set))
    }
}

fn pipeline(
    device: &Device,
    case: &Case,
    shader: &Shader,
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline> {
    let d = &device.device;
    let bytes = std::fs::read(shader.path()).with_context(|| shader.output.clone())?;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let entries: Vec<_> = (0u32..)
        .zip(&case.specialization)
        .map(|(i, (id, _))| vk::SpecializationMapEntry::default().constant_id(*id).offset(4 * i).size(4))
        .collect();
    let data: Vec<u8> = case.specialization.iter().flat_map(|(_, v)| v.to_le_bytes()).collect();
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    // SAFETY: every structure outlives its call; the words are SPIR-V that the validator accepted.
    unsafe {
        let module = d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&specialization);
        if let Some(subgroup) = case.subgroup {
            size.required_subgroup_size = subgroup;
            stage = stage.push_next(&mut size);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let pipelines = d
            .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
            .map_err(|(_, e)| anyhow!("vkCreateComputePipelines: {e}"))?;
        d.destroy_shader_module(module, None);
        Ok(pipelines[0])
    }
}
