//! Stages, accesses and memory dependencies (Vulkan 1.3, 7.1 *Execution and Memory Dependencies*, 7.6
//! *Pipeline Barriers*).

use super::range::Range;
use crate::access::ShaderRead;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// The pipeline stages in which something can execute. The driver maps the 64-bit stage masks of the API
    /// to these: `ALL_TRANSFER` is the four transfer stages, `ALL_COMMANDS` is [`Stages::DEVICE`], `NONE`, a
    /// source `TOP_OF_PIPE` and a destination `BOTTOM_OF_PIPE` are empty.
    ///
    /// Image layout transitions and queue family ownership transfers "do not occur in a defined stage": of
    /// the stage masks only `ALL_COMMANDS` holds them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
    pub struct Stages: u16 {
        /// VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT: reads of indirect parameters.
        const DRAW_INDIRECT = 1;
        /// VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT.
        const COMPUTE_SHADER = 2;
        /// VK_PIPELINE_STAGE_2_COPY_BIT: copies, and vkCmdCopyQueryPoolResults.
        const COPY = 4;
        /// VK_PIPELINE_STAGE_2_CLEAR_BIT: the clear commands, vkCmdFillBuffer and vkCmdUpdateBuffer among
        /// them.
        const CLEAR = 8;
        /// VK_PIPELINE_STAGE_2_BLIT_BIT.
        const BLIT = 16;
        /// VK_PIPELINE_STAGE_2_RESOLVE_BIT.
        const RESOLVE = 32;
        /// VK_PIPELINE_STAGE_2_HOST_BIT.
        const HOST = 64;
        /// No stage of the API: layout transitions and ownership transfers.
        const TRANSITION = 128;
        /// The stages of drawing but the next three. Nothing executes in them, but dependencies may chain
        /// through them.
        const GRAPHICS = 256;
        /// VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT: load operations of depth and stencil attachments.
        const EARLY_FRAGMENT_TESTS = 512;
        /// VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT: store operations of depth and stencil attachments.
        const LATE_FRAGMENT_TESTS = 1024;
        /// VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT: load and store operations of color attachments,
        /// and resolves of all attachments.
        const COLOR_ATTACHMENT_OUTPUT = 2048;
        /// VK_PIPELINE_STAGE_2_COPY_INDIRECT_BIT_KHR: reads of the parameters of indirect copies.
        const COPY_INDIRECT = 4096;
        /// No stage of the API: sparse binding operations.
        const SPARSE_BINDING = 8192;
        /// VK_PIPELINE_STAGE_2_CONDITIONAL_RENDERING_BIT_EXT: reads of predicates, in no order with the other
        /// stages.
        const CONDITIONAL_RENDERING = 16384;
        /// VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT.
        const ALL_GRAPHICS = 1 | 256 | 512 | 1024 | 2048 | 4096 | 16384;
        /// All that the device executes: VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT.
        const DEVICE = 63 | 128 | 256 | 512 | 1024 | 2048 | 4096 | 16384;
        /// VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT.
        const ALL_TRANSFER = 4 | 8 | 16 | 32;
    }
}

