//! docs/first-finding.md, read as a new user does: its files are written to an empty folder, its commands
//! are run there, and print what the page shows.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/first-finding.md")
}

/// A shell in `folder` that finds `pellucid` and no options in the environment.
fn shell(folder: &Path, line: &str) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_pellucid")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("PELLUCID_")) {
        command.env_remove(name);
    }
    command.env("PATH", format!("{}:{path}", own.display())).current_dir(folder).args(["-ec", line]);
    command
}

/// What a command of the page prints; the debugger gets the commands of its session.
fn printed(folder: &Path, block: &str) -> String {
    let line = block.lines().next().and_then(|line| line.strip_prefix("$ ")).expect("a command");
    let debugged = line.starts_with("pellucid debug ");
    let streams = if debugged { "2>/dev/null" } else { "2>&1" };
    let mut shell = shell(folder, &format!("{line} {streams}"));
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
    let asked = block.lines().filter_map(|line| {
        let (position, command) = line.strip_prefix('(')?.split_once(") ")?;
        (position.contains('.') || position == "end").then_some(command)
    });
    let asked: String = asked.map(|command| format!("{command}\n")).collect();
    common::tell(&mut child, if debugged { &asked } else { "" });
    let output = child.wait_with_output().expect("an end");
    format!("$ {line}\n{}", String::from_utf8_lossy(&output.stdout))
}

#[test]
fn the_ways_in_are_as_the_page_shows_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for name in ["two_passes.c", "two_passes.comp"] {
        std::fs::copy(page().with_file_name("examples").join(name), folder.join(name)).expect("a copy");
    }
    let text = std::fs::read_to_string(page()).expect("the page");
    let mut written = String::new();
    for (k, part) in text.split("```").enumerate() {
        let (kind, block) = part.split_once('\n').unwrap_or((part, ""));
        let shown = match kind.split_once(' ') {
            _ if k % 2 == 0 => None,
            Some((_, file)) => {
                std::fs::write(folder.join(file), block).expect("a file");
                None
            }
            None if kind == "sh" => {
                let done = shell(folder, block).stdout(Stdio::null()).status().expect("a shell");
                if !done.success() {
                    return pellucid_test_host::skipped("glslangValidator, cc, or the headers of Vulkan");
                }
                None
            }
            None => Some(printed(folder, block)),
        };
        let separator = if k == 0 { "" } else { "```" };
        match shown {
            Some(shown) => written.push_str(&format!("{separator}{kind}\n{shown}")),
            None => written.push_str(&format!("{separator}{part}")),
        }
    }
    let html = std::fs::read_to_string(folder.join("scan.html")).expect("the page of findings");
    assert!(html.contains("class=\"picture run\"") && html.contains(">workgroup (0,0,0)</div>"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(page(), written).expect("the page");
    } else {
        assert_eq!(text, written, "UPDATE_EXPECT=1 writes it again");
    }
}
