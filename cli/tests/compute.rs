//! Ordinary compute through the whole driver, by `pellucid exec`: results are compared with the host's, in
//! run and in check mode, and check mode has nothing to say.

mod common;

use common::{dumped, errors};
use std::process::Output;

/// Runs the shader of this name.
fn exec(name: &str, options: &[&str], arguments: &str) -> Output {
    common::exec(format!("{name}.spv"), options, arguments)
}

/// Runs a shader in every mode and compares what it leaves behind.
fn computes<T: ToString>(name: &str, arguments: &str, expected: &[T]) {
    let expected: Vec<String> = expected.iter().map(T::to_string).collect();
    let modes: [&[&str]; 5] = [
        &["--mode", "run"],
        &["--mode", "run", "--threads", "2", "--subgroup-size", "8"],
        &["--mode", "check"],
        &["--mode", "check", "--values", "seeded", "--seed", "5"],
        &["--mode", "check", "--subgroup-size", "4"],
    ];
    for options in modes {
        let output = exec(name, options, arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(0), "{name} {options:?}:\n{errors}");
        let values = dumped::<String>(&output);
        let differs = values.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{name} {options:?}: first difference; {} values\n{errors}", values.len());
        assert_eq!(values.len(), expected.len(), "{name} {options:?}");
        if options.contains(&"check") {
            assert!(errors.contains("pellucid: 0 findings, 0 suppressed"), "{name} {options:?}:\n{errors}");
        }
    }
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn lanes_wait_for_an_elected_one_at_a_barrier_of_their_subgroup() {
    let expected: Vec<u32> = (0..32).map(|i| 4032 + 2 * i).collect();
    let arguments = "--groups 1 --buffer 0:0=u32x64=iota --buffer 0:1=u32x32 --dump 0:1";
    computes("elected", arguments, &expected);
}

#[test]
fn specialization_constants_take_code_away() {
    let steps = |i: u32, enabled: bool, ends: bool| {
        let mut x = 7 + i;
        if !enabled {
            return x;
        }
        loop {
            x *= 3;
            if x > 1000 {
                return x;
            }
            let mut k = 0;
            while k < x % 5 {
                x += k;
                k += 1;
            }
            if ends {
                return x;
            }
        }
    };
    for (enabled, ends) in [(false, true), (false, false), (true, true), (true, false)] {
        let results = (0..32).map(|i| steps(i, enabled, ends));
        let expected: Vec<u32> = std::iter::once(1000).chain(results).collect();
        let given = format!("--spec 0={enabled} --spec 1={ends}");
        computes("disabled", &format!("--buffer 0:0=u32x33=1000 {given} --dump 0:0"), &expected);
    }
}

/// The first value of a workgroup variable by an atomic operation: one that reads nothing that anybody
/// learns, or one that reads what was never written.
#[test]
fn exchanges_initialise() {
    let expected: Vec<u32> = (0..32).map(|i| 62 - i).collect();
    let arguments = "--groups 1 --buffer 0:0=u32x32 --dump 0:0";
    computes("exchanges", arguments, &expected);
    for (constant, line) in [(0, "exchanges.comp:12"), (1, "exchanges.comp:14")] {
        for mode in ["check", "explore"] {
            let output = exec("exchanges", &["--mode", mode], &format!("{arguments} --spec {constant}=true"));
            let errors = errors(&output);
            let told = errors.matches("error[").count();
            assert!(told == 1 && errors.contains("error[uninitialised-read]"), "{mode}:\n{errors}");
            assert!(errors.contains(line), "{mode}:\n{errors}");
        }
    }
}

/// A vector that is written in part and loaded as a whole: its other components are undefined where they are
/// used or copied to memory that invocations share.
#[test]
fn components_that_nothing_wrote_are_told_where_they_are_used() {
    let arguments = "--buffer 0:0=u32x32 --buffer 0:1=u32x128 --dump 0:0";
    let expected: Vec<u32> = (0..32).collect();
    computes("components", arguments, &expected);
    for constant in [0, 1] {
        let given = format!("{arguments} --spec {constant}=true");
        let errors = errors(&exec("components", &["--mode", "check"], &given));
        let told = errors.contains("error[uninitialised-read]") && errors.contains("components.comp:17");
        assert!(told, "{errors}");
    }
}

#[test]
fn saxpy() {
    let expected: Vec<f32> =
        (0..500).map(|i| if i < 450 { 2.5 * i as f32 + i as f32 } else { i as f32 }).collect();
    let arguments = "--groups 8 --buffer 0:0=f32x512=iota --buffer 0:1=f32x500=iota --push 0=f32:2.5 --push 4=u32:450 --dump 0:1";
    computes("saxpy", arguments, &expected);
}

#[test]
fn prefix_sum() {
    let input: Vec<u32> = (0..512u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let mut expected = input.clone();
    for group in expected.chunks_mut(256) {
        for i in 1..group.len() {
            group[i] = group[i].wrapping_add(group[i - 1]);
        }
    }
    computes(
        "prefix_sum",
        &format!("--groups 2 --buffer 0:0=u32x512={} --dump 0:0", list(&input)),
        &expected,
    );
}

#[test]
fn matrix_product() {
    const N: usize = 24;
    let a: Vec<i32> = (0..N * N).map(|i| (i as i32 * 7) % 23 - 11).collect();
    let b: Vec<i32> = (0..N * N).map(|i| (i as i32 * 5) % 19 - 9).collect();
    let product = |row: usize, column: usize| (0..N).map(|k| a[row * N + k] * b[k * N + column]).sum::<i32>();
    let expected: Vec<i32> = (0..N * N).map(|i| product(i / N, i % N)).collect();
    let arguments = format!(
        "--groups 3,3 --spec 3={N} --buffer 0:0=i32x576={} --buffer 0:1=i32x576={} --buffer 1:0=i32x576 --dump 1:0",
        list(&a),
        list(&b)
    );
    computes("matrix_product", &arguments, &expected);
}

#[test]
fn histogram() {
    let mut expected = [0u32; 16];
    for value in 0..512u32 {
        expected[(value.wrapping_mul(2_654_435_761) >> 28) as usize] += 1;
    }
    computes("histogram", "--groups 8 --buffer 0:0=u32x512=iota --buffer 0:1=u32x16 --dump 0:1", &expected);
}

#[test]
fn mandelbrot() {
    let iterations = |i: u32| {
        let (x0, y0) = ((i % 32) as f32 * 0.0625 - 1.5, (i / 32) as f32 * 0.0625 - 1.0);
        let (mut x, mut y, mut n) = (0f32, 0f32, 0u32);
        while n < 200 && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + x0, 2.0 * x * y + y0);
            n += 1;
        }
        n
    };
    let expected: Vec<u32> = (0..1024).map(iterations).collect();
    computes("mandelbrot", "--groups 4,4 --buffer 0:0=u32x1024 --dump 0:0", &expected);
}

