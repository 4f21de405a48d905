//! Integer operations beyond what the language has. Values of `WIDTH` = 8, 16 or 32 bits are zero-extended in
//! a `u32`, and so are results; functions called `_64` take 64-bit values. Nothing panics: division by zero
//! gives 0, the least integer divided by -1 is itself.

/// All ones in the low `WIDTH` bits.
#[inline(always)]
const fn ones<const WIDTH: u32>() -> u32 {
    u32::MAX >> (32 - WIDTH)
}

/// The signed value of the low `WIDTH` bits.
#[inline(always)]
pub fn sign_extend<const WIDTH: u32>(x: u32) -> i32 {
    ((x << (32 - WIDTH)) as i32) >> (32 - WIDTH)
}

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

/// Unsigned remainder; 0 if b is 0.
#[inline(always)]
pub fn u_mod(a: u32, b: u32) -> u32 {
    let r = a.wrapping_sub(u_div(a, b).wrapping_mul(b));
    if b == 0 { 0 } else { r }
}

/// Truncated quotient of 32-bit integers; 0 if b is 0.
#[inline(always)]
fn signed_quotient(a: i32, b: i32) -> i32 {
    let magnitude = u_div(a.unsigned_abs(), b.unsigned_abs()) as i32;
    if (a ^ b) < 0 { magnitude.wrapping_neg() } else { magnitude }
}

/// Its remainder; 0 if b is 0.
#[inline(always)]
fn signed_remainder(a: i32, b: i32) -> i32 {
    let r = a.wrapping_sub(signed_quotient(a, b).wrapping_mul(b));
    if b == 0 { 0 } else { r }
}

/// Signed quotient, truncated.
#[inline(always)]
pub fn s_div<const WIDTH: u32>(a: u32, b: u32) -> u32 {
    signed_quotient(sign_extend::<WIDTH>(a), sign_extend::<WIDTH>(b)) as u32 & ones::<WIDTH>()
}

/// OpSRem: the remainder's sign is a's.
#[inline(always)]
pub fn s_rem<const WIDTH: u32>(a: u32, b: u32) -> u32 {
    signed_remainder(sign_extend::<WIDTH>(a), sign_extend::<WIDTH>(b)) as u32 & ones::<WIDTH>()
}

/// OpSMod: the remainder's sign is b's.
#[inline(always)]
pub fn s_mod<const WIDTH: u32>(a: u32, b: u32) -> u32 {
    let b = sign_extend::<WIDTH>(b);
    let r = signed_remainder(sign_extend::<WIDTH>(a), b);
    let differs = (r != 0) & ((r ^ b) < 0);
    (if differs { r.wrapping_add(b) } else { r }) as u32 & ones::<WIDTH>()
}

/// Unsigned quotient; 0 if b is 0.
#[inline(always)]
pub fn u_div_64(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(0)
}

/// Unsigned remainder; 0 if b is 0.
#[inline(always)]
pub fn u_mod_64(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(0)
}

/// Signed quotient, truncated.
#[inline(always)]
pub fn s_div_64(a: u64, b: u64) -> u64 {
    if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 }
}

/// OpSRem: the remainder's sign is a's.
#[inline(always)]
pub fn s_rem_64(a: u64, b: u64) -> u64 {
    if b == 0 { 0 } else { (a as i64).wrapping_rem(b as i64) as u64 }
}

/// OpSMod: the remainder's sign is b's.
#[inline(always)]
pub fn s_mod_64(a: u64, b: u64) -> u64 {
    let r = s_rem_64(a, b) as i64;
    let b = b as i64;
    (if r != 0 && (r ^ b) < 0 { r.wrapping_add(b) } else { r }) as u64
}

/// Sum and carry.
#[inline(always)]
pub fn add_carry<const WIDTH: u32>(a: u32, b: u32) -> (u32, u32) {
    let sum = a.wrapping_add(b) & ones::<WIDTH>();
    (sum, (sum < a) as u32)
}

