//! Programs whose host side accesses mapped memory: right ones see right values, in every mode and with or
//! without the kernel's help; wrong ones are found, each beside a right twin that is not.
//!
//! Each program runs in a process of its own.
#![allow(clippy::print_stderr)]

#[path = "../common/mod.rs"]
mod common;
mod images;
mod large;
mod pairs;
mod program;
mod ranges;
mod right;
mod signals;
mod unmapped;
mod waits;

use program::Program;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

type Case = (&'static str, fn(&Program));

const RIGHT: &[Case] = &[
    ("counter_cleared_again", right::counter_cleared_again),
    ("single_bytes", right::single_bytes),
    ("flush_over_device_writes", right::flush_over_device_writes),
    ("persistent_mapping", right::persistent_mapping),
    ("told_by_a_status", right::told_by_a_status),
    ("invalidate_beside_pending_work", right::invalidate_beside_pending_work),
];

/// A program with a mistake beside its right twin, and what finds the mistake.
type Pair = (&'static str, fn(&Program, bool), &'static str);

const PAIRS: &[Pair] = &[
    ("flush", pairs::flush, "host-not-flushed"),
    ("flush_of_half", pairs::flush_of_half, "host-not-flushed"),
    ("flush_after_submit", pairs::flush_after_submit::<0>, "host-not-flushed"),
    ("flush_long_after_submit", pairs::flush_after_submit::<30>, "host-not-flushed"),
    ("unmapping_is_no_flush", pairs::unmapping_is_no_flush, "host-not-flushed"),
    ("flush_for_a_shader", pairs::flush_for_a_shader, "host-not-flushed"),
    ("persistent_mapping", pairs::persistent_mapping, "host-not-flushed"),
    ("invalidate", pairs::invalidate, "host-not-invalidated"),
    ("invalidate_before_the_wait", pairs::invalidate_before_the_wait::<0>, "host-not-invalidated"),
    ("invalidate_long_before_the_wait", pairs::invalidate_before_the_wait::<30>, "host-not-invalidated"),
    ("invalidate_before_the_semaphore", pairs::invalidate_before_the_semaphore::<0>, "host-not-invalidated"),
    (
        "invalidate_long_before_the_semaphore",
        pairs::invalidate_before_the_semaphore::<30>,
        "host-not-invalidated",
    ),
    ("locked_memory", pairs::locked_memory, "host-not-invalidated"),
    ("invalidate_of_half", pairs::invalidate_of_half, "host-not-invalidated"),
    ("shared_atom", pairs::shared_atom, "host-not-invalidated"),
    ("staging_used_again", pairs::staging_used_again, "host-in-flight"),
    (
        "write_before_the_devices_write_is_done",
        pairs::write_before_the_devices_write_is_done,
        "host-in-flight",
    ),
    ("sleep_is_no_wait", pairs::sleep_is_no_wait, "host-in-flight"),
    ("shader_input_changed", pairs::shader_input_changed, "host-in-flight"),
    ("read_from_a_file", pairs::read_from_a_file, "host-in-flight"),
    ("another_thread_writes", pairs::another_thread_writes, "host-in-flight"),
    ("ring", pairs::ring, "host-in-flight"),
    ("event_behind_the_copy", signals::event_behind_the_copy, "host-in-flight"),
    ("timestamp_behind_the_copy", signals::timestamp_behind_the_copy, "host-in-flight"),
    ("event_of_the_host", signals::event_of_the_host, "host-in-flight"),
    ("event_without_the_hosts_stage", signals::event_without_the_hosts_stage, "host-in-flight"),
    ("timeline_of_the_host", signals::timeline_of_the_host, "host-in-flight"),
    ("read_of_what_is_overwritten", pairs::read_of_what_is_overwritten, "host-in-flight"),
    ("read_between", pairs::read_between::<0>, "host-in-flight"),
    ("read_between_a_little_later", pairs::read_between::<1>, "host-in-flight"),
    ("read_between_much_later", pairs::read_between::<30>, "host-in-flight"),
    ("status_that_was_not_looked_at", pairs::status_that_was_not_looked_at, "host-in-flight"),
    ("size_of_an_indirect_dispatch", pairs::size_of_an_indirect_dispatch, "host-in-flight"),
    ("upload_after_upload", pairs::upload_after_upload, "host-in-flight"),
    ("descriptor_of_pending_work", pairs::descriptor_of_pending_work, "freed-in-use"),
    ("memory_behind_an_address", pairs::memory_behind_an_address, "freed-in-use"),
    ("event_without_the_hosts_writes", signals::event_without_the_hosts_writes, "host-no-barrier"),
    (
        "no_barrier_behind_the_hosts_timeline",
        signals::no_barrier_behind_the_hosts_timeline,
        "host-no-barrier",
    ),
    ("no_barrier_to_the_host", pairs::barrier_to_the_host::<0>, "host-no-barrier"),
    ("barrier_to_the_host_too_early", pairs::barrier_to_the_host::<1>, "host-no-barrier"),
    ("barrier_to_another_stage", pairs::barrier_to_the_host::<2>, "host-no-barrier"),
    ("barrier_to_all_commands", pairs::barrier_to_the_host::<3>, "host-no-barrier"),
    ("barrier_without_accesses_of_the_host", pairs::barrier_to_the_host::<4>, "host-no-barrier"),
    ("barrier_without_the_write", pairs::barrier_to_the_host::<5>, "host-no-barrier"),
    ("barrier_of_another_buffer", pairs::barrier_to_the_host::<6>, "host-no-barrier"),
    ("barrier_of_half_of_the_buffer", pairs::barrier_to_the_host::<7>, "host-no-barrier"),
    ("signal_that_names_stages", pairs::signal_that_names_stages, "host-no-barrier"),
    ("read_before_the_end", pairs::read_before_the_end, "host-not-invalidated"),
    ("barrier_before_the_invalidate", pairs::barrier_before_the_invalidate, "host-no-barrier"),
    ("barrier_before_the_hosts_write", pairs::barrier_before_the_hosts_write, "host-no-barrier"),
    ("large_staging", large::staging, "host-in-flight"),
    ("large_beside_a_copy", large::beside_a_copy, "host-in-flight"),
    ("large_much_beside_a_copy", large::much_beside_a_copy, "host-in-flight"),
    ("large_by_a_descriptor", large::by_a_descriptor, "host-in-flight"),
    ("large_by_address", large::by_address, "host-in-flight"),
    ("large_without_a_barrier", large::without_a_barrier, "host-no-barrier"),
    ("another_queue_is_idle", waits::another_queue_is_idle, "host-in-flight"),
    ("another_device_is_idle", waits::another_device_is_idle, "host-in-flight"),
    ("fence_of_the_submission_before", waits::fence_of_the_submission_before, "host-in-flight"),
    ("fence_of_what_does_not_wait", waits::fence_of_what_does_not_wait, "host-in-flight"),
    ("value_of_a_frame_too_early", waits::value_of_a_frame_too_early, "host-in-flight"),
    ("value_before_the_last_write", waits::value_before_the_last_write, "host-in-flight"),
    ("event_of_the_first_half", waits::event_of_the_first_half, "host-in-flight"),
    ("status_that_says_not_ready", waits::status_that_says_not_ready, "host-in-flight"),
    ("barrier_in_another_queue", waits::barrier_in_another_queue, "host-no-barrier"),
    ("flush_of_another_slice", ranges::flush_of_another_slice, "host-not-flushed"),
    ("invalidate_of_another_slice", ranges::invalidate_of_another_slice, "host-not-invalidated"),
    ("small_read_back", ranges::small_read_back, "host-not-invalidated"),
    ("two_small_read_backs", ranges::two_small_read_backs, "host-not-invalidated"),
    ("flush_of_another_memory", ranges::flush_of_another_memory, "host-not-flushed"),
    ("invalidate_before_the_flush", ranges::invalidate_before_the_flush, "host-not-flushed"),
    ("flush_beside_a_pending_write", ranges::flush_beside_a_pending_write, "host-not-invalidated"),
    ("query_results_before_the_wait", ranges::query_results_before_the_wait, "host-in-flight"),
    ("query_results_not_invalidated", ranges::query_results_not_invalidated, "host-not-invalidated"),
    ("query_results_without_a_barrier", ranges::query_results_without_a_barrier, "host-no-barrier"),
    ("never_mapped", unmapped::never, "uninitialised-read"),
    ("mapped_in_part", unmapped::in_part, "uninitialised-read"),
    ("mapped_too_late", unmapped::mapped_too_late, "uninitialised-read"),
    ("mapped_before_the_signal", unmapped::mapped_before_the_signal, "uninitialised-read"),
    ("never_transitioned", images::never_transitioned, "image-layout"),
    ("read_in_the_layout_of_writes", images::read_in_the_layout_of_writes, "image-layout"),
    ("another_old_layout", images::another_old_layout, "image-layout"),
    ("old_layout_of_the_frame_before", images::old_layout_of_the_frame_before, "image-layout"),
    ("one_level_forgotten", images::one_level_forgotten, "image-layout"),
    ("one_layer_forgotten", images::one_layer_forgotten, "image-layout"),
    ("transition_by_an_event", images::transition_by_an_event, "image-layout"),
    ("descriptor_of_another_layout", images::descriptor_of_another_layout, "image-layout"),
    ("read_through_a_buffer", images::read_through_a_buffer, "image-layout"),
    ("memory_used_in_turns", images::memory_used_in_turns, "image-layout"),
    ("images_on_one_memory", images::images_on_one_memory, "image-layout"),
    ("host_reads_a_linear_image", images::host_reads_a_linear_image, "image-layout"),
    ("host_writes_a_linear_image", images::host_writes_a_linear_image, "image-layout"),
    ("host_writes_much_over_a_linear_image", images::host_writes_much_over_a_linear_image, "image-layout"),
];

const CASE: &str = "HOST_ACCESS_CASE";
const SOMEBODY: &str = "HOST_ACCESS_SOMEBODY";

/// The program that the environment names.
#[test]
fn program_of_the_table() {
    let Ok(name) = std::env::var(CASE) else { return };
    become_somebody();
    let pair = |wrong: bool, name: &str| PAIRS.iter().find(|(n, ..)| *n == name).map(|pair| (pair.1, wrong));
    let found = match (name.strip_prefix("wrong "), name.strip_prefix("right ")) {
        (Some(name), _) => pair(true, name),
        (_, Some(name)) => pair(false, name),
        _ => {
            let (_, case) = RIGHT.iter().find(|(n, _)| *n == name).expect("a program of the table");
            return case(&Program::new());
        }
    };
    let (case, wrong) = found.expect("a program of the table");
    case(&Program::new(), wrong);
}

/// The ids of what a run of a program finds, in order, without repetitions.
fn found(name: &str, folder: &Path) -> (Vec<String>, String) {
    let report = folder.join("report.json");
    let output = process(name, "check").env("PELLUCID_REPORT", &report).output().unwrap();
    let text = succeeds(name, &output);
    let lines = std::fs::read_to_string(&report).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut ids: Vec<String> = lines.filter_map(|line| Some(line["id"].as_str()?.to_owned())).collect();
    ids.dedup();
    (ids, text)
}

/// Runs a wrong program and its right twin so many times: what they find that they should not, or do not.
fn run_pair((name, _, id): &Pair, wrong: usize, right: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut failed = Vec::new();
    for (kind, times, expected) in [("wrong", wrong, vec![*id]), ("right", right, vec![])] {
        let runs: Vec<_> = (0..times).map(|_| found(&format!("{kind} {name}"), folder.path())).collect();
        let bad: Vec<_> = runs.iter().filter(|(ids, _)| *ids != expected).collect();
        if let Some((ids, text)) = bad.first() {
            failed.push(format!("{kind} {name}: {} of {times} runs find {ids:?}:\n{text}", bad.len()));
        }
    }
    failed
}

/// Runs all pairs, some at a time: most of them sleep now and then.
fn run_pairs(wrong: usize, right: usize) {
    const TOGETHER: usize = 4;
    let part = |first: usize| {
        let pairs = PAIRS.iter().skip(first).step_by(TOGETHER);
        pairs.flat_map(|pair| run_pair(pair, wrong, right)).collect::<Vec<_>>()
    };
    let failed = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..TOGETHER).map(|first| scope.spawn(move || part(first))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn tracked() -> bool {
    let tracked = pellucid_memory::host::refusal().is_none();
    if !tracked {
        eprintln!("skipped: the kernel does not track writes");
    }
    tracked
}

#[test]
fn mistakes_are_found_and_their_right_twins_are_silent() {
    if tracked() {
        run_pairs(1, 1);
    }
}

#[test]
#[ignore = "every wrong program 20 times, every right one 100 times"]
fn mistakes_are_found_every_time() {
    if tracked() {
        run_pairs(20, 100);
    }
}

/// A process that runs a program.
fn process(name: &str, mode: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "program_of_the_table", "--nocapture"]);
    command.env(CASE, name).env("PELLUCID_MODE", mode);
    command
}