#[test]
fn collatz() {
    let steps = |mut n: u32| {
        let mut count = 0u32;
        while n > 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        count
    };
    let expected: Vec<u32> = (0..96).map(steps).collect();
    computes("collatz", "--groups 3 --buffer 0:0=u32x96=iota --dump 0:0", &expected);
}

#[test]
fn wide_integers() {
    let expected: Vec<u64> = (0..64u64)
        .map(|i| {
            let step =
                |x: u64, _| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = (0..5).fold(i, step);
            ((x >> 17) / (i + 3)).wrapping_add((i as i64 - 40) as u64)
        })
        .collect();
    computes("wide", "--groups 2 --buffer 0:0=u64x64=iota --dump 0:0", &expected);
}

#[test]
fn control_flow() {
    let table: Vec<u32> = (0..16).map(|i| i * 11 + 1).collect();
    let items: Vec<u32> =
        (0..256u32).map(|i| if i % 4 == 0 { (i / 4) % 7 } else { (i * 31 + i / 9) % 14 }).collect();
    let score = |item: &[u32]| {
        let mut sum = 0u32;
        for (i, weight) in item[1..].iter().enumerate() {
            if *weight == 9 {
                continue;
            }
            for j in 0..=i as u32 {
                if weight + j > 12 {
                    break;
                }
                sum += weight * (j + 1);
            }
            if sum > 40 {
                return sum + 1000;
            }
        }
        match item[0] {
            0 => sum += table[0] + table[5],
            1 => sum += table[5],
            2 => return sum,
            kind => sum ^= table[((kind & 3) * 4 + kind % 4) as usize],
        }
        sum + 1
    };
    let expected: Vec<u32> = items.chunks(4).map(score).collect();
    let arguments = format!(
        "--groups 2 --buffer 0:0=u32x16={} --buffer 0:1=u32x256={} --buffer 0:2=u32x64 --dump 0:2",
        list(&table),
        list(&items)
    );
    computes("control", &arguments, &expected);
}

