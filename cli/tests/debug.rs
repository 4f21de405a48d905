//! The debugger at its prompt: the session of docs/debug.md, and what else it can do.

mod common;

use common::debugger::{root, session, tells};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program of `cli/examples`. `cargo test` builds it, `cargo test --test debug` alone does not.
fn example(name: &str) -> PathBuf {
    let path = std::env::current_exe().unwrap().parent().unwrap().join("../examples").join(name);
    assert!(path.exists(), "{}: build it with cargo build -p pellucid --examples", path.display());
    path
}

const FLAG: &str = "tests/planted/message_passing/buffer.no-make-visible.spv";
const SUM: &str = "cli/src/demo/reduce.spv";

#[test]
fn the_end_of_the_input_ends_the_line_of_the_prompt() {
    let printed = session(&[FLAG, "--groups", "2"], "findings off\ncontinue\n");
    assert!(printed.ends_with("\n(end) \n"), "{printed}");
    let at_once = session(&[FLAG, "--groups", "2"], "");
    assert!(at_once.ends_with("\n(0.0) \n"), "{at_once}");
}

#[test]
fn a_dispatch_without_findings_is_said_to_be_one() {
    let printed = session(&["--run", "cli/src/demo/reduce_fixed.spv"], "back\nexit\nhelp\n");
    let told = "the dispatch has ended: nothing was found in it; `continue` goes on with the program\n(end) back\n\
                `step back`, ";
    assert!(printed.starts_with(told), "{printed}");
    assert!(printed.ends_with("exit\n"), "{printed}");
    // Who stopped before asked for something else.
    let later = session(&["cli/src/demo/reduce_fixed.spv"], "continue\nquit\n");
    assert!(later.contains("the dispatch has ended; `continue`"), "{later}");
}

#[test]
fn what_an_atomic_of_64_bits_reads_is_one_of_its_writes() {
    let arguments = ["cli/tests/compute/wide_message.spv", "--groups", "2"];
    let values = ["0x100000002", "0x300000002"];
    let mut commands = "watch message read on 1 0\ncontinue\nchoose 12884901888\nchoose 2\n".to_owned();
    for value in values {
        commands += &format!("choose {value}\ncontinue\nprint received\nstep back\ncontinue back\n");
    }
    let printed = session(&arguments, &commands);
    let allowed = values.join(", ");
    // A high word with the low word of before, and a low word with the high word of before.
    // What was there before the first write is forgotten: no value is called forbidden.
    for torn in ["12884901888", "2"] {
        let told = format!(
            "{torn} is not among the values that are remembered and allowed here: {allowed}; older ones"
        );
        assert!(printed.contains(&told), "{told:?} is not in\n{printed}");
    }
    for value in values {
        let told = format!("the load returns {value} (the memory model allows {allowed})");
        assert!(printed.contains(&told), "{told:?} is not in\n{printed}");
        assert!(printed.contains(&format!("received = {value}\n")), "{value} in\n{printed}");
    }
}

#[test]
fn who_sees_what_of_eight_bytes_is_told_of_both_words_at_once() {
    let arguments = ["cli/tests/compute/wide_message.spv", "--groups", "2"];
    let commands =
        "watch message read on 1 0\ncontinue\nsees message\nreads message\nbefore message #1 now\n";
    let printed = session(&arguments, commands);
    tells(
        &printed,
        &[
            "memory holds 0x300000002 in message\n#0 0x100000002 from before these writes; older values are forgotten, and might be read, too\n#1 0x300000002 by ",
            "invocation 0 of workgroup (1,0,0) may read 0x100000002 or 0x300000002 now\n",
            "     yes: it is the newest\n",
            "(1) the write of 0x300000002 by invocation 0 of workgroup (0,0,0) is ",
        ],
    );
}

#[test]
fn a_half_of_eight_bytes_is_told_apart() {
    let arguments = ["cli/tests/compute/wide_parts.spv", "--groups", "10"];
    // The newest value of the lower half was read already, so the old one is no longer to be had there.
    let commands = "findings off\nwatch whole read on 9 0\ncontinue\nchoose 2\ncontinue\nreads whole\n\
                    before whole #0 now\nsees whole\nsees halved\n";
    let printed = session(&arguments, commands);
    tells(
        &printed,
        &[
            "#0 0 from before: of its eight bytes the upper four only\n#1 0x300000002 by ",
            "     yes: it is the newest\n",
            "may still read the upper four of its eight bytes now; ",
            "may read 2 or 0x300000002 now\n",
            // Written by one instruction, but not by one store.
            "not implemented in Pellucid: the writes of halved, whose eight bytes were not written together\n",
        ],
    );
}

