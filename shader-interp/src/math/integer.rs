//! Integer operations beyond what the language has. Values of `WIDTH` = 8, 16 or 32 bits are zero-extended in
//! a `u32`, and so are results; [`wide`] has the operations on 64 bits. Nothing panics: division by zero
//! gives 0, the least integer divided by -1 is itself.

/// Defines them for a word: as a signed one, at twice the width, its bits, and the width of values in it,
/// which may be a parameter.
macro_rules! operations {
    ($word:ident, $signed:ident, $double:ident, $signed_double:ident, $bits:literal,
        $width:tt, [$($parameter:tt)*], [$($argument:tt)*]) => {
        /// All ones in the low bits that values have.
        #[inline(always)]
        const fn ones<$($parameter)*>() -> $word {
            $word::MAX >> ($bits - $width)
        }

        /// The signed value of the low bits.
        #[inline(always)]
        pub fn sign_extend<$($parameter)*>(x: $word) -> $signed {
            ((x << ($bits - $width)) as $signed) >> ($bits - $width)
        }

        /// Unsigned remainder; 0 if b is 0.
        #[inline(always)]
        pub fn u_mod(a: $word, b: $word) -> $word {
            let r = a.wrapping_sub(u_div(a, b).wrapping_mul(b));
            if b == 0 { 0 } else { r }
        }

        /// Truncated quotient of all bits; 0 if b is 0.
        #[inline(always)]
        fn signed_quotient(a: $signed, b: $signed) -> $signed {
            let magnitude = u_div(a.unsigned_abs(), b.unsigned_abs()) as $signed;
            if (a ^ b) < 0 { magnitude.wrapping_neg() } else { magnitude }
        }

        /// Its remainder; 0 if b is 0.
        #[inline(always)]
        fn signed_remainder(a: $signed, b: $signed) -> $signed {
            let r = a.wrapping_sub(signed_quotient(a, b).wrapping_mul(b));
            if b == 0 { 0 } else { r }
        }

        /// Signed quotient, truncated.
        #[inline(always)]
        pub fn s_div<$($parameter)*>(a: $word, b: $word) -> $word {
            let (a, b) = (sign_extend::<$($argument)*>(a), sign_extend::<$($argument)*>(b));
            signed_quotient(a, b) as $word & ones::<$($argument)*>()
        }

        /// OpSRem: the remainder's sign is a's.
        #[inline(always)]
        pub fn s_rem<$($parameter)*>(a: $word, b: $word) -> $word {
            let (a, b) = (sign_extend::<$($argument)*>(a), sign_extend::<$($argument)*>(b));
            signed_remainder(a, b) as $word & ones::<$($argument)*>()
        }

        /// OpSMod: the remainder's sign is b's.
        #[inline(always)]
        pub fn s_mod<$($parameter)*>(a: $word, b: $word) -> $word {
            let b = sign_extend::<$($argument)*>(b);
            let r = signed_remainder(sign_extend::<$($argument)*>(a), b);
            let differs = (r != 0) & ((r ^ b) < 0);
            (if differs { r.wrapping_add(b) } else { r }) as $word & ones::<$($argument)*>()
        }

        /// Sum and carry.
        #[inline(always)]
        pub fn add_carry<$($parameter)*>(a: $word, b: $word) -> ($word, $word) {
            let sum = a.wrapping_add(b) & ones::<$($argument)*>();
            (sum, (sum < a) as $word)
        }

        /// Difference and borrow.
        #[inline(always)]
        pub fn sub_borrow<$($parameter)*>(a: $word, b: $word) -> ($word, $word) {
            (a.wrapping_sub(b) & ones::<$($argument)*>(), (a < b) as $word)
        }

        /// Unsigned product: low and high word.
        #[inline(always)]
        pub fn u_mul_extended<$($parameter)*>(a: $word, b: $word) -> ($word, $word) {
            let product = a as $double * b as $double;
            (product as $word & ones::<$($argument)*>(), (product >> $width) as $word)
        }

        /// Signed product: low and high word.
        #[inline(always)]
        pub fn s_mul_extended<$($parameter)*>(a: $word, b: $word) -> ($word, $word) {
            let (a, b) = (sign_extend::<$($argument)*>(a), sign_extend::<$($argument)*>(b));
            let product = a as $signed_double * b as $signed_double;
            let ones = ones::<$($argument)*>();
            (product as $word & ones, (product >> $width) as $word & ones)
        }

        /// Bits in reverse order.
        #[inline(always)]
        pub fn bit_reverse<$($parameter)*>(x: $word) -> $word {
            x.reverse_bits() >> ($bits - $width)
        }

        /// OpBitCount: the number of bits that are 1.
        #[inline(always)]
        pub fn bit_count(x: $word) -> u32 {
            x.count_ones()
        }

        /// The low `count` bits; none for 0, all for a word's and more.
        #[inline(always)]
        fn low_bits(count: u32) -> $word {
            if count >= $bits { $word::MAX } else { (1 << (count & ($bits - 1))) - 1 }
        }

        /// OpBitFieldInsert. Offsets and counts beyond the width are undefined in SPIR-V; here they are cut
        /// at it.
        #[inline(always)]
        pub fn bit_field_insert<$($parameter)*>(base: $word, insert: $word, offset: u32, count: u32) -> $word {
            let field = low_bits(count) << (offset & ($bits - 1));
            let mask = if offset >= $bits { 0 } else { field & ones::<$($argument)*>() };
            (base & !mask) | ((insert << (offset & ($bits - 1))) & mask)
        }

        /// OpBitFieldUExtract.
        #[inline(always)]
        pub fn bit_field_u_extract<$($parameter)*>(base: $word, offset: u32, count: u32) -> $word {
            if offset >= $width { 0 } else { (base >> (offset & ($bits - 1))) & low_bits(count) }
        }

        /// OpBitFieldSExtract.
        #[inline(always)]
        pub fn bit_field_s_extract<$($parameter)*>(base: $word, offset: u32, count: u32) -> $word {
            let offset = if offset > $width { $width } else { offset };
            let count = if count > $width - offset { $width - offset } else { count };
            // The field's top bit to the word's, and back.
            let (up, down) = ($bits - offset - count, $bits - count);
            let field = ((base << (up & ($bits - 1))) as $signed) >> (down & ($bits - 1));
            if count == 0 { 0 } else { field as $word & ones::<$($argument)*>() }
        }

        /// (a + b) >> 1 without overflow.
        #[inline(always)]
        pub fn s_average(a: $signed, b: $signed) -> $signed {
            (a & b).wrapping_add((a ^ b) >> 1)
        }

        /// (a + b + 1) >> 1 without overflow.
        #[inline(always)]
        pub fn s_average_rounded(a: $signed, b: $signed) -> $signed {
            (a | b).wrapping_sub((a ^ b) >> 1)
        }

        /// (a + b) >> 1 without overflow.
        #[inline(always)]
        pub fn u_average(a: $word, b: $word) -> $word {
            (a & b).wrapping_add((a ^ b) >> 1)
        }

        /// (a + b + 1) >> 1 without overflow.
        #[inline(always)]
        pub fn u_average_rounded(a: $word, b: $word) -> $word {
            (a | b).wrapping_sub((a ^ b) >> 1)
        }

        /// Number of the lowest one; -1 if there is none.
        #[inline(always)]
        pub fn find_i_lsb(x: $word) -> u32 {
            if x == 0 { u32::MAX } else { x.trailing_zeros() }
        }

        /// Number of the highest one; -1 if there is none.
        #[inline(always)]
        pub fn find_u_msb(x: $word) -> u32 {
            u32::wrapping_sub($bits - 1, x.leading_zeros())
        }

        /// Number of the highest bit that differs from the sign; -1 for 0 and -1.
        #[inline(always)]
        pub fn find_s_msb<$($parameter)*>(x: $word) -> u32 {
            let x = sign_extend::<$($argument)*>(x);
            find_u_msb((x ^ (x >> ($bits - 1))) as $word)
        }

        /// 1, 0 or -1.
        #[inline(always)]
        pub fn s_sign<$($parameter)*>(x: $word) -> $word {
            let x = sign_extend::<$($argument)*>(x);
            ((x > 0) as $signed - (x < 0) as $signed) as $word & ones::<$($argument)*>()
        }
    };
}

