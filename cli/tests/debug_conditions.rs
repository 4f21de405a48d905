//! Conditions of the debugger's breakpoints.

mod common;

use common::debugger::{session, tells};
use std::time::Instant;

const SUM: &str = "cli/src/demo/reduce.spv";

#[test]
fn what_is_no_condition_is_refused_where_it_is_set() {
    let commands = "break 13 if me ==\nbreak 13 if me == 1 || me == 2\nwatch partial[3] if me = 3\nbreakpoints\n\
break 13 if me == 0x25\nbreak 13 if values\nc\n";
    let printed = session(&[SUM, "--buffer", "0:0=u32x64=iota"], commands);
    tells(
        &printed,
        &[
            "no condition: \"me ==\": a number or a variable is missing at its end\n",
            "no condition: \"me == 1 || me == 2\": what follows a comparison is &&, and no other operator: \
             \"|| me == 2\"\n",
            "no condition: \"me = 3\": what follows a comparison is &&, and no other operator: \"= 3\"\n",
            "breakpoints\nnone\n",
            "breakpoint 1 at line 13\n",
        ],
    );
}

/// Nobody waits for what can never be known; but it is told once.
#[test]
fn a_condition_that_cannot_be_judged_stops_once_and_says_why() {
    let names = "break 13 if me == 0x25\nbreak 13 if mee == 5\nbreak 13 if gl_WorkGroupID.x == 9 && values == 5\nc\nc\nc\n\
c back\n";
    let printed = session(&[SUM, "--buffer", "0:0=u32x64=iota"], names);
    // Each of several at one place is told apart, and then the one that holds.
    let parts: Vec<&str> = printed.split(") c").collect();
    let told = |id: u32, condition: &str, why: &str| {
        format!(
            "\nbreakpoint {id}, line 13: whether {condition} holds is not known here: {why} (told once: from now \
             on it stops where that holds, and nowhere else)\n"
        )
    };
    let none = told(2, "mee == 5", "there is no variable \"mee\" here");
    assert!(parts[1].starts_with(&none), "{printed}");
    let array = told(3, "gl_WorkGroupID.x == 9 && values == 5", "\"values\" is no number");
    assert!(parts[2].starts_with(&array), "{printed}");
    let holds = "\nbreakpoint 1, line 13\ninvocation 37 of workgroup (0,0,0) at reduce.comp:13 in main\n";
    assert!(parts[3].starts_with(holds), "{printed}");
    assert!(parts[4].starts_with(" back\nnothing earlier"), "{printed}");
    assert_eq!(printed.matches("told once").count(), 2, "{printed}");
    // It hides no other breakpoint of the same place.
    let both = session(&[SUM], "break 13 on 0 0\nbreak 13 if mee == 5 && me == 1\nc\nc\n");
    let parts: Vec<&str> = both.split(") c").collect();
    assert!(parts[1].starts_with("\nbreakpoint 2, line 13: whether mee == 5 && me == 1 holds"), "{both}");
    assert!(parts[2].starts_with("\nbreakpoint 1, line 13\ninvocation 0 of"), "{both}");
    // Of some invocations alone: the others are judged.
    let short =
        session(&[SUM, "--buffer", "0:0=u32x40=iota"], "findings off\nbreak 13 if values[me] == 63\nc\nc\n");
    let parts: Vec<&str> = short.split(") c").collect();
    let why = "whether values[me] == 63 holds is not known here: values has no part [40] (told once";
    assert!(parts[1].starts_with(&format!("\nbreakpoint 1, line 13: {why}")), "{short}");
    assert!(parts[1].contains("\ninvocation 40 of workgroup (0,0,0)"), "{short}");
    assert!(parts[2].starts_with("\nthe dispatch has ended"), "{short}");
}

/// The numbers of an invocation, its variables, elements of arrays by them, and values in registers.
#[test]
fn conditions_are_of_each_invocation() {
    let commands = "findings off\nbreak 13 if gl_LocalInvocationIndex == 40 && values[me] == 40 && me >= 40\nc\n\
delete 1\nbreak 22 if k == 7\nc\nprint k\n";
    let printed = session(&[SUM, "--buffer", "0:0=u32x64=iota"], commands);
    tells(&printed, &["breakpoint 1, line 13\ninvocation 40 of workgroup (0,0,0)", "print k\nk = 7\n"]);
    let commands = "break 4 if by > 2.4 && by < 2.6\nc\n";
    let printed = session(&["cli/tests/compute/by_value.spv"], commands);
    tells(&printed, &["breakpoint 1, line 4\ninvocation 2 of workgroup (0,0,0)"]);
}

/// Looking names up for each invocation took more than twenty times as long as executing.
#[test]
fn a_condition_that_never_holds_costs_little() {
    let shader = "cli/tests/compute/saxpy.spv";
    let arguments = [shader, "--groups", "2048", "--push", "0=f32:2", "--push", "4=u32:131072"];
    let quickest = |commands: &str| {
        let one = |_| {
            let start = Instant::now();
            let printed = session(&arguments, commands);
            assert!(printed.contains("the dispatch has ended"), "{printed}");
            start.elapsed()
        };
        (0..3).map(one).min().unwrap_or_default()
    };
    let without = quickest("findings off\nc\n");
    let with = quickest("findings off\nbreak 9 if gl_WorkGroupID.x >= 0 && i == 4000000000\nc\n");
    assert!(with < without * 8, "{with:?} with a condition, {without:?} without");
}

#[test]
fn a_client_is_told_which_condition_is_none() {
    let breakpoints = r#"[{"line":13,"condition":"me =="},{"line":13,"condition":"me == 5"},{"line":13,"condition":"a || b"}]"#;
    let requests = [
        ("initialize", "{}".to_owned()),
        ("launch", format!(r#"{{"program":"{SUM}","args":[]}}"#)),
        ("setBreakpoints", format!(r#"{{"source":{{"path":"reduce.comp"}},"breakpoints":{breakpoints}}}"#)),
        ("disconnect", "{}".to_owned()),
    ];
    let message = |(seq, (command, arguments)): (usize, (&str, String))| {
        let body = format!(
            r#"{{"seq":{},"type":"request","command":"{command}","arguments":{arguments}}}"#,
            seq + 1
        );
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let all: String = requests.into_iter().enumerate().map(message).collect();
    let printed = session(&["--dap"], &all);
    let answer =
        printed.split("Content-Length: ").find(|part| part.contains(r#""command":"setBreakpoints""#));
    let answer = answer.unwrap_or_else(|| panic!("no answer: {printed}"));
    let answer: serde_json::Value = serde_json::from_str(&answer[answer.find('{').unwrap()..]).unwrap();
    let bound = &answer["body"]["breakpoints"];
    let verified: Vec<&serde_json::Value> = (0..3).map(|k| &bound[k]["verified"]).collect();
    assert_eq!(verified, [false, true, false], "{answer}");
    let told = "no condition: \"me ==\": a number or a variable is missing at its end";
    assert_eq!(bound[0]["message"], told);
}