/// Difference and borrow.
#[inline(always)]
pub fn sub_borrow<const WIDTH: u32>(a: u32, b: u32) -> (u32, u32) {
    (a.wrapping_sub(b) & ones::<WIDTH>(), (a < b) as u32)
}

/// Sum and carry.
#[inline(always)]
pub fn add_carry_64(a: u64, b: u64) -> (u64, u64) {
    let sum = a.wrapping_add(b);
    (sum, (sum < a) as u64)
}

/// Difference and borrow.
#[inline(always)]
pub fn sub_borrow_64(a: u64, b: u64) -> (u64, u64) {
    (a.wrapping_sub(b), (a < b) as u64)
}

/// Unsigned product: low and high word.
#[inline(always)]
pub fn u_mul_extended<const WIDTH: u32>(a: u32, b: u32) -> (u32, u32) {
    let product = a as u64 * b as u64;
    (product as u32 & ones::<WIDTH>(), (product >> WIDTH) as u32)
}

/// Signed product: low and high word.
#[inline(always)]
pub fn s_mul_extended<const WIDTH: u32>(a: u32, b: u32) -> (u32, u32) {
    let product = sign_extend::<WIDTH>(a) as i64 * sign_extend::<WIDTH>(b) as i64;
    (product as u32 & ones::<WIDTH>(), (product >> WIDTH) as u32 & ones::<WIDTH>())
}

/// Unsigned product: low and high word.
#[inline(always)]
pub fn u_mul_extended_64(a: u64, b: u64) -> (u64, u64) {
    let product = a as u128 * b as u128;
    (product as u64, (product >> 64) as u64)
}

/// Signed product: low and high word.
#[inline(always)]
pub fn s_mul_extended_64(a: u64, b: u64) -> (u64, u64) {
    let product = a as i64 as i128 * b as i64 as i128;
    (product as u64, (product >> 64) as u64)
}

/// Bits in reverse order.
#[inline(always)]
pub fn bit_reverse<const WIDTH: u32>(x: u32) -> u32 {
    x.reverse_bits() >> (32 - WIDTH)
}

/// Bits in reverse order.
#[inline(always)]
pub fn bit_reverse_64(x: u64) -> u64 {
    x.reverse_bits()
}

/// OpBitCount: the number of bits that are 1.
#[inline(always)]
pub fn bit_count(x: u32) -> u32 {
    x.count_ones()
}

/// OpBitCount of 64 bits: the number of bits that are 1.
#[inline(always)]
pub fn bit_count_64(x: u64) -> u32 {
    x.count_ones()
}

/// The low `count` bits; none for 0, all for 32 and more.
#[inline(always)]
fn low_bits(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << (count & 31)) - 1 }
}

/// The low `count` bits; none for 0, all for 64 and more.
#[inline(always)]
fn low_bits_64(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << (count & 63)) - 1 }
}

/// OpBitFieldInsert. Offsets and counts beyond the width are undefined in SPIR-V; here they are cut at it.
#[inline(always)]
pub fn bit_field_insert<const WIDTH: u32>(base: u32, insert: u32, offset: u32, count: u32) -> u32 {
    let mask = if offset >= 32 { 0 } else { (low_bits(count) << (offset & 31)) & ones::<WIDTH>() };
    (base & !mask) | ((insert << (offset & 31)) & mask)
}

/// OpBitFieldUExtract.
#[inline(always)]
pub fn bit_field_u_extract<const WIDTH: u32>(base: u32, offset: u32, count: u32) -> u32 {
    if offset >= WIDTH { 0 } else { (base >> (offset & 31)) & low_bits(count) }
}

/// OpBitFieldSExtract.
#[inline(always)]
pub fn bit_field_s_extract<const WIDTH: u32>(base: u32, offset: u32, count: u32) -> u32 {
    let offset = if offset > WIDTH { WIDTH } else { offset };
    let count = if count > WIDTH - offset { WIDTH - offset } else { count };
    // The field's top bit to bit 31, and back.
    let up = 32 - offset - count;
    let down = 32 - count;
    let field = (((base << (up & 31)) as i32) >> (down & 31)) as u32 & ones::<WIDTH>();
    if count == 0 { 0 } else { field }
}

