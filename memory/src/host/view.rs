//! What the host has of one allocation. See the module's page.

use super::cache::{Cache, HostBytes, HostLines};
use super::forecast::{Forecast, bytes};
use super::mapping::{Mapping, PAGE, pages, pages_of};
use super::noted::Noted;
use super::parts;
use super::runs::{BETWEEN, append, filled};
use super::spans::Spans;
use super::watch::{Faults, Watched, refusal};
use crate::bits::runs;
use crate::device::{ATOM, HostAccesses};
use crate::heap::HeapError;
use crate::machine::HostCache;
use crate::random::mix;
use std::ops::Range;

/// Unseen bytes in a row that a host which writes beside them leaves as they are by chance once in 2^32.
const CERTAIN: u64 = 4;

/// What a flush did, in bytes of the allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Bytes of the host that the device has from now on.
    pub moved: Vec<Range<u64>>,
    /// Unseen bytes that the host did not write, in atoms in which it wrote others.
    pub lost: Vec<Range<u64>>,
}

/// What an invalidate did, in bytes of the allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invalidated {
    /// Bytes that the device wrote and the host sees from now on.
    pub seen: Vec<Range<u64>>,
    /// Bytes that the host wrote and never flushed: gone.
    pub discarded: Vec<Range<u64>>,
}

/// The host's view of an allocation.
#[derive(Debug)]
pub(crate) struct View {
    app: Watched,
    /// The pages of the application's mapping once more; those of coherent memory are the device view's.
    own: Option<Mapping>,
    /// What the application's mapping held when it was last looked at.
    known: Mapping,
    /// Pages that the application may have written since.
    touched: Spans,
    /// Pages of coherent memory that it has written, and goes on to as it likes: it is not followed there.
    left: Spans,
    /// Pages that it has written at some time.
    ever: Spans,
    /// Pages of memory that is not coherent of which an invalidate has shown it bytes.
    shown: Spans,
    /// Pages that it had changed when they were last looked at.
    changed: Spans,
    forecast: Forecast,
    /// Up to the last look.
    faults: Faults,
    noted: Noted,
    unflushed: Spans,
    /// Of a machine, and what it holds that is stale; only of memory that is not coherent.
    cache: Option<(Cache, Mapping)>,
    fills: u64,
    size: u64,
}

/// Bytes in a row from which on a forecast is worth its cost.
const EXPECTED: u64 = 2 * PAGE;

/// Bytes of pages in a row from which on the host is left alone there: what lies between is listed apart.
const LEFT: u64 = 16 * PAGE;

/// Steps between the words of successive pages by which it is seen whether the host has changed them.
const SAMPLE: u64 = 104;

/// Runs of bytes in one part of the memory ([`parts`]) from which on bytes that did not change count as
/// written between others, less than a word of them: numbers are seldom new in all of their bytes.
const RUNS: usize = 256;

/// Eight bytes of which none is that of `old` or of `new` in its place.
fn neither(seed: u64, old: u64, new: u64) -> u64 {
    let bytes = mix(seed).to_le_bytes();
    let (old, new) = (old.to_le_bytes(), new.to_le_bytes());
    u64::from_le_bytes(std::array::from_fn(|i| {
        let mut byte = bytes[i];
        while byte == old[i] || byte == new[i] || byte == 0 || byte == 0xff {
            byte = byte.wrapping_add(0x65);
        }
        byte
    }))
}

/// The atoms that hold the bytes.
pub(crate) fn atoms(range: &Range<u64>) -> Range<u64> {
    range.start / ATOM * ATOM..range.end.next_multiple_of(ATOM)
}

