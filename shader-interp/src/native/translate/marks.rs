//! Where the interpreter of modelled code goes over to machine code.

use super::{Treatment, target};
use crate::code::{Code, Opcode};
use std::ops::Range;

/// Instructions between two that only the interpreter runs, from which on machine code saves more than the
/// two changes cost.
const WORTH: u64 = 16;

/// For each instruction whether the interpreter goes over there: to so many that have encodings, behind one
/// that has none or at the beginning; and at the beginning of a loop that has nothing else, as the
/// interpreter goes on after a turn for which there was no fuel.
pub(super) fn marks(code: &Code, kinds: &[Treatment], loops: &[Range<usize>]) -> Vec<bool> {
    let interpreted = |row: usize| kinds[row] == Treatment::Interpreted;
    let encoded: Vec<&Range<usize>> = loops.iter().filter(|rows| !(*rows).clone().any(interpreted)).collect();
    let starts = |row: usize| encoded.iter().any(|rows| rows.start == row);
    let back = |row: usize| target(&code.code[row]).filter(|to| *to <= row);
    let begins = |row: usize| row == 0 || interpreted(row - 1);
    let follow = |row: usize| {
        let (mut at, mut sum, mut turned) = (row, 0, false);
        while sum < WORTH && !interpreted(at) && code.code[at].op != Opcode::Done {
            let inside = |rows: &&&Range<usize>| rows.contains(&at) && !rows.contains(&row);
            sum += 8u64.pow(encoded.iter().filter(inside).count().min(2) as u32);
            // A turn leads back once.
            at = back(at).filter(|_| !std::mem::replace(&mut turned, true)).unwrap_or(at + 1);
        }
        sum >= WORTH
    };
    (0..kinds.len()).map(|row| !interpreted(row) && (starts(row) || begins(row) && follow(row))).collect()
}