#[test]
fn an_array_in_a_block_without_names_is_the_variable() {
    let arguments = ["--run", "cli/tests/compute/wrapped.spvasm"];
    let printed = session(&arguments, "findings 1\nprint a\nprint a[1]\nsees a[1]\n");
    tells(&printed, &[": a[", "a = [0, 0]\n", "a[1] = 0\n", "memory holds 0 in a[1]\n"]);
    assert!(!printed.contains("member 0") && !printed.contains("_0"), "{printed}");
}

#[test]
fn what_was_never_written_is_said_at_the_end_as_well() {
    let printed = session(&[FLAG, "--groups", "2"], "findings off\ncontinue\nwrote received\n");
    assert!(printed.contains("this is the write\n"), "{printed}");
    let printed = session(&[FLAG, "--groups", "1"], "continue\nwrote received\n");
    assert!(printed.contains("the dispatch has ended: nothing in it has written that\n"), "{printed}");
}

#[test]
fn the_sessions_of_the_documentation_are_what_is_printed() {
    let path = root().join("docs/debug.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    let blur = example("blur").display().to_string();
    let mut parts = text.split("```text\n");
    written.push_str(parts.next().unwrap());
    for part in parts {
        let (shown, after) = part.split_once("```\n").unwrap();
        let first = shown.lines().next().unwrap();
        let words = first.strip_prefix("$ pellucid debug ").unwrap().split(' ');
        let arguments: Vec<&str> = words.map(|word| if word == "./blur" { &*blur } else { word }).collect();
        let command = |line: &str| {
            let (position, command) = line.strip_prefix('(')?.split_once(") ")?;
            (position.contains('.') || position == "end").then(|| command.to_owned())
        };
        let commands: Vec<String> = shown.lines().filter_map(command).collect();
        let printed = session(&arguments, &(commands.join("\n") + "\n"));
        written.push_str(&format!("```text\n{first}\n{printed}```\n{after}"));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, written).unwrap();
    } else {
        assert_eq!(text, written, "UPDATE_EXPECT=1 writes it again");
    }
}

#[test]
fn another_value_leads_to_another_outcome() {
    for (value, result) in [("42", "received = 42"), ("0", "received = 0")] {
        let commands = format!("choose {value}\nchoose 7\ncontinue\nprint received\nstep back\nchoose 1\n");
        let printed = session(&["--run", FLAG, "--groups", "2"], &commands);
        assert!(printed.contains(result), "{printed}");
        assert!(printed.contains("does not allow 7 here, only 0, 42"), "{printed}");
    }
}

#[test]
fn another_schedule_leads_to_another_execution() {
    let line = |turn: &str| {
        let printed = session(&[FLAG, "--groups", "3"], &format!("{turn}\ngoto 2.0\nthreads\n"));
        printed.lines().rfind(|line| line.contains("workgroup (1,0,0) subgroup")).unwrap_or("").to_owned()
    };
    assert_ne!(line("turn 1 0"), line("turn 2 0"));
}

#[test]
fn variables_have_names_types_and_values_and_can_be_set() {
    let commands = "\
break 13 if me == 5
continue
locals
print values[me]
print gl_LocalInvocationIndex
print gl_NumSubgroups
print gl_SubgroupSize
set me 40
print values[me]
set me back
print nothing
focus 0 6
print me
where
step
step back
goto start
";
    let printed = session(&[SUM, "--buffer", "0:0=u32x64=iota"], commands);
    tells(
        &printed,
        &[
            "breakpoint 1 at line 13",
            "invocation 5 of workgroup (0,0,0) at reduce.comp:13 in main",
            "me: u32 = 5",
            "values[me] = 5",
            "gl_LocalInvocationIndex = 5",
            "gl_NumSubgroups = 2",
            "gl_SubgroupSize = 32",
            "values[me] = 40",
            "\"back\" is no u32",
            "there is no variable \"nothing\" here",
            "me = 6",
            "*#0 main at reduce.comp:13",
        ],
    );
}

