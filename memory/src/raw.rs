//! Raw bytes of shared memory: the only file that dereferences the pointers of [`MemoryView`]s.
//!
//! **Guarantee.** Every function here takes a view and an offset, checks bounds, and touches bytes only by
//! atomic instructions (relaxed, or acquire and release for the shader's atomics) or by machine instructions
//! that the compiler does not see through ([`copy_words_out`], [`copy_words_in`]). So shader invocations on
//! several threads may race on the same bytes without undefined behaviour on the host: they get some bytes
//! that were there. Whoever builds a view promises that its bytes stay mapped (see [`MemoryView`]).

use crate::access::AtomicOp;
use crate::system::MemoryView;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A component in memory: an atomic integer, of whatever bits.
pub trait Component: sealed::Sealed {
    /// Loads it; `ordering` is Relaxed or Acquire.
    fn get(&self, ordering: Ordering) -> u64;

    /// Stores the low bits of `value`; `ordering` is Relaxed or Release.
    fn set(&self, value: u64, ordering: Ordering);

    /// Applies a read-modify-write and returns the original value.
    fn modify(&self, op: AtomicOp, value: u64, comparator: u64) -> u64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! component {
    ($($atomic:ty, $bits:ty);*) => {
        $(
            impl sealed::Sealed for $atomic {}

            impl Component for $atomic {
                #[inline(always)]
                fn get(&self, ordering: Ordering) -> u64 {
                    u64::from(self.load(ordering))
                }

                #[inline(always)]
                fn set(&self, value: u64, ordering: Ordering) {
                    self.store(value as $bits, ordering);
                }

                #[inline(always)]
                fn modify(&self, op: AtomicOp, value: u64, comparator: u64) -> u64 {
                    let order = Ordering::AcqRel;
                    let bits = value as $bits;
                    u64::from(match op {
                        AtomicOp::Exchange => self.swap(bits, order),
                        AtomicOp::IAdd => self.fetch_add(bits, order),
                        AtomicOp::ISub => self.fetch_sub(bits, order),
                        AtomicOp::And => self.fetch_and(bits, order),
                        AtomicOp::Or => self.fetch_or(bits, order),
                        AtomicOp::Xor => self.fetch_xor(bits, order),
                        AtomicOp::UMin => self.fetch_min(bits, order),
                        AtomicOp::UMax => self.fetch_max(bits, order),
                        AtomicOp::CompareExchange => {
                            match self.compare_exchange(comparator as $bits, bits, order, Ordering::Acquire) {
                                Ok(old) | Err(old) => old,
                            }
                        }
                        _ => {
                            let size = size_of::<$bits>() as u8;
                            let update = |old| Some(apply(op, size, u64::from(old), value, comparator) as $bits);
                            match self.fetch_update(order, Ordering::Acquire, update) {
                                Ok(old) | Err(old) => old,
                            }
                        }
                    })
                }
            }
        )*
    };
}
component!(AtomicU8, u8; AtomicU16, u16; AtomicU32, u32; AtomicU64, u64);

/// The pointer to `size` bytes at `offset` if they lie within the view.
#[inline(always)]
fn at(view: &MemoryView, offset: u64, size: u64) -> Option<*mut u8> {
    let end = offset.checked_add(size)?;
    if end <= view.size {
        // SAFETY: `offset + size <= view.size`, and the view's bytes are one mapping.
        Some(unsafe { view.host.add(offset as usize) })
    } else {
        None
    }
}

#[inline(always)]
fn aligned(pointer: *mut u8, size: usize) -> bool {
    pointer as usize & (size - 1) == 0
}

/// Loads one component of 1, 2, 4 or 8 bytes, little endian; `None` if it is out of bounds. `ordering` is
/// Relaxed or Acquire. An unaligned component is read byte by byte.
#[inline(always)]
pub fn load(view: &MemoryView, offset: u64, size: u8, ordering: Ordering) -> Option<u64> {
    let p = at(view, offset, u64::from(size))?;
    if !aligned(p, usize::from(size)) {
        return Some(load_bytes(p, size));
    }
    // SAFETY: in bounds, aligned, mapped for the dispatch; concurrent accesses are atomic too.
    Some(unsafe {
        match size {
            1 => u64::from(AtomicU8::from_ptr(p).load(ordering)),
            2 => u64::from(AtomicU16::from_ptr(p.cast()).load(ordering)),
            4 => u64::from(AtomicU32::from_ptr(p.cast()).load(ordering)),
            _ => AtomicU64::from_ptr(p.cast()).load(ordering),
        }
    })
}

#[cold]
fn load_bytes(p: *mut u8, size: u8) -> u64 {
    (0..usize::from(size)).fold(0, |value, i| {
        // SAFETY: the caller checked that `size` bytes are in bounds.
        value | u64::from(unsafe { AtomicU8::from_ptr(p.add(i)) }.load(Ordering::Relaxed)) << (8 * i)
    })
}

/// Stores one component; false if it is out of bounds. `ordering` is Relaxed or Release.
#[inline(always)]
pub fn store(view: &MemoryView, offset: u64, size: u8, value: u64, ordering: Ordering) -> bool {
    let Some(p) = at(view, offset, u64::from(size)) else { return false };
    if !aligned(p, usize::from(size)) {
        store_bytes(p, size, value);
        return true;
    }
    // SAFETY: in bounds, aligned, mapped for the dispatch; concurrent accesses are atomic too.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(p).store(value as u8, ordering),
            2 => AtomicU16::from_ptr(p.cast()).store(value as u16, ordering),
            4 => AtomicU32::from_ptr(p.cast()).store(value as u32, ordering),
            _ => AtomicU64::from_ptr(p.cast()).store(value, ordering),
        }
    }
    true
}

