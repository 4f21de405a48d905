//! One part of a selection: `--shard k/n`, or what a job array's environment says.
//!
//! The parts of a selection are disjoint and cover it, whatever the group size and the number of jobs: names
//! are dealt in small blocks of neighbours (which share most of the suite's set-up), block `b` to part `b mod
//! n`.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Part `index` (from 1) of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// From 1 to `count`.
    pub index: usize,
    /// How many parts there are.
    pub count: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The longest run of neighbours that stays together.
const BLOCK: usize = 16;

impl Shard {
    /// The whole selection.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    fn new(index: usize, count: usize) -> Result<Shard, Error> {
        if index >= 1 && index <= count {
            Ok(Shard { index, count })
        } else {
            Err(Error::usage(format!("shard {index}/{count}: the first number counts from 1 to the second")))
        }
    }

    /// Reads the value of `--shard`: `k/n` with `k` from 1 to `n`; `none` for the whole selection; `auto` for
    /// what the environment says:
    ///
    /// - Slurm: `SLURM_ARRAY_TASK_ID`, counted from `SLURM_ARRAY_TASK_MIN` in steps of
    ///   `SLURM_ARRAY_TASK_STEP`, of `SLURM_ARRAY_TASK_COUNT`;
    /// - Kubernetes: `JOB_COMPLETION_INDEX` (from 0, set in an indexed Job's pods) of `JOB_COMPLETIONS`,
    ///   which the Job's manifest has to set to its own `completions`.
    ///
    /// With neither, `auto` is the whole selection.
    ///
    /// # Errors
    /// A value of another form, or an environment that names a part without saying of how many.
    pub fn from_option(value: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Shard, Error> {
        match value {
            "none" => Ok(Shard::WHOLE),
            "auto" => Shard::from_environment(environment),
            _ => {
                let parts = value.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
                let (index, count) = parts
                    .ok_or_else(|| Error::usage(format!("--shard '{value}': expected k/n, auto or none")))?;
                Shard::new(index, count)
            }
        }
    }

    fn from_environment(environment: &dyn Fn(&str) -> Option<String>) -> Result<Shard, Error> {
        let number = |name: &str| -> Result<Option<usize>, Error> {
            let Some(value) = environment(name) else { return Ok(None) };
            let parsed =
                value.parse().map_err(|_| Error::usage(format!("{name} is '{value}', not a number")))?;
            Ok(Some(parsed))
        };
        let need = |name: &str, because: &str| {
            Error::usage(format!("{because} is set and {name} is not: of how many parts is this one?"))
        };
        if let Some(task) = number("SLURM_ARRAY_TASK_ID")? {
            let count = number("SLURM_ARRAY_TASK_COUNT")?
                .ok_or_else(|| need("SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_ID"))?;
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
            let offset = task
                .checked_sub(first)
                .ok_or_else(|| Error::usage("SLURM_ARRAY_TASK_ID is less than SLURM_ARRAY_TASK_MIN"))?;
            return Shard::new(offset / step + 1, count);
        }
        if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            let count =
                number("JOB_COMPLETIONS")?.ok_or_else(|| need("JOB_COMPLETIONS", "JOB_COMPLETION_INDEX"))?;
            return Shard::new(index + 1, count);
        }
        Ok(Shard::WHOLE)
    }

    /// The names of this part, in their order. May be empty where there are more parts than names.
    pub fn part(self, names: &[String]) -> Vec<String> {
        let block = (names.len() / (4 * self.count)).clamp(1, BLOCK);
        let mine = |(index, _): &(usize, &[String])| index % self.count == self.index - 1;
        names.chunks(block).enumerate().filter(mine).flat_map(|(_, names)| names.iter().cloned()).collect()
    }

    /// The folder of this part's results, `None` for the whole.
    pub fn folder(self) -> Option<String> {
        (self.count > 1).then(|| format!("shard-{:04}-of-{:04}", self.index, self.count))
    }
}

#[cfg(test)]
mod tests;
