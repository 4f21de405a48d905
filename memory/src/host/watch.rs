//! Which pages of a mapping the application has written: kept by the kernel.
//!
//! userfaultfd's asynchronous write protection (Linux 6.7) lets a write to a protected page go through and
//! drops the page's protection; the ioctl PAGEMAP_SCAN lists the pages without it and protects them again in
//! one step. No signal, no thread and no privilege is involved, and writes that system calls make are seen as
//! well. Reads are seen by the page, where it matters: pages that are taken out of the application's page
//! table, or that were never in it, are put there by its next access, whatever that is. Where the kernel is
//! older, or a container's
//! profile forbids it, every page that holds data counts as written.

use super::mapping::{Mapping, PAGE};
use super::parts;
use super::spans::Spans;
use crate::heap::{HeapError, data_ranges};
use std::io::Error;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

/// The two descriptors of a process that watches.
struct Kernel {
    faults: OwnedFd,
    pages: OwnedFd,
}

const UFFD_API: u64 = 0xaa;
const UFFD_USER_MODE_ONLY: libc::c_int = 1;
/// UFFD_FEATURE_PAGEFAULT_FLAG_WP, WP_HUGETLBFS_SHMEM, WP_UNPOPULATED and WP_ASYNC.
const FEATURES: u64 = 1 | 1 << 12 | 1 << 13 | 1 << 15;
const UFFDIO_API: libc::Ioctl = 0xc018_aa3f_u32 as libc::Ioctl;
const UFFDIO_REGISTER: libc::Ioctl = 0xc020_aa00_u32 as libc::Ioctl;
const REGISTER_WRITE_PROTECT: u64 = 2;
const UFFDIO_UNREGISTER: libc::Ioctl = 0x8010_aa01_u32 as libc::Ioctl;
const PAGEMAP_SCAN: libc::Ioctl = 0xc060_6610_u32 as libc::Ioctl;
/// PM_SCAN_WP_MATCHING and PM_SCAN_CHECK_WPASYNC: protect what is found; fail where that cannot be.
const PROTECT: u64 = 1 | 2;
const PAGE_IS_WRITTEN: u64 = 1 << 1;
const PAGE_IS_PRESENT: u64 = 1 << 3;

/// struct uffdio_api.
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// struct uffdio_register.
#[repr(C)]
struct Register {
    start: u64,
    length: u64,
    mode: u64,
    ioctls: u64,
}

/// struct pm_scan_arg.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_length: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// struct page_region.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// Bytes in a row from which on it costs less to let the application write them all at once than page by
/// page.
const AT_ONCE: u64 = 16 * PAGE;

/// Bytes between runs of pages up to which it costs less to ask for both at once.
const NEAR: u64 = 256 * PAGE;

/// Which interface the kernel refuses, and why.
#[derive(Debug, thiserror::Error)]
#[error("{interface}: {error}")]
pub struct Refusal {
    interface: &'static str,
    error: Error,
}

impl Kernel {
    fn open() -> Result<Kernel, Refusal> {
        let refused = |interface| move |error| Refusal { interface, error };
        let faults = Kernel::faults().map_err(refused("userfaultfd"))?;
        let pages = std::fs::File::open("/proc/self/pagemap").map_err(refused("/proc/self/pagemap"))?.into();
        let kernel = Kernel { faults, pages };
        // Of no pages: whether it is there and permitted.
        let mut scan = Scan { size: size_of::<Scan>() as u64, ..Scan::default() };
        match kernel.scan(&mut scan) {
            found if found < 0 => Err(refused("PAGEMAP_SCAN")(Error::last_os_error())),
            _ => Ok(kernel),
        }
    }

    fn scan(&self, scan: &mut Scan) -> libc::c_int {
        // SAFETY: the ioctl takes this structure. Whoever fills it names room for regions, and pages to
        // protect of a mapping that is ours and registered.
        unsafe { libc::ioctl(self.pages.as_raw_fd(), PAGEMAP_SCAN, std::ptr::from_mut(scan)) }
    }

