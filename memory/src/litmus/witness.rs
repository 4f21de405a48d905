//! Witness executions: what an answer rests on.

use crate::model::{Execution, ModelOptions, Race};

use super::program::{LitmusProgram, Pc, Term};
use super::text;

/// An event of a witness, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The thread that executes it (index).
    pub thread: usize,
    /// The name of the thread: `P0`.
    pub agent: String,
    /// As the file writes it.
    pub instruction: String,
    /// Its place in the thread's code.
    pub pc: Pc,
    /// The variable accessed.
    pub variable: Option<String>,
    /// The value read.
    pub read: Option<i64>,
    /// The value written.
    pub written: Option<i64>,
}

/// One consistent execution with what it shows.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The execution: judge it again for any relation.
    pub execution: Execution,
    /// The options under which it was found.
    pub options: ModelOptions,
    /// The events' labels, by event.
    pub labels: Vec<Label>,
    /// Reads-from: the write (`None`: the initial value) and the read.
    pub reads_from: Vec<(Option<u32>, u32)>,
    /// Scoped modification order, immediate pairs.
    pub modification: Vec<(u32, u32)>,
    /// The data races.
    pub races: Vec<Race>,
    /// The observed final state.
    pub state: Vec<(Term, i64)>,
    /// The names of the observed terms, in the order of `state`.
    pub names: Vec<String>,
}

pub(super) fn label(program: &LitmusProgram, thread: usize, pc: Pc) -> Label {
    let code = &program.threads[thread];
    Label {
        thread,
        agent: format!("P{}", code.id),
        instruction: text::instruction(program, code, &code.code[pc]),
        pc,
        variable: match &code.code[pc] {
            super::program::Instruction::Store(access, _)
            | super::program::Instruction::Load(access, _)
            | super::program::Instruction::ReadModifyWrite(access, ..) => {
                Some(program.variables[access.variable].name.clone())
            }
            _ => None,
        },
        read: None,
        written: None,
    }
}
