//! Barriers and submissions that explanations look back at.

use super::clock::Ranged;
use super::dependency::{Dependency, Stages};
use super::explain::SemaphoreUse;
use super::shadow::Record;
use std::collections::BTreeMap;

/// A barrier that explanations may point at.
#[derive(Clone, Debug)]
pub(super) struct PastBarrier {
    /// The caller's name for the command.
    pub tag: u64,
    /// Operations of the queue before it, per stage.
    pub counts: BTreeMap<Stages, u64>,
    pub dependency: Dependency,
    /// What was available at its visibility operation.
    pub frozen: Ranged,
    /// The numbers of its transitions.
    pub transitions: std::ops::Range<u64>,
}

/// How many barriers of a queue explanations look back at.
pub(super) const REMEMBERED_BARRIERS: usize = 256;

/// A submission that explanations may point at.
#[derive(Clone, Debug)]
pub(super) struct PastSubmission {
    /// Operations of the queue before it, per stage.
    pub counts: BTreeMap<Stages, u64>,
    pub waits: Vec<SemaphoreUse>,
    pub signals: Vec<SemaphoreUse>,
}

/// How many submissions of a queue explanations look back at.
pub(super) const REMEMBERED_SUBMISSIONS: usize = 64;

impl PastSubmission {
    /// Whether the operation of this queue is one of it or of a later one.
    pub fn is_before(&self, record: &Record) -> bool {
        self.counts.get(&record.stage).copied().unwrap_or(0) < record.number
    }
}

impl PastBarrier {
    /// Whether it performs the transition.
    pub fn performs(&self, record: &Record) -> bool {
        record.stage == Stages::TRANSITION && self.transitions.contains(&record.number)
    }

    /// Whether the operation of this queue precedes the barrier.
    pub fn is_after(&self, record: &Record) -> bool {
        self.counts.get(&record.stage).copied().unwrap_or(0) >= record.number
    }
}
