//! Captured dispatches: all that an execution of one dispatch depends on, in a file, so that a debugger in
//! another process runs it as often as it likes.
//!
//! In check mode an execution is a function of the options, the program, its grid, its descriptors, the push
//! constants, and the bytes that they reach with what nothing has written of them. Accesses of earlier
//! dispatches are ordered before all of it ([`pellucid_memory::checked`]), so that no history comes along.
//! What a capture lacks: bytes that the host, or work of another device, writes while the dispatch runs; the
//! rehearsals of it; and hazards between it and other commands.
//!
//! The program waits at the dispatch until the command that asked for the capture lets it go on.
//!
//! - [`wanted`]: which one is asked for;
//! - [`data`]: what is in the file;
//! - [`take`]: the driver's side;
//! - [`replay`]: the debugger's side.

mod data;
pub mod replay;
mod take;
pub mod wanted;

pub use self::wanted::{held, path};

pub(crate) use self::take::{refuse, take};
