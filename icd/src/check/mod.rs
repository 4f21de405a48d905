//! Check mode: the modelled memory of a device, hazards between its commands, and what both found.
//!
//! From the ground up: [`named`] and [`stages`] are words, [`layouts`], [`ownership`], [`hazards`], [`host`],
//! [`host_calls`] and [`state`] are what a device keeps, [`watching`], [`last_turns`] and [`info`] are what
//! an execution is watched by and told to, [`rehearse`], [`dispatch`] and [`explored`] execute, [`report`]
//! and [`found`] name what was found, and [`commands`], [`binding`] and [`calls`] are what the commands of a
//! queue, sparse bindings and the application's calls come to.

pub mod binding;
pub mod calls;
pub mod commands;
pub mod dependency;
pub mod dispatch;
mod explored;
mod exploring;
pub mod found;
pub mod hazards;
pub mod host;
pub mod host_calls;
pub mod info;
mod last_turns;
pub mod layouts;
pub mod named;
pub mod ownership;
pub mod rehearse;
mod report;
pub mod stages;
pub mod state;
pub mod watching;
pub mod written;
