//! What a test file says.

use super::step::Step;
use std::collections::{BTreeMap, BTreeSet};

/// A test file.
#[derive(Clone, Debug)]
pub struct Test {
    /// Path within the corpus, without the extension: `message_passing/buffer`.
    pub name: String,
    /// Path within the corpus.
    pub file: String,
    /// Lines of the source that carry the marker `@N`.
    pub markers: BTreeMap<u32, BTreeSet<u32>>,
    /// In the order of the file.
    pub cases: Vec<Case>,
}

/// One variant of a test.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Its name, unique in the file.
    pub name: String,
    /// Preprocessor definitions, `NAME` or `NAME=VALUE`, of the shader `main`.
    pub defines: Vec<String>,
    /// Shaders of other files by name: path within the corpus, and definitions.
    pub shaders: BTreeMap<String, (String, Vec<String>)>,
    /// Buffers and images.
    pub resources: Vec<Resource>,
    /// Descriptors of set 0.
    pub bindings: Vec<Binding>,
    /// Push constants, in order.
    pub push: Vec<Value>,
    /// Specialization constants.
    pub specialization: Vec<(u32, u32)>,
    /// Invocations of a subgroup, if not the driver's choice.
    pub subgroup: Option<u32>,
    /// Whether the driver tells notes beside findings.
    pub notes: bool,
    /// What the host does.
    pub steps: Vec<Step>,
    /// The findings, all of them; empty for a case that must be silent.
    pub expected: Vec<Expected>,
    /// Findings that may be there as well: whether they are depends on the schedule.
    pub allowed: Vec<Expected>,
    /// Texts that the report must contain.
    pub says: Vec<String>,
    /// What must be in memory at the end.
    pub finals: Vec<Final>,
    /// The device is expected to be lost.
    pub lost: bool,
    /// Not every seed finds what is expected: whether it is executed depends on the schedule and on what
    /// atomics read.
    pub some_seeds: bool,
}

/// A finding that must be there.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// As `docs/report.md` lists it.
    pub id: String,
    /// Its accesses: `1` for a line with the marker `@1`, an opcode, a command's entry point, or `-` for one
    /// that has no place.
    pub accesses: Vec<String>,
    /// Names of its missing elements, all of them, if given.
    pub missing: Vec<String>,
    /// Names of the edits of its fix, all of them, if given.
    pub fix: Vec<String>,
}

/// A case that does not pass yet.
#[derive(Clone, Debug)]
pub struct Gap {
    /// `FILE CASE`.
    pub case: String,
    /// What is missing for it to pass.
    pub reason: String,
}

/// A buffer or image.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name, also its debug-utils name.
    pub name: String,
    /// Buffer or image.
    pub shape: Shape,
    /// Before the first command.
    pub contents: Contents,
}

/// What a resource is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `count` elements of a type.
    Buffer {
        /// Elements.
        count: u64,
        /// `u8 u16 u32 u64 i32 f32`.
        ty: String,
    },
    /// A 2D or 3D storage image with one mip level in layout GENERAL.
    Image {
        /// `r32ui r32f rgba32ui`.
        format: String,
        /// Texels.
        width: u32,
        /// Texels.
        height: u32,
        /// Texels of a 3D image.
        depth: Option<u32>,
    },
}

/// Initial contents.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Never written.
    Undefined,
    /// Zero bytes.
    Zero,
    /// 0, 1, 2 ...
    Iota,
    /// These, repeated to the end.
    Values(Vec<String>),
}

/// One descriptor.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Binding of set 0.
    pub binding: u32,
    /// Element of the binding's array.
    pub element: u32,
    /// Name of the buffer or image that is bound.
    pub resource: String,
    /// Its type.
    pub descriptor: Descriptor,
    /// Bytes from the start.
    pub offset: u64,
    /// Bytes, all if not given.
    pub size: Option<u64>,
}

/// The type of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// STORAGE_BUFFER
    Storage,
    /// UNIFORM_BUFFER
    Uniform,
    /// STORAGE_IMAGE
    Image,
    /// STORAGE_TEXEL_BUFFER, R32_UINT
    Texel,
}

/// A push constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// 32 bits.
    Word(u32),
    /// The device address of a buffer.
    Address(String),
}

/// What a resource holds at the end.
#[derive(Clone, Debug)]
pub struct Final {
    /// Name of the buffer or image.
    pub resource: String,
    /// The first element that is compared.
    pub first: usize,
    /// Its value and those of the elements that follow; `_` is any.
    pub values: Vec<String>,
}

impl Case {
    /// Whether this case must be silent.
    pub fn silent(&self) -> bool {
        self.expected.is_empty()
    }

    /// The resource of that name.
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|r| r.name == name)
    }
}

impl Test {
    /// The case of that name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|c| c.name == name)
    }
}