fn succeeds(name: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}:\n{text}");
    text
}

#[test]
fn right_programs_see_right_values() {
    for (name, ..) in RIGHT {
        for mode in ["run", "check"] {
            succeeds(name, &process(name, mode).output().unwrap());
        }
    }
}

#[test]
fn behind_the_hosts_cache_of_a_machine_right_programs_see_right_values() {
    for machine in ["desktop", "tiled"] {
        for (name, ..) in RIGHT {
            succeeds(name, &process(name, "check").env("PELLUCID_MACHINE", machine).output().unwrap());
        }
    }
}

#[test]
fn behind_the_hosts_cache_mistakes_are_found_and_told_with_what_it_holds() {
    if !tracked() {
        return;
    }
    let told = |machine: &str, name: &str| {
        let mut process = process(name, "check");
        succeeds(name, &process.env("PELLUCID_MACHINE", machine).output().unwrap())
    };
    let text = told("tiled", "wrong flush");
    assert!(
        text.contains("error[host-not-flushed]") && text.contains("the host's cache holds 05 00 00 00 05 00"),
        "{text}"
    );
    assert!(text.contains("not written back"), "{text}");
    let text = told("desktop", "wrong flush");
    assert!(text.contains("error[host-not-flushed]"), "{text}");
    assert!(text.contains("are 05 00 00 00 05 00 00 00 05 00 00 00 05 00 00 00 in memory"), "{text}");
    assert!(text.contains("the host's cache holds nothing else"), "{text}");
    let text = told("tiled", "wrong invalidate");
    assert!(text.contains("error[host-not-invalidated]"), "{text}");
    for (name, _, id) in PAIRS.iter().filter(|(_, _, id)| id.starts_with("host-")) {
        let text = told("tiled", &format!("right {name}"));
        assert!(!text.contains("[host-"), "right {name}, which may have {id}:\n{text}");
    }
}

