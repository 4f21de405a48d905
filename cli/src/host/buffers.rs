//! Values on the command line: `u32x64=iota`, `f32:1.5,2`, and buffers printed by their type.

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ElementType {
    U8,
    I8,
    U16,
    I16,
    F16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

const NAMES: [(&str, ElementType); 11] = [
    ("u8", ElementType::U8),
    ("i8", ElementType::I8),
    ("u16", ElementType::U16),
    ("i16", ElementType::I16),
    ("f16", ElementType::F16),
    ("u32", ElementType::U32),
    ("i32", ElementType::I32),
    ("f32", ElementType::F32),
    ("u64", ElementType::U64),
    ("i64", ElementType::I64),
    ("f64", ElementType::F64),
];

impl ElementType {
    /// The type of that name.
    ///
    /// # Errors
    /// It is no type; the message names all.
    pub fn parse(name: &str) -> Result<ElementType, String> {
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown type \"{name}\"; types: {}", names.join(", "))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| *name)
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            ElementType::U8 | ElementType::I8 => 1,
            ElementType::U16 | ElementType::I16 | ElementType::F16 => 2,
            ElementType::U32 | ElementType::I32 | ElementType::F32 => 4,
            ElementType::U64 | ElementType::I64 | ElementType::F64 => 8,
        }
    }

    /// The bytes of a value, little endian. Integers may be hexadecimal.
    ///
    /// # Errors
    /// The text is no value of the type.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        let name = self.name();
        let bad = || format!("\"{text}\" is no {name}");
        let unsigned = || match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).map_err(|_| bad()),
            None => text.parse::<u64>().map_err(|_| bad()),
        };
        let signed = || text.parse::<i64>().map_err(|_| bad());
        let float = || text.parse::<f64>().map_err(|_| bad());
        let bytes = match self {
            ElementType::U8 => u8::try_from(unsigned()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            ElementType::U16 => u16::try_from(unsigned()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            ElementType::U32 => u32::try_from(unsigned()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            ElementType::U64 => unsigned()?.to_le_bytes().to_vec(),
            ElementType::I8 => i8::try_from(signed()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            ElementType::I16 => i16::try_from(signed()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            ElementType::I32 => i32::try_from(signed()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            ElementType::I64 => signed()?.to_le_bytes().to_vec(),
            ElementType::F16 => half::f16::from_f64(float()?).to_le_bytes().to_vec(),
            ElementType::F32 => (float()? as f32).to_le_bytes().to_vec(),
            ElementType::F64 => float()?.to_le_bytes().to_vec(),
        };
        Ok(bytes)
    }

    /// A value as text. `bytes` has the size of the type; what is shorter is padded with zeroes.
    pub fn decode(self, bytes: &[u8]) -> String {
        let mut wide = [0u8; 8];
        let length = bytes.len().min(self.size());
        wide[..length].copy_from_slice(&bytes[..length]);
        let [a, b, c, d, ..] = wide;
        match self {
            ElementType::U8 => a.to_string(),
            ElementType::I8 => a.cast_signed().to_string(),
            ElementType::U16 => u16::from_le_bytes([a, b]).to_string(),
            ElementType::I16 => i16::from_le_bytes([a, b]).to_string(),
            ElementType::F16 => half::f16::from_le_bytes([a, b]).to_string(),
            ElementType::U32 => u32::from_le_bytes([a, b, c, d]).to_string(),
            ElementType::I32 => i32::from_le_bytes([a, b, c, d]).to_string(),
            ElementType::F32 => f32::from_le_bytes([a, b, c, d]).to_string(),
            ElementType::U64 => u64::from_le_bytes(wide).to_string(),
            ElementType::I64 => i64::from_le_bytes(wide).to_string(),
            ElementType::F64 => f64::from_le_bytes(wide).to_string(),
        }
    }

    /// All values of a buffer, eight a line, each line with the number of its first element.
    pub fn dump(self, bytes: &[u8]) -> String {
        let values: Vec<String> = bytes.chunks_exact(self.size()).map(|value| self.decode(value)).collect();
        let lines =
            values.chunks(8).enumerate().map(|(i, line)| format!("{:6}: {}\n", i * 8, line.join(" ")));
        lines.collect()
    }
}

/// `TYPExCOUNT[=zero|iota|v0,v1,...|file:PATH]`: the type and the bytes. Values that are not given are zero.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<(ElementType, Vec<u8>), String> {
    let (shape, fill) = text.split_once('=').unwrap_or((text, "zero"));
    let (name, count) =
        shape.split_once('x').ok_or_else(|| format!("\"{shape}\" is not TYPExCOUNT, such as u32x64"))?;
    let kind = ElementType::parse(name)?;
    let count: usize = count.parse().map_err(|_| format!("\"{count}\" is no count"))?;
    let bytes =
        count.checked_mul(kind.size()).filter(|n| *n > 0).ok_or("a buffer needs at least one element")?;
    let mut contents = Vec::with_capacity(bytes.min(1 << 20));
    match fill {
        "zero" => {}
        "iota" => {
            for i in 0..count {
                contents.extend(kind.encode(&i.to_string())?);
            }
        }
        _ => match fill.strip_prefix("file:") {
            Some(path) => contents = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?,
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
        assert_eq!(parse("u32x2").unwrap(), (ElementType::U32, vec![0; 8]));
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
            "u32xmany",
            "u33x1",
            "u32x1=1,2",
            "u8x1=256",
            "i32x1=1.5",
            "u32x1=file:/nonexistent",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_print_as_they_are_written() {
        let (kind, bytes) = parse("i16x9=-3,7").unwrap();
        assert_eq!(kind.dump(&bytes), "     0: -3 7 0 0 0 0 0 0\n     8: 0\n");
        for (text, value) in
            [("f64x1=0.1", "0.1"), ("f16x1=0.5", "0.5"), ("i64x1=-9", "-9"), ("u8x1=0x1f", "31")]
        {
            let (kind, bytes) = parse(text).unwrap();
            assert_eq!(kind.decode(&bytes), value);
        }
    }
}
