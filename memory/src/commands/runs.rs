//! The runs of bytes of an operation: together for what orders them, which asks for the kind of access, and
//! apart for findings, which name an instruction and an invocation.

use super::range::Range;
use super::shadow::{Operand, Record, Shadow};
use super::tracker::OperationId;
use crate::agent::Invocation;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Whether two accesses of an operation differ in nothing but who made them.
fn alike(a: &Operand, b: &Operand) -> bool {
    Operand { shader: None, ..*a } == Operand { shader: None, ..*b }
}

/// The parts of a list in which addresses ascend.
fn ascending(runs: &[(Range, Operand)]) -> impl Iterator<Item = &[(Range, Operand)]> {
    runs.chunk_by(|(before, _), (range, _)| before.start <= range.start)
}

/// Joins neighbours that differ in nothing but who made them: the first one stands for all. Where addresses
/// do not ascend in the list, what follows came later.
pub(super) fn together(runs: &[(Range, Operand)]) -> Cow<'_, [(Range, Operand)]> {
    if !ascending(runs).any(any_joins) {
        return Cow::Borrowed(runs);
    }
    let mut all = Vec::new();
    for part in ascending(runs) {
        let first = all.len();
        // The last run of each kind of access, and its place in the list.
        let mut open: Vec<(usize, Range, Operand)> = Vec::new();
        for (place, (range, operand)) in
            part.iter().enumerate().filter(|(_, (range, _))| range.start < range.end)
        {
            match open.iter_mut().find(|(.., other)| alike(other, operand)) {
                Some((_, known, _)) if range.start <= known.end => known.end = known.end.max(range.end),
                Some(known) => all.push(std::mem::replace(known, (place, *range, *operand))),
                None => open.push((place, *range, *operand)),
            }
        }
        all.extend(open);
        all[first..].sort_by_key(|(place, ..)| *place);
    }
    all.into_iter().map(|(_, range, operand)| (range, operand)).collect()
}

/// Whether some of a part of a list join, or have no bytes.
fn any_joins(part: &[(Range, Operand)]) -> bool {
    let mut open: Vec<(u64, &Operand)> = Vec::new();
    part.iter().any(|(range, operand)| {
        let known = open.iter_mut().find(|(_, other)| alike(other, operand));
        let touches = known.as_ref().is_some_and(|(end, _)| range.start <= *end);
        match known {
            Some((end, _)) => *end = range.end,
            None => open.push((range.end, operand)),
        }
        touches || range.start >= range.end
    })
}

/// A run, by the number of an operand that differs in nothing but the invocation.
struct Run {
    range: Range,
    operand: u32,
    by: Option<Invocation>,
}

/// The runs of one operation, apart.
struct Apart {
    operands: Vec<Operand>,
    /// By part of the list in which they ascend, with the bytes of the longest.
    parts: Vec<(u64, Vec<Run>)>,
}

impl Apart {
    fn new(runs: &[(Range, Operand)]) -> Apart {
        let mut operands: Vec<Operand> = Vec::new();
        let mut number = |operand: &Operand| {
            let site = |operand: &Operand| operand.shader.map(|(site, _)| site);
            let same = |other: &Operand| site(other) == site(operand) && alike(other, operand);
            let known = operands.iter().position(same);
            known.unwrap_or_else(|| {
                operands.push(*operand);
                operands.len() - 1
            }) as u32
        };
        let mut run = |(range, operand): &(Range, Operand)| Run {
            range: *range,
            operand: number(operand),
            by: operand.shader.map(|(_, by)| by),
        };
        let longest = |part: &[(Range, Operand)]| part.iter().map(|(r, _)| r.end - r.start).max();
        let parts = ascending(runs)
            .map(|part| (longest(part).unwrap_or(0), part.iter().map(&mut run).collect()))
            .collect();
        Apart { operands, parts }
    }

    fn count(&self) -> usize {
        self.parts.iter().map(|(_, runs)| runs.len()).sum()
    }

    /// Who made the access `record` to these bytes: the last one, where several did.
    fn who(&self, record: &Record, bytes: Range) -> Vec<(Range, Record)> {
        let mut shadow = Shadow::default();
        for (longest, runs) in &self.parts {
            let from = runs.partition_point(|run| run.range.start + longest <= bytes.start);
            for run in runs[from..].iter().take_while(|run| run.range.start < bytes.end) {
                let mut operand = self.operands[run.operand as usize];
                let range = run.range.cut(bytes);
                if range.start < range.end && alike(&operand, &record.operand) {
                    operand.shader = operand.shader.zip(run.by).map(|((site, _), by)| (site, by));
                    shadow.record(range, Record { operand, ..*record });
                }
            }
        }
        let mut all = Vec::new();
        shadow.for_each(bytes, |part, cell| {
            all.extend(cell.write.iter().chain(&cell.reads).map(|record| (part, *record)));
        });
        all
    }
}

/// Runs of operations whose runs were joined.
#[derive(Default)]
pub(super) struct Joined {
    operations: BTreeMap<OperationId, Apart>,
    count: usize,
    /// How many there may be before those of forgotten operations are dropped.
    most: usize,
}

/// Runs that are kept without looking whether anybody may ask for them.
const FEW: usize = 1 << 16;

impl Joined {
    /// The runs of an operation were joined in `shadow`.
    pub fn add(&mut self, operation: OperationId, runs: &[(Range, Operand)], shadow: &Shadow) {
        let apart = Apart::new(runs);
        self.count += apart.count();
        self.operations.insert(operation, apart);
        if self.count > self.most.max(FEW) {
            let mut known = BTreeSet::new();
            shadow.operations(|operation| _ = known.insert(operation));
            self.operations.retain(|operation, _| known.contains(operation));
            self.count = self.operations.values().map(Apart::count).sum();
            self.most = 2 * self.count;
        }
    }

    /// Who made the recorded access to these bytes.
    pub fn who(&self, record: &Record, bytes: Range) -> Vec<(Range, Record)> {
        match self.operations.get(&record.operation) {
            Some(apart) => apart.who(record, bytes),
            None => vec![(bytes, *record)],
        }
    }

    /// Records of cells by who made the accesses, as if each of their runs had been recorded.
    pub fn apart(&self, records: &[(Range, Record)]) -> Vec<(Range, Record)> {
        let mut all = Vec::new();
        for cell in records.chunk_by(|(before, _), (bytes, _)| before == bytes) {
            let pieces: Vec<_> = cell.iter().map(|(bytes, record)| self.who(record, *bytes)).collect();
            let ends = pieces.iter().flatten().flat_map(|(piece, _)| [piece.start, piece.end]);
            let cuts: Vec<u64> = ends.collect::<BTreeSet<u64>>().into_iter().collect();
            for bytes in cuts.windows(2).map(|cut| Range { start: cut[0], end: cut[1] }) {
                for pieces in &pieces {
                    let at = pieces.partition_point(|(piece, _)| piece.end <= bytes.start);
                    let piece = pieces.get(at).filter(|(piece, _)| piece.start <= bytes.start);
                    all.extend(piece.map(|(_, record)| (bytes, *record)));
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;
