//! The command as people use it: statuses, totals, reports, seeds, suppressions.

mod common;

use common::errors;
use std::path::Path;
use std::process::{Command, Output};

const REDUCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/demo/reduce.spv");
const FIXED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/demo/reduce_fixed.spv");
const BUFFERS: [&str; 10] = [
    "--groups",
    "1",
    "--buffer",
    "0:0=u32x64=iota",
    "--buffer",
    "0:1=u32x64",
    "--buffer",
    "0:2=u32x1",
    "--dump",
    "0:2",
];

fn pellucid(arguments: &[&str]) -> Output {
    let mut command = common::pellucid();
    command.args(arguments).output().expect("pellucid starts")
}

fn exec(shader: &str, options: &[&str]) -> Output {
    let mut arguments = vec!["exec", shader];
    arguments.extend(BUFFERS);
    arguments.extend(options);
    pellucid(&arguments)
}

#[test]
fn a_finding_makes_the_status_66_and_a_clean_run_leaves_it() {
    let output = exec(REDUCE, &[]);
    assert_eq!(output.status.code(), Some(66), "{}", errors(&output));
    assert!(errors(&output).contains("error[race-not-"), "{}", errors(&output));
    assert!(errors(&output).contains("reduce.comp:22"), "{}", errors(&output));
    let output = exec(FIXED, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(errors(&output), "pellucid: 0 findings, 0 suppressed, seed 0, 1 dispatch checked\n");
    assert_eq!(exec(REDUCE, &["--exitcode", "9"]).status.code(), Some(9));
}

#[test]
fn what_was_found_can_be_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let [html, report] = ["found.html", "report.json"].map(|name| folder.path().join(name));
    let [html, report] = [html.to_str().unwrap(), report.to_str().unwrap()];
    let plain = exec(REDUCE, &[]);
    let output = exec(REDUCE, &["--html", html]);
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(errors(&output), errors(&plain) + &format!("pellucid: page: {html}\n"));
    let page = std::fs::read_to_string(html).unwrap();
    // The same as by way of a report, which may be kept, too.
    exec(REDUCE, &["--html", html, "--report", report]);
    assert_eq!(std::fs::read_to_string(html).unwrap(), page);
    let shown = pellucid(&["report", report, "--format", "html"]);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), page);
    let many = exec(REDUCE, &["--html", html, "--seeds", "0..2"]);
    assert_eq!(many.status.code(), Some(2), "{}", errors(&many));
    assert_eq!(std::fs::read_to_string(html).unwrap(), page, "a usage error leaves what is there");
    let nothing = pellucid(&["run", "--html", html, "--", "true"]);
    assert!(
        errors(&nothing).ends_with("pellucid: no page: the program wrote no report\n"),
        "{}",
        errors(&nothing)
    );
    assert!(!Path::new(html).exists(), "the page of another run stays");
}

#[test]
fn a_page_that_cannot_be_made_hides_no_status() {
    let folder = tempfile::tempdir().unwrap();
    // That a file cannot be written is said before the program runs.
    let nowhere = folder.path().join("nowhere/found.html");
    let ran = folder.path().join("ran");
    let [nowhere, ran] = [nowhere.to_str().unwrap(), ran.to_str().unwrap()];
    let output = pellucid(&["run", "--html", nowhere, "--", "touch", ran]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains(nowhere) && !Path::new(ran).exists(), "{}", errors(&output));
    // A program that is killed may leave half a line.
    let html = folder.path().join("torn.html");
    let html = html.to_str().unwrap();
    let torn = "printf '{\"type\":' >> \"$PELLUCID_REPORT\"; kill -9 $$";
    let output = pellucid(&["run", "--html", html, "--", "sh", "-c", torn]);
    assert_eq!(output.status.code(), Some(137), "{}", errors(&output));
    assert!(errors(&output).contains("line 1 is no JSON"), "{}", errors(&output));
    assert!(!Path::new(html).exists(), "half a page stays");
}

