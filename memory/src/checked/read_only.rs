//! Loads of device memory that no instruction of the dispatch can write. They race with nothing and return
//! what is there, so that cells would say nothing of them: what is remembered is which bytes they read, and
//! which agent first, for the checks between commands.

use crate::race::{AgentId, Level, StaticAccess};
use crate::system::{LANES, Lanes, Mask, MemoryView};
use rustc_hash::FxHashMap;

/// Bytes of a page, and of a block: a word of bits.
const PAGE: u64 = 4096;
const BLOCK: u64 = 64;
const BLOCKS: usize = (PAGE / BLOCK) as usize;
/// Words of a block.
const WORDS: usize = BLOCK as usize / 4;
/// Views that are remembered without a table.
const RECENT: usize = 8;

/// How many kinds of accesses have read each byte: one at least, and two.
#[derive(Clone)]
struct Counts([[u64; 2]; BLOCKS]);

impl Counts {
    /// One more kind has read these bytes of a block; of which it is the first or the second one.
    fn count(&mut self, block: usize, bytes: u64) -> u64 {
        let [one, two] = &mut self.0[block];
        let told = bytes & !*two;
        *two |= told & *one;
        *one |= told;
        told
    }
}

/// Bytes that one kind of accesses has read.
#[derive(Clone)]
struct Page {
    /// A bit for each byte that it has read, by blocks.
    seen: [u64; BLOCKS],
    /// Those of them that others had not read twice.
    bytes: [u64; BLOCKS],
    /// Who read the first byte of a block that was read.
    first: [AgentId; BLOCKS],
    /// Who read each word, once the bytes that were read of some block do not follow one another.
    each: Option<Box<[AgentId; BLOCKS * WORDS]>>,
    /// Then, by the byte: who read the first byte of a run that begins in a word in which another one does,
    /// before it.
    inside: FxHashMap<u16, AgentId>,
}

impl Page {
    fn fresh() -> Page {
        Page {
            seen: [0; BLOCKS],
            bytes: [0; BLOCKS],
            first: [0; BLOCKS],
            each: None,
            inside: FxHashMap::default(),
        }
    }

    /// These bytes of a block are read for the first time by this kind; `agent` says by whom.
    fn add(&mut self, block: usize, bytes: u64, agent: &dyn Fn(u32) -> AgentId) {
        let known = self.bytes[block];
        self.bytes[block] |= bytes;
        let start = |bytes: u64| bytes.trailing_zeros();
        if self.each.is_none() {
            let run = self.bytes[block] >> start(self.bytes[block]);
            if run & run.wrapping_add(1) == 0 {
                if start(bytes) < start(known) {
                    self.first[block] = agent(start(bytes));
                }
                return;
            }
            let mut each = Box::new([0; BLOCKS * WORDS]);
            for (k, (bytes, first)) in self.bytes.iter().zip(self.first).enumerate() {
                let bytes = if k == block { known } else { *bytes };
                if bytes != 0 {
                    each[k * WORDS + start(bytes) as usize / 4] = first;
                }
            }
            self.each = Some(each);
        }
        let Some(each) = &mut self.each else { return };
        // Of runs that begin in one word, the first one's reader is in `each`.
        let mut starts = bytes & !known & !(self.bytes[block] << 1);
        let mut known = known;
        while starts != 0 {
            let at = start(starts) as usize;
            let agent = agent(at as u32);
            let (word, place) = (known >> (at / 4 * 4) & 15, block * WORDS + at / 4);
            let (first, here) = (4 * place + start(word) as usize, 4 * place + at % 4);
            if word != 0 && first < here {
                self.inside.insert(here as u16, agent);
            } else {
                let before = std::mem::replace(&mut each[place], agent);
                if word != 0 {
                    self.inside.insert(first as u16, before);
                }
            }
            known |= starts & starts.wrapping_neg();
            starts &= starts - 1;
        }
    }

    /// Calls `each` for the runs of bytes that were read: the first byte in the page, the one behind the
    /// last, and who read the first.
    fn runs(&self, mut each: impl FnMut(u64, u64, AgentId)) {
        for (block, bytes) in self.bytes.iter().enumerate() {
            let base = block as u64 * BLOCK;
            for (start, end) in crate::bits::runs(*bytes) {
                let agent = match &self.each {
                    Some(each) => {
                        let first = (bytes >> (start / 4 * 4) & 15).trailing_zeros() == start % 4;
                        let inside = self.inside.get(&((base + u64::from(start)) as u16));
                        *inside.filter(|_| !first).unwrap_or(&each[block * WORDS + start as usize / 4])
                    }
                    None => self.first[block],
                };
                each(base + u64::from(start), base + u64::from(end), agent);
            }
        }
    }
}

