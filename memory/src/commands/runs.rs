//! The runs of bytes of an operation: together for what orders them, which asks for the kind of access, and
//! apart for findings, which name an instruction and an invocation.

use super::byte_set::{self, ByteSet};
use super::comb::{Comb, Runs};
use super::id::OperationId;
use super::range::Range;
use super::shadow::{Operand, Record, Shadow};
use std::collections::{BTreeMap, BTreeSet};

/// Whether two accesses of an operation differ in nothing but who made them.
fn alike(a: &Operand, b: &Operand) -> bool {
    Operand { shader: None, ..*a } == Operand { shader: None, ..*b }
}

/// What an operation accessed in ways that differ in nothing but who did it: the first access stands for all.
pub(super) struct Alike {
    pub operand: Operand,
    pub bytes: ByteSet,
    /// The bytes from the first to the last one.
    pub span: Range,
    /// There is but one access.
    is_one: bool,
}

impl Alike {
    fn of((operand, combs): (Operand, Vec<&Comb>)) -> Alike {
        let spans = combs.iter().map(|comb| comb.span());
        let span = spans.reduce(|a, b| Range { start: a.start.min(b.start), end: a.end.max(b.end) });
        let mut bytes = byte_set::Builder::default();
        combs.iter().for_each(|comb| comb.places.each(|range| bytes.add(range)));
        Alike {
            operand,
            bytes: bytes.finish(),
            span: span.unwrap_or(Range { start: 0, end: 0 }),
            is_one: matches!(combs[..], [comb] if comb.places.count() == 1),
        }
    }
}

/// The accesses of each part by what orders them; what only reads comes before what writes.
pub(super) fn together(runs: &Runs) -> Vec<Alike> {
    let mut all: Vec<(Operand, Vec<&Comb>)> = Vec::new();
    for part in &runs.parts {
        let from = all.len();
        for comb in part {
            match all[from..].iter_mut().find(|(known, _)| alike(known, &comb.operand)) {
                Some((_, combs)) => combs.push(comb),
                None => all.push((comb.operand, vec![comb])),
            }
        }
        all[from..].sort_by_key(|(operand, _)| !operand.write.is_empty());
    }
    all.into_iter().map(Alike::of).collect()
}

/// The runs of one operation, apart.
struct Apart {
    runs: Runs,
    /// By part, the bytes from the first to the last of the longest comb that is not scattered.
    longest: Vec<u64>,
}

impl Apart {
    fn new(runs: Runs) -> Apart {
        let longest = |part: &Vec<Comb>| {
            let spans = part.iter().filter(|comb| !comb.is_scattered()).map(|comb| comb.span().len());
            spans.max().unwrap_or(0)
        };
        Apart { longest: runs.parts.iter().map(longest).collect(), runs }
    }

    /// Who made the access `record` to these bytes: the last one, where several did.
    fn who(&self, record: &Record, bytes: Range) -> Vec<(Range, Record)> {
        let mut shadow = Shadow::default();
        for (longest, part) in self.longest.iter().zip(&self.runs.parts) {
            let (scattered, part) = part.split_at(part.partition_point(Comb::is_scattered));
            let start = |comb: &Comb| comb.places.at(0).0.start;
            let from = part.partition_point(|comb| start(comb) + longest <= bytes.start);
            let near = part[from..].iter().take_while(|comb| start(comb) < bytes.end);
            for comb in scattered.iter().chain(near).filter(|comb| alike(&comb.operand, &record.operand)) {
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
    /// The runs of an operation, all together, are in `shadow`.
    pub fn add(&mut self, operation: OperationId, (runs, all): (&Runs, &[Alike]), shadow: &Shadow) {
        if all.iter().all(|alike| alike.is_one) {
            return;
        }
        let apart = Apart::new(runs.clone());
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
