//! What machine code and the interpreter share while a strand runs.

use crate::ops::image::raster::Raster;
use pellucid_memory::system::{Lanes, MemoryView};
use std::mem::{MaybeUninit, offset_of};

/// How machine code ends: the interpreter's outcome, no fuel is left, at a barrier, at the program's end, or
/// before what only the interpreter runs.
pub(super) const ENDED: u32 = 0;
pub(super) const OUT_OF_FUEL: u32 = 1;
pub(super) const AT_BARRIER: u32 = 2;
pub(super) const DONE: u32 = 3;
pub(super) const LEFT: u32 = 4;

/// Where lanes that access memory one after the other find their words.
#[repr(C, align(64))]
pub(super) struct Scratch {
    offsets: [u32; 16],
    values: [u32; 16],
    comparators: [u32; 16],
    results: [u32; 16],
}

/// A cluster of lanes that runs a loop by itself (`translate::apart`).
#[repr(C)]
pub(super) struct Cluster {
    /// How far it is: the less, the farther; -1 before its first turn.
    place: u64,
    /// Where it goes on.
    resume: u64,
    /// Its running lanes.
    mask: u32,
    fuel: u32,
}

/// The strand's state where machine code finds it. The rest of what the interpreter needs follows.
#[repr(C)]
pub(super) struct State {
    pub scratch: MaybeUninit<Scratch>,
    pub clusters: MaybeUninit<[Cluster; 4]>,
    /// How far the cluster is that is the farthest.
    pub farthest: MaybeUninit<u64>,
    /// The register file.
    pub vectors: *mut Lanes,
    /// The mask file.
    pub masks: *mut u32,
    /// Private memory, of the size that the program says.
    pub private: *mut Lanes,
    /// The views that the program names by slot.
    pub views: *const MemoryView<'static>,
    /// The images of the program's image operations.
    pub rasters: *const Raster<'static>,
    /// The one that lanes have chosen, all lanes of the instruction at hand, and those that have not chosen
    /// this one or one before.
    pub chosen: *const Raster<'static>,
    pub chooses: u32,
    pub waits: u32,
    /// The buffers that accesses by physical addresses were to last, by their numbers in the program's table.
    pub reached: *const MemoryView<'static>,
    /// Workgroup memory: a view.
    pub workgroup: *mut MemoryView<'static>,
    /// Runs the instructions from one number to before another; the place where the code goes on, or null.
    pub rows: unsafe extern "sysv64" fn(*mut State, u32, u32) -> *const u8,
    /// Bytes of a view from which on whole lines are stored past the caches.
    pub streams: u64,
    /// Read-modify-writes.
    pub changes: u64,
    /// The running lanes.
    pub mask: u32,
    /// Turns of loops that are left.
    pub fuel: u32,
    /// Where the code ended, and the barrier that it came to.
    pub pc: u32,
    pub barrier: u32,
    /// Whether the strand need not stop at barriers.
    pub alone: u32,
    /// The interpreter's own: a `Visit`.
    pub visit: *mut (),
}

pub(super) const FARTHEST: usize = offset_of!(State, farthest);
pub(super) const fn cluster_place(k: usize) -> usize {
    cluster(k) + offset_of!(Cluster, place)
}
pub(super) const fn cluster_resume(k: usize) -> usize {
    cluster(k) + offset_of!(Cluster, resume)
}
pub(super) const fn cluster_mask(k: usize) -> usize {
    cluster(k) + offset_of!(Cluster, mask)
}
pub(super) const fn cluster_fuel(k: usize) -> usize {
    cluster(k) + offset_of!(Cluster, fuel)
}
const fn cluster(k: usize) -> usize {
    offset_of!(State, clusters) + k * size_of::<Cluster>()
}
pub(super) const VECTORS: usize = offset_of!(State, vectors);
pub(super) const MASKS: usize = offset_of!(State, masks);
pub(super) const PRIVATE: usize = offset_of!(State, private);
pub(super) const VIEWS: usize = offset_of!(State, views);
pub(super) const RASTERS: usize = offset_of!(State, rasters);
pub(super) const CHOSEN: usize = offset_of!(State, chosen);
pub(super) const CHOOSES: usize = offset_of!(State, chooses);
pub(super) const WAITS: usize = offset_of!(State, waits);
pub(super) const REACHED: usize = offset_of!(State, reached);
pub(super) const WORKGROUP: usize = offset_of!(State, workgroup);
pub(super) const ROWS: usize = offset_of!(State, rows);
pub(super) const STREAMS: usize = offset_of!(State, streams);
pub(super) const CHANGES: usize = offset_of!(State, changes);
pub(super) const MASK: usize = offset_of!(State, mask);
pub(super) const FUEL: usize = offset_of!(State, fuel);
pub(super) const PC: usize = offset_of!(State, pc);
pub(super) const BARRIER: usize = offset_of!(State, barrier);
pub(super) const ALONE: usize = offset_of!(State, alone);
pub(super) const OFFSETS: usize = offset_of!(State, scratch) + offset_of!(Scratch, offsets);
pub(super) const VALUES: usize = offset_of!(State, scratch) + offset_of!(Scratch, values);
pub(super) const COMPARATORS: usize = offset_of!(State, scratch) + offset_of!(Scratch, comparators);
pub(super) const RESULTS: usize = offset_of!(State, scratch) + offset_of!(Scratch, results);
