//! What shaders print reaches debug messengers as the Khronos validation layer sends it.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

type Heard = Mutex<Vec<(vk::DebugUtilsMessageSeverityFlagsEXT, String, i32, String)>>;

unsafe extern "system" fn hear(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver hands over a complete structure; `user` is the list that outlives the messenger.
    unsafe {
        let data = &*data;
        let text = |p| CStr::from_ptr(p).to_string_lossy().into_owned();
        let heard = (severity, text(data.p_message_id_name), data.message_id_number, text(data.p_message));
        (*user.cast::<Heard>()).lock().unwrap().push(heard);
    }
    vk::FALSE
}

/// DebugPrintf of these formats, with the number 7, by workgroups of one invocation.
fn module(formats: &[&str]) -> Vec<u32> {
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 100, 0];
    let mut op = |opcode: u32, operands: &[u32]| {
        words.push((operands.len() as u32 + 1) << 16 | opcode);
        words.extend(operands);
    };
    let string = |text: &str| -> Vec<u32> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize((bytes.len() / 4 + 1) * 4, 0);
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    op(17, &[1]);
    op(10, &string("SPV_KHR_non_semantic_info"));
    op(11, &[&[1], &string("NonSemantic.DebugPrintf")[..]].concat());
    op(14, &[0, 1]);
    op(15, &[&[5, 2], &string("main")[..]].concat());
    op(16, &[2, 17, 1, 1, 1]);
    for (k, format) in (20..).zip(formats) {
        op(7, &[&[k], &string(format)[..]].concat());
    }
    op(19, &[3]);
    op(33, &[4, 3]);
    op(21, &[5, 32, 0]);
    op(43, &[5, 6, 7]);
    op(54, &[3, 2, 0, 4]);
    op(248, &[7]);
    for (k, _) in (0..).zip(formats) {
        op(12, &[3, 50 + k, 1, 1, 20 + k, 6]);
    }
    op(253, &[]);
    op(56, &[]);
    words
}

#[test]
fn messengers_hear_what_shaders_print_by_the_id_of_the_validation_layer() {
    let name = "messengers_hear_what_shaders_print_by_the_id_of_the_validation_layer";
    for mode in ["run", "check"] {
        if alone(name, &[("PELLUCID_MODE", mode), ("PELLUCID_PRINTF", "messengers")]).is_none() {
            hears();
            return;
        }
    }
}

fn hears() {
    let v = Vulkan::new();
    let heard: &'static Heard = Box::leak(Box::default());
    let messages = ash::ext::debug_utils::Instance::new(&v.entry, &v.instance);
    type Severity = vk::DebugUtilsMessageSeverityFlagsEXT;
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::INFO | Severity::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(hear))
        .user_data(std::ptr::from_ref(heard).cast_mut().cast());
    let code = module(&["x == %u", "%f", "second\n"]);
    // SAFETY: valid usage; what is created ends with the process.
    unsafe {
        messages.create_debug_utils_messenger(&info, None).unwrap();
        let module = vk::ShaderModuleCreateInfo::default().code(&code);
        let module = v.device.create_shader_module(&module, None).unwrap();
        let layout = v.device.create_pipeline_layout(&Default::default(), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let pipeline = v.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).unwrap();
        v.run(v.record(|commands| {
            v.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline[0]);
            v.device.cmd_dispatch(commands, 1, 1, 1);
        }));
    }
    let heard = heard.lock().unwrap();
    let malformed = &heard[0];
    assert_eq!((malformed.0, malformed.1.as_str()), (Severity::ERROR, "DEBUG-PRINTF-FORMATTING"));
    assert!(malformed.3.contains("\"%f\" does not print argument 1, a scalar (integer)"), "{}", malformed.3);
    for (message, text) in heard[1..].iter().zip(["x == 7", "second\n"]) {
        let expected = (Severity::INFO, "VVL-DEBUG-PRINTF".to_owned(), 0x4fe1_fef9, text.to_owned());
        assert_eq!(*message, expected);
    }
    assert_eq!(heard.len(), 3, "{heard:?}");
}
