//! Execution of programs: [`plain::dispatch`] over flat memory on host threads, [`modelled::dispatch`] over any memory system under a
//! scheduler.

pub mod modelled;
pub mod plain;
