//! Subgroup operations (SPIR-V 3.49.23 *Non-Uniform Instructions*) as functions of whole registers.
//!
//! Only active lanes take part; what inactive lanes of a result hold is arbitrary. Reductions combine lanes
//! as a butterfly, nearest neighbours first, whatever the host: floating-point results have the same bits
//! everywhere. Scans go in lane order.

use crate::ir::{GroupFold, GroupKind, Scalar};
use crate::math::{double, half, single};
use pellucid_memory::system::{LANES, Lanes, Mask};

#[inline(always)]
fn active(mask: Mask, lane: usize) -> bool {
    mask >> lane & 1 != 0
}

/// The value that changes nothing when it is folded in.
pub fn identity(fold: GroupFold, scalar: Scalar) -> u64 {
    use GroupFold::*;
    let bits = 8 * scalar.bytes();
    let ones = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    match (fold, scalar) {
        (IAdd | Or | Xor | UMax | LogicalOr | LogicalXor, _) => 0,
        (IMul, _) => 1,
        (And | UMin, _) => ones,
        (LogicalAnd, _) => 1,
        (SMin, _) => ones >> 1,
        (SMax, _) => (ones >> 1) + 1,
        // Negative zero: adding it keeps the sign of a zero.
        (FAdd, Scalar::F16) => 0x8000,
        (FAdd, Scalar::F64) => 1 << 63,
        (FAdd, _) => 0x8000_0000,
        (FMul, Scalar::F16) => 0x3c00,
        (FMul, Scalar::F64) => 1f64.to_bits(),
        (FMul, _) => u64::from(1f32.to_bits()),
        (FMin, Scalar::F16) => 0x7c00,
        (FMin, Scalar::F64) => f64::INFINITY.to_bits(),
        (FMin, _) => u64::from(f32::INFINITY.to_bits()),
        (FMax, Scalar::F16) => 0xfc00,
        (FMax, Scalar::F64) => f64::NEG_INFINITY.to_bits(),
        (FMax, _) => u64::from(f32::NEG_INFINITY.to_bits()),
    }
}