#[test]
fn partitions_of_subgroups() {
    let results = (0..16u32).flat_map(|i| {
        let lane = i % 4;
        let twin = i ^ 2;
        let before = if lane > 1 { 100 - twin } else { (i32::MIN + 100) as u32 };
        let upper = if lane > 1 { (i / 4 * 4 + 2) | (i / 4 * 4 + 3) } else { 7 };
        [5 << (lane % 2), i + twin, if lane > 1 { i + twin } else { i }, before, i + twin, upper]
    });
    let expected: Vec<u32> = results.collect();
    computes("partition", "--groups 4 --buffer 0:0=u32x96 --dump 0:0", &expected);
}

#[test]
fn an_initializer_reaches_the_blocks_over_its_own() {
    computes("zeroed_block", "--buffer 0:0=u32x4 --dump 0:0", &[4u32, 0, 0, 0]);
}

#[test]
fn subgroup_operations() {
    let value = |i: u32| i * i % 37;
    let total: u32 = (0..64).map(value).sum();
    let expected: Vec<u32> = (0..64).flat_map(|i| [total, 1, value(i) & 1, value(i ^ 1)]).collect();
    let values: Vec<u32> = (0..64).map(value).collect();
    let arguments =
        format!("--groups 1 --buffer 0:0=u32x64={} --buffer 0:1=u32x256 --dump 0:1", list(&values));
    computes("subgroup", &arguments, &expected);
}

#[test]
fn vectors_and_matrices() {
    let matrix: Vec<f32> = (0..16).map(|i| (i % 5) as f32 - 1.5).collect();
    let points: Vec<f32> = (0..64).map(|i| (i % 9) as f32 * 0.5 - 2.0).collect();
    let moved = |p: &[f32]| {
        let row = |r: usize| (0..4).map(|c| matrix[c * 4 + r] * p[c]).fold(0.0, |a, b| a + b);
        let (x, y, z) = (row(0), row(1), row(2));
        [z.max(-4.0), y.max(-4.0), x.max(-4.0), x + 2.0 * y]
    };
    let expected: Vec<f32> = points.chunks(4).flat_map(moved).collect();
    let arguments = format!(
        "--groups 1 --buffer 0:0=f32x64={} --buffer 0:1=f32x64 --push 0=f32:{} --dump 0:1",
        list(&points),
        list(&matrix)
    );
    computes("vectors", &arguments, &expected);
}

#[test]
fn a_shader_that_does_not_end_loses_the_device_with_a_message() {
    for mode in ["run", "check"] {
        let output =
            exec("endless", &["--mode", mode, "--watchdog", "100000"], "--groups 1 --buffer 0:0=u32x1");
        let errors = errors(&output);
        // A livelock is a finding, and the watchdog is none.
        let status = if errors.contains("error[livelock]") { 66 } else { 1 };
        assert_eq!(output.status.code(), Some(status), "{mode}:\n{errors}");
        assert!(errors.contains("ERROR_DEVICE_LOST"), "{mode}:\n{errors}");
        let named = errors.contains("error[device-lost]") || errors.contains("error[livelock]");
        assert!(named, "{mode}: the cause is not named:\n{errors}");
    }
}

#[test]
fn a_shader_that_waits_while_memory_changes_loses_the_device_and_says_where() {
    for (mode, status) in [("run", 1), ("check", 66)] {
        let output = exec("waiting", &["--mode", mode, "--spins", "4096"], "--groups 2 --buffer 0:0=u32x1");
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(status), "{mode}:\n{errors}");
        for workgroup in 0..2 {
            let who = format!("invocations 0 to 3 (subgroup 0) of workgroup ({workgroup},0,0)");
            let told = format!("{who} wait at waiting.comp:7 for a change of");
            assert!(errors.contains(&told), "{mode}: who waits where is not told:\n{errors}");
        }
    }
}

#[test]
fn a_shader_that_counts_for_ever_loses_the_device_and_says_in_which_loop() {
    for mode in ["run", "check"] {
        let arguments = "--groups 2 --buffer 0:0=u32x6=0,1";
        let output = exec("counting", &["--mode", mode, "--watchdog", "100000"], arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{mode}:\n{errors}");
        let told =
            "invocations 0 to 3 (subgroup 0) of workgroup (0,0,0) are still in the loop at counting.comp:";
        assert!(errors.contains(told), "{mode}: who is where is not told:\n{errors}");
        let output = exec(
            "counting",
            &["--mode", mode, "--watchdog", "100000"],
            "--groups 1 --buffer 0:0=u32x6=1,99999",
        );
        assert_eq!(output.status.code(), Some(0), "{mode}: fewer turns");
    }
}

#[test]
fn accesses_out_of_bounds_read_zero_write_nothing_and_are_found() {
    let arguments = "--groups 1 --buffer 0:0=u32x16=iota --buffer 0:1=u32x16 --dump 0:1";
    let output = exec("out_of_bounds", &["--mode", "run"], arguments);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(dumped::<String>(&output), ["5"; 16]);
    let output = exec("out_of_bounds", &["--mode", "check"], arguments);
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("error[out-of-bounds]: an access outside the bounds of its object"), "{errors}");
    assert!(errors.contains("set 0, binding 0"), "{errors}");
}