impl View {
    /// A view of `size` bytes at an offset of a file: that of the device view, if the memory is coherent. A
    /// machine may have a `cache` for other memory.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new(
        size: u64,
        file: (libc::c_int, u64),
        (coherent, cache): (bool, Option<HostCache>),
        device: &Mapping,
        unseen: &Spans,
    ) -> Result<View, HeapError> {
        let mut cache = match cache.filter(|_| !coherent) {
            Some(shape) => Some((Cache::new(shape), Mapping::new(size, None)?)),
            None => None,
        };
        if let Some((cache, _)) = cache.as_mut().filter(|_| refusal().is_some()) {
            // Nobody knows what the host accesses.
            cache.access(&(0..size));
        }
        let own = if coherent { None } else { Some(Mapping::new(size, Some(file))?) };
        let app = Watched::new(size, file)?;
        let known = Mapping::new(size, None)?;
        if coherent {
            app.holding().for_each(|range| known.copy_from(device, &range));
        }
        let mut view = View {
            app,
            own,
            known,
            touched: Spans::default(),
            left: Spans::default(),
            ever: Spans::default(),
            shown: Spans::default(),
            changed: Spans::default(),
            forecast: Forecast::default(),
            faults: Faults::default(),
            noted: Default::default(),
            unflushed: Spans::default(),
            cache,
            fills: 0,
            size,
        };
        view.device_wrote(device, &unseen.iter().collect::<Vec<_>>());
        Ok(view)
    }

    /// The application's pointer.
    pub fn start(&self) -> *mut u8 {
        self.app.start()
    }

    /// Takes note of the pages that the application has written, `faults` being those up to now. True if
    /// there are any to be looked at.
    pub fn look(&mut self, faults: Faults) -> bool {
        let touched = &mut self.touched;
        self.faults = faults;
        self.app.written(faults, &self.left, |pages| touched.insert(&pages));
        !self.touched.is_empty()
    }

    /// Bytes of the pages that are to be looked at.
    pub fn to_be_noted(&self) -> u64 {
        bytes(&self.touched)
    }

    /// From now on the host is not followed where it has written much in a row, but for the pages of `kept`.
    /// True if there are still pages to be looked at.
    pub fn leave(&mut self, kept: &[Range<u64>]) -> bool {
        if self.own.is_none() {
            let mut left = self.touched.clone();
            kept.iter().for_each(|range| left.remove(&pages(range)));
            for run in left.iter().filter(|run| run.end - run.start >= LEFT) {
                self.touched.remove(&run);
                self.left.insert(&run);
                self.forecast.expected.remove(&run);
            }
        }
        !self.touched.is_empty()
    }

    /// Whether the host is followed everywhere.
    pub fn is_followed(&self) -> bool {
        self.left.is_empty()
    }

    /// From now on the host is followed in all pages of `range`. What it has written there until now is past.
    pub fn follow(&mut self, device: &Mapping, range: &Range<u64>) {
        let left = self.left.within(&pages(range));
        if left.is_empty() {
            return;
        }
        let mut runs = Spans::default();
        for run in left {
            self.left.remove(&run);
            self.app.protect(&run);
            runs.insert(&run);
        }
        let known = &self.known;
        let parts = parts::map(runs.iter(), |part| {
            let mut changed = Vec::new();
            for page in part.step_by(PAGE as usize).map(|page| page..page + PAGE) {
                let word = page.start + page.start / PAGE * SAMPLE % PAGE;
                if known.word(word) != device.word(word) {
                    append(&mut changed, page.clone(), 0);
                }
                known.copy_from(device, &page);
            }
            changed
        });
        let mut changed = Spans::default();
        parts.iter().flatten().for_each(|run| changed.insert(run));
        self.foresee(&runs, &changed);
    }

    /// Of the pages `touched` the application has changed these.
    fn foresee(&mut self, touched: &Spans, changed: &Spans) {
        touched.iter().for_each(|run| self.changed.remove(&run));
        changed.iter().for_each(|run| self.changed.insert(&run));
    }

    /// The next look takes in all pages of `range` that the application has ever written. Where it has the
    /// kernel write them (direct or asynchronous input and output), the bytes may come long after the kernel
    /// took the pages, and are no fault.
    pub fn look_at(&mut self, range: &Range<u64>) {
        if self.own.is_some() {
            self.ever.within(&pages(range)).iter().for_each(|run| self.touched.insert(run));
        }
    }

    /// Takes note of what the host did in the pages that [`View::look`] found: of the bytes that it wrote, as
    /// far as they changed, or are among very many that did, and of the pages that it has accessed since they
    /// were closed. The device must not write coherent memory meanwhile. `again`: the next time these pages
    /// are looked at once more, as the host may be just writing them.
    pub fn note(&mut self, device: &Mapping, unseen: &mut Spans, again: bool) {
        let touched = self.touched.clone();
        let opened = self.app.opened(self.faults);
        self.note_reads(&opened, unseen);
        let writes = self.writes(device, unseen);
        if let (Some((cache, _)), Some(own)) = (&mut self.cache, &self.own) {
            let passed_on = writes.iter().filter(|run| cache.host_wrote(run));
            passed_on.for_each(|run| device.copy_from(own, run));
            opened.iter().chain(touched.iter()).for_each(|pages| cache.access(&pages));
            // Of what shows as it is in memory, a store may have changed nothing.
            for run in touched.iter().flat_map(|pages| cache.fetched(unseen, &pages)).collect::<Vec<_>>() {
                self.unflushed.between(&run).for_each(|part| unseen.remove(&part));
            }
        }
        self.touched = if again { touched } else { Spans::default() };
        for run in opened.iter() {
            // Where the host is left alone, its reads are right as well.
            self.left.between(&run).for_each(|part| self.noted.read.insert(&part));
        }
        if !writes.is_empty() {
            self.noted.written.push(writes);
        }
    }

    /// Whether this page has nothing for the host but what the device wrote and it has not invalidated: it
    /// has written nothing there itself, and was shown nothing. Who reads there reads such bytes, or what
    /// nobody has ever written.
    fn has_nothing(&self, page: &Range<u64>) -> bool {
        let nothing = |known: &Spans| known.first_within(page).is_none();
        self.own.is_some() && self.cache.is_none() && nothing(&self.ever) && nothing(&self.shown)
    }

    /// Takes note of those of the pages that the host has accessed where it has nothing but what may be
    /// unseen, in part, and which it has not written. What it reads there next counts as well: what it was
    /// told until then may be too little to say that a read is wrong.
    fn note_reads(&mut self, opened: &Spans, unseen: &Spans) {
        if self.own.is_none() || opened.is_empty() {
            return;
        }
        let mut read = opened.clone();
        self.touched.iter().for_each(|run| read.remove(&run));
        let mut closed = Spans::default();
        for page in read.iter().flat_map(pages_of) {
            let part = unseen.first_within(&page);
            if !self.has_nothing(&page) || part == Some(page.start..page.end.min(self.size)) {
                continue;
            }
            self.noted.alone.insert(&page);
            if part.is_some() {
                closed.insert(&page);
            }
        }
        self.app.close(&closed);
    }

    /// Whether anything was noted since [`View::take_noted`].
    pub fn has_noted(&self) -> bool {
        !self.noted.is_empty()
    }

    /// What was noted since this was last asked; of what is `unseen` now.
    pub fn take_noted(&mut self, unseen: &Spans) -> HostAccesses {
        let noted = std::mem::take(&mut self.noted);
        // Some may be written just now, and are listed the next time.
        let written = self.app.being_written(&noted.alone);
        let alone = |page: &Range<u64>| self.has_nothing(page) && written.first_within(page).is_none();
        noted.accesses(unseen, self.size, alone)
    }

    fn writes(&mut self, device: &Mapping, unseen: &Spans) -> Vec<Range<u64>> {
        let own = self.own.as_ref().unwrap_or(device);
        let touched = std::mem::take(&mut self.touched);
        let parts = parts::map(touched.iter(), |part| {
            let (mut bytes, mut changed) = (Vec::new(), Vec::new());
            let exact = unseen.first_within(&part).is_some();
            self.known.update(own, &part, |at, bits| {
                append(&mut changed, pages(&(at..at + 64)), 0);
                let fill = !exact && bytes.len() >= RUNS;
                for (start, end) in runs(if fill { filled(bits) } else { bits }) {
                    let run = at + u64::from(start)..at + u64::from(end);
                    append(&mut bytes, run, if fill { BETWEEN } else { 0 });
                }
            });
            (bytes, changed)
        });
        let (mut found, mut changed) = (Vec::new(), Spans::default());
        for (bytes, pages) in parts {
            bytes.into_iter().for_each(|run| append(&mut found, run, 0));
            pages.iter().for_each(|run| changed.insert(run));
        }
        if !touched.is_empty() {
            self.forecast.judge(&changed);
            self.foresee(&touched, &changed);
        }
        if self.own.is_some() {
            touched.iter().for_each(|run| self.ever.insert(&run));
            found.iter().for_each(|range| self.unflushed.insert(range));
        }
        found
    }

    /// The application is about to go on: what it changed the last time, it may write now. Where it does, it
    /// shall not have to take a fault for each page.
    pub fn expect_writes(&mut self) {
        if self.forecast.left_out > 0 {
            self.forecast.left_out -= 1;
            return;
        }
        let mut pages = self.changed.clone();
        let apart = self.app.closed().iter().chain(self.left.iter());
        apart.for_each(|run| pages.remove(&run));
        let runs: Vec<_> = pages.iter().filter(|run| run.end - run.start >= EXPECTED).collect();
        if runs.is_empty() {
            return;
        }
        self.app.admit_writes(&runs);
        runs.iter().for_each(|run| self.forecast.expected.insert(run));
    }

    /// From now on reads of pages count that [`View::note`] has seen already.
    pub fn watch_again(&mut self) {
        self.app.close_again();
    }

    /// The device has written these bytes. When the host next accesses pages of them is known, where the
    /// device wrote all of a page or the host [has nothing](View::has_nothing) else there.
    pub fn device_wrote(&mut self, device: &Mapping, ranges: &[Range<u64>]) {
        let [mut whole, mut parts] = <[Spans; 2]>::default();
        for range in ranges {
            self.follow(device, range);
            self.note_write(device, range);
            let last = if range.end == self.size { device.length() } else { range.end / PAGE * PAGE };
            whole.insert(&(range.start.next_multiple_of(PAGE)..last));
            for page in [range.start..range.start + 1, range.end - 1..range.end].map(|byte| pages(&byte)) {
                if self.has_nothing(&page) {
                    parts.insert(&page);
                }
            }
        }
        self.app.device_wrote(&whole);
        whole.iter().for_each(|pages| parts.remove(&pages));
        self.app.close(&parts);
    }

    fn note_write(&mut self, device: &Mapping, range: &Range<u64>) {
        self.unflushed.remove(range);
        let Some(own) = &self.own else { return self.known.copy_from(device, range) };
        let Some((cache, old)) = &mut self.cache else { return self.hide(device, range) };
        let overtaken = cache.device_wrote(range);
        overtaken.kept.iter().for_each(|part| old.copy_from(&self.known, part));
        for part in &overtaken.fetched {
            own.copy_from(device, part);
            self.known.copy_from(device, part);
        }
        overtaken.hidden.iter().for_each(|part| self.hide(device, part));
    }

    /// Fills bytes of the application's mapping with what is neither there nor on the device.
    fn hide(&mut self, device: &Mapping, range: &Range<u64>) {
        let Some(own) = &self.own else { return };
        self.fills += 1;
        let (mut at, end) = (range.start, range.end);
        while at < end {
            let base = at / 8 * 8;
            let (old, new) = (self.known.word(base), device.word(base));
            let fill = neither(mix(self.fills) ^ base, old, new);
            let stop = (base + 8).min(end);
            if stop - at == 8 {
                own.put_word(base, fill);
                self.known.put_word(base, fill);
            } else {
                for i in at..stop {
                    let byte = fill.to_le_bytes()[(i - base) as usize];
                    own.put(i, byte);
                    self.known.put(i, byte);
                }
            }
            at = stop;
        }
    }

    /// The bytes in these pages that the device has written without saying so: those that neither side knows
    /// of.
    pub fn device_wrote_in(
        &mut self,
        device: &Mapping,
        pages: &Range<u64>,
        unseen: &Spans,
    ) -> Vec<Range<u64>> {
        let mut found = Spans::default();
        for page in pages.clone().step_by(PAGE as usize).map(|page| page..page + PAGE) {
            if !device.same(&self.known, &page) {
                for at in page.filter(|at| device.get(*at) != self.known.get(*at)) {
                    found.insert(&(at..at + 1));
                }
            }
        }
        for known in [unseen, &self.unflushed, &self.left] {
            known.iter().for_each(|range| found.remove(&range));
        }
        found.iter().collect()
    }

    /// Whether the host wrote bytes in the atoms of `range` that it has not flushed.
    pub fn holds_unflushed(&self, range: &Range<u64>) -> bool {
        self.unflushed.first_within(&atoms(range)).is_some()
    }

    /// Moves what the host wrote in the atoms of `range` to the device view.
    pub fn flush(&mut self, device: &Mapping, range: &Range<u64>, unseen: &mut Spans) -> Flushed {
        let mut out = Flushed::default();
        let Some(own) = &self.own else { return out };
        let range = atoms(range);
        let mut at = range.start;
        while let Some(written) = self.unflushed.first_within(&(at..range.end)) {
            if unseen.first_within(&atoms(&written)).is_none() {
                device.copy_from(own, &written);
                self.unflushed.remove(&written);
                at = written.end;
                out.moved.push(written);
                continue;
            }
            let atom = atoms(&(written.start..written.start + 1));
            let mut moved = Spans::default();
            self.unflushed.within(&atom).iter().for_each(|part| moved.insert(part));
            let mut left = Spans::default();
            unseen.within(&atom).iter().for_each(|part| left.insert(part));
            moved.iter().for_each(|part| left.remove(&part));
            if let Some((cache, _)) = &self.cache {
                // The line has these bytes as they are in memory.
                for part in cache.fetched(&left, &atom) {
                    left.remove(&part);
                    moved.insert(&part);
                }
            }
            for part in left.iter() {
                if part.end - part.start < CERTAIN {
                    moved.insert(&part);
                } else {
                    out.lost.push(part);
                }
            }
            for part in moved.iter() {
                device.copy_from(own, &part);
                unseen.remove(&part);
                out.moved.push(part);
            }
            self.unflushed.remove(&atom);
            at = atom.end;
        }
        if let Some((cache, _)) = &mut self.cache {
            out.moved.iter().for_each(|part| cache.moved(part));
            let along = cache.write_back(&self.unflushed, &range);
            along.iter().for_each(|part| device.copy_from(own, part));
        }
        out
    }

    /// Moves what the device wrote in the atoms of `range` to the application's mapping, but for those parts
    /// of it that are `in_flight`: the host was not told that they have been written, and they stay unseen.
    pub fn invalidate(
        &mut self,
        device: &Mapping,
        range: &Range<u64>,
        unseen: &mut Spans,
        in_flight: impl Fn(&Range<u64>) -> Vec<Range<u64>>,
    ) -> Invalidated {
        let Some(own) = &self.own else { return Invalidated::default() };
        let range = atoms(range);
        let [mut seen, mut left] = <[Spans; 2]>::default();
        for part in unseen.within(&range) {
            seen.insert(&part);
            in_flight(&part).iter().for_each(|bytes| left.insert(bytes));
        }
        left.iter().for_each(|part| seen.remove(&part));
        seen.iter().for_each(|part| unseen.remove(&part));
        let out = Invalidated { seen: seen.iter().collect(), discarded: self.unflushed.within(&range) };
        // What the host wrote is gone, where bytes stay unseen as well.
        let hidden: Vec<_> = out.discarded.iter().flat_map(|part| left.within(part)).collect();
        out.discarded.iter().for_each(|part| seen.insert(part));
        hidden.iter().for_each(|part| seen.remove(part));
        for part in seen.iter() {
            own.copy_from(device, &part);
            self.known.copy_from(device, &part);
            self.shown.insert(&pages(&part));
        }
        if let Some((cache, _)) = &mut self.cache {
            seen.iter().for_each(|part| cache.moved(&part));
        }
        hidden.iter().for_each(|part| self.note_write(device, part));
        self.unflushed.remove(&range);
        self.drop_lines(device, &range, in_flight);
        out
    }

    /// The cache of a machine drops what is stale in the lines of `range`, but for what is in flight.
    fn drop_lines(
        &mut self,
        device: &Mapping,
        range: &Range<u64>,
        in_flight: impl Fn(&Range<u64>) -> Vec<Range<u64>>,
    ) {
        let (Some((cache, _)), Some(own)) = (&mut self.cache, &self.own) else { return };
        let mut left = Spans::default();
        let lines = cache.lines(range);
        for part in cache.stale().within(&lines) {
            in_flight(&part).iter().for_each(|bytes| left.insert(bytes));
        }
        // Where the host has written others, it may have stored what happens to be there.
        self.unflushed.within(&atoms(&lines)).iter().for_each(|part| left.insert(&atoms(part)));
        for part in cache.drop_lines(range, &left) {
            own.copy_from(device, &part);
            self.known.copy_from(device, &part);
        }
    }

    /// What else the host does evicts lines of its cache, on a device at rest: one in `traffic`, as the seed
    /// picks them. `base`: the device address of the first byte.
    pub fn evict(&mut self, device: &Mapping, dice: (u64, u32), base: u64) {
        let (Some((cache, _)), Some(own)) = (&mut self.cache, &self.own) else { return };
        let evicted = cache.evicted(&self.unflushed, dice, (base, self.size));
        for part in evicted.iter().flat_map(|line| cache.write_back(&self.unflushed, line)) {
            device.copy_from(own, &part);
        }
        evicted.iter().for_each(|line| self.drop_lines(device, line, |_| Vec::new()));
    }

    /// Whether the cache of a machine may have bytes that memory does not have as they are.
    pub fn differs(&self) -> bool {
        let cache = self.cache.as_ref();
        cache.is_some_and(|(cache, _)| !self.unflushed.is_empty() || !cache.stale().is_empty())
    }

    /// What the cache of a machine holds of these bytes; `None`: there is none. `base`: the device address of
    /// the first byte of all.
    pub fn cached(&self, range: &Range<u64>, base: u64) -> Option<HostLines> {
        let ((cache, old), own) = (self.cache.as_ref()?, self.own.as_ref()?);
        let held = cache.held(range);
        let copy = |from: &Mapping, run: &Range<u64>, dirty| HostBytes {
            address: base + run.start,
            bytes: run.clone().map(|at| from.get(at)).collect(),
            dirty,
        };
        let mut differing = Vec::new();
        for part in &held {
            let inside = |run: Range<u64>| run.start.max(part.start)..run.end.min(part.end);
            let dirty = cache.dirty(&self.unflushed, part).into_iter().map(inside);
            differing.extend(dirty.filter(|run| !run.is_empty()).map(|run| copy(own, &run, true)));
            differing.extend(cache.stale().within(part).iter().map(|run| copy(old, run, false)));
        }
        differing.sort_by_key(|run| run.address);
        let held = held.iter().map(|run| (base + run.start, base + run.end)).collect();
        Some(HostLines { held, differing })
    }
}
