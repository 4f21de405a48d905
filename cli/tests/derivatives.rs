//! Derivative groups of compute shaders (VK_KHR_compute_shader_derivatives) through the whole driver.

use std::path::Path;
use std::process::{Command, Output};

fn exec(shader: &str, options: &[&str], arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pellucid"));
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("PELLUCID_") {
            command.env_remove(variable);
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compute");
    command.current_dir(folder).args(["exec", "--mode"]).args(options).arg(shader);
    command.args(arguments.split_whitespace()).output().expect("pellucid starts")
}

/// The invocations of the quad of an invocation of 6 by 4 by 2, in order (*Quad* scope).
fn quad(index: u32, quads: bool) -> [u32; 4] {
    if !quads {
        return [0, 1, 2, 3].map(|k| index / 4 * 4 + k);
    }
    let (x, y, z) = (index % 6 / 2 * 2, index / 6 % 4 / 2 * 2, index / 24);
    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| x + dx + (y + dy) * 6 + z * 24)
}

#[test]
fn neighbours_are_those_of_the_mode() {
    for (shader, quads) in [("derivatives_linear.spv", false), ("derivatives_quads.spv", true)] {
        let mut expected = Vec::new();
        for index in 0..48 {
            let of = quad(index, quads);
            let value = of.map(|index| (index * index) as f32);
            let place = of.iter().position(|one| *one == index).unwrap();
            let (row, column) = (place & 2, place & 1);
            let dx = value[row + 1] - value[row];
            let dy = value[column + 2] - value[column];
            let floats = [dx, dy, value[1] - value[0], value[2] - value[0], dx.abs() + dy.abs()];
            let mut words = floats.map(f32::to_bits).to_vec();
            words.extend([of[place ^ 1], of[place ^ 2], of[3]]);
            expected.push((words, of));
        }
        for options in [
            &["run", "--tier", "interpreter"][..],
            &["run", "--tier", "compiled"],
            &["check"],
            &["check", "--seed", "3"],
        ] {
            let output = exec(shader, options, "--dump 0:0");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{shader} {options:?}:\n{errors}");
            let text = String::from_utf8_lossy(&output.stdout);
            let values = text.lines().filter_map(|line| line.split_once(": ")).map(|(_, values)| values);
            let values: Vec<u32> = values
                .flat_map(str::split_whitespace)
                .map(|value| value.parse().expect("a number"))
                .collect();
            assert_eq!(values.len(), 48 * 9);
            let lanes: Vec<u32> = values.chunks(9).map(|found| found[8]).collect();
            for (index, (words, of)) in expected.iter().enumerate() {
                assert_eq!(values[index * 9..][..8], words[..], "{shader} {options:?}: {index}");
                let first = lanes[of[0] as usize];
                assert!(first.is_multiple_of(4), "{index}: {first}");
                assert!((0..4).all(|k| lanes[of[k as usize] as usize] == first + k), "{index}");
            }
        }
    }
}

#[test]
fn findings_name_invocations_whatever_their_lanes_are() {
    for (shader, subgroups) in [("derivatives_linear.spv", [0, 1]), ("derivatives_quads.spv", [1, 0])] {
        let output = exec(shader, &["check"], "--spec 0=1");
        let errors = String::from_utf8_lossy(&output.stderr);
        for (index, subgroup) in [28, 32].into_iter().zip(subgroups) {
            let named = format!("invocation {index} (subgroup {subgroup})");
            assert!(errors.contains(&named), "{shader}: {named}\n{errors}");
        }
        assert_eq!(output.status.code(), Some(66), "{errors}");
    }
}

#[test]
fn derivatives_of_parts_of_a_quad_are_found() {
    let output = exec("derivatives_quads.spv", &["check"], "--spec 0=2");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("error[derivative-divergence]"), "{errors}");
    assert!(errors.contains("invocation 1 (subgroup 0)"), "{errors}");
    assert_eq!(output.status.code(), Some(66), "{errors}");
}