/// What tells accesses apart between commands: the reference, non-private, visible, the scope.
type Class = (u32, bool, bool, Option<Level>);

/// What one kind of accesses has read.
#[derive(Clone)]
struct Reads {
    /// The number of its class.
    class: u32,
    // Pages stay where they are while there come to be more.
    #[allow(clippy::vec_box)]
    pages: Vec<Box<Page>>,
    index: FxHashMap<u64, u32>,
    /// The page looked at last: 1 + its number, and its place.
    last: (u64, u32),
}

impl Reads {
    fn of(class: u32) -> Reads {
        Reads { class, pages: Vec::new(), index: FxHashMap::default(), last: (0, 0) }
    }

    #[inline(always)]
    fn page(&mut self, number: u64) -> &mut Page {
        if self.last.0 != number + 1 {
            self.last = (number + 1, self.find(number));
        }
        &mut self.pages[self.last.1 as usize]
    }

    #[inline(never)]
    fn find(&mut self, number: u64) -> u32 {
        let next = self.pages.len() as u32;
        let place = *self.index.entry(number).or_insert(next);
        if place == next {
            self.pages.push(Box::new(Page::fresh()));
        }
        place
    }

    /// The bytes `start .. end` are read; `agent` says by whom the one at an address.
    #[inline(always)]
    fn read(&mut self, all: &mut AllReads, start: u64, end: u64, agent: impl Fn(u64) -> AgentId) {
        let mut at = start;
        while at < end {
            let stop = end.min((at | (BLOCK - 1)) + 1);
            let bytes = u64::MAX >> (BLOCK - (stop - at)) << (at % BLOCK);
            let block = (at % PAGE / BLOCK) as usize;
            let class = self.class;
            let page = self.page(at / PAGE);
            let new = bytes & !page.seen[block];
            if new != 0 {
                page.seen[block] |= new;
                let told = all.count((class, at / PAGE), block, new);
                if told != 0 {
                    page.add(block, told, &|byte| agent(at / BLOCK * BLOCK + u64::from(byte)));
                }
            }
            at = stop;
        }
    }
}

/// What all kinds have read, by class and page. Two of a class stand for all of it that read a byte: many
/// instructions read one and the same.
#[derive(Clone, Default)]
struct AllReads {
    #[allow(clippy::vec_box)]
    pages: Vec<Box<Counts>>,
    index: FxHashMap<(u32, u64), u32>,
    /// The class and page looked at last, and its place.
    last: Option<((u32, u64), u32)>,
}

impl AllReads {
    #[inline]
    fn count(&mut self, page: (u32, u64), block: usize, bytes: u64) -> u64 {
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => self.find(page),
        };
        self.pages[place as usize].count(block, bytes)
    }

    #[inline(never)]
    fn find(&mut self, page: (u32, u64)) -> u32 {
        let next = self.pages.len() as u32;
        let place = *self.index.entry(page).or_insert(next);
        if place == next {
            self.pages.push(Box::new(Counts([[0; 2]; BLOCKS])));
        }
        self.last = Some((page, place));
        place
    }
}

/// The number of the class of these accesses, which may be a new one.
#[cold]
fn class_of(classes: &mut Vec<Class>, access: &StaticAccess) -> u32 {
    let class = (access.reference, access.non_private, access.visible, access.level);
    let known = classes.iter().position(|other| *other == class);
    known.unwrap_or_else(|| {
        classes.push(class);
        classes.len() - 1
    }) as u32
}

/// See the module's page.
#[derive(Clone, Default)]
pub(super) struct ReadOnly {
    /// What the dispatch may write: first bytes and those behind the last. `None`: anything.
    written: Option<Vec<(u64, u64)>>,
    /// Whether views (address and bytes) are read only: some of those asked for last, and all.
    last: [((u64, u64), bool); RECENT],
    views: FxHashMap<(u64, u64), bool>,
    /// Reads that are remembered, by index of their static access.
    kinds: Vec<Option<Reads>>,
    classes: Vec<Class>,
    all: AllReads,
}

impl ReadOnly {
    /// In a dispatch that writes no other device memory than this (first bytes and those behind the last).
    pub fn new(written: Option<Vec<(u64, u64)>>) -> ReadOnly {
        ReadOnly { written, ..ReadOnly::default() }
    }

