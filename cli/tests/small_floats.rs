//! Floats of 16 and 8 bits that are not those of IEEE 754 through the whole driver, by `pellucid exec`.

mod common;

fn bfloat16(x: f32) -> u32 {
    let bits = x.to_bits();
    if x.is_nan() { 0x7fc0 } else { (u64::from(bits) + 0x7fff + u64::from(bits >> 16 & 1)) as u32 >> 16 }
}

#[test]
fn conversions_in_each_mode() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    // A float; E4M3, saturated E4M3 as a float, E5M2, saturated E5M2 as a float.
    let cases: [(f32, u32, f32, u32, f32); 16] = [
        (0.0, 0, 0.0, 0, 0.0),
        (-0.0, 0x80, -0.0, 0x80, -0.0),
        (1.0, 0x38, 1.0, 0x3c, 1.0),
        (1.0625, 0x38, 1.0, 0x3c, 1.0),
        (1.1875, 0x3a, 1.25, 0x3d, 1.25),
        (-1.126, 0xb9, -1.125, 0xbd, -1.25),
        (464.0, 0x7e, 448.0, 0x5f, 448.0),
        (464.1, 0x7f, 448.0, 0x5f, 448.0),
        (-1e9, 0x7f, -448.0, 0xfc, -57344.0),
        (61439.0, 0x7f, 448.0, 0x7b, 57344.0),
        (61440.0, 0x7f, 448.0, 0x7c, 57344.0),
        (inf, 0x7f, 448.0, 0x7c, 57344.0),
        (nan, 0x7f, nan, 0x7e, nan),
        (0.001953125, 0x01, 0.001953125, 0x18, 0.001953125),
        (-0.0009765625, 0x80, -0.0, 0x94, -0.0009765625),
        (7.629_394_5e-6, 0, 0.0, 0, 0.0),
    ];
    let mut expected = Vec::new();
    for (x, e4m3, back4, e5m2, back5) in cases {
        let bits = bfloat16(x);
        let b = f32::from_bits(bits << 16);
        let integer = if b.is_nan() { 0 } else { b as i32 };
        let bits_of = |x: f32| if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() };
        expected.extend([bits, bits_of(b), e4m3, bits_of(back4), e5m2, bits_of(back5)]);
        expected.extend([integer as u32, bfloat16(b * b + b)]);
    }
    let numbers: Vec<String> = cases.iter().map(|(x, ..)| x.to_bits().to_string()).collect();
    let arguments = format!("--buffer 0:0=u32x16={} --buffer 0:1=u32x128 --dump 0:1", numbers.join(","));
    for options in [
        &["--mode", "run", "--tier", "interpreter"][..],
        &["--mode", "run", "--tier", "compiled"],
        &["--mode", "check"],
        &["--mode", "check", "--seed", "3"],
    ] {
        let output = common::exec("small_floats.spvasm", options, &arguments);
        let errors = common::errors(&output);
        assert_eq!(output.status.code(), Some(0), "{options:?}:\n{errors}");
        let values: Vec<u32> = common::dumped(&output);
        for (k, (found, wanted)) in values.chunks(8).zip(expected.chunks(8)).enumerate() {
            assert_eq!(found, wanted, "{} {options:?}", cases[k].0);
        }
        assert_eq!(values.len(), expected.len());
    }
}
