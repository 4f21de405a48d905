//! The source text of a lowered test, a line for each instruction of each thread, so that the driver's
//! findings name instructions of the test.

use pellucid_memory::litmus::program::LitmusProgram;
use pellucid_memory::litmus::text;

/// The lines, and where each thread begins.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The name of the file that they stand for.
    pub file: String,
    lines: Vec<String>,
    first: Vec<u32>,
}

impl Lines {
    /// The lines of a program.
    pub fn of(program: &LitmusProgram) -> Lines {
        let mut lines = Vec::new();
        let mut first = Vec::new();
        for thread in &program.threads {
            first.push(lines.len() as u32 + 1);
            for instruction in &thread.code {
                lines.push(format!("P{}: {}", thread.id, text::instruction(program, thread, instruction)));
            }
        }
        Lines { file: format!("{}.litmus", program.name), lines, first }
    }

    /// The line, from 1, of an instruction of a thread.
    pub fn number(&self, thread: usize, pc: usize) -> u32 {
        self.first[thread] + pc as u32
    }

    /// `P0: st.sc0 x, 1`.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.lines.get(number.checked_sub(1)? as usize).map(String::as_str)
    }

    /// All of them.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }
}
