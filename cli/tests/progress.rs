//! Progress models: what waits for ever under which, and what a livelock says.

mod common;

use common::errors;
use std::process::Output;

fn exec(name: &str, arguments: &str) -> Output {
    common::exec(format!("{name}.spv"), &[], arguments)
}

/// Whether some seed makes a way of waiting wait for ever.
fn hangs(way: u32, model: &str) -> bool {
    let mut any = false;
    for seed in 0..8 {
        let output = exec(
            "progress",
            &format!(
                "--groups 6 --buffer 0:0=u32x16 --spec 0={way} --progress {model} --seed {seed} --dump 0:0"
            ),
        );
        let errors = errors(&output);
        match output.status.code() {
            Some(0) => {
                let values = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(
                    values.contains(" 1 1 1 1 1\n     8: 1"),
                    "way {way}, {model}, seed {seed}: {values}"
                );
            }
            Some(66) => {
                assert!(errors.contains("error[livelock]"), "way {way}, {model}, seed {seed}: {errors}");
                any = true;
            }
            other => panic!("way {way}, {model}, seed {seed}: {other:?}: {errors}"),
        }
    }
    any
}

#[test]
fn waiting_for_the_one_before_needs_linear_progress() {
    let hanging = ["fair", "obe", "lobe", "hsa", "hsa-obe"].map(|model| hangs(0, model));
    assert_eq!(hanging, [false, true, false, false, false]);
}

#[test]
fn waiting_for_the_one_after_needs_fairness() {
    let hanging = ["fair", "obe", "lobe", "hsa", "hsa-obe"].map(|model| hangs(1, model));
    assert_eq!(hanging, [false, true, true, true, true]);
}

#[test]
fn a_lock_needs_progress_of_those_that_have_started() {
    let hanging = ["fair", "obe", "lobe", "hsa", "hsa-obe"].map(|model| hangs(2, model));
    assert_eq!(hanging, [false, false, false, true, false]);
}

#[test]
fn a_ticket_needs_progress_of_those_that_have_started() {
    let hanging = ["fair", "obe", "lobe", "hsa", "hsa-obe"].map(|model| hangs(3, model));
    assert_eq!(hanging, [false, false, false, true, false]);
}

#[test]
fn fair_schedules_start_as_many_workgroups_as_it_takes() {
    let output = exec("progress", "--groups 40 --buffer 0:0=u32x43 --spec 0=1");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
}

#[test]
fn lanes_that_wait_for_lanes_of_their_subgroup_get_turns() {
    for options in ["--seed 0", "--seed 5", "--values seeded", "--subgroup-size 4"] {
        let output = exec("lane_lock", &format!("--groups 3 --buffer 0:0=u32x2 --dump 0:0 {options}"));
        assert_eq!(output.status.code(), Some(0), "{options}: {}", errors(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "0:0\n     0: 0 24\n");
    }
}

#[test]
fn a_livelock_names_who_waits_for_what() {
    let output = exec("barrier_and_flag", "--groups 1 --buffer 0:0=u32x2 --subgroup-size 8");
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    for text in [
        "error[livelock]: no invocation can make progress",
        "invocations 8 to 15 (subgroup 1) of workgroup (0,0,0) wait at barrier_and_flag.comp:13 for a change of buffer at set 0, binding 0: flag, \
         4 bytes at offset 4",
        "invocations 0 to 7 (subgroup 0) of workgroup (0,0,0) wait at the barrier (controlBarrier at barrier_and_flag.comp:16) for the rest of \
         the workgroup",
    ] {
        assert!(errors.contains(text), "no \"{text}\" in:\n{errors}");
    }
}

#[test]
fn a_livelock_names_whom_the_progress_model_starves() {
    let starving = (0..20).map(|seed| {
        let options = format!("--groups 20 --buffer 0:0=u32x23 --spec 0=1 --progress obe --seed {seed}");
        errors(&exec("progress", &options))
    });
    let found = starving
        .into_iter()
        .find(|errors| errors.contains(" has not started, and"))
        .expect("a seed that starves");
    for text in [
        " waits at progress.comp:10 for a change of buffer at set 0, binding 0: flags[",
        " has not started, and the progress model does not guarantee it",
        "12 more workgroups have not started",
        "--progress obe",
    ] {
        assert!(found.contains(text), "no \"{text}\" in:\n{found}");
    }
}

#[test]
fn in_run_mode_a_workgroup_that_waits_lets_later_ones_begin() {
    for (shader, groups, way, size) in
        [("progress", 40, 1, 43), ("barrier_loop", 12, 12, 4), ("barrier_loop", 9, 13, 4)]
    {
        for threads in [1, 2] {
            let local = if shader == "barrier_loop" { "--spec 1=64 --buffer 0:1=u32x768" } else { "" };
            let output = exec(
                shader,
                &format!(
                    "--mode run --groups {groups} --buffer 0:0=u32x{size} --spec 0={way} {local} --threads {threads}"
                ),
            );
            assert_eq!(output.status.code(), Some(0), "{shader} {way} on {threads}: {}", errors(&output));
        }
    }
}
