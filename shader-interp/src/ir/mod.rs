//! The intermediate representation between the SPIR-V front end and the code generator.
//!
//! **Values** are scalars in SSA form: vectors, matrices, structures and arrays are taken apart by the front
//! end; functions are inlined; specialization constants are folded. **Control** is a tree of structured
//! constructs in the manner of labelled blocks: a [`Node::Block`] is left by [`Node::Leave`], a
//! [`Node::Loop`] is repeated by [`Node::Repeat`], and both carry arguments, which take the place of phi
//! instructions. Reconvergence follows from the tree: lanes that leave a block wait at its end for all lanes
//! of the block. SPIR-V maps to it like this: a selection is `Block(merge) { If { .. Leave(merge, phi
//! arguments) .. } }`; a loop is `Block(merge) { Loop(header phis) { Block(continue phis) { body } continue
//! construct; Repeat(..) } }`; a switch is nested blocks, one for each case target, with [`Node::Switch`]
//! innermost; a call is `Block(returned value) { body, Leave at each return }`.
//!
//! **When things are evaluated**: nodes in order, an operation once for all active lanes. Loads, stores,
//! atomics and barriers are never merged, moved or removed: in the modelled mode each is an event of its own.
//! Pure operations may be removed or moved.

mod alu;
mod matrix;
mod module;
mod op;
mod origin;
pub mod print;
mod shape;
mod stage;

pub(crate) use alu::alu_table;
pub use alu::*;
pub use matrix::*;
pub use module::*;
pub use op::*;
pub use origin::*;
pub use shape::*;
pub use stage::*;
