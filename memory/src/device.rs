//! Device memory: allocations, their device view and their host view.
//!
//! An allocation is a range of a heap's memory file mapped twice: the **device view**, through which shaders
//! and commands work, and the **host view**, which the application gets from vkMapMemory. Where nobody checks
//! the host, both show the same bytes at once, whatever the memory type promises: a flush or an invalidate
//! has nothing to do. Where the host is checked, [`crate::host`] says what the two show.
//!
//! Both views live as long as the allocation; whoever uses it holds a reference to it. [`sparse`] has the
//! memory of sparse resources.

mod range;
pub mod sparse;

pub use range::{MemoryRange, host_lines};

use crate::heap::{Heap, HeapError, Placement, data_ranges};
use crate::host::{Faults, Flushed, HostLines, Invalidated, Mapping, PAGE, Spans, View, atoms};
use crate::machine::HostCache;
use crate::raw::{self, MemoryView};
use crate::shared::MemoryFile;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// `nonCoherentAtomSize`, in bytes.
pub const ATOM: u64 = 64;

/// The host's side of an allocation, made when it is first mapped.
#[derive(Debug)]
enum HostView {
    /// The same pages as the device view; nobody looks at what the host does to them.
    Flat(Mapping),
    /// The host is watched.
    Checked(Box<View>),
}

/// How the host sees an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMemory {
    /// Its mapping is the device view's pages, whatever the memory type promises.
    Flat,
    /// The same, and its writes are looked for.
    Coherent,
    /// It has bytes of its own, which flush and invalidate move.
    NonCoherent,
    /// The same, and in between is the host's cache of a machine.
    Cached(HostCache),
}

impl HostMemory {
    /// Whether the host has bytes of its own.
    fn is_apart(self) -> bool {
        matches!(self, HostMemory::NonCoherent | HostMemory::Cached(_))
    }
}

/// What the host did to an allocation, in its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostAccesses {
    /// It changed these.
    pub writes: Vec<Range<u64>>,
    /// Pages of which the host read some: whenever it did where the device wrote them as a whole; at their
    /// first access before and behind the first submission else. True where all of the page was unseen
    /// ([`crate::host`]).
    pub reads: Vec<(Range<u64>, bool)>,
    /// Of pages among these that have nothing for the host but unseen bytes: from the first one to behind the
    /// last.
    pub unseen: Vec<Range<u64>>,
}

/// Where the bytes of an allocation are, and whose heap and addresses it uses up.
#[derive(Debug)]
struct Place {
    heap: Arc<Heap>,
    /// Where in the heap's file.
    offset: u64,
    bytes: Bytes,
}

/// Where the bytes of an allocation are.
#[derive(Debug)]
enum Bytes {
    /// In the heap's file.
    Heap,
    /// In a file that others may have, too.
    Shared(Arc<MemoryFile>),
    /// In the application's own memory.
    Application,
    /// In what is bound, page by page.
    Sparse(sparse::Bindings),
}

impl Place {
    /// The file of the bytes, and where in it.
    fn file(&self) -> Option<(libc::c_int, u64)> {
        match &self.bytes {
            Bytes::Heap => Some((self.heap.descriptor(), self.offset)),
            Bytes::Shared(file) => Some((file.descriptor(), 0)),
            Bytes::Application | Bytes::Sparse(_) => None,
        }
    }
}

/// One allocation of device memory.
#[derive(Debug)]
pub struct Allocation {
    /// Where it is; `None`: memory of no heap.
    place: Option<Place>,
    address: u64,
    size: u64,
    kind: HostMemory,
    device: Mapping,
    host: Mutex<Host>,
}

#[derive(Debug, Default)]
struct Host {
    view: Option<HostView>,
    /// Of non-coherent memory: bytes that the device wrote and the host has not invalidated.
    unseen: Spans,
}

impl Allocation {
    /// Allocates `size` bytes, zeroed.
    ///
    /// # Errors
    /// The heap is full, or the operating system refuses.
    pub fn new(heap: &Arc<Heap>, size: u64, kind: HostMemory) -> Result<Arc<Allocation>, HeapError> {
        Allocation::at(heap, size, kind, Placement::Anywhere)
    }

    /// The same, there.
    ///
    /// # Errors
    /// The heap is full, or has other memory there, or the operating system refuses.
    pub fn at(
        heap: &Arc<Heap>,
        size: u64,
        kind: HostMemory,
        placement: Placement,
    ) -> Result<Arc<Allocation>, HeapError> {
        Allocation::placed((heap, placement), size, kind, Bytes::Heap, |file| Mapping::new(size, file))
    }

