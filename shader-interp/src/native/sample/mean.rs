//! *Texel Filtering*: sums of weighted texels, in double precision, and the least and the greatest of them.

use super::*;

impl Part<'_> {
    /// *Texel Filtering*: the results are the means of the texels of the footprint, or the least or greatest.
    pub(super) fn mean(&mut self, access: &SampleAccess, reference: Option<u8>) {
        let results = (0..access.results.1).map(|k| (k, access.results.0 + k as u16));
        let results: SmallVec<[_; 4]> = results.filter(|(_, to)| self.reads[usize::from(*to)]).collect();
        let has = |k: usize| matches!(access.component(k), Component::Of(_));
        let level = self.level(access);
        let rest = level.and_then(|level| level.rest);
        let sums = results.iter().filter(|(k, _)| has(*k));
        let sums: SmallVec<[_; 4]> =
            sums.map(|(k, to)| (*k, *to, [self.temporary(), self.temporary()])).collect();
        let extreme = match access.filter.reduction {
            Reduction::WeightedAverage => None,
            Reduction::Min => Some((f64::INFINITY, true)),
            Reduction::Max => Some((f64::NEG_INFINITY, false)),
        };
        if let Some((none, _)) = extreme {
            sums.iter().flat_map(|(.., sum)| sum).for_each(|sum| self.spread_double(*sum, none));
        }
        let least = extreme.map(|(_, least)| least);
        let mean = Mean { access, sums: &sums, reference, least };
        for upper in [true, false].into_iter().take(1 + usize::from(rest.is_some())) {
            if let Some(level) = level.filter(|_| !upper) {
                self.step_below(level);
            }
            self.for_a_while(|part| {
                let footprint = part.footprint(access, 0, level.map(|level| level.high));
                part.add_texels(&mean, &footprint, rest.map(|rest| (rest, upper)));
            });
        }
        for (_, to, [low, high]) in &sums {
            self.narrow_both([*low, *high]);
            self.canonical(*to, *low);
        }
        let tu = (self.temporary(), self.temporary());
        for (k, to) in results.iter().filter(|(k, _)| !has(*k)) {
            self.component(access, *k, &[], tu, (*to, reference));
        }
    }

    /// Adds the texels of one footprint to the sums. `share` is how the levels below share, and whether the
    /// footprint is that of the levels above them; without it this level is all.
    fn add_texels(&mut self, mean: &Mean<'_>, footprint: &Footprint, share: Option<(u8, bool)>) {
        let Mean { access, sums, reference, least } = *mean;
        let ((t, u), words) = self.for_texels(access);
        let [one, factor, value] = std::array::from_fn(|_| self.temporary());
        let weights = [self.temporary(), self.temporary()];
        let is_first = share.is_none_or(|(_, upper)| upper);
        self.spread_double(one, 1.0);
        let scale = Scale { footprint, share, one, factor };
        let thirds = footprint.corner.map(|corner| (corner, self.thirds(&scale, corner, weights, value)));
        for number in 0..1 << footprint.fractions.len() {
            self.tap(access, footprint, number, &words, (t, u));
            self.weigh(&scale, number, weights);
            if let Some((corner, thirds)) = thirds {
                self.spread_thirds(number, weights, corner, thirds, t);
            }
            if let Some(nothing) = without_weight(access.info) {
                self.drop_weightless(weights, &words, (t, u), nothing);
            }
            for (k, _, sum) in sums {
                self.decode(access.info, access.component(*k), &words, value, (t, u), &mut None);
                if let Some(reference) = reference {
                    self.compared(access, reference, value);
                }
                if let Some(least) = least {
                    for half in 0..2 {
                        self.widen_half_of(WIDEN, factor, value, half);
                        self.extreme_of_double(sum[half], weights[half], factor, least, (t, u));
                    }
                    continue;
                }
                for half in 0..2 {
                    let begins = number == 0 && is_first;
                    let to = if begins { sum[half] } else { factor };
                    self.widen_half_of(WIDEN, to, value, half);
                    self.double(MUL_DOUBLES, to, weights[half], to);
                    if !begins {
                        self.double(ADD_DOUBLES, sum[half], sum[half], factor);
                    }
                }
            }
        }
    }

    /// `x` becomes the lesser or the greater of itself and `y`, where that has a weight; `t` and `u` are for
    /// its use.
    fn extreme_of_double(&mut self, x: u8, weight: u8, y: u8, least: bool, (t, u): (u8, u8)) {
        self.unary(LOAD, t, Source::Host(x));
        self.bound_doubles(t, y, least);
        self.zero_register(u);
        let weighs = self.compare_doubles(MORE_THAN, weight, u);
        self.choose_doubles(x, weighs, t, x);
    }

    /// The weights of texel `number`, as doubles: of its level, and along each axis of the upper texel or the
    /// lower one.
    pub(super) fn weigh(&mut self, scale: &Scale<'_>, number: usize, weights: [u8; 2]) {
        let Scale { footprint, share, one, factor } = *scale;
        for (half, weight) in weights.into_iter().enumerate() {
            let of_level = share.map(|(rest, upper)| (rest, usize::from(!upper)));
            let axes = footprint.fractions.iter().enumerate();
            let fractions = axes.map(|(n, fraction)| (*fraction, number >> n & 1));
            for (k, (fraction, upper)) in of_level.into_iter().chain(fractions).enumerate() {
                let to = if k == 0 { weight } else { factor };
                self.widen_half_of(WIDEN, to, fraction, half);
                if upper == 0 {
                    self.double(SUB_DOUBLES, to, one, to);
                }
                if k > 0 {
                    self.double(MUL_DOUBLES, weight, weight, factor);
                }
            }
        }
    }

    /// A zero that changes no sum in place of floats that have no weight: infinities would make NaN.
    fn drop_weightless(&mut self, weights: [u8; 2], words: &[u8], (t, u): (u8, u8), nothing: u32) {
        self.spread_bits(t, nothing);
        self.zero_register(u);
        let halves = weights.map(|weight| self.compare_doubles(MORE_THAN, weight, u));
        let [low, high] = halves.map(|k| Register::K0 + u32::from(k));
        self.asm.put(Instruction::with3(X86::VEX_Kunpckbw_kr_kr_kr, low, high, low));
        for word in words {
            self.choose(*word, halves[0], Source::Host(*word), t);
        }
    }
}

/// What weights of texels are made of.
#[derive(Clone, Copy)]
pub(super) struct Scale<'a> {
    footprint: &'a Footprint,
    /// How the levels below share, and whether the footprint is that of the levels above them.
    share: Option<(u8, bool)>,
    /// 1, and a register for use.
    one: u8,
    factor: u8,
}

/// A mean that is made: the results with their numbers, registers, and two times eight doubles for each.
#[derive(Clone, Copy)]
struct Mean<'a> {
    access: &'a SampleAccess,
    sums: &'a [(usize, u16, [u8; 2])],
    reference: Option<u8>,
    /// Whether it is the least or the greatest value instead.
    least: Option<bool>,
}

/// The words of a texel that changes no sum whatever its weight, of formats whose texels may.
fn without_weight(info: &FormatInfo) -> Option<u32> {
    match (info.numeric, info.fields[0].width) {
        (Numeric::Sfloat, 16) => Some(0x8000_8000),
        (Numeric::Sfloat, _) => Some(0x8000_0000),
        (Numeric::Ufloat, _) => Some(0),
        _ => None,
    }
}
