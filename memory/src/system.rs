//! The boundary between an interpreter and memory.
//!
//! The interpreter runs a whole subgroup at a time: an instruction names [`LANES`] addresses and a mask of
//! active lanes. Everything that differs between flat memory and the Vulkan memory model sits behind
//! [`MemorySystem`]; the interpreter is compiled once for each implementation, so the plain mode pays nothing
//! for the modelled one.

use crate::access::{Access, AtomicOp, Reference, Site};
use crate::agent::{Invocation, SubgroupIdentity};
use crate::finding::{AccessKind, Fact, Finding, FindingId, Place, Texel};
pub use crate::raw::MemoryView;
use crate::scope::{Scope, Semantics};

/// Lanes of a vector register: the widest subgroup.
pub const LANES: usize = 32;

/// One 32-bit value per lane. 64-bit values are two of these: low words, then high words. 8- and 16-bit
/// values are zero-extended.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes(pub [u32; LANES]);

impl Lanes {
    /// All lanes zero.
    pub const ZERO: Lanes = Lanes([0; LANES]);
}

/// Active lanes, lane `i` at bit `i`.
pub type Mask = u32;

/// Addresses of one access, for all lanes. `immediate` is added to every lane's offset (bytes, wrapping at 32
/// bits for offsets, at 64 bits for addresses).
#[derive(Clone, Copy, Debug)]
pub enum Pointers<'a> {
    /// A buffer or image descriptor (the same for all active lanes) and byte offsets into it.
    View {
        /// The descriptor's memory.
        view: &'a MemoryView<'a>,
        /// Byte offsets.
        offset: &'a Lanes,
        /// Added to every offset.
        immediate: u32,
    },
    /// Byte offsets into the workgroup's shared memory.
    Workgroup {
        /// Byte offsets.
        offset: &'a Lanes,
        /// Added to every offset.
        immediate: u32,
        /// The Workgroup variable (or aliased block) through which the access goes.
        reference: Reference,
    },
    /// Physical storage buffer addresses: low and high words.
    Physical {
        /// Low 32 bits of the device addresses.
        low: &'a Lanes,
        /// High 32 bits.
        high: &'a Lanes,
        /// Added to every address.
        immediate: u32,
    },
}

/// The texels that lanes name: signed numbers.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a> {
    /// One register for each of the image's axes.
    pub coordinates: &'a [&'a Lanes],
    /// Array layers or cube faces, where the image has them.
    pub layer: Option<&'a Lanes>,
    /// Samples of a multisampled image.
    pub sample: Option<&'a Lanes>,
    /// Mip levels, where the instruction names them.
    pub level: Option<&'a Lanes>,
    /// Of a texel buffer.
    pub buffer: bool,
}

impl Texels<'_> {
    /// The texel of one lane.
    pub fn of(&self, lane: usize) -> Texel {
        let number = |lanes: &Lanes| lanes.0[lane].cast_signed();
        Texel {
            coordinates: self.coordinates.iter().copied().map(number).collect(),
            layer: self.layer.map(number),
            sample: self.sample.map(number),
            level: self.level.map_or(0, number),
        }
    }
}

/// What the interpreter finds without asking memory, for the lanes of a mask.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// An access to a Function or Private variable of `size` bytes at byte offsets outside of it.
    OutOfBounds {
        /// Offsets from the variable's first byte, wrapping.
        offset: &'a Lanes,
        /// Bytes accessed.
        bytes: u8,
        /// Bytes of the variable.
        size: u32,
        /// A store.
        write: bool,
    },
    /// An access to texels that the image does not have.
    OutsideImage {
        /// The image's memory; nothing where no image is bound.
        view: &'a MemoryView<'a>,
        /// Coordinates of each lane.
        texels: Texels<'a>,
        /// Bytes of a texel.
        bytes: u8,
        /// What is done.
        kind: AccessKind,
        /// The scope of an atomic access.
        atomic: Option<Scope>,
    },
    /// What a note says; the mask has those it is about.
    Noted(FindingId),
    /// The value that the instruction loaded from a Function or Private variable is used, and nothing had
    /// written it.
    Undefined {
        /// Which variable, as the interpreter numbers them.
        variable: u32,
        /// Offsets from the variable's first byte.
        offset: &'a Lanes,
        /// Bytes of the component; 0 if which one it is is not known.
        bytes: u8,
    },
}

