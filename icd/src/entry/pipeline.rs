//! VkPipeline: compute pipelines. Graphics pipelines, with which nothing draws, are in [`super::graphics`].

use crate::boundary::{destroys, entries};
use crate::config::{Coherence, TellNotes};
use crate::debugger;
use crate::device::Device;
use crate::entry::destroy::destroy;
use crate::entry::graphics;
use crate::entry::pipeline_cache::{Key, PipelineCache};
use crate::entry::pipeline_layout::PipelineLayout;
use crate::entry::shader::ShaderModule;
use crate::error::{Error, Outcome, contain};
use crate::ffi;
use crate::handle::{self, kind, object};
use crate::message::Message;
use crate::printf;
use ash::vk;
use pellucid_memory::checked::Robustness;
use pellucid_shader_interp::ir::Binding;
use pellucid_shader_interp::{CompileError, CompileOptions, Program};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A compute pipeline.
pub struct Pipeline {
    /// The program of the device's mode.
    program: Arc<Program>,
    /// The program for flat memory, if a checked device runs it plainly.
    plain: OnceLock<Option<Arc<Program>>>,
    /// The program that follows push constants, if a checked device runs it without all of them.
    unset: OnceLock<Option<Arc<Program>>>,
    /// The program for a debugger.
    debugged: OnceLock<Option<Arc<Program>>>,
    /// The program that follows what loads read.
    following: OnceLock<Option<Arc<Program>>>,
    key: Key,
    /// VK_OBJECT_TYPE_PIPELINE, or VK_OBJECT_TYPE_SHADER_EXT: what the handle is of.
    kind: vk::ObjectType,
    handle: AtomicU64,
    /// Dispatches of it that were rehearsed, in check mode.
    pub rehearsed: AtomicU32,
    /// What accesses outside of their object it has defined.
    pub robust: Robustness,
}

object!(Pipeline, vk::Pipeline, kind::PIPELINE);

impl Pipeline {
    /// A pipeline, or a shader object's code, without a handle yet.
    pub fn new(program: Arc<Program>, key: Key, kind: vk::ObjectType, robust: Robustness) -> Arc<Pipeline> {
        Arc::new(Pipeline {
            program,
            plain: OnceLock::new(),
            unset: OnceLock::new(),
            debugged: OnceLock::new(),
            following: OnceLock::new(),
            key,
            kind,
            handle: AtomicU64::new(0),
            rehearsed: AtomicU32::new(0),
            robust,
        })
    }

    /// The descriptors that its shader uses statically.
    pub fn bindings(&self) -> &[Binding] {
        &self.program.shader.bindings
    }

    pub fn handle(&self) -> u64 {
        self.handle.load(Ordering::Relaxed)
    }

    /// Tells it its handle.
    pub fn set_handle(&self, handle: impl vk::Handle) {
        self.handle.store(handle.as_raw(), Ordering::Relaxed);
    }

    /// The program of the device's mode, as vkCreateComputePipelines made it.
    pub fn created(&self) -> &Program {
        &self.program
    }

    /// What a program depends on that follows push constants which nothing may have set: `push_unset` has a
    /// byte for each, 0 if something has set it.
    pub fn followed(&self, push_unset: &[u8]) -> Key {
        let read = self.program.shader.push_constant_bytes as usize;
        let all_set = push_unset.iter().take(read).all(|unset| *unset == 0);
        Key { push_unset: !all_set, ..self.key.clone() }
    }

    /// The modelled program that follows what plain loads of shared memory read to where it is used.
    pub fn following(&self) -> Option<&Program> {
        self.following.get_or_init(|| compile_for(&self.key, For::FollowedLoads).ok()).as_deref()
    }

    /// Its debug name, or "".
    pub fn name(&self, device: &Device) -> String {
        device.name(self.kind, self.handle())
    }

