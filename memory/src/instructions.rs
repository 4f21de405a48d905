//! Which instruction sets the host has, of those that loops over lanes are compiled for.

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// What every host has.
    Baseline,
    /// With BMI1, BMI2, LZCNT, POPCNT and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, DQ, VL and BW, and all of that.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Instructions that this host has: there is no other way to come by one than to detect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Set);

impl Level {
    /// The best one that this host has.
    #[inline(always)]
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
    #[cfg(target_arch = "x86_64")]
    pub fn all() -> Vec<Level> {
        match Level::detect().0 {
            Set::Avx512 => vec![Level(Set::Avx512), Level(Set::Avx2)],
            Set::Avx2 => vec![Level(Set::Avx2)],
            Set::Baseline => Vec::new(),
        }
    }
}