operations!(u32, i32, u64, i64, 32, WIDTH, [const WIDTH: u32], [WIDTH]);

/// Unsigned quotient; 0 if b is 0.
#[inline(always)]
pub fn u_div(a: u32, b: u32) -> u32 {
    // Processors divide vectors of doubles only. The rounded quotient never reaches an integer above the
    // exact one: it would have to be closer than 1 / (a + b), relatively.
    const INTEGERS: f64 = 4_503_599_627_370_496.0;
    let exact = a as f64 / (if b == 0 { 1 } else { b }) as f64;
    let shifted = exact + INTEGERS;
    let up = shifted - INTEGERS > exact;
    let quotient = (shifted.to_bits() as u32).wrapping_sub(up as u32);
    if b == 0 { 0 } else { quotient }
}

/// The same on values of 64 bits.
pub mod wide {
    operations!(u64, i64, u128, i128, 64, 64, [], []);

    /// Unsigned quotient; 0 if b is 0.
    #[inline(always)]
    pub fn u_div(a: u64, b: u64) -> u64 {
        a.checked_div(b).unwrap_or(0)
    }

    /// Magnitude; the least integer is its own.
    #[inline(always)]
    pub fn s_abs(x: u64) -> u64 {
        (x as i64).wrapping_abs() as u64
    }
}

