//! Where the interpreter of modelled code goes over to machine code.

use super::{Treatment, target};
use crate::code::{Code, Opcode};

/// Instructions between two that only the interpreter runs, from which on machine code saves more than the
/// two changes cost.
const WORTH: u64 = 16;

/// For each instruction whether it is the first of so many that have encodings, and comes behind one that has
/// none, or first of all, or begins a loop, as the interpreter goes on after a turn for which there was no
/// fuel. `often`: how often an instruction runs, by the loops that it is in.
pub(super) fn marks(code: &Code, kinds: &[Treatment], often: impl Fn(usize) -> u64) -> Vec<bool> {
    let interpreted = |row: usize| kinds[row] == Treatment::Interpreted;
    let back = |row: usize| target(&code.code[row]).filter(|to| *to <= row);
    let mut begins: Vec<bool> = (0..kinds.len()).map(|row| row == 0 || interpreted(row - 1)).collect();
    for row in (0..kinds.len()).filter_map(back) {
        begins[row] = true;
    }
    let follow = |row: usize| {
        let (mut at, mut sum, mut turned) = (row, 0, false);
        while sum < WORTH && !interpreted(at) && code.code[at].op != Opcode::Done {
            sum += (often(at) / often(row)).max(1);
            // A turn leads back once.
            at = back(at).filter(|_| !std::mem::replace(&mut turned, true)).unwrap_or(at + 1);
        }
        sum >= WORTH
    };
    (0..kinds.len()).map(|row| begins[row] && !interpreted(row) && follow(row)).collect()
}
