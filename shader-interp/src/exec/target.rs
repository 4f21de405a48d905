//! Instruction sets of the host: the dispatch loop is compiled for each, and one is chosen when it is first
//! used. All compute the same bits.

use super::context::Context;
use pellucid_memory::system::{Lanes, Mask, Trap};

/// Lanes that an operation handles at a time.
pub(crate) const CHUNK: usize = 16;

/// What an instruction does whose code is a function of its own for each instruction set: unlike a closure it
/// is inlined there whatever its size. `E` describes the instruction; the arguments fit into registers of the
/// host.
pub(crate) trait Work<E, M> {
    /// Whether memory may have changed, or nothing.
    type Output;

    /// Does it. Implementations are `#[inline(always)]`.
    ///
    /// # Errors
    /// Traps of the memory system; boxed, so that the result fits into registers, too.
    fn run<T: Target>(
        context: &Context<'_>,
        entry: &E,
        vectors: &mut [Lanes],
        mask: Mask,
        memory: &mut M,
    ) -> Result<Self::Output, Box<Trap>>;
}

/// A host instruction set.
pub(crate) trait Target {
    /// Whether code that is there for speed alone is compiled for it, as it is much to compile: loops over
    /// whole programs hold the table's short rows, which elsewhere are functions that all loops share, and
    /// the usual cases of images have code of their own.
    const FOR_SPEED: bool = true;

    /// A bit for each word: its top bit.
    fn mask_of(words: &[u32; CHUNK]) -> u32;

    /// Calls `f` as a function of its own, compiled for this instruction set.
    fn out_of_line<R>(f: impl FnOnce() -> R) -> R;

    /// Does the work in a function of its own, compiled for this instruction set.
    fn work<W: Work<E, M>, E, M>(
        context: &Context<'_>,
        entry: &E,
        vectors: &mut [Lanes],
        mask: Mask,
        memory: &mut M,
    ) -> Result<W::Output, Box<Trap>>;
}

/// What every host of the architecture has.
pub(crate) struct Baseline;

impl Target for Baseline {
    /// Few hosts of x86-64 have nothing better.
    const FOR_SPEED: bool = cfg!(not(target_arch = "x86_64"));

    #[inline(always)]
    fn mask_of(words: &[u32; CHUNK]) -> u32 {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_mm_loadu_ps, _mm_movemask_ps};
            let mut mask = 0;
            for k in 0..CHUNK / 4 {
                // SAFETY: SSE is part of x86-64; four words of the array are read.
                let bits = unsafe { _mm_movemask_ps(_mm_loadu_ps(words.as_ptr().add(4 * k).cast())) };
                mask |= (bits as u32) << (4 * k);
            }
            mask
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            words.iter().enumerate().fold(0, |mask, (k, word)| mask | (word >> 31) << k)
        }
    }

    #[inline(never)]
    fn out_of_line<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(never)]
    fn work<W: Work<E, M>, E, M>(
        context: &Context<'_>,
        entry: &E,
        vectors: &mut [Lanes],
        mask: Mask,
        memory: &mut M,
    ) -> Result<W::Output, Box<Trap>> {
        W::run::<Self>(context, entry, vectors, mask, memory)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{CHUNK, Context, Lanes, Mask, Target, Trap, Work};
    use std::arch::x86_64::{_mm256_loadu_ps, _mm256_movemask_ps, _mm512_loadu_si512, _mm512_movepi32_mask};

    macro_rules! target {
        ($(#[$doc:meta])* $name:ident, $features:literal, $words:ident => $mask:expr) => {
            $(#[$doc])*
            pub(crate) struct $name;

            impl $name {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn call<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }

                #[target_feature(enable = $features)]
                #[inline(never)]
                fn call_work<W: Work<E, M>, E, M>(
                    context: &Context<'_>,
                    entry: &E,
                    vectors: &mut [Lanes],
                    mask: Mask,
                    memory: &mut M,
                ) -> Result<W::Output, Box<Trap>> {
                    W::run::<Self>(context, entry, vectors, mask, memory)
                }
            }

            impl Target for $name {
                #[inline(always)]
                fn mask_of($words: &[u32; CHUNK]) -> u32 {
                    // SAFETY: the host has the instructions (see `Level::detect`); the words of the array are
                    // read, no others.
                    unsafe { $mask }
                }

                #[inline(always)]
                fn out_of_line<R>(f: impl FnOnce() -> R) -> R {
                    // SAFETY: the host has the instructions.
                    unsafe { Self::call(f) }
                }

                #[inline(always)]
                fn work<W: Work<E, M>, E, M>(
                    context: &Context<'_>,
                    entry: &E,
                    vectors: &mut [Lanes],
                    mask: Mask,
                    memory: &mut M,
                ) -> Result<W::Output, Box<Trap>> {
                    // SAFETY: the host has the instructions.
                    unsafe { Self::call_work::<W, E, M>(context, entry, vectors, mask, memory) }
                }
            }
        };
    }
    target! {
        /// AVX2. Used only after detection.
        Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt", words => {
            let low = _mm256_movemask_ps(_mm256_loadu_ps(words.as_ptr().cast()));
            let high = _mm256_movemask_ps(_mm256_loadu_ps(words.as_ptr().add(8).cast()));
            low as u32 | (high as u32) << 8
        }
    }
    target! {
        /// AVX-512. Used only after detection.
        Avx512, "avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt", words => {
            u32::from(_mm512_movepi32_mask(_mm512_loadu_si512(words.as_ptr().cast())))
        }
    }
}
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};
