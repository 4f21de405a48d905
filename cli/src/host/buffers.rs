//! Values on the command line: `u32x64=iota`, `f32:1.5,2`, and buffers printed by their type.

use pellucid_memory::input;
use std::io::Write;
use std::path::Path;
use vulkan_pellucid::report::element::Element;

/// Most bytes of a buffer: what a storage buffer descriptor can hold.
const MOST_BYTES: usize = u32::MAX as usize;

/// Writes all values of a buffer, eight a line, each line with the number of its first element.
///
/// # Errors
/// It cannot be written.
pub fn dump(kind: Element, bytes: &[u8], out: &mut impl Write) -> std::io::Result<()> {
    let lines = bytes.chunks(8 * kind.size()).enumerate();
    lines.into_iter().try_for_each(|(i, line)| writeln!(out, "{:6}: {}", i * 8, kind.values(line).join(" ")))
}

/// `TYPExCOUNT[=zero|iota|v0,v1,...|file:PATH]`: the type and the bytes. Values that are not given are zero.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<(Element, Vec<u8>), String> {
    let (shape, fill) = text.split_once('=').unwrap_or((text, "zero"));
    let (name, count) =
        shape.split_once('x').ok_or_else(|| format!("\"{shape}\" is not TYPExCOUNT, such as u32x64"))?;
    let kind = Element::parse(name)?;
    let count: usize = count.parse().map_err(|_| format!("\"{count}\" is no count"))?;
    if count == 0 {
        return Err("a buffer needs at least one element".into());
    }
    let bytes = count.checked_mul(kind.size()).filter(|bytes| *bytes <= MOST_BYTES);
    let bytes = bytes.ok_or_else(|| {
        format!("{count} elements are more than a storage buffer holds (maxStorageBufferRange: {MOST_BYTES} bytes)")
    })?;
    let mut contents = Vec::new();
    let reserved = contents.try_reserve_exact(bytes);
    reserved.map_err(|_| format!("there is no memory for a buffer of {bytes} bytes"))?;
    match fill {
        "zero" => {}
        "iota" => {
            for i in 0..count {
                contents.extend(kind.encode(&i.to_string())?);
            }
        }
        _ => match fill.strip_prefix("file:") {
            Some(path) => {
                contents = input::bytes(Path::new(path), bytes as u64)
                    .map_err(|error| format!("{path}: {error}"))?;
            }
            None => {
                for value in fill.split(',') {
                    contents.extend(kind.encode(value)?);
                }
            }
        },
    }
    if contents.len() > bytes {
        return Err(format!("{} bytes are given for a buffer of {bytes}", contents.len()));
    }
    contents.resize(bytes, 0);
    Ok((kind, contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_filled_as_told() {
        assert_eq!(parse("u32x2").unwrap(), (Element::U32, vec![0; 8]));
        assert_eq!(parse("u16x3=iota").unwrap().1, [0, 0, 1, 0, 2, 0]);
        assert_eq!(parse("i8x4=-1,2").unwrap().1, [255, 2, 0, 0]);
        assert_eq!(parse("f32x1=1.5").unwrap().1, 1.5f32.to_le_bytes());
        assert_eq!(parse("f16x1=-2").unwrap().1, [0, 0xc0]);
        assert_eq!(parse("u64x1=0xffffffffffffffff").unwrap().1, [255; 8]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for bad in [
            "u32",
            "u32x0",
            "u32x1073741824",
            "u32x99999999999999",
            "u64x18446744073709551615",
            "u32xmany",
            "u33x1",
            "u32x1=1,2",
            "u8x1=256",
            "i32x1=1.5",
            "u32x1=file:/nonexistent",
            "u32x4=file:/dev/urandom",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_print_as_they_are_written() {
        let (kind, bytes) = parse("i16x9=-3,7").unwrap();
        let mut lines = Vec::new();
        dump(kind, &bytes, &mut lines).unwrap();
        assert_eq!(lines, b"     0: -3 7 0 0 0 0 0 0\n     8: 0\n");
        for (text, value) in
            [("f64x1=0.1", "0.1"), ("f16x1=0.5", "0.5"), ("i64x1=-9", "-9"), ("u8x1=0x1f", "31")]
        {
            let (kind, bytes) = parse(text).unwrap();
            assert_eq!(kind.decode(&bytes), value);
        }
    }
}
