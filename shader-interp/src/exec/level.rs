//! Which instruction sets the host has, and which the loop is there for.

use pellucid_memory::system::MemorySystem;

/// The instruction sets that the loop is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Whether the loop over this memory is there for the least that hosts have alone, which is quicker to build:
/// the crate's unit tests compare machine code with the plain loop of its instruction set.
pub(crate) const fn has_one_loop<M: MemorySystem>() -> bool {
    !M::EACH_INSTRUCTION_SET || cfg!(one_instruction_set) || (M::MODELLED && cfg!(test))
}

/// Instructions that this host has: there is no other way to come by one than to detect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Set);

impl Level {
    /// The best one that this host has.
    pub fn detect() -> Level {
        static LEVEL: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
        *LEVEL.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            {
                use std::is_x86_feature_detected as has;
                let bits = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
                if bits && has!("avx2") && has!("f16c") {
                    let wide = has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512bw");
                    return Level(if wide { Set::Avx512 } else { Set::Avx2 });
                }
            }
            Level(Set::Baseline)
        })
    }

    /// The instructions, all of which the host has.
    #[inline(always)]
    pub fn set(self) -> Set {
        self.0
    }

    /// Those of this host above the baseline, the best first.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub fn all() -> Vec<Level> {
        match Level::detect().0 {
            Set::Avx512 => vec![Level(Set::Avx512), Level(Set::Avx2)],
            Set::Avx2 => vec![Level(Set::Avx2)],
            Set::Baseline => Vec::new(),
        }
    }
}
