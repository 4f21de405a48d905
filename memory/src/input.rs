//! Files that users name, read whole, but never without bound: `/dev/urandom` is a file, too.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Most bytes of a shader, a test, a report or a list of rules: far more than any of them has, and little
/// enough for what is made of it to fit into memory.
pub const MOST_BYTES: u64 = 64 << 20;

/// The bytes of a file of at most `most` bytes.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("longer than {most} bytes")));
    }
    Ok(bytes)
}

/// The text of a file of at most [`MOST_BYTES`].
///
/// # Errors
/// It cannot be read, is longer, or is no UTF-8.
pub fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path, MOST_BYTES)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new(ErrorKind::InvalidData, format!("no text: byte {at} is no UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_refused() {
        let zeros = Path::new("/dev/zero");
        assert_eq!(bytes(zeros, 9).unwrap_err().to_string(), "longer than 9 bytes");
        assert_eq!(text(zeros).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(bytes(Path::new("/dev/null"), 0).unwrap(), []);
    }

    #[test]
    fn what_is_no_text_is_told_by_its_first_byte_that_is_none() {
        let file = std::env::temp_dir().join(format!("pellucid-input-{}", std::process::id()));
        std::fs::write(&file, b"SPIR-V\xff").unwrap();
        let told = text(&file).unwrap_err().to_string();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(told, "no text: byte 6 is no UTF-8");
    }
}
