//! The bits of results: the same alone, in a loop over lanes and with wider vectors, and the same as ever.
//!
//! If a change of a function is meant to change results, the new numbers are in the message of the failing
//! test.

use pellucid_shader_interp::math::{convert, double, half, single};
use std::hint::black_box;

const LANES: usize = 32;

type Lanes = [u32; LANES];

/// One function in its three surroundings, on pairs of words.
struct Case {
    name: &'static str,
    alone: fn(u32, u32) -> u32,
    lanes: fn(&Lanes, &Lanes, &mut Lanes),
    #[cfg(target_arch = "x86_64")]
    avx2: unsafe fn(&Lanes, &Lanes, &mut Lanes),
    golden: u64,
}

macro_rules! cases {
    ($($name:ident $golden:literal |$x:ident, $y:ident| $body:expr;)*) => {
        &[$({
            #[inline(always)]
            fn body($x: u32, $y: u32) -> u32 {
                let _ = $y;
                $body
            }
            #[inline(never)]
            fn alone(x: u32, y: u32) -> u32 {
                body(black_box(x), black_box(y))
            }
            #[inline(never)]
            fn lanes(x: &Lanes, y: &Lanes, out: &mut Lanes) {
                for i in 0..LANES {
                    out[i] = body(x[i], y[i]);
                }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2(x: &Lanes, y: &Lanes, out: &mut Lanes) {
                for i in 0..LANES {
                    out[i] = body(x[i], y[i]);
                }
            }
            Case {
                name: stringify!($name),
                alone,
                lanes,
                #[cfg(target_arch = "x86_64")]
                avx2,
                golden: $golden,
            }
        }),*]
    };
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

const CASES: &[Case] = cases! {
    sqrt 0x4adc_ec15_455b_93c9 |x, y| single::sqrt(f(x)).to_bits();
    inverse_sqrt 0x7ca0_f82a_c8d2_44bb |x, y| single::inverse_sqrt(f(x)).to_bits();
    exp 0x4801_95df_0a59_d75b |x, y| single::exp(f(x)).to_bits();
    exp2 0x55b4_9477_7697_5434 |x, y| single::exp2(f(x)).to_bits();
    log 0xca3d_41dc_f222_b285 |x, y| single::log(f(x)).to_bits();
    log2 0x12b3_0ac0_c6fd_0a48 |x, y| single::log2(f(x)).to_bits();
    pow 0x0dac_cbc0_7359_5f4e |x, y| single::pow(f(x), f(y)).to_bits();
    sin 0x8b32_cdf7_4213_23b3 |x, y| single::sin(f(x)).to_bits();
    cos 0xe2d1_adf6_30e7_eb86 |x, y| single::cos(f(x)).to_bits();
    tan 0x4ebb_ed5a_2640_d417 |x, y| single::tan(f(x)).to_bits();
    asin 0x766c_1f93_532c_6811 |x, y| single::asin(f(x)).to_bits();
    acos 0x5e1b_5d2f_e627_15c4 |x, y| single::acos(f(x)).to_bits();
    atan 0x2783_23af_70a6_c467 |x, y| single::atan(f(x)).to_bits();
    atan2 0xa445_f0f1_05e3_4554 |x, y| single::atan2(f(x), f(y)).to_bits();
    sinh 0xbcf8_188b_5640_cea0 |x, y| single::sinh(f(x)).to_bits();
    cosh 0xfe21_00c8_9399_4b3b |x, y| single::cosh(f(x)).to_bits();
    tanh 0xeb91_6463_dca6_eed2 |x, y| single::tanh(f(x)).to_bits();
    asinh 0xad93_63c3_ff9c_7341 |x, y| single::asinh(f(x)).to_bits();
    acosh 0x9432_ba24_b727_3c96 |x, y| single::acosh(f(x)).to_bits();
    atanh 0x3023_3d7f_7516_b18d |x, y| single::atanh(f(x)).to_bits();
    round_even 0xfb74_b661_0a66_9c23 |x, y| single::round_even(f(x)).to_bits();
    trunc 0x27cf_ca15_5ce3_00ab |x, y| single::trunc(f(x)).to_bits();
    floor 0x6834_c90c_e9b2_ce2d |x, y| single::floor(f(x)).to_bits();
    ceil 0x7759_5322_751e_30e1 |x, y| single::ceil(f(x)).to_bits();
    fract 0x5f0f_ddba_f337_ee02 |x, y| single::fract(f(x)).to_bits();
    fmod 0x3cea_bfff_4bfc_0197 |x, y| single::fmod(f(x), f(y)).to_bits();
    frem 0xee5e_9384_ac8d_4c59 |x, y| single::frem(f(x), f(y)).to_bits();
    n_min 0x94d2_b92b_7340_0f6b |x, y| single::n_min(f(x), f(y)).to_bits();
    n_max 0x6cc5_ebf2_6bf1_e4b3 |x, y| single::n_max(f(x), f(y)).to_bits();
    mix 0x598b_d488_e9fb_96d6 |x, y| single::mix(f(x), f(y), 0.3).to_bits();
    smooth_step 0xc5cc_501c_17d2_c262 |x, y| single::smooth_step(f(x), f(y), 0.3).to_bits();
    ldexp 0x8b5d_7e6c_e29e_4ab3 |x, y| single::ldexp(f(x), y as i32 >> 23).to_bits();
    frexp 0x7cc8_5aa5_7444_ceb9 |x, y| single::frexp(f(x)).0.to_bits() ^ single::frexp(f(x)).1 as u32;
    quantize_to_f16 0x60e8_e73f_4eec_0b25 |x, y| single::quantize_to_f16(f(x)).to_bits();
    half_from_f32 0xbbab_20cf_e081_ad78 |x, y| half::from_f32(f(x));
    half_from_f32_rtz 0x3f93_608e_9b0e_96e2 |x, y| half::from_f32_rtz(f(x));
    half_from_f64 0x47d4_4c1d_234f_ada3 |x, y| half::from_f64(f64::from_bits((x as u64) << 32 | y as u64));
    f32_to_u32 0x786d_910c_ab70_84cb |x, y| convert::f32_to_u32(f(x));
    f32_to_i32 0x806b_bab5_75b9_bf97 |x, y| convert::f32_to_i32(f(x)) as u32;
    double_fmod 0xbf42_fcff_5682_1f65 |x, y| (double::fmod(f(x) as f64, f(y) as f64).to_bits() >> 20) as u32;
};

/// Words of all exponents, in pairs; every fourth pair is of ordinary size.
fn arguments() -> impl Iterator<Item = (Lanes, Lanes)> {
    (0..2000u64).map(|block| {
        let word = |lane: usize, which: u64| {
            let k = (block * LANES as u64 + lane as u64) * 2 + which;
            let bits = (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u32;
            // Exponents -4 to 3.
            if k & 6 == 0 { (bits & 0x807f_ffff) | ((123 + (bits >> 23) % 8) << 23) } else { bits }
        };
        (std::array::from_fn(|lane| word(lane, 0)), std::array::from_fn(|lane| word(lane, 1)))
    })
}

#[test]
fn lanes_have_the_bits_of_scalars() {
    for case in CASES {
        for (x, y) in arguments().step_by(7) {
            let expected: Lanes = std::array::from_fn(|i| (case.alone)(x[i], y[i]));
            let mut got = [0; LANES];
            (case.lanes)(&x, &y, &mut got);
            assert_eq!(got, expected, "{} over lanes", case.name);
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                unsafe { (case.avx2)(&x, &y, &mut got) };
                assert_eq!(got, expected, "{} with AVX2", case.name);
            }
        }
    }
}

#[test]
fn results_are_the_same_as_ever() {
    let mut changed = Vec::new();
    for case in CASES {
        // FNV-1a over the results.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for (x, y) in arguments() {
            let mut out = [0; LANES];
            (case.lanes)(&x, &y, &mut out);
            for word in out {
                hash = (hash ^ word as u64).wrapping_mul(0x0100_0000_01b3);
            }
        }
        if hash != case.golden {
            changed.push(format!("{} {hash:#018x}", case.name));
        }
    }
    assert!(changed.is_empty(), "results changed:\n{}", changed.join("\n"));
}