#[cold]
fn store_bytes(p: *mut u8, size: u8, value: u64) {
    for i in 0..usize::from(size) {
        // SAFETY: the caller checked that `size` bytes are in bounds.
        unsafe { AtomicU8::from_ptr(p.add(i)) }.store((value >> (8 * i)) as u8, Ordering::Relaxed);
    }
}

/// Applies a read-modify-write of 4 or 8 bytes (1 and 2 for Exchange and the like are not part of SPIR-V) and
/// returns the original value; `None` if it is out of bounds or unaligned.
#[inline(always)]
pub fn read_modify_write(
    view: &MemoryView,
    offset: u64,
    size: u8,
    op: AtomicOp,
    value: u64,
    comparator: u64,
) -> Option<u64> {
    let p = at(view, offset, u64::from(size))?;
    if !aligned(p, usize::from(size)) {
        return None;
    }
    // SAFETY: in bounds, aligned, mapped for the dispatch; concurrent accesses are atomic too.
    Some(unsafe {
        match size {
            1 => AtomicU8::from_ptr(p).modify(op, value, comparator),
            2 => AtomicU16::from_ptr(p.cast()).modify(op, value, comparator),
            4 => AtomicU32::from_ptr(p.cast()).modify(op, value, comparator),
            _ => AtomicU64::from_ptr(p.cast()).modify(op, value, comparator),
        }
    })
}

/// The value that a read-modify-write of `size` bytes stores over `old`. Float minimum and maximum return the
/// other operand for a NaN.
#[inline(always)]
pub fn apply(op: AtomicOp, size: u8, old: u64, value: u64, comparator: u64) -> u64 {
    let bits = 8 * u32::from(size);
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let signed = |x: u64| ((x << (64 - bits)) as i64) >> (64 - bits);
    let new = match op {
        AtomicOp::Exchange => value,
        AtomicOp::CompareExchange => {
            if old & mask == comparator & mask {
                value
            } else {
                old
            }
        }
        AtomicOp::IAdd => old.wrapping_add(value),
        AtomicOp::ISub => old.wrapping_sub(value),
        AtomicOp::And => old & value,
        AtomicOp::Or => old | value,
        AtomicOp::Xor => old ^ value,
        AtomicOp::UMin => (old & mask).min(value & mask),
        AtomicOp::UMax => (old & mask).max(value & mask),
        AtomicOp::SMin => signed(old).min(signed(value)) as u64,
        AtomicOp::SMax => signed(old).max(signed(value)) as u64,
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax if size == 8 => {
            let (a, b) = (f64::from_bits(old), f64::from_bits(value));
            match op {
                AtomicOp::FAdd => a + b,
                AtomicOp::FMin => a.min(b),
                _ => a.max(b),
            }
            .to_bits()
        }
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => {
            let (a, b) = (f32::from_bits(old as u32), f32::from_bits(value as u32));
            u64::from(
                match op {
                    AtomicOp::FAdd => a + b,
                    AtomicOp::FMin => a.min(b),
                    _ => a.max(b),
                }
                .to_bits(),
            )
        }
    };
    new & mask
}