    /// The first `size` bytes of a file that others may have, too. The host is not looked at.
    ///
    /// # Errors
    /// The file is smaller, the heap is full, or the operating system refuses.
    pub fn shared(
        heap: &Arc<Heap>,
        placement: Placement,
        size: u64,
        file: Arc<MemoryFile>,
    ) -> Result<Arc<Allocation>, HeapError> {
        if file.size() < size {
            return Err(HeapError::OutOfMemory { asked: size, left: file.size() });
        }
        let bytes = Bytes::Shared(file);
        Allocation::placed((heap, placement), size, HostMemory::Flat, bytes, |file| Mapping::new(size, file))
    }

    /// `size` bytes of the application's own memory. The host is not looked at.
    ///
    /// # Errors
    /// The heap is full.
    ///
    /// # Safety
    /// The bytes are there, to be read and written, as long as the allocation.
    pub unsafe fn of_application(
        heap: &Arc<Heap>,
        placement: Placement,
        start: *mut u8,
        size: u64,
    ) -> Result<Arc<Allocation>, HeapError> {
        // SAFETY: the contract.
        let mapping = |_| Ok(unsafe { Mapping::borrow(start, size) });
        Allocation::placed((heap, placement), size, HostMemory::Flat, Bytes::Application, mapping)
    }

    fn placed(
        (heap, placement): (&Arc<Heap>, Placement),
        size: u64,
        kind: HostMemory,
        bytes: Bytes,
        map: impl FnOnce(Option<(libc::c_int, u64)>) -> Result<Mapping, HeapError>,
    ) -> Result<Arc<Allocation>, HeapError> {
        let offset = heap.take(size, placement)?;
        let place = Place { heap: heap.clone(), offset, bytes };
        match map(place.file()) {
            Ok(device) => {
                let (place, address) = (Some(place), heap.address(offset));
                Ok(Arc::new(Allocation { place, address, size, kind, device, host: Mutex::default() }))
            }
            Err(error) => {
                heap.give(offset, size);
                Err(error)
            }
        }
    }

    /// Allocates `size` bytes, zeroed, that are in no heap and that the host cannot map.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn private(address: u64, size: u64) -> Result<Arc<Allocation>, HeapError> {
        let (device, kind, host) = (Mapping::new(size, None)?, HostMemory::Flat, Mutex::default());
        Ok(Arc::new(Allocation { place: None, address, size, kind, device, host }))
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Device address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes that are committed.
    pub fn committed(&self) -> u64 {
        match &self.place {
            Some(Place { heap, offset, bytes: Bytes::Heap }) => heap.committed(*offset, self.size),
            _ => self.size,
        }
    }

