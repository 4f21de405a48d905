//! Loops of whole workgroups with barriers in them: those that wait for ever are livelocks, those that end
//! are not.

mod common;

use common::errors;
use std::process::Output;

fn exec(arguments: &str) -> Output {
    let buffers = "--buffer 0:0=u32x3 --buffer 0:1=u32x4096";
    common::exec("barrier_loop.spv", &[], &format!("{buffers} {arguments}"))
}

/// What a livelock of the way says.
fn livelock(way: u32, arguments: &str) -> String {
    let output = exec(&format!("--spec 0={way} {arguments}"));
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "way {way}, {arguments}: {errors}");
    assert!(errors.contains("error[livelock]: no invocation can make progress"), "way {way}: {errors}");
    assert!(errors.contains("1 finding (1 livelock)"), "way {way}, {arguments}: {errors}");
    errors
}

#[test]
fn loops_that_wait_for_ever_are_named() {
    let more = "for a change of workgroup variable \"more\": 4 bytes at offset 0";
    let flag = "for a change of buffer at set 0, binding 0: flag, 4 bytes at offset 0";
    let waits = [more, flag, more, flag, flag, more, flag];
    for (way, what) in waits.iter().enumerate() {
        for arguments in
            ["--groups 1 --spec 1=32", "--groups 3 --spec 1=64 --seed 5", "--groups 2 --spec 1=256"]
        {
            if way == 6 && arguments.contains("groups 1") {
                continue;
            }
            let errors = livelock(way as u32, arguments);
            assert!(errors.contains(what), "way {way}: no \"{what}\" in {errors}");
            let stands = " at the barrier (";
            assert!(!errors.contains(stands), "way {way}: all go round: {errors}");
        }
    }
    let errors = livelock(6, "--groups 10 --spec 1=64");
    let blocked = "invocation 0 (subgroup 0) of workgroup (9,0,0) waits at barrier_loop.comp:";
    assert!(errors.contains(blocked), "no \"{blocked}\" in {errors}");
}

#[test]
fn a_loop_that_reads_nothing_is_named() {
    let errors = livelock(7, "--groups 2 --spec 1=64");
    assert!(errors.contains("and nothing that is read there changes"), "{errors}");
}

#[test]
fn the_report_is_the_same_on_any_number_of_threads() {
    for way in [0, 2, 6] {
        let [one, two, eight] =
            [1, 2, 8].map(|threads| livelock(way, &format!("--groups 5 --spec 1=64 --threads {threads}")));
        let same =
            |text: &str| text.lines().filter(|line| !line.contains("replay:")).collect::<Vec<_>>().join("\n");
        assert_eq!(same(&one), same(&two));
        assert_eq!(same(&one), same(&eight));
    }
}

#[test]
fn loops_that_end_are_left_alone() {
    for (way, arguments) in [
        (10, "--groups 2 --spec 1=32"),
        (11, "--groups 2 --spec 1=32"),
        (12, "--groups 12 --spec 1=64"),
        (12, "--groups 2 --spec 1=256"),
        (13, "--groups 2 --spec 1=256"),
        (13, "--groups 3 --spec 1=256 --subgroup-size 8"),
    ] {
        for options in ["", "--values seeded --seed 3", "--values latest"] {
            let output = exec(&format!("--spec 0={way} {arguments} {options}"));
            assert_eq!(
                output.status.code(),
                Some(0),
                "way {way}, {arguments} {options}: {}",
                errors(&output)
            );
        }
    }
}
