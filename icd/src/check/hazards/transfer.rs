//! What a command that moves bytes touches.

use pellucid_memory::commands::{Accesses, Footprint, Operand, Range, Runs};

/// What a command that moves bytes reads and writes, by region.
pub struct Transfer {
    footprint: Footprint,
    /// Its accesses: reads and writes.
    does: (Accesses, Accesses),
}

impl Transfer {
    /// Nothing yet.
    pub fn new(reads: Accesses, writes: Accesses) -> Transfer {
        Transfer { footprint: Footprint::new(), does: (reads, writes) }
    }

    /// It reads these bytes.
    pub fn read(&mut self, address: u64, size: u64) {
        let operand = Operand::fixed(self.does.0, Accesses::empty());
        self.footprint.add(Range::new(address, size), operand);
    }

    /// It writes these bytes.
    pub fn write(&mut self, address: u64, size: u64) {
        let operand = Operand::fixed(Accesses::empty(), self.does.1);
        self.footprint.add(Range::new(address, size), operand);
    }

    /// The runs of bytes.
    pub fn runs(self) -> Runs {
        self.footprint.runs()
    }
}
