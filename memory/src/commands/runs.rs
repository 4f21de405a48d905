//! The runs of bytes of an operation: together for what orders them, which asks for the kind of access, and
//! apart for findings, which name an instruction and an invocation.

use super::comb::{Comb, Runs};
use super::id::OperationId;
use super::range::{Range, Teeth, by_address};
use super::shadow::{Operand, Record, Shadow};
use std::collections::{BTreeMap, BTreeSet};

/// Whether two accesses of an operation differ in nothing but who made them.
fn alike(a: &Operand, b: &Operand) -> bool {
    Operand { shader: None, ..*a } == Operand { shader: None, ..*b }
}

/// Joins neighbours that differ in nothing but who made them: the first one stands for all.
pub(super) fn together(runs: &Runs) -> Runs {
    let of_part = |part: &Vec<Comb>| {
        let mut kinds: Vec<Vec<(usize, &Comb)>> = Vec::new();
        for (place, comb) in part.iter().enumerate() {
            match kinds.iter_mut().find(|kind| alike(&kind[0].1.operand, &comb.operand)) {
                Some(kind) => kind.push((place, comb)),
                None => kinds.push(vec![(place, comb)]),
            }
        }
        let mut all: Vec<(usize, Comb)> = kinds.iter().flat_map(|kind| joined(kind)).collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, comb)| comb).collect()
    };
    Runs { parts: runs.parts.iter().map(of_part).collect(), numbering: None }
}

/// Combs of one kind, by their first bytes and with their places in the list, as combs that do not touch.
fn joined(combs: &[(usize, &Comb)]) -> Vec<(usize, Comb)> {
    let mut few: Vec<(usize, Comb)> = Vec::new();
    let (mut end, mut apart) = (None, true);
    for (place, comb) in combs {
        if !few.last_mut().is_some_and(|(_, last)| last.bytes.absorb(&comb.bytes)) {
            apart &= end.is_none_or(|end| end < comb.bytes.span().start);
            few.push((*place, **comb));
        }
        end = end.max(Some(comb.bytes.span().end));
    }
    if apart {
        return few;
    }
    let mut joined: Vec<(usize, Comb)> = Vec::new();
    let mut close = |(range, index): (Range, usize)| {
        let (place, comb) = &few[index];
        if !joined.last_mut().is_some_and(|(_, last)| last.extend(range, 0)) {
            joined.push((*place, Comb::one(range, 0, comb.operand)));
        }
    };
    let mut open: Option<(Range, usize)> = None;
    let teeth: Vec<Teeth> = few.iter().map(|(_, comb)| comb.bytes).collect();
    for (range, index, _) in by_address(&teeth) {
        match &mut open {
            Some((known, _)) if range.start <= known.end => known.end = known.end.max(range.end),
            open => open.replace((range, index)).into_iter().for_each(&mut close),
        }
    }
    open.into_iter().for_each(&mut close);
    joined
}

/// The runs of one operation, apart.
struct Apart {
    runs: Runs,
    /// By part, the bytes from the first to the last of the longest comb.
    longest: Vec<u64>,
}

impl Apart {
    fn new(runs: Runs) -> Apart {
        let longest = |part: &Vec<Comb>| part.iter().map(|comb| comb.bytes.span().len()).max().unwrap_or(0);
        Apart { longest: runs.parts.iter().map(longest).collect(), runs }
    }

    /// Who made the access `record` to these bytes: the last one, where several did.
    fn who(&self, record: &Record, bytes: Range) -> Vec<(Range, Record)> {
        let mut shadow = Shadow::default();
        for (longest, part) in self.longest.iter().zip(&self.runs.parts) {
            let from = part.partition_point(|comb| comb.bytes.span().start + longest <= bytes.start);
            let near = part[from..].iter().take_while(|comb| comb.bytes.span().start < bytes.end);
            for comb in near.filter(|comb| alike(&comb.operand, &record.operand)) {
                for (range, Operand { shader, .. }) in self.runs.meeting(comb, bytes) {
                    let operand = Operand { shader, ..record.operand };
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
    pub fn add(&mut self, operation: OperationId, runs: Runs, shadow: &Shadow) {
        let apart = Apart::new(runs);
        self.count += apart.runs.count();
        self.operations.insert(operation, apart);
        if self.count > self.most.max(FEW) {
            let mut known = BTreeSet::new();
            shadow.operations(|operation| _ = known.insert(operation));
            self.operations.retain(|operation, _| known.contains(operation));
            self.count = self.operations.values().map(|apart| apart.runs.count()).sum();
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