#[test]
fn a_name_is_the_one_of_the_function_in_focus() {
    let shader = ["cli/tests/compute/shadowed.spv"];
    let commands = "break strange\nbreak weigh\ndelete 1\nbreak 21 if p.mass == 10\nc\nlocals\n\
print i\nprint q\nset n 90\nup\nprint i\nprint n\n";
    let printed = session(&shader, commands);
    tells(
        &printed,
        &[
            "\"strange\" is no line, and no function that runs\n",
            "breakpoint 1 at line 20\n",
            "breakpoint 2, line 21\ninvocation 0 of workgroup (0,0,0) at shadowed.comp:21 in weigh\n",
            "locals\np: Particle = {mass = 10.0, id = 0, kind = 0}\ni: u32 = 20\nn: u32 = 8\n",
            "print i\ni = 20\n",
            "print q\nthere is no variable \"q\" here\n",
            "print i\ni = 0\n",
            "print n\nn = 7\n",
        ],
    );
    // The second call is given other variables.
    let commands = "break 33 if i == 2\nc\nbreak 21\nc\nprint p\nprint i\nprint n\nup\nprint i\n\
sees particles[2].id\nsees particles[2].kind\n";
    let printed = session(&shader, commands);
    tells(
        &printed,
        &[
            "p = {mass = 42.0, id = 3, kind = 9}\n",
            "i = 8\n",
            "n = 9\n",
            "i = 2\n",
            // The other half of its word is another variable.
            "memory holds 3 in particles[2].id\n#0 0 from before these writes\n#1 3 by invocation 2 of \
         workgroup (0,0,0) at shadowed.comp:31  particles[i].id = p.id;\n     not made available by its \
         writer; for invocation 2 of workgroup (0,0,0): its own write\ninvocation 2 of workgroup (0,0,0) may \
         read 3 now, by a plain load\n",
            "\n#1 9 by invocation 2 of workgroup (0,0,0) at shadowed.comp:32  ",
        ],
    );
}

#[test]
fn parts_of_a_structure_are_read_as_the_structure_is() {
    let commands = "findings off\nbreak 20 on 0 2\nc\nsees sh[1].kind\nsees sh[1].count\nreads sh[1].d.x\n";
    let printed = session(&["cli/tests/compute/parts.spv"], commands);
    tells(
        &printed,
        &[
            "invocation 2 of workgroup (0,0,0) may read 2 now\n",
            "invocation 2 of workgroup (0,0,0) may read 2000 now, by a load like its next one\n",
            "what invocation 2 of workgroup (0,0,0) may read of sh[1].d.x by a load like its next one:\n\
         #0 0.0 from before: no: #1 is newer",
        ],
    );
}

#[test]
fn what_a_function_is_given_by_value_has_its_name() {
    let printed =
        session(&["cli/tests/compute/by_value.spv"], "break 4\nc\nlocals\nfocus 0 2\nprint by\nup\nlocals\n");
    tells(
        &printed,
        &["locals\nat = (9.0, 12.0, 18.0)\nby = 0.5\n", "print by\nby = 2.5\n", "locals\nnone\n"],
    );
}

#[test]
fn writes_that_others_superseded_are_told_with_what_they_stored() {
    let commands = "break 8\nc\nc\nc\nc\nsees x\n";
    let printed = session(&["cli/tests/compute/superseded.spv", "--groups", "5"], commands);
    tells(
        &printed,
        &[
            "memory holds 10 in x\n#0 0 from before these writes\n",
            "\n#1 4 by invocation 0 of workgroup (3,0,0) (atomic, device scope)",
            "\n#2 8 by invocation 0 of workgroup (2,0,0) (atomic, device scope)",
            "\n#3 10 by invocation 0 of workgroup (1,0,0) (atomic, device scope)",
        ],
    );
}

#[test]
fn a_breakpoint_and_a_step_back_come_to_where_one_was() {
    let commands = "findings off\nbreak 22\nc\nbt\nnext\nnext\nbt\nnext back\nnext back\nbt\nc back\n";
    let printed = session(&[SUM, "--buffer", "0:0=u32x64=iota"], commands);
    let prompts: Vec<&str> = printed.lines().filter(|line| line.starts_with('(')).collect();
    assert_eq!(prompts.len(), 12, "{printed}");
    let at = |k: usize| prompts[k].split_once(')').unwrap().0;
    assert_eq!(at(3), at(9), "{printed}");
    assert_ne!(at(3), at(6), "{printed}");
}

