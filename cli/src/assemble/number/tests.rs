//! Numbers as they are written, and their words.

use super::*;

fn int(text: &str, width: u32, signed: bool) -> Result<Vec<u32>, String> {
    encode(text, Scalar::Int { width, signed })
}

fn float(text: &str, width: u32) -> Vec<u32> {
    encode(text, Scalar::Float { width }).unwrap()
}

#[test]
fn integers_of_every_width() {
    for (text, width, signed, words) in [
        ("5", 32, false, vec![5]),
        ("-5", 32, true, vec![0xffff_fffb]),
        ("0xffffffff", 32, true, vec![u32::MAX]),
        ("-1", 8, true, vec![u32::MAX]),
        ("0xff", 8, true, vec![u32::MAX]),
        ("255", 8, false, vec![255]),
        ("-32768", 16, true, vec![0xffff_8000]),
        ("65535", 16, false, vec![65535]),
        ("-2", 64, true, vec![0xffff_fffe, u32::MAX]),
        ("0x123456789abcdef0", 64, false, vec![0x9abc_def0, 0x1234_5678]),
        ("18446744073709551615", 64, false, vec![u32::MAX, u32::MAX]),
    ] {
        assert_eq!(int(text, width, signed).unwrap(), words, "{text} of {width} bits");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (text, width, signed, message) in [
        ("256", 8, false, "256 does not fit an unsigned integer of 8 bits"),
        ("128", 8, true, "128 does not fit a signed integer of 8 bits"),
        ("-1", 32, false, "-1 does not fit an unsigned integer of 32 bits"),
        ("1.5", 32, false, "expected an unsigned integer of 32 bits, found `1.5`"),
        ("-", 32, true, "expected a signed integer of 32 bits, found `-`"),
        ("0x", 32, true, "expected a signed integer of 32 bits, found `0x`"),
        (
            "18446744073709551616",
            64,
            false,
            "18446744073709551616 does not fit an unsigned integer of 64 bits",
        ),
    ] {
        assert_eq!(int(text, width, signed).unwrap_err(), message);
    }
    assert!(encode("1e39", Scalar::Float { width: 32 }).is_err());
    assert!(encode("inf", Scalar::Float { width: 32 }).is_err());
    assert!(encode("0x1p+129", Scalar::Float { width: 32 }).is_err());
    assert!(encode("1.0", Scalar::Float { width: 24 }).is_err());
}

#[test]
fn decimal_floats() {
    assert_eq!(float("1", 32), [1f32.to_bits()]);
    assert_eq!(float("-0.100000001", 32), [(-0.1f32).to_bits()]);
    assert_eq!(float("1.5e-3", 64), [1.5e-3f64.to_bits() as u32, (1.5e-3f64.to_bits() >> 32) as u32]);
    assert_eq!(float("1.5", 16), [0x3e00]);
    assert_eq!(float("-2", 16), [0xc000]);
    assert_eq!(float("-0", 32), [0x8000_0000]);
}

#[test]
fn hexadecimal_floats_say_every_bit() {
    assert_eq!(float("0x1p+0", 32), [1f32.to_bits()]);
    assert_eq!(float("0x1.8p+1", 32), [3f32.to_bits()]);
    assert_eq!(float("-0x0p+0", 32), [0x8000_0000]);
    assert_eq!(float("0x1p+128", 32), [f32::INFINITY.to_bits()]);
    assert_eq!(float("-0x1p+128", 32), [f32::NEG_INFINITY.to_bits()]);
    assert_eq!(float("0x1.8p+128", 32), [0x7fc0_0000]);
    assert_eq!(float("0x1.000002p+128", 32), [0x7f80_0001]);
    assert_eq!(float("0x1p-149", 32), [1]);
    assert_eq!(float("0x1.fffffcp-127", 32), [0x007f_ffff]);
    assert_eq!(float("0x1p-126", 32), [0x0080_0000]);
    assert_eq!(float("0x1.8p+16", 16), [0x7e00]);
    assert_eq!(float("0x1p-24", 16), [1]);
    assert_eq!(float("0x1.999999999999ap-4", 64), [0.1f64.to_bits() as u32, (0.1f64.to_bits() >> 32) as u32]);
    assert_eq!(float("0x10", 32), [16f32.to_bits()]);
    assert_eq!(float("0x.8p+0", 32), [0.5f32.to_bits()]);
    for value in [f32::MAX, f32::MIN_POSITIVE, 1.234e-40, 7.25, 1e-45] {
        let (bits, exponent) = (value.to_bits() & 0x7f_ffff, (value.to_bits() >> 23) as i32);
        let text = if exponent == 0 {
            format!("0x0.{:06x}p-126", bits << 1)
        } else {
            format!("0x1.{:06x}p{}", bits << 1, exponent - 127)
        };
        assert_eq!(float(&text, 32), [value.to_bits()], "{text}");
    }
}
