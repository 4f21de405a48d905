//! Progress models: who is guaranteed to run again, whatever else runs.

use std::fmt;
use std::str::FromStr;

/// To which threads progress is guaranteed, at every level of the scope hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgressModel {
    /// Every thread.
    Fair,
    /// Occupancy-bound execution: every thread that has started.
    Obe,
    /// Linear occupancy-bound execution: every thread that has started, and those with a lower number.
    Lobe,
    /// Heterogeneous system architecture: the thread with the lowest number among those that can run.
    Hsa,
    /// Both of the last guarantees: `hsa` and `obe`.
    HsaObe,
}

impl ProgressModel {
    /// Every model.
    pub const ALL: [ProgressModel; 5] = [
        ProgressModel::Fair,
        ProgressModel::Obe,
        ProgressModel::Lobe,
        ProgressModel::Hsa,
        ProgressModel::HsaObe,
    ];

    /// How the command line and expectations spell it.
    pub fn name(self) -> &'static str {
        match self {
            ProgressModel::Fair => "fair",
            ProgressModel::Obe => "obe",
            ProgressModel::Lobe => "lobe",
            ProgressModel::Hsa => "hsa",
            ProgressModel::HsaObe => "hsa-obe",
        }
    }
}

impl fmt::Display for ProgressModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no progress model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no progress model is called `{0}`; the models are fair, obe, lobe, hsa, hsa-obe")]
pub struct UnknownProgressModel(pub String);

impl FromStr for ProgressModel {
    type Err = UnknownProgressModel;

    fn from_str(name: &str) -> Result<ProgressModel, UnknownProgressModel> {
        let spelled = name.replace('_', "-");
        let found = ProgressModel::ALL.into_iter().find(|model| model.name() == spelled);
        found.ok_or_else(|| UnknownProgressModel(name.to_owned()))
    }
}