/// Copies `out.len()` 32-bit words from the view; false, and nothing copied, if they are not all in bounds.
/// `out.len()` is a multiple of 8.
#[inline(always)]
pub fn copy_words_out(view: &MemoryView, offset: u64, out: &mut [u32]) -> bool {
    let Some(p) = at(view, offset, 4 * out.len() as u64) else { return false };
    // SAFETY: the source is in bounds of the view, the target is `out`, and they do not overlap: `out` is a
    // register.
    unsafe { copy(p, out.as_mut_ptr().cast(), out.len() / 8) };
    true
}

/// A component for each of `N` lanes in one view, all in bounds and aligned.
#[derive(Clone, Copy)]
pub struct Spots<'a, T, const N: usize> {
    host: *mut u8,
    offsets: &'a [u32; N],
    component: PhantomData<&'a T>,
}

/// The components that are `skip` bytes behind the lanes' offsets; `None` if some are out of bounds or not
/// aligned.
#[inline(always)]
pub fn spots<'a, T: Component, const N: usize>(
    view: &'a MemoryView,
    offsets: &'a [u32; N],
    skip: u32,
) -> Option<Spots<'a, T, N>> {
    let size = size_of::<T>() as u32;
    // The last place for a component.
    let last = view.size.checked_sub(u64::from(skip) + u64::from(size))?;
    let last = u32::try_from(last).unwrap_or(u32::MAX);
    let (mut outside, mut low) = (0, (view.host as usize as u32).wrapping_add(skip));
    for offset in offsets {
        outside |= u32::from(*offset > last);
        low |= offset;
    }
    if outside != 0 || low & (size - 1) != 0 {
        return None;
    }
    Some(Spots { host: view.host.wrapping_add(skip as usize), offsets, component: PhantomData })
}

impl<'a, T: Component, const N: usize> Spots<'a, T, N> {
    /// The component of a lane below `N`.
    #[inline(always)]
    pub fn at(&self, lane: usize) -> &'a T {
        // SAFETY: `spots` found that the components at all offsets are in bounds and aligned; they stay
        // mapped as long as the view is borrowed, any bits will do, and concurrent accesses are atomic too.
        unsafe { &*self.host.add(self.offsets[lane] as usize).cast() }
    }
}

/// Copies `words` to the view; false, and nothing copied, if they are not all in bounds. `words.len()` is a
/// multiple of 8.
#[inline(always)]
pub fn copy_words_in(view: &MemoryView, offset: u64, words: &[u32]) -> bool {
    let Some(p) = at(view, offset, 4 * words.len() as u64) else { return false };
    // SAFETY: the target is in bounds of the view, the source is `words`, and they do not overlap: `words` is
    // a register.
    unsafe { copy(words.as_ptr().cast(), p, words.len() / 8) };
    true
}

/// Copies `blocks` blocks of 32 bytes.
///
/// # Safety
/// Both sides hold that many bytes and do not overlap. Other threads may access either side: the copy is made
/// of machine instructions, not of accesses in the language's sense.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, blocks: usize) {
    for i in 0..blocks {
        // SAFETY: block `i` lies within both sides; SSE2 is part of x86-64.
        unsafe {
            std::arch::asm!(
                "movups {a}, [{from}]",
                "movups {b}, [{from} + 16]",
                "movups [{to}], {a}",
                "movups [{to} + 16], {b}",
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                from = in(reg) from.add(32 * i),
                to = in(reg) to.add(32 * i),
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Copies `blocks` blocks of 32 bytes.
///
/// # Safety
/// Both sides hold that many bytes and do not overlap.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, blocks: usize) {
    for i in 0..32 * blocks {
        // SAFETY: byte `i` lies within both sides.
        unsafe {
            let value = AtomicU8::from_ptr(from.cast_mut().add(i)).load(Ordering::Relaxed);
            AtomicU8::from_ptr(to.add(i)).store(value, Ordering::Relaxed);
        }
    }
}

/// Zeroes all bytes of the view.
pub fn zero(view: &MemoryView) {
    let words = view.size / 8;
    for i in 0..words {
        store(view, 8 * i, 8, 0, Ordering::Relaxed);
    }
    for i in 8 * words..view.size {
        store(view, i, 1, 0, Ordering::Relaxed);
    }
}

/// Copies bytes of the view to `out`, as many as both hold; returns how many.
pub fn read_bytes(view: &MemoryView, offset: u64, out: &mut [u8]) -> usize {
    let mut copied = 0;
    for byte in out {
        match load(view, offset + copied as u64, 1, Ordering::Relaxed) {
            Some(value) => *byte = value as u8,
            None => break,
        }
        copied += 1;
    }
    copied
}
