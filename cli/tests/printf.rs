//! debugPrintfEXT: what shaders print, through `pellucid exec`, in every mode and on any number of threads.

mod common;

use std::process::Output;

fn exec(options: &[&str], groups: &str) -> Output {
    common::exec("printf.spv", options, &format!("--groups {groups}"))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

const EXPECTED: &str = "\
invocation 1 of workgroup 0, 0, 0
invocation 5 of workgroup 0, 0, 0
tell 0
tell 1
tell 7
int8 -5 uint8 255
int16 -1500 uint16 0005
int64 -50000000000 uint64 5764607523034234880 5000000000000000 5000000000000000
half 1.250 float 1.66667 double 1.666667e+00
bool 1 0
vec4 5.00, 2.50, 1.67, 1.25 ivec2 5, -1 u64vec2 5, 500
pointer 0x5000, 100%, octal 5, hex float 0x1.4p+2
invocation 9 of workgroup 1, 0, 0
invocation 13 of workgroup 1, 0, 0
";

/// Executions that nobody sees (rehearsals, those of an exploration) print nothing; equal instructions of
/// lanes that have parted print for each part.
#[test]
fn every_mode_prints_the_execution_that_counts_once() {
    let modes: [&[&str]; 6] = [
        &["--mode", "run"],
        &["--mode", "run", "--subgroup-size", "4"],
        &["--mode", "check"],
        &["--mode", "check", "--rehearsals", "20", "--seed", "7", "--subgroup-size", "8"],
        &["--mode", "check", "--printf", "stdout"],
        &["--mode", "explore", "--executions", "50"],
    ];
    for options in modes {
        let output = exec(options, "2");
        let errors = text(&output.stderr);
        // 50 executions are not all.
        let status = if options.contains(&"explore") { 67 } else { 0 };
        assert_eq!(output.status.code(), Some(status), "{options:?}:\n{errors}");
        assert_eq!(text(&output.stdout), EXPECTED, "{options:?}");
        let malformed =
            "pellucid: debugPrintf \"%d %s\" at printf.comp:37 prints nothing: \"%s\" is no specifier";
        assert_eq!(errors.matches(malformed).count(), 1, "{options:?}:\n{errors}");
    }
}

#[test]
fn messages_are_in_order_whoever_executes_and_the_first_are_kept() {
    let printed = |options: &[&str]| {
        let output = exec(&[&["--mode", "run"], options].concat(), "3000");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    };
    let (all, _) = printed(&["--threads", "1"]);
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines.len(), 2 * 3000 + 10);
    let invocations = lines.iter().filter_map(|line| line.strip_prefix("invocation "));
    let numbers: Vec<u32> = invocations.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect();
    assert_eq!(numbers, (0..3000).flat_map(|group| [8 * group + 1, 8 * group + 5]).collect::<Vec<u32>>());
    for threads in ["2", "5"] {
        assert_eq!(printed(&["--threads", threads]).0, all);
    }
    for threads in ["1", "4"] {
        let (some, errors) = printed(&["--threads", threads, "--printf-limit", "100"]);
        assert_eq!(some.lines().collect::<Vec<_>>(), lines[..100]);
        let left_out =
            "dispatch 0: 5910 messages of debugPrintf after the first 100 are left out (printf-limit)";
        assert!(errors.contains(left_out), "{errors}");
    }
    assert_eq!(printed(&["--printf", "off"]).0, "");
    assert_eq!(printed(&["--printf", "messengers"]).0, "");
}