/// A read, for who asks what an invocation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadSeen {
    /// The instruction that reads.
    pub site: Site,
    /// A load, or the read of a read-modify-write.
    pub kind: AccessKind,
    /// The memory scope, if it is atomic.
    pub atomic: Option<Scope>,
    /// Where, of the first lane.
    pub place: Place,
}

/// What happened to memory since it was last asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// A store left another value in memory.
    pub changed: bool,
    /// A load returned a value that it may not return again, even if nothing is written any more: there is a
    /// newer one.
    pub unsettled: bool,
    /// The last load or read-modify-write.
    pub read: Option<ReadSeen>,
}

/// Why execution of a dispatch cannot go on. The device is lost; the message names the cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// A physical storage buffer access outside every live buffer.
    #[error("access of {size} bytes at device address {address:#x}, which is in no live buffer")]
    InvalidAddress {
        /// The instruction that accesses memory there.
        site: Site,
        /// The device address.
        address: u64,
        /// Bytes accessed.
        size: u32,
    },
    /// The watchdog's budget is spent: the shader does not end. Who waits where.
    #[error("the shader did not end within the watchdog's budget")]
    Watchdog(Vec<Fact>),
    /// No agent can make progress (modelled mode).
    #[error("no invocation can make progress")]
    Livelock,
    /// Something that this driver does not implement was reached at run time.
    #[error("not implemented in Pellucid: {0}")]
    NotImplemented(String),
    /// The host asked to stop (device destroyed, halt-on-error).
    #[error("stopped: {0}")]
    Stopped(String),
}

/// Memory as an instruction of the interpreter sees it. `out` and `value` hold `components` lanes (twice that
/// for 8-byte components: low, high per component). Inactive lanes of `out` are left with any value.
/// Out-of-bounds lanes of a view or of workgroup memory read zero and write nothing (robustBufferAccess); the
/// modelled implementation reports them.
pub trait LaneAccesses {
    /// False: flat memory, nothing recorded; the interpreter may keep going across visible operations. True:
    /// the interpreter returns to its scheduler before every atomic, barrier and availability or visibility
    /// operation.
    const MODELLED: bool;

