//! 16-bit floats: every value, and conversions to them against exact arithmetic.

use pellucid_shader_interp::math::{convert, half, pack};

/// The value of a finite 16-bit float, from its definition.
fn value(h: u32) -> f64 {
    let fraction = (h & 0x3ff) as f64;
    let exponent = ((h >> 10) & 31) as i32;
    let magnitude = if exponent == 0 {
        fraction * 2f64.powi(-24)
    } else {
        (1024.0 + fraction) * 2f64.powi(exponent - 25)
    };
    if h & 0x8000 != 0 { -magnitude } else { magnitude }
}

#[test]
fn every_value_converts_exactly_and_back() {
    for h in 0..=0xffffu32 {
        let is_nan = h & 0x7fff > 0x7c00;
        if is_nan {
            assert_eq!(half::to_f32(h).to_bits(), 0x7fc0_0000);
            assert_eq!(half::from_f32(half::to_f32(h)), 0x7e00);
            continue;
        }
        if h & 0x7fff == 0x7c00 {
            assert_eq!(half::to_f32(h).abs(), f32::INFINITY);
        } else {
            assert_eq!(half::to_f32(h) as f64, value(h), "{h:#06x}");
        }
        assert_eq!(half::to_f32(h).is_sign_negative(), h & 0x8000 != 0);
        assert_eq!(half::from_f32(half::to_f32(h)), h);
        assert_eq!(half::from_f32_rtz(half::to_f32(h)), h);
        assert_eq!(half::from_f64(half::to_f64(h)), h);
        assert_eq!(half::from_f64_rtz(half::to_f64(h)), h);
    }
}

/// The two finite 16-bit floats around |x| (65504 and 65536 at the top), by search.
fn nearest(x: f64) -> u32 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let a = x.abs();
    if a >= 65520.0 {
        return sign | 0x7c00;
    }
    let below = toward_zero(x) & 0x7fff;
    if below == 0x7bff {
        return sign | below;
    }
    let (low, high) = (value(below), value(below + 1));
    let up = (a - low > high - a) || (a - low == high - a && below & 1 == 1);
    sign | if up { below + 1 } else { below }
}

fn toward_zero(x: f64) -> u32 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let a = x.abs();
    if a == f64::INFINITY {
        return sign | 0x7c00;
    }
    let (mut low, mut high) = (0u32, 0x7c00u32);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if value(middle) <= a { low = middle } else { high = middle }
    }
    sign | low
}

#[test]
fn conversions_are_correctly_rounded() {
    let singles = (0..u32::MAX).step_by(4099).map(f32::from_bits);
    // Around every tie and every representable value.
    let ties = (0..0x7bffu32).step_by(3).flat_map(|h| {
        let tie = ((value(h) + value(h + 1)) / 2.0) as f32;
        [tie, f32::from_bits(tie.to_bits() + 1), f32::from_bits(tie.to_bits().saturating_sub(1)), -tie]
    });
    let edges =
        [65504.0, 65519.996, 65520.0, 65535.996, 65536.0, 1e-8, 2.9802322e-8, 2.980233e-8, f32::INFINITY];
    for x in singles.chain(ties).chain(edges) {
        if x.is_nan() {
            continue;
        }
        assert_eq!(half::from_f32(x), nearest(x as f64), "from_f32({x:e})");
        assert_eq!(half::from_f32_rtz(x), toward_zero(x as f64), "from_f32_rtz({x:e})");
    }
    assert_eq!(half::from_f32(f32::NAN), 0x7e00);
}

#[test]
fn doubles_are_rounded_once() {
    let doubles = (0..300_000u64).map(|k| {
        let bits = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Exponents around those of 16-bit floats.
        f64::from_bits((bits & !(0x7ff << 52)) | ((990 + bits % 64) << 52))
    });
    // Just above and below ties, by less than single precision holds.
    let near_ties = (0..0x7bffu32).step_by(5).flat_map(|h| {
        let tie = (value(h) + value(h + 1)) / 2.0;
        [tie, f64::from_bits(tie.to_bits() + 1), f64::from_bits(tie.to_bits() - 1)]
    });
    for x in doubles.chain(near_ties).chain([1e-300, 1e300, -1e300, f64::INFINITY, 0.0]) {
        assert_eq!(half::from_f64(x), nearest(x), "from_f64({x:e})");
        assert_eq!(half::from_f64_rtz(x), toward_zero(x), "from_f64_rtz({x:e})");
    }
}

#[test]
fn integers_convert_to_half() {
    let integers = (0..70_000i64).chain([1 << 20, (1 << 20) + 1, u32::MAX as i64, i64::MAX]);
    for x in integers {
        let up = nearest(x as f64);
        assert_eq!(convert::u64_to_f16(x as u64), up, "{x}");
        assert_eq!(convert::i64_to_f16(-x), if x == 0 { 0 } else { up | 0x8000 }, "-{x}");
        if let Ok(small) = u32::try_from(x) {
            assert_eq!(convert::u32_to_f16(small), up);
        }
        if let Ok(small) = i32::try_from(x) {
            assert_eq!(convert::i32_to_f16(small), up);
            assert_eq!(convert::i32_to_f16(-small), if x == 0 { 0 } else { up | 0x8000 });
        }
    }
}

#[test]
fn flushing_and_parts() {
    assert_eq!(half::flush_denormal(0x83ff), 0x8000);
    assert_eq!(half::flush_denormal(0x0400), 0x0400);
    assert_eq!(pack::pack_half_2x16(1.0, -2.0), 0xc000_3c00);
    assert_eq!(pack::unpack_half_2x16(0xc000_3c00), (1.0, -2.0));
}
