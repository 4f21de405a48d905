//! Pseudo-random numbers (SplitMix64): what a seed decides, and the programs of tests.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A well-mixed function of a number: the first number that a generator with this seed gives.
#[inline]
pub fn mix(seed: u64) -> u64 {
    let x = seed.wrapping_add(STEP);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The number at a place, from 0, among those that a generator with this seed gives.
#[inline]
pub fn nth(seed: u64, place: u64) -> u64 {
    mix(seed.wrapping_add(place.wrapping_mul(STEP)))
}

/// A well-mixed function of several numbers, in this order.
pub(crate) fn mix_all(values: &[u64]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for value in values {
        state = (state ^ value).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
        state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 32;
    }
    state
}

/// A generator of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that starts from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }

    /// A number below `bound`.
    pub fn below<N: TryInto<u64> + TryFrom<u64> + Default>(&mut self, bound: N) -> N {
        let bound = bound.try_into().unwrap_or(1).max(1);
        N::try_from(self.bits() % bound).unwrap_or_default()
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: impl TryInto<u64>) -> bool {
        self.below(100) < percent.try_into().unwrap_or(0)
    }

    /// True in one of `many` cases.
    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let known = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.bits(), random.bits(), random.bits()], known);
        assert_eq!([0, 1, 2].map(|place| nth(1_234_567, place)), known);
    }
}
