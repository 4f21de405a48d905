//! Subgroup operations against loops over lanes.

use super::*;

fn iota() -> Lanes {
    Lanes(std::array::from_fn(|l| l as u32 + 1))
}

fn run(f: GroupFold, kind: GroupKind, scalar: Scalar, value: Lanes, mask: Mask) -> Lanes {
    let mut out = [Lanes::ZERO];
    fold(f, kind, scalar, &[value], mask, &mut out);
    out[0]
}

#[test]
fn reductions_see_active_lanes_only() {
    let mask = 0b1011_0110;
    let expected: u32 = (0..8).filter(|l| mask >> l & 1 != 0).map(|l| l + 1).sum();
    let out = run(GroupFold::IAdd, GroupKind::Reduce, Scalar::I32, iota(), mask);
    assert!((0..8).filter(|l| mask >> l & 1 != 0).all(|l| out.0[l] == expected));
    let out = run(
        GroupFold::SMin,
        GroupKind::Reduce,
        Scalar::I32,
        Lanes(iota().0.map(|x| 3u32.wrapping_sub(x))),
        mask,
    );
    assert_eq!(out.0[1] as i32, 3 - 8);
    let out = run(GroupFold::SMax, GroupKind::Reduce, Scalar::I8, Lanes([0x80; LANES]), mask);
    assert_eq!(out.0[1], 0x80);
}

#[test]
fn every_fold_has_its_identity() {
    use GroupFold::*;
    for f in [IAdd, IMul, SMin, UMin, SMax, UMax, And, Or, Xor] {
        for scalar in [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64] {
            for x in [0u64, 1, 0x7f, 0x80, 0xff] {
                assert_eq!(combine(f, scalar, identity(f, scalar), x), x, "{f:?} {scalar:?}");
            }
        }
    }
    for f in [FAdd, FMul, FMin, FMax] {
        for x in [0.0f32, -0.0, 1.5, -7.25, f32::INFINITY, f32::NEG_INFINITY] {
            let bits = u64::from(x.to_bits());
            assert_eq!(combine(f, Scalar::F32, identity(f, Scalar::F32), bits), bits, "{f:?} {x}");
            let bits = f64::from(x).to_bits();
            assert_eq!(combine(f, Scalar::F64, identity(f, Scalar::F64), bits), bits, "{f:?} {x}");
        }
    }
}

#[test]
fn scans_go_in_lane_order_over_active_lanes() {
    let mask = 0xf0f0_f0f1;
    let inclusive = run(GroupFold::IAdd, GroupKind::InclusiveScan, Scalar::I32, iota(), mask);
    let exclusive = run(GroupFold::IAdd, GroupKind::ExclusiveScan, Scalar::I32, iota(), mask);
    let mut sum = 0;
    for l in (0..LANES).filter(|&l| active(mask, l)) {
        assert_eq!(exclusive.0[l], sum);
        sum += l as u32 + 1;
        assert_eq!(inclusive.0[l], sum);
    }
}

#[test]
fn clusters_stay_apart() {
    let out = run(GroupFold::UMax, GroupKind::Clustered(4), Scalar::I32, iota(), Mask::MAX);
    assert!((0..LANES).all(|l| out.0[l] == (l as u32 / 4 + 1) * 4));
    let out = run(
        GroupFold::FAdd,
        GroupKind::Clustered(2),
        Scalar::F32,
        Lanes(iota().0.map(|x| (x as f32).to_bits())),
        1,
    );
    assert_eq!(f32::from_bits(out.0[0]), 1.0);
    let out = run(GroupFold::UMax, GroupKind::Clustered(1), Scalar::I32, iota(), 0b101);
    assert_eq!(out.0[..4], [1, 0, 3, 0], "lanes that are not active hold nothing");
}

#[test]
fn booleans_fold_as_masks() {
    assert_eq!(fold_mask(GroupFold::LogicalAnd, GroupKind::Reduce, 0b0110, 0b0110) & 0b0110, 0b0110);
    assert_eq!(fold_mask(GroupFold::LogicalAnd, GroupKind::Reduce, 0b0100, 0b0110) & 0b0110, 0);
    assert_eq!(fold_mask(GroupFold::LogicalXor, GroupKind::InclusiveScan, 0b111, 0b111) & 0b111, 0b101);
}

#[test]
fn lanes_move_where_they_are_told() {
    let v = iota();
    assert_eq!(shuffle_xor(&v, &Lanes([1; LANES])).0[..4], [2, 1, 4, 3]);
    assert_eq!(shuffle_up(&v, &Lanes([2; LANES])).0[2..4], [1, 2]);
    assert_eq!(shuffle_down(&v, &Lanes([2; LANES])).0[..2], [3, 4]);
    assert_eq!(shuffle_down(&v, &Lanes([2; LANES])).0[31], 0);
    assert_eq!(rotate(&v, &Lanes([1; LANES]), 4).0[..5], [2, 3, 4, 1, 6]);
    assert_eq!(quad_swap(&v, 0).0[..4], [2, 1, 4, 3]);
    assert_eq!(quad_swap(&v, 1).0[..4], [3, 4, 1, 2]);
    assert_eq!(quad_swap(&v, 2).0[..4], [4, 3, 2, 1]);
    assert_eq!(quad_broadcast(&v, &Lanes([3; LANES])).0[..5], [4, 4, 4, 4, 8]);
}

#[test]
fn ballots_are_counted_and_searched_within_the_subgroup() {
    let b = Lanes([0xff00_00f0; LANES]);
    assert_eq!(ballot_bit_count(GroupKind::Reduce, &b, 32).0[0], 12);
    assert_eq!(ballot_bit_count(GroupKind::Reduce, &b, 8).0[0], 4);
    assert_eq!(ballot_bit_count(GroupKind::InclusiveScan, &b, 32).0[4], 1);
    assert_eq!(ballot_bit_count(GroupKind::ExclusiveScan, &b, 32).0[4], 0);
    assert_eq!(ballot_find(&b, 32, false).0[0], 4);
    assert_eq!(ballot_find(&b, 32, true).0[0], 31);
    assert_eq!(ballot_find(&b, 16, true).0[0], 7);
}

#[test]
fn equality_of_floats_is_not_equality_of_bits() {
    let mut v = Lanes([0; LANES]);
    v.0[1] = 0x8000_0000;
    assert!(!all_equal(&[v], 0b11));
    assert!(all_equal_float(&v, 0b11));
    assert!(!all_equal_float(&Lanes([0x7fc0_0000; LANES]), 0b1));
    assert!(all_equal(&[v], 0b101));
}