#[test]
fn a_bad_variable_is_a_usage_error_with_a_page_or_without() {
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("found.html");
    let html = html.to_str().unwrap();
    for arguments in [&["exec", REDUCE][..], &["explore", REDUCE], &["run", "--", "true"]] {
        for page in [&[][..], &["--html", html]] {
            let words = [&arguments[..1], page, &arguments[1..]].concat();
            let mut command = common::pellucid();
            command.args(&words).env("PELLUCID_SEED", "many");
            let output = command.output().expect("pellucid starts");
            assert_eq!(output.status.code(), Some(2), "{words:?}: {}", errors(&output));
        }
    }
}

#[test]
fn a_word_that_is_no_text_is_a_usage_error() {
    use std::os::unix::ffi::OsStrExt as _;
    let word = std::ffi::OsStr::from_bytes(b"\xff");
    for words in [&[word][..], &["report".as_ref(), "--no-such-option".as_ref(), word]] {
        let output = common::pellucid().args(words).output().expect("pellucid starts");
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    }
}

#[test]
fn what_was_meant_is_proposed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.spv", "app"] {
        std::fs::copy(REDUCE, folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("notes"), "words\n").unwrap();
    let said = |arguments: &[&str]| {
        let mut command = common::pellucid();
        errors(&command.args(arguments).current_dir(folder.path()).output().expect("pellucid starts"))
    };
    for (arguments, meant) in [
        (&["run", "a.spv"][..], "cannot start a.spv (a shader alone is run by `pellucid exec a.spv`): "),
        (&["run", "app"], "cannot start app (is ./app meant? "),
        (&["a.spv"], "pellucid: a.spv is no command but a file: pellucid exec a.spv\n"),
        (&["app"], "pellucid: app is no command but a file: pellucid run -- ./app\n"),
        (
            &["report", "notes"],
            "not a report, which --report FILE of run, exec, explore and hunt writes: line 1",
        ),
    ] {
        assert!(said(arguments).contains(meant), "{arguments:?}: {}", said(arguments));
    }
}

#[test]
fn a_line_in_another_order_is_told_how_to_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &str| std::fs::copy(from, folder.path().join(to)).unwrap();
    copy(REDUCE.as_ref(), "a.spv");
    copy("/bin/true".as_ref(), "app");
    std::fs::write(folder.path().join("r.json"), "").unwrap();
    for (line, said) in [
        ("hunt a.spv --report x.json", "come before the shader: pellucid hunt --report x.json a.spv\n"),
        (
            "hunt a.spv --groups 2 --runs=8",
            "such as --runs, come before the shader: pellucid hunt --runs=8 a.spv --groups 2\n",
        ),
        (
            "hunt a.spv -- --groups 2",
            "'--groups' found; options of a shader, such as --groups, follow it: \
             pellucid hunt a.spv --groups 2\n",
        ),
        (
            "hunt --runs 8 --groups 2 a.spv --time 3",
            "such as --groups, follow it: pellucid hunt --runs 8 --time 3 a.spv --groups 2\n",
        ),
        ("hunt -DN=4 a.comp", "such as -D, follow it: pellucid hunt a.comp -DN=4\n"),
        ("hunt --seeds 0..8 a.spv", "--seeds is an option of pellucid run and pellucid exec, not of hunt\n"),
        (
            "hunt --nothing a.spv",
            "unexpected argument '--nothing' found; pellucid help hunt lists its options\n",
        ),
        ("exec a.spv --runs 8", "--runs is an option of pellucid hunt and pellucid litmus, not of exec\n"),
        ("exec a.spv --run", "--run is an option of pellucid debug, not of exec\n"),
        ("exec -- a.spv --groups 2", "options of exec, such as --groups, come before `--`\n"),
        ("debug --dap a.spv", "for the client's launch request to say, not for the words beside --dap\n"),
        ("exec app", "app: a program, and no shader; pellucid run -- ./app runs it"),
        (
            "explore --seeds 0..8 a.spv",
            "--seeds is an option of pellucid run and pellucid exec, not of explore\n",
        ),
        ("debug a.spv --run", "come before the shader: pellucid debug --run a.spv\n"),
        (
            "debug ./app --dispatch 3",
            "such as --dispatch, come before the shader: pellucid debug --dispatch 3 ./app\n",
        ),
        (
            "debug --dispatch 3 --groups 2 ./app",
            "--groups is an option of pellucid exec and pellucid explore",
        ),
        ("debug r.json:2", "r.json:2: a finding of a report is debugged by --finding r.json:2\n"),
        (
            "debug ./app",
            "a program, and no shader; pellucid run -- ./app runs it, and debug --dispatch 0 -- ./app",
        ),
        ("run --runs 5 -- ./app", "--runs is an option of pellucid hunt and pellucid litmus, not of run\n"),
        ("run --groups 4 a.spv", "--groups is an option of pellucid exec and pellucid explore, not of run\n"),
        ("run -seed 3 -- ./app", "options of more than a letter have two hyphens: --seed\n"),
        ("--report x.json run ./app", " and pellucid explore, and follows the command\n"),
    ] {
        let mut command = common::pellucid();
        command.args(line.split(' ')).current_dir(folder.path());
        let output = command.output().expect("pellucid starts");
        assert!(errors(&output).contains(said), "{line}: {}", errors(&output));
        assert_eq!(output.status.code(), Some(2), "{line}: {}", errors(&output));
        assert!(!errors(&output).contains("similar argument"), "{line}: {}", errors(&output));
    }
    // What follows a program is the program's own; `--` says that this is meant.
    for (line, said) in [
        (
            "run ./app --report x.json",
            "pellucid: --report, behind the program, is passed on to it; options of run come before: \
             pellucid run --report x.json -- ./app\n",
        ),
        ("hunt --explore 0 ./app --runs 3", "pellucid hunt --explore 0 --runs 3 -- ./app\n"),
        ("run -- ./app --report x.json", ""),
        ("run ./app --help", ""),
    ] {
        let mut command = common::pellucid();
        command.args(line.split(' ')).current_dir(folder.path());
        let output = command.output().expect("pellucid starts");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", errors(&output));
        let told = errors(&output);
        assert_eq!(told.contains("is passed on to it"), !said.is_empty(), "{line}: {told}");
        assert!(told.contains(said), "{line}: {told}");
    }
}

