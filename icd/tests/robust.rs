//! An access out of bounds is a finding, unless the application enabled the feature that defines it.

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};
use vk::PipelineRobustnessBufferBehaviorEXT as Behavior;

/// A pipeline of `spin`'s shader whose accesses to buffers are as robust as this.
fn pipeline(v: &Vulkan, spin: &Spin, behavior: Behavior) -> vk::Pipeline {
    let code = include_bytes!("shaders/spin.spv");
    let words = ash::util::read_spv(&mut std::io::Cursor::new(code)).unwrap();
    let mut module = vk::ShaderModuleCreateInfo::default().code(&words);
    let mut robust =
        vk::PipelineRobustnessCreateInfoEXT::default().storage_buffers(behavior).uniform_buffers(behavior);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut module);
    let info =
        [vk::ComputePipelineCreateInfo::default().stage(stage).layout(spin.layout).push_next(&mut robust)];
    // SAFETY: valid usage.
    unsafe { v.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0] }
}

#[test]
fn an_access_out_of_bounds_is_a_note_where_robust_buffer_access_is_enabled() {
    const ROBUST: &str = "TEST_ROBUST";
    let name = "an_access_out_of_bounds_is_a_note_where_robust_buffer_access_is_enabled";
    for (robust, notes, first) in [
        ("0", "off", "error[out-of-bounds]"),
        ("1", "off", ""),
        ("1", "on", "note[out-of-bounds-robust]"),
        ("1", "error", "note[out-of-bounds-robust]"),
        ("pipeline", "on", "note[out-of-bounds-robust]"),
        ("not the pipeline", "on", "error[out-of-bounds]"),
    ] {
        let variables = [("PELLUCID_MODE", "check"), ("PELLUCID_NOTES", notes), (ROBUST, robust)];
        let Some(text) = alone(name, &variables) else {
            let v = match std::env::var(ROBUST).as_deref() {
                Ok("1" | "not the pipeline") => Vulkan::robust(),
                _ => Vulkan::new(),
            };
            let mut spin = Spin::new(&v, false);
            match std::env::var(ROBUST).as_deref() {
                Ok("pipeline") => spin.pipeline = pipeline(&v, &spin, Behavior::ROBUST_BUFFER_ACCESS),
                Ok("not the pipeline") => spin.pipeline = pipeline(&v, &spin, Behavior::DISABLED),
                _ => {}
            }
            // Room for 16 of the 32 words that the dispatch adds to.
            let (buffer, _, words) = v.buffer(64, 1);
            // SAFETY: the buffer's memory, which no submission uses yet.
            unsafe { words.write_bytes(0, 64) };
            let (_, set) = spin.set(&v);
            spin.update(&v, set, buffer);
            let commands = v.record(|c| spin.record(&v, c, set, buffer, 2));
            v.run(commands);
            // SAFETY: a live device.
            unsafe { v.device.device_wait_idle().unwrap() };
            return;
        };
        let said = text.contains("out-of-bounds");
        assert!(text.contains(first) && said != first.is_empty(), "{robust}, {notes}: {text}");
    }
}

#[test]
fn a_null_descriptor_reads_zero_where_the_feature_is_enabled() {
    const ROBUST: &str = "TEST_ROBUST";
    let name = "a_null_descriptor_reads_zero_where_the_feature_is_enabled";
    for (robust, first) in [("0", "error[out-of-bounds]"), ("1", "")] {
        let variables = [("PELLUCID_MODE", "check"), ("PELLUCID_NOTES", "on"), (ROBUST, robust)];
        let Some(text) = alone(name, &variables) else {
            let v = match std::env::var(ROBUST).as_deref() {
                Ok("1") => Vulkan::robust(),
                _ => Vulkan::new(),
            };
            let spin = Spin::new(&v, false);
            let (_, set) = spin.set(&v);
            spin.update(&v, set, ash::vk::Buffer::null());
            let commands = v.record(|c| spin.record(&v, c, set, ash::vk::Buffer::null(), 2));
            v.run(commands);
            // SAFETY: a live device.
            unsafe { v.device.device_wait_idle().unwrap() };
            return;
        };
        let said = text.contains("out-of-bounds");
        assert!(text.contains(first) && said != first.is_empty(), "{robust}: {text}");
    }
}
