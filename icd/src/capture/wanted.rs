//! Which dispatch is to be captured, and in which files.

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
