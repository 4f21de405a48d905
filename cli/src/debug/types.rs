//! The types and variables of a module, as its source names them.

use pellucid_shader_interp::ir::{Part, Shape};
use pellucid_shader_interp::spirv::UNTYPED_VARIABLE;
use std::collections::BTreeMap;
use std::sync::Arc;
use vulkan_pellucid::report::element::Element;
use vulkan_pellucid::report::texel::Layers;

/// A type, by what it is made of (ids of other types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// OpTypeBool.
    Bool,
    /// OpTypeInt or OpTypeFloat.
    Number(Element),
    /// Component, number.
    Vector(u32, u32),
    /// Column, number.
    Matrix(u32, u32),
    /// Element, of a fixed or open number.
    Array(u32),
    /// Members are in [`Types::members`].
    Struct,
    /// OpTypeImage or OpTypeSampledImage.
    Image(ImageType),
    /// What is not looked into.
    Other,
}

/// How an image type takes coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageType {
    /// Axes, 1 to 3.
    pub axes: usize,
    /// Whether it has array layers or cube faces.
    pub layers: Layers,
    /// Of texel buffers.
    pub buffer: bool,
}

/// A variable of the module or of a function.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its `Result <id>`.
    pub id: u32,
    /// What it points to.
    pub ty: u32,
    /// `DescriptorSet` and `Binding`, if it is a descriptor.
    pub at: Option<(u32, u32)>,
    /// Its storage class.
    pub class: u32,
}

/// How a member of a block is laid out.
#[derive(Clone, Debug, Default)]
struct Member {
    name: String,
    offset: u32,
    matrix_stride: u32,
    row_major: bool,
}

/// The types, names and variables of a module.
#[derive(Debug, Default)]
pub struct Types {
    types: BTreeMap<u32, Type>,
    names: BTreeMap<u32, String>,
    members: BTreeMap<u32, Vec<u32>>,
    layouts: BTreeMap<(u32, u32), Member>,
    /// Lengths of arrays, and their strides.
    lengths: BTreeMap<u32, u32>,
    strides: BTreeMap<u32, u32>,
    /// By id.
    pub variables: BTreeMap<u32, Variable>,
}

fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// OpTypeImage by its `Dim` and whether it is arrayed.
fn image(dim: u32, arrayed: bool) -> ImageType {
    const D1: u32 = 0;
    const D3: u32 = 2;
    const CUBE: u32 = 3;
    const BUFFER: u32 = 5;
    let axes = match dim {
        D1 | BUFFER => 1,
        D3 => 3,
        _ => 2,
    };
    let layers = match (dim, arrayed) {
        (CUBE, false) => Layers::Faces,
        (CUBE, true) => Layers::Cubes,
        (_, true) => Layers::Array,
        (_, false) => Layers::None,
    };
    ImageType { axes, layers, buffer: dim == BUFFER }
}

impl Types {
    /// Reads a module. What it does not understand it leaves out.
    pub fn new(words: &[u32]) -> Types {
        let mut out = Types::default();
        let mut pointers: BTreeMap<u32, u32> = BTreeMap::new();
        let mut constants: BTreeMap<u32, u32> = BTreeMap::new();
        let mut places: BTreeMap<u32, (Option<u32>, Option<u32>)> = BTreeMap::new();
        let mut rest = words.get(5..).unwrap_or_default();
        while let Some(first) = rest.first() {
            let length = ((first >> 16) as usize).clamp(1, rest.len());
            let (i, after) = rest.split_at(length);
            rest = after;
            let word = |k: usize| i.get(k).copied().unwrap_or(0);
            let number = |unsigned, signed, float| match (first & 0xffff, word(3)) {
                // A float of another encoding than IEEE 754 is shown by its bits.
                (22, _) if i.len() > 3 => Type::Number(unsigned),
                (22, _) => Type::Number(float),
                (_, 0) => Type::Number(unsigned),
                _ => Type::Number(signed),
            };
            let defined = match first & 0xffff {
                5 => {
                    out.names.insert(word(1), text(i.get(2..).unwrap_or_default()));
                    None
                }
                6 => {
                    let member = out.layouts.entry((word(1), word(2))).or_default();
                    member.name = text(i.get(3..).unwrap_or_default());
                    None
                }
                72 => {
                    let member = out.layouts.entry((word(1), word(2))).or_default();
                    match word(3) {
                        35 => member.offset = word(4),
                        7 => member.matrix_stride = word(4),
                        4 => member.row_major = true,
                        _ => {}
                    }
                    None
                }
                71 if word(2) == 6 => {
                    out.strides.insert(word(1), word(3));
                    None
                }
                71 => {
                    let place = places.entry(word(1)).or_default();
                    match word(2) {
                        34 => place.0 = Some(word(3)),
                        33 => place.1 = Some(word(3)),
                        _ => {}
                    }
                    None
                }
                20 => Some(Type::Bool),
                21 | 22 => Some(match word(2) {
                    8 => number(Element::U8, Element::I8, Element::U8),
                    16 => number(Element::U16, Element::I16, Element::F16),
                    64 => number(Element::U64, Element::I64, Element::F64),
                    _ => number(Element::U32, Element::I32, Element::F32),
                }),
                23 => Some(Type::Vector(word(2), word(3))),
                // OpTypeVectorIdEXT; the shape of a value knows a specialized count.
                5288 => Some(Type::Vector(word(2), constants.get(&word(3)).copied().unwrap_or(0))),
                43 | 50 => {
                    constants.insert(word(2), word(3));
                    None
                }
                25 => Some(Type::Image(image(word(3), word(5) == 1))),
                27 => Some(out.get(word(2))),
                24 => Some(Type::Matrix(word(2), word(3))),
                28 | 29 => {
                    let length = constants.get(&word(3)).copied().unwrap_or(0);
                    out.lengths.insert(word(1), length);
                    Some(Type::Array(word(2)))
                }
                // OpTypeCooperativeMatrixKHR: the components that an invocation has.
                4456 => Some(Type::Array(word(2))),
                30 => {
                    out.members.insert(word(1), i.get(2..).unwrap_or_default().to_vec());
                    Some(Type::Struct)
                }
                32 => {
                    pointers.insert(word(1), word(3));
                    Some(Type::Other)
                }
                59 => {
                    let (id, class) = (word(2), word(3));
                    let ty = pointers.get(&word(1)).copied().unwrap_or(0);
                    out.variables.insert(id, Variable { id, ty, at: None, class });
                    None
                }
                UNTYPED_VARIABLE => {
                    let (id, class) = (word(2), word(3));
                    out.variables.insert(id, Variable { id, ty: word(4), at: None, class });
                    None
                }
                _ => None,
            };
            if let Some(ty) = defined {
                out.types.insert(word(1), ty);
            }
        }
        for variable in out.variables.values_mut() {
            if let Some((Some(set), Some(binding))) = places.get(&variable.id) {
                variable.at = Some((*set, *binding));
            }
        }
        out
    }

