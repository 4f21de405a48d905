//! The exit statuses of every subcommand.

/// All results are as expected (or nothing was to be judged).
pub const AS_EXPECTED: u8 = 0;
/// At least one result is worse than expected. Also: `page --check` found the page out of date.
pub const REGRESSION: u8 = 1;
/// The command line is wrong, a file cannot be read, the suite's binary does not start, or shards do not fit
/// together.
pub const INFRASTRUCTURE: u8 = 2;
/// Nothing is worse than expected and something is better: the baseline should be updated.
pub const IMPROVEMENT: u8 = 3;

/// The status of two runs together: an infrastructure error weighs most, then a regression, then an
/// improvement.
pub fn worst(a: u8, b: u8) -> u8 {
    let weight = |status| match status {
        AS_EXPECTED => 0,
        IMPROVEMENT => 1,
        REGRESSION => 2,
        _ => 3,
    };
    if weight(a) >= weight(b) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regression_outweighs_an_improvement() {
        assert_eq!(worst(IMPROVEMENT, REGRESSION), REGRESSION);
        assert_eq!(worst(REGRESSION, INFRASTRUCTURE), INFRASTRUCTURE);
        assert_eq!(worst(AS_EXPECTED, IMPROVEMENT), IMPROVEMENT);
    }
}