    /// The program to run on this device: modelled if the device checks and the user did not leave this
    /// shader out. `push_unset` has a byte for each push constant byte, 0 if something has set it.
    ///
    /// # Errors
    /// The message of a compilation that failed.
    pub fn program(&self, device: &Device, push_unset: &[u8]) -> Result<&Arc<Program>, String> {
        let left_out = device.instance.config.shaders.as_ref().is_some_and(|wanted| {
            let shader = &self.program.shader;
            !(wanted.is_match(&shader.name)
                || shader.files.iter().any(|f| wanted.is_match(&f.name))
                || wanted.is_match(&self.name(device)))
        });
        if !self.program.modelled {
            return Ok(&self.program);
        }
        if !left_out {
            let key = self.followed(push_unset);
            if debugger::is_installed() {
                let program = self.debugged.get_or_init(|| compile_for(&key, For::Debugger).ok());
                return Ok(program.as_ref().unwrap_or(&self.program));
            }
            if !key.push_unset {
                return Ok(&self.program);
            }
            let following = self.unset.get_or_init(|| compile(&key).ok());
            return Ok(following.as_ref().unwrap_or(&self.program));
        }
        let key = Key { modelled: false, notes: false, ..self.key.clone() };
        self.plain
            .get_or_init(|| compile(&key).ok())
            .as_ref()
            .ok_or_else(|| "the shader does not compile for flat memory".to_owned())
    }
}

fn compile(key: &Key) -> Result<Arc<Program>, CompileError> {
    compile_for(key, For::Dispatches)
}

/// What a program is compiled for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// The dispatches of a pipeline.
    Dispatches,
    /// A debugger, so that it finds its way.
    Debugger,
    /// A rehearsal that follows what loads read.
    FollowedLoads,
}

/// Compiles for modelled or flat memory.
///
/// # Errors
/// The shader does not compile.
pub fn compile_for(key: &Key, purpose: For) -> Result<Arc<Program>, CompileError> {
    let options = CompileOptions {
        entry_point: key.entry_point.clone(),
        specialization: key.specialization.clone(),
        subgroup_size: key.subgroup_size,
        modelled: key.modelled,
        push_unset: key.push_unset,
        coherent_workgroup: key.coherent_workgroup,
        coherent_storage: key.coherent_storage,
        notes: key.notes,
        follow_loads: purpose == For::FollowedLoads,
        debug: purpose == For::Debugger,
        keep_variables: purpose == For::Debugger,
    };
    match contain(|| pellucid_shader_interp::compile(&key.words, &options)) {
        Ok(outcome) => outcome.map(Arc::new),
        Err(text) => {
            Err(CompileError::NotImplemented(format!("a shader that the compiler trips over ({text})")))
        }
    }
}

/// # Safety
/// `info` is the application's.
unsafe fn specialization(info: Option<&vk::SpecializationInfo<'_>>) -> Outcome<BTreeMap<u32, Vec<u8>>> {
    // SAFETY: the contract.
    unsafe {
        let Some(info) = info else { return Ok(BTreeMap::new()) };
        let data = ffi::slice(info.p_data.cast::<u8>(), info.data_size);
        ffi::slice(info.p_map_entries, info.map_entry_count)
            .iter()
            .map(|entry| {
                let start = entry.offset as usize;
                let bytes = data.get(start..start + entry.size);
                let bytes =
                    bytes.ok_or_else(|| Error::usage("a specialization constant is not inside the data"))?;
                Ok((entry.constant_id, bytes.to_vec()))
            })
            .collect()
    }
}

/// # Safety
/// `stage` is the application's.
unsafe fn words(stage: &vk::PipelineShaderStageCreateInfo<'_>) -> Outcome<Arc<[u32]>> {
    // SAFETY: the contract.
    unsafe {
        if stage.module != vk::ShaderModule::null() {
            return Ok(handle::get::<ShaderModule>(stage.module)?.words.clone());
        }
        let module = ffi::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next)
            .ok_or_else(|| Error::usage("the stage has no shader module"))?;
        Ok(ffi::slice(module.p_code, module.code_size / 4).into())
    }
}

/// What a stage's program depends on; of `stage`, its module is not looked at.
///
/// # Safety
/// `stage` is the application's.
pub unsafe fn key(
    device: &Device,
    words: Arc<[u32]>,
    stage: &vk::PipelineShaderStageCreateInfo<'_>,
) -> Outcome<Key> {
    // SAFETY: the contract.
    unsafe {
        let required = ffi::find::<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'_>>(stage.p_next);
        let subgroup_size = required.map_or(device.caps.subgroup_size, |r| r.required_subgroup_size);
        let (least, most) = device.caps.subgroup_sizes;
        if !subgroup_size.is_power_of_two() || !(least..=most).contains(&subgroup_size) {
            return Err(Error::usage(format!(
                "{subgroup_size} is no subgroup size: {least} to {most}, a power of two"
            )));
        }
        Ok(Key {
            entry_point: ffi::string(stage.p_name).unwrap_or_default(),
            subgroup_size,
            modelled: device.instance.config.mode.modelled(),
            push_unset: false,
            coherent_workgroup: device.instance.config.workgroup_memory == Coherence::Coherent,
            coherent_storage: device.instance.config.storage_memory == Coherence::Coherent,
            notes: device.instance.config.notes != TellNotes::Off,
            specialization: specialization(ffi::optional(stage.p_specialization_info))?,
            words,
        })
    }
}

