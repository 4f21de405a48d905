//! Progress models: who is guaranteed to run again, whatever else runs.

use std::str::FromStr;
use strum::{Display, IntoStaticStr, VariantArray};

/// To which threads progress is guaranteed, at every level of the scope hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
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
    /// How the command line and expectations spell it.
    pub fn name(self) -> &'static str {
        self.into()
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
        let found = ProgressModel::VARIANTS.iter().copied().find(|model| model.name() == spelled);
        found.ok_or_else(|| UnknownProgressModel(name.to_owned()))
    }
}
