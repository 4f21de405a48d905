//! Nothing that went wrong exits 0 under `pellucid run`: the program is this one, which does as a variable
//! says.

mod common;

use ash::vk;
use common::pellucid;
use pellucid_test_host::Vulkan;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::process::Output;

const CASE: &str = "TEST_CASE";

/// The driver that the environment names, as the Vulkan loader would find it.
fn driver() -> PathBuf {
    let manifest = std::env::var("VK_DRIVER_FILES").expect("a manifest");
    let text = std::fs::read_to_string(manifest).expect("the manifest");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    PathBuf::from(manifest["ICD"]["library_path"].as_str().expect("a path"))
}

/// Submits a fill that waits for a timeline semaphore to reach 5.
fn wait_for_five(v: &Vulkan) {
    let (buffer, ..) = v.buffer(64, 1).expect("a buffer");
    let commands = v.record(|c| {
        // SAFETY: live handles.
        unsafe { v.device.cmd_fill_buffer(c, buffer, 0, 64, 1) };
    });
    let semaphore = v.timeline().expect("a semaphore");
    v.submit_after(semaphore, 5, commands.expect("commands"), vk::Fence::null()).expect("a submission");
}

/// What the program does that the tests run.
fn program(case: &str) {
    if case == "no-device" {
        return instance_only(c"wgpu-hal");
    }
    let v = Vulkan::open(&driver()).expect("the driver");
    match case {
        "misuse" => {
            let (buffer, ..) = v.buffer(64, 1).expect("a buffer");
            let commands = v.record(|c| {
                // SAFETY: valid usage.
                unsafe { v.device.cmd_fill_buffer(c, buffer, 0, 64, 1) };
            });
            // SAFETY: the buffer ends too early on purpose.
            unsafe { v.device.destroy_buffer(buffer, None) };
            v.run(commands.expect("commands")).expect("a submission");
        }
        "stuck" => {
            wait_for_five(&v);
            std::process::exit(0);
        }
        "killed" => {
            wait_for_five(&v);
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        _ => v.run(v.record(|_| ()).expect("commands")).expect("a submission"),
    }
}

/// Creates an instance and no device, as a client that does not find what it looks for.
fn instance_only(engine: &CStr) {
    // SAFETY: the library is the driver; the handles are live and the structures complete.
    unsafe {
        let library = libloading::Library::new(driver()).expect("the driver");
        let get = *library.get(b"vk_icdGetInstanceProcAddr\0").expect("its first function");
        let entry = pellucid_test_host::linked(get);
        let application = vk::ApplicationInfo::default().engine_name(engine);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        entry.create_instance(&info, None).expect("an instance").destroy_instance(None);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `case` in a mode with a report in `folder`; `None` in the program itself.
fn run(test: &str, case: &str, mode: &str, folder: &Path, prefix: &[&str]) -> Option<Output> {
    if let Ok(case) = std::env::var(CASE) {
        program(&case);
        return None;
    }
    let report = folder.join("report.json");
    let this = std::env::current_exe().expect("this program");
    let mut command = pellucid();
    command.args(["run", "--mode", mode, "--report"]).arg(report).arg("--").args(prefix).arg(this);
    command.args(["--exact", test, "--nocapture"]).env(CASE, case);
    Some(command.output().expect("pellucid starts"))
}

/// A report in one of the formats.
fn shown(folder: &Path, format: &str) -> String {
    let mut command = pellucid();
    command.arg("report").arg(folder.join("report.json")).args(["--format", format]);
    text(&command.output().expect("pellucid starts").stdout)
}

fn told(test: &str, case: &str, prefix: &[&str], status: i32, id: &str, what: &str) {
    for mode in ["run", "check"] {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(output) = run(test, case, mode, folder.path(), prefix) else { return };
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{mode}: {errors}");
        assert!(errors.contains(what), "{mode}: no \"{what}\" in: {errors}");
        assert!(errors.contains("1 finding (1 api)"), "{mode}: {errors}");
        for format in ["text", "sarif", "html"] {
            assert!(shown(folder.path(), format).contains(id), "{mode}, {format}");
        }
    }
}

#[test]
fn a_call_that_breaks_a_rule() {
    let what = "uses VkBuffer 0x";
    told("a_call_that_breaks_a_rule", "misuse", &[], 66, "api-misuse", what);
}

#[test]
fn work_that_never_ran() {
    let what = "to reach 5; it is at 0";
    told("work_that_never_ran", "stuck", &[], 66, "never-ran", what);
}

#[test]
fn work_that_never_ran_in_a_program_that_is_killed() {
    let what = "to reach 5; it is at 0";
    let prefix = ["timeout", "--signal", "KILL", "3"];
    told("work_that_never_ran_in_a_program_that_is_killed", "killed", &prefix, 137, "never-ran", what);
}

#[test]
fn a_program_that_creates_no_device_is_told_what_may_help() {
    let test = "a_program_that_creates_no_device_is_told_what_may_help";
    let folder = tempfile::tempdir().expect("a folder");
    let Some(output) = run(test, "no-device", "run", folder.path(), &[]) else { return };
    let said = text(&output.stderr);
    let line = "pellucid: the program (wgpu-hal) created a VkInstance and no VkDevice on this driver";
    assert!(said.contains(line) && said.trim_end().ends_with("try --for wgpu"), "{said}");
    let Some(output) = run(test, "right", "run", folder.path(), &[]) else { return };
    assert!(!text(&output.stderr).contains("no VkDevice"), "{}", text(&output.stderr));
}

#[test]
fn a_right_program_exits_0() {
    for mode in ["run", "check"] {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(output) = run("a_right_program_exits_0", "right", mode, folder.path(), &[]) else { return };
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("0 findings"), "{}", text(&output.stderr));
    }
}
