//! Products of cooperative matrices: OpCooperativeMatrixMulAddKHR for a whole subgroup.
//!
//! Products of floats are added to C in the order of k, in single precision, or double precision where a
//! component is of 64 bits, and rounded to the result's type once. NaN is the canonical one. Integers wrap,
//! or are exact up to the addition of C, which saturates.

use crate::code::MatrixEntry;
use crate::exec::context::Context;
use crate::ir::{Component, MatrixComponents, MatrixMulAdd, Scalar};
use crate::math::half;
use pellucid_memory::system::{Lanes, Mask};

/// Scalars of a matrix that has room on the stack.
const USUAL: usize = 512;
/// Rows, and columns, that are computed at a time.
const ROWS: usize = 4;
const COLUMNS: usize = 16;

/// Room for the scalars of a matrix.
struct Room<T> {
    usual: [T; USUAL],
    large: Vec<T>,
}

impl<T: Copy + Default> Room<T> {
    #[inline(always)]
    fn new() -> Room<T> {
        Room { usual: [T::default(); USUAL], large: Vec::new() }
    }

    #[inline(always)]
    fn of(&mut self, scalars: usize) -> &mut [T] {
        if scalars <= USUAL {
            return &mut self.usual[..scalars];
        }
        self.large.resize(scalars, T::default());
        &mut self.large
    }
}

/// The registers of a strand, and the invocations of a subgroup.
struct Registers<'a> {
    vectors: &'a mut [Lanes],
    size: usize,
}

impl Registers<'_> {
    /// The scalars of an operand of at most 32 bits.
    #[inline(always)]
    fn gather<T>(&self, from: &[u32], out: &mut [T], of: impl Fn(u32) -> T) {
        for (out, register) in out.chunks_mut(self.size).zip(from) {
            let words = &self.vectors[*register as usize].0;
            out.iter_mut().zip(words).for_each(|(out, word)| *out = of(*word));
        }
    }

    /// The same, of 64 bits.
    #[inline(always)]
    fn gather_wide<T>(&self, from: &[u32], out: &mut [T], of: impl Fn(u64) -> T) {
        for (out, pair) in out.chunks_mut(self.size).zip(from.chunks_exact(2)) {
            let (low, high) = (&self.vectors[pair[0] as usize].0, &self.vectors[pair[1] as usize].0);
            for (j, out) in out.iter_mut().enumerate() {
                *out = of(u64::from(low[j]) | u64::from(high[j]) << 32);
            }
        }
    }

    #[inline(always)]
    fn scatter<T: Copy>(&mut self, to: &[u32], values: &[T], of: impl Fn(T) -> u32) {
        for (values, register) in values.chunks(self.size).zip(to) {
            let words = &mut self.vectors[*register as usize].0;
            words.iter_mut().zip(values).for_each(|(word, value)| *word = of(*value));
        }
    }

    #[inline(always)]
    fn scatter_wide<T: Copy>(&mut self, to: &[u32], values: &[T], of: impl Fn(T) -> u64) {
        for (values, pair) in values.chunks(self.size).zip(to.chunks_exact(2)) {
            for (j, value) in values.iter().enumerate() {
                let bits = of(*value);
                self.vectors[pair[0] as usize].0[j] = bits as u32;
                self.vectors[pair[1] as usize].0[j] = (bits >> 32) as u32;
            }
        }
    }
}

/// `sums` plus `a` by `b`: `step` adds a product to a sum.
#[inline(always)]
fn multiply<T: Copy>(
    product: &MatrixMulAdd,
    a: &[T],
    b: &[T],
    sums: &mut [T],
    step: impl Fn(T, T, T) -> T + Copy,
) {
    let (n, k) = (product.n as usize, product.k as usize);
    let mut rows = a.chunks_exact(ROWS * k);
    let mut sums = sums.chunks_mut(ROWS * n);
    for (a, sums) in (&mut rows).zip(&mut sums) {
        multiply_rows::<T, ROWS>(a, b, sums, n, step);
    }
    let Some(rest) = sums.next() else { return };
    for (a, sums) in rows.remainder().chunks_exact(k).zip(rest.chunks_exact_mut(n)) {
        multiply_rows::<T, 1>(a, b, sums, n, step);
    }
}

