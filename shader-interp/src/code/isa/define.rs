//! What is made of the table of instructions: the opcodes, the kinds of their operands, and their values
//! on one lane.

/// A type of lane operands, for one lane.
pub(super) trait Bits {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($type:ident: $from:expr, $to:expr;)*) => {
        $(impl Bits for $type {
            fn from_bits(bits: u64) -> $type {
                $from(bits)
            }

            fn bits(self) -> u64 {
                $to(self)
            }
        })*
    };
}
bits! {
    u32: |bits| bits as u32, u64::from;
    i32: |bits| bits as u32 as i32, |value| u64::from(value as u32);
    f32: |bits| f32::from_bits(bits as u32), |value| u64::from(f32::to_bits(value));
    u64: |bits| bits, |value| value;
    i64: |bits| bits as i64, |value| value as u64;
    f64: f64::from_bits, f64::to_bits;
}

/// The kind of an operand, by the sign or the type that the table has for it.
macro_rules! kind {
    (-) => {
        OperandKind::None
    };
    (V) => {
        OperandKind::Vector(1)
    };
    (V2) => {
        OperandKind::Vector(2)
    };
    (V3) => {
        OperandKind::Vector(3)
    };
    (V4) => {
        OperandKind::Vector(4)
    };
    (W) => {
        OperandKind::Vector(2)
    };
    (M) => {
        OperandKind::Mask
    };
    (S) => {
        OperandKind::View
    };
    (E) => {
        OperandKind::Memory
    };
    (B) => {
        OperandKind::Barrier
    };
    (I) => {
        OperandKind::Image
    };
    (P) => {
        OperandKind::Print
    };
    (X) => {
        OperandKind::Matrix
    };
    (T) => {
        OperandKind::Target
    };
    (L) => {
        OperandKind::Literal
    };
    (u32) => {
        OperandKind::Vector(1)
    };
    (i32) => {
        OperandKind::Vector(1)
    };
    (f32) => {
        OperandKind::Vector(1)
    };
    (u64) => {
        OperandKind::Vector(2)
    };
    (i64) => {
        OperandKind::Vector(2)
    };
    (f64) => {
        OperandKind::Vector(2)
    };
}

/// The kinds of the fields of an instruction on lanes: its result, and its operands.
macro_rules! shape {
    ($d:tt; $a:tt) => {
        [kind!($d), kind!($a), OperandKind::None, OperandKind::None, OperandKind::None, OperandKind::None]
    };
    ($d:tt; $a:tt $b:tt) => {
        [kind!($d), kind!($a), kind!($b), OperandKind::None, OperandKind::None, OperandKind::None]
    };
    ($d:tt; $a:tt $b:tt $c:tt) => {
        [kind!($d), kind!($a), kind!($b), kind!($c), OperandKind::None, OperandKind::None]
    };
    ($d:tt; $a:tt $b:tt $c:tt $e:tt) => {
        [kind!($d), kind!($a), kind!($b), kind!($c), kind!($e), OperandKind::None]
    };
}

