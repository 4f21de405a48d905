//! Case lists, plain and packed, and what narrows them.
#![allow(clippy::print_stderr)] // Says what was skipped.

mod common;

use common::Bench;
use std::fs;
use std::process::Command;

fn listed(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let mut all = vec!["list"];
    all.extend(arguments);
    let ended = bench.call(&all).expect(0);
    ended.out.lines().map(|name| name.trim_start_matches("dEQP-VK.stand_in.").to_string()).collect()
}

#[test]
fn packed_lists_are_unpacked() {
    let bench = Bench::new(&["pass.1", "pass.2"]);
    let mut packed = Vec::new();
    let text = "# a comment\ndEQP-VK.stand_in.fail.1\n\ndEQP-VK.stand_in.pass.1\n";
    lzma_rs::xz_compress(&mut text.as_bytes(), &mut packed).unwrap();
    fs::write(bench.path("more.txt.xz"), &packed).unwrap();
    assert_eq!(listed(&bench, &["--list", "cases.txt", "more.txt.xz"]), ["pass.1", "pass.2", "fail.1"]);
    assert_eq!(
        listed(&bench, &["--list", "cases.txt", "--list", "more.txt.xz", "-x", "*fail*"]),
        ["pass.1", "pass.2"]
    );
    packed.truncate(packed.len() / 2);
    fs::write(bench.path("cut.txt.xz"), &packed).unwrap();
    let ended = bench.call(&["list", "--list", "cut.txt.xz"]).expect(2);
    assert!(ended.err.contains("cut.txt.xz"), "{}", ended.err);
}

/// The lists of the suite are packed by xz itself: its checks and filters must be understood.
#[test]
fn lists_packed_by_xz() {
    let bench = Bench::new(&[]);
    let text: String = (0..5000).map(|index| format!("dEQP-VK.stand_in.pass.{index}\n")).collect();
    fs::write(bench.path("many.txt"), &text).unwrap();
    match Command::new("xz").args(["-9e", "--keep"]).arg(bench.path("many.txt")).status() {
        Ok(status) => assert!(status.success()),
        Err(_) => {
            eprintln!("skipped: lists_packed_by_xz needs the xz command");
            return;
        }
    }
    assert_eq!(listed(&bench, &["--list", "many.txt.xz"]).len(), 5000);
    assert_eq!(
        listed(&bench, &["--list", "many.txt.xz", "--sample", "3"]),
        ["pass.0", "pass.1666", "pass.3333"]
    );
}

#[test]
fn the_suites_lists_where_they_are() {
    let lists = common::repository().join("../shared/cts");
    let Ok(entries) = fs::read_dir(&lists) else {
        eprintln!("skipped: the_suites_lists_where_they_are needs ../shared/cts");
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        // Beside the lists lie the scripts that build the suite.
        if path.extension().is_none_or(|extension| extension != "xz") {
            continue;
        }
        let bench = Bench::new(&[]);
        let names = listed(&bench, &["--list", path.to_str().unwrap()]);
        assert!(
            names.len() >= 20 && names.iter().all(|name| name.starts_with("dEQP-VK.")),
            "{}",
            path.display()
        );
    }
}

#[test]
fn patterns_narrow_and_mistakes_are_named() {
    let bench = Bench::new(&["a.1", "a.2", "b.1", "b.2.x"]);
    assert_eq!(listed(&bench, &["--list", "cases.txt", "-n", "*.a.*", "-n", "*.x"]), ["a.1", "a.2", "b.2.x"]);
    assert_eq!(listed(&bench, &["--list", "cases.txt", "-n", "*.a.*,*.b.?"]), ["a.1", "a.2", "b.1"]);
    assert_eq!(listed(&bench, &["--list", "cases.txt", "-x", "*.a.*"]), ["b.1", "b.2.x"]);
    let ended = bench.call(&["list", "--list", "cases.txt", "-n", "*.c.*"]).expect(2);
    assert!(ended.err.contains("*.c.*"), "{}", ended.err);
    bench.call(&["list", "--list", "cases.txt", "-x", "*"]).expect(2);
    bench.call(&["list"]).expect(2);
    bench.call(&["list", "--list", "absent.txt"]).expect(2);
}

#[test]
fn skip_files_leave_cases_out() {
    let bench = Bench::new(&["pass.1", "hang.1", "crash.1"]);
    let skips = bench.write("skips.txt", "# not here\nstand_in\\.(hang|crash)\n");
    bench.run(&["--skips", skips.to_str().unwrap()]).expect(0);
    assert_eq!(bench.status("results", "hang.1"), "Skip");
    assert_eq!(bench.status("results", "crash.1"), "Skip");
    assert_eq!(bench.counts("begun.txt").len(), 1);
}