/// What a container's profile may refuse.
#[derive(Clone, Copy)]
enum Denied {
    Userfaultfd,
    PagemapScan,
}

/// A filter of system calls as containers have it: one is not permitted.
fn deny(what: Denied) -> std::io::Result<()> {
    // Offsets of the call's number and of the low half of its second argument in struct seccomp_data.
    const NUMBER: u32 = 0;
    const SECOND: u32 = 24;
    const PAGEMAP_SCAN: u32 = 0xc060_6610;
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |at| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, at);
    let otherwise = |number, skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, skip, number);
    let answer = |answer| step(libc::BPF_RET | libc::BPF_K, 0, 0, answer);
    let (denied, allowed) =
        (answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32), answer(libc::SECCOMP_RET_ALLOW));
    let mut filter = match what {
        Denied::Userfaultfd => {
            [load(NUMBER), otherwise(libc::SYS_userfaultfd as u32, 1), denied, allowed, allowed, allowed]
        }
        Denied::PagemapScan => [
            load(NUMBER),
            otherwise(libc::SYS_ioctl as u32, 3),
            load(SECOND),
            otherwise(PAGEMAP_SCAN, 1),
            denied,
            allowed,
        ],
    };
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: plain system calls; the filter is complete and outlives them.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Goes on as a user without privileges, if it is asked to: one whose process may be looked at like any
/// other.
fn become_somebody() {
    const NOBODY: libc::uid_t = 65534;
    if std::env::var_os(SOMEBODY).is_some() {
        // SAFETY: plain system calls.
        let done =
            unsafe { libc::setuid(NOBODY) == 0 && libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 };
        assert!(done, "{}", std::io::Error::last_os_error());
    }
}

