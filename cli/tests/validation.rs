//! `pellucid run --validation`: the messages of the Khronos validation layer in the report, beside the
//! driver's findings. Skipped where the Vulkan loader or the layer is missing.
#![allow(clippy::print_stderr)]

mod common;

use ash::vk;
use common::errors;
use pellucid_test_host::{COHERENT, Vulkan};
use serde_json::Value;
use std::ffi::CString;
use std::path::Path;
use std::process::{Command, Output};

const LOADER: &str = "libvulkan.so.1";
const CASE: &str = "VALIDATION_CASE";

/// The program that the environment names: it fills a buffer, a part of which it then copies; with `mask` a
/// barrier's masks do not fit, with `hazard` one is missing.
#[test]
fn program() {
    let Ok(case) = std::env::var(CASE) else { return };
    let library = std::env::var("VALIDATION_LIBRARY").unwrap_or_else(|_| LOADER.to_owned());
    let opened = Vulkan::open(Path::new(&library)).unwrap();
    let (buffer, memory, _) = opened.buffer(4096, opened.memory_type(!0, COHERENT).unwrap()).unwrap();
    let name = CString::new("data").unwrap();
    let named = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(buffer).object_name(&name);
    // The stage of the barrier does no access of shaders.
    let wrong = if case.contains("mask") { vk::AccessFlags::SHADER_READ } else { vk::AccessFlags::empty() };
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE | wrong);
    let device = &opened.device;
    // SAFETY: live handles; the mistakes are what the test is about.
    unsafe {
        opened.debug.as_ref().unwrap().set_debug_utils_object_name(&named).unwrap();
        let commands = opened
            .record(|commands| {
                for _ in 0..2 {
                    device.cmd_fill_buffer(commands, buffer, 0, 64, 7);
                    let transfer = vk::PipelineStageFlags::TRANSFER;
                    let none = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(commands, transfer, transfer, none, &[barrier], &[], &[]);
                }
                if case.contains("hazard") {
                    device.cmd_fill_buffer(commands, buffer, 0, 64, 8);
                }
                let region = vk::BufferCopy::default().dst_offset(1024).size(64);
                device.cmd_copy_buffer(commands, buffer, buffer, &[region]);
            })
            .unwrap();
        opened.run(commands).unwrap();
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    }
}

fn run(case: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
    command.arg("run").args(arguments).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "program", "--nocapture"]).env(CASE, case);
    command.envs(variables.iter().copied()).output().unwrap()
}

/// Whether loader and layer are installed.
fn installed() -> bool {
    // SAFETY: the loader's own library.
    let loader = unsafe { libloading::Library::new(LOADER) }.is_ok();
    let layer = !errors(&run("none", &["--validation"], &[])).contains("is not installed");
    if !loader || !layer {
        pellucid_test_host::skipped("the Vulkan loader or the validation layer");
    }
    loader && layer
}

#[test]
fn messages_are_findings_of_a_family_of_their_own() {
    if !installed() {
        return;
    }
    let right = run("right", &["--validation"], &[]);
    assert_eq!(right.status.code(), Some(0), "{}", errors(&right));
    assert!(errors(&right).contains("pellucid: 0 findings"), "{}", errors(&right));

    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let report = report.to_str().unwrap();
    let wrong = run("mask hazard", &["--validation", "--report", report], &[]);
    let text = errors(&wrong);
    assert_eq!(wrong.status.code(), Some(66), "{text}");
    assert!(text.contains("error[VUID-vkCmdPipelineBarrier-dstAccessMask-02816]: "), "{text}");
    assert!(text.contains("1 validation"), "{text}");
    let lines = std::fs::read_to_string(report).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The layer's warnings depend on its version.
    let error = |line: &&Value| line["family"] == "validation" && line["level"] == "error";
    let found: Vec<&Value> = lines.iter().filter(error).collect();
    assert_eq!(found.len(), 1, "{lines:?}");
    assert_eq!(found[0]["id"], "VUID-vkCmdPipelineBarrier-dstAccessMask-02816");
    assert!(!found[0]["title"].as_str().unwrap().contains("0x5"), "no addresses: {}", found[0]["title"]);
    let total = lines.last().unwrap();
    assert_eq!(total["families"]["validation"], 1);
    for (format, expected) in
        [("sarif", "\"ruleId\": \"VUID-vkCmdPipelineBarrier"), ("html", "VUID-vkCmdPipelineBarrier")]
    {
        let shown = Command::new(env!("CARGO_BIN_EXE_pellucid"))
            .args(["report", report, "--format", format])
            .output()
            .unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains(expected), "{format}");
    }
    let again = folder.path().join("again.json");
    run("mask hazard", &["--validation", "--report", again.to_str().unwrap()], &[]);
    assert_eq!(std::fs::read(report).unwrap(), std::fs::read(again).unwrap());
}

#[test]
fn both_kinds_of_findings_stand_in_one_report() {
    if !installed() {
        return;
    }
    let output = run("hazard", &["--validation"], &[]);
    let text = errors(&output);
    assert!(text.contains("error[hazard-read-after-write]") && output.status.code() == Some(66), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules");
    std::fs::write(&rules, "validation:VUID-vkCmdPipelineBarrier-*\n").unwrap();
    let output = run("mask", &["--validation", "--suppressions", rules.to_str().unwrap()], &[]);
    let text = errors(&output);
    assert!(text.contains("pellucid: 0 findings") && text.contains("1 suppressed"), "{text}");
}

#[test]
fn what_has_no_layer_is_an_error() {
    let output = run("right", &["--validation"], &[("VK_LAYER_PATH", "/nonexistent")]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "pellucid: --validation: VK_LAYER_KHRONOS_validation is not installed (Debian has it in \
        vulkan-validationlayers); looked in /nonexistent\n";
    assert_eq!(errors(&output), expected);
    if !installed() {
        return;
    }
    let library = pellucid::driver::library().unwrap();
    let output = run("right", &["--validation"], &[("VALIDATION_LIBRARY", library.to_str().unwrap())]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(
        errors(&output).contains("the validation layer is not over this instance"),
        "{}",
        errors(&output)
    );
}
