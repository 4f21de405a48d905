//! Random programs: what they consist of, and where it lies.

use pellucid_memory::access::AtomicOp;
use pellucid_memory::scope::{Scope, Semantics};

/// Words of the data buffer, of the texels and of each workgroup array.
pub const WORDS: u32 = 64;

/// Through what an access goes. All but the last four reach the data buffer, each by a reference of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// A storage buffer of words.
    Words,
    /// Another descriptor of the same buffer.
    Alias,
    /// A storage buffer of bytes.
    Bytes,
    /// A storage buffer of 64-bit integers.
    Longs,
    /// Device addresses: all widths by one reference.
    Physical,
    /// A storage texel buffer of its own.
    Texels,
    /// A storage image of two dimensions, over the texels of the texel buffer.
    Image,
    /// A workgroup array of words.
    Shared,
    /// A workgroup array of 64-bit integers.
    SharedLongs,
}

/// The type of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Byte,
    Short,
    Word,
    Long,
    /// A vector of two words: two accesses of one word, for the model.
    Pair,
}

impl Width {
    pub fn bytes(self) -> u32 {
        match self {
            Width::Byte => 1,
            Width::Short => 2,
            Width::Word => 4,
            Width::Long | Width::Pair => 8,
        }
    }
}

/// The element that an invocation accesses.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    Constant(u32),
    /// LocalInvocationIndex plus the first, modulo the second.
    Local(u32, u32),
    /// The number of the invocation in the dispatch, likewise.
    Global(u32, u32),
    /// What the invocation loaded last, modulo this.
    Loaded(u32),
}

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub through: Through,
    pub width: Width,
    pub index: Index,
}

/// The memory operands of a plain access.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub non_private: bool,
    /// MakePointerAvailable or MakePointerVisible.
    pub scope: Option<Scope>,
}

/// One instruction.
#[derive(Clone, Debug)]
pub enum Op {
    Load(Place, How),
    Store(Place, How),
    AtomicLoad(Place, Scope, Semantics),
    AtomicStore(Place, Scope, Semantics),
    /// With the semantics of a compare-exchange that fails.
    Update(Place, Scope, Semantics, AtomicOp, Semantics),
    /// Adds one.
    Count(Place, Scope, Semantics),
    Fence(Scope, Semantics),
    /// A control barrier of the running invocations of a subgroup.
    Together(Scope, Semantics),
}

/// Who takes a branch.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// One invocation of the dispatch.
    Is(u32),
    /// All invocations of the workgroup of this number.
    Workgroup(u32),
    /// Those whose bit, by LocalInvocationIndex modulo 32, is set.
    Lanes(u32),
    /// Those that loaded a value whose bit is 1.
    Bit(u32),
    /// Those that loaded something else than 0.
    Loaded,
    /// Those that loaded this.
    Equal(u32),
}

/// How often a loop turns.
#[derive(Clone, Copy, Debug)]
pub enum Turns {
    /// All invocations so often.
    All(u32),
    /// Invocations with odd LocalInvocationIndex once more than the others.
    Divergent(u32),
    /// Until something else than 0 was loaded, at most so often.
    Until(u32),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Node {
    Op(Op),
    If(Condition, Vec<Node>, Vec<Node>),
    Loop(Turns, Vec<Node>),
    /// A control barrier of the workgroup; only where all its invocations come.
    Barrier(Scope, Semantics),
}

/// A program and its grid.
#[derive(Clone, Debug)]
pub struct Program {
    pub groups: u32,
    pub local: u32,
    pub subgroup: u32,
    /// Workgroup memory is zero when a workgroup starts.
    pub zeroed: bool,
    pub body: Vec<Node>,
}

impl Program {
    /// Calls `each` for every instruction.
    pub fn ops(&self, each: &mut dyn FnMut(&Op)) {
        fn walk(nodes: &[Node], each: &mut dyn FnMut(&Op)) {
            for node in nodes {
                match node {
                    Node::Op(op) => each(op),
                    Node::If(_, then, otherwise) => {
                        walk(then, each);
                        walk(otherwise, each);
                    }
                    Node::Loop(_, body) => walk(body, each),
                    Node::Barrier(..) => {}
                }
            }
        }
        walk(&self.body, each);
    }

    /// Whether there is an atomic operation.
    pub fn has_atomics(&self) -> bool {
        let mut any = false;
        self.ops(&mut |op| {
            any |= matches!(op, Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::Update(..) | Op::Count(..));
        });
        any
    }
}