/// The users that this process can be: itself, and where it is root somebody without privileges.
fn users() -> Vec<&'static [(&'static str, &'static str)]> {
    // SAFETY: plain system call.
    let root = unsafe { libc::geteuid() } == 0;
    if root { vec![&[], &[(SOMEBODY, "1")]] } else { vec![&[]] }
}

#[test]
fn without_the_kernels_help_the_values_are_the_same() {
    let denials = [(Denied::Userfaultfd, "userfaultfd"), (Denied::PagemapScan, "PAGEMAP_SCAN")];
    for user in users() {
        for (denied, name) in denials {
            for (case, ..) in RIGHT {
                let mut process = process(case, "check");
                // SAFETY: between fork and exec the function makes two system calls and allocates nothing.
                unsafe { process.envs(user.iter().copied()).pre_exec(move || deny(denied)) };
                let text = succeeds(case, &process.output().unwrap());
                let said = format!(
                    "pellucid: the kernel does not track writes ({name}: Operation not permitted (os error 1)): \
                     host writes are found by comparing all bytes, host reads are not seen\n"
                );
                // What an older kernel refuses by itself comes first.
                assert!(!tracked() || text.matches(&said).count() == 1, "{user:?}: {text}");
            }
        }
    }
}

#[test]
fn mistakes_are_found_without_privileges() {
    if !tracked() {
        return;
    }
    for user in users() {
        for (name, id) in [("flush", "host-not-flushed"), ("invalidate", "host-not-invalidated")] {
            let mut process = process(&format!("wrong {name}"), "check");
            let text = succeeds(name, &process.envs(user.iter().copied()).output().unwrap());
            assert!(
                text.contains(&format!("error[{id}]")) && !text.contains("does not track"),
                "{user:?}: {text}"
            );
        }
    }
}

