//! Nanoseconds that one function takes for 32 lanes, for the baseline instruction set and for AVX2.
//!
//! `cargo bench -p pellucid-shader-interp --bench lane_math`

#![allow(missing_docs, clippy::print_stdout)]

use pellucid_shader_interp::math::{convert, half, integer, pack, single};
use std::hint::black_box;
use std::time::Instant;

type Lanes = [f32; 32];

struct Row {
    name: &'static str,
    baseline: fn(&Lanes, &Lanes, &mut Lanes),
    #[cfg(target_arch = "x86_64")]
    avx2: unsafe fn(&Lanes, &Lanes, &mut Lanes),
}

macro_rules! rows {
    ($($name:ident |$x:ident, $y:ident| $body:expr;)*) => {
        &[$({
            #[inline(always)]
            fn body(a: &Lanes, b: &Lanes, out: &mut Lanes) {
                for i in 0..32 {
                    let ($x, $y) = (a[i], b[i]);
                    let _ = $y;
                    out[i] = $body;
                }
            }
            #[inline(never)]
            fn baseline(a: &Lanes, b: &Lanes, out: &mut Lanes) {
                body(a, b, out)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2(a: &Lanes, b: &Lanes, out: &mut Lanes) {
                body(a, b, out)
            }
            Row {
                name: stringify!($name),
                baseline,
                #[cfg(target_arch = "x86_64")]
                avx2,
            }
        }),*]
    };
}

const ROWS: &[Row] = rows! {
    sqrt |x, y| single::sqrt(x);
    inverse_sqrt |x, y| single::inverse_sqrt(x);
    exp |x, y| single::exp(x);
    exp2 |x, y| single::exp2(x);
    log |x, y| single::log(x);
    log2 |x, y| single::log2(x);
    pow |x, y| single::pow(x, y);
    sin |x, y| single::sin(x);
    cos |x, y| single::cos(x);
    tan |x, y| single::tan(x);
    asin |x, y| single::asin(x);
    acos |x, y| single::acos(x);
    atan |x, y| single::atan(x);
    atan2 |x, y| single::atan2(x, y);
    sinh |x, y| single::sinh(x);
    cosh |x, y| single::cosh(x);
    tanh |x, y| single::tanh(x);
    asinh |x, y| single::asinh(x);
    acosh |x, y| single::acosh(x);
    atanh |x, y| single::atanh(x);
    floor |x, y| single::floor(x);
    fract |x, y| single::fract(x);
    fmod |x, y| single::fmod(x, y);
    n_min |x, y| single::n_min(x, y);
    ldexp |x, y| single::ldexp(x, y.to_bits() as i32);
    frexp |x, y| single::frexp(x).0;
    half_to_f32 |x, y| half::to_f32(x.to_bits() & 0xffff);
    half_from_f32 |x, y| f32::from_bits(half::from_f32(x));
    f32_to_u32 |x, y| f32::from_bits(convert::f32_to_u32(x));
    f32_to_i32 |x, y| f32::from_bits(convert::f32_to_i32(x) as u32);
    bit_reverse |x, y| f32::from_bits(integer::bit_reverse::<32>(x.to_bits()));
    find_u_msb |x, y| f32::from_bits(integer::find_u_msb(x.to_bits()));
    bit_field_s_extract |x, y| f32::from_bits(integer::bit_field_s_extract::<32>(x.to_bits(), 3, 7));
    u_mod |x, y| f32::from_bits(integer::u_mod(x.to_bits(), y.to_bits()));
    s_mod |x, y| f32::from_bits(integer::s_mod::<32>(x.to_bits(), y.to_bits()));
    u_div |x, y| f32::from_bits(integer::u_div(x.to_bits(), y.to_bits()));
    s_dot_4x8 |x, y| f32::from_bits(integer::s_dot_4x8(x.to_bits(), y.to_bits()));
    pack_snorm_4x8 |x, y| f32::from_bits(pack::pack_snorm_4x8([x, y, x, y]));
};

/// The best of several averages.
fn nanoseconds(mut run: impl FnMut()) -> f64 {
    const CALLS: u32 = 10_000;
    let mut best = f64::MAX;
    for _ in 0..9 {
        let start = Instant::now();
        for _ in 0..CALLS {
            run();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / CALLS as f64);
    }
    best
}

fn main() {
    let a: Lanes = std::array::from_fn(|i| 0.13 + 0.025 * i as f32);
    let b: Lanes = std::array::from_fn(|i| 1.7 - 0.05 * i as f32);
    let mut out = [0.0; 32];
    println!("{:20} {:>10} {:>10}", "ns for 32 lanes", "baseline", "avx2");
    for row in ROWS {
        let baseline = nanoseconds(|| (row.baseline)(black_box(&a), black_box(&b), black_box(&mut out)));
        #[cfg(target_arch = "x86_64")]
        let wide = if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            nanoseconds(|| unsafe { (row.avx2)(black_box(&a), black_box(&b), black_box(&mut out)) })
        } else {
            f64::NAN
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide = f64::NAN;
        println!("{:20} {baseline:10.1} {wide:10.1}", row.name);
    }
}