    /// Whether the dispatch writes nothing of the view.
    #[inline(always)]
    pub fn covers(&mut self, view: &MemoryView<'_>) -> bool {
        if self.written.is_none() {
            return false;
        }
        let key = (view.address, view.size());
        // Large views begin at multiples of large powers of two: the low bits alone would tell none apart.
        let slot = (view.address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.ilog2())) as usize;
        if self.last[slot].0 != key {
            self.last[slot] = (key, self.look(key));
        }
        self.last[slot].1
    }

    #[inline(never)]
    fn look(&mut self, (start, size): (u64, u64)) -> bool {
        let Some(written) = &self.written else { return false };
        let end = start.saturating_add(size);
        *self
            .views
            .entry((start, size))
            .or_insert_with(|| !written.iter().any(|(from, to)| *from < end && start < *to))
    }

    /// What this kind of accesses has read, and what all have.
    #[inline(always)]
    fn reads(&mut self, kind: u32, access: &StaticAccess) -> (&mut Reads, &mut AllReads) {
        let slot = kind as usize;
        if self.kinds.len() <= slot {
            self.kinds.resize_with(slot + 1, || None);
        }
        let fresh = || Reads::of(class_of(&mut self.classes, access));
        (self.kinds[slot].get_or_insert_with(fresh), &mut self.all)
    }

    /// Lanes read `bytes` bytes each, at their offsets into the view; lane `i` is agent `first_lane + i`.
    /// Returns those of them whose bytes are in the view: nothing is remembered of the others.
    // Inline: compiled for what the interpreter runs on.
    #[inline(always)]
    pub fn read(
        &mut self,
        (kind, access): (u32, &StaticAccess),
        (view, offset, immediate): (&MemoryView<'_>, &Lanes, u32),
        mask: Mask,
        bytes: u32,
        first_lane: AgentId,
    ) -> Mask {
        let Some(last) = view.size().checked_sub(u64::from(bytes)) else { return 0 };
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        let mut gaps = 0;
        for (lane, at) in offset.0.iter().enumerate() {
            gaps |= at ^ offset.0[0].wrapping_add(bytes.wrapping_mul(lane as u32));
        }
        let from = u64::from(offset.0[0].wrapping_add(immediate));
        if gaps == 0 && mask == Mask::MAX && from + u64::from(bytes) * (LANES as u64 - 1) <= u64::from(last) {
            let (reads, all) = self.reads(kind, access);
            let start = view.address + from;
            let by = |address: u64| first_lane + ((address - start) as u32) / bytes;
            reads.read(all, start, start + u64::from(bytes) * LANES as u64, by);
            return mask;
        }
        let mut at = offset.0;
        let (mut inside, mut differ) = (0, 0);
        for (lane, at) in at.iter_mut().enumerate() {
            *at = at.wrapping_add(immediate);
            inside |= Mask::from(*at <= last) << lane;
        }
        let inside = inside & mask;
        if inside == 0 {
            return 0;
        }
        let first = inside.trailing_zeros() as usize;
        for (lane, at_lane) in at.iter().enumerate() {
            differ |= (at_lane ^ at[first]) & 0u32.wrapping_sub(inside >> lane & 1);
        }
        let (reads, all) = self.reads(kind, access);
        let start = |lane: usize| view.address + u64::from(at[lane]);
        if differ == 0 {
            reads.read(all, start(first), start(first) + u64::from(bytes), |_| first_lane + first as u32);
        } else {
            let mut left = inside;
            while left != 0 {
                // Those that read on from where the one before them ends read together with it.
                let lane = left.trailing_zeros() as usize;
                let mut behind = lane + 1;
                while behind < LANES
                    && inside >> behind & 1 != 0
                    && at[behind - 1].checked_add(bytes) == Some(at[behind])
                {
                    behind += 1;
                }
                left &= Mask::MAX.unbounded_shl(behind as u32);
                let from = start(lane);
                let by = |address: u64| first_lane + lane as u32 + ((address - from) as u32) / bytes;
                reads.read(all, from, from + u64::from(bytes) * (behind - lane) as u64, by);
            }
        }
        inside
    }

    /// Calls `each` for the runs of bytes that were read, by kind and ascending: the kind, the first byte,
    /// the one behind the last, and who read the first.
    pub fn runs(&self, mut each: impl FnMut(u32, u64, u64, AgentId)) {
        for (kind, reads) in (0..).zip(&self.kinds) {
            let Some(reads) = reads else { continue };
            let mut numbers: Vec<(u64, u32)> = reads.index.iter().map(|(n, place)| (*n, *place)).collect();
            numbers.sort_unstable();
            for (number, place) in numbers {
                let base = number * PAGE;
                reads.pages[place as usize]
                    .runs(|start, end, agent| each(kind, base + start, base + end, agent));
            }
        }
    }
}

#[cfg(test)]
mod tests;
