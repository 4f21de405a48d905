//! The floating-point environment of a thread that is not ours.
//!
//! Shaders compute in the default environment: round to nearest, no flushing of denormals, no traps. The
//! driver's own threads have it; an application's thread may have changed it.

/// Runs `body` in the default environment and restores the thread's own after it.
#[cfg(target_arch = "x86_64")]
pub fn with_default_environment<T>(body: impl FnOnce() -> T) -> T {
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: the value was read from the same register of the same thread.
            unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.0, options(nostack, readonly)) };
        }
    }
    const DEFAULT: u32 = 0x1f80;
    let mut before = 0u32;
    // SAFETY: stores the register's value in a variable of its size.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut before, options(nostack)) };
    // The low six bits are sticky flags of the past.
    if before & !0x3f == DEFAULT {
        return body();
    }
    let _restore = Restore(before);
    let default = DEFAULT;
    // SAFETY: the value is the register's value at program start.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const default, options(nostack, readonly)) };
    body()
}

/// Runs `body`.
#[cfg(not(target_arch = "x86_64"))]
pub fn with_default_environment<T>(body: impl FnOnce() -> T) -> T {
    body()
}
