//! Where the writes of an exploration enter a history: the modification order of a location.
//!
//! Explorations of shaders and of litmus programs share these rules. They differ in who says what is ordered:
//! the vector clocks of the agents, or the axioms on the whole execution so far.

use super::{Entry, History, Position};
use smallvec::SmallVec;

/// What a read-modify-write may read, and where its own write then stands.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// The index that its write gets.
    pub place: usize,
    /// The entry that it reads, if that is one write of all its bytes.
    pub from: Option<usize>,
    /// The positions read, per byte.
    pub seen: [Position; 4],
    /// The word's bits, where its bytes are.
    pub word: u32,
    /// It writes; a compare-exchange that finds another value does not.
    pub writes: bool,
}

/// Whether the access at hand (`None`), or the second write, is mutually ordered with the first write.
pub type Mutual<'a> = dyn Fn(&Entry, Option<&Entry>) -> bool + 'a;

impl History {
    /// Puts a write in front of the entry with index `place` of a [`History::whole`] history; later entries
    /// move on by one position. `old` as for [`History::write`].
    pub fn insert(&mut self, place: usize, entry: Entry, old: u32) {
        self.begin(entry.bytes, old);
        let position = place as Position + 1;
        self.entries[place..].iter_mut().for_each(|later| later.position += 1);
        for read in &mut self.reads {
            read.saw += Position::from(read.saw >= position);
            read.at += Position::from(read.at >= position);
        }
        self.next += 1;
        self.entries.insert(place, Entry { position, ..entry });
    }

    /// Whether a write of these bytes may enter in front of the entry with index `place`: not between a write
    /// and the read-modify-write that took it, and not where it would come directly before a
    /// read-modify-write in scoped modification order, whose release sequence it would change after the fact.
    fn may_enter(&self, place: usize, bytes: u8, mutual: &Mutual<'_>) -> bool {
        let behind = &self.entries[place..];
        let mutual = |entry: &Entry, other: Option<&Entry>| entry.bytes == bytes && mutual(entry, other);
        let disturbed = |(index, update): (usize, &Entry)| {
            let between = |other: &Entry| mutual(other, None) && mutual(other, Some(update));
            update.takes && mutual(update, None) && !behind[..index].iter().any(between)
        };
        let next = behind.iter().find(|entry| entry.bytes & bytes != 0);
        !next.is_some_and(|next| next.takes) && !behind.iter().enumerate().any(disturbed)
    }

    /// Where a store of these bytes may enter: indices of the entries that it comes in front of, the end
    /// first. It comes behind everything up to position `floor`.
    pub fn places(&self, bytes: u8, floor: Position, mutual: &Mutual<'_>) -> SmallVec<[usize; 4]> {
        let mut places = SmallVec::from_slice(&[self.entries.len()]);
        let in_front = (floor as usize..self.entries.len()).rev();
        let enters = |i: &usize| self.entries[*i].bytes & bytes != 0 && self.may_enter(*i, bytes, mutual);
        places.extend(in_front.filter(enters));
        places
    }

    /// What a read-modify-write of these bytes may read, the newest first. `newest` is the word as memory has
    /// it; `writes` says whether one that finds this word writes; `floors` gives [`History::floors`] after
    /// reading the entry with this index, for one that writes or does not.
    pub fn updates(
        &self,
        bytes: u8,
        newest: u32,
        writes: &dyn Fn(u32) -> bool,
        floors: &mut dyn FnMut(Option<usize>, bool) -> [Position; 4],
        mutual: &Mutual<'_>,
    ) -> SmallVec<[Update; 4]> {
        let mut updates = SmallVec::new();
        for place in (0..=self.entries.len()).rev() {
            let index = place.checked_sub(1);
            if index.is_some_and(|index| self.entries[index].bytes & bytes == 0) {
                continue;
            }
            let (word, seen) = self.at(bytes, place as Position, &[0; 4], newest);
            let from = index.filter(|index| self.entries[*index].bytes & bytes == bytes);
            let writes = writes(word);
            if self.entries[place..].iter().any(|later| later.bytes & bytes != 0) {
                let floors = floors(from, writes);
                let late = (0..4).any(|b| bytes >> b & 1 != 0 && floors[b] > place as Position);
                if late || from != index || (writes && !self.may_enter(place, bytes, mutual)) {
                    continue;
                }
            }
            updates.push(Update { place, from, seen, word, writes });
        }
        updates
    }
}
