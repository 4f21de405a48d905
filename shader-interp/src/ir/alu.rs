//! Arithmetic and logic: one table, in which each operation is one row.
//!
//! A row says what the front end, the passes and the code generator have to know of an operation:
//!
//! ```text
//! Name    Operands number -> results [marks] (instructions on 32 bits) (on 64 bits) where it comes from;
//! ```
//!
//! - *Operands*: their types ([`Operands`]), and how many there are. *Results*: their types ([`Gives`]).
//! - *Marks*: what else holds of it ([`Mark`]).
//! - *Instructions*: the rows of [`crate::code::isa`] that compute it. One for each result, unless a mark
//!   says otherwise. None: not implemented for that width. Values of 8 and 16 bits are computed on 32 bits
//!   and cut off, 16-bit floats on 32 bits and rounded. Constants fold by the same instructions.
//! - *Where it comes from*: the SPIR-V instruction that it is, component by component: `op` for an
//!   instruction of the core language or of an extension, `swapped` for one with its operands in the other
//!   order, `glsl` for one of GLSL.std.450. Operations without one are written out in [`crate::spirv`].

use super::Scalar;

/// Calls `$then!` with the table.
macro_rules! alu_table {
    ($then:ident) => {
        $then! {
            // Integers. All wrap; division by zero gives 0.
            IAdd Integer 2 -> Same [Commutes Cheap] (IAdd) (IAdd64) op IAdd;
            ISub Integer 2 -> Same [Cheap] (ISub) (ISub64) op ISub;
            IMul Integer 2 -> Same [Commutes Cheap] (IMul) (IMul64) op IMul;
            SNegate Integer 1 -> Same [Cheap] (SNegate) (SNegate64) op SNegate;
            UDiv Integer 2 -> Same [Divides] (UDiv) (UDiv64) op UDiv;
            SDiv Integer 2 -> Same [Signed Divides] (SDiv) (SDiv64) op SDiv;
            UMod Integer 2 -> Same [Divides] (UMod) (UMod64) op UMod;
            SRem Integer 2 -> Same [Signed Divides] (SRem) (SRem64) op SRem;
            SMod Integer 2 -> Same [Signed Divides] (SMod) (SMod64) op SMod;
            /// Sum and carry.
            IAddCarry Integer 2 -> Same Same [High] (IAdd AddCarry) (IAdd64 AddCarry64) op IAddCarry;
            /// Difference and borrow.
            ISubBorrow Integer 2 -> Same Same [] (ISub SubBorrow) (ISub64 SubBorrow64) op ISubBorrow;
            /// Low and high half.
            UMulExtended Integer 2 -> Same Same [High] (IMul UMulHigh) (IMul64 UMulHigh64) op UMulExtended;
            /// Low and high half.
            SMulExtended Integer 2 -> Same Same [Signed High] (IMul SMulHigh) (IMul64 SMulHigh64)
                op SMulExtended;
            And Integer 2 -> Same [Commutes Cheap Masks Bitwise] (And) () op BitwiseAnd;
            Or Integer 2 -> Same [Commutes Cheap Packs Bitwise] (Or) () op BitwiseOr;
            Xor Integer 2 -> Same [Commutes Cheap Packs Bitwise] (Xor) () op BitwiseXor;
            Not Integer 1 -> Same [Cheap Bitwise] (Not) () op Not;
            /// Value, amount (I32). A shift by the width or more shifts by the amount modulo the width.
            ShiftLeft Integer 2 -> Same [Cheap Packs Shifts] (ShiftLeft) (ShiftLeft64);
            /// As for `ShiftLeft`.
            ShiftRightLogical Integer 2 -> Same [Cheap Shifts] (ShiftRightLogical) (ShiftRightLogical64);
            /// As for `ShiftLeft`.
            ShiftRightArithmetic Integer 2 -> Same [Cheap Signed Shifts]
                (ShiftRightArithmetic) (ShiftRightArithmetic64);
            BitReverse Integer 1 -> Same [FromTop] (BitReverse) (BitReverse64) op BitReverse;
            BitCount Integer 1 -> Word [] (BitCount) (BitCount64) op BitCount;
            /// Base, insert, offset (I32), count (I32).
            BitFieldInsert Integer 4 -> Same [Masks] (BitFieldInsert) (BitFieldInsert64);
            /// Base, offset (I32), count (I32).
            BitFieldSExtract Integer 3 -> Same [] (BitFieldSExtract) (BitFieldSExtract64);
            /// As for `BitFieldSExtract`.
            BitFieldUExtract Integer 3 -> Same [] (BitFieldUExtract) (BitFieldUExtract64);
            FindILsb Integer 1 -> Word [] (FindILsb) (FindILsb64) glsl FindILsb;
            FindSMsb Integer 1 -> Word [Signed] (FindSMsb) (FindSMsb64) glsl FindSMsb;
            FindUMsb Integer 1 -> Word [] (FindUMsb) (FindUMsb64) glsl FindUMsb;
            SAbs Integer 1 -> Same [Signed] (SAbs) (SAbs64) glsl SAbs;
            SSign Integer 1 -> Same [Signed] (SSign) (SSign64) glsl SSign;
            /// |x - y|, unsigned.
            SDistance Integer 2 -> Same [Signed] (SDistance) (SDistance64) op AbsISubINTEL;
            UDistance Integer 2 -> Same [] (UDistance) (UDistance64) op AbsUSubINTEL;
            SAddSat Integer 2 -> Same [AtTop] (SAddSat) (SAddSat64) op IAddSatINTEL;
            UAddSat Integer 2 -> Same [AtTop] (UAddSat) (UAddSat64) op UAddSatINTEL;
            SSubSat Integer 2 -> Same [AtTop] (SSubSat) (SSubSat64) op ISubSatINTEL;
            USubSat Integer 2 -> Same [AtTop] (USubSat) (USubSat64) op USubSatINTEL;
            SAverage Integer 2 -> Same [Signed] (SAverage) (SAverage64) op IAverageINTEL;
            UAverage Integer 2 -> Same [] (UAverage) (UAverage64) op UAverageINTEL;
            /// Halves are rounded up.
            SAverageRounded Integer 2 -> Same [Signed] (SAverageRounded) (SAverageRounded64)
                op IAverageRoundedINTEL;
            /// Halves are rounded up.
            UAverageRounded Integer 2 -> Same [] (UAverageRounded) (UAverageRounded64)
                op UAverageRoundedINTEL;
            SMin Integer 2 -> Same [Signed Cheap] (SMin) (SMin64) glsl SMin;
            UMin Integer 2 -> Same [Cheap] (UMin) (UMin64) glsl UMin;
            SMax Integer 2 -> Same [Signed Cheap] (SMax) (SMax64) glsl SMax;
            UMax Integer 2 -> Same [Cheap] (UMax) (UMax64) glsl UMax;
            SClamp Integer 3 -> Same [Signed Chained] (SMax SMin) (SMax64 SMin64) glsl SClamp;
            UClamp Integer 3 -> Same [Chained] (UMax UMin) (UMax64 UMin64) glsl UClamp;
            IEqual Integer 2 -> Bool [Commutes Cheap] (IEqual) (IEqual64) op IEqual;
            INotEqual Integer 2 -> Bool [Commutes Cheap] (INotEqual) (INotEqual64) op INotEqual;
            ULess Integer 2 -> Bool [Cheap] (ULess) (ULess64) op ULessThan swapped UGreaterThan;
            ULessEqual Integer 2 -> Bool [Cheap] (ULessEqual) (ULessEqual64)
                op ULessThanEqual swapped UGreaterThanEqual;
            SLess Integer 2 -> Bool [Signed Cheap] (SLess) (SLess64) op SLessThan swapped SGreaterThan;
            SLessEqual Integer 2 -> Bool [Signed Cheap] (SLessEqual) (SLessEqual64)
                op SLessThanEqual swapped SGreaterThanEqual;

            // Floats.
            FAdd Float 2 -> Same [Commutes Cheap Exact] (FAdd) (FAdd64) op FAdd;
            FSub Float 2 -> Same [Cheap Exact] (FSub) (FSub64) op FSub;
            FMul Float 2 -> Same [Commutes Cheap Exact] (FMul) (FMul64) op FMul;
            FDiv Float 2 -> Same [Exact] (FDiv) (FDiv64) op FDiv;
            FRem Float 2 -> Same [] (FRem) (FRem64) op FRem;
            FMod Float 2 -> Same [] (FMod) (FMod64) op FMod;
            FNegate Float 1 -> Same [Cheap Exact] (FNegate) (FNegate64) op FNegate;
            /// One rounding or two.
            Fma Float 3 -> Same [] (FMulAdd) (FMulAdd64) glsl Fma;
            FAbs Float 1 -> Same [Cheap Exact] (FAbs) (FAbs64) glsl FAbs;
            FSign Float 1 -> Same [] (FSign) (FSign64) glsl FSign;
            Floor Float 1 -> Same [] (Floor) (Floor64) glsl Floor;
            Ceil Float 1 -> Same [] (Ceil) (Ceil64) glsl Ceil;
            Trunc Float 1 -> Same [] (Trunc) (Trunc64) glsl Trunc;
            Round Float 1 -> Same [] (Round) (Round64) glsl Round;
            RoundEven Float 1 -> Same [] (RoundEven) (RoundEven64) glsl RoundEven;
            Fract Float 1 -> Same [] (Fract) (Fract64) glsl Fract;
            FMin Float 2 -> Same [] (FMin) (FMin64) glsl FMin;
            FMax Float 2 -> Same [] (FMax) (FMax64) glsl FMax;
            FClamp Float 3 -> Same [] (FClamp) (FClamp64) glsl FClamp;
            NMin Float 2 -> Same [] (NMin) (NMin64) glsl NMin;
            NMax Float 2 -> Same [] (NMax) (NMax64) glsl NMax;
            NClamp Float 3 -> Same [] (NClamp) (NClamp64) glsl NClamp;
            FMix Float 3 -> Same [] (FMix) (FMix64) glsl FMix;
            Step Float 2 -> Same [] (Step) (Step64) glsl Step;
            SmoothStep Float 3 -> Same [] (SmoothStep) (SmoothStep64) glsl SmoothStep;
            Sqrt Float 1 -> Same [] (Sqrt) (Sqrt64) glsl Sqrt;
            InverseSqrt Float 1 -> Same [] (InverseSqrt) (InverseSqrt64) glsl InverseSqrt;
            Exp Float 1 -> Same [] (Exp) () glsl Exp;
            Exp2 Float 1 -> Same [] (Exp2) () glsl Exp2;
            Log Float 1 -> Same [] (Log) () glsl Log;
            Log2 Float 1 -> Same [] (Log2) () glsl Log2;
            Pow Float 2 -> Same [] (Pow) () glsl Pow;
            Sin Float 1 -> Same [] (Sin) () glsl Sin;
            Cos Float 1 -> Same [] (Cos) () glsl Cos;
            Tan Float 1 -> Same [] (Tan) () glsl Tan;
            Asin Float 1 -> Same [] (Asin) () glsl Asin;
            Acos Float 1 -> Same [] (Acos) () glsl Acos;
            Atan Float 1 -> Same [] (Atan) () glsl Atan;
            Atan2 Float 2 -> Same [] (Atan2) () glsl Atan2;
            Sinh Float 1 -> Same [] (Sinh) () glsl Sinh;
            Cosh Float 1 -> Same [] (Cosh) () glsl Cosh;
            Tanh Float 1 -> Same [] (Tanh) () glsl Tanh;
            Asinh Float 1 -> Same [] (Asinh) () glsl Asinh;
            Acosh Float 1 -> Same [] (Acosh) () glsl Acosh;
            Atanh Float 1 -> Same [] (Atanh) () glsl Atanh;
            /// Value, exponent (I32).
            Ldexp Float 2 -> Same [] (Ldexp) (Ldexp64);
            /// Significand and exponent.
            Frexp Float 1 -> Same Word [] (FrexpSignificand FrexpExponent)
                (FrexpSignificand64 FrexpExponent64);
            /// Fraction and whole part.
            Modf Float 1 -> Same Same [] (ModfFraction ModfWhole) (ModfFraction64 ModfWhole64);
            /// Rounded to 16 bits and back.
            QuantizeToF16 Single 1 -> Same [Exact] (QuantizeToF16) () op QuantizeToF16;
            // To and from floats of 16 and 8 bits that are not those of IEEE 754, as bits.
            RoundToBfloat16 Single 1 -> Word [Exact] (F32ToBfloat16) ();
            RoundToE4m3 Single 1 -> Word [Exact] (F32ToE4m3) ();
            SaturateToE4m3 Single 1 -> Word [Exact] (F32ToE4m3Saturated) ();
            RoundToE5m2 Single 1 -> Word [Exact] (F32ToE5m2) ();
            SaturateToE5m2 Single 1 -> Word [Exact] (F32ToE5m2Saturated) ();
            E4m3ToSingle Word 1 -> Single [] (E4m3ToF32) ();
            FOrdEqual Float 2 -> Bool [Cheap Exact] (FOrdEqual) (FOrdEqual64) op FOrdEqual;
            FOrdNotEqual Float 2 -> Bool [Exact] (FOrdNotEqual) (FOrdNotEqual64) op FOrdNotEqual;
            FOrdLess Float 2 -> Bool [Cheap Exact] (FOrdLess) (FOrdLess64)
                op FOrdLessThan swapped FOrdGreaterThan;
            FOrdLessEqual Float 2 -> Bool [Cheap Exact] (FOrdLessEqual) (FOrdLessEqual64)
                op FOrdLessThanEqual swapped FOrdGreaterThanEqual;
            FUnordEqual Float 2 -> Bool [Exact] (FUnordEqual) (FUnordEqual64) op FUnordEqual;
            FUnordNotEqual Float 2 -> Bool [Cheap Exact] (FUnordNotEqual) (FUnordNotEqual64)
                op FUnordNotEqual;
            FUnordLess Float 2 -> Bool [Exact] (FUnordLess) (FUnordLess64)
                op FUnordLessThan swapped FUnordGreaterThan;
            FUnordLessEqual Float 2 -> Bool [Exact] (FUnordLessEqual) (FUnordLessEqual64)
                op FUnordLessThanEqual swapped FUnordGreaterThanEqual;
            IsNan Float 1 -> Bool [Raw] (IsNan) (IsNan64) op IsNan;
            IsInf Float 1 -> Bool [Raw] (IsInf) (IsInf64) op IsInf;

            // Booleans.
            LogicalAnd Logical 2 -> Bool [Cheap] (MaskAnd) () op LogicalAnd;
            LogicalOr Logical 2 -> Bool [Cheap] (MaskOr) () op LogicalOr;
            LogicalNot Logical 1 -> Bool [Cheap] (MaskNot) () op LogicalNot;
            LogicalEqual Logical 2 -> Bool [Cheap] (MaskEqual) () op LogicalEqual;
            LogicalNotEqual Logical 2 -> Bool [Cheap] (MaskXor) () op LogicalNotEqual;
            /// Condition (Bool), value if it holds, value if not (of any type).
            Select Any 3 -> Chosen [Cheap] (Select) (Select64);

            // Packing.
            PackHalf2x16 Single 2 -> Word [Packs Vector] (PackHalf2x16) () glsl PackHalf2x16;
            UnpackHalf2x16 Word 1 -> Single Single [Vector] (UnpackHalfLow UnpackHalfHigh) ()
                glsl UnpackHalf2x16;
            PackSnorm4x8 Single 4 -> Word [Packs Vector] (PackSnorm4x8) () glsl PackSnorm4x8;
            PackUnorm4x8 Single 4 -> Word [Packs Vector] (PackUnorm4x8) () glsl PackUnorm4x8;
            PackSnorm2x16 Single 2 -> Word [Packs Vector] (PackSnorm2x16) () glsl PackSnorm2x16;
            PackUnorm2x16 Single 2 -> Word [Packs Vector] (PackUnorm2x16) () glsl PackUnorm2x16;
            UnpackSnorm4x8 Word 1 -> Single Single Single Single [Vector Numbered] (UnpackSnorm8) ()
                glsl UnpackSnorm4x8;
            UnpackUnorm4x8 Word 1 -> Single Single Single Single [Vector Numbered] (UnpackUnorm8) ()
                glsl UnpackUnorm4x8;
            UnpackSnorm2x16 Word 1 -> Single Single [Vector Numbered] (UnpackSnorm16) () glsl UnpackSnorm2x16;
            UnpackUnorm2x16 Word 1 -> Single Single [Vector Numbered] (UnpackUnorm16) () glsl UnpackUnorm2x16;

            // Dot products of vectors of four 8-bit integers packed into a word; the saturating ones add a
            // third operand to it.
            SDot4x8 Word 2 -> Word [] (SDot4x8) ();
            UDot4x8 Word 2 -> Word [] (UDot4x8) ();
            SUDot4x8 Word 2 -> Word [] (SUDot4x8) ();
            SDotAccSat4x8 Word 3 -> Word [] (SDotAccSat4x8) ();
            UDotAccSat4x8 Word 3 -> Word [] (UDotAccSat4x8) ();
            SUDotAccSat4x8 Word 3 -> Word [] (SUDotAccSat4x8) ();
        }
    };
}
pub(crate) use alu_table;

