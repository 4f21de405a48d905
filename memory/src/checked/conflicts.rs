//! Where an access goes and who makes it, and how it stands to the earlier ones that it conflicts with.

use crate::history::Position;
use crate::race::{AgentId, Record, Space};
use smallvec::SmallVec;

/// Where an access goes, for findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Where {
    /// Device address, or offset into workgroup memory, of the whole component.
    pub address: u64,
    /// Offset into the view.
    pub offset: u64,
    /// Address of the word that is looked at.
    pub word: u64,
    /// Which bytes of that word the view holds.
    pub held: u8,
    /// Bytes of the component.
    pub size: u32,
    /// Its number in the access.
    pub component: u8,
    /// For a read: bytes that nothing wrote are undefined.
    pub undefined: bool,
    /// Device memory or the memory of a workgroup.
    pub space: Space,
}

/// Who accesses and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub agent: AgentId,
    pub kind: u32,
}

/// Accesses and their positions in a history.
pub(super) type Earlier = SmallVec<[(Record, Position); 8]>;

/// When a race is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// `same`: it stores the values that are there.
    AtOnce { same: bool },
    /// With what the access loaded.
    Later,
}

/// How an access stands to the earlier ones that it conflicts with.
#[derive(Default)]
pub(super) struct Conflicts {
    /// Those that it races with and that are not reported yet.
    pub racing: SmallVec<[Record; 4]>,
    /// The newest position that it comes after by what its agent knows.
    pub floor: Position,
    /// The newest position that it comes after by the axioms alone.
    pub overruled: Position,
    /// Those that it is mutually ordered with, by index.
    pub mutual: SmallVec<[usize; 4]>,
    /// Some were not known to be ordered before the axioms were asked.
    pub doubted: bool,
}
