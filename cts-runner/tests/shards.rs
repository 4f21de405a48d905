//! Shards cover the selection exactly, and a merge proves it. The examples in docs/ do what they say.

mod common;

use common::{Bench, RUNNER, STAND_IN};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn bench() -> Bench {
    let names: Vec<String> =
        (0..50).map(|index| format!("{}.{index}", ["pass", "not_supported", "fail"][index % 3])).collect();
    Bench::new(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn shards_and_merge_give_what_one_run_gives() {
    let bench = bench();
    bench.run(&[]).expect(1);
    let whole = bench.statuses("results");
    fs::remove_dir_all(bench.path("results")).unwrap();
    for index in 1..=4 {
        // A different group size in a shard must not matter.
        bench.run(&["--shard", &format!("{index}/4"), "--group-size", &index.to_string()]).expect(1);
    }
    bench.call(&["merge", "results", "--into", "merged"]).expect(1);
    assert_eq!(bench.statuses("merged"), whole);
    assert!(bench.counts("begun.txt").values().all(|count| *count == 2));
    assert!(bench.path("merged/logs/dEQP-VK.stand_in.fail.2.qpa").is_file());
    // Nothing is written over.
    bench.call(&["merge", "results", "--into", "merged"]).expect(2);
}

#[test]
fn a_merge_refuses_what_is_missing_or_there_twice() {
    let bench = bench();
    let merge = |into: &str| bench.call(&["merge", "results", "--into", into]);
    merge("m0").expect(2);
    for index in 1..=3 {
        bench.run(&["--shard", &format!("{index}/3")]).expect(1);
    }
    let shard = |index: usize| bench.path(&format!("results/shard-{index:04}-of-0003"));
    fs::rename(shard(2), bench.path("aside")).unwrap();
    assert!(merge("m1").expect(2).err.contains("shard 2/3 is missing"));
    fs::rename(bench.path("aside"), shard(2)).unwrap();

    // A shard that was killed: its journal is short.
    let journal = shard(2).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.split_inclusive('\n').skip(1).collect::<String>()).unwrap();
    assert!(merge("m2").expect(2).err.contains("1 cases have no result"));
    fs::write(&journal, &text).unwrap();

    // The same shard from two places.
    fs::create_dir(bench.path("results/again")).unwrap();
    for name in ["run.json", "cases.txt", "journal.jsonl"] {
        fs::copy(shard(1).join(name), bench.path("results/again").join(name)).unwrap();
    }
    assert!(merge("m3").expect(2).err.contains("shard 1/3 is there twice"));
    fs::remove_dir_all(bench.path("results/again")).unwrap();

    // A shard of another selection.
    fs::remove_dir_all(shard(3)).unwrap();
    bench.run(&["--shard", "3/3", "-x", "*.49"]).expect(1);
    assert!(merge("m4").expect(2).err.contains("another run"));
    assert!(!bench.path("m1/run.json").exists() && !bench.path("m4/run.json").exists());
}

#[test]
fn a_matrix_in_shards_merges_variant_by_variant() {
    let bench = bench();
    for index in 1..=2 {
        bench.run(&["--shard", &format!("{index}/2"), "--matrix", "mode=run,check"]).expect(1);
    }
    bench.call(&["merge", "results", "--into", "merged"]).expect(1);
    for mode in ["run", "check"] {
        assert_eq!(bench.statuses(&format!("merged/mode={mode}")).len(), 50);
    }
}

#[test]
fn job_arrays_are_told_by_their_environment() {
    let bench = bench();
    for task in [10, 11] {
        let mut command = bench.run_command(&[]);
        command.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_ARRAY_TASK_MIN", "10");
        command.env("SLURM_ARRAY_TASK_COUNT", "2");
        common::Ended::from(command.output().unwrap()).expect(1);
    }
    bench.call(&["merge", "results", "--into", "merged"]).expect(1);
    assert_eq!(bench.statuses("merged").len(), 50);
    let mut command = bench.run_command(&["--overwrite"]);
    let output = command.env("JOB_COMPLETION_INDEX", "1").output().unwrap();
    let ended = common::Ended::from(output).expect(2);
    assert!(ended.err.contains("JOB_COMPLETIONS"), "{}", ended.err);
}

/// The places that the examples name, made in a bench: the runner on the PATH, the suite, its lists, the
/// driver.
fn example_bench() -> Bench {
    let bench = bench();
    for folder in ["bin", "suite", "lists", "driver"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    fs::copy(RUNNER, bench.path("bin/pellucid-cts-runner")).unwrap();
    fs::copy(STAND_IN, bench.path("suite/deqp-vk")).unwrap();
    fs::set_permissions(bench.path("suite/deqp-vk"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut packed = Vec::new();
    lzma_rs::xz_compress(&mut bench.read("cases.txt").as_bytes(), &mut packed).unwrap();
    fs::write(bench.path("lists/memory_model.txt.xz"), packed).unwrap();
    bench.write("driver/pellucid_icd.json", "{}");
    bench
}

fn shell(bench: &Bench, script: &str, variables: &[(&str, &str)]) -> i32 {
    let mut command = Command::new("sh");
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    command
        .current_dir(bench.path(""))
        .args(["-c", script])
        .env("PATH", path)
        .env("STAND_IN_STATE", bench.path("state"));
    command.envs(variables.iter().copied()).output().unwrap().status.code().unwrap()
}

#[test]
fn the_slurm_example_runs_the_whole_list() {
    let script = fs::read_to_string(common::repository().join("docs/examples/slurm-array.sbatch")).unwrap();
    let array = script.lines().find_map(|line| line.strip_prefix("#SBATCH --array=")).unwrap();
    let (first, last) = array.split_once('-').unwrap();
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    let bench = example_bench();
    let root = bench.path("").display().to_string();
    let places = [
        ("SUITE", format!("{root}/suite")),
        ("LISTS", format!("{root}/lists")),
        ("DRIVER", format!("{root}/driver/pellucid_icd.json")),
        ("RESULTS", format!("{root}/results")),
    ];
    let count = (last - first + 1).to_string();
    for task in first..=last {
        let task = task.to_string();
        let first = first.to_string();
        let mut variables: Vec<(&str, &str)> =
            places.iter().map(|(name, value)| (*name, value.as_str())).collect();
        variables.extend([
            ("SLURM_ARRAY_TASK_ID", task.as_str()),
            ("SLURM_ARRAY_TASK_MIN", first.as_str()),
            ("SLURM_ARRAY_TASK_COUNT", count.as_str()),
            ("SLURM_CPUS_PER_TASK", "2"),
        ]);
        assert_eq!(
            shell(&bench, &script, &variables),
            1,
            "task {task}: the stand-in's failing cases are a regression"
        );
    }
    bench.call(&["merge", "results", "--into", "merged"]).expect(1);
    assert_eq!(bench.statuses("merged").len(), 50);
}

#[test]
fn the_kubernetes_example_runs_the_whole_list() {
    let manifest =
        fs::read_to_string(common::repository().join("docs/examples/kubernetes-indexed-job.yaml")).unwrap();
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.trim().strip_prefix(key));
        line.unwrap_or_else(|| panic!("{key} is not in the manifest")).trim().trim_matches('"').to_string()
    };
    let completions: usize = value("completions:").parse().unwrap();
    // The container is told how many there are, and by the same number.
    let after = manifest.split_once("- name: JOB_COMPLETIONS").unwrap().1;
    let told =
        after.lines().find_map(|line| line.trim().strip_prefix("value:")).unwrap().trim().trim_matches('"');
    assert_eq!(told, completions.to_string());
    assert_eq!(value("completionMode:"), "Indexed");
    // The container's command is a block scalar: the lines behind "- |" that are indented further.
    let block = manifest.split_once("- |\n").unwrap().1;
    let indent = block.len() - block.trim_start().len();
    let script: Vec<&str> = block
        .lines()
        .take_while(|line| line.trim().is_empty() || line.len() - line.trim_start().len() >= indent)
        .map(|line| line.get(indent..).unwrap_or_default())
        .collect();
    let bench = example_bench();
    let root = bench.path("").display().to_string();
    let script = script
        .join("\n")
        .replace("/suite/", &format!("{root}/suite/"))
        .replace("/lists/", &format!("{root}/lists/"));
    let script = script
        .replace("/driver/", &format!("{root}/driver/"))
        .replace("/results", &format!("{root}/results"));
    for index in 0..completions {
        let status = shell(
            &bench,
            &script,
            &[("JOB_COMPLETION_INDEX", &index.to_string()), ("JOB_COMPLETIONS", told)],
        );
        assert_eq!(status, 0, "pod {index}: a pod that judged its results must not be started again");
    }
    bench.call(&["merge", "results", "--into", "merged"]).expect(1);
    assert_eq!(bench.statuses("merged").len(), 50);
}
