//! Vector instructions, each in its form for 16 lanes (AVX-512) and for 8 (AVX2).

use iced_x86::Code;

/// How wide vector instructions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// 8 lanes, 16 registers.
    Avx2,
    /// 16 lanes, 32 registers and 7 of masks.
    Avx512,
}

impl Form {
    /// Instructions that the 32 lanes take.
    pub fn parts(self) -> usize {
        match self {
            Form::Avx2 => 4,
            Form::Avx512 => 2,
        }
    }

    /// Vector registers.
    pub fn registers(self) -> u8 {
        match self {
            Form::Avx2 => 16,
            Form::Avx512 => 32,
        }
    }
}

/// An instruction: for 16 lanes, for 8.
#[derive(Clone, Copy)]
pub(super) struct Operation(pub Code, pub Code);

macro_rules! operations {
    ($($name:ident: $wide:ident, $narrow:ident;)*) => {
        $(pub(super) const $name: Operation = Operation(Code::$wide, Code::$narrow);)*
    };
}
operations! {
    LOAD: EVEX_Vmovdqa32_zmm_k1z_zmmm512, VEX_Vmovdqa_ymm_ymmm256;
    STORE: EVEX_Vmovdqa32_zmmm512_k1z_zmm, VEX_Vmovdqa_ymmm256_ymm;
    ADD: EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, VEX_Vpaddd_ymm_ymm_ymmm256;
    SUB: EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, VEX_Vpsubd_ymm_ymm_ymmm256;
    MUL: EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, VEX_Vpmulld_ymm_ymm_ymmm256;
    AND: EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, VEX_Vpand_ymm_ymm_ymmm256;
    AND_NOT: EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32, VEX_Vpandn_ymm_ymm_ymmm256;
    OR: EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, VEX_Vpor_ymm_ymm_ymmm256;
    XOR: EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, VEX_Vpxor_ymm_ymm_ymmm256;
    S_MIN: EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32, VEX_Vpminsd_ymm_ymm_ymmm256;
    S_MAX: EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, VEX_Vpmaxsd_ymm_ymm_ymmm256;
    U_MIN: EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, VEX_Vpminud_ymm_ymm_ymmm256;
    U_MAX: EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32, VEX_Vpmaxud_ymm_ymm_ymmm256;
    ABS: EVEX_Vpabsd_zmm_k1z_zmmm512b32, VEX_Vpabsd_ymm_ymmm256;
    SHL: EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32, VEX_Vpsllvd_ymm_ymm_ymmm256;
    SHR: EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32, VEX_Vpsrlvd_ymm_ymm_ymmm256;
    SAR: EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32, VEX_Vpsravd_ymm_ymm_ymmm256;
    SHL_BY: EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, VEX_Vpslld_ymm_ymm_imm8;
    SHR_BY: EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, VEX_Vpsrld_ymm_ymm_imm8;
    SAR_BY: EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8, VEX_Vpsrad_ymm_ymm_imm8;
    SHL_HALVES_BY: EVEX_Vpsllw_zmm_k1z_zmmm512_imm8, VEX_Vpsllw_ymm_ymm_imm8;
    SHR_HALVES_BY: EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8, VEX_Vpsrlw_ymm_ymm_imm8;
    SAR_HALVES_BY: EVEX_Vpsraw_zmm_k1z_zmmm512_imm8, VEX_Vpsraw_ymm_ymm_imm8;
    MUL_ADD_HALVES: EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512, VEX_Vpmaddwd_ymm_ymm_ymmm256;
    WORDS_OF_FOUR: EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8, VEX_Vpshufd_ymm_ymmm256_imm8;
    F_ADD: EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, VEX_Vaddps_ymm_ymm_ymmm256;
    F_SUB: EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, VEX_Vsubps_ymm_ymm_ymmm256;
    F_MUL: EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, VEX_Vmulps_ymm_ymm_ymmm256;
    F_DIV: EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, VEX_Vdivps_ymm_ymm_ymmm256;
    F_MIN: EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae, VEX_Vminps_ymm_ymm_ymmm256;
    F_MAX: EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae, VEX_Vmaxps_ymm_ymm_ymmm256;
    F_SQRT: EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, VEX_Vsqrtps_ymm_ymmm256;
    F_ROUND: EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, VEX_Vroundps_ymm_ymmm256_imm8;
    F_FROM_S: EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, VEX_Vcvtdq2ps_ymm_ymmm256;
    F_TO_S: EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, VEX_Vcvttps2dq_ymm_ymmm256;
    F_COMPARE: EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
}