    /// The type of the first number in the buffer of a set and binding.
    pub fn element_at(&self, at: (u32, u32)) -> Option<Element> {
        let mut ty = self.variables.values().find(|variable| variable.at == Some(at))?.ty;
        const DEEPEST: u32 = 64;
        for _ in 0..DEEPEST {
            ty = match self.get(ty) {
                Type::Number(element) => return Some(element),
                Type::Vector(of, _) | Type::Matrix(of, _) | Type::Array(of) => of,
                Type::Struct => self.member(ty, 0),
                Type::Bool | Type::Image(_) | Type::Other => return None,
            };
        }
        None
    }

    /// The type of an id.
    pub fn get(&self, id: u32) -> Type {
        self.types.get(&id).copied().unwrap_or(Type::Other)
    }

    /// OpName of an id, or "".
    pub fn name(&self, id: u32) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// The module's OpTypeBool, 0 if it has none.
    pub fn bool_type(&self) -> u32 {
        self.types.iter().find(|(_, ty)| **ty == Type::Bool).map_or(0, |(id, _)| *id)
    }

    /// How a block of this type lies in memory, by its decorations.
    pub fn shape(&self, id: u32) -> Arc<Shape> {
        self.shape_of(id, &Member::default(), 0)
    }

    fn shape_of(&self, id: u32, within: &Member, depth: u32) -> Arc<Shape> {
        const DEEPEST: u32 = 64;
        Arc::new(match self.get(id) {
            _ if depth == DEEPEST => Shape::Whole,
            Type::Vector(of, count) => {
                let stride = match self.get(of) {
                    Type::Number(element) => element.size() as u32,
                    _ => 4,
                };
                Shape::Vector { count, stride }
            }
            Type::Matrix(column, _) => {
                let bytes = match self.get(column) {
                    Type::Vector(of, _) => match self.get(of) {
                        Type::Number(element) => element.size() as u32,
                        _ => 4,
                    },
                    _ => 4,
                };
                let [column, row] = match within.row_major {
                    true => [bytes, within.matrix_stride],
                    false => [within.matrix_stride, bytes],
                };
                Shape::Matrix { column, row }
            }
            Type::Array(of) => Shape::Array {
                length: self.lengths.get(&id).copied().unwrap_or(0),
                stride: self.strides.get(&id).copied().unwrap_or(0),
                element: self.shape_of(of, within, depth + 1),
            },
            Type::Struct => {
                let of = self.members.get(&id).map_or(&[][..], Vec::as_slice);
                let part = |(k, ty): (u32, &u32)| {
                    let member = self.layouts.get(&(id, k)).cloned().unwrap_or_default();
                    let shape = self.shape_of(*ty, &member, depth + 1);
                    Part { name: member.name, offset: member.offset, size: 0, shape }
                };
                Shape::Struct((0..).zip(of).map(part).collect())
            }
            Type::Bool | Type::Number(_) | Type::Image(_) | Type::Other => Shape::Whole,
        })
    }

    /// The type of a structure's member.
    pub fn member(&self, id: u32, k: usize) -> u32 {
        self.members.get(&id).and_then(|members| members.get(k)).copied().unwrap_or(0)
    }

    /// As a declaration has it: `uvec3`, `float[]`.
    pub fn describe(&self, id: u32) -> String {
        match self.get(id) {
            Type::Bool => "bool".to_owned(),
            Type::Number(element) => element.name().to_owned(),
            Type::Vector(of, count) => format!("{}x{count}", self.describe(of)),
            Type::Matrix(column, count) => format!("{} columns of {}", count, self.describe(column)),
            Type::Array(of) => format!("{}[]", self.describe(of)),
            Type::Struct => self.name(id).to_owned(),
            Type::Image(ImageType { buffer: true, .. }) => "texel buffer".to_owned(),
            Type::Image(ImageType { axes, layers: Layers::None, .. }) => format!("{axes}D image"),
            Type::Image(ImageType { axes, layers: Layers::Array, .. }) => format!("{axes}D image array"),
            Type::Image(_) => "cube image".to_owned(),
            Type::Other => String::new(),
        }
    }
}