/// `multiply` of `R` rows.
#[inline(always)]
fn multiply_rows<T: Copy, const R: usize>(
    a: &[T],
    b: &[T],
    sums: &mut [T],
    n: usize,
    step: impl Fn(T, T, T) -> T + Copy,
) {
    let mut column = 0;
    while n - column >= COLUMNS {
        block::<T, R, COLUMNS>(a, b, sums, n, column, step);
        column += COLUMNS;
    }
    while n - column >= COLUMNS / 2 {
        block::<T, R, { COLUMNS / 2 }>(a, b, sums, n, column, step);
        column += COLUMNS / 2;
    }
    while column < n {
        block::<T, R, 1>(a, b, sums, n, column, step);
        column += 1;
    }
}

/// `W` columns of `R` rows.
#[inline(always)]
fn block<T: Copy, const R: usize, const W: usize>(
    a: &[T],
    b: &[T],
    sums: &mut [T],
    n: usize,
    column: usize,
    step: impl Fn(T, T, T) -> T + Copy,
) {
    let k = a.len() / R;
    let mut sum = [[sums[column]; W]; R];
    for (row, sum) in sum.iter_mut().enumerate() {
        sum.copy_from_slice(&sums[row * n + column..][..W]);
    }
    for (at, b) in b.chunks_exact(n).enumerate().take(k) {
        let b = &b[column..][..W];
        for (row, sum) in sum.iter_mut().enumerate() {
            let x = a[row * k + at];
            for (sum, y) in sum.iter_mut().zip(b) {
                *sum = step(*sum, x, *y);
            }
        }
    }
    for (row, sum) in sum.iter().enumerate() {
        sums[row * n + column..][..W].copy_from_slice(sum);
    }
}

