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
//! - [`data`]: what is in the file;
//! - [`take`]: the driver's side;
//! - [`replay`]: the debugger's side.

mod data;
pub mod replay;
mod take;

pub(crate) use self::take::{refuse, take};

use std::path::{Path, PathBuf};

/// Which dispatch is to be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its number on its device. The first device that comes to it is captured.
    pub dispatch: u32,
    /// Where the capture goes, and what the program waits for.
    pub folder: PathBuf,
}

impl Wanted {
    /// `3:/tmp/folder`.
    pub fn parse(text: &str) -> Option<Wanted> {
        let (dispatch, folder) = text.split_once(':')?;
        (!folder.is_empty()).then_some(())?;
        Some(Wanted { dispatch: dispatch.parse().ok()?, folder: folder.into() })
    }
}

/// The capture, in the folder that was named. It is there when it is whole.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("capture")
}

/// The file whose lock holds the program.
pub fn held(folder: &Path) -> PathBuf {
    folder.join("held")
}
