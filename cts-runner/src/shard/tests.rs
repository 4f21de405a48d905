//! The parts of a list, from options and from environments.

use super::*;
use std::collections::BTreeMap;

fn read(value: &str, variables: &[(&str, &str)]) -> Result<Shard, String> {
    let map: BTreeMap<_, _> = variables.iter().copied().collect();
    Shard::from_option(value, &|name| map.get(name).map(|value| value.to_string()))
        .map_err(|error| error.to_string())
}

#[test]
fn options_and_environments() {
    assert_eq!(read("2/4", &[]), Ok(Shard { index: 2, count: 4 }));
    assert_eq!(read("auto", &[]), Ok(Shard::WHOLE));
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "7"),
        ("SLURM_ARRAY_TASK_MIN", "3"),
        ("SLURM_ARRAY_TASK_COUNT", "4"),
        ("SLURM_ARRAY_TASK_STEP", "2"),
    ];
    assert_eq!(read("auto", &slurm), Ok(Shard { index: 3, count: 4 }));
    assert_eq!(read("none", &slurm), Ok(Shard::WHOLE));
    let pod = [("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "5")];
    assert_eq!(read("auto", &pod), Ok(Shard { index: 1, count: 5 }));
    assert!(read("auto", &pod[..1]).unwrap_err().contains("JOB_COMPLETIONS"));
    for wrong in ["0/4", "5/4", "4", "a/b", ""] {
        assert!(read(wrong, &[]).is_err(), "{wrong}");
    }
}

#[test]
fn parts_are_disjoint_and_cover() {
    for length in [0, 1, 5, 100, 1234] {
        let names: Vec<String> = (0..length).map(|index| format!("{index:05}")).collect();
        for count in [1, 2, 3, 7, 40] {
            let parts = (1..=count).map(|index| Shard { index, count }.part(&names));
            let mut all: Vec<String> = parts.flatten().collect();
            assert_eq!(all.len(), length);
            all.sort();
            assert_eq!(all, names);
        }
    }
}
