//! Operations on all lanes of registers: how operands lie there, and what the rows of the table become.

use super::target::CHUNK;
use crate::arrays::each;
use pellucid_memory::system::Lanes;

/// A type of lane operands: how it lies in vector registers.
pub(super) trait Lane: Copy + Default {
    /// # Safety
    /// The registers of the operand are inside the file.
    unsafe fn read(file: *const Lanes, register: u16, chunk: usize) -> [Self; CHUNK];
    /// # Safety
    /// As for `read`.
    unsafe fn write(file: *mut Lanes, register: u16, chunk: usize, value: [Self; CHUNK]);
}

macro_rules! word_lane {
    ($type:ty, $from:expr, $to:expr) => {
        impl Lane for $type {
            #[inline(always)]
            unsafe fn read(file: *const Lanes, register: u16, chunk: usize) -> [Self; CHUNK] {
                // SAFETY: by the caller.
                let words = unsafe { *file.add(register as usize).cast::<[u32; CHUNK]>().add(chunk) };
                each(|j| $from(words[j]))
            }
            #[inline(always)]
            unsafe fn write(file: *mut Lanes, register: u16, chunk: usize, value: [Self; CHUNK]) {
                // SAFETY: by the caller.
                unsafe {
                    *file.add(register as usize).cast::<[u32; CHUNK]>().add(chunk) = each(|j| $to(value[j]))
                }
            }
        }
    };
}
word_lane!(u32, |x| x, |x| x);
word_lane!(i32, |x| x as i32, |x: i32| x as u32);
word_lane!(f32, f32::from_bits, f32::to_bits);

macro_rules! pair_lane {
    ($type:ty, $from:expr, $to:expr) => {
        impl Lane for $type {
            #[inline(always)]
            unsafe fn read(file: *const Lanes, register: u16, chunk: usize) -> [Self; CHUNK] {
                // SAFETY: by the caller.
                let low = unsafe { u32::read(file, register, chunk) };
                // SAFETY: by the caller.
                let high = unsafe { u32::read(file, register + 1, chunk) };
                each(|j| $from(u64::from(low[j]) | u64::from(high[j]) << 32))
            }
            #[inline(always)]
            unsafe fn write(file: *mut Lanes, register: u16, chunk: usize, value: [Self; CHUNK]) {
                // SAFETY: by the caller.
                unsafe {
                    u32::write(file, register, chunk, each(|j| $to(value[j]) as u32));
                    u32::write(file, register + 1, chunk, each(|j| ($to(value[j]) >> 32) as u32));
                }
            }
        }
    };
}
pair_lane!(u64, |x: u64| x, |x: u64| x);
pair_lane!(i64, |x: u64| x as i64, |x: i64| x as u64);
pair_lane!(f64, f64::from_bits, f64::to_bits);

/// One operation on all lanes.
macro_rules! lanes {
    ($file:ident, $inst:ident, ($($x:ident: $t:ty),*) -> $r:ty $body:block) => {
        for chunk in 0..LANES / CHUNK {
            let fields = [$inst.a, $inst.b, $inst.c, $inst.aux];
            let mut field = 0;
            $(
                // SAFETY: verified.
                let $x = unsafe { <$t as Lane>::read($file, fields[field], chunk) };
                field += 1;
            )*
            let _ = field;
            let mut out = [<$r>::default(); CHUNK];
            for (j, out) in out.iter_mut().enumerate() {
                $(let $x = $x[j];)*
                *out = $body;
            }
            // SAFETY: verified.
            unsafe { <$r as Lane>::write($file, $inst.dst, chunk, out) };
        }
    };
}

/// One test on all lanes: a mask.
macro_rules! test {
    ($target:ident, $file:ident, $inst:ident, ($($x:ident: $t:ty),*) $body:block) => {{
        let mut mask: Mask = 0;
        for chunk in 0..LANES / CHUNK {
            let fields = [$inst.a, $inst.b, $inst.c, $inst.aux];
            let mut field = 0;
            $(
                // SAFETY: verified.
                let $x = unsafe { <$t as Lane>::read($file, fields[field], chunk) };
                field += 1;
            )*
            let _ = field;
            let mut out = [0u32; CHUNK];
            for (j, out) in out.iter_mut().enumerate() {
                $(let $x = $x[j];)*
                *out = if $body { u32::MAX } else { 0 };
            }
            mask |= $target::mask_of(&out) << (chunk * CHUNK);
        }
        mask
    }};
}

pub(super) use {lanes, test};
