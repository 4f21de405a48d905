//! The dispatches of a litmus test: what its system-synchronizes-with and domain operations become between
//! commands.

use super::Refused;
use pellucid_memory::litmus::program::{Instruction, LitmusProgram};

/// What stands between a dispatch and the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// There is none before.
    First,
    /// An execution dependency: system-synchronizes-with alone.
    Execution,
    /// With availability in the device domain.
    Available,
    /// With visibility from the device domain.
    Visible,
    /// With both.
    Memory,
}
/// The dispatch that each thread runs in, and what stands between them.
pub(super) fn phases(program: &LitmusProgram) -> Result<(Vec<u32>, Vec<Phase>), Refused> {
    let refuse = |what: &str| Err(Refused(what.to_owned()));
    let n = program.threads.len();
    let pairs = &program.system_synchronizes;
    let mut level = vec![0u32; n];
    for round in 0..=n {
        let mut changed = false;
        for &(a, b) in pairs {
            if level[b] <= level[a] {
                level[b] = level[a] + 1;
                changed = true;
            }
        }
        if changed && round == n {
            return refuse("with a cycle of system-synchronizes-with");
        }
    }
    let reaches = |a: usize, b: usize| {
        let mut seen = vec![a];
        let mut next = 0;
        while next < seen.len() {
            for &(from, to) in pairs {
                if from == seen[next] && !seen.contains(&to) {
                    seen.push(to);
                }
            }
            next += 1;
        }
        seen.contains(&b)
    };
    for a in 0..n {
        for b in 0..n {
            if level[a] < level[b] && !reaches(a, b) {
                return refuse("with system-synchronizes-with that is not a barrier between dispatches");
            }
        }
    }
    let depth = level.iter().max().map_or(1, |l| l + 1);
    let is_domain = |i: &Instruction| matches!(i, Instruction::AvailableDevice | Instruction::VisibleDevice);
    let mut dispatch = vec![0u32; n];
    let mut phases: Vec<Phase> = Vec::new();
    let (mut available, mut visible) = (false, false);
    for l in 0..depth {
        let members: Vec<usize> = (0..n).filter(|&t| level[t] == l).collect();
        let mut edges = None;
        let mut barrier_only = 0;
        for &t in &members {
            let code = &program.threads[t].code;
            let head: Vec<_> = code.iter().take_while(|i| is_domain(i)).collect();
            barrier_only += usize::from(head.len() == code.len() && !code.is_empty());
            let tail = code[head.len()..].iter().rev().take_while(|i| is_domain(i)).collect::<Vec<_>>();
            if code[head.len()..code.len() - tail.len()].iter().any(is_domain) {
                return refuse("with a domain operation inside a dispatch");
            }
            let tail: Vec<_> = tail.into_iter().rev().collect();
            if *edges.get_or_insert_with(|| (head.clone(), tail.clone())) != (head, tail) {
                return refuse("with domain operations of some threads only");
            }
        }
        let (head, tail) = edges.unwrap_or_default();
        if barrier_only != 0 && barrier_only != members.len() {
            return refuse("with domain operations of some threads only");
        }
        pass(&head, &mut available, &mut visible)?;
        if barrier_only == 0 {
            for &t in &members {
                dispatch[t] = phases.len() as u32;
            }
            let first = phases.is_empty();
            phases.push(match (available, visible) {
                (false, false) if first => Phase::First,
                _ if first => return refuse("with a domain operation before the first dispatch"),
                (false, false) => Phase::Execution,
                (true, false) => Phase::Available,
                (false, true) => Phase::Visible,
                (true, true) => Phase::Memory,
            });
            (available, visible) = (false, false);
            pass(&tail, &mut available, &mut visible)?;
        }
    }
    Ok((dispatch, phases))
}

/// Adds domain operations to the barrier that is being put together.
fn pass(operations: &[&Instruction], available: &mut bool, visible: &mut bool) -> Result<(), Refused> {
    for operation in operations {
        match operation {
            Instruction::AvailableDevice if *visible => {
                return Err(Refused(
                    "with an availability operation after a visibility operation".to_owned(),
                ));
            }
            Instruction::AvailableDevice => *available = true,
            _ => *visible = true,
        }
    }
    Ok(())
}
