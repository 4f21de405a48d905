//! What is remembered of one word: its last write, and who has read since.

use super::order::Record;

/// A record that may be absent: kind 0 is nobody.
pub const NOBODY: Record = Record { agent: 0, time: 0, kind: 0 };

/// What is remembered of one aligned word of four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The last write.
    pub write: Record,
    /// The word's value before it; of a word that is split the place of the cells of its parts.
    pub before: u32,
    /// Two readers since, other agents or other instructions: the first and the latest, unless others say
    /// more or these say enough ([`Dropped`]). Atomic writes that mutually ordered ones superseded stay too.
    pub readers: [Record; 2],
    /// Which bytes they read.
    pub reader_bytes: [u8; 2],
    /// Others read since, and are not remembered, or not when they did first.
    pub forgot: bool,
    /// There were writes before those that are remembered, and what they stored is not.
    pub forgot_writes: bool,
    /// 1 + the index of the word's history, which then replaces all of the above; 0 if it has none;
    /// [`Cell::HALVES`] or [`Cell::BYTES`] if its parts have cells, see [`Split`].
    pub history: u32,
}

impl Cell {
    /// A word that nobody accessed.
    pub const EMPTY: Cell = Cell {
        write: NOBODY,
        before: 0,
        readers: [NOBODY; 2],
        reader_bytes: [0; 2],
        forgot: false,
        forgot_writes: false,
        history: 0,
    };

    /// In place of a history, of a word whose halves have cells: see [`Split`].
    pub const HALVES: u32 = u32::MAX;
    /// The same of one whose bytes have.
    pub const BYTES: u32 = Cell::HALVES - 1;

    /// Whether the word's parts have cells of their own.
    #[inline(always)]
    pub fn is_split(&self) -> bool {
        self.history >= Cell::BYTES
    }

    /// How many parts of the word have cells of their own: 1 if it is not split.
    #[inline(always)]
    pub fn parts(&self) -> usize {
        match self.history {
            Cell::HALVES => 2,
            Cell::BYTES => 4,
            _ => 1,
        }
    }

    /// Whether it remembers nothing.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.history == 0 && self.write.kind == 0 && self.readers[0].kind == 0
    }

    /// Whether somebody read the word in this dispatch, and nobody wrote it.
    #[inline(always)]
    pub fn is_early(&self) -> bool {
        self.write.kind == 0 && self.readers[0].kind != 0 && self.history == 0
    }

    /// Whether it says the same of its word as another one, but for agents, times and values.
    #[inline]
    pub(super) fn is_like(&self, other: &Cell) -> bool {
        let kinds =
            |cell: &Cell| (cell.write.kind, cell.readers.map(|reader| reader.kind), cell.reader_bytes);
        self.history == 0 && other.history == 0 && kinds(self) == kinds(other)
    }

    /// Remembers a reader of these bytes; `dropped`: which one is not remembered, if there are three.
    #[inline(always)]
    pub fn read(&mut self, record: Record, bytes: u8, dropped: Dropped) {
        let first = (self.readers[0], self.reader_bytes[0]);
        let latest = (self.readers[1], self.reader_bytes[1]);
        let (first, latest, forgot) = with_reader(first, latest, (record, bytes), dropped);
        self.remember(first, latest);
        self.forgot |= forgot;
    }

    #[inline(always)]
    fn remember(&mut self, first: Reader, latest: Reader) {
        self.readers = [first.0, latest.0];
        self.reader_bytes = [first.1, latest.1];
    }

    /// Whether remembering this reader forgets one of bytes of which no two readers are left; `dropped` as
    /// for [`Cell::read`].
    #[inline(always)]
    pub fn forgets(&self, record: &Record, bytes: u8, dropped: Dropped) -> bool {
        let [first, latest] = &self.readers;
        let [of_first, of_latest] = self.reader_bytes;
        if of_first & of_latest & bytes == 15 || latest.kind == 0 {
            return false;
        }
        let same = |known: &Record, known_bytes: u8| {
            known.kind == record.kind && known.agent == record.agent && known_bytes == bytes
        };
        if same(first, of_first) || same(latest, of_latest) {
            return false;
        }
        let (dropped, kept) = match dropped {
            Dropped::First => (of_first, of_latest & bytes),
            Dropped::Latest => (of_latest, of_first & bytes),
            Dropped::New => (bytes, of_first & of_latest),
        };
        dropped & !kept != 0
    }

    /// A write of the whole word follows, before which all that is remembered is ordered.
    #[inline(always)]
    pub fn overwrite(&mut self, record: Record, before: u32) {
        self.forgot_writes |= self.write.kind != 0;
        self.write = record;
        self.before = before;
        // Nobody has read since.
        (self.readers, self.reader_bytes, self.forgot) = ([NOBODY; 2], [0; 2], false);
    }

    /// The same of an atomic write; `keep` says which of the two readers and of the write before it stay, as
    /// readers, at most two. Whether a write is forgotten where some stay, the caller knows, who knows which
    /// readers are writes.
    #[inline(always)]
    pub fn overwrite_keeping(&mut self, record: Record, before: u32, keep: [Keep; 3]) {
        if keep == [Keep::No; 3] {
            return self.overwrite(record, before);
        }
        let none = ((NOBODY, 0), (NOBODY, 0));
        let known = [
            (self.readers[0], self.reader_bytes[0]),
            (self.readers[1], self.reader_bytes[1]),
            (self.write, 15),
        ];
        let readers = joined(none, keep[0], known[0]);
        let readers = joined(readers, keep[1], known[1]);
        let (mut first, latest) = joined(readers, keep[2], known[2]);
        // There are two places: of others' atomics that stay the latest says enough.
        for (keep, earlier) in keep.into_iter().zip(known) {
            if keep == Keep::Outlasts && first.0 != earlier.0 && latest.0 != earlier.0 {
                first = earlier;
                break;
            }
        }
        self.write = record;
        self.before = before;
        self.remember(first, latest);
        // Who read before sees no less than what was there before this write, and nobody does.
        self.forgot = false;
    }
}