    fn faults() -> Result<OwnedFd, Error> {
        // SAFETY: plain system call; the result is checked.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | UFFD_USER_MODE_ONLY) };
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the descriptor was just created and belongs to nobody else.
        let faults = unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) };
        let mut api = Api { api: UFFD_API, features: FEATURES, ioctls: 0 };
        // SAFETY: the ioctl takes this structure.
        if unsafe { libc::ioctl(faults.as_raw_fd(), UFFDIO_API, &raw mut api) } != 0 {
            return Err(Error::last_os_error());
        }
        Ok(faults)
    }

    /// From now on the kernel can protect these addresses, which a mapping of ours has.
    fn register(&self, start: u64, length: u64) -> bool {
        let mut register = Register { start, length, mode: REGISTER_WRITE_PROTECT, ioctls: 0 };
        // SAFETY: the ioctl takes this structure.
        unsafe { libc::ioctl(self.faults.as_raw_fd(), UFFDIO_REGISTER, &raw mut register) == 0 }
    }

    /// Ends the protection of these addresses, and that they can be protected.
    fn unregister(&self, start: u64, length: u64) -> bool {
        let mut range = [start, length];
        // SAFETY: the ioctl takes a struct uffdio_range, which is these two words.
        unsafe { libc::ioctl(self.faults.as_raw_fd(), UFFDIO_UNREGISTER, range.as_mut_ptr()) == 0 }
    }

    fn get() -> &'static Result<Kernel, Refusal> {
        static KERNEL: OnceLock<Result<Kernel, Refusal>> = OnceLock::new();
        KERNEL.get_or_init(Kernel::open)
    }
}

/// Why writes are found by comparing all bytes, where they are; reads are not seen then.
pub fn refusal() -> Option<&'static Refusal> {
    Kernel::get().as_ref().err()
}

/// Page faults of this process up to some moment, those of its system calls included. To ask for them costs
/// as much as the process has threads: who looks at many mappings asks once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults(Option<u64>);

impl Faults {
    /// Up to now.
    pub fn now() -> Faults {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the system call fills the structure, which may hold zeros as well.
        let usage = unsafe {
            match libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) {
                0 => usage.assume_init(),
                _ => return Faults(None),
            }
        };
        Faults(Some(usage.ru_minflt as u64 + usage.ru_majflt as u64))
    }
}

/// A mapping for the application whose written pages are known.
#[derive(Debug)]
pub(super) struct Watched {
    mapping: Mapping,
    file: (libc::c_int, u64),
    tracked: bool,
    /// Page faults of the process before its written pages were last listed, and before closed ones were
    /// looked at.
    faults: [Faults; 2],
    /// Pages that the application has not accessed since they were closed, as far as is known.
    closed: Spans,
    /// Pages that it had accessed when they were closed again.
    early: Spans,
    /// Pages that are open since it accessed them.
    open: Spans,
    /// Pages that [`Watched::close_again`] has not closed yet.
    new: Spans,
    /// Pages that the device has written.
    devices: Spans,
}

impl Watched {
    /// Maps `size` bytes of a file from `offset`. The file stays open as long as the mapping lives.
    ///
    /// # Errors
    /// The operating system refuses to map.
    pub fn new(size: u64, file: (libc::c_int, u64)) -> Result<Watched, HeapError> {
        let mapping = Mapping::new(size, Some(file))?;
        let kernel = Kernel::get().as_ref();
        let tracked = kernel.is_ok_and(|kernel| kernel.register(mapping.start() as u64, mapping.length()));
        let [mut closed, early, open, mut new, devices]: [Spans; 5] = Default::default();
        if tracked {
            closed.insert(&(0..mapping.length()));
            new = closed.clone();
        }
        let mut watched =
            Watched { mapping, file, tracked, faults: Default::default(), closed, early, open, new, devices };
        if tracked {
            // Protects all pages: those that are not there yet count as written until then.
            watched.written(Faults::default(), &Spans::default(), |_| ());
            // A process that locks all its memory has them at once.
            watched.take_out(&(0..watched.mapping.length()));
        }
        Ok(watched)
    }

