//! How the bytes of a variable are divided, with the names of its parts: for findings.

use std::sync::Arc;

/// The parts of a variable or block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A scalar or pointer, or what is not looked into.
    #[default]
    Whole,
    /// Components side by side, or a column's in a row-major matrix.
    Vector {
        /// Components.
        count: u32,
        /// Bytes from component to component.
        stride: u32,
    },
    /// Columns, each a vector.
    Matrix {
        /// Bytes from column to column.
        column: u32,
        /// Bytes from row to row.
        row: u32,
    },
    /// Equal elements.
    Array {
        /// Elements; 0 if it is runtime-sized.
        length: u32,
        /// Bytes from element to element.
        stride: u32,
        /// Each of them.
        element: Arc<Shape>,
    },
    /// A structure.
    Struct(Vec<Part>),
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// OpMemberName, or "".
    pub name: String,
    /// First byte.
    pub offset: u32,
    /// Bytes; 0 for a runtime-sized array, which reaches to the end.
    pub size: u32,
    /// Its parts.
    pub shape: Arc<Shape>,
}

/// A variable by its name and parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// OpName, or "": that of an anonymous block, say.
    pub name: String,
    /// Its parts.
    pub shape: Arc<Shape>,
}

impl Shape {
    /// Bytes of a block, where runtime-sized arrays have so many elements. (0 for what is no structure.)
    pub fn bytes(&self, elements: u64) -> u64 {
        let Shape::Struct(parts) = self else { return 0 };
        let end = |part: &Part| {
            let size = match &*part.shape {
                Shape::Array { length: 0, stride, .. } => u64::from(*stride).saturating_mul(elements),
                _ => u64::from(part.size),
            };
            size.saturating_add(u64::from(part.offset))
        };
        parts.iter().map(end).max().unwrap_or(0)
    }

    /// The smallest part that holds byte `offset`, such as `.b[1].y`; "" for what has no parts. `None` for a
    /// byte of no part.
    pub fn path(&self, offset: u32) -> Option<String> {
        let component = |k: u32| ['x', 'y', 'z', 'w'].get(k as usize);
        match self {
            Shape::Whole => Some(String::new()),
            Shape::Vector { count, stride } => {
                let k = offset.checked_div(*stride).filter(|k| k < count)?;
                Some(format!(".{}", component(k)?))
            }
            Shape::Matrix { column, row } => {
                let (c, r) = if column >= row {
                    (offset.checked_div(*column)?, (offset % column).checked_div(*row)?)
                } else {
                    ((offset % row).checked_div(*column)?, offset.checked_div(*row)?)
                };
                (c < 4).then_some(())?;
                Some(format!("[{c}].{}", component(r)?))
            }
            Shape::Array { length, stride, element } => {
                let k = offset.checked_div(*stride).filter(|k| *length == 0 || k < length)?;
                Some(format!("[{k}]{}", element.path(offset % stride)?))
            }
            Shape::Struct(parts) => {
                let holds = |part: &&Part| {
                    offset >= part.offset && (part.size == 0 || offset - part.offset < part.size)
                };
                let number = parts.iter().position(|part| holds(&part))?;
                let part = &parts[number];
                let rest = part.shape.path(offset - part.offset)?;
                Some(match part.name.as_str() {
                    "" => format!(".<member {number}>{rest}"),
                    name => format!(".{name}{rest}"),
                })
            }
        }
    }
}

impl Variable {
    /// The smallest part that holds byte `offset`, such as `table[3]`; `None` for a byte of no part, and for
    /// a variable without parts.
    pub fn part(&self, offset: u32) -> Option<String> {
        let path = match &*self.shape {
            // The block that a compiler put around the variable of a language without blocks. The variable
            // has a name: that its only member has none is not because all names were taken away.
            Shape::Struct(parts) if parts.len() == 1 && parts[0].name.is_empty() && !self.name.is_empty() => {
                parts[0].shape.path(offset.checked_sub(parts[0].offset)?)
            }
            shape => shape.path(offset),
        };
        let path = path.filter(|path| !path.is_empty())?;
        Some(match self.name.as_str() {
            "" => path.trim_start_matches('.').to_owned(),
            name => format!("{name}{path}"),
        })
    }
}

#[cfg(test)]
mod tests;