/// The four bytes of a packed vector, signed.
#[inline(always)]
fn signed_bytes(x: u32) -> [i32; 4] {
    [x as i8 as i32, (x >> 8) as i8 as i32, (x >> 16) as i8 as i32, (x >> 24) as i8 as i32]
}

/// The four bytes of a packed vector, unsigned.
#[inline(always)]
fn unsigned_bytes(x: u32) -> [i32; 4] {
    [x as u8 as i32, (x >> 8) as u8 as i32, (x >> 16) as u8 as i32, (x >> 24) as i32]
}

/// Sum of products: at most 4 * 255 * 255 in magnitude.
#[inline(always)]
fn dot(a: [i32; 4], b: [i32; 4]) -> i32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// OpSDot on packed vectors of four bytes.
#[inline(always)]
pub fn s_dot_4x8(a: u32, b: u32) -> u32 {
    dot(signed_bytes(a), signed_bytes(b)) as u32
}

/// OpUDot on packed vectors of four bytes.
#[inline(always)]
pub fn u_dot_4x8(a: u32, b: u32) -> u32 {
    dot(unsigned_bytes(a), unsigned_bytes(b)) as u32
}

/// OpSUDot on packed vectors of four bytes: a is signed, b unsigned.
#[inline(always)]
pub fn su_dot_4x8(a: u32, b: u32) -> u32 {
    dot(signed_bytes(a), unsigned_bytes(b)) as u32
}

/// OpSDotAccSat: the dot product added to a signed accumulator, saturating.
#[inline(always)]
pub fn s_dot_acc_sat_4x8(a: u32, b: u32, accumulator: u32) -> u32 {
    (accumulator as i32).saturating_add(s_dot_4x8(a, b) as i32) as u32
}

/// OpUDotAccSat: the dot product added to an unsigned accumulator, saturating.
#[inline(always)]
pub fn u_dot_acc_sat_4x8(a: u32, b: u32, accumulator: u32) -> u32 {
    accumulator.saturating_add(u_dot_4x8(a, b))
}

/// OpSUDotAccSat: the dot product added to a signed accumulator, saturating.
#[inline(always)]
pub fn su_dot_acc_sat_4x8(a: u32, b: u32, accumulator: u32) -> u32 {
    (accumulator as i32).saturating_add(su_dot_4x8(a, b) as i32) as u32
}