#[test]
fn to_skip_all_dispatches_is_a_usage_error() {
    for (arguments, times) in [(&["--skip", "1"][..], "once"), (&["--skip", "3", "--repeat", "3"], "3 times")]
    {
        let mut debug = common::pellucid();
        debug.arg("debug").args(&arguments[..2]).arg(SUM).args(&arguments[2..]);
        let output = debug.current_dir(root()).stdin(Stdio::null()).output().unwrap();
        let text = common::errors(&output);
        assert!(text.contains(&format!(": nothing is left; the shader is dispatched {times}, ")), "{text}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{text}");
    }
    let last = session(&["--skip", "2", SUM, "--repeat", "3"], "quit\n");
    assert!(last.starts_with("dispatch 2 begins\n"), "{last}");
}

#[test]
fn turns_are_given_to_subgroups_that_there_are() {
    let commands = "turn 0 2\nturn 0 x\nturn 1 0\nturn 0 1\n";
    let printed = session(&[SUM], commands);
    tells(
        &printed,
        &[
            "\"2\" is no subgroup of a workgroup, which has 2\n",
            "\"x\" is no subgroup of a workgroup, which has 2\n",
            "\"1\" is no workgroup of this dispatch\n",
            "turn 0 1\ninvocation ",
        ],
    );
}