/// OpBitFieldInsert.
#[inline(always)]
pub fn bit_field_insert_64(base: u64, insert: u64, offset: u32, count: u32) -> u64 {
    let mask = if offset >= 64 { 0 } else { low_bits_64(count) << (offset & 63) };
    (base & !mask) | ((insert << (offset & 63)) & mask)
}

/// OpBitFieldUExtract.
#[inline(always)]
pub fn bit_field_u_extract_64(base: u64, offset: u32, count: u32) -> u64 {
    if offset >= 64 { 0 } else { (base >> (offset & 63)) & low_bits_64(count) }
}

/// OpBitFieldSExtract.
#[inline(always)]
pub fn bit_field_s_extract_64(base: u64, offset: u32, count: u32) -> u64 {
    let offset = if offset > 64 { 64 } else { offset };
    let count = if count > 64 - offset { 64 - offset } else { count };
    let up = 64 - offset - count;
    let down = 64 - count;
    let field = (((base << (up & 63)) as i64) >> (down & 63)) as u64;
    if count == 0 { 0 } else { field }
}

macro_rules! averages {
    ($($average:ident $rounded:ident $type:ty),*) => { $(
        /// (a + b) >> 1 without overflow.
        #[inline(always)]
        pub fn $average(a: $type, b: $type) -> $type {
            (a & b).wrapping_add((a ^ b) >> 1)
        }

        /// (a + b + 1) >> 1 without overflow.
        #[inline(always)]
        pub fn $rounded(a: $type, b: $type) -> $type {
            (a | b).wrapping_sub((a ^ b) >> 1)
        }
    )* };
}

averages! {
    s_average s_average_rounded i32, s_average_64 s_average_rounded_64 i64,
    u_average u_average_rounded u32, u_average_64 u_average_rounded_64 u64
}

/// Number of the lowest one; -1 if there is none.
#[inline(always)]
pub fn find_i_lsb(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.trailing_zeros() }
}

/// Number of the highest one; -1 if there is none.
#[inline(always)]
pub fn find_u_msb(x: u32) -> u32 {
    31u32.wrapping_sub(x.leading_zeros())
}

/// Number of the highest bit that differs from the sign; -1 for 0 and -1.
#[inline(always)]
pub fn find_s_msb<const WIDTH: u32>(x: u32) -> u32 {
    let x = sign_extend::<WIDTH>(x);
    find_u_msb((x ^ (x >> 31)) as u32)
}

/// Number of the lowest one; -1 if there is none.
#[inline(always)]
pub fn find_i_lsb_64(x: u64) -> u32 {
    if x == 0 { u32::MAX } else { x.trailing_zeros() }
}

/// Number of the highest one; -1 if there is none.
#[inline(always)]
pub fn find_u_msb_64(x: u64) -> u32 {
    63u32.wrapping_sub(x.leading_zeros())
}

/// Number of the highest bit that differs from the sign; -1 for 0 and -1.
#[inline(always)]
pub fn find_s_msb_64(x: u64) -> u32 {
    let x = x as i64;
    find_u_msb_64((x ^ (x >> 63)) as u64)
}

/// 1, 0 or -1.
#[inline(always)]
pub fn s_sign<const WIDTH: u32>(x: u32) -> u32 {
    let x = sign_extend::<WIDTH>(x);
    ((x > 0) as i32 - (x < 0) as i32) as u32 & ones::<WIDTH>()
}

/// Magnitude; the least integer is its own.
#[inline(always)]
pub fn s_abs_64(x: u64) -> u64 {
    (x as i64).wrapping_abs() as u64
}

/// 1, 0 or -1.
#[inline(always)]
pub fn s_sign_64(x: u64) -> u64 {
    ((x as i64 > 0) as i64 - ((x as i64) < 0) as i64) as u64
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
