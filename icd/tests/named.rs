//! Names and labels of VK_EXT_debug_utils reach the text, the JSON lines and the messengers alike.

mod common;

use ash::vk;
use ash::vk::Handle as _;
use common::Vulkan;
use std::ffi::{CStr, c_void};
use std::process::Command;
use std::sync::Mutex;

const SHADER: &[u8] = include_bytes!("../../cli/src/demo/reduce.spv");
const CHILD: &str = "NAMED_CHILD";

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps a message as lines of text: severity, kind, id, objects with their names, the text.
unsafe extern "system" fn collect(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver passes a complete structure.
    let (id, number, text, objects) = unsafe {
        let data = &*data;
        let text = |p: *const std::ffi::c_char| match p.is_null() {
            true => String::new(),
            false => CStr::from_ptr(p).to_string_lossy().into_owned(),
        };
        let objects = match data.object_count {
            0 => &[],
            n => std::slice::from_raw_parts(data.p_objects, n as usize),
        };
        let named: Vec<String> = objects
            .iter()
            .map(|o| format!("{:?} {:#x} {}", o.object_type, o.object_handle, text(o.p_object_name)))
            .collect();
        (text(data.p_message_id_name), data.message_id_number, text(data.p_message), named)
    };
    let message = format!("{severity:?} {kind:?} {id} {number}\nobjects: {}\n{text}", objects.join(", "));
    MESSAGES.lock().unwrap().push(message);
    vk::FALSE
}

/// The program: it runs in a process of its own, in check mode.
fn program() {
    let vulkan = Vulkan::new();
    let device = &vulkan.device;
    // SAFETY: valid usage of Vulkan throughout: handles are live, structures are complete.
    unsafe {
        let debug = ash::ext::debug_utils::Instance::new(&vulkan.entry, &vulkan.instance);
        let named = ash::ext::debug_utils::Device::new(&vulkan.instance, device);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(collect));
        let messenger = debug.create_debug_utils_messenger(&info, None).unwrap();
        let bindings: Vec<_> = (0..3)
            .map(|k| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(k)
                    .descriptor_count(1)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = [device.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layout);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let words = ash::util::read_spv(&mut std::io::Cursor::new(SHADER)).unwrap();
        let module =
            device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage)];
        let pipeline = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        let name = |handle: u64, kind: vk::ObjectType, name: &CStr| {
            let mut info = vk::DebugUtilsObjectNameInfoEXT::default().object_name(name);
            info.object_type = kind;
            info.object_handle = handle;
            named.set_debug_utils_object_name(&info).unwrap();
        };
        name(pipeline.as_raw(), vk::ObjectType::PIPELINE, c"sum of squares");
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 3 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layout);
        let set = device.allocate_descriptor_sets(&info).unwrap()[0];
        let buffers: Vec<_> = (0..3).map(|_| vulkan.buffer(256, 2)).collect();
        for (k, (buffer, _, memory)) in buffers.iter().enumerate() {
            memory.write_bytes(0, 256);
            let range = [vk::DescriptorBufferInfo::default().buffer(*buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(k as u32)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&range);
            device.update_descriptor_sets(&[write], &[]);
        }
        name(buffers[1].0.as_raw(), vk::ObjectType::BUFFER, c"partial sums");
        let queue = vulkan.queues[0];
        name(queue.as_raw(), vk::ObjectType::QUEUE, c"the compute queue");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(vulkan.pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info).unwrap();
        device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
        let label = |name| vk::DebugUtilsLabelEXT::default().label_name(name);
        named.cmd_begin_debug_utils_label(commands[0], &label(c"first pass"));
        device.cmd_bind_pipeline(commands[0], vk::PipelineBindPoint::COMPUTE, pipeline);
        device.cmd_bind_descriptor_sets(commands[0], vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
        device.cmd_dispatch(commands[0], 1, 1, 1);
        named.cmd_end_debug_utils_label(commands[0]);
        device.end_command_buffer(commands[0]).unwrap();
        named.queue_begin_debug_utils_label(queue, &label(c"frame 1"));
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        device.queue_submit(queue, &submit, vk::Fence::null()).unwrap();
        named.queue_end_debug_utils_label(queue);
        device.device_wait_idle().unwrap();
        debug.destroy_debug_utils_messenger(messenger, None);
        for (buffer, memory, _) in buffers {
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
        device.destroy_descriptor_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_shader_module(module, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layout[0], None);
    }
    let messages = MESSAGES.lock().unwrap();
    let path = std::env::var_os(CHILD).expect("the child knows where messages go");
    std::fs::write(path, messages.join("\n----\n")).unwrap();
}

#[test]
fn names_and_labels_are_in_every_form_of_a_finding() {
    if std::env::var_os(CHILD).is_some() {
        program();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [report, messages] = ["report.json", "messages"].map(|name| folder.path().join(name));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "names_and_labels_are_in_every_form_of_a_finding", "--nocapture"])
        .env(CHILD, &messages)
        .env("PELLUCID_MODE", "check")
        .env("PELLUCID_REPORT", &report)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let lines = std::fs::read_to_string(&report).unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let findings: Vec<_> = lines.iter().filter(|l| l["type"] == "finding").collect();
    assert_eq!(findings.len(), 1, "{text}");
    let finding = findings[0];

    let names = ["dispatch 0 \"first pass\"", "buffer \"partial sums\" (set 0, binding 1)"];
    for name in names {
        assert!(text.contains(name), "the text has no {name}:\n{text}");
    }
    assert!(text.contains(finding["text"].as_str().unwrap()));

    assert_eq!(finding["shader"]["pipeline"], "sum of squares");
    assert_eq!(finding["dispatch"]["labels"], serde_json::json!(["frame 1", "first pass"]));
    assert_eq!(finding["dispatch"]["queue"], "the compute queue");
    for access in finding["accesses"].as_array().unwrap() {
        assert_eq!(access["object"]["name"], "partial sums");
        assert_eq!(access["object"]["binding"], "set 0, binding 1");
        assert_eq!(access["object"]["type"], vk::ObjectType::BUFFER.as_raw());
    }

    let messages = std::fs::read_to_string(&messages).unwrap();
    assert_eq!(messages.matches("\n----\n").count(), 0, "one message:\n{messages}");
    let id = finding["id"].as_str().unwrap();
    assert!(messages.starts_with("ERROR VALIDATION race-not-"), "{messages}");
    assert!(messages.lines().next().unwrap().contains(id), "{messages}");
    let objects = messages.lines().nth(1).unwrap();
    assert!(objects.starts_with("objects: BUFFER 0x") && objects.ends_with(" partial sums"), "{objects}");
    assert!(messages.ends_with(finding["text"].as_str().unwrap()), "{messages}");
}
