//! How one case ended.
//!
//! The names are the suite's own (`qpTestResult`), and beside them the runner's: [`Status::Missing`],
//! [`Status::Skip`], [`Status::Flake`] and [`Status::Unknown`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Declares the statuses, each with what it means to a verdict.
macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident: $class:ident,)*) => {
        /// The status of a case. The order is the order of columns in reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Status {
            $($(#[$doc])* $name,)*
        }

        impl Status {
            /// Every status, in the order of report columns.
            pub const ALL: &[Status] = &[$(Status::$name),*];

            /// The name in the suite's output, in baselines and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Status::$name => stringify!($name),)*
                }
            }

            /// What the status means to a verdict.
            pub fn class(self) -> Class {
                match self {
                    $(Status::$name => Class::$class,)*
                }
            }
        }
    };
}

statuses! {
    /// The case passed.
    Pass: Good,
    /// Passed, with output of low quality.
    QualityWarning: Good,
    /// Passed, with a warning about compatibility.
    CompatibilityWarning: Good,
    /// Passed, with a warning about a capability.
    CapabilityWarning: Good,
    /// Failed, and the suite's waiver list excuses it.
    Waiver: Good,
    /// The driver does not claim what the case needs.
    NotSupported: NotSupported,
    /// Not run: named by a skip file.
    Skip: Skip,
    /// Failed, then passed when it was run again.
    Flake: Flake,
    /// The case failed.
    Fail: Failed,
    /// The suite failed in itself, for instance in compiling a shader.
    InternalError: Failed,
    /// The driver had no resource (memory) for the case.
    ResourceError: Failed,
    /// The suite left the case undecided.
    Pending: Failed,
    /// No end within the runner's time limit (or the suite's).
    Timeout: Lost,
    /// The process ended inside the case.
    Crash: Lost,
    /// The device was lost.
    DeviceLost: Lost,
    /// The binary ended well without having run the case: it does not know it.
    Missing: Lost,
    /// The suite printed a status that this runner does not know; the message holds it.
    Unknown: Failed,
}

/// What a status means to a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Passed, perhaps with a warning or a waiver: what a conformance submission accepts.
    Good,
    /// The driver does not claim what the case needs.
    NotSupported,
    /// Not run on purpose.
    Skip,
    /// Failed and passed.
    Flake,
    /// Failed; the process lived.
    Failed,
    /// Failed; the process, its device or the case itself was lost.
    Lost,
}

impl Status {
    /// Whether the case did not do what it should: [`Class::Failed`] or [`Class::Lost`].
    pub fn is_bad(self) -> bool {
        matches!(self.class(), Class::Failed | Class::Lost)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Status {
    type Err = String;

    /// Reads a name of the suite or of this runner, and the names that deqp-runner writes into its lists of
    /// failures (`Warn`, `ExpectedFail`, `KnownFlake`, `UnexpectedImprovement(Pass)`).
    fn from_str(text: &str) -> Result<Status, String> {
        if let Some(status) = Status::ALL.iter().copied().find(|status| status.name() == text) {
            return Ok(status);
        }
        match text {
            "Warn" => Ok(Status::QualityWarning),
            "ExpectedFail" => Ok(Status::Fail),
            "KnownFlake" => Ok(Status::Flake),
            _ => match text.strip_prefix("UnexpectedImprovement(").and_then(|rest| rest.strip_suffix(')')) {
                Some(inner) => inner.parse(),
                None => Err(format!(
                    "'{text}' is no status; statuses are {}",
                    Status::ALL.iter().map(|status| status.name()).collect::<Vec<_>>().join(", ")
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for &status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
        }
        assert_eq!("UnexpectedImprovement(Pass)".parse(), Ok(Status::Pass));
        assert!("Passed".parse::<Status>().is_err());
    }
}
