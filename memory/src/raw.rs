//! Shared bytes: the only file (with [`bulk`]) that touches the bytes of device memory, of workgroup memory
//! and of what the host maps.
//!
//! **Rule.** Shared bytes are accessed by shader invocations and by commands, on several threads, and by the
//! application itself. Where a program has a data race, these accesses race here. So every access is, in
//! terms of the language, one or more *atomic* accesses (relaxed, or acquire and release where the shader
//! asks for it):
//!
//! - of a component of 1, 2, 4 or 8 bytes that is aligned: one, of its size;
//! - of a component that is not aligned, and of ranges ([`read`], [`write()`], [`copy`], [`fill`], words of a
//!   subgroup): one of each byte, in any order. [`bulk`] does many of these with one machine instruction.
//!
//! No access is a plain one, and no reference to shared bytes is a `&u8` or `&mut u8`. Races of accesses of
//! one size are therefore defined: each load returns a value that was stored. Accesses of *different* sizes
//! that race, such as a shader's 16-bit stores against 32-bit loads, the Rust documentation leaves out. They
//! rest on what the compiler and the machines below it say, which is the same for all sizes: LLVM defines
//! the value of an atomic load byte by byte, each byte being one that an atomic store put there ("Memory
//! Model for Concurrent Operations" of its reference), never undefined; and x86-64 and AArch64 make aligned
//! accesses single-copy atomic and do not tell sizes apart when they order them.
//!
//! Machine code that a shader was compiled to accesses views outside of the language ([`MemoryView::HOST`]):
//! aligned components of 1, 2 and 4 bytes by one instruction each, read-modify-writes by locked ones, ranges
//! by vector instructions, which tear at most between bytes. To who else accesses the bytes that is what the
//! rule says, as x86-64 makes all of these the atomic accesses that Rust's own are compiled to. Stores past
//! the caches, which others may see in any order, are made only where nothing in the shader orders any, and
//! each thread fences them before it tells anyone that it has ended.
//!
//! **Guarantee.** Every function here takes a [`MemoryView`], whose bytes stay mapped as long as it lives,
//! and checks bounds. Nothing that safe code does with a view is undefined behaviour.

use crate::access::{AtomicOp, Reference};
use crate::device::Allocation;
use half::f16;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

mod bulk;

/// Shared bytes that accesses go to: those that shaders reach through one descriptor or one buffer address
/// range, or a workgroup's.
#[derive(Clone, Copy, Debug)]
pub struct MemoryView<'a> {
    /// Where the bytes are in this process (never shown to anyone). `host .. host + size` is mapped, readable
    /// and writable for `'a`, and for so long all accesses keep to this file's rule.
    host: *mut u8,
    size: u64,
    /// The device address of the first byte: deterministic, the identity of locations.
    pub address: u64,
    /// The reference that accesses through this view have.
    pub reference: Reference,
    memory: Option<&'a Arc<Allocation>>,
}

// SAFETY: threads may access the bytes at the same time, by the rule above.
unsafe impl Send for MemoryView<'_> {}
// SAFETY: as for Send.
unsafe impl Sync for MemoryView<'_> {}

/// The reference of a view of nothing.
const NO_REFERENCE: Reference = Reference(u32::MAX);