bitflags! {
    /// The access types that those stages have. The driver maps `MEMORY_READ` and `MEMORY_WRITE` to all reads
    /// and all writes; `SHADER_READ` is uniform (not uniform buffers: that is `UNIFORM_READ`), sampled and
    /// storage reads.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
    pub struct Accesses: u32 {
        /// VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT.
        const INDIRECT_COMMAND_READ = 1;
        /// VK_ACCESS_2_UNIFORM_READ_BIT.
        const UNIFORM_READ = 2;
        /// VK_ACCESS_2_SHADER_SAMPLED_READ_BIT.
        const SHADER_SAMPLED_READ = 4;
        /// VK_ACCESS_2_SHADER_STORAGE_READ_BIT.
        const SHADER_STORAGE_READ = 8;
        /// VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT.
        const SHADER_STORAGE_WRITE = 16;
        /// VK_ACCESS_2_TRANSFER_READ_BIT.
        const TRANSFER_READ = 32;
        /// VK_ACCESS_2_TRANSFER_WRITE_BIT.
        const TRANSFER_WRITE = 64;
        /// VK_ACCESS_2_HOST_READ_BIT.
        const HOST_READ = 128;
        /// VK_ACCESS_2_HOST_WRITE_BIT.
        const HOST_WRITE = 256;
        /// The read and write of a layout transition or an ownership transfer: in no access scope.
        const TRANSITION = 512;
        /// VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT.
        const COLOR_ATTACHMENT_READ = 1024;
        /// VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT.
        const COLOR_ATTACHMENT_WRITE = 2048;
        /// VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT.
        const DEPTH_STENCIL_ATTACHMENT_READ = 4096;
        /// VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT.
        const DEPTH_STENCIL_ATTACHMENT_WRITE = 8192;
        /// VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT: descriptors and inline uniform blocks in memory.
        const DESCRIPTOR_BUFFER_READ = 16384;
        /// What a sparse binding does, which accesses no memory: in no access scope.
        const SPARSE_BINDING = 32768;
        /// VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT.
        const CONDITIONAL_RENDERING_READ = 65536;
        /// VK_ACCESS_2_SHADER_READ_BIT.
        const SHADER_READ = 4 | 8;
        /// VK_ACCESS_2_MEMORY_READ_BIT.
        const MEMORY_READ = 1 | 2 | 4 | 8 | 32 | 128 | 1024 | 4096 | 16384 | 65536;
        /// VK_ACCESS_2_MEMORY_WRITE_BIT.
        const MEMORY_WRITE = 16 | 64 | 256 | 2048 | 8192;
    }
}

impl From<ShaderRead> for Accesses {
    fn from(read: ShaderRead) -> Accesses {
        match read {
            ShaderRead::Storage => Accesses::SHADER_STORAGE_READ,
            ShaderRead::Uniform => Accesses::UNIFORM_READ,
            ShaderRead::Sampled => Accesses::SHADER_SAMPLED_READ,
        }
    }
}

/// Stages of a pipeline and those that logically follow them, in this order. What copies follow in the
/// transfer pipeline comes first: no stage of another pipeline is before them.
const FOLLOWS: [(Stages, Stages); 5] = [
    (Stages::COPY_INDIRECT, Stages::ALL_TRANSFER.union(Stages::COMPUTE_SHADER).union(Stages::GRAPHICS)),
    (Stages::DRAW_INDIRECT, Stages::COPY_INDIRECT.union(Stages::COMPUTE_SHADER).union(Stages::GRAPHICS)),
    (Stages::GRAPHICS, Stages::EARLY_FRAGMENT_TESTS),
    (Stages::EARLY_FRAGMENT_TESTS, Stages::LATE_FRAGMENT_TESTS),
    (Stages::LATE_FRAGMENT_TESTS, Stages::COLOR_ATTACHMENT_OUTPUT),
];

impl Stages {
    /// The stages of a first synchronization scope: these and the logically earlier ones.
    pub fn with_earlier(self) -> Stages {
        FOLLOWS.iter().rev().fold(
            self,
            |all, (earlier, later)| {
                if all.intersects(*later) { all | *earlier } else { all }
            },
        )
    }

    /// The stages of a second synchronization scope: these and the logically later ones.
    pub fn with_later(self) -> Stages {
        FOLLOWS.iter().fold(
            self,
            |all, (earlier, later)| {
                if all.intersects(*earlier) { all | *later } else { all }
            },
        )
    }

