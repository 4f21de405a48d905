//! Values in findings and in the debugger are those of the type of what is accessed.

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

const SHADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/values.spvasm");

#[test]
fn findings_show_values_in_the_type_of_the_variable() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("r.json");
    let output = Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .args(["exec", SHADER, "--values", "stale", "--report"])
        .arg(&report)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{text}");
    for told in [
        "got 0.0 (stale), newest is 448.0",
        "got 0 (stale), newest is -3",
        "got 0 (stale), newest is -7",
        "got 0.0 (stale), newest is 1.5",
        "got 0.0 (stale), newest is 2.25",
        "to return 0.0, 448.0",
        "got 0.0 (stale), newest is 0.1",
    ] {
        assert!(text.contains(told), "{told:?} is not in\n{text}");
    }
    let lines = std::fs::read_to_string(&report).expect("a report");
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let reads: Vec<Value> =
        lines.filter(|line| line["type"] == "finding").map(|line| line["accesses"][1].clone()).collect();
    let of = |member: &str| {
        let element = format!("from.{member}");
        reads.iter().find(|read| read["element"] == element).expect("a finding")
    };
    // The bits stay.
    assert_eq!((&of("single")["newest"], &of("half")["newest"]), (&json!(0x43e0_0000), &json!(0x3e00)));
    let values = json!({
        "type": "f32", "half": null, "returned": "0.0", "newest": "448.0", "admissible": ["0.0", "448.0"]
    });
    assert_eq!(of("single")["values"], values);
    assert_eq!(of("byte")["values"]["type"], "i8");
    let values = json!({
        "type": "f64", "half": null, "returned": "0.0", "newest": "0.1", "admissible": ["0.0", "0.1"]
    });
    assert_eq!(of("double")["values"], values);
}

#[test]
fn the_debugger_has_the_same_values() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .args(["debug", "--run", SHADER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let commands = b"sees from.single\nsees from.half\nchoose 448.0\nprint from.single\n";
    child.stdin.take().expect("a pipe").write_all(commands).expect("commands");
    let output = child.wait_with_output().expect("an end");
    let text = String::from_utf8_lossy(&output.stdout);
    for told in [
        "memory holds 448.0 in from.single",
        "memory holds 1.5 in from.half",
        "may read 0.0 or 448.0 now",
        "the load returns 448.0 (the memory model allows 0.0, 448.0)",
        "from.single = 448.0",
    ] {
        assert!(text.contains(told), "{told:?} is not in\n{text}");
    }
}