/// The types of an operation's operands. All have the same type where its row says nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// Integers of any width.
    Integer,
    /// Floats of any width.
    Float,
    /// Floats of 32 bits.
    Single,
    /// Integers of 32 bits.
    Word,
    /// Booleans.
    Logical,
    /// As the row says.
    Any,
}

impl Operands {
    /// True for a type that an operand may have.
    pub fn take(self, scalar: Scalar) -> bool {
        match self {
            Operands::Integer => !scalar.is_float() && scalar != Scalar::Bool,
            Operands::Float => scalar.is_float(),
            Operands::Single => scalar == Scalar::F32,
            Operands::Word => scalar == Scalar::I32,
            Operands::Logical => scalar == Scalar::Bool,
            Operands::Any => true,
        }
    }
}

/// The type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// That of the first operand.
    Same,
    /// That of the last operand.
    Chosen,
    /// A truth value for each lane.
    Bool,
    /// I32, whatever the operands' width. The front end converts it to the result type of the instruction,
    /// with its sign.
    Word,
    /// F32.
    Single,
}

/// What else holds of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// The operands may be swapped.
    Commutes,
    /// It takes no longer than a branch.
    Cheap,
    /// The operands are signed integers.
    Signed,
    /// The second operand is a divisor: 0 is worth a note.
    Divides,
    /// The second operand is a number of bits, taken modulo the width.
    Shifts,
    /// All conforming executions give the same bits for operands and results that are zero or normal, so that
    /// constants fold.
    Exact,
    /// Denormal operands are not flushed, whatever the mode.
    Raw,
    /// The operands are the components of one vector, and the results are.
    Vector,
    /// It puts components side by side as they are: an undefined one among defined ones is no use of it.
    Packs,
    /// It may replace bits of an operand, so that the result of undefined ones counts as defined.
    Masks,
    /// On 64 bits each word is computed for itself.
    Bitwise,
    /// On 8 and 16 bits the result stands in the high bits.
    FromTop,
    /// On 8 and 16 bits it is computed on the high bits: it saturates there.
    AtTop,
    /// On 8 and 16 bits the second result stands above the first.
    High,
    /// The second instruction takes the result of the first one and the last operand.
    Chained,
    /// The instruction takes the number of the result as another operand.
    Numbered,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Types of the operands.
    pub takes: Operands,
    /// Number of operands.
    pub operands: usize,
    /// Types of the results.
    pub results: &'static [Gives],
    /// A bit for each [`Mark`].
    marks: u32,
}

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident $takes:ident $operands:literal -> $($result:ident)+ [$($mark:ident)*]
        ($($code:ident)*) ($($code_64:ident)*) $(op $op:ident)? $(swapped $swapped:ident)? $(glsl $glsl:ident)?;
    )*) => {
        /// An operation on values of one scalar type; see [`crate::ir`]'s table for its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Alu {
            $($(#[$doc])* $name,)*
        }

        impl Alu {
            /// All operations, in the table's order.
            pub const ALL: &[Alu] = &[$(Alu::$name,)*];
        }

        static ROWS: &[Row] = &[$(Row {
            takes: Operands::$takes,
            operands: $operands,
            results: &[$(Gives::$result),+],
            marks: 0 $(| 1 << Mark::$mark as u32)*,
        },)*];
    };
}
alu_table!(define);

impl Alu {
    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Whether its row has a mark.
    pub fn has(self, mark: Mark) -> bool {
        self.row().marks & 1 << mark as u32 != 0
    }
}

#[cfg(test)]
mod tests;