    /// The application's pointer. The driver itself does not touch bytes through it.
    pub fn start(&self) -> *mut u8 {
        self.mapping.start()
    }

    /// Whether the process has taken no fault between the moment that was last told for this purpose and
    /// this one.
    fn no_fault_since(&mut self, purpose: usize, faults: Faults) -> bool {
        faults.0.is_some() && faults == std::mem::replace(&mut self.faults[purpose], faults)
    }

    /// Calls `each` with the runs of pages that were written since they were last listed, but for those that
    /// are `left`. `faults`: those up to a moment before.
    pub fn written(&mut self, faults: Faults, left: &Spans, mut each: impl FnMut(Range<u64>)) {
        // The first write to a protected page is a fault.
        if self.tracked && self.no_fault_since(0, faults) {
            return;
        }
        let all = 0..self.mapping.length();
        let listed = |run| self.scan(&run, PROTECT, PAGE_IS_WRITTEN, &mut each);
        if self.tracked && !left.between(&all).all(listed) {
            self.tracked = false;
        }
        if !self.tracked {
            self.holding().for_each(|run| left.between(&run).for_each(&mut each));
        }
    }

    /// The pages count as written when the application next writes them, and not before.
    pub fn protect(&mut self, pages: &Range<u64>) {
        self.tracked &= self.scan(pages, PROTECT, PAGE_IS_WRITTEN, &mut |_| ());
    }

    /// The device has written these pages: from now on it is known when the application accesses them.
    pub fn device_wrote(&mut self, pages: &Spans) {
        pages.iter().for_each(|run| self.devices.insert(&run));
        self.close(pages);
    }

    /// From now on it is known when the application accesses these pages, even if it only reads: they are
    /// taken out of its page table, which puts them back unasked. The bytes stay in the file.
    pub fn close(&mut self, pages: &Spans) {
        if !self.tracked || pages.is_empty() {
            return;
        }
        // One question for all that are near each other.
        let mut near: Vec<Range<u64>> = Vec::new();
        for run in pages.iter() {
            match near.last_mut().filter(|before| run.start - before.end <= NEAR) {
                Some(before) => before.end = run.end,
                None => near.push(run),
            }
        }
        let present = self.present(&near);
        for run in pages.iter() {
            let there = present.within(&run);
            for early in there.iter().flat_map(|part| self.closed.within(part)) {
                self.early.insert(&early);
            }
            if there.iter().all(|part| self.take_out(part)) {
                self.closed.insert(&run);
                self.open.remove(&run);
            }
        }
    }

    /// Takes pages out of the application's page table, locked ones as well.
    fn take_out(&self, pages: &Range<u64>) -> bool {
        let start = self.mapping.start().wrapping_add(pages.start as usize).cast();
        let length = (pages.end - pages.start) as usize;
        // SAFETY: the pages are of a shared mapping of a file: nothing is lost by taking them out.
        unsafe { libc::madvise(start, length, libc::MADV_DONTNEED_LOCKED) == 0 }
    }

    /// Closes the pages again that the application has opened: those that the device has written, and once
    /// all others, as they may be the first that it writes. What only the application writes costs it no more
    /// faults.
    pub fn close_again(&mut self) {
        let mut closing = Spans::default();
        for run in std::mem::take(&mut self.open).iter() {
            let (new, devices) = (self.new.within(&run), self.devices.within(&run));
            new.iter().for_each(|pages| self.new.remove(pages));
            new.iter().chain(&devices).for_each(|pages| closing.insert(pages));
        }
        self.close(&closing);
    }

    /// The pages that the application has not accessed since they were closed.
    pub fn closed(&self) -> &Spans {
        &self.closed
    }

    /// Lets the application write these runs of pages, which are not closed, without a fault; they count as
    /// written from now on.
    pub fn admit_writes(&mut self, runs: &[Range<u64>]) {
        if self.tracked {
            let (large, small) = runs.iter().partition::<Vec<_>, _>(|run| run.end - run.start >= AT_ONCE);
            self.tracked = large.into_iter().all(|run| self.admit_at_once(run));
            parts::map(small.into_iter().cloned(), |part| self.populate(&part));
            // They are written now, whether or not the kernel counts what this did as faults.
            self.faults[0] = Faults(None);
        }
    }

