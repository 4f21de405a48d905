//! Digests of 128 bits: two independent mixes of 64.

/// Mixes `value` into `state`; the order of calls matters.
pub(super) fn mix(state: u128, value: u64) -> u128 {
    let (low, high) = (state as u64, (state >> 64) as u64);
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let first = fold(low ^ value ^ 0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9).rotate_left(23);
    let second = fold(high ^ value.rotate_left(32) ^ 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93);
    let first = (first ^ low.rotate_left(41)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let second = (second ^ high.rotate_left(13)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    u128::from(first ^ first >> 32) | u128::from(second ^ second >> 29) << 64
}

/// Mixes several values.
pub(super) fn of(values: &[u64]) -> u128 {
    values.iter().fold(values.len() as u128, |state, value| mix(state, *value))
}
