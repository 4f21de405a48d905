//! Which levels lanes read (*LOD Operation* and *Image Level(s) Selection*), in the order of operations of
//! [`crate::ops::image`], and what there is of each lane's level.

use super::*;
use crate::ir::ImageSampling;
use crate::ops::image::level::MAX_LOD_BIAS;

/// The registers that say which level an instruction wants.
pub(in crate::native) struct Wanted {
    /// The LOD itself, but for its bias.
    lod: Option<u16>,
    /// Derivatives of the coordinates: those along x, those along y.
    along: [SmallVec<[u16; 3]>; 2],
    bias: Option<u16>,
    /// The LOD is at least this.
    least: Option<u16>,
}

impl Wanted {
    /// Those of an instruction whose argument `from` is the first of them, and the number of the argument
    /// behind them.
    pub fn of(
        how: &ImageSampling,
        axes: usize,
        from: usize,
        register: impl Fn(usize) -> Option<u16>,
    ) -> Option<(Wanted, usize)> {
        let mut next = from;
        let mut take = |count: usize| {
            let taken = (next..next + count).map(&register).collect::<Option<SmallVec<[u16; 3]>>>();
            next += count;
            taken
        };
        let derivatives = axes * usize::from(how.derivatives);
        let along = [take(derivatives)?, take(derivatives)?];
        let lod = take(usize::from(!how.derivatives))?.first().copied();
        let bias = take(usize::from(how.bias))?.first().copied();
        let least = take(usize::from(how.min_lod))?.first().copied();
        Some((Wanted { lod, along, bias, least }, next))
    }
}

/// What lanes read where they choose levels.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// The level, or of two the one above.
    pub high: u8,
    /// The share of the level below, a float, if there may be one.
    pub rest: Option<u8>,
}

