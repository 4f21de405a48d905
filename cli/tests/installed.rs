//! The command as `cargo install` leaves it: one file, without its driver beside it; and what packages bring
//! beside the command.
#![allow(clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home with the executable in `bin` and nothing else.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        // By another process: a child that a test beside this one starts meanwhile would hold a file that is
        // being written here, and what is open for writing does not run.
        let mut copy = Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_pellucid")).arg(home.path().join("bin"));
        assert!(copy.status().unwrap().success());
        Home(home)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.file("bin/pellucid"));
        command.env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin");
        let output = command.args(arguments).output().expect("the copy starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn manifest_of(path: &Path) -> String {
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    manifest["ICD"]["library_path"].as_str().unwrap().to_owned()
}

#[test]
fn an_executable_alone_brings_its_driver() {
    let home = Home::new();
    let demo = home.run(&["demo"]);
    assert!(text(&demo.stdout).contains("85344"), "{}", text(&demo.stdout));
    let cached = home.file(".cache/pellucid/libvulkan_pellucid.so");
    let driver = std::fs::read(&cached).unwrap();

    // What became of the file in the cache does not matter.
    std::fs::write(&cached, &driver[..driver.len() / 2]).unwrap();
    let exports = home.run(&["env"]);
    let manifest = home.file(".cache/pellucid/pellucid_icd.json");
    assert!(text(&exports.stdout).contains(manifest.to_str().unwrap()), "{}", text(&exports.stdout));
    assert_eq!(manifest_of(&manifest), cached.to_str().unwrap());
    assert!(std::fs::read(&cached).unwrap() == driver, "the driver is not whole again");

    // An installed driver does not depend on the cache.
    home.run(&["install"]);
    let manifest = home.file(".local/share/vulkan/icd.d/pellucid_icd.json");
    let installed = home.file(".local/share/pellucid/libvulkan_pellucid.so");
    assert_eq!(manifest_of(&manifest), installed.to_str().unwrap());
    assert!(std::fs::read(&installed).unwrap() == driver, "another driver was installed");
    home.run(&["uninstall"]);
    assert!(!manifest.exists() && !installed.exists() && !installed.parent().unwrap().exists());
    assert!(!cached.parent().unwrap().exists(), "the cache is still there");
    assert!(text(&home.run(&["uninstall"]).stdout).contains("is not there"));
}

/// Commands that are shown, from the first column of the help.
fn commands() -> Vec<String> {
    let help = Command::new(env!("CARGO_BIN_EXE_pellucid")).arg("help").output().unwrap();
    let text = text(&help.stdout).to_owned();
    let listed = text.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let word = |line: &str| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned);
    listed.lines().filter_map(word).filter(|word| !word.is_empty()).collect()
}

#[test]
fn completions_offer_the_commands_their_options_and_values() {
    let commands = commands();
    assert!(commands.len() > 12 && commands.contains(&"run".to_owned()), "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script =
            Command::new(env!("CARGO_BIN_EXE_pellucid")).args(["completions", shell]).output().unwrap();
        let script = text(&script.stdout);
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("no-chains") && !script.contains("exec-here"), "{shell}");
        // Those that are installed read it.
        if let Ok(mut child) = Command::new(shell).arg("-n").stdin(std::process::Stdio::piped()).spawn() {
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), script.as_bytes()).unwrap();
            assert!(child.wait().unwrap().success(), "{shell} does not read its completions");
        } else {
            eprintln!("skipped: {shell} is not installed");
        }
    }
    let complete = |words: &str, at: usize| {
        let ask = format!(
            "source <(\"$0\" completions bash); COMP_WORDS=({words}); COMP_CWORD={at}; \
             _pellucid pellucid \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output =
            Command::new("bash").args(["-c", &ask, env!("CARGO_BIN_EXE_pellucid")]).output().unwrap();
        text(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete("pellucid hu", 1), "hunt");
    assert_eq!(complete("pellucid run --no-ch", 2), "--no-chains");
    assert_eq!(complete("pellucid report --format ht", 3), "html");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let man = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_pellucid")).arg("man").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    man(&[folder.path().to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(page("pellucid.1"), man(&[]));
    for command in commands() {
        let page = page(&format!("pellucid-{command}.1"));
        assert!(page.contains(&format!(".TH pellucid-{command} 1")), "{page}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), commands().len() + 1);
    assert!(page("pellucid-run.1").contains("\\-\\-no\\-chains"));
}
