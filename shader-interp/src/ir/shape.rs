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
mod tests {
    use super::*;

    fn vector(count: u32) -> Arc<Shape> {
        Arc::new(Shape::Vector { count, stride: 4 })
    }

    #[test]
    fn bytes_have_names() {
        let inner = Shape::Struct(vec![
            Part { name: "mass".into(), offset: 0, size: 4, shape: Arc::new(Shape::Whole) },
            Part { name: "at".into(), offset: 16, size: 12, shape: vector(3) },
        ]);
        let array = Shape::Array { length: 2, stride: 32, element: Arc::new(inner) };
        let variable = Variable {
            name: "s".into(),
            shape: Arc::new(Shape::Struct(vec![
                Part { name: "b".into(), offset: 0, size: 64, shape: Arc::new(array) },
                Part { name: String::new(), offset: 64, size: 0, shape: Arc::new(Shape::Whole) },
            ])),
        };
        let part = |offset| variable.part(offset);
        assert_eq!(part(32 + 16 + 5).as_deref(), Some("s.b[1].at.y"));
        assert_eq!(part(3).as_deref(), Some("s.b[0].mass"));
        assert_eq!(part(8), None);
        assert_eq!(part(28), None);
        assert_eq!(part(100).as_deref(), Some("s.<member 1>"));
        let anonymous = Variable { name: String::new(), ..variable.clone() };
        assert_eq!(anonymous.part(3).as_deref(), Some("b[0].mass"));
        let elements = Shape::Array { length: 0, stride: 4, element: Arc::new(Shape::Whole) };
        let wrapped = Part { name: String::new(), offset: 0, size: 0, shape: Arc::new(elements) };
        let around = Variable { name: "a".into(), shape: Arc::new(Shape::Struct(vec![wrapped])) };
        assert_eq!(around.part(12).as_deref(), Some("a[3]"));
        // Without any names, and inside of others, a member without a name is told by its number.
        let stripped = Variable { name: String::new(), ..around.clone() };
        assert_eq!(stripped.part(12).as_deref(), Some("<member 0>[3]"));
        let blocks = Shape::Array { length: 2, stride: 16, element: around.shape.clone() };
        let inside = Part { name: "b".into(), offset: 0, size: 32, shape: Arc::new(blocks) };
        let outer = Variable { name: "s".into(), shape: Arc::new(Shape::Struct(vec![inside])) };
        assert_eq!(outer.part(16 + 12).as_deref(), Some("s.b[1].<member 0>[3]"));
        let scalar = Variable { name: "x".into(), shape: Arc::new(Shape::Whole) };
        assert_eq!(scalar.part(0), None);
    }

    #[test]
    fn matrices_of_either_order_are_named_by_column() {
        let by_columns = Shape::Matrix { column: 16, row: 4 };
        let by_rows = Shape::Matrix { column: 4, row: 16 };
        assert_eq!(by_columns.path(16 + 8).as_deref(), Some("[1].z"));
        assert_eq!(by_rows.path(2 * 16 + 4).as_deref(), Some("[1].z"));
        assert_eq!(by_columns.path(64), None);
        let values = Shape::Array { length: 4, stride: 4, element: Arc::new(Shape::Whole) };
        assert_eq!((values.path(12).as_deref(), values.path(16)), (Some("[3]"), None));
    }
}