impl<'a> MemoryView<'a> {
    /// Where in a view machine code finds the address of its first byte, and their number. Code that keeps to
    /// these bounds and to this file's rule may access them while the view lives.
    pub const HOST: usize = std::mem::offset_of!(MemoryView<'static>, host);
    /// See [`MemoryView::HOST`].
    pub const SIZE: usize = std::mem::offset_of!(MemoryView<'static>, size);
    /// The device address of the first byte.
    pub const ADDRESS: usize = std::mem::offset_of!(MemoryView<'static>, address);

    /// A view of nothing: every access is out of bounds.
    pub const NULL: MemoryView<'static> =
        MemoryView { host: std::ptr::null_mut(), size: 0, address: 0, reference: NO_REFERENCE, memory: None };

    /// A view of nothing, through a descriptor that is VK_NULL_HANDLE.
    pub const NULL_DESCRIPTOR: MemoryView<'static> =
        MemoryView { reference: Reference::NULL_DESCRIPTOR, ..MemoryView::NULL };

    /// The bytes of words that nobody else can reach for `'a`, by default at address 0.
    pub fn of_words<T: Word>(words: &'a mut [T]) -> MemoryView<'a> {
        let size = size_of_val(words) as u64;
        MemoryView { host: words.as_mut_ptr().cast(), size, ..MemoryView::NULL }
    }

    /// All bytes of a mapping.
    ///
    /// # Safety
    /// For `'a`, `host .. host + size` is one mapping, readable and writable, and no Rust code accesses its
    /// bytes but through views.
    pub(crate) unsafe fn of_mapping(host: *mut u8, size: u64) -> MemoryView<'a> {
        MemoryView { host, size, ..MemoryView::NULL }
    }

    /// As a part of this allocation, which it is.
    #[inline(always)]
    pub(crate) fn of_allocation<'b>(self, memory: Option<&'b Arc<Allocation>>) -> MemoryView<'b>
    where
        'a: 'b,
    {
        MemoryView { memory, ..self }
    }

    /// The allocation that it is a part of, if it is one.
    pub(crate) fn memory(&self) -> Option<&'a Arc<Allocation>> {
        self.memory
    }

    /// Bytes that may be accessed.
    #[inline(always)]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The same bytes at another address.
    pub fn at(self, address: u64) -> MemoryView<'a> {
        MemoryView { address, ..self }
    }

    /// It, and what its allocation has of the bytes that share its first and last 32-bit words.
    #[inline(always)]
    pub(crate) fn whole_words(&self) -> MemoryView<'a> {
        if (self.address | self.size).is_multiple_of(4) { *self } else { self.widened() }
    }

    #[cold]
    fn widened(&self) -> MemoryView<'a> {
        let Some(memory) = self.memory else { return *self };
        let start = (self.address & !3).max(memory.address());
        let end = (self.address + self.size).next_multiple_of(4);
        memory.bytes().part(start - memory.address(), end - start).through(self.reference)
    }

    /// The same bytes through a reference.
    #[inline(always)]
    pub fn through(self, reference: Reference) -> MemoryView<'a> {
        MemoryView { reference, ..self }
    }

    /// Up to `size` bytes from `offset` on; nothing past the end.
    #[inline(always)]
    pub fn part(self, offset: u64, size: u64) -> MemoryView<'a> {
        let offset = offset.min(self.size);
        MemoryView {
            host: self.host.wrapping_add(offset as usize),
            size: size.min(self.size - offset),
            address: self.address + offset,
            ..self
        }
    }
}

/// Integers without invalid values.
pub trait Word: sealed::Sealed {}
impl Word for u32 {}
impl Word for u64 {}

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
    impl Sealed for u32 {}
    impl Sealed for u64 {}
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

/// The pointer to `size` bytes at `offset` if they lie within the view: valid as long as the view.
#[inline(always)]
fn at(view: &MemoryView<'_>, offset: u64, size: u64) -> Option<*mut u8> {
    let end = offset.checked_add(size)?;
    (end <= view.size).then(|| view.host.wrapping_add(offset as usize))
}

#[inline(always)]
fn aligned(pointer: *mut u8, size: usize) -> bool {
    pointer as usize & (size - 1) == 0
}

/// The pointer to a component of 1, 2, 4 or 8 bytes, if it lies within the view.
#[inline(always)]
fn component(view: &MemoryView<'_>, offset: u64, size: u8) -> Option<*mut u8> {
    if matches!(size, 1 | 2 | 4 | 8) { at(view, offset, u64::from(size)) } else { None }
}

/// Loads one component of 1, 2, 4 or 8 bytes, little endian; `None` if it is out of bounds, or of another
/// size. `ordering` is Relaxed or Acquire. An unaligned component is read byte by byte.
#[inline(always)]
pub fn load(view: &MemoryView<'_>, offset: u64, size: u8, ordering: Ordering) -> Option<u64> {
    let p = component(view, offset, size)?;
    if !aligned(p, usize::from(size)) {
        // SAFETY: in bounds.
        return Some(unsafe { load_bytes(p, size) });
    }
    // SAFETY: in bounds, of one of these sizes and aligned to it, mapped as long as the view; concurrent
    // accesses are atomic too.
    Some(unsafe {
        match size {
            1 => u64::from(AtomicU8::from_ptr(p).load(ordering)),
            2 => u64::from(AtomicU16::from_ptr(p.cast()).load(ordering)),
            4 => u64::from(AtomicU32::from_ptr(p.cast()).load(ordering)),
            _ => AtomicU64::from_ptr(p.cast()).load(ordering),
        }
    })
}

