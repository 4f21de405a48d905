//! Runs of bytes at equal distances: one for what a dispatch does to a member of the structures of an array.

use super::range::{Range, Teeth};
use super::shadow::Operand;
use crate::agent::{AgentId, AgentSteps, Numbering};

/// Runs of bytes of equal lengths and distances, the teeth, that one kind of access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comb {
    pub(super) bytes: Teeth,
    by: AgentSteps,
    /// The access to the first tooth.
    pub operand: Operand,
}

impl Comb {
    /// One run of bytes.
    pub(super) fn one(first: Range, agent: AgentId, operand: Operand) -> Comb {
        Comb { bytes: Teeth::one(first), by: AgentSteps::one(agent), operand }
    }

    /// Takes in a run as the next tooth, if it is one.
    pub(super) fn extend(&mut self, range: Range, agent: AgentId) -> bool {
        let Some(by) = self.by.with(self.bytes.count, agent) else { return false };
        let fits = self.bytes.extend(range);
        if fits {
            self.by = by;
        }
        fits
    }

    /// The runs of bytes, which ascend.
    pub fn teeth(&self) -> impl Iterator<Item = Range> + use<> {
        self.bytes.all()
    }

    /// The access to a tooth.
    fn operand(&self, index: u32, numbering: Option<&Numbering>) -> Operand {
        let mut operand = self.operand;
        if let (Some((_, by)), Some(numbering), true) = (&mut operand.shader, numbering, index > 0) {
            *by = numbering.invocation(self.by.at(index));
        }
        operand
    }
}

/// What an operation accessed. Parts are in the order of what they hold of the same bytes; in each of them
/// the combs are in the order of their first bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    pub(super) parts: Vec<Vec<Comb>>,
    pub(super) numbering: Option<Numbering>,
}

impl Runs {
    /// Adds an access that comes after the others.
    pub fn push(&mut self, range: Range, operand: Operand) {
        if range.start >= range.end {
            return;
        }
        let comb = Comb::one(range, 0, operand);
        match self.parts.last_mut() {
            Some(part) if part.last().is_none_or(|last| last.bytes.first.start <= range.start) => {
                part.push(comb)
            }
            _ => self.parts.push(vec![comb]),
        }
    }

    /// Adds what comes after the others, by agents of the same numbering.
    pub fn append(&mut self, later: Runs) {
        self.parts.extend(later.parts);
        self.numbering = self.numbering.or(later.numbering);
    }

    /// The accesses, each tooth of a comb for itself.
    pub fn iter(&self) -> impl Iterator<Item = (Range, Operand)> {
        self.combs().flat_map(move |comb| self.of(comb, 0..comb.bytes.count))
    }

    /// The accesses to bytes of a range by this comb of them.
    pub(super) fn meeting(&self, comb: &Comb, bytes: Range) -> impl Iterator<Item = (Range, Operand)> {
        self.of(comb, comb.bytes.meeting(bytes)).map(move |(tooth, operand)| (tooth.cut(bytes), operand))
    }

    /// The accesses to some teeth of a comb.
    fn of(&self, comb: &Comb, numbers: std::ops::Range<u32>) -> impl Iterator<Item = (Range, Operand)> {
        let (comb, numbering) = (*comb, self.numbering);
        numbers.map(move |index| (comb.bytes.at(index), comb.operand(index, numbering.as_ref())))
    }

    /// All combs, part by part.
    pub fn combs(&self) -> impl Iterator<Item = &Comb> {
        self.parts.iter().flatten()
    }

    /// The same, whose operands may be changed.
    pub fn combs_mut(&mut self) -> impl Iterator<Item = &mut Comb> {
        self.parts.iter_mut().flatten()
    }

    /// How many combs there are.
    pub(super) fn count(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }
}

impl FromIterator<(Range, Operand)> for Runs {
    fn from_iter<I: IntoIterator<Item = (Range, Operand)>>(accesses: I) -> Runs {
        let mut runs = Runs::default();
        accesses.into_iter().for_each(|(range, operand)| runs.push(range, operand));
        runs
    }
}
