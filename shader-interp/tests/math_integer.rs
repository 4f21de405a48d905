//! Integer operations, packing and conversions, against definitions written with wider arithmetic.

use pellucid_shader_interp::math::integer::{self, wide};
use pellucid_shader_interp::math::{convert, pack};

/// Words with many patterns: small numbers, powers of two and their neighbours, and scrambled ones.
fn words() -> Vec<u64> {
    let mut words: Vec<u64> = (0..20).collect();
    for k in 0..64 {
        words.extend([1u64 << k, (1u64 << k).wrapping_sub(1), !(1u64 << k), (1u64 << k).wrapping_neg()]);
    }
    words.extend((1..60u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    words
}

fn signed(x: u64, width: u32) -> i128 {
    let x = x as u128 & ((1u128 << width) - 1);
    if x >> (width - 1) == 1 { x as i128 - (1i128 << width) } else { x as i128 }
}

fn check_width<const W: u32>() {
    let ones = (1u64 << W) - 1;
    let cut = |x: i128| x as u64 as u32 & ones as u32;
    for a in words() {
        let a = (a & ones) as u32;
        let s = signed(a as u64, W);
        assert_eq!(integer::sign_extend::<W>(a) as i128, s);
        let reversed = (0..W).fold(0, |r, k| r | (((a >> k) & 1) << (W - 1 - k)));
        assert_eq!(integer::bit_reverse::<W>(a), reversed);
        assert_eq!(integer::bit_count(a), (0..W).map(|k| (a >> k) & 1).sum());
        let ones_at = |f: &dyn Fn(u32) -> bool| (0..W).filter(|&k| f(k)).collect::<Vec<_>>();
        let set = ones_at(&|k| (a >> k) & 1 == 1);
        assert_eq!(integer::find_i_lsb(a), set.first().copied().unwrap_or(u32::MAX));
        assert_eq!(integer::find_u_msb(a), set.last().copied().unwrap_or(u32::MAX));
        let unlike_sign = ones_at(&|k| ((a >> k) & 1) != (a >> (W - 1)));
        assert_eq!(integer::find_s_msb::<W>(a), unlike_sign.last().copied().unwrap_or(u32::MAX));
        assert_eq!(integer::s_sign::<W>(a), cut(s.signum()));
        for b in words() {
            let b = (b & ones) as u32;
            let t = signed(b as u64, W);
            assert_eq!(integer::u_div(a, b), a.checked_div(b).unwrap_or(0));
            assert_eq!(integer::u_mod(a, b), a.checked_rem(b).unwrap_or(0));
            assert_eq!(integer::s_div::<W>(a, b), cut(s.checked_div(t).unwrap_or(0)));
            assert_eq!(integer::s_rem::<W>(a, b), cut(s.checked_rem(t).unwrap_or(0)));
            let modulo = if t == 0 { 0 } else { s - t * (s as f64 / t as f64).floor() as i128 };
            assert_eq!(integer::s_mod::<W>(a, b), cut(modulo), "{s} mod {t}");
            let sum = a as u64 + b as u64;
            assert_eq!(integer::add_carry::<W>(a, b), ((sum & ones) as u32, (sum >> W) as u32));
            assert_eq!(integer::sub_borrow::<W>(a, b), (cut(a as i128 - b as i128), (a < b) as u32));
            let product = a as u64 * b as u64;
            assert_eq!(integer::u_mul_extended::<W>(a, b), ((product & ones) as u32, (product >> W) as u32));
            let product = s * t;
            assert_eq!(integer::s_mul_extended::<W>(a, b), (cut(product), cut(product >> W)));
        }
        for offset in 0..=W {
            for count in 0..=W - offset {
                let field = ((1u64 << count) - 1) << offset;
                let extracted = (a as u64 & field) >> offset;
                assert_eq!(integer::bit_field_u_extract::<W>(a, offset, count), extracted as u32);
                let expected = if count == 0 { 0 } else { cut(signed(extracted, count)) };
                assert_eq!(
                    integer::bit_field_s_extract::<W>(a, offset, count),
                    expected,
                    "{a:#x} {offset} {count}"
                );
                let insert = a.wrapping_mul(0x9e37_79b9);
                let expected = (a as u64 & !field) | (((insert as u64) << offset) & field);
                assert_eq!(integer::bit_field_insert::<W>(a, insert, offset, count), expected as u32);
            }
        }
    }
}

#[test]
fn eight_bits() {
    check_width::<8>();
}

#[test]
fn sixteen_bits() {
    check_width::<16>();
}

#[test]
fn thirty_two_bits() {
    check_width::<32>();
}

#[test]
fn sixty_four_bits() {
    let cut = |x: i128| x as u64;
    for a in words() {
        let s = signed(a, 64);
        assert_eq!(wide::bit_reverse(a), (0..64).fold(0, |r, k| r | (((a >> k) & 1) << (63 - k))));
        assert_eq!(wide::bit_count(a) as u64, (0..64).map(|k| (a >> k) & 1).sum::<u64>());
        let highest = (0..64).rev().find(|k| (a >> k) & 1 == 1).unwrap_or(u32::MAX);
        assert_eq!(wide::find_u_msb(a), highest);
        assert_eq!(wide::find_i_lsb(a), (0..64).find(|k| (a >> k) & 1 == 1).unwrap_or(u32::MAX));
        let unlike = (0..64).rev().find(|k| (a >> k) & 1 != a >> 63).unwrap_or(u32::MAX);
        assert_eq!(wide::find_s_msb(a), unlike);
        assert_eq!(wide::s_abs(a), cut(s.abs()));
        assert_eq!(wide::s_sign(a), cut(s.signum()));
        for b in words() {
            let t = signed(b, 64);
            assert_eq!(wide::u_div(a, b), a.checked_div(b).unwrap_or(0));
            assert_eq!(wide::u_mod(a, b), a.checked_rem(b).unwrap_or(0));
            assert_eq!(wide::s_div(a, b), cut(s.checked_div(t).unwrap_or(0)));
            assert_eq!(wide::s_rem(a, b), cut(s.checked_rem(t).unwrap_or(0)));
            let rem = s.checked_rem(t).unwrap_or(0);
            let modulo = if rem != 0 && (rem < 0) != (t < 0) { rem + t } else { rem };
            assert_eq!(wide::s_mod(a, b), cut(modulo));
            let product = a as u128 * b as u128;
            assert_eq!(wide::u_mul_extended(a, b), (product as u64, (product >> 64) as u64));
            let product = s * t;
            assert_eq!(wide::s_mul_extended(a, b), (cut(product), cut(product >> 64)));
            assert_eq!(wide::add_carry(a, b), (a.wrapping_add(b), a.checked_add(b).is_none() as u64));
            assert_eq!(wide::sub_borrow(a, b), (a.wrapping_sub(b), (a < b) as u64));
        }
        for offset in 0..=64u32 {
            for count in 0..=64 - offset {
                let field = (((1u128 << count) - 1) << offset) as u64;
                let extracted = ((a & field) as u128 >> offset) as u64;
                assert_eq!(wide::bit_field_u_extract(a, offset, count), extracted);
                let expected = if count == 0 { 0 } else { cut(signed(extracted, count)) };
                assert_eq!(wide::bit_field_s_extract(a, offset, count), expected);
                let insert = a.wrapping_mul(0x9e37_79b9);
                let expected = (a & !field) | (((insert as u128) << offset) as u64 & field);
                assert_eq!(wide::bit_field_insert(a, insert, offset, count), expected);
            }
        }
    }
}

#[test]
fn packed_dot_products() {
    let bytes = |x: u32| x.to_le_bytes();
    let patterns: Vec<u32> = words().into_iter().map(|w| (w ^ (w >> 32)) as u32).collect();
    for &a in &patterns {
        for &b in &patterns {
            let sum = |f: &dyn Fn(u8, u8) -> i64| -> i64 {
                bytes(a).iter().zip(bytes(b)).map(|(&x, y)| f(x, y)).sum()
            };
            let s = sum(&|x, y| x as i8 as i64 * y as i8 as i64);
            let u = sum(&|x, y| x as i64 * y as i64);
            let su = sum(&|x, y| x as i8 as i64 * y as i64);
            assert_eq!(integer::s_dot_4x8(a, b) as i32 as i64, s);
            assert_eq!(integer::u_dot_4x8(a, b) as i64, u);
            assert_eq!(integer::su_dot_4x8(a, b) as i32 as i64, su);
            for accumulator in [0, 100, i32::MAX as u32, i32::MIN as u32, u32::MAX] {
                let clamp = |x: i64| x.clamp(i32::MIN as i64, i32::MAX as i64) as u32;
                let signed = accumulator as i32 as i64;
                assert_eq!(integer::s_dot_acc_sat_4x8(a, b, accumulator), clamp(s + signed));
                assert_eq!(integer::su_dot_acc_sat_4x8(a, b, accumulator), clamp(su + signed));
                let unsigned = (u + accumulator as i64).min(u32::MAX as i64) as u32;
                assert_eq!(integer::u_dot_acc_sat_4x8(a, b, accumulator), unsigned);
            }
        }
    }
}

#[test]
fn normalized_packing() {
    assert_eq!(pack::pack_unorm_4x8([0.0, 1.0, 0.5, 2.0]), 0xff80_ff00);
    assert_eq!(pack::pack_snorm_4x8([0.0, 1.0, -1.0, -2.0]), 0x8181_7f00);
    assert_eq!(pack::pack_unorm_2x16([1.0, 0.0]), 0x0000_ffff);
    assert_eq!(pack::pack_snorm_2x16([-1.0, 1.0]), 0x7fff_8001);
    assert_eq!(pack::unpack_snorm_4x8(0x8081_7f00), [0.0, 1.0, -1.0, -1.0]);
    assert_eq!(pack::unpack_unorm_4x8(0xff33_0000), [0.0, 0.0, 0.2, 1.0]);
    assert_eq!(pack::unpack_snorm_2x16(0x8000_7fff), [1.0, -1.0]);
    assert_eq!(pack::unpack_unorm_2x16(0xffff_0000), [0.0, 1.0]);
    for byte in 0..=255u32 {
        assert_eq!(pack::pack_unorm_4x8(pack::unpack_unorm_4x8(byte)), byte);
        if byte != 0x80 {
            assert_eq!(pack::pack_snorm_4x8(pack::unpack_snorm_4x8(byte)), byte);
        }
    }
    for half in 0..=0xffffu32 {
        assert_eq!(pack::pack_unorm_2x16(pack::unpack_unorm_2x16(half)), half);
        if half != 0x8000 {
            assert_eq!(pack::pack_snorm_2x16(pack::unpack_snorm_2x16(half)), half);
        }
    }
}

#[test]
fn floats_to_integers_truncate_and_saturate() {
    let edges = [
        0.0,
        -0.0,
        -0.9,
        0.99,
        255.99,
        2147483520.0,
        2147483648.0,
        -2147483648.0,
        -2147483904.0,
        4294967040.0,
        4294967296.0,
    ];
    let specials = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-45];
    for x in (0..u32::MAX).step_by(9_973).map(f32::from_bits).chain(edges).chain(specials) {
        assert_eq!(convert::f32_to_i32(x), x as i32, "{x:e}");
        assert_eq!(convert::f32_to_u32(x), x as u32, "{x:e}");
        assert_eq!(convert::f32_to_u64(x), x as u64);
        assert_eq!(convert::f64_to_i64(x as f64), x as f64 as i64);
    }
}

#[test]
fn integers_and_doubles_become_single() {
    for x in words() {
        assert_eq!(convert::u64_to_f32(x), x as f32);
    }
    assert_eq!(convert::f64_to_f32_rtz(1e300), f32::MAX);
    assert_eq!(convert::f64_to_f32_rtz(-1e-300).to_bits(), 0x8000_0000);
    assert_eq!(convert::f64_to_f32_rtz(0.1), f32::from_bits(0x3dcc_cccc));
    assert_eq!(convert::f64_to_f32_rtz(f64::INFINITY), f32::INFINITY);
    assert_eq!(convert::f64_to_f32(0.1), 0.1);
}