/// One step of a fold on values of 64 bits or fewer, zero-extended.
#[inline(always)]
fn combine(fold: GroupFold, scalar: Scalar, a: u64, b: u64) -> u64 {
    use GroupFold::*;
    let bits = 8 * scalar.bytes().max(4 * u32::from(scalar == Scalar::Bool));
    let ones = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let signed = |x: u64| ((x << (64 - bits)) as i64) >> (64 - bits);
    let float = |f32op: fn(f32, f32) -> f32, f64op: fn(f64, f64) -> f64| match scalar {
        Scalar::F64 => f64op(f64::from_bits(a), f64::from_bits(b)).to_bits(),
        Scalar::F16 => u64::from(half::from_f32(f32op(half::to_f32(a as u32), half::to_f32(b as u32)))),
        _ => u64::from(f32op(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits()),
    };
    let value = match fold {
        IAdd => a.wrapping_add(b),
        IMul => a.wrapping_mul(b),
        And | LogicalAnd => a & b,
        Or | LogicalOr => a | b,
        Xor | LogicalXor => a ^ b,
        UMin => a.min(b),
        UMax => a.max(b),
        SMin => signed(a).min(signed(b)) as u64,
        SMax => signed(a).max(signed(b)) as u64,
        FAdd => float(|a, b| a + b, |a, b| a + b),
        FMul => float(|a, b| a * b, |a, b| a * b),
        FMin => float(single::n_min, double::n_min),
        FMax => float(single::n_max, double::n_max),
    };
    value & ones
}

fn gather(value: &[Lanes], lane: usize) -> u64 {
    let low = u64::from(value[0].0[lane]);
    value.get(1).map_or(low, |high| low | u64::from(high.0[lane]) << 32)
}

fn scatter(out: &mut [Lanes], lane: usize, value: u64) {
    out[0].0[lane] = value as u32;
    if let Some(high) = out.get_mut(1) {
        high.0[lane] = (value >> 32) as u32;
    }
}

/// A group operation on values of type `scalar`: `value` and `out` have one register, or two for 64-bit
/// types.
pub fn fold(
    fold: GroupFold,
    kind: GroupKind,
    scalar: Scalar,
    value: &[Lanes],
    mask: Mask,
    out: &mut [Lanes],
) {
    let cluster = match kind {
        GroupKind::Reduce => LANES as u32,
        GroupKind::Clustered(size) => size,
        GroupKind::InclusiveScan | GroupKind::ExclusiveScan => {
            let mut sum = identity(fold, scalar);
            for lane in (0..LANES).filter(|&l| active(mask, l)) {
                let next = combine(fold, scalar, sum, gather(value, lane));
                scatter(out, lane, if kind == GroupKind::InclusiveScan { next } else { sum });
                sum = next;
            }
            return;
        }
    };
    macro_rules! words {
        ($f:expr) => {
            out[0] = butterfly(&value[0], mask, cluster, identity(fold, scalar) as u32, $f)
        };
    }
    macro_rules! floats {
        ($f:expr) => {
            words!(|a, b| $f(f32::from_bits(a), f32::from_bits(b)).to_bits())
        };
    }
    match (fold, scalar) {
        (GroupFold::FAdd, Scalar::F32) => floats!(|a: f32, b: f32| a + b),
        (GroupFold::FMul, Scalar::F32) => floats!(|a: f32, b: f32| a * b),
        (GroupFold::FMin, Scalar::F32) => floats!(single::n_min),
        (GroupFold::FMax, Scalar::F32) => floats!(single::n_max),
        (GroupFold::IAdd, Scalar::I32) => words!(u32::wrapping_add),
        (GroupFold::IMul, Scalar::I32) => words!(u32::wrapping_mul),
        (GroupFold::UMax, Scalar::I32) => words!(u32::max),
        (GroupFold::UMin, Scalar::I32) => words!(u32::min),
        (GroupFold::SMax, Scalar::I32) => words!(|a, b| (a as i32).max(b as i32) as u32),
        (GroupFold::SMin, Scalar::I32) => words!(|a, b| (a as i32).min(b as i32) as u32),
        (GroupFold::And, Scalar::I32) => words!(|a, b| a & b),
        (GroupFold::Or, Scalar::I32) => words!(|a, b| a | b),
        (GroupFold::Xor, Scalar::I32) => words!(|a, b| a ^ b),
        _ => {
            let neutral = identity(fold, scalar);
            let mut now: [u64; LANES] =
                std::array::from_fn(|l| if active(mask, l) { gather(value, l) } else { neutral });
            let mut distance = 1;
            while distance < cluster as usize {
                now = std::array::from_fn(|l| {
                    let (low, high) = (l & !distance, l | distance);
                    combine(fold, scalar, now[low], now[high])
                });
                distance *= 2;
            }
            for (lane, value) in now.into_iter().enumerate() {
                scatter(out, lane, value);
            }
        }
    }
}

/// Folds within clusters of a power of two of lanes; every lane gets its cluster's result, where no lane of
/// it is active the neutral value.
#[inline(always)]
fn butterfly(value: &Lanes, mask: Mask, cluster: u32, neutral: u32, f: impl Fn(u32, u32) -> u32) -> Lanes {
    let mut now = Lanes(std::array::from_fn(|l| if active(mask, l) { value.0[l] } else { neutral }));
    let mut distance = 1;
    while distance < cluster as usize {
        // The lower lane comes first, so that all lanes of a cluster compute the same bits.
        now = Lanes(std::array::from_fn(|l| f(now.0[l & !distance], now.0[l | distance])));
        distance *= 2;
    }
    now
}

/// A group operation on booleans.
pub fn fold_mask(fold: GroupFold, kind: GroupKind, value: Mask, mask: Mask) -> Mask {
    let lanes = Lanes(std::array::from_fn(|l| value >> l & 1));
    let mut out = [Lanes::ZERO];
    self::fold(fold, kind, Scalar::Bool, &[lanes], mask, &mut out);
    (0..LANES).fold(0, |m, l| m | (out[0].0[l] & 1) << l)
}

/// The word that all active lanes hold, if they hold one.
#[inline(always)]
pub fn common(value: &Lanes, mask: Mask) -> Option<u32> {
    let first = value.0[mask.trailing_zeros() as usize % LANES];
    let mut differs = 0;
    for lane in 0..LANES {
        differs |= (value.0[lane] ^ first) & 0u32.wrapping_sub(mask >> lane & 1);
    }
    (differs == 0).then_some(first)
}

/// OpGroupNonUniformAllEqual: whether the active lanes hold equal bits.
pub fn all_equal(value: &[Lanes], mask: Mask) -> bool {
    value.iter().all(|value| common(value, mask).is_some())
}

/// OpGroupNonUniformAllEqual on 32-bit (or narrower, converted) floats: zeros of both signs are equal, a NaN
/// is not equal to itself.
pub fn all_equal_float(value: &Lanes, mask: Mask) -> bool {
    let first = f32::from_bits(value.0[mask.trailing_zeros() as usize % LANES]);
    (0..LANES).all(|l| !active(mask, l) || f32::from_bits(value.0[l]) == first)
}

/// OpGroupNonUniformBallotBitCount: bits of the first `size` lanes of each lane's ballot (only the first
/// component can hold any).
pub fn ballot_bit_count(kind: GroupKind, ballot: &Lanes, size: u32) -> Lanes {
    let all = lanes_below(size);
    Lanes(std::array::from_fn(|l| {
        let counted = match kind {
            GroupKind::InclusiveScan => all & lanes_below(l as u32 + 1),
            GroupKind::ExclusiveScan => all & lanes_below(l as u32),
            _ => all,
        };
        (ballot.0[l] & counted).count_ones()
    }))
}

/// A mask of the lanes below `lane`.
pub fn lanes_below(lane: u32) -> Mask {
    if lane >= LANES as u32 { Mask::MAX } else { (1 << lane) - 1 }
}

/// OpGroupNonUniformBallotFindLSB and FindMSB; no bit gives the undefined value 0xffffffff.
pub fn ballot_find(ballot: &Lanes, size: u32, most: bool) -> Lanes {
    Lanes(ballot.0.map(|b| {
        let b = b & lanes_below(size);
        if b == 0 {
            u32::MAX
        } else if most {
            31 - b.leading_zeros()
        } else {
            b.trailing_zeros()
        }
    }))
}

/// Each lane takes the value of lane `index`; an index past the register gives zero.
#[inline(always)]
pub fn shuffle(value: &Lanes, index: &Lanes) -> Lanes {
    let mut out = Lanes::ZERO;
    for (to, index) in out.0.iter_mut().zip(&index.0) {
        let within = 0u32.wrapping_sub(u32::from(*index < LANES as u32));
        *to = value.0[*index as usize % LANES] & within;
    }
    out
}

/// OpGroupNonUniformShuffleXor.
#[inline(always)]
pub fn shuffle_xor(value: &Lanes, bits: &Lanes) -> Lanes {
    shuffle(value, &Lanes(std::array::from_fn(|l| l as u32 ^ bits.0[l])))
}

/// OpGroupNonUniformShuffleUp.
#[inline(always)]
pub fn shuffle_up(value: &Lanes, delta: &Lanes) -> Lanes {
    shuffle(value, &Lanes(std::array::from_fn(|l| (l as u32).wrapping_sub(delta.0[l]))))
}

/// OpGroupNonUniformShuffleDown.
#[inline(always)]
pub fn shuffle_down(value: &Lanes, delta: &Lanes) -> Lanes {
    shuffle(value, &Lanes(std::array::from_fn(|l| (l as u32).wrapping_add(delta.0[l]))))
}

/// OpGroupNonUniformRotateKHR in clusters of `cluster` lanes, a power of two.
pub fn rotate(value: &Lanes, delta: &Lanes, cluster: u32) -> Lanes {
    let within = cluster.wrapping_sub(1);
    let index = |l: usize| (l as u32 & !within) | ((l as u32).wrapping_add(delta.0[l]) & within);
    shuffle(value, &Lanes(std::array::from_fn(index)))
}

/// OpGroupNonUniformQuadBroadcast.
pub fn quad_broadcast(value: &Lanes, index: &Lanes) -> Lanes {
    shuffle(value, &Lanes(std::array::from_fn(|l| (l as u32 & !3) | (index.0[l] & 3))))
}

/// OpGroupNonUniformQuadSwap: 0 horizontal, 1 vertical, 2 diagonal.
pub fn quad_swap(value: &Lanes, direction: u32) -> Lanes {
    shuffle_xor(value, &Lanes([direction.wrapping_add(1) & 3; LANES]))
}

#[cfg(test)]
mod tests;