/// Constants that stand before the code, in every lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Constant {
    Sign,
    Magnitude,
    ShiftBits,
    Ones,
    Nan,
    One,
    FloatOne,
    Infinity,
    TwoTo31,
    /// For the conversion of unsigned numbers: the low half as a fraction of 2^23, the high half of 2^39, and
    /// both exponents' surplus.
    LowHalf,
    Low,
    High,
    Surplus,
    Three,
    HalfNan,
    PairShiftBits,
    WordBits,
    /// Bit `j` of the part's lanes in lane `j`, for each of the four parts.
    Lanes0,
    Lanes1,
    Lanes2,
    Lanes3,
    /// 16 lanes: their distances in bytes, for each number of bytes that a lane may have.
    Steps1,
    Steps2,
    Steps4,
    Steps8,
    Steps16,
    /// The numbers of the second part's lanes; [`Constant::Steps1`] has those of the first.
    UpperLanes,
    /// Of two registers, every second word.
    Even,
    Odd,
    /// Of two registers, every fourth word from the first on, then from the next one on.
    Fourths01,
    Fourths23,
    /// Words of two registers in turn, those of their lower and of their upper halves.
    PairsLow,
    PairsHigh,
    /// The same for pairs of words.
    QuadsLow,
    QuadsHigh,
    /// All bits of the odd words.
    OddOnes,
    /// 2^52 as floats of 64 bits: the integers above it are told by their low words.
    TwoTo52,
}

/// Bytes of a constant.
pub(super) const STRIDE: usize = 64;

impl Constant {
    /// Where the last of them ends.
    pub const END: i64 = (Constant::TwoTo52 as i64 + 1) * STRIDE as i64;

    /// Where it stands.
    pub fn place(self) -> i64 {
        self as i64 * STRIDE as i64
    }

    /// The bits of a part's lanes.
    pub fn lanes(part: usize) -> Constant {
        [Constant::Lanes0, Constant::Lanes1, Constant::Lanes2, Constant::Lanes3][part]
    }

    /// The bytes of all of them.
    pub fn table() -> Vec<u8> {
        let words: [u32; 17] = [
            0x8000_0000,
            0x7fff_ffff,
            31,
            u32::MAX,
            0x7fc0_0000,
            1,
            0x3f80_0000,
            0x7f80_0000,
            0x4f00_0000,
            0xffff,
            0x4b00_0000,
            0x5300_0000,
            0x5300_0080,
            3,
            0x7e00,
            63,
            32,
        ];
        let constants = words.into_iter().flat_map(|word| [word; 16]);
        let bits = (0..4).flat_map(|part| (0..16).map(move |j| if j < 8 { 1 << (8 * part + j) } else { 0 }));
        let rows: [fn(u32) -> u32; 16] = [
            |i| i,
            |i| 2 * i,
            |i| 4 * i,
            |i| 8 * i,
            |i| 16 * i,
            |i| i + 16,
            |i| 2 * i,
            |i| 2 * i + 1,
            |i| 4 * (i % 8) + i / 8,
            |i| 4 * (i % 8) + i / 8 + 2,
            |i| i / 2 + 16 * (i % 2),
            |i| i / 2 + 16 * (i % 2) + 8,
            |i| if i % 2 == 0 { i / 4 + 4 * (i & 2) } else { 0 },
            |i| if i % 2 == 0 { i / 4 + 4 * (i & 2) + 4 } else { 0 },
            |i| 0u32.wrapping_sub(i % 2),
            |i| i % 2 * 0x4330_0000,
        ];
        let rows = rows.into_iter().flat_map(|row| (0..16).map(row));
        constants.chain(bits).chain(rows).flat_map(u32::to_le_bytes).collect()
    }
}

/// Predicates of comparisons of floats.
pub(super) const EQUAL: u32 = 0x00;
pub(super) const UNORDERED: u32 = 0x03;
pub(super) const NOT_EQUAL: u32 = 0x04;
pub(super) const EQUAL_OR_UNORDERED: u32 = 0x08;
pub(super) const ORDERED_NOT_EQUAL: u32 = 0x0c;
pub(super) const GREATER_EQUAL: u32 = 0x1d;
pub(super) const LESS: u32 = 0x11;
pub(super) const MORE_THAN: u32 = 0x1e;
pub(super) const LESS_EQUAL: u32 = 0x12;
pub(super) const NOT_GREATER_EQUAL: u32 = 0x19;
pub(super) const NOT_GREATER: u32 = 0x1a;
/// Predicates of comparisons of integers.
pub(super) const I_EQUAL: u32 = 0;
pub(super) const I_LESS: u32 = 1;
pub(super) const I_LESS_EQUAL: u32 = 2;
pub(super) const I_NOT_EQUAL: u32 = 4;
pub(super) const I_NOT_LESS: u32 = 5;
pub(super) const I_MORE: u32 = 6;
/// Rounding, nothing told.
pub(super) const TO_EVEN: u32 = 8;
pub(super) const DOWN: u32 = 9;
pub(super) const UP: u32 = 10;
pub(super) const TO_ZERO: u32 = 11;

/// Of eight doubles each.
pub(super) const ADD_DOUBLES: Code = Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
pub(super) const SUB_DOUBLES: Code = Code::EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
pub(super) const MUL_DOUBLES: Code = Code::EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
pub(super) const DIV_DOUBLES: Code = Code::EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
pub(super) const MIN_DOUBLES: Code = Code::EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
pub(super) const MAX_DOUBLES: Code = Code::EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
pub(super) const WIDEN: Code = Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
/// The upper half of a register, and two halves as one.
pub(super) const UPPER: Code = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
pub(super) const JOIN: Code = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
