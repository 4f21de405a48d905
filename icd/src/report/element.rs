//! Types of buffer elements: contents of buffers as text and back.

use pellucid_shader_interp::ir::{Component, Scalar};
use pellucid_shader_interp::math::half;

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Element {
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

const NAMES: [(&str, Element, usize); 11] = [
    ("u8", Element::U8, 1),
    ("i8", Element::I8, 1),
    ("u16", Element::U16, 2),
    ("i16", Element::I16, 2),
    ("f16", Element::F16, 2),
    ("u32", Element::U32, 4),
    ("i32", Element::I32, 4),
    ("f32", Element::F32, 4),
    ("u64", Element::U64, 8),
    ("i64", Element::I64, 8),
    ("f64", Element::F64, 8),
];

impl Element {
    /// The type of that name.
    ///
    /// # Errors
    /// It is no type; the message names all.
    pub fn parse(name: &str) -> Result<Element, String> {
        let found = NAMES.iter().find(|row| row.0 == name).map(|row| row.1);
        found.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|row| row.0).collect();
            format!("unknown type \"{name}\"; types: {}", names.join(", "))
        })
    }

    /// What a shader moves; `None` for Bool ([`ValueType`]).
    pub fn of_component(component: Component) -> Option<Element> {
        Some(match (component.scalar, component.signed) {
            (Scalar::Bool, _) => return None,
            (Scalar::I8, false) => Element::U8,
            (Scalar::I8, true) => Element::I8,
            (Scalar::I16, false) => Element::U16,
            (Scalar::I16, true) => Element::I16,
            (Scalar::I32, false) => Element::U32,
            (Scalar::I32, true) => Element::I32,
            (Scalar::I64, false) => Element::U64,
            (Scalar::I64, true) => Element::I64,
            (Scalar::F16, _) => Element::F16,
            (Scalar::F32, _) => Element::F32,
            (Scalar::F64, _) => Element::F64,
        })
    }

    /// The texels of a format of one component that is kept as it is.
    pub fn of_format(name: &str) -> Option<Element> {
        Some(match name {
            "R8_UINT" => Element::U8,
            "R8_SINT" => Element::I8,
            "R16_UINT" => Element::U16,
            "R16_SINT" => Element::I16,
            "R16_SFLOAT" => Element::F16,
            "R32_UINT" => Element::U32,
            "R32_SINT" => Element::I32,
            "R32_SFLOAT" => Element::F32,
            "R64_UINT" => Element::U64,
            "R64_SINT" => Element::I64,
            _ => return None,
        })
    }

    fn row(self) -> (&'static str, usize) {
        NAMES.iter().find(|row| row.1 == self).map_or(("", 1), |row| (row.0, row.2))
    }

    /// As options and reports write it: `u32`.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Its bytes.
    pub fn size(self) -> usize {
        self.row().1
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
            Element::U8 => u8::try_from(unsigned()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            Element::U16 => u16::try_from(unsigned()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            Element::U32 => u32::try_from(unsigned()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            Element::U64 => unsigned()?.to_le_bytes().to_vec(),
            Element::I8 => i8::try_from(signed()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            Element::I16 => i16::try_from(signed()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            Element::I32 => i32::try_from(signed()?).map_err(|_| bad())?.to_le_bytes().to_vec(),
            Element::I64 => signed()?.to_le_bytes().to_vec(),
            Element::F16 => (half::from_f64(float()?) as u16).to_le_bytes().to_vec(),
            Element::F32 => (float()? as f32).to_le_bytes().to_vec(),
            Element::F64 => float()?.to_le_bytes().to_vec(),
        };
        Ok(bytes)
    }

    /// A value as text. What is shorter than the type is padded with zeroes.
    pub fn decode(self, bytes: &[u8]) -> String {
        let mut wide = [0u8; 8];
        let length = bytes.len().min(self.size());
        wide[..length].copy_from_slice(&bytes[..length]);
        let bits = u64::from_le_bytes(wide);
        match self {
            Element::F16 => half::to_f32(bits as u32).to_string(),
            Element::F32 => f32::from_bits(bits as u32).to_string(),
            Element::F64 => f64::from_bits(bits).to_string(),
            integer => integer.integer(bits).map_or_else(String::new, |value| value.to_string()),
        }
    }

    /// The value of an integer of these bits, above which there are no others; `None` of a float.
    pub fn integer(self, bits: u64) -> Option<i128> {
        Some(match self {
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => bits.into(),
            Element::I8 => (bits as i8).into(),
            Element::I16 => (bits as i16).into(),
            Element::I32 => (bits as i32).into(),
            Element::I64 => bits.cast_signed().into(),
            Element::F16 | Element::F32 | Element::F64 => return None,
        })
    }

    /// A value as findings and the debugger show it: floats with a point or an exponent, what is no number
    /// with its bits, large unsigned integers in hexadecimal. [`Element::encode`] reads all but the second.
    pub fn show(self, bits: u64) -> String {
        let float = |value: String, finite: bool| match finite {
            true => value,
            false => format!("{value} ({bits:#x})"),
        };
        match self {
            Element::F16 => {
                let value = half::to_f32(bits as u32);
                float(format!("{value:?}"), !value.is_nan())
            }
            Element::F32 => {
                let value = f32::from_bits(bits as u32);
                float(format!("{value:?}"), !value.is_nan())
            }
            Element::F64 => {
                let value = f64::from_bits(bits);
                float(format!("{value:?}"), !value.is_nan())
            }
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => untyped(bits),
            Element::I8 | Element::I16 | Element::I32 | Element::I64 => self.decode(&bits.to_le_bytes()),
        }
    }

    /// All values of a buffer.
    pub fn values(self, bytes: &[u8]) -> Vec<String> {
        bytes.chunks(self.size()).map(|value| self.decode(value)).collect()
    }
}

/// The type of the values of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// One whose representation in memory is known.
    Element(Element),
    /// OpTypeBool, which has none.
    Bool,
}

impl ValueType {
    /// That of what a shader moves.
    pub fn of_component(component: Component) -> ValueType {
        Element::of_component(component).map_or(ValueType::Bool, ValueType::Element)
    }

    /// As reports write it: `u32`.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Element(element) => element.name(),
            ValueType::Bool => "bool",
        }
    }

    /// A value as findings show it.
    pub fn show(self, bits: u64) -> String {
        match (self, bits) {
            (ValueType::Element(element), _) => element.show(bits),
            (ValueType::Bool, 0) => "false".to_owned(),
            (ValueType::Bool, 1) => "true".to_owned(),
            (ValueType::Bool, _) => untyped(bits),
        }
    }
}

/// A value of unknown type: decimal while small, else its bits.
pub fn untyped(bits: u64) -> String {
    if bits < 1_000_000 { bits.to_string() } else { format!("{bits:#x}") }
}

#[cfg(test)]
mod tests;
