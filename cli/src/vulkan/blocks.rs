//! The code of all threads of a litmus test as basic blocks of one state machine.

use super::Refused;
use super::lines::Lines;
use pellucid_memory::litmus::program::{Comparison, Instruction, LitmusProgram, Operand, Thread};
use std::collections::{BTreeMap, BTreeSet};

/// `Pc` of a thread that has ended.
pub(super) const DONE: u32 = u32::MAX;

/// The code of all threads as basic blocks.
pub(super) struct Blocks {
    /// Those of control barriers first.
    pub list: Vec<Block>,
    /// How many of them are control barriers.
    pub barriers: u32,
    /// First block of each thread.
    pub entry: Vec<u32>,
}

pub(super) struct Block {
    /// With their lines in the shader's source text.
    pub instructions: Vec<(u32, Instruction)>,
    pub end: End,
}

pub(super) enum End {
    To(u32),
    /// To the block of a shared barrier, and from there to the second.
    Barrier(u32, u32),
    /// From a shared barrier to where each thread goes on.
    After,
    Branch(Comparison, Operand, Operand, u32, u32),
}

impl Blocks {
    pub fn of(program: &LitmusProgram, lines: &Lines, fine: bool) -> Result<Blocks, Refused> {
        same_barriers(program)?;
        let mut list: Vec<Block> = Vec::new();
        let mut entry = Vec::new();
        // A barrier instance is one static instruction: all threads of a workgroup reach it through one
        // block, and go on by their own.
        let mut barriers: BTreeMap<(u32, String), (u32, Instruction)> = BTreeMap::new();
        for (number, thread) in program.threads.iter().enumerate() {
            for (pc, instruction) in thread.code.iter().enumerate() {
                if let Instruction::ControlBarrier { instance, .. } = instruction {
                    let key = (thread.workgroup, instance.clone());
                    let fresh = (list.len() as u32, instruction.clone());
                    let (block, known) = barriers.entry(key).or_insert(fresh);
                    if known != instruction {
                        return Err(Refused(
                            "with a barrier whose threads name different semantics".to_owned(),
                        ));
                    }
                    if *block == list.len() as u32 {
                        let instructions = vec![(lines.number(number, pc), instruction.clone())];
                        list.push(Block { instructions, end: End::After });
                    }
                }
            }
        }
        let barriers_end = list.len() as u32;
        for (number, thread) in program.threads.iter().enumerate() {
            let n = thread.code.len();
            let mut leader = vec![fine; n + 1];
            leader[0] = true;
            for (pc, instruction) in thread.code.iter().enumerate() {
                match instruction {
                    Instruction::Goto(to) | Instruction::Branch(_, _, _, to) => {
                        leader[*to] = true;
                        leader[pc + 1] = true;
                    }
                    Instruction::ControlBarrier { .. } => {
                        leader[pc] = true;
                        leader[pc + 1] = true;
                    }
                    _ => {}
                }
            }
            let base = list.len() as u32;
            let starts: Vec<usize> = (0..n).filter(|&pc| leader[pc]).collect();
            let block_at = |pc: usize| {
                if pc >= n { DONE } else { base + starts.partition_point(|&s| s < pc) as u32 }
            };
            entry.push(block_at(0));
            for (i, &start) in starts.iter().enumerate() {
                let stop = starts.get(i + 1).copied().unwrap_or(n);
                let end = match thread.code[start..stop].last() {
                    Some(Instruction::Goto(to)) => End::To(block_at(*to)),
                    Some(Instruction::Branch(comparison, a, b, to)) => {
                        End::Branch(*comparison, *a, *b, block_at(*to), block_at(stop))
                    }
                    Some(Instruction::ControlBarrier { instance, .. }) => {
                        End::Barrier(barriers[&(thread.workgroup, instance.clone())].0, block_at(stop))
                    }
                    _ => End::To(block_at(stop)),
                };
                let instructions = (start..stop)
                    .map(|pc| (lines.number(number, pc), thread.code[pc].clone()))
                    .filter(|(_, i)| !matches!(i, Instruction::Label(_) | Instruction::ControlBarrier { .. }))
                    .collect();
                list.push(Block { instructions, end });
            }
        }
        Ok(Blocks { list, barriers: barriers_end, entry })
    }
}

/// The instances of control barriers that a thread names.
pub(super) fn named(thread: &Thread) -> BTreeSet<&str> {
    let code = thread.code.iter();
    code.filter_map(|instruction| match instruction {
        Instruction::ControlBarrier { instance, .. } => Some(instance.as_str()),
        _ => None,
    })
    .collect()
}

/// A workgroup's control barrier waits for every thread that names its instance; a shader's, for every
/// invocation that has not ended. They are the same where the threads that name any instance of a workgroup
/// name all of them.
fn same_barriers(program: &LitmusProgram) -> Result<(), Refused> {
    for (index, a) in program.threads.iter().enumerate() {
        for (other, b) in program.threads.iter().enumerate().skip(index + 1) {
            let (ours, theirs) = (named(a), named(b));
            if program.same_instance(index, other, 1)
                && !ours.is_empty()
                && !theirs.is_empty()
                && ours != theirs
            {
                let what = "with control barriers that name different threads of a workgroup";
                return Err(Refused(what.to_owned()));
            }
        }
    }
    Ok(())
}