/// # Safety
/// `size` bytes at `p` are in bounds of a view.
#[cold]
unsafe fn load_bytes(p: *mut u8, size: u8) -> u64 {
    (0..usize::from(size)).fold(0, |value, i| {
        // SAFETY: byte `i` is one of them.
        value | u64::from(unsafe { AtomicU8::from_ptr(p.add(i)) }.load(Ordering::Relaxed)) << (8 * i)
    })
}

/// Stores one component; false if it is out of bounds, or not of 1, 2, 4 or 8 bytes. `ordering` is Relaxed or
/// Release.
#[inline(always)]
pub fn store(view: &MemoryView<'_>, offset: u64, size: u8, value: u64, ordering: Ordering) -> bool {
    let Some(p) = component(view, offset, size) else { return false };
    if !aligned(p, usize::from(size)) {
        // SAFETY: in bounds.
        unsafe { store_bytes(p, size, value) };
        return true;
    }
    // SAFETY: in bounds, of one of these sizes and aligned to it, mapped as long as the view; concurrent
    // accesses are atomic too.
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

/// # Safety
/// `size` bytes at `p` are in bounds of a view.
#[cold]
unsafe fn store_bytes(p: *mut u8, size: u8, value: u64) {
    for i in 0..usize::from(size) {
        // SAFETY: byte `i` is one of them.
        unsafe { AtomicU8::from_ptr(p.add(i)) }.store((value >> (8 * i)) as u8, Ordering::Relaxed);
    }
}

/// Applies a read-modify-write of 1, 2, 4 or 8 bytes (SPIR-V has 2 for floats alone, and not 1) and returns
/// the original value; `None` if it is out of bounds, unaligned, or of another size.
#[inline(always)]
pub fn read_modify_write(
    view: &MemoryView<'_>,
    offset: u64,
    size: u8,
    op: AtomicOp,
    value: u64,
    comparator: u64,
) -> Option<u64> {
    let p = component(view, offset, size)?;
    if !aligned(p, usize::from(size)) {
        return None;
    }
    // SAFETY: in bounds, of one of these sizes and aligned to it, mapped as long as the view; concurrent
    // accesses are atomic too.
    Some(unsafe {
        match size {
            1 => AtomicU8::from_ptr(p).modify(op, value, comparator),
            2 => AtomicU16::from_ptr(p.cast()).modify(op, value, comparator),
            4 => AtomicU32::from_ptr(p.cast()).modify(op, value, comparator),
            _ => AtomicU64::from_ptr(p.cast()).modify(op, value, comparator),
        }
    })
}

macro_rules! float_op {
    ($op:expr, $a:expr, $b:expr) => {
        match $op {
            AtomicOp::FAdd => $a + $b,
            AtomicOp::FMin => $a.min($b),
            _ => $a.max($b),
        }
    };
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
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => match size {
            2 => {
                let float = |bits: u64| f16::from_bits(bits as u16).to_f32();
                // Rounding a sum twice is rounding it once: 24 bits are at least 2 * 11 + 2.
                u64::from(f16::from_f32(float_op!(op, float(old), float(value))).to_bits())
            }
            8 => float_op!(op, f64::from_bits(old), f64::from_bits(value)).to_bits(),
            _ => u64::from(float_op!(op, f32::from_bits(old as u32), f32::from_bits(value as u32)).to_bits()),
        },
    };
    new & mask
}