#[test]
fn a_write_behind_the_hosts_signal_may_move_in_front_of_it() {
    if !tracked() {
        return;
    }
    for name in ["timeline_of_the_host", "event_of_the_host"] {
        let text = succeeds(name, &process(&format!("wrong {name}"), "check").output().unwrap());
        let missing = "and the work waits for no signal that the host makes afterwards\n";
        let help = "or write before the submission, or before the host's signal that the work waits for\n";
        assert!(text.contains(missing) && text.contains(help), "{text}");
    }
}

#[test]
fn what_is_written_first_of_all_is_behind_the_mapping() {
    if !tracked() {
        return;
    }
    let text = succeeds("flush", &process("wrong flush", "check").output().unwrap());
    assert!(text.contains("(1) the host writes after vkMapMemory, (2) vkCmdCopyBuffer"), "{text}");
    assert!(text.contains("vkMapMemory was called by thread \"program_of_the_\", in "), "{text}");
}

#[test]
fn findings_name_who_called_before_the_access() {
    if !tracked() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let output =
        process("wrong staging_used_again", "check").env("PELLUCID_REPORT", &report).output().unwrap();
    let text = succeeds("staging_used_again", &output);
    assert!(text.contains("note: vkQueueSubmit was called by thread \"program_of_the_\", in "), "{text}");
    let lines = std::fs::read_to_string(&report).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let finding = lines.into_iter().find(|line| line["family"] == "host").expect("a finding");
    let stack = finding["host"]["caller"]["stack"].as_array().expect("a stack");
    let of_program = |frame: &&serde_json::Value| {
        frame["function"].as_str().is_some_and(|f| f.ends_with("staging_used_again"))
    };
    let frame = stack.iter().find(of_program).unwrap_or_else(|| panic!("{stack:?}"));
    assert!(frame["file"].as_str().unwrap().ends_with("host_access/pairs.rs"), "{frame}");
    assert!(frame["line"].as_u64().is_some_and(|line| line > 0), "{frame}");
    assert!(
        stack.iter().all(|frame| !frame["function"].as_str().unwrap_or("").contains("vulkan_pellucid::"))
    );
    let strings = serde_json::to_string(stack).unwrap();
    assert!(!strings.contains("0x"), "no addresses: {strings}");
}

#[test]
fn what_is_found_does_not_hang_on_how_far_the_device_was() {
    if !tracked() {
        return;
    }
    let cases = ["read_between", "read_between_a_little_later", "read_between_much_later"];
    let texts = cases.map(|case| {
        let name = format!("wrong {case}");
        let text = succeeds(&name, &process(&name, "check").output().unwrap());
        let sides = text.lines().filter(|line| line.contains("(1) the host reads"));
        sides.map(str::to_owned).collect::<Vec<_>>()
    });
    let sides = "(1) the host reads after vkQueueSubmit, (2) vkCmdFillBuffer (command 2 of submission 2 on";
    for (case, text) in cases.iter().zip(&texts) {
        assert!(text.len() == 1 && text[0].contains(sides), "{case}: {text:?}");
    }
}