/// `Opcode`, from the rows of the table.
macro_rules! define {
    (
        ()
        near { $($(#[$near_doc:meta])* $near:ident ($($nx:ident : $nt:ident),*) -> $nr:ident $nb:block)* }
        far { $($(#[$far_doc:meta])* $far:ident ($($fx:ident : $ft:ident),*) -> $fr:ident $fb:block)* }
        test { $($test:ident $split:ident $jump:ident $repeat:ident ($($tx:ident : $tt:ident),*) $tb:block)* }
        far_test { $($far_test:ident ($($ux:ident : $ut:ident),*) $ub:block)* }
        special { $($special:ident ($d:tt, $a:tt, $b:tt, $c:tt, $e:tt, $i:tt))* }
    ) => {
        /// What an instruction does: the rows of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Opcode {
            $($near,)*
            $($far,)*
            $($test, $split, $jump, $repeat,)*
            $($far_test,)*
            $($special,)*
        }

        impl Opcode {
            /// All of them, in the table's order.
            pub const ALL: &[Opcode] = &[
                $(Opcode::$near,)*
                $(Opcode::$far,)*
                $(Opcode::$test, Opcode::$split, Opcode::$jump, Opcode::$repeat,)*
                $(Opcode::$far_test,)*
                $(Opcode::$special,)*
            ];

            /// Kinds of the fields dst, a, b, c, aux, imm.
            pub fn shape(self) -> [OperandKind; 6] {
                match self {
                    $(Opcode::$near => shape!($nr; $($nt)*),)*
                    $(Opcode::$far => shape!($fr; $($ft)*),)*
                    $(Opcode::$test => shape!(M; $($tt)*),)*
                    $(Opcode::$split | Opcode::$jump | Opcode::$repeat => {
                        let mut shape = shape!(M; $($tt)*);
                        shape[5] = OperandKind::Target;
                        shape
                    })*
                    $(Opcode::$far_test => shape!(M; $($ut)*),)*
                    $(Opcode::$special => [kind!($d), kind!($a), kind!($b), kind!($c), kind!($e), kind!($i)],)*
                }
            }

            /// What an instruction on lanes computes on one lane: the bits of its result, a test's as 0 or 1.
            pub(crate) fn evaluate(self, operands: &[u64]) -> Option<u64> {
                let mut operands = operands.iter();
                match self {
                    $(Opcode::$near => {
                        $(let $nx = <$nt as Bits>::from_bits(*operands.next()?);)*
                        let result: $nr = $nb;
                        Some(result.bits())
                    })*
                    $(Opcode::$far => {
                        $(let $fx = <$ft as Bits>::from_bits(*operands.next()?);)*
                        let result: $fr = $fb;
                        Some(result.bits())
                    })*
                    $(Opcode::$test => {
                        $(let $tx = <$tt as Bits>::from_bits(*operands.next()?);)*
                        Some(u64::from($tb))
                    })*
                    $(Opcode::$far_test => {
                        $(let $ux = <$ut as Bits>::from_bits(*operands.next()?);)*
                        Some(u64::from($ub))
                    })*
                    _ => None,
                }
            }

            /// True for operations that read and write lane by lane, so that the result may take the place of
            /// an argument.
            pub fn lane_wise(self) -> bool {
                match self {
                    $(Opcode::$near => true,)*
                    $(Opcode::$far => true,)*
                    _ => false,
                }
            }

            /// The back-edge that holds where this fused jump goes on.
            pub fn repeated(self) -> Option<Opcode> {
                match self {
                    $(Opcode::$jump => Some(Opcode::$repeat),)*
                    _ => None,
                }
            }

            /// It goes to its target when no lane runs on.
            pub fn empties(self) -> bool {
                use Opcode::{EndLanes, Join, Park, Split, SplitNot};
                matches!(self, Split | SplitNot | Park | Join | EndLanes $(| Opcode::$split)*)
            }

            /// It may be reached while no lane runs: it takes lanes back, or passes on to what does.
            pub fn awaits_lanes(self) -> bool {
                use Opcode::{Done, Join, Jump, Native, RepeatJoin};
                matches!(self, Join | RepeatJoin | Jump | Done | Native)
            }

            /// The test that an instruction makes, if it makes one, and what follows.
            pub fn test(self) -> Option<(Opcode, AfterTest)> {
                match self {
                    $(
                        Opcode::$test => Some((self, AfterTest::Set)),
                        Opcode::$split => Some((Opcode::$test, AfterTest::Split)),
                        Opcode::$jump => Some((Opcode::$test, AfterTest::Jump)),
                        Opcode::$repeat => Some((Opcode::$test, AfterTest::Repeat)),
                    )*
                    $(Opcode::$far_test => Some((self, AfterTest::Set)),)*
                    _ => None,
                }
            }

            /// The forms of a test that are fused with `Split` and `JumpUnless`.
            pub fn fused(self) -> Option<(Opcode, Opcode)> {
                match self {
                    $(Opcode::$test => Some((Opcode::$split, Opcode::$jump)),)*
                    _ => None,
                }
            }
        }
    };
}
