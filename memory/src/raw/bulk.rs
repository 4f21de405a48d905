//! Copies and fills of shared bytes at the machine's full speed, in terms of the rule of [`super`].
//!
//! On x86-64 they are machine instructions that the compiler does not see through. What one of these blocks
//! does to shared bytes is what as many relaxed atomic loads and stores of single bytes would do, in some
//! order: x86 tears a wide access at most between bytes, so each byte that it moves is one that was there.
//! Elsewhere (and under Miri) they are those atomic accesses, of 8 bytes where both sides are aligned.

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub use portable::*;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use x86_64::*;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64 {
    use std::arch::asm;
    use std::arch::x86_64::__m128i;

    /// Bytes from which on the string instructions are faster than 32 bytes at a time.
    const STRING: usize = 512;

    /// One 32-byte block.
    ///
    /// # Safety
    /// Both sides hold 32 bytes.
    #[inline(always)]
    unsafe fn block(from: *const u8, to: *mut u8) {
        // SAFETY: both blocks are valid; SSE2 is part of x86-64. Both halves are loaded before one is stored.
        unsafe {
            asm!(
                "movups {a}, [{from}]",
                "movups {b}, [{from} + 16]",
                "movups [{to}], {a}",
                "movups [{to} + 16], {b}",
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                from = in(reg) from,
                to = in(reg) to,
                options(nostack, preserves_flags),
            );
        }
    }

    macro_rules! single {
        ($name:ident, $class:ident, $load:literal, $store:literal) => {
            /// As many bytes as it says.
            ///
            /// # Safety
            /// Both sides hold them.
            #[inline(always)]
            unsafe fn $name(from: *const u8, to: *mut u8) {
                // SAFETY: as the caller promises.
                unsafe {
                    asm!(
                        $load,
                        $store,
                        x = out($class) _,
                        from = in(reg) from,
                        to = in(reg) to,
                        options(nostack, preserves_flags),
                    );
                }
            }
        };
    }
    single!(sixteen, xmm_reg, "movups {x}, [{from}]", "movups [{to}], {x}");
    single!(eight, reg, "mov {x}, [{from}]", "mov [{to}], {x}");
    single!(four, reg, "mov {x:e}, [{from}]", "mov [{to}], {x:e}");
    single!(two, reg, "mov {x:x}, [{from}]", "mov [{to}], {x:x}");
    single!(one, reg_byte, "mov {x}, [{from}]", "mov [{to}], {x}");

    /// The same, encoded for AVX. Amid code that uses wider registers, an instruction in the encoding of SSE
    /// has some processors put their upper halves aside, and the next one fetch them again: about a hundred
    /// cycles.
    ///
    /// # Safety
    /// Both sides hold 32 bytes, and the processor has AVX.
    #[inline(always)]
    unsafe fn block_avx(from: *const u8, to: *mut u8) {
        // SAFETY: both blocks are valid; the caller knows of AVX. The upper halves of the registers that
        // become zero belong to the operands: what is written is all of a register.
        unsafe {
            asm!(
                "vmovups {a}, [{from}]",
                "vmovups {b}, [{from} + 16]",
                "vmovups [{to}], {a}",
                "vmovups [{to} + 16], {b}",
                a = out(xmm_reg) _,
                b = out(xmm_reg) _,
                from = in(reg) from,
                to = in(reg) to,
                options(nostack, preserves_flags),
            );
        }
    }

    /// Copies `blocks` blocks of 32 shared bytes to a register, from the first to the last.
    ///
    /// # Safety
    /// Both sides hold that many bytes; they may overlap where the target begins before the source, as each
    /// block is loaded before it is stored.
    #[inline(always)]
    pub unsafe fn blocks_out(from: *mut u8, to: *mut u8, blocks: usize) {
        if std::arch::is_x86_feature_detected!("avx") {
            for i in 0..blocks {
                // SAFETY: block `i` lies within both sides.
                unsafe { block_avx(from.add(32 * i), to.add(32 * i)) };
            }
        } else {
            for i in 0..blocks {
                // SAFETY: block `i` lies within both sides.
                unsafe { block(from.add(32 * i), to.add(32 * i)) };
            }
        }
    }

    /// Copies `blocks` blocks of 32 bytes from a register to shared bytes, from the first to the last.
    ///
    /// # Safety
    /// Those of [`blocks_out`].
    #[inline(always)]
    pub unsafe fn blocks_in(from: *const u8, to: *mut u8, blocks: usize) {
        // SAFETY: as the caller promises; nothing is written through `from`.
        unsafe { blocks_out(from.cast_mut(), to, blocks) };
    }

    /// Copies `bytes` shared bytes; they may overlap.
    ///
    /// # Safety
    /// Both sides hold that many bytes.
    pub unsafe fn copy(from: *mut u8, to: *mut u8, bytes: usize) {
        // The target begins inside the source: from the last byte to the first.
        if (to as usize).wrapping_sub(from as usize) < bytes {
            let mut left = bytes;
            while left >= 32 {
                left -= 32;
                // SAFETY: the block lies within both sides.
                unsafe { block(from.add(left), to.add(left)) };
            }
            for i in (0..left).rev() {
                // SAFETY: byte `i` lies within both sides.
                unsafe { one(from.add(i), to.add(i)) };
            }
        } else {
            // SAFETY: as the caller promises.
            unsafe { ascending(from, to, bytes) };
        }
    }

    /// Copies `bytes` bytes, from the first to the last.
    ///
    /// # Safety
    /// Both sides hold that many bytes.
    #[inline(always)]
    unsafe fn ascending(from: *const u8, to: *mut u8, bytes: usize) {
        if bytes < 32 {
            // SAFETY: as the caller promises.
            unsafe { short(from, to, bytes) };
        } else {
            // SAFETY: as the caller promises.
            unsafe { long(from, to, bytes) };
        }
    }

    /// Copies less than 32 bytes: the powers of two that they are the sum of, the largest first.
    ///
    /// # Safety
    /// Both sides hold that many bytes.
    #[inline(always)]
    unsafe fn short(from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: what the larger powers have copied and the next one are `bytes` bytes at most.
        unsafe {
            if bytes & 16 != 0 {
                sixteen(from, to);
            }
            let done = bytes & 16;
            if bytes & 8 != 0 {
                eight(from.add(done), to.add(done));
            }
            let done = bytes & 24;
            if bytes & 4 != 0 {
                four(from.add(done), to.add(done));
            }
            let done = bytes & 28;
            if bytes & 2 != 0 {
                two(from.add(done), to.add(done));
            }
            let done = bytes & 30;
            if bytes & 1 != 0 {
                one(from.add(done), to.add(done));
            }
        }
    }

    /// Copies 32 bytes or more.
    ///
    /// # Safety
    /// Both sides hold that many bytes.
    #[inline(never)]
    unsafe fn long(from: *const u8, to: *mut u8, bytes: usize) {
        if bytes >= STRING {
            // SAFETY: both sides hold `bytes` bytes; the direction flag is clear by the calling convention.
            unsafe {
                asm!(
                    "rep movsb",
                    inout("rcx") bytes => _,
                    inout("rsi") from => _,
                    inout("rdi") to => _,
                    options(nostack, preserves_flags),
                );
            }
            return;
        }
        let done = bytes / 32 * 32;
        // SAFETY: the blocks, and what is left behind them, lie within both sides.
        unsafe {
            blocks_in(from, to, bytes / 32);
            short(from.add(done), to.add(done), bytes - done);
        }
    }

    /// Copies shared bytes to memory of the caller's own.
    ///
    /// # Safety
    /// Both sides hold that many bytes and do not overlap.
    #[inline(always)]
    pub unsafe fn copy_out(from: *mut u8, to: *mut u8, bytes: usize) {
        // SAFETY: as the caller promises.
        unsafe { ascending(from, to, bytes) };
    }

    /// Copies memory of the caller's own to shared bytes.
    ///
    /// # Safety
    /// Both sides hold that many bytes and do not overlap.
    #[inline(always)]
    pub unsafe fn copy_in(from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: as the caller promises.
        unsafe { ascending(from, to, bytes) };
    }

    /// Copies 64 bytes. Bit `i` of the result: byte `i` of the target was another.
    ///
    /// # Safety
    /// Both sides hold 64 bytes and do not overlap.
    #[inline(always)]
    pub unsafe fn update(from: *const u8, to: *mut u8) -> u64 {
        let mut changed = 0;
        let blocks: [__m128i; 4] = std::array::from_fn(|i| {
            let (now, same): (__m128i, u32);
            // SAFETY: both sides hold the block; SSE2 is part of x86-64.
            unsafe {
                asm!(
                    "movups {now}, [{from}]",
                    "movups {old}, [{to}]",
                    "pcmpeqb {old}, {now}",
                    "pmovmskb {same:e}, {old}",
                    now = out(xmm_reg) now,
                    old = out(xmm_reg) _,
                    same = out(reg) same,
                    from = in(reg) from.wrapping_add(16 * i),
                    to = in(reg) to.wrapping_add(16 * i),
                    options(nostack, preserves_flags, readonly),
                );
            }
            changed |= u64::from(!same as u16) << (16 * i);
            now
        });
        if changed != 0 {
            for (i, now) in blocks.into_iter().enumerate() {
                // SAFETY: the target holds the block. What is stored is what was compared.
                unsafe {
                    asm!(
                        "movups [{to}], {now}",
                        now = in(xmm_reg) now,
                        to = in(reg) to.wrapping_add(16 * i),
                        options(nostack, preserves_flags),
                    );
                }
            }
        }
        changed
    }

    /// Fills `words` times 8 bytes.
    ///
    /// # Safety
    /// The target holds that many bytes.
    pub unsafe fn fill(to: *mut u8, word: u64, words: usize) {
        // SAFETY: the target holds the words; the direction flag is clear by the calling convention.
        unsafe {
            asm!(
                "rep stosq",
                inout("rcx") words => _,
                inout("rdi") to => _,
                in("rax") word,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod portable {
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

    /// Calls `word` for every 8 bytes from the first place on where both sides are aligned, and `byte` for
    /// the bytes around them.
    fn each(skewed: bool, to: *mut u8, bytes: usize, byte: impl Fn(usize), word: impl Fn(usize)) {
        let head = if skewed { bytes } else { to.align_offset(8).min(bytes) };
        let words = (bytes - head) / 8;
        (0..head).for_each(&byte);
        (0..words).for_each(|i| word(head + 8 * i));
        (head + 8 * words..bytes).for_each(&byte);
    }

    fn skewed(from: *const u8, to: *mut u8) -> bool {
        !(from as usize ^ to as usize).is_multiple_of(8)
    }

    /// Copies `bytes` shared bytes; they may overlap.
    ///
    /// # Safety
    /// Both sides hold that many bytes.
    pub unsafe fn copy(from: *mut u8, to: *mut u8, bytes: usize) {
        let byte = |i| {
            // SAFETY: byte `i` lies within both sides.
            unsafe {
                AtomicU8::from_ptr(to.add(i)).store(AtomicU8::from_ptr(from.add(i)).load(Relaxed), Relaxed)
            }
        };
        // The target begins inside the source: from the last byte to the first.
        if (to as usize).wrapping_sub(from as usize) < bytes {
            return (0..bytes).rev().for_each(byte);
        }
        each(skewed(from, to), to, bytes, byte, |i| {
            // SAFETY: the word lies within both sides, which are aligned there.
            unsafe {
                let word = AtomicU64::from_ptr(from.add(i).cast()).load(Relaxed);
                AtomicU64::from_ptr(to.add(i).cast()).store(word, Relaxed);
            }
        });
    }

    /// Copies shared bytes to memory of the caller's own.
    ///
    /// # Safety
    /// Both sides hold that many bytes and do not overlap.
    pub unsafe fn copy_out(from: *mut u8, to: *mut u8, bytes: usize) {
        // SAFETY: byte `i` lies within both sides.
        let byte = |i| unsafe { to.add(i).write(AtomicU8::from_ptr(from.add(i)).load(Relaxed)) };
        each(skewed(from, to), to, bytes, byte, |i| {
            // SAFETY: the word lies within both sides, which are aligned there.
            unsafe { to.add(i).cast::<u64>().write(AtomicU64::from_ptr(from.add(i).cast()).load(Relaxed)) }
        });
    }

    /// Copies memory of the caller's own to shared bytes.
    ///
    /// # Safety
    /// Both sides hold that many bytes and do not overlap.
    pub unsafe fn copy_in(from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: byte `i` lies within both sides.
        let byte = |i| unsafe { AtomicU8::from_ptr(to.add(i)).store(from.add(i).read(), Relaxed) };
        each(skewed(from, to), to, bytes, byte, |i| {
            // SAFETY: the word lies within both sides, which are aligned there.
            unsafe { AtomicU64::from_ptr(to.add(i).cast()).store(from.add(i).cast::<u64>().read(), Relaxed) }
        });
    }

    /// Copies `blocks` blocks of 32 shared bytes to a register.
    ///
    /// # Safety
    /// As for [`copy_out`].
    #[inline(always)]
    pub unsafe fn blocks_out(from: *mut u8, to: *mut u8, blocks: usize) {
        // SAFETY: as the caller promises.
        unsafe { copy_out(from, to, 32 * blocks) };
    }

    /// Copies `blocks` blocks of 32 bytes from a register to shared bytes.
    ///
    /// # Safety
    /// As for [`copy_in`].
    #[inline(always)]
    pub unsafe fn blocks_in(from: *const u8, to: *mut u8, blocks: usize) {
        // SAFETY: as the caller promises.
        unsafe { copy_in(from, to, 32 * blocks) };
    }

    /// Copies 64 bytes. Bit `i` of the result: byte `i` of the target was another.
    ///
    /// # Safety
    /// Both sides hold 64 bytes and do not overlap.
    pub unsafe fn update(from: *const u8, to: *mut u8) -> u64 {
        let ([mut now, mut old], mut changed) = ([[0; 64]; 2], 0);
        // SAFETY: as the caller promises.
        unsafe {
            copy_out(from.cast_mut(), now.as_mut_ptr(), 64);
            copy_out(to, old.as_mut_ptr(), 64);
        }
        for (i, (now, old)) in now.iter().zip(&old).enumerate() {
            changed |= u64::from(now != old) << i;
        }
        if changed != 0 {
            // SAFETY: as the caller promises.
            unsafe { copy_in(now.as_ptr(), to, 64) };
        }
        changed
    }

    /// Fills `words` times 8 bytes.
    ///
    /// # Safety
    /// The target holds that many bytes.
    pub unsafe fn fill(to: *mut u8, word: u64, words: usize) {
        let bytes = word.to_ne_bytes();
        let turned = to.align_offset(8) % 8;
        // The word as it is at the aligned places, which are `turned` bytes behind the first.
        let aligned = u64::from_ne_bytes(std::array::from_fn(|i| bytes[(i + turned) % 8]));
        // SAFETY: byte `i` lies within the target.
        let byte = |i: usize| unsafe { AtomicU8::from_ptr(to.add(i)).store(bytes[i % 8], Relaxed) };
        each(false, to, 8 * words, byte, |i| {
            // SAFETY: the word lies within the target, which is aligned there.
            unsafe { AtomicU64::from_ptr(to.add(i).cast()).store(aligned, Relaxed) }
        });
    }
}