    /// The accesses that these stages can perform (Vulkan 1.3, table *Supported access types*).
    pub fn supported(self) -> Accesses {
        let mut a = Accesses::empty();
        if self.intersects(Stages::DRAW_INDIRECT | Stages::COPY_INDIRECT) {
            a |= Accesses::INDIRECT_COMMAND_READ;
        }
        if self.contains(Stages::CONDITIONAL_RENDERING) {
            a |= Accesses::CONDITIONAL_RENDERING_READ;
        }
        if self.contains(Stages::COMPUTE_SHADER) {
            a |= Accesses::UNIFORM_READ | Accesses::SHADER_READ | Accesses::SHADER_STORAGE_WRITE;
            a |= Accesses::DESCRIPTOR_BUFFER_READ;
        }
        if self.intersects(Stages::COPY | Stages::BLIT | Stages::RESOLVE) {
            a |= Accesses::TRANSFER_READ;
        }
        if self.intersects(Stages::ALL_TRANSFER) {
            a |= Accesses::TRANSFER_WRITE;
        }
        if self.intersects(Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS) {
            a |= Accesses::DEPTH_STENCIL_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE;
        }
        if self.contains(Stages::COLOR_ATTACHMENT_OUTPUT) {
            a |= Accesses::COLOR_ATTACHMENT_READ | Accesses::COLOR_ATTACHMENT_WRITE;
        }
        if self.contains(Stages::HOST) {
            a |= Accesses::HOST_READ | Accesses::HOST_WRITE;
        }
        a
    }
}

/// One access scope of a dependency: these accesses in these stages, on all memory or on these bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessScope {
    /// Exactly the stages named: access scopes do not take in earlier or later stages.
    pub stages: Stages,
    /// Exactly the access types named.
    pub accesses: Accesses,
    /// Device addresses; `None` for a global memory barrier.
    pub ranges: Option<Vec<Range>>,
    /// All of the buffer or image that the ranges are of, where that is known: what a fix may extend them to.
    pub resource: Option<Range>,
}

impl AccessScope {
    /// These accesses in these stages on all memory.
    pub fn global(stages: Stages, accesses: Accesses) -> AccessScope {
        AccessScope { stages, accesses, ranges: None, resource: None }
    }

    /// Whether its ranges hold the bytes, and if not, whether they could: the bytes are of its buffer or
    /// image.
    pub(super) fn holds(&self, bytes: Range) -> (bool, bool) {
        let Some(ranges) = &self.ranges else { return (true, true) };
        let holds = |r: &Range| r.start <= bytes.start && r.end >= bytes.end;
        let touches = || ranges.iter().any(|r| r.meets(bytes));
        let could = self.resource.as_ref().map_or_else(touches, holds);
        (ranges.iter().any(holds), could)
    }

    /// It holds writes of the host: what is available in the host domain becomes available in the device
    /// domain.
    pub(super) fn is_from_host(&self) -> bool {
        self.stages.contains(Stages::HOST) && self.accesses.contains(Accesses::HOST_WRITE)
    }

    /// It holds accesses of the host: writes become available in the host domain.
    pub(super) fn is_of_host(&self) -> bool {
        let host = Accesses::HOST_READ | Accesses::HOST_WRITE;
        self.stages.contains(Stages::HOST) && self.accesses.intersects(host)
    }
}

/// A layout transition, a queue family ownership transfer, or both: a read and write of all memory of an
/// image subresource range (or of a buffer range) between the availability and the visibility operation of
/// its dependency. Available memory is automatically made visible to it, and its writes are automatically
/// made available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The caller's name for it.
    pub tag: u64,
    /// Device addresses.
    pub ranges: Vec<Range>,
    /// It is an acquire operation, and the first scope of its command does not apply to it.
    pub acquires: bool,
}

/// One memory dependency: of a pipeline barrier, an event wait, a semaphore or a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Source stage mask as the command names it.
    pub source: Stages,
    /// Destination stage mask.
    pub destination: Stages,
    /// First access scopes: one for each memory barrier of the dependency.
    pub available: Vec<AccessScope>,
    /// Second access scopes.
    pub visible: Vec<AccessScope>,
    /// What is done between the two.
    pub transitions: Vec<Transition>,
}