impl Part<'_> {
    /// The levels of all lanes, if they are not known.
    pub(super) fn level(&mut self, access: &SampleAccess) -> Option<Level> {
        if access.filter.levels == Levels::Known {
            return None;
        }
        let [high, rest] = self.keep(|part| part.levels(access));
        let several = access.filter.levels == Levels::Linear;
        if !several {
            self.free(rest);
        }
        Some(Level { high, rest: several.then_some(rest) })
    }

    /// The levels that lanes read first become those below them, where these have a share.
    pub(super) fn step_below(&mut self, Level { high, rest }: Level) {
        let Some(rest) = rest else { return };
        self.for_a_while(|part| {
            let zero = part.zero();
            let shares = part.compare_floats(MORE_THAN, rest, Source::Host(zero));
            let (wide, one) = (part.host(high), part.constant(Constant::One));
            part.masked(shares, Instruction::with3(ADD.0, wide, wide, one));
        });
    }

    /// The level or of two the one above, and the share of the other.
    fn levels(&mut self, access: &SampleAccess) -> [u8; 2] {
        let (level, rest, t) = (self.temporary(), self.temporary(), self.temporary());
        self.lod(access, level, t);
        self.spread_field(access.slot, Raster::LEAST, t);
        if let Some(register) = access.wanted.least {
            let given = self.read(register);
            self.limit(t, given, F_MAX, AND);
        }
        self.limit(level, t, F_MAX, AND);
        self.spread_field(access.slot, Raster::MOST, t);
        self.limit(level, t, F_MIN, OR);
        self.zero_register(t);
        self.limit(level, t, F_MAX, AND);
        self.spread_field(access.slot, Raster::LAST, t);
        self.limit(level, t, F_MIN, OR);
        if access.filter.levels == Levels::Linear {
            self.by(F_ROUND, t, level, DOWN);
            self.binary(F_SUB, rest, level, Source::Host(t));
            self.unary(F_TO_S, level, Source::Host(t));
            return [level, rest];
        }
        self.with_float(F_ADD, level, level, 0.5);
        self.by(F_ROUND, level, level, UP);
        self.with_float(F_SUB, level, level, 1.0);
        self.binary(F_MIN, level, level, Source::Host(t));
        self.zero_register(t);
        self.binary(F_MAX, level, level, Source::Host(t));
        self.unary(F_TO_S, level, Source::Host(level));
        [level, rest]
    }

    /// `x` becomes the greater or the lesser of itself and a limit; the limit, if it is no number.
    fn limit(&mut self, x: u8, limit: u8, operation: Operation, of_zeros: Operation) {
        self.for_a_while(|part| {
            let limited = part.bound(x, limit, operation, of_zeros);
            part.unary(LOAD, x, Source::Host(limited));
        });
    }

    /// LODs after the bias, to `lod`; `t` is for its use. RAX is where the table of rasters is.
    fn lod(&mut self, access: &SampleAccess, lod: u8, t: u8) {
        let wanted = &access.wanted;
        match wanted.lod {
            Some(register) => {
                let given = self.read(register);
                self.unary(LOAD, lod, Source::Host(given));
                self.rasters();
            }
            None => self.scale_factor(access, lod, t),
        }
        self.spread_field(access.slot, Raster::BIAS, t);
        if let Some(register) = wanted.bias {
            let given = self.read(register);
            self.binary(F_ADD, t, t, Source::Host(given));
            self.for_a_while(|part| {
                let limit = part.temporary();
                part.spread_float(limit, -MAX_LOD_BIAS);
                part.limit(t, limit, F_MAX, AND);
                part.spread_float(limit, MAX_LOD_BIAS);
                part.limit(t, limit, F_MIN, OR);
            });
        }
        self.binary(F_ADD, lod, lod, Source::Host(t));
    }

    /// *Scale Factor Operation*, to `lod`: the logarithm of the longer one of two steps, in texels. `t` is
    /// for its use.
    fn scale_factor(&mut self, access: &SampleAccess, lod: u8, t: u8) {
        self.for_a_while(|part| {
            let squares = [part.temporary(), part.temporary()];
            for (sum, registers) in squares.into_iter().zip(&access.wanted.along) {
                part.for_a_while(|part| {
                    let mut along: SmallVec<[u8; 3]> =
                        registers.iter().map(|register| part.read(*register)).collect();
                    if let ([x, y, z], true) = (along.as_slice(), access.cube) {
                        along = SmallVec::from_slice(&part.along_faces(access, [*x, *y, *z]));
                    }
                    part.rasters();
                    for (k, along) in along.into_iter().enumerate() {
                        part.spread_field(access.slot, Raster::EXTENT + k * size_of::<u32>(), t);
                        part.unary(F_FROM_S, t, Source::Host(t));
                        part.binary(F_MUL, t, along, Source::Host(t));
                        let to = if k == 0 { sum } else { t };
                        part.binary(F_MUL, to, t, Source::Host(t));
                        if k > 0 {
                            part.binary(F_ADD, sum, sum, Source::Host(t));
                        }
                    }
                });
            }
            let longer = part.bound(squares[0], squares[1], F_MAX, AND);
            let log = part.log2_of(longer);
            part.with_float(F_MUL, lod, log, 0.5);
            part.rasters();
        });
    }

    /// Result `k` of two texels, those of the level above and of the one below, which has the share `rest`;
    /// where that is 0, the first is passed on bit by bit.
    pub(super) fn between(
        &mut self,
        access: &SampleAccess,
        k: usize,
        words: [&[u8]; 2],
        rest: u8,
        tu: (u8, u8),
        (to, reference): (u16, Option<u8>),
    ) {
        if !self.reads[usize::from(to)] {
            return;
        }
        let values = words.map(|words| {
            let value = self.temporary();
            self.decode(access.info, access.component(k), words, value, tu, &mut None);
            if let Some(reference) = reference {
                self.compared(access, reference, value);
            }
            value
        });
        if matches!(access.component(k), Component::Constant(_)) {
            return self.set(to, values[0]);
        }
        let halves = [0, 1].map(|half| {
            let [sum, weight, one] = std::array::from_fn(|_| self.temporary());
            self.spread_double(one, 1.0);
            self.widen_half_of(WIDEN, weight, rest, half);
            self.double(SUB_DOUBLES, one, one, weight);
            self.widen_half_of(WIDEN, sum, values[0], half);
            self.double(MUL_DOUBLES, sum, one, sum);
            self.widen_half_of(WIDEN, one, values[1], half);
            self.double(MUL_DOUBLES, one, weight, one);
            self.double(ADD_DOUBLES, sum, sum, one);
            sum
        });
        self.narrow_both(halves);
        let (mean, t) = (halves[0], tu.0);
        self.zero_register(t);
        let shares = self.compare_floats(MORE_THAN, rest, Source::Host(t));
        let nan = self.compare_floats(UNORDERED, mean, Source::Host(mean));
        self.choose(mean, nan, Source::Constant(Constant::Nan), mean);
        self.choose(mean, shares, Source::Host(mean), values[0]);
        self.set(to, mean);
    }
}