/// A whole product: `read` takes an operand out of the registers, `write` puts the sums there.
#[inline(always)]
fn whole<T: Copy + Default>(
    entry: &MatrixEntry,
    registers: &mut Registers<'_>,
    read: impl Fn(&Registers<'_>, usize, &mut [T]),
    step: impl Fn(T, T, T) -> T + Copy,
    write: impl Fn(&mut Registers<'_>, &[T]),
) {
    let (mut a, mut b, mut c) = (Room::new(), Room::new(), Room::new());
    let [of_a, of_b, of_c] = entry.product.sizes();
    let (a, b, c) = (a.of(of_a), b.of(of_b), c.of(of_c));
    read(registers, 0, a);
    read(registers, 1, b);
    read(registers, 2, c);
    multiply(&entry.product, a, b, c, step);
    write(registers, c);
}

#[inline(always)]
fn singles(entry: &MatrixEntry, registers: &mut Registers<'_>, scalars: [Scalar; 4]) {
    whole::<f32>(
        entry,
        registers,
        |registers, k, out| match scalars[k] {
            Scalar::F16 => registers.gather(&entry.operands[k], out, half::to_f32),
            _ => registers.gather(&entry.operands[k], out, f32::from_bits),
        },
        |sum, x, y| sum + x * y,
        |registers, sums| match scalars[3] {
            Scalar::F16 => registers.scatter(&entry.results, sums, half::from_f32),
            _ => registers.scatter(
                &entry.results,
                sums,
                |x| if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() },
            ),
        },
    );
}

#[inline(always)]
fn doubles(entry: &MatrixEntry, registers: &mut Registers<'_>) {
    whole::<f64>(
        entry,
        registers,
        |registers, k, out| registers.gather_wide(&entry.operands[k], out, f64::from_bits),
        |sum, x, y| sum + x * y,
        |registers, sums| {
            let of = |x: f64| if x.is_nan() { 0x7ff8 << 48 } else { x.to_bits() };
            registers.scatter_wide(&entry.results, sums, of);
        },
    );
}

/// Bits of a component of an integer matrix.
fn width(scalar: Scalar) -> u32 {
    scalar.bytes() * 8
}

/// An integer of at most 32 bits, extended.
#[inline(always)]
fn extended(component: Component) -> impl Fn(u32) -> i32 {
    let (shift, signed) = (32 - width(component.scalar).min(32), component.signed);
    move |word| {
        let high = word << shift;
        if signed { (high as i32) >> shift } else { (high >> shift) as i32 }
    }
}

/// Integers whose result has at most 32 bits: what is above them does not matter.
#[inline(always)]
fn words(entry: &MatrixEntry, registers: &mut Registers<'_>, operands: [Component; 3], result: Component) {
    let mask = u32::MAX >> (32 - width(result.scalar).min(32));
    whole::<i32>(
        entry,
        registers,
        |registers, k, out| registers.gather(&entry.operands[k], out, extended(operands[k])),
        |sum, x, y| sum.wrapping_add(x.wrapping_mul(y)),
        |registers, sums| registers.scatter(&entry.results, sums, |x| x as u32 & mask),
    );
}

/// Integers of at most 32 bits whose sums stay in the range of the result's type.
#[inline(always)]
fn saturating(
    entry: &MatrixEntry,
    registers: &mut Registers<'_>,
    operands: [Component; 3],
    result: Component,
) {
    let bits = width(result.scalar);
    let (least, most) = if result.signed {
        (-1i128 << (bits - 1), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    whole::<i128>(
        entry,
        registers,
        |registers, k, out| {
            let of = extended(operands[k]);
            let signed = operands[k].signed;
            registers.gather(&entry.operands[k], out, |x| {
                if signed { i128::from(of(x)) } else { i128::from(of(x) as u32) }
            });
        },
        |sum, x, y| sum.wrapping_add(x.wrapping_mul(y)),
        |registers, sums| {
            let mask = u32::MAX >> (32 - bits);
            registers.scatter(&entry.results, sums, |x| x.clamp(least, most) as u32 & mask);
        },
    );
}

/// Shadows; lanes that do not run have none.
#[inline(always)]
fn shadows(entry: &MatrixEntry, registers: &mut Registers<'_>, mask: Mask) {
    whole::<u32>(
        entry,
        registers,
        |registers, k, out| {
            registers.gather(&entry.operands[k], out, |x| x);
            for lanes in out.chunks_mut(registers.size) {
                let runs = |lane: usize| mask & 1 << lane != 0;
                lanes.iter_mut().enumerate().filter(|(lane, _)| !runs(*lane)).for_each(|(_, x)| *x = 0);
            }
        },
        |sum, x, y| sum.max(x).max(y),
        |registers, sums| registers.scatter(&entry.results, sums, |x| x),
    );
}

/// OpCooperativeMatrixMulAddKHR.
#[inline(always)]
pub(crate) fn mul_add(context: &Context<'_>, entry: &MatrixEntry, vectors: &mut [Lanes], mask: Mask) {
    let mut registers = Registers { vectors, size: context.program.subgroup_size as usize };
    let scalars = entry.product.scalars();
    match entry.product.of {
        MatrixComponents::Shadows => shadows(entry, &mut registers, mask),
        MatrixComponents::Numbers { .. } if scalars[3] == Scalar::F64 => doubles(entry, &mut registers),
        MatrixComponents::Numbers { result, .. } if result.scalar.is_float() => {
            singles(entry, &mut registers, scalars);
        }
        MatrixComponents::Numbers { a, b, c, result, saturating: true } => {
            saturating(entry, &mut registers, [a, b, c], result);
        }
        MatrixComponents::Numbers { a, b, c, result, .. } => {
            words(entry, &mut registers, [a, b, c], result);
        }
    }
}
