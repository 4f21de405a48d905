//! The runner takes next to no time beside the suite's binary.

mod common;

use common::{Bench, STAND_IN};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Two seconds of cases: what the runner adds over the binary alone is a start, a stop and its own work for
/// each case.
#[test]
fn less_than_two_percent() {
    let names: Vec<String> = (0..200).map(|index| format!("slow.{index}.10")).collect();
    let bench = Bench::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    // The least of some tries, since other work on the machine only ever adds.
    let alone = |_| {
        let begun = Instant::now();
        let mut command = Command::new(STAND_IN);
        command.arg(format!("--deqp-caselist-file={}", bench.path("cases.txt").display()));
        command.arg(format!("--deqp-log-filename={}", bench.path("alone.qpa").display()));
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        begun.elapsed()
    };
    let driven = |index: i32| {
        let begun = Instant::now();
        bench.run(&["--jobs", "1", "--title", &index.to_string(), "--overwrite"]).expect(0);
        begun.elapsed()
    };
    let (mut least_alone, mut least_driven) = (Duration::MAX, Duration::MAX);
    let within = |alone: Duration, driven: Duration| driven.as_secs_f64() < alone.as_secs_f64() * 1.02;
    for index in 0..12 {
        least_alone = least_alone.min(alone(index));
        least_driven = least_driven.min(driven(index));
        if within(least_alone, least_driven) {
            return;
        }
    }
    panic!("alone {least_alone:?}, driven {least_driven:?}");
}
