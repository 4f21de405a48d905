//! A run that is killed at any moment goes on where it was, without repeating or losing a case.

mod common;

use common::Bench;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn lines(bench: &Bench) -> usize {
    let text = fs::read_to_string(bench.path("results/journal.jsonl")).unwrap_or_default();
    text.matches('\n').count()
}

#[test]
fn killed_half_way() {
    let names: Vec<String> = (0..120).map(|index| format!("slow.{index}.10")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bench = Bench::new(&names);
    let arguments = ["--jobs", "3", "--group-size", "7"];

    let mut killed = 0;
    for round in 0..3 {
        let resume = if round == 0 { &[][..] } else { &["--resume"][..] };
        let mut child =
            bench.run_command(&[&arguments[..], resume].concat()).stderr(Stdio::null()).spawn().unwrap();
        let until = lines(&bench) + 20;
        let begun = Instant::now();
        while lines(&bench) < until && begun.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
    }
    let before = lines(&bench);
    assert!((60..120).contains(&before), "{before} lines in the journal");

    // The suite's processes died with the runner.
    sleep(Duration::from_millis(50));
    let begun = bench.counts("begun.txt");
    sleep(Duration::from_millis(100));
    assert_eq!(begun, bench.counts("begun.txt"), "a process of the suite outlived the runner");

    bench.run(&[&arguments[..], &["--resume"]].concat()).expect(0);
    let statuses = bench.statuses("results");
    assert_eq!(statuses.len(), 120);
    assert!(statuses.values().all(|status| status == "Pass"));
    assert_eq!(lines(&bench), 120, "a case was journalled twice");
    // Only what was in flight when the runner died, or ended unread, ran again: at most one case for each job
    // and kill, and what one ended while the runner was being killed.
    let again: usize = bench.counts("begun.txt").values().map(|count| count - 1).sum();
    assert!(again <= 3 * killed * 2, "{again} cases ran again");
}

#[test]
fn a_journal_line_cut_short_is_run_again() {
    let bench = Bench::new(&["pass.1", "pass.2", "fail.1"]);
    bench.run(&["--jobs", "1"]).expect(1);
    let journal = bench.read("results/journal.jsonl");
    fs::write(bench.path("results/journal.jsonl"), &journal[..journal.len() - 5]).unwrap();
    bench.run(&["--jobs", "1", "--resume"]).expect(1);
    assert_eq!(bench.statuses("results").len(), 3);
    let begun = bench.counts("begun.txt");
    assert_eq!((begun["pass.1"], begun["pass.2"], begun["fail.1"]), (1, 1, 2));
}

#[test]
fn a_finished_run_is_resumed_without_running_anything() {
    let bench = Bench::new(&["pass.1", "fail.1"]);
    bench.run(&[]).expect(1);
    let csv = bench.read("results/results.csv");
    bench.run(&["--resume"]).expect(1);
    assert_eq!(bench.read("results/results.csv"), csv);
    assert!(bench.counts("begun.txt").values().all(|count| *count == 1));
}

#[test]
fn results_are_never_mixed_up() {
    let bench = Bench::new(&["pass.1", "pass.2"]);
    bench.run(&[]).expect(0);
    let ended = bench.run(&[]).expect(2);
    assert!(ended.err.contains("--resume") && ended.err.contains("--overwrite"), "{}", ended.err);
    let ended = bench.run(&["--resume", "-n", "*.pass.1"]).expect(2);
    assert!(ended.err.contains("another run"), "{}", ended.err);
    bench.run(&["--overwrite", "-n", "*.pass.1"]).expect(0);
    assert_eq!(bench.statuses("results").len(), 1);
}

#[test]
fn two_runs_into_one_folder_are_refused() {
    let bench = Bench::new(&["slow.1.1500", "pass.1"]);
    let mut first = bench.run_command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !bench.path("results/journal.jsonl").exists() && begun.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(2));
    }
    sleep(Duration::from_millis(100));
    let ended = bench.run(&["--resume"]).expect(2);
    assert!(ended.err.contains("another run is writing it"), "{}", ended.err);
    assert!(first.wait().unwrap().success());
    assert_eq!(bench.statuses("results").len(), 2);
}
