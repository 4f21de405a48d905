//! A workgroup that is running: its memory, and who has arrived at its barrier.

use crate::access::Reference;
use crate::race::{AgentId, Cell, Operation, Time};
use crate::system::{Mask, MemoryView};

/// A workgroup that is running, or the buffers of one that has ended.
#[derive(Default)]
pub(super) struct Group {
    storage: Vec<u64>,
    size: u64,
    pub zeroed: bool,
    pub cells: Vec<Cell>,
    /// First lane and mask of the subgroups that arrived.
    pub arrived: Vec<(AgentId, Mask)>,
    pub arrival: Option<Operation>,
    /// As for the entered workgroup in the core.
    pub full: [Time; 4],
}

impl Group {
    /// A new workgroup begins that has so many bytes of memory. `zeroed`: they were initialised.
    pub fn begin(&mut self, bytes: u32, zeroed: bool) {
        self.storage.clear();
        self.storage.resize((bytes as usize).div_ceil(8).max(1), 0);
        self.size = u64::from(bytes);
        self.zeroed = zeroed;
        self.cells.clear();
        self.cells.resize((bytes as usize).div_ceil(4).max(1), Cell::EMPTY);
        self.arrived.clear();
        self.arrival = None;
        self.full = [0; 4];
    }

    /// The variable that a reference stands for; its address is the first byte's offset in workgroup memory.
    #[inline(always)]
    pub fn view(&mut self, variables: &[(u32, u32)], reference: Reference) -> MemoryView {
        let all = (0, u32::try_from(self.size).unwrap_or(u32::MAX));
        let (start, size) = *variables.get(reference.0 as usize).unwrap_or(&all);
        let start = u64::from(start).min(self.size);
        let size = u64::from(size).min(self.size - start);
        let host = self.storage.as_mut_ptr().cast::<u8>().wrapping_add(start as usize);
        MemoryView { host, address: start, size, reference }
    }
}