/// The first and the latest reader with an earlier access that stays, if it does. No closure: it would not be
/// compiled for the instructions around it.
#[inline(always)]
fn joined((first, latest): (Reader, Reader), keep: Keep, earlier: Reader) -> (Reader, Reader) {
    if keep == Keep::No || earlier.0.kind == 0 {
        return (first, latest);
    }
    // Writes stay in modification order.
    let known = |one: &Reader| (one.0.kind, one.0.agent, one.1);
    let (first, latest) =
        if known(&first) == known(&earlier) { (latest, (NOBODY, 0)) } else { (first, latest) };
    let dropped = if first.0.time < earlier.0.time { Dropped::First } else { Dropped::Latest };
    let (first, latest, _) = with_reader(first, latest, earlier, dropped);
    (first, latest)
}

/// How an earlier reader stands to one who reads now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// In another workgroup, or nobody.
    Elsewhere,
    /// Of the same workgroup, unordered, and of another subgroup.
    Workgroup,
    /// Of the same subgroup, unordered.
    Subgroup,
    /// Ordered before it: what races with the earlier reader races with this one.
    Ordered,
}

/// Which of three readers is not remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The one that is remembered as the first.
    First,
    /// The one that is remembered as the latest.
    Latest,
    /// The one that reads now.
    New,
}

impl Dropped {
    /// By how the first and the latest one stand to the new one. Who is ordered before the new reader says
    /// nothing more. Else two of different workgroups, or of different subgroups of one, are kept: what comes
    /// to be ordered after both is ordered after others like them. `enough`: the two say as much as all of
    /// the new one's workgroup.
    #[inline(always)]
    pub fn of(first: Nearness, latest: Nearness, enough: bool) -> Dropped {
        match (first, latest) {
            _ if enough => Dropped::New,
            (Nearness::Ordered, _) => Dropped::First,
            (_, Nearness::Ordered) | (Nearness::Elsewhere, _) => Dropped::Latest,
            (_, Nearness::Elsewhere) | (Nearness::Subgroup, Nearness::Workgroup) => Dropped::New,
            _ => Dropped::Latest,
        }
    }
}

/// Whether an access stays when an atomic replaces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// It is ordered before the atomic, and all that may race with it races with the atomic.
    #[default]
    No,
    /// It is mutually ordered with the atomic, and not ordered before it.
    Mutual,
    /// It is ordered before the atomic, and [outlasts](super::StaticAccess::outlasts) it.
    Outlasts,
}

/// A reader, and which bytes of the word it read.
type Reader = (Record, u8);

/// The first and the latest reader when `new` follows, and whether one is forgotten: `dropped`, if it has to
/// be. By value: a record that is written in pieces and then read as a whole stalls the processor.
#[inline(always)]
fn with_reader(first: Reader, latest: Reader, new: Reader, dropped: Dropped) -> (Reader, Reader, bool) {
    let same =
        |known: &Reader| known.0.kind == new.0.kind && known.0.agent == new.0.agent && known.1 == new.1;
    let replaces = |known: &Reader| known.0.kind != 0 && known.0 != new.0;
    if first.0.kind == 0 || same(&first) {
        return (new, latest, replaces(&first));
    }
    if latest.0.kind == 0 || same(&latest) {
        return (first, new, replaces(&latest));
    }
    match dropped {
        Dropped::First => (latest, new, true),
        Dropped::Latest => (first, new, true),
        Dropped::New => (first, latest, true),
    }
}