    /// The device view.
    pub fn bytes(&self) -> MemoryView<'_> {
        self.device.bytes().part(0, self.size).at(self.address)
    }

    /// What `with` makes of the host's view, if there is one that is checked.
    fn checked_view<T>(&self, with: impl FnOnce(&mut View, &mut Spans) -> T) -> Option<T> {
        match &mut *self.host.lock() {
            Host { view: Some(HostView::Checked(view)), unseen } => Some(with(view, unseen)),
            _ => None,
        }
    }

    fn non_coherent_view<T>(&self, with: impl FnOnce(&mut View, &mut Spans) -> T) -> Option<T> {
        if self.kind.is_apart() { self.checked_view(with) } else { None }
    }

    /// The host view, made at the first call and the same ever after.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn map(&self) -> Result<*mut u8, HeapError> {
        let Some(place) = &self.place else { return Err(HeapError::system("map memory")) };
        // The application has it already.
        let Some(device) = place.file() else { return Ok(self.device.start()) };
        let mut host = self.host.lock();
        if host.view.is_none() {
            let file = match self.kind {
                HostMemory::NonCoherent | HostMemory::Cached(_) => (place.heap.host_copies()?, place.offset),
                HostMemory::Flat | HostMemory::Coherent => device,
            };
            host.view = Some(match self.kind {
                HostMemory::Flat => HostView::Flat(Mapping::new(self.size, Some(file))?),
                kind => {
                    let cache = match kind {
                        HostMemory::Cached(cache) => Some(cache),
                        _ => None,
                    };
                    HostView::Checked(Box::new(View::new(
                        self.size,
                        file,
                        (kind == HostMemory::Coherent, cache),
                        &self.device,
                        &host.unseen,
                    )?))
                }
            });
        }
        match &host.view {
            Some(HostView::Flat(mapping)) => Ok(mapping.start()),
            Some(HostView::Checked(view)) => Ok(view.start()),
            None => Err(HeapError::system("map memory")),
        }
    }

    /// Takes note of pages that the host has written, `faults` being those up to now. True if there are any
    /// whose bytes only a device at rest leaves as the host wrote them.
    pub fn look(&self, faults: Faults) -> bool {
        self.checked_view(|view, _| view.look(faults)).unwrap_or(false) && self.kind == HostMemory::Coherent
    }

    /// The next look takes in all that the host has ever written in `offset .. offset + size`, if the memory
    /// is not coherent: system calls may write unnoticed.
    pub fn look_at(&self, offset: u64, size: u64) {
        let range = self.mapped_range(offset, size);
        self.checked_view(|view, _| view.look_at(&range));
    }

    /// Bytes of pages of coherent memory that [`Allocation::look`] has found and that are to be looked at.
    pub fn to_be_noted(&self) -> u64 {
        match self.kind {
            HostMemory::Coherent => self.checked_view(|view, _| view.to_be_noted()).unwrap_or(0),
            _ => 0,
        }
    }

    /// From now on the host is left alone where it has written much of coherent memory, but for pages that
    /// hold bytes of `kept`: elsewhere its writes are right, whatever they are. True if there are pages left
    /// of those that [`Allocation::look`] has found.
    pub fn leave_host(&self, kept: &[Range<u64>]) -> bool {
        self.checked_view(|view, _| view.leave(kept)).unwrap_or(false)
    }

    /// Whether the host is left alone nowhere.
    pub fn is_followed(&self) -> bool {
        self.checked_view(|view, _| view.is_followed()).unwrap_or(true)
    }

    /// From now on the host's writes to these bytes are followed again: work is about to use them.
    pub fn follow_host(&self, range: &Range<u64>) {
        self.checked_view(|view, _| view.follow(&self.device, range));
    }

    /// The host goes on, and may write what it wrote before the last look again.
    pub fn expect_writes(&self) {
        self.checked_view(|view, _| view.expect_writes());
    }

    /// Takes note of what the host did in the pages that [`Allocation::look`] found. Of coherent memory the
    /// device must not write any meanwhile. `again`: the host may be just writing, and the next look takes in
    /// these pages once more. True if there is something for [`Allocation::host_accesses`].
    pub fn note_host_accesses(&self, again: bool) -> bool {
        let noted = |view: &mut View, unseen: &mut Spans| {
            view.note(&self.device, unseen, again);
            view.has_noted()
        };
        self.checked_view(noted).unwrap_or(false)
    }

    /// What was noted of the host since this was last asked.
    pub fn host_accesses(&self) -> HostAccesses {
        self.checked_view(|view, unseen| view.take_noted(unseen)).unwrap_or_default()
    }

    /// From now on reads of the host count of pages that it has read already since the device wrote them.
    pub fn watch_again(&self) {
        self.checked_view(|view, _| view.watch_again());
    }

    /// A command or shader has written these bytes.
    pub fn device_wrote(&self, ranges: impl IntoIterator<Item = Range<u64>>) {
        let cut = |range: Range<u64>| range.start..range.end.min(self.size);
        let ranges: Vec<_> = ranges.into_iter().map(cut).filter(|range| !range.is_empty()).collect();
        let mut host = self.host.lock();
        if self.kind.is_apart() {
            ranges.iter().for_each(|range| host.unseen.insert(range));
        }
        if let Some(HostView::Checked(view)) = &mut host.view {
            view.device_wrote(&self.device, &ranges);
        }
    }

    /// Something that does not say what it writes has run on the device, which is at rest now.
    pub fn device_wrote_somewhere(&self) {
        let Some((file, start)) = self.place.as_ref().and_then(Place::file) else { return };
        for data in data_ranges(file, start..start + self.size) {
            let pages = (data.start - start) / PAGE * PAGE..(data.end - start).next_multiple_of(PAGE);
            let found = self.checked_view(|view, unseen| view.device_wrote_in(&self.device, &pages, unseen));
            // Nobody has mapped it yet: all of it may be new to the host.
            let found =
                found.unwrap_or_else(|| std::iter::once(pages.start..pages.end.min(self.size)).collect());
            self.device_wrote(found);
        }
    }

    /// Whether [`Allocation::flush`] of what was seen of the host would move bytes.
    pub fn flush_moves(&self, offset: u64, size: u64) -> bool {
        let range = self.mapped_range(offset, size);
        self.non_coherent_view(|view, _| view.holds_unflushed(&range)).unwrap_or(false)
    }

    /// Whether [`Allocation::invalidate`] could move bytes, or discard some of the host's.
    pub fn invalidate_moves(&self, offset: u64, size: u64) -> bool {
        let range = self.mapped_range(offset, size);
        let moves = |view: &mut View, unseen: &mut Spans| {
            view.holds_unflushed(&range) || unseen.first_within(&atoms(&range)).is_some()
        };
        self.non_coherent_view(moves).unwrap_or(false)
    }

    /// vkFlushMappedMemoryRanges: the host's writes in `offset .. offset + size` reach the device view.
    pub fn flush(&self, offset: u64, size: u64) -> Flushed {
        let range = self.mapped_range(offset, size);
        self.non_coherent_view(|view, unseen| {
            view.look(Faults::now());
            view.note(&self.device, unseen, false);
            view.flush(&self.device, &range, unseen)
        })
        .unwrap_or_default()
    }

    /// vkInvalidateMappedMemoryRanges: the device's writes in `offset .. offset + size` reach the host view,
    /// as far as they are not `in_flight` to the host: it says which parts of some bytes are.
    pub fn invalidate(
        &self,
        offset: u64,
        size: u64,
        in_flight: impl Fn(&Range<u64>) -> Vec<Range<u64>>,
    ) -> Invalidated {
        let range = self.mapped_range(offset, size);
        self.non_coherent_view(|view, unseen| {
            view.look(Faults::now());
            view.note(&self.device, unseen, false);
            view.invalidate(&self.device, &range, unseen, in_flight)
        })
        .unwrap_or_default()
    }

    /// What else the host does evicts lines of its cache, of a machine that has one: one in `traffic`, as the
    /// seed picks them. The device is at rest.
    pub fn evict(&self, seed: u64, traffic: u32) {
        self.non_coherent_view(|view, unseen| {
            view.look(Faults::now());
            view.note(&self.device, unseen, false);
            view.evict(&self.device, (seed, traffic), self.address);
        });
    }

    /// Whether [`Allocation::evict`] could move bytes.
    pub fn evicts(&self) -> bool {
        self.non_coherent_view(|view, _| view.differs()).unwrap_or(false)
    }

    /// What the host's cache holds of `size` bytes from an offset; `None`: there is none.
    pub fn host_lines(&self, offset: u64, size: u64) -> Option<HostLines> {
        let range = self.mapped_range(offset, size);
        self.non_coherent_view(|view, _| view.cached(&range, self.address)).flatten()
    }

    fn mapped_range(&self, offset: u64, size: u64) -> Range<u64> {
        offset.min(self.size)..offset.saturating_add(size).min(self.size)
    }

    /// Reads device memory; false, and nothing read, if the range is not inside the allocation.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> bool {
        raw::read(&self.bytes(), offset, to)
    }

    /// Writes device memory; false, and nothing written, if the range is not inside the allocation.
    pub fn write(&self, offset: u64, from: &[u8]) -> bool {
        match &self.place {
            Some(Place { bytes: Bytes::Sparse(_), .. }) => self.write_bound(offset, from),
            _ => raw::write(&self.bytes(), offset, from),
        }
    }

    fn checked(&self, offset: u64, length: u64) -> Option<MemoryView<'_>> {
        (offset.checked_add(length)? <= self.size).then(|| self.bytes().part(offset, length))
    }

    /// Copies between allocations, or inside one (overlap allowed); false, and nothing copied, if a range is
    /// not inside.
    pub fn copy(from: &Allocation, from_offset: u64, to: &Allocation, to_offset: u64, length: u64) -> bool {
        match (from.checked(from_offset, length), to.checked(to_offset, length)) {
            (Some(source), Some(target)) => sparse::copy(&source, &target, to),
            _ => false,
        }
    }

    /// Fills with a repeated pattern; false, and nothing written, if the range is not inside the allocation
    /// or the pattern is empty.
    pub fn fill(&self, offset: u64, length: u64, pattern: &[u8]) -> bool {
        match self.checked(offset, length) {
            Some(range) if !pattern.is_empty() => sparse::fill(self, &range, pattern),
            _ => return false,
        }
        true
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // The views are unmapped after this, by their own drop; punching the file leaves them mapped to zero
        // pages.
        if let Some(place) = &self.place {
            place.heap.give(place.offset, self.size);
        }
    }
}

#[cfg(test)]
mod tests;
