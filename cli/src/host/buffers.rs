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
mod tests;
