//! The Vulkan memory model as code: what memory *is* in Pellucid.
//!
//! Guaranteed, for one order of execution: a race is reported only if the axioms confirm it on the retained
//! part of the execution; a load returns a value that the model allows, and the newest one where the program
//! orders it after the newest write; equal inputs and seeds give equal values and findings. This crate knows
//! neither SPIR-V nor Vulkan objects. The normative text is the Memory Model appendix of the Vulkan
//! specification.
//!
//! | part | subject |
//! |---|---|
//! | [`scope`], [`agent`], [`access`] | the words of the model: scopes, storage classes, agents, references |
//! | [`system`] | the boundary to an interpreter; its two sides: [`plain`] and [`checked`] |
//! | [`model`] | the axioms: every relation of one recorded execution; the judge of everything else |
//! | [`race`] | what is ordered before an access, as it happens; slices; explanations; fixes |
//! | [`history`] | which values a load may return |
//! | [`machine`] | descriptions of machines, whose caches choose among these values |
//! | [`explore`] | all schedules and values of one dispatch |
//! | [`commands`] | the same questions between commands, queues and the host |
//! | [`litmus`] | litmus tests, by the axioms and by a machine of histories |
//! | [`device`], [`heap`], [`raw`], [`unwritten`] | device memory, and which bytes of it hold nothing |
//! | [`input`] | the files that users name |
//! | [`instructions`] | the instruction sets that the host has |
//! | [`finding`], [`around`] | what was found, as typed data; others turn it into text and pictures |
//!
//! # From a missing availability operation to the finding
//!
//! One invocation stores `x` and releases without `MakeAvailable`; another one acquires and loads `x`.
//!
//! 1. The store comes to [`checked::CheckedMemory`] by [`system::MemorySystem::store`]. Its static part (the
//!    instruction, storage class, reference, flags) gets a number; with the agent and its time that is a
//!    [`race::Record`], kept in the [`race::Cell`] of the word. `checked/lanes.rs` serves whole subgroups in
//!    the usual case, `checked/lane.rs` and `checked/core.rs` one invocation in every other one.
//! 2. The release (`race/operations.rs`) publishes what its agent knows: vector clocks of what happens
//!    before, and of what is available at which scope (`race/agents.rs`). No availability operation took the
//!    store in.
//! 3. The acquire joins these clocks: the store now happens before whatever its agent does.
//! 4. The load finds the cell's last write, and `Core::conflicts` asks [`race::Order::ordered`]. A read after
//!    a write needs the write visible, so it needs it available in an instance that both share: no clock says
//!    so.
//! 5. Before that is called a race, `checked/report.rs` has [`race::Trace`] cut the slice: the operations
//!    that can order the pair, traced as they were executed. The axioms judge it. Had they ordered the pair,
//!    nothing would be reported, and the load would come after the store.
//! 6. `race/explain.rs` grants one clause of *Location-Ordered* after the other on the slice. The pair
//!    happens in order, so what is missing is [`finding::Missing::Availability`]; `race/fix.rs` tries sets of
//!    edits and keeps the cheapest that orders the pair: [`finding::Edit::MakeAvailable`] on the release.
//! 7. Meanwhile the load returns a value of the word's [`history::History`]: the old one, unless told
//!    otherwise.
//! 8. [`checked::CheckedMemory::end_dispatch`] hands out the [`finding::Finding`]; the driver's `report`
//!    names sites and buffers and writes the sentences.

pub mod access;
pub mod agent;
pub mod aliases;
pub mod around;
mod bits;
pub mod checked;
pub mod commands;
mod component;
pub mod device;
pub mod explore;
pub mod finding;
pub mod heap;
pub mod history;
pub mod host;
pub mod input;
pub mod instructions;
pub mod litmus;
pub mod machine;
pub mod model;
pub mod outline;
pub mod plain;
pub mod progress;
pub mod race;
pub mod random;
pub mod raw;
pub mod scope;
pub mod shared;
pub mod system;
pub mod unwritten;
