//! Untyped pointers through the whole driver, by `pellucid exec`: what comes out in each mode and tier, and
//! how check mode names what is accessed through them.

mod common;

use common::{compute, dumped, errors, exec};

const SHADER: &str = "untyped_pointers.spvasm";

fn list(values: &[u32]) -> String {
    values.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn numbers() -> ([u32; 10], [u32; 4]) {
    let float = |k: usize| (1.5 + k as f32 / 3.0).to_bits();
    (std::array::from_fn(float), std::array::from_fn(|k| 700 + k as u32))
}

#[test]
fn the_use_says_what_is_pointed_to() {
    let (a, b) = numbers();
    let bytes: Vec<u8> = a.iter().flat_map(|word| word.to_le_bytes()).collect();
    let some = |from: usize, count: usize| {
        let mut all = [0; 8];
        all[..count].copy_from_slice(&bytes[from..from + count]);
        u64::from_le_bytes(all)
    };
    let mut expected = Vec::new();
    for i in 0..4 {
        let twice = (2.0 * f32::from_bits(a[i])).to_bits();
        let copied = some(4 * i + 1, 7);
        let part = (a[i] >> 16) | (a[i] >> 8 & 0xff) << 16;
        let chosen = if i % 2 == 1 { b[i] } else { a[i] };
        expected.extend([a[i], twice, a[2 * i], a[2 * i + 1], part, 10, i as u32 + 1, 8]);
        expected.extend([copied as u32, (copied >> 32) as u32, some(4 * i + 1, i + 1) as u32, a[i + 1]]);
        expected.extend([chosen, b[i], twice, i as u32]);
    }
    let arguments = format!(
        "--groups 1 --buffer 0:0=u32x10={} --buffer 0:1=u32x4={} --buffer 0:2=u32x64 --dump 0:2",
        list(&a),
        list(&b)
    );
    let modes: [&[&str]; 5] = [
        &["--mode", "run", "--tier", "interpreter"],
        &["--mode", "run", "--tier", "compiled"],
        &["--mode", "run", "--subgroup-size", "2"],
        &["--mode", "check"],
        &["--mode", "check", "--values", "seeded", "--seed", "5"],
    ];
    for options in modes {
        let output = exec(SHADER, options, &arguments);
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
fn what_lies_outside_is_named() {
    let (_, b) = numbers();
    let arguments =
        format!("--groups 1 --buffer 0:0=u32x6=iota --buffer 0:1=u32x4={} --buffer 0:2=u32x64", list(&b));
    let output = exec(SHADER, &["--mode", "check"], &arguments);
    let errors = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(
        errors.contains("error[out-of-bounds]") && errors.contains("a[6], 4 bytes at offset 24"),
        "{errors}"
    );
    assert!(errors.contains("%v2 = OpLoad %pair %p2"), "{errors}");
}

#[test]
fn a_base_type_of_another_layout_is_refused() {
    let text = std::fs::read_to_string(compute().join(SHADER)).expect("the shader");
    let decorated = "OpDecorate %words ArrayStride 4";
    assert!(text.contains(decorated));
    for (stride, refused) in [(4, false), (16, true)] {
        let text = text
            .replace(decorated, &format!("{decorated}\nOpDecorate %strided ArrayStride {stride}"))
            .replace("%under %alone", "%under %alone %plain")
            .replace(
                "%main = ",
                "%strided = OpTypeArray %uint %u4\n%undecorated = OpTypeArray %uint %u4
                 %plain = OpUntypedVariableKHR %shared Workgroup %undecorated\n%main = ",
            )
            .replace(
                "%start = OpLabel",
                "%start = OpLabel\n%second = OpUntypedAccessChainKHR %shared %strided %plain %u1",
            );
        let folder = tempfile::tempdir().expect("a folder");
        let shader = folder.path().join(SHADER);
        std::fs::write(&shader, text).expect("a file");
        let buffers = "--groups 1 --buffer 0:0=u32x10 --buffer 0:1=u32x4 --buffer 0:2=u32x64";
        let output = exec(shader.to_str().expect("UTF-8"), &["--mode", "run"], buffers);
        let errors = errors(&output);
        assert_eq!(output.status.success(), !refused, "{errors}");
        let message =
            "not implemented in Pellucid: OpUntypedAccessChainKHR with a Base Type of another layout";
        assert_eq!(errors.contains(message), refused, "{errors}");
    }
}
