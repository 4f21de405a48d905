//! Reads of what the dispatch then wrote over: cells remember who read since the last write only.

use super::cell::Cell;
use super::order::Record;
use crate::agent::AgentSteps;
use crate::commands::{Range, Teeth, by_address};

/// A read of device memory, joined with its neighbours of the same instruction: the first byte, the one
/// behind the last, and the first reader.
pub type EarlyRead = (u64, u64, Record);

/// Reads of one instruction that differ in the place and in the agent, by the same steps.
#[derive(Clone, Copy, Debug)]
struct Comb {
    bytes: Teeth,
    /// Who made the first.
    reader: Record,
    by: AgentSteps,
}

impl Comb {
    fn of((start, end, reader): EarlyRead) -> Comb {
        Comb { bytes: Teeth::one(Range { start, end }), reader, by: AgentSteps::one(reader.agent) }
    }

    fn reader(&self, n: u32) -> Record {
        Record { agent: self.by.at(n), ..self.reader }
    }

    /// Whether the read is part of it now.
    fn takes(&mut self, (start, end, reader): EarlyRead) -> bool {
        if self.bytes.count == 1 {
            let first = &mut self.bytes.first;
            if start <= first.end && end >= first.start {
                (first.start, first.end) = (first.start.min(start), first.end.max(end));
                return true;
            }
        }
        let Some(by) = self.by.with(self.bytes.count, reader.agent) else { return false };
        let alike = Record { agent: self.reader.agent, ..reader } == self.reader;
        let fits = alike && self.bytes.extend(Range { start, end });
        if fits {
            self.by = by;
        }
        fits
    }
}

/// Reads of what the dispatch then wrote over.
#[derive(Clone, Default)]
pub(super) struct EarlyReads {
    /// Those that were told last, by index of their static access; later ones may join them.
    open: Vec<Option<Comb>>,
    done: Vec<Comb>,
}

impl EarlyReads {
    /// Notes who read these bytes, those of a word or half or of several with cells like this one, which are
    /// about to be written.
    #[inline]
    pub fn note(&mut self, (start, end): (u64, u64), cell: &Cell) {
        if cell.write.kind != 0 || cell.readers[0].kind == 0 || cell.history != 0 {
            return;
        }
        for (reader, bytes) in cell.readers.iter().zip(cell.reader_bytes) {
            if reader.kind != 0 && bytes != 0 {
                let (skipped, left) = (bytes.trailing_zeros(), bytes.leading_zeros() - 4);
                self.add((start + u64::from(skipped), end - u64::from(left), *reader));
            }
        }
    }

    fn add(&mut self, read: EarlyRead) {
        let slot = read.2.kind as usize;
        if self.open.len() <= slot {
            self.open.resize(slot + 1, None);
        }
        let open = &mut self.open[slot];
        if !open.as_mut().is_some_and(|open| open.takes(read)) {
            self.done.extend(open.replace(Comb::of(read)));
        }
    }

    /// Calls `each` for all of them, by address. Neighbours of one instruction may be told as one.
    pub fn each(&self, mut each: impl FnMut(EarlyRead)) {
        let mut combs: Vec<&Comb> = self.done.iter().chain(self.open.iter().flatten()).collect();
        combs.sort_unstable_by_key(|comb| (comb.bytes.first, comb.reader.kind, comb.reader.agent));
        let (mut few, mut bytes): (Vec<&Comb>, Vec<Teeth>) = (Vec::new(), Vec::new());
        // The last comb of each kind.
        let mut last: Vec<Option<usize>> = vec![None; self.open.len()];
        for comb in combs {
            let last = &mut last[comb.reader.kind as usize];
            if !last.is_some_and(|last| bytes[last].absorb(&comb.bytes)) {
                *last = Some(few.len());
                few.push(comb);
                bytes.push(comb.bytes);
            }
        }
        for (Range { start, end }, of, number) in by_address(&bytes) {
            each((start, end, few[of].reader(number)));
        }
    }

    pub fn clear(&mut self) {
        self.open.clear();
        self.done.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_at_equal_steps_are_kept_as_one_and_told_by_address() {
        let mut early = EarlyReads::default();
        let reader = |agent, kind| Record { agent, time: 1, kind };
        let mut expected = Vec::new();
        for first in [100, 108] {
            for k in 0..32 {
                let start = first + 16 * u64::from(k);
                early.add((start, start + 4, reader(7 + k, 1)));
                expected.push((start, start + 4, reader(7 + k, 1)));
            }
        }
        // Neighbours join; another instruction is by itself.
        (0..4).for_each(|k| early.add((700 + 4 * k, 704 + 4 * k, reader(3, 2))));
        expected.push((700, 716, reader(3, 2)));
        assert_eq!(early.done.len() + early.open.iter().flatten().count(), 3);
        expected.sort_by_key(|(start, end, _)| (*start, *end));
        let mut told = Vec::new();
        early.each(|read| told.push(read));
        assert_eq!(told, expected);
        // What lies between two of them.
        (0..32).for_each(|k| early.add((104 + 16 * k, 108 + 16 * k, reader(7 + k as u32, 1))));
        told.clear();
        early.each(|read| told.push(read));
        assert_eq!(
            told[..32],
            (0..32).map(|k| (100 + 16 * k, 112 + 16 * k, reader(7 + k as u32, 1))).collect::<Vec<_>>()
        );
        // Descending ones are not a comb.
        early.clear();
        (0..3).for_each(|k| early.add((100 - 16 * k, 104 - 16 * k, reader(1, 1))));
        told.clear();
        early.each(|read| told.push(read));
        assert_eq!(told.iter().map(|read| read.0).collect::<Vec<_>>(), [68, 84, 100]);
    }
}
