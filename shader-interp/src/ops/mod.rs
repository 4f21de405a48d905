//! Instructions that are too large for the dispatch loop ([`crate::exec`]), which calls them. Each is a
//! function of whole registers of a subgroup; its operands stand in a table of the program where an
//! instruction has no room for them.
//!
//! | file | instructions |
//! |---|---|
//! | [`group`] | subgroup operations: votes, ballots, shuffles, reductions |
//! | [`image`] | image reads, writes, atomics, fetches, sampling and queries |
//! | `matrix` | products of cooperative matrices |
//! | `memory` | loads, stores and atomics of all storage classes |

pub mod group;
pub mod image;
pub(crate) mod matrix;
pub(crate) mod memory;