#[test]
fn exponents_of_64_bits_and_constants_of_f16() {
    let input = [4i64, -3, 1 << 40, -(1 << 33)].map(|e| e.to_string()).join(",");
    let buffers = format!("--groups 1 --buffer 0:0=i64x4={input} --buffer 0:1=f32x8 --dump 0:1");
    let output = common::exec("wide_exponent.spvasm", &[], &buffers);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let third = "0.33325195";
    let expected = format!("0:1\n     0: 24 0.1875 inf 0 {third} {third} {third} {third}\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn lanes_wait_to_reconverge_however_long_others_take() {
    for mode in ["run", "check"] {
        let buffer = "--groups 1 --buffer 0:0=u32x33 --dump 0:0";
        let output = common::exec("reconverges.spvasm", &["--mode", mode], buffer);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(0), "{mode}: {errors}");
        let expected = [vec!["32"; 32], vec!["320000"]].concat();
        assert_eq!(dumped::<String>(&output), expected, "{mode}");
    }
}

#[test]
fn atomic_minima_and_maxima_of_floats() {
    for mode in ["run", "check"] {
        let arguments =
            "--groups 2 --buffer 0:0=f32x2=5,5 --buffer 0:1=f64x2=5,5 --buffer 0:2=f32x4 --dump 0:0";
        let output = exec("atomic_float2", &["--mode", mode], &format!("{arguments} --dump 0:1 --dump 0:2"));
        assert_eq!(output.status.code(), Some(0), "{mode}: {}", errors(&output));
        assert_eq!(
            dumped::<String>(&output),
            ["-29.5", "33.5", "-59", "67", "-29.5", "33.5", "-59", "67"],
            "{mode}"
        );
    }
}

#[test]
fn atomics_of_floats_of_16_bits() {
    for mode in ["run", "check"] {
        let buffers =
            "--buffer 0:0=f16x4=5,5,2047,1 --buffer 0:1=f16x128 --buffer 0:2=f16x4=0,0,0,-1 --dump 0:0";
        let arguments = format!("--groups 2 {buffers} --dump 0:1 --dump 0:2");
        let output = exec("atomic_float16", &["--mode", mode], &arguments);
        assert_eq!(output.status.code(), Some(0), "{mode}: {}", errors(&output));
        let all = dumped::<String>(&output);
        // Sums are rounded to nearest, ties to even: 2047 + 1 is 2048, to which 1 adds nothing.
        assert_eq!(all[..4], ["-29.5", "33.5", "2048", "129"], "{mode}");
        // What the exchanges gave back, and what is left, are all that there was.
        let mut given: Vec<&str> = all[4..132].iter().map(String::as_str).collect();
        given.sort_unstable();
        let mut expected: Vec<String> = (0..128).map(|k| k.to_string()).collect();
        expected.push("-1".into());
        expected.retain(|value| *value != all[135]);
        expected.sort_unstable();
        assert_eq!(given, expected, "{mode}");
        assert_eq!(all[132..135], ["-29.5", "33.5", "64"], "{mode}");
    }
}

/// Not valid; taichi writes them.
#[test]
fn bitwise_operations_on_booleans_are_logical() {
    for mode in ["run", "check"] {
        let output = common::exec("bools.spvasm", &["--mode", mode], "--buffer 0:0=u32x8 --dump 0:0");
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        assert_eq!(dumped::<u32>(&output), [14, 14, 14, 3, 3, 6, 6, 6]);
    }
}

#[test]
fn integer_functions_of_intel() {
    let buffers = "--groups 1 --buffer 0:0=u32x2=4294934528,98305 --buffer 0:1=u32x14 --dump 0:1";
    let output = common::exec("integer_functions.spvasm", &[], buffers);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    // x = 0xffff8000, y = 0x00018001.
    let expected = [
        "15",
        "15",
        "131073",
        "4294836223",
        "4294901760",
        "4294967295",
        "32768",
        "2147516416",
        "32769",
        "2147516417",
        "4294836223",
        "0",
        "1073709056",
        "3221258240",
    ];
    assert_eq!(dumped::<String>(&output), expected);
}
