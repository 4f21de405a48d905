//! What an operation accessed: for each kind of access one place or more, as for what a dispatch does to a
//! member of the structures of an array.

use super::byte_set::{self, ByteSet};
use super::places::Places;
use super::range::Range;
use super::shadow::Operand;
use crate::agent::Numbering;

/// Runs of bytes that one kind of access touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comb {
    pub(super) places: Places,
    /// The access to the first of them.
    pub operand: Operand,
}

impl Comb {
    /// The runs of bytes, which ascend.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + Clone {
        (0..self.places.count()).map(|number| self.places.at(number).0)
    }

    /// The bytes from the first to the last one.
    pub fn span(&self) -> Range {
        self.places.span()
    }

    /// Whether it is one of those that span much and that a part has few of.
    pub(super) fn is_scattered(&self) -> bool {
        matches!(self.places, Places::Scattered(_))
    }

    /// The access to one of the runs.
    fn access(&self, number: u32, numbering: Option<&Numbering>) -> (Range, Operand) {
        let (range, agent) = self.places.at(number);
        let mut operand = self.operand;
        if let (Some((_, by)), Some(numbering), true) = (&mut operand.shader, numbering, number > 0) {
            *by = numbering.invocation(agent);
        }
        (range, operand)
    }
}

/// What an operation accessed. Parts are in the order of what they hold of the same bytes; in each of them
/// come scattered combs, and then others in the order of their first bytes.
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
        let comb = Comb { places: Places::one(range, 0), operand };
        match self.parts.last_mut() {
            Some(part) if part.last().is_none_or(|last| last.places.at(0).0.start <= range.start) => {
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

    /// The accesses, each run of a comb for itself.
    pub fn iter(&self) -> impl Iterator<Item = (Range, Operand)> {
        self.combs().flat_map(move |comb| self.accesses(comb))
    }

    /// The accesses of this comb of them.
    pub fn accesses(&self, comb: &Comb) -> impl Iterator<Item = (Range, Operand)> {
        self.of(comb, 0..comb.places.count())
    }

    /// The accesses to bytes of a range by this comb of them.
    pub(super) fn meeting(&self, comb: &Comb, bytes: Range) -> impl Iterator<Item = (Range, Operand)> {
        self.of(comb, comb.places.meeting(bytes)).map(move |(run, operand)| (run.cut(bytes), operand))
    }

    /// The accesses to some runs of a comb.
    fn of(&self, comb: &Comb, numbers: std::ops::Range<u32>) -> impl Iterator<Item = (Range, Operand)> {
        numbers.map(move |number| comb.access(number, self.numbering.as_ref()))
    }

    /// The bytes of all accesses that are such.
    pub fn bytes(&self, such: impl Fn(&Operand) -> bool) -> ByteSet {
        let mut bytes = byte_set::Builder::default();
        let combs = self.combs().filter(|comb| such(&comb.operand));
        combs.for_each(|comb| comb.places.each(|range| bytes.add(range)));
        bytes.finish()
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