/// Copies `out.len()` 32-bit words from the view; false, and nothing copied, if they are not all in bounds.
/// `out.len()` is a multiple of 8.
#[inline(always)]
pub fn copy_words_out(view: &MemoryView<'_>, offset: u64, out: &mut [u32]) -> bool {
    let Some(p) = at(view, offset, 4 * out.len() as u64) else { return false };
    // SAFETY: the source is in bounds of the view, the target is `out`, which nobody else can reach.
    unsafe { bulk::blocks_out(p, out.as_mut_ptr().cast(), out.len() / 8) };
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
    view: &'a MemoryView<'_>,
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
pub fn copy_words_in(view: &MemoryView<'_>, offset: u64, words: &[u32]) -> bool {
    let Some(p) = at(view, offset, 4 * words.len() as u64) else { return false };
    // SAFETY: the target is in bounds of the view, the source is `words`, which nobody else can write.
    unsafe { bulk::blocks_in(words.as_ptr().cast(), p, words.len() / 8) };
    true
}

/// Reads a range; false, and nothing read, if it is not in bounds.
#[inline]
pub fn read(view: &MemoryView<'_>, offset: u64, out: &mut [u8]) -> bool {
    let Some(p) = at(view, offset, out.len() as u64) else { return false };
    // SAFETY: the source is in bounds of the view, the target is `out`, which nobody else can reach.
    unsafe { bulk::copy_out(p, out.as_mut_ptr(), out.len()) };
    true
}

/// Writes a range; false, and nothing written, if it is not in bounds.
#[inline]
pub fn write(view: &MemoryView<'_>, offset: u64, bytes: &[u8]) -> bool {
    let Some(p) = at(view, offset, bytes.len() as u64) else { return false };
    // SAFETY: the target is in bounds of the view, the source is `bytes`, which nobody else can write.
    unsafe { bulk::copy_in(bytes.as_ptr(), p, bytes.len()) };
    true
}

/// Copies the bytes of one view to another one of that size, which may overlap it; false, and nothing copied,
/// if the sizes differ.
pub fn copy(from: &MemoryView<'_>, to: &MemoryView<'_>) -> bool {
    if from.size != to.size {
        return false;
    }
    // SAFETY: both views have that many bytes.
    unsafe { bulk::copy(from.host, to.host, from.size as usize) };
    true
}

/// Copies the bytes of one view to another one of that size, a multiple of 64, which does not overlap it.
/// Calls `each` with the offset of each 64 bytes of which some changed, in order, and a bit for each of them:
/// that of the first is the lowest. False, and nothing copied, if the sizes are not such.
pub fn update(from: &MemoryView<'_>, to: &MemoryView<'_>, mut each: impl FnMut(u64, u64)) -> bool {
    let distance = (from.host as usize).abs_diff(to.host as usize);
    if from.size != to.size || !from.size.is_multiple_of(64) || (distance as u64) < from.size {
        return false;
    }
    for at in (0..from.size).step_by(64) {
        // SAFETY: both views have these bytes, and they do not overlap.
        let changed = unsafe { bulk::update(from.host.add(at as usize), to.host.add(at as usize)) };
        if changed != 0 {
            each(at, changed);
        }
    }
    true
}

/// Whether two views of one size hold the same bytes.
pub fn same(one: &MemoryView<'_>, other: &MemoryView<'_>) -> bool {
    const CHUNK: usize = 4096;
    let [mut mine, mut theirs] = [[0; CHUNK]; 2];
    (0..one.size).step_by(CHUNK).all(|at| {
        let bytes = (one.size - at).min(CHUNK as u64) as usize;
        let (mine, theirs) = (&mut mine[..bytes], &mut theirs[..bytes]);
        read(one, at, mine) && read(other, at, theirs) && mine == theirs
    })
}

/// Bytes that a pattern is repeated to, to be copied.
const TILE: usize = 4096;

/// Fills the view with a repeated pattern, which is not empty and may be cut at the end.
pub fn fill(view: &MemoryView<'_>, pattern: &[u8]) {
    let mut done = 0;
    if size_of::<u64>().is_multiple_of(pattern.len()) || pattern.iter().all(|byte| *byte == pattern[0]) {
        let word = u64::from_ne_bytes(std::array::from_fn(|i| pattern[i % pattern.len()]));
        // SAFETY: so many words lie within the view.
        unsafe { bulk::fill(view.host, word, (view.size / 8) as usize) };
        done = view.size / 8 * 8;
    }
    // A whole number of patterns each time keeps the pattern's phase.
    let tile = pattern.repeat((TILE / pattern.len()).max(1));
    while done < view.size {
        let bytes = (view.size - done).min(tile.len() as u64);
        write(view, done, &tile[..bytes as usize]);
        done += bytes;
    }
}

#[cfg(test)]
mod tests;