#[test]
fn an_invalidate_that_is_too_early_is_found_by_what_the_host_was_told() {
    if !tracked() {
        return;
    }
    for call in ["wait", "semaphore"] {
        let texts = ["before", "long_before"].map(|time| {
            let name = format!("wrong invalidate_{time}_the_{call}");
            (0..5).map(|_| succeeds(&name, &process(&name, "check").output().unwrap())).collect::<Vec<_>>()
        });
        // The programs differ in the name of a function.
        let findings = |text: &String| text.split("error[").nth(1).unwrap_or_default().replace("<30>", "<0>");
        let texts: Vec<String> = texts.iter().flatten().map(findings).collect();
        assert!(texts[0].contains("host-not-invalidated]") && texts[0].contains("0..8192"), "{}", texts[0]);
        texts.iter().for_each(|text| assert_eq!(*text, texts[0]));
    }
}

#[test]
fn a_flush_behind_the_submission_is_found_in_the_same_words_however_late_it_is() {
    if !tracked() {
        return;
    }
    let texts = ["after", "long_after"].map(|time| {
        let name = format!("wrong flush_{time}_submit");
        let text = succeeds(&name, &process(&name, "check").output().unwrap());
        text.split("error[").nth(1).unwrap_or_default().replace("<30>", "<0>")
    });
    assert!(
        texts[0].contains("nothing made the write available to the device before it read"),
        "{}",
        texts[0]
    );
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn an_invalidate_of_what_was_not_flushed_is_no_mistake_before_somebody_reads_it() {
    if !tracked() {
        return;
    }
    let name = "wrong invalidate_before_the_flush";
    let text = succeeds(name, &process(name, "check").output().unwrap());
    assert!(text.contains("and an invalidate came between the write and any flush"), "{text}");
    assert!(text.contains("size 256, after the write and before the invalidate\n"), "{text}");
    assert!(!text.contains("vkInvalidateMappedMemoryRanges: "), "{text}");
}

#[test]
fn a_barrier_of_half_of_a_buffer_is_to_be_extended() {
    if !tracked() {
        return;
    }
    for (shape, help) in [
        (
            "half_of_the",
            "extend the range of vkCmdPipelineBarrier (command 2 of submission 1 on queue 0) to these bytes",
        ),
        ("another", "after vkCmdFillBuffer, put a barrier from CLEAR (TRANSFER_WRITE) to HOST (HOST_READ)"),
    ] {
        let name = format!("wrong barrier_of_{shape}_buffer");
        let text = succeeds(&name, &process(&name, "check").output().unwrap());
        assert!(text.contains(help), "{text}");
        assert!(text.contains("bytes 4096..8192 of") == (shape != "another"), "{text}");
    }
}

/// A line of a text, from 1, and of which it is the only one.
fn line_of(text: &str, part: &str) -> usize {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| line.contains(part)).map(|(_, number)| number);
    let line = lines.next().unwrap();
    assert_eq!(lines.next(), None, "{part}");
    line
}

#[test]
fn findings_name_functions_and_lines_of_a_c_program() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host_access/late_write.c");
    let folder = tempfile::tempdir().unwrap();
    let driver = std::env::current_exe().unwrap().with_file_name("libvulkan_pellucid.so");
    let text = std::fs::read_to_string(&source).unwrap();
    let at = |part| format!("(late_write.c:{})", line_of(&text, part));
    let known = format!("hand_in {}, in frame {}", at("check(QueueSubmit("), at("    hand_in();"));
    let ways: [(&[&str], &str); 3] =
        [(&["-g"], &known), (&[], "hand_in (program), in frame (program)"), (&["-s"], "program")];
    for (flags, stack) in ways {
        let program = folder.path().join("program");
        let mut compiler = Command::new("cc");
        compiler.args(flags).arg("-o").arg(&program).arg(&source).args(["-ldl", "-lpthread"]);
        match compiler.output() {
            Ok(output) if output.status.success() && driver.exists() => {}
            _ => return eprintln!("skipped: no C compiler, or no Vulkan headers"),
        }
        let run = || {
            let mut command = Command::new(&program);
            let output = command.arg(&driver).env("PELLUCID_MODE", "check").output().unwrap();
            succeeds("late_write", &output)
        };
        let told = run();
        let note = format!("note: vkQueueSubmit was called by thread \"renderer\", in {stack}\n");
        assert!(told.contains(&note), "{flags:?}: {told}");
        assert_eq!(told, run());
    }
}
