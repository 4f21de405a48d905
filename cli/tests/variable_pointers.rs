//! Pointers as values through the whole driver, by `pellucid exec`: what comes out in each mode and tier, and
//! how check mode names what is accessed through them.

mod common;

use common::{dumped, errors, exec};

#[test]
fn chosen_kept_returned_and_compared() {
    let a: Vec<u32> = (100..116).collect();
    let b: Vec<u32> = (200..220).collect();
    let mut expected = Vec::new();
    for i in 0..4 {
        let odd = i % 2 == 1;
        let (picked, other) = if odd { (&a, &b) } else { (&b, &a) };
        let compared = if odd { 1 + 2 + 4 } else { 1 + 4 + 8 + 100 };
        let length = picked.len() as u32;
        let sum = picked[i..i + 4].iter().sum();
        let shared = 10 * (i as u32 ^ 1);
        expected.extend([picked[i], other[i], sum, 4, compared, shared, b[i], 7, length, length]);
    }
    let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let arguments = format!(
        "--groups 1 --buffer 0:0=u32x16={} --buffer 0:1=u32x20={} --buffer 0:2=u32x40 --dump 0:2",
        list(&a),
        list(&b)
    );
    let modes: [&[&str]; 6] = [
        &["--mode", "run", "--tier", "interpreter"],
        &["--mode", "run", "--tier", "compiled"],
        &["--mode", "run", "--subgroup-size", "4", "--threads", "2"],
        &["--mode", "check"],
        &["--mode", "check", "--values", "seeded", "--seed", "5"],
        &["--mode", "check", "--subgroup-size", "4"],
    ];
    for options in modes {
        let output = exec("variable_pointers.spvasm", options, &arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(0), "{options:?}:\n{errors}");
        let values: Vec<u32> = dumped(&output);
        assert_eq!(values, expected, "{options:?}");
        if options.contains(&"check") {
            assert!(errors.contains("pellucid: 0 findings, 0 suppressed"), "{options:?}:\n{errors}");
        }
    }
}

#[test]
fn findings_name_the_variable_that_was_chosen() {
    let buffers = "--groups 1 --buffer 0:0=u32x4 --buffer 0:1=u32x4";
    let output = exec("racing_pointers.spvasm", &["--mode", "check"], buffers);
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("1 finding"), "{errors}");
    assert!(errors.contains("binding 1: b[0]"), "{errors}");
    assert!(errors.contains("racing_pointers.spvasm:45"), "{errors}");
}

#[test]
fn a_null_pointer_points_nowhere() {
    let buffers = "--groups 1 --spec 0=0 --buffer 0:0=u32x4 --buffer 0:1=u32x4";
    for mode in ["run", "check"] {
        let output = exec("racing_pointers.spvasm", &["--mode", mode], buffers);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{mode}: {errors}");
        assert!(errors.contains("access of 4 bytes at device address 0x0"), "{mode}: {errors}");
        assert!(errors.contains("racing_pointers.spvasm:45"), "{mode}: {errors}");
    }
}
