//! The Vulkan memory model as code: what memory *is* in Pellucid.
//!
//! This crate knows neither SPIR-V nor Vulkan objects. It provides
//!
//! - the vocabulary of the model ([`scope`], [`agent`], [`access`]): scopes, storage-class masks, agents,
//!   references, locations;
//! - the boundary between an interpreter and memory, [`system::MemorySystem`], behind which the plain (flat,
//!   coherent) backend and the modelled one are interchangeable;
//! - the axiomatic engine ([`model`]), the judge of everything else, and the litmus tests that run on it;
//! - the files that users name ([`input`]);
//! - exhaustive exploration of schedules and values ([`explore`]);
//! - findings as typed data ([`finding`]), turned into text elsewhere.
//!
//! The normative text is the Memory Model appendix of the Vulkan specification.

pub mod access;
pub mod agent;
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
pub mod litmus;
pub mod model;
pub mod outline;
pub mod plain;
pub mod progress;
pub mod race;
pub mod raw;
pub mod scope;
pub mod system;
pub mod unwritten;