fn refused(device: &Device, call: &str, error: &CompileError) -> Error {
    let text = format!("{call}: {error}");
    match error {
        CompileError::NotImplemented(_) => {
            // The session says each gap once on standard error; messengers hear of every pipeline.
            device.instance.session.not_implemented(&error.to_string());
            device.instance.deliver(&Message { id: "not-implemented".into(), ..Message::error(&text) });
            Error::from(vk::Result::ERROR_UNKNOWN)
        }
        CompileError::Limit(_) => {
            device.instance.say(&text);
            Error::from(vk::Result::ERROR_UNKNOWN)
        }
        CompileError::Invalid(_) | CompileError::NoEntryPoint(..) => {
            device.instance.misuse(&text);
            Error::from(vk::Result::ERROR_UNKNOWN)
        }
    }
}

/// What is defined of accesses outside of their object, by the device and by the chains of a pipeline and of
/// its stage, which is asked last (VK_EXT_pipeline_robustness). Buffers are taken as one.
///
/// # Safety
/// The chains are the application's.
unsafe fn robustness(device: &Device, chains: [*const c_void; 2]) -> Robustness {
    use vk::PipelineRobustnessBufferBehaviorEXT as Buffers;
    use vk::PipelineRobustnessImageBehaviorEXT as Images;
    let mut robust = device.robust;
    for chain in chains {
        // SAFETY: the contract.
        let Some(info) = (unsafe { ffi::find::<vk::PipelineRobustnessCreateInfoEXT<'_>>(chain) }) else {
            continue;
        };
        let buffers = |behavior| match behavior {
            Buffers::DEVICE_DEFAULT => device.robust.buffers,
            behavior => behavior != Buffers::DISABLED,
        };
        robust.buffers = buffers(info.storage_buffers) || buffers(info.uniform_buffers);
        robust.images = match info.images {
            Images::DEVICE_DEFAULT => device.robust.images,
            behavior => behavior != Images::DISABLED,
        };
    }
    robust
}

/// # Safety
/// `info` is the application's.
unsafe fn create(
    device: &Device,
    cache: Option<&PipelineCache>,
    info: &vk::ComputePipelineCreateInfo<'_>,
) -> Outcome<vk::Pipeline> {
    handle::get::<PipelineLayout>(info.layout)?;
    // SAFETY: the contract.
    let (key, flags) = unsafe { (key(device, words(&info.stage)?, &info.stage)?, info.flags()) };
    let cached = cache.and_then(|c| c.programs.lock().get(&key).cloned());
    let program = match cached {
        Some(program) => program,
        None if flags.contains(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED) => {
            return Err(vk::Result::PIPELINE_COMPILE_REQUIRED.into());
        }
        None => {
            let program = program(device, &key, "vkCreateComputePipelines")?;
            if let Some(cache) = cache {
                cache.programs.lock().insert(key.clone(), program.clone());
            }
            program
        }
    };
    // SAFETY: the contract.
    let robust = unsafe { robustness(device, [info.p_next, info.stage.p_next]) };
    let pipeline = Pipeline::new(program, key, vk::ObjectType::PIPELINE, robust);
    let handle = handle::insert(pipeline.clone());
    pipeline.set_handle(handle);
    Ok(handle)
}

/// Compiles what `call` is to create.
///
/// # Errors
/// It does not compile, or its workgroups are too large.
pub fn program(device: &Device, key: &Key, call: &str) -> Outcome<Arc<Program>> {
    let program = compile(key).map_err(|e| refused(device, call, &e))?;
    let invocations: u64 = program.shader.local_size.iter().map(|n| u64::from(*n)).product();
    if invocations > u64::from(device.caps.workgroup_invocations) {
        return Err(Error::usage(format!(
            "a workgroup of {invocations} invocations; the limit is {}",
            device.caps.workgroup_invocations
        )));
    }
    printf::tell_malformed(device, &program);
    Ok(program)
}

/// What the functions that create pipelines take for each of them.
pub trait CreateInfo {
    /// The first of the structures that extend it.
    fn next(&self) -> *const c_void;
    /// Its flags, unless 64 of them extend it.
    fn given(&self) -> vk::PipelineCreateFlags;

    /// What it is allowed to do, and how it may fail.
    ///
    /// # Safety
    /// It is the application's.
    unsafe fn flags(&self) -> vk::PipelineCreateFlags {
        // SAFETY: the contract.
        let more = unsafe { ffi::find::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>(self.next()) };
        more.map_or(self.given(), |more| vk::PipelineCreateFlags::from_raw(more.flags.as_raw() as u32))
    }
}

impl CreateInfo for vk::ComputePipelineCreateInfo<'_> {
    fn next(&self) -> *const c_void {
        self.p_next
    }

    fn given(&self) -> vk::PipelineCreateFlags {
        self.flags
    }
}