#[test]
fn what_quit_leaves_behind_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let status = Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .args(["exec", FLAG, "--groups", "2", "--report"])
        .arg(&report)
        .current_dir(root())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(66));
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    // In the midst of the dispatch, and at its end.
    for commands in ["quit\n", "continue\nquit\n", ""] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pellucid"))
            .args(["debug", "--finding"])
            .arg(&report)
            .current_dir(root())
            .env("TMPDIR", &temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        common::tell(&mut child, commands);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        // No total of a program that was not run to its end.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("checked"), "{said}");
        let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn what_was_there_before_is_a_number_too_and_the_end_says_how_to_go_back() {
    let commands = "before data #0 now\nbefore data #0 #1\nbefore data #0 #9\ncontinue\nsees data\nbefore data #1 now\n\
                    step back\nsees data\n";
    let printed = session(&["--run", FLAG, "--groups", "2"], commands);
    assert_eq!(printed.matches("#0 is 0, which data held before the writes").count(), 2, "{printed}");
    assert!(printed.contains("\"#9\" is no write of data"), "{printed}");
    assert!(printed.contains("may still read it now; `reads data` says why"), "{printed}");
    assert_eq!(printed.matches("has ended: everything is visible").count(), 2, "{printed}");
    assert_eq!(printed.matches("`step back` (or `continue back`").count(), 2, "{printed}");
    let after = printed.rsplit(") step back").next().unwrap();
    assert!(after.contains("memory holds 42 in data"), "{printed}");
}

#[test]
fn push_constants_are_variables() {
    let shader = "cli/tests/compute/saxpy.spv";
    let printed = session(
        &[shader, "--push", "0=f32:2.5", "--push", "4=u32:7"],
        "buffers\nprint count\nprint a\nprint Push.count\nprint Push\nsees a\nset a 3\n",
    );
    tells(
        &printed,
        &[
            "Push: Push = {a = 2.5, count = 7}",
            "count = 7",
            "a = 2.5",
            "a is a push constant: nothing writes it",
        ],
    );
    let shader = "cli/tests/compute/vectors.spv";
    let matrix: Vec<String> = (0..16).map(|k| format!("{k}")).collect();
    let push = format!("0=f32:{}", matrix.join(","));
    let printed = session(&[shader, "--push", &push], "print transform\nprint transform[2].y\n");
    assert!(printed.contains("transform[2].y = 9.0"), "{printed}");
}

#[test]
fn values_of_all_sizes_are_chosen_if_the_model_allows_them() {
    // Workgroup 1 reads what workgroup 0 wrote without any order between them.
    let shader = "cli/tests/compute/sizes.spv";
    let mut commands = "findings off\nturn 0 0\ngoto start\n".to_owned();
    for (read, others) in [
        ("narrow[1]", ["0", "9"]),
        ("middle[1]", ["0", "700"]),
        ("wide", ["0x700000000", "0x800000007"]),
        ("real", ["0.0", "-1"]),
        ("pair", ["0, 5", "(1, 5)"]),
    ] {
        let [value, bad] = others;
        commands += &format!("watch {read} read on 1 0\ncontinue\nchoose {bad}\nchoose {value}\n");
    }
    commands += "continue\nprint got\nprint number\ncontinue back\ngoto start\nforget\nbreakpoints\n";
    commands += "delete 1\ndelete 2\ndelete 3\ndelete 4\ndelete 5\ncontinue\nprint got\nprint number\n";
    let printed = session(&[shader, "--groups", "2"], &commands);
    tells(
        &printed,
        &[
            "does not allow 9 here, only 0, 7;",
            "the load returns 0 (the memory model allows 0, 7)",
            "does not allow 700 here, only 0, -700;",
            "the load returns 0 (the memory model allows 0, -700)",
            // Torn: the upper half is new, the lower one old.
            "does not allow 0x800000007 here",
            "the load returns 0x700000000 (the memory model allows 0, 8, 0x700000000, 0x700000008)",
            "does not allow -1 here, only 0.0",
            "the load returns 0.0 (the memory model allows 0.0",
            "does not allow 1 here, only 0, 5;",
            "the load returns 0, 5 (the memory model allows 0, 5; 0, 5)",
        ],
    );
    let got: Vec<&str> = printed.lines().filter(|line| line.starts_with("got = ")).collect();
    assert_eq!(got.len(), 2, "{printed}");
    assert_eq!(got[0], "got = [0, 0, 0x700000000, 5]", "{printed}");
    assert!(printed.contains("number = 0.0"), "{printed}");
}

#[test]
fn what_is_forgotten_is_not_called_forbidden() {
    let mut commands = "findings off\nturn 0 0\ngoto start\n".to_owned();
    for (read, values) in [("once", "3"), ("twice", "0"), ("often", "3\nchoose 4"), ("own", "1")] {
        commands += &format!("watch {read} read on 1 0\ncontinue\nchoose {values}\nsees {read}\n");
    }
    let printed = session(&["cli/tests/compute/forgotten.spv", "--groups", "2"], &commands);
    let often: Vec<String> = (4..20).map(|k| k.to_string()).collect();
    let often = often.join(", ");
    tells(
        &printed,
        &[
            // All that was ever in it is remembered.
            "does not allow 3 here, only 0, 1;",
            "workgroup (1,0,0) may read 0 or 1 now\n",
            // What was there before the first of two writes, and all but the last sixteen.
            "0 is not among the values that are remembered and allowed here: 1, 2; older ones are forgotten",
            "#0 1 from before these writes; older values are forgotten, and might be read, too\n",
            "workgroup (1,0,0) may read 1 or 2 now\n",
            &format!("the load returns 4 (the memory model allows {often}, ...)"),
            &format!(
                "3 is not among the values that are remembered and allowed here: {often}, ...; older ones"
            ),
            // The model forbids all of what is forgotten.
            "does not allow 1 here, only 2;",
            "workgroup (1,0,0) may read 2 now\n",
        ],
    );
}

#[test]
fn variables_of_all_sizes_are_set() {
    let shader = "cli/tests/compute/sizes.spv";
    let commands = "print narrow\nprint wide\nset wide 3\n";
    let printed = session(&[shader, "--groups", "2"], commands);
    assert!(printed.contains("not implemented in Pellucid: setting wide, which is no variable"), "{printed}");
}

#[test]
fn functions_that_were_inlined_before_are_frames() {
    let shader = "cli/tests/compute/inlined.spv";
    let buffer = ["--buffer", "0:0=u32x16=iota"];
    let commands =
        "break 7\ncontinue\nbt\nup\nup\nfinish\nbt\nfinish\nbt\ndelete 1\ngoto start\nnext\nnext\nbt\n";
    let printed = session(&[&[shader][..], &buffer].concat(), commands);
    let frames: Vec<&str> = printed.lines().map(|line| line.trim_start_matches(['*', ' '])).collect();
    for expected in [
        "#0 twice at inlined.comp:7  return doubled;",
        "#1 mixed at inlined.comp:11  uint first = twice(x);",
        "#2 main at inlined.comp:18  uint got = mixed(me);",
        "#0 mixed at inlined.comp:11  uint first = twice(x);",
        "#1 main at inlined.comp:18  uint got = mixed(me);",
        "#0 main at inlined.comp:18  uint got = mixed(me);",
        "#0 main at inlined.comp:19  values[me] = got;",
    ] {
        assert!(frames.contains(&expected), "{expected:?} is not in\n{printed}");
    }
}

#[test]
fn the_way_back_comes_by_what_was_seen_on_the_way() {
    // Long enough for copies of the execution, from which the way back begins.
    let places = [(10, 64), (60, 0), (110, 255), (150, 32), (190, 100)];
    let mut commands = "findings off\n".to_owned();
    for (workgroup, invocation) in places {
        commands += &format!("break 10 on {workgroup} {invocation}\n");
    }
    let look = "sees a[3]\nlocals\nthreads\n";
    places.iter().for_each(|_| commands += &format!("continue\n{look}"));
    commands += "continue\nprint total\n";
    places.iter().for_each(|_| commands += &format!("continue back\n{look}"));
    // A line of one invocation back, and forward again; and what was changed on the way.
    commands += "continue\ncontinue\nstep back\nstep back\nnext\nnext\nwhere\nset i 5\ncontinue\ncontinue back\nlocals\n";
    commands += "forget\ndelete 1\ndelete 2\ndelete 3\ndelete 4\ndelete 5\ncontinue\nprint total\n";
    let printed = session(&["cli/tests/compute/contended.spv", "--groups", "200"], &commands);
    // What was said at each stop, from its prompt on.
    let all = printed.split("\nbreakpoint ").skip(1);
    let stops: Vec<&str> = all.filter(|text| text.lines().next().unwrap().ends_with(", line 10")).collect();
    let of = |k: usize| stops[k].split(") continue").next().unwrap();
    let count = places.len();
    assert!(stops.len() > 2 * count, "{printed}");
    for k in 0..count {
        assert!(of(k).contains("memory holds") && of(k).contains("workgroup ("), "{}", of(k));
        assert_eq!(of(k), of(2 * count - 1 - k), "{printed}");
    }
    let totals: Vec<&str> = printed.lines().filter(|line| line.starts_with("total = ")).collect();
    assert_eq!((totals.len(), totals[0]), (2, totals[1]), "{printed}");
}

/// What a uniform buffer is read through depends on the machine.
#[test]
fn uniform_buffers_are_read_through_the_constant_cache() {
    let constants = "cli/tests/compute/constants.spv";
    for (machine, cache) in [
        ("desktop", "constant cache of compute units 0 to 3: 5\n"),
        ("tiled", "constant cache of compute units 0 to 1: 5\n"),
    ] {
        let arguments = [constants, "--buffer", "0:0=u32x16=iota", "--machine", machine];
        let printed = session(&arguments, "break constants.comp:14\ncontinue\ncaches table[1].y\n");
        assert!(printed.contains(cache) && !printed.contains("first level"), "{printed}");
    }
}

/// The extension of packages/vscode offers what the documentation says a launch request may have.
#[test]
fn the_extension_has_the_attributes_of_a_launch_request() {
    let text = std::fs::read_to_string(root().join("docs/debug.md")).unwrap();
    let table =
        text.split("| in a launch request | |\n|---|---|\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = table.lines().flat_map(|row| row.split('|').nth(1).unwrap().split(','));
    let mut documented: Vec<&str> = names.map(|name| name.trim().trim_matches('`')).collect();
    documented.sort_unstable();
    let text = std::fs::read_to_string(root().join("packages/vscode/package.json")).unwrap();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap();
    let debugger = &package["contributes"]["debuggers"][0];
    let properties = debugger["configurationAttributes"]["launch"]["properties"].as_object().unwrap();
    let mut offered: Vec<&str> = properties.keys().map(String::as_str).collect();
    offered.sort_unstable();
    assert_eq!(offered, documented);
    assert_eq!(debugger["args"], serde_json::json!(["pellucid", "debug", "--dap"]));
}