    /// A plain or atomic load.
    ///
    /// # Errors
    /// A trap ends the dispatch.
    fn load(
        &mut self,
        at: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap>;

    /// A plain or atomic store.
    ///
    /// # Errors
    /// A trap ends the dispatch.
    fn store(
        &mut self,
        at: Site,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap>;

    /// An atomic read-modify-write (`access.components` is 1), lane by lane in ascending order. `comparator`
    /// is there for CompareExchange only. `out` receives the original values.
    ///
    /// # Errors
    /// A trap ends the dispatch.
    #[allow(clippy::too_many_arguments)]
    fn read_modify_write(
        &mut self,
        at: Site,
        op: AtomicOp,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
        comparator: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap>;

    /// Says what lanes `mask` of the entered subgroup did beside memory. Only called in the modelled mode.
    fn notice(&mut self, at: Site, mask: Mask, notice: &Notice<'_>) {
        let _ = (at, mask, notice);
    }
}

/// Memory as the interpreter sees it: what an instruction accesses, and in which order.
pub trait MemorySystem: LaneAccesses {
    /// The interpreter's loop over this memory system is compiled for each of the host's instruction sets.
    /// Otherwise for the one that every host has: quicker to build, for tests' memory systems.
    const EACH_INSTRUCTION_SET: bool = false;

    /// All following calls are on behalf of this subgroup.
    fn enter_subgroup(&mut self, identity: &SubgroupIdentity);

    /// OpMemoryBarrier by the active lanes.
    fn fence(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics);

    /// OpMemoryBarrier by the active lanes, whose next operation, memory barriers aside, is an
    /// OpControlBarrier of their workgroup.
    fn fence_before_barrier(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        self.fence(at, mask, scope, semantics);
    }

    /// The active lanes, which arrive at an OpControlBarrier of their workgroup next, will execute this
    /// OpMemoryBarrier directly behind it.
    fn announce_fence(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        let _ = (at, mask, scope, semantics);
    }

    /// OpMemoryBarrier by the active lanes, which [`MemorySystem::announce_fence`] has told of.
    fn fence_behind_barrier(&mut self, at: Site, mask: Mask, scope: Scope, semantics: &Semantics) {
        self.fence(at, mask, scope, semantics);
    }

    /// OpControlBarrier reached by the active lanes of the entered subgroup. For `execution` == Subgroup the
    /// barrier completes within this call; for Workgroup it completes at [`MemorySystem::barrier_complete`].
    fn barrier_arrive(
        &mut self,
        at: Site,
        mask: Mask,
        execution: Scope,
        memory: Scope,
        semantics: &Semantics,
    );

    /// All live invocations of workgroup `workgroup` (linear number) have arrived at their workgroup control
    /// barrier.
    fn barrier_complete(&mut self, workgroup: u32);

    /// Of the lanes of the entered subgroup the components that the last load read and nothing had written,
    /// where such loads are followed and not reported: bit `k` for component `k`, the last bit for all from
    /// 31 on. Only called in the modelled mode.
    fn read_undefined(&mut self) -> Lanes {
        Lanes::ZERO
    }

    /// Where loads are followed: for this component (from 0 on) of the next access by which each lane of the
    /// mask stores to workgroup memory it has what nothing has written. `loads`: the numbers of the sites
    /// that read it, and 0 where it is defined. Only called in the modelled mode.
    fn store_undefined(&mut self, mask: Mask, component: u32, loads: &Lanes) {
        let _ = (mask, component, loads);
    }

    /// From now on [`MemorySystem::observed`] tells what happens, or it need not any more. Only called in the
    /// modelled mode.
    fn observe(&mut self, on: bool) {
        let _ = on;
    }

    /// What happened since the last call, or since observation began.
    fn observed(&mut self) -> Observed {
        Observed { changed: true, unsettled: true, read: None }
    }

    /// Who of this dispatch wrote last to the first byte of a place of device memory, or of the memory of
    /// `workgroup`, as far as that is remembered. Only called in the modelled mode.
    fn written_last_by(&mut self, workgroup: u32, place: &Place) -> Option<Invocation> {
        let _ = (workgroup, place);
        None
    }

    /// Findings that were judged since the last call, in that order. What occurs again is counted for the end
    /// of the dispatch. Only called in the modelled mode.
    fn new_findings(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    /// Workgroup `workgroup` starts; its shared memory is `bytes` long, zeroed if `zeroed` (else undefined).
    fn workgroup_begin(&mut self, workgroup: u32, bytes: u32, zeroed: bool);

    /// The workgroup's own memory, if it is flat and no other thread reaches it.
    fn workgroup_memory(&mut self) -> MemoryView<'_> {
        MemoryView::NULL
    }

    /// The buffers of `count` accesses by physical addresses, as [`MemorySystem::remember`] has put them
    /// there; nothing before. Flat memory alone has any.
    fn reached(&mut self, count: usize) -> &[MemoryView<'_>] {
        let _ = count;
        &[]
    }

    /// The last access by physical addresses was the one of this number: the lanes that come next will most
    /// often be in the same buffer.
    fn remember(&mut self, number: usize) {
        let _ = number;
    }

    /// All invocations of workgroup `workgroup` have ended.
    fn workgroup_end(&mut self, workgroup: u32);
}
