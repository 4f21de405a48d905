//! Which instruction sets the host has.

/// The instruction sets that the loop is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best one that this host has.
    pub fn detect() -> Level {
        static LEVEL: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
        *LEVEL.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            {
                use std::is_x86_feature_detected as has;
                let bits = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
                if bits && has!("avx2") {
                    let wide = has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512bw");
                    return if wide { Level::Avx512 } else { Level::Avx2 };
                }
            }
            Level::Baseline
        })
    }
}
