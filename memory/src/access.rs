//! Accesses: how one static instruction touches memory.

use crate::scope::{Scope, Semantics, StorageClasses};
use serde::{Deserialize, Serialize};

/// A static instruction of a shader: an index into the shader's table of sites (source lines, names).
/// Findings and replays name instructions by it; it does not depend on optimisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site(pub u32);

/// A *reference* of the model: through which variable, descriptor element or address an access reaches its
/// location. Two accesses to one location through different references need device-domain availability and
/// visibility in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reference(pub u32);

impl Reference {
    /// That of accesses through physical storage buffer addresses: one for all.
    pub const PHYSICAL: Reference = Reference(u32::MAX - 1);
    /// That of accesses through a descriptor that is VK_NULL_HANDLE.
    pub const NULL_DESCRIPTOR: Reference = Reference(u32::MAX - 2);
}

/// What a shader reads through: the access type of the read (Vulkan, *Access Types*, the table of
/// VkAccessFlagBits2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShaderRead {
    /// SHADER_STORAGE_READ: a storage buffer, image or texel buffer, or an address.
    #[default]
    Storage,
    /// UNIFORM_READ: a uniform buffer, which is a `Block` in the Uniform storage class.
    Uniform,
    /// SHADER_SAMPLED_READ: a sampled image or a uniform texel buffer.
    Sampled,
}

/// What one static load, store or atomic does, apart from its address and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Storage class of the location.
    pub class: StorageClasses,
    /// What it goes through, if it is a read.
    pub read_as: ShaderRead,
    /// Bytes of one component: 1, 2, 4 or 8.
    pub size: u8,
    /// Consecutive components, 1 to 16. Component `k` is at `address + k * size`.
    pub components: u8,
    /// `NonPrivatePointer` / `NonPrivateTexel`, or implied (atomic, availability, visibility, lowered
    /// `coherent`).
    pub non_private: bool,
    /// `MakePointerAvailable` / `MakeTexelAvailable` at this scope (writes).
    pub available: Option<Scope>,
    /// `MakePointerVisible` / `MakeTexelVisible` at this scope (reads).
    pub visible: Option<Scope>,
    /// `Volatile`: not left out, not merged with others.
    pub volatile: bool,
    /// The scope of an atomic instruction; `None` for a plain access.
    pub atomic: Option<Scope>,
    /// The memory semantics of an atomic instruction; relaxed for a plain access.
    pub semantics: Semantics,
    /// The semantics of a compare-exchange that fails (`Unequal`).
    pub unequal: Semantics,
    /// False if no instruction uses the value that an atomic instruction returns.
    pub result_used: bool,
    /// Of a component of a cooperative matrix: which invocation of the subgroup makes the access is left to
    /// the implementation (Vulkan memory model, *Cooperative Matrix Memory Access*).
    pub dealt: bool,
}

impl Access {
    /// Whether it is one of a storage buffer, a storage image or texel buffer, or through an address.
    pub fn is_of_storage(&self) -> bool {
        self.class.intersects(StorageClasses::UNIFORM | StorageClasses::IMAGE)
            && self.read_as == ShaderRead::Storage
    }

    /// A plain private access of `components` components of `size` bytes.
    pub const fn plain(class: StorageClasses, size: u8, components: u8) -> Access {
        Access {
            class,
            read_as: ShaderRead::Storage,
            size,
            components,
            non_private: false,
            available: None,
            visible: None,
            volatile: false,
            atomic: None,
            semantics: Semantics::RELAXED,
            unequal: Semantics::RELAXED,
            result_used: true,
            dealt: false,
        }
    }
}

/// Which availability and visibility operations an access has of its own, and whether it is non-private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessFlags {
    /// It makes what it writes available.
    pub available: bool,
    /// It makes visible what it reads.
    pub visible: bool,
    /// It takes part in availability and visibility.
    pub non_private: bool,
}

impl AccessFlags {
    /// These, and what they imply for an access that reads, writes or is atomic: atomics make their writes
    /// available and their reads visible, and availability, visibility and atomics are non-private.
    pub(crate) fn with_implied(mut self, read: bool, write: bool, atomic: bool) -> AccessFlags {
        self.available |= atomic && write;
        self.visible |= atomic && read;
        self.non_private |= atomic || self.available || self.visible;
        self
    }
}

/// Read-modify-write operations (SPIR-V 3.49.18 *Atomic Instructions* and the float atomics of
/// SPV_EXT_shader_atomic_float_add / _min_max). The operand width is [`Access::size`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Exchange,
    CompareExchange,
    IAdd,
    ISub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
}

impl AtomicOp {
    /// Whether its operands are floats.
    pub fn is_float(self) -> bool {
        matches!(self, AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax)
    }
}