#[test]
fn a_report_of_commands_alone_is_said_to_be_none_for_the_debugger() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let lines = r#"{"type":"run","schema":1,"command":"./app"}
{"type":"finding","id":"hazard-read-after-write","number":1}
"#;
    std::fs::write(&report, lines).unwrap();
    let output = pellucid(&["debug", "--finding", report.to_str().unwrap(), "--", "./app"]);
    let told = "no finding within a dispatch, at which the debugger could stop, but 1 about commands or the host; \
                --dispatch N debugs a dispatch\n";
    assert!(errors(&output).contains(told), "{}", errors(&output));
}

#[test]
fn help_is_the_same_both_ways() {
    let [one, other] = [&["help", "hunt"], &["hunt", "--help"]].map(|line| pellucid(line).stdout);
    let usage = |printed: &[u8]| {
        let printed = String::from_utf8_lossy(printed).into_owned();
        printed.lines().find(|line| line.starts_with("Usage: ")).map(str::to_owned)
    };
    assert_eq!(usage(&one).as_deref(), Some("Usage: pellucid hunt [OPTIONS] <PROGRAM>..."));
    assert_eq!(usage(&one), usage(&other));
}

#[test]
fn help_behind_a_shader_is_help() {
    for command in ["hunt", "debug", "exec"] {
        let output = pellucid(&[command, REDUCE, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", errors(&output));
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("--groups <X,Y,Z>"), "{command}: {printed}");
    }
}

#[test]
fn a_report_in_place_of_a_shader_says_what_takes_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let report = report.to_str().unwrap();
    pellucid(&["hunt", "--explore", "0", "--runs", "2", "--report", report, REDUCE]);
    for command in ["exec", "debug"] {
        let output = pellucid(&[command, report]);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        let told =
            format!("{report}: a report, and no shader; debug --finding {report}, replay and report take it");
        assert!(errors(&output).contains(&told), "{}", errors(&output));
    }
    // It is of two runs, and not of no dispatch.
    let shown = String::from_utf8(pellucid(&["report", report]).stdout).unwrap();
    assert!(shown.ends_with("pellucid: 2 runs: 1 distinct finding, 0 suppressed\n"), "{shown}");
}