impl CreateInfo for vk::GraphicsPipelineCreateInfo<'_> {
    fn next(&self) -> *const c_void {
        self.p_next
    }

    fn given(&self) -> vk::PipelineCreateFlags {
        self.flags
    }
}

/// # Safety
/// `info` is the application's.
unsafe fn feedback(info: &impl CreateInfo, start: Instant, valid: bool) -> Outcome<()> {
    // SAFETY: the contract.
    unsafe {
        if let Some(feedback) = ffi::find::<vk::PipelineCreationFeedbackCreateInfo<'_>>(info.next()) {
            let entry = vk::PipelineCreationFeedback {
                flags: if valid {
                    vk::PipelineCreationFeedbackFlags::VALID
                } else {
                    vk::PipelineCreationFeedbackFlags::empty()
                },
                duration: start.elapsed().as_nanos() as u64,
            };
            ffi::write(feedback.p_pipeline_creation_feedback, entry)?;
            let stages = feedback.pipeline_stage_creation_feedback_count;
            ffi::slice_mut(feedback.p_pipeline_stage_creation_feedbacks, stages).fill(entry);
        }
        Ok(())
    }
}

/// Creates pipelines, in order; those that could not be created are null.
///
/// # Errors
/// The first one that is no VK_PIPELINE_COMPILE_REQUIRED, or that.
///
/// # Safety
/// `infos` are the application's.
pub unsafe fn create_each<I: CreateInfo>(
    infos: &[I],
    out: &mut [vk::Pipeline],
    create: impl Fn(&I) -> Outcome<vk::Pipeline>,
) -> Outcome<()> {
    out.fill(vk::Pipeline::null());
    let mut failure: Option<Error> = None;
    for (info, slot) in infos.iter().zip(out) {
        let start = Instant::now();
        let outcome = create(info);
        // SAFETY: the contract.
        unsafe { feedback(info, start, outcome.is_ok())? };
        match outcome {
            Ok(pipeline) => *slot = pipeline,
            Err(error) => {
                // A real error outranks VK_PIPELINE_COMPILE_REQUIRED.
                if failure.as_ref().is_none_or(|f| f.code == vk::Result::PIPELINE_COMPILE_REQUIRED) {
                    failure = Some(error);
                }
                // SAFETY: the contract.
                if unsafe { info.flags() }.contains(vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE) {
                    break;
                }
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

destroys! {
    fn destroy_pipeline(device, pipeline: vk::Pipeline) {
        if handle::get::<graphics::GraphicsPipeline>(pipeline).is_ok() {
            destroy::<graphics::GraphicsPipeline>(&device, pipeline, "vkDestroyPipeline")?;
        } else {
            destroy::<Pipeline>(&device, pipeline, "vkDestroyPipeline")?;
        }
        Ok(())
    }
}

entries! {
    fn create_compute_pipelines(
        device: Arc<Device>,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::ComputePipelineCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Pipeline,
    ) -> vk::Result {
        let cache = handle::get_optional::<PipelineCache>(cache)?;
        let create = |info: &_| create(&device, cache.as_deref(), info);
        create_each(ffi::slice(infos, count), ffi::slice_mut(out, count), create)
    }
}