    /// Makes pages writable as a whole. Only where a mapping is not registered does a change of its
    /// permissions do that; they never lack the right to write, and where a page may be written, the
    /// processor lets it be read as well. False: the kernel does not protect these pages any more.
    fn admit_at_once(&self, pages: &Range<u64>) -> bool {
        let Ok(kernel) = Kernel::get() else { return false };
        let start = self.mapping.start().wrapping_add(pages.start as usize);
        let length = pages.end - pages.start;
        if !kernel.unregister(start as u64, length) {
            return self.populate(pages);
        }
        for permissions in [libc::PROT_WRITE, libc::PROT_READ | libc::PROT_WRITE] {
            // SAFETY: the pages are of a mapping of ours, which nothing that may read it finds unreadable.
            unsafe { libc::mprotect(start.cast(), length as usize, permissions) };
        }
        kernel.register(start as u64, length)
    }

    /// Makes pages writable one by one.
    fn populate(&self, pages: &Range<u64>) -> bool {
        let start = self.mapping.start().wrapping_add(pages.start as usize);
        // SAFETY: the pages are of a mapping of ours, whose bytes this leaves as they are. Where the kernel
        // refuses, each page's first write takes a fault.
        unsafe { libc::madvise(start.cast(), (pages.end - pages.start) as usize, libc::MADV_POPULATE_WRITE) };
        true
    }

    /// The pages that were closed and that the application has accessed since. `faults`: those up to a moment
    /// before.
    pub fn opened(&mut self, faults: Faults) -> Spans {
        let mut opened = Spans::default();
        // The first access to a closed page is a fault.
        if !self.no_fault_since(1, faults) {
            opened = self.present(&self.closed.iter().collect::<Vec<_>>());
            for pages in opened.iter() {
                self.closed.remove(&pages);
                self.open.insert(&pages);
            }
        }
        std::mem::take(&mut self.early).iter().for_each(|pages| opened.insert(&pages));
        opened
    }

    /// Those of the pages that are in the application's page table.
    fn present(&self, pages: &[Range<u64>]) -> Spans {
        self.in_category(pages, PAGE_IS_PRESENT)
    }

    /// Those of the pages that the application has written since they were last listed, up to now.
    pub fn being_written(&self, pages: &Spans) -> Spans {
        self.in_category(&pages.iter().collect::<Vec<_>>(), PAGE_IS_WRITTEN)
    }

    fn in_category(&self, pages: &[Range<u64>], category: u64) -> Spans {
        let mut found = Spans::default();
        for run in pages {
            self.scan(run, 0, category, &mut |pages| found.insert(&pages));
        }
        found
    }

    /// Calls `each` with the pages of a category; false if the kernel cannot say.
    fn scan(&self, range: &Range<u64>, flags: u64, category: u64, each: &mut impl FnMut(Range<u64>)) -> bool {
        let Ok(kernel) = Kernel::get() else { return false };
        let first = self.mapping.start() as u64;
        let (mut from, end) = (first + range.start, first + range.end);
        while from < end {
            let mut regions = [Region::default(); 64];
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                flags,
                start: from,
                end,
                regions: regions.as_mut_ptr() as u64,
                regions_length: regions.len() as u64,
                category_mask: category,
                return_mask: category,
                ..Scan::default()
            };
            let found = kernel.scan(&mut scan);
            if found < 0 || scan.walk_end <= from {
                return false;
            }
            regions.iter().take(found as usize).for_each(|r| each(r.start - first..r.end - first));
            from = scan.walk_end;
        }
        true
    }

    /// The runs of pages that hold data.
    pub fn holding(&self) -> impl Iterator<Item = Range<u64>> {
        let (file, start) = self.file;
        let data = data_ranges(file, start..start + self.mapping.length()).into_iter();
        data.map(move |r| (r.start - start) / PAGE * PAGE..(r.end - start).next_multiple_of(PAGE))
    }
}