#[test]
fn what_both_accesses_of_a_line_miss_is_said_once() {
    let shader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compute/contended.spv");
    let output = pellucid(&["exec", shader, "--groups", "2"]);
    let text = errors(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(text.contains("is private, so no synchronisation covers it"), "{text}");
    assert!(lines.windows(2).all(|two| two[0] != two[1] || two[0].is_empty()), "{text}");
}

#[test]
fn one_invocation_alone_is_said_to_be_alone() {
    let shader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compute/forgotten.spv");
    for (groups, alone) in [(&[][..], true), (&["--groups", "1"], false), (&["--groups", "2"], false)] {
        let output = pellucid(&[&["exec", shader][..], groups].concat());
        let told =
            errors(&output).contains("pellucid: one invocation runs, and none that could race with it");
        assert_eq!(told, alone, "{}", errors(&output));
    }
}

#[test]
fn the_report_file_says_the_same_as_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let report = report.to_str().unwrap();
    let output = exec(REDUCE, &["--report", report]);
    let shown = pellucid(&["report", report]);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), errors(&output));
    let sarif = pellucid(&["report", report, "--format", "sarif"]);
    assert!(String::from_utf8_lossy(&sarif.stdout).contains("\"startLine\": 22"));
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let output = exec(FIXED, &["--report", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let said =
        "pellucid: report: /dev/full: No space left on device (os error 28): the report is not whole\n";
    assert_eq!(errors(&output).matches(said).count(), 1, "{}", errors(&output));
    assert_eq!(exec(REDUCE, &["--report", "/dev/full"]).status.code(), Some(66));
    assert_eq!(exec(FIXED, &["--report", "/nonexistent/report"]).status.code(), Some(1));
}

#[test]
fn suppressed_findings_are_counted_apart_and_unused_rules_listed() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules");
    std::fs::write(&rules, "race:reduce.comp:*\nhazard:*\n").unwrap();
    let output = exec(REDUCE, &["--suppressions", rules.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(
        errors(&output).contains("pellucid: unused suppression: hazard:* (line 2)\n"),
        "{}",
        errors(&output)
    );
    assert!(errors(&output).contains("pellucid: 0 findings, 1 suppressed"), "{}", errors(&output));
}

#[test]
fn failing_seeds_are_named_in_order() {
    let mut arguments =
        vec!["run", "--seeds", "0..3", "--", env!("CARGO_BIN_EXE_pellucid"), "exec-here", REDUCE];
    arguments.extend(BUFFERS);
    let output = pellucid(&arguments);
    assert_eq!(output.status.code(), Some(66), "{}", errors(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let seeds: Vec<&str> = printed.lines().filter(|line| line.starts_with("FAILING SEED")).collect();
    assert_eq!(seeds, ["FAILING SEED: 0", "FAILING SEED: 1", "FAILING SEED: 2"]);
    assert!(
        errors(&output).ends_with("pellucid: seeds 0..3: 3 of 3 failing: 0, 1, 2\n"),
        "{}",
        errors(&output)
    );
    let mut arguments =
        vec!["run", "--seeds", "0..3", "--", env!("CARGO_BIN_EXE_pellucid"), "exec-here", FIXED];
    arguments.extend(BUFFERS);
    let output = pellucid(&arguments);
    assert_eq!(errors(&output), "pellucid: seeds 0..3: all 3 clean\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn seeds_of_a_shader_need_no_program() {
    let seeds = |shader| {
        let mut arguments = vec!["exec", shader, "--seeds", "0..3"];
        arguments.extend(BUFFERS);
        pellucid(&arguments)
    };
    let output = seeds(REDUCE);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{text}");
    assert_eq!(text.matches("error[race-").count(), 1, "{text}");
    assert!(text.contains(": in 3 of 3 seeds, first in seed 0\n"), "{text}");
    assert!(text.contains("replay: pellucid exec --seed 0 "), "{text}");
    assert!(text.ends_with("pellucid: seeds 0..3: 3 of 3 failing: 0, 1, 2\n"), "{text}");
    assert_eq!(errors(&seeds(FIXED)), "pellucid: seeds 0..3: all 3 clean\n");
}

#[test]
fn the_programs_own_status_passes_through() {
    assert_eq!(pellucid(&["run", "--", "sh", "-c", "exit 3"]).status.code(), Some(3));
    assert_eq!(pellucid(&["run", "--", "true"]).status.code(), Some(0));
    assert_eq!(pellucid(&["run", "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
}

#[test]
fn usage_errors_have_status_2_and_name_what_is_valid() {
    let cases: [(&[&str], &str); 7] = [
        (&["run", "--mode", "fast", "--", "true"], "valid: run, check, explore"),
        (&["run"], "required"),
        (&["walk"], "unrecognized"),
        (&["exec", "/nonexistent.spv", "--groups", "1"], "/nonexistent.spv"),
        (&["exec", REDUCE, "--groups", "1", "--buffer", "0:0=u33x1"], "unknown type \"u33\""),
        (&["replay", "/nonexistent.json"], "/nonexistent.json"),
        (&["help", "nonsense"], "no command \"nonsense\""),
    ];
    for (arguments, text) in cases {
        let output = pellucid(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", errors(&output));
        assert!(errors(&output).contains(text), "{arguments:?}: {}", errors(&output));
    }
}

#[test]
fn a_file_that_cannot_be_read_has_one_status_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let report = report.to_str().unwrap();
    pellucid(&["hunt", "--runs", "1", "--report", report, REDUCE]);
    let shader = REDUCE;
    // `nowhere` is no file, and `.` none that can be read.
    let lines: [&[&str]; 34] = [
        &["exec", "nowhere.spv"],
        &["exec", "nowhere.spvasm"],
        &["exec", "nowhere.comp"],
        &["exec", "."],
        &["exec", "--seeds", "0..2", "nowhere.spv"],
        &["exec", shader, "--buffer", "0:0=u32x64=file:nowhere"],
        &["exec", "--suppressions", "nowhere", shader],
        &["exec", "--suppressions", ".", shader],
        &["exec", "--machine", "nowhere", shader],
        &["exec", "--seeds", "0..2", "--baseline", "nowhere", shader],
        &["explore", "nowhere.spv"],
        &["explore", "--suppressions", "nowhere", shader],
        &["hunt", "nowhere.spv"],
        &["hunt", "--baseline", "nowhere", shader],
        &["hunt", "--suppressions", "nowhere", shader],
        &["run", "--suppressions", "nowhere", "--", "true"],
        &["run", "--machine", "nowhere", "--", "true"],
        &["run", "--seeds", "0..2", "--baseline", "nowhere", "--", "true"],
        &["debug", "nowhere.spv"],
        &["debug", "."],
        &["debug", shader, "--buffer", "0:0=u32x64=file:nowhere"],
        &["debug", "--machine", "nowhere", shader],
        &["debug", "--finding", "nowhere:1"],
        &["debug", "--finding", "nowhere:1", "--", "true"],
        &["replay", "nowhere"],
        &["replay", "."],
        &["report", "nowhere"],
        &["report", "--format", "html", "nowhere"],
        &["merge", "nowhere"],
        &["merge", "--baseline", "nowhere", report],
        &["litmus", "nowhere.litmus"],
        &["litmus", "--by", "vulkan", "nowhere.litmus"],
        &["litmus", "--by", "explore", "nowhere.litmus"],
        &["litmus", "--expect", "nowhere", "../tests/litmus"],
    ];
    for line in lines {
        let output = pellucid(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {}", errors(&output));
        let file = if line.contains(&".") { "." } else { "nowhere" };
        assert!(errors(&output).contains(file), "{line:?}: {}", errors(&output));
    }
    // A program is started, not read.
    for line in [&["run", "--", "./nowhere"][..], &["hunt", "--", "./nowhere"]] {
        let output = pellucid(line);
        assert_eq!(output.status.code(), Some(1), "{line:?}: {}", errors(&output));
        assert!(errors(&output).contains("cannot start ./nowhere"), "{line:?}: {}", errors(&output));
    }
}

#[test]
fn a_file_that_is_no_report_has_the_same_status() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("empty", ""), ("words", "no report\n"), ("object", "{}\n")] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let bad = path.to_str().unwrap();
        let lines: [&[&str]; 9] = [
            &["report", bad],
            &["report", "--format", "html", bad],
            &["merge", bad],
            &["merge", "--baseline", bad, bad],
            &["replay", bad],
            &["debug", "--finding", bad],
            &["hunt", "--baseline", bad, REDUCE],
            &["exec", "--seeds", "0..2", "--baseline", bad, REDUCE],
            &["run", "--seeds", "0..2", "--baseline", bad, "--", "true"],
        ];
        for line in lines {
            let output = pellucid(line);
            assert_eq!(output.status.code(), Some(2), "{line:?}: {}", errors(&output));
            let told = format!("pellucid: {bad}: not a report");
            assert!(errors(&output).starts_with(&told), "{line:?}: {}", errors(&output));
        }
    }
}

#[test]
fn what_is_no_rule_of_suppression_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (rules, ran) = (folder.path().join("rules"), folder.path().join("ran"));
    let [rules, ran] = [&rules, &ran].map(|path| path.to_str().unwrap());
    for (text, told) in [
        ("race:x\nrave:x\n", "line 2: unknown kind \"rave\"; valid: race, hazard"),
        ("race\n", "line 1: \"race\" is not a rule"),
    ] {
        std::fs::write(rules, text).unwrap();
        // A program need not say that there is no instance, or even ask for one.
        let lines: [&[&str]; 8] = [
            &["run", "--suppressions", rules, "--", "touch", ran],
            &["run", "--seeds", "0..2", "--suppressions", rules, "--", "touch", ran],
            &["hunt", "--suppressions", rules, "--", "touch", ran],
            &["hunt", "--suppressions", rules, REDUCE],
            &["exec", "--suppressions", rules, REDUCE],
            &["exec", "--seeds", "0..2", "--suppressions", rules, REDUCE],
            &["explore", "--suppressions", rules, REDUCE],
            &["debug", "--suppressions", rules, REDUCE],
        ];
        for line in lines {
            let output = pellucid(line);
            let text = errors(&output);
            assert_eq!(output.status.code(), Some(2), "{line:?}: {text}");
            assert!(
                text.starts_with(&format!("pellucid: suppressions: {rules}: {told}")),
                "{line:?}: {text}"
            );
            assert_eq!(text.lines().count(), 1, "{line:?}: {text}");
        }
    }
    assert!(!Path::new(ran).exists(), "the program ran");
}

#[test]
fn a_driver_with_an_unknown_variable_refuses_the_instance_by_name() {
    let library = Path::new(env!("CARGO_BIN_EXE_pellucid"));
    let output = Command::new(library)
        .args(["exec-here", FIXED])
        .args(BUFFERS)
        .env("PELLUCID_SEEED", "1")
        .output()
        .expect("pellucid starts");
    assert_eq!(output.status.code(), Some(1));
    let errors = errors(&output);
    assert!(
        errors.contains("unknown variable PELLUCID_SEEED; the variables of Pellucid are: PELLUCID_MODE"),
        "{errors}"
    );
    assert!(errors.contains("ERROR_INITIALIZATION_FAILED"), "{errors}");
}

#[test]
fn the_demonstration_finds_its_bug_and_its_fix_is_clean() {
    let output = pellucid(&["demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        printed
            .contains("+ gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);")
    );
    assert!(printed.contains("85344"), "{printed}");
    assert!(
        errors(&output).contains("gl_SemanticsMakeAvailable"),
        "the finding names the fix: {}",
        errors(&output)
    );
}

#[test]
fn install_and_uninstall_leave_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let command = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
        command.arg(name).env("HOME", home.path()).env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME");
        command.output().expect("pellucid starts")
    };
    let manifest = home.path().join(".local/share/vulkan/icd.d/pellucid_icd.json");
    assert!(command("install").status.success());
    let value: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&manifest).unwrap()).unwrap();
    let library = value["ICD"]["library_path"].as_str().unwrap();
    assert!(Path::new(library).is_absolute() && Path::new(library).is_file());
    assert!(command("uninstall").status.success());
    assert!(!manifest.exists());
    let exports = String::from_utf8_lossy(&command("env").stdout).into_owned();
    assert!(exports.contains("export VK_ICD_FILENAMES=") && exports.contains("export VK_DRIVER_FILES="));
}

#[test]
fn who_stops_reading_ends_the_command_without_a_word() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = common::pellucid().args(["help", "options"]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), errors(&output)), (Some(141), String::new()));
}
