//! What machine code and the interpreter share while a strand runs.

use std::mem::offset_of;

/// The strand's state where machine code finds it. The rest of what the interpreter needs follows.
#[repr(C)]
pub(super) struct State {
    /// The register file.
    pub vectors: *mut pellucid_memory::system::Lanes,
    /// The mask file.
    pub masks: *mut u32,
    /// Runs the instructions from one number to before another; the place where the code goes on, or null.
    pub rows: unsafe extern "sysv64" fn(*mut State, u32, u32) -> *const u8,
    /// The running lanes.
    pub mask: u32,
    /// Turns of loops that are left.
    pub fuel: u32,
    /// Where the code ended for want of fuel.
    pub pc: u32,
    /// The interpreter's own: a `Visit`.
    pub visit: *mut (),
}

pub(super) const VECTORS: usize = offset_of!(State, vectors);
pub(super) const MASKS: usize = offset_of!(State, masks);
pub(super) const ROWS: usize = offset_of!(State, rows);
pub(super) const MASK: usize = offset_of!(State, mask);
pub(super) const FUEL: usize = offset_of!(State, fuel);
pub(super) const PC: usize = offset_of!(State, pc);
