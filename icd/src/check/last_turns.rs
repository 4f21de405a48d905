//! The last turns of a dispatch that makes no progress: what its agents did, in the order in which they did
//! it, and who waits for whom.

use pellucid_memory::agent::Invocation;
use pellucid_memory::around::{Around, Arrow, Does, Leads, Step};
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use pellucid_memory::system::LANES;
use pellucid_shader_interp::code::Program;
use pellucid_shader_interp::exec::waiting::{Reason, Turn, Waiting};
use std::collections::BTreeMap;

/// Agents whose turns are told: the first ones to have one.
const MOST_AGENTS: usize = 6;

/// Who: workgroup, subgroup and strand.
type Who = (u32, u32, u32);

/// The picture of these turns; `None` where there are none.
pub fn around(
    turns: &[Turn],
    waits: &[Waiting],
    program: &Program,
    invocation: impl Fn(u32, u32, u32) -> Invocation,
) -> Option<Around> {
    let mut agents: Vec<Who> = Vec::new();
    for turn in turns {
        if !agents.contains(&turn.who) && agents.len() < MOST_AGENTS {
            agents.push(turn.who);
        }
    }
    let told: Vec<&Turn> = turns.iter().filter(|turn| agents.contains(&turn.who)).collect();
    let steps: Vec<Step> =
        told.iter().zip(0..).map(|(turn, k)| step(turn, k, program, &invocation)).collect();
    let mut arrows: Vec<Arrow> = Vec::new();
    let mut last: BTreeMap<Who, u32> = BTreeMap::new();
    // Lanes of a subgroup that diverged have an order each.
    let mut before: BTreeMap<(Who, u32), u32> = BTreeMap::new();
    for ((turn, step), to) in told.iter().zip(&steps).zip(0..) {
        last.insert(turn.who, to);
        if let Some(from) = before.insert((turn.who, step.by.local_index), to) {
            arrows.push(Arrow { from, to, leads: Leads::ProgramOrder });
        }
    }
    for wait in waits {
        let who = |wait: &Waiting| (wait.unit.workgroup, wait.unit.subgroup, wait.unit.strand);
        let Some(from) = last.get(&who(wait)) else { continue };
        let holds = |other: &Waiting| match wait.reason {
            Reason::Repeats(_) => wait.wrote.is_some_and(|by| is_of(by, other, &invocation)),
            Reason::Barrier => {
                other.unit.workgroup == wait.unit.workgroup
                    && (other.reason != Reason::Barrier || other.unit.next != wait.unit.next)
            }
            _ => false,
        };
        let others = waits.iter().filter(|other| who(other) != who(wait) && holds(other));
        let others = others.filter_map(|other| last.get(&who(other)));
        arrows.extend(others.map(|to| Arrow { from: *from, to: *to, leads: Leads::WaitsFor }));
    }
    arrows.sort_unstable();
    arrows.dedup();
    let left_out = (turns.len() - told.len()) as u32;
    (!steps.is_empty()).then_some(Around { steps, arrows, available: None, visible: None, left_out })
}

/// Whether an invocation is one of those that wait.
fn is_of(by: Invocation, wait: &Waiting, invocation: &impl Fn(u32, u32, u32) -> Invocation) -> bool {
    lanes(wait.lanes).any(|lane| invocation(wait.unit.workgroup, wait.unit.subgroup, lane) == by)
}

fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..LANES as u32).filter(move |lane| mask >> lane & 1 != 0)
}

fn step(
    turn: &Turn,
    instance: u32,
    program: &Program,
    invocation: &impl Fn(u32, u32, u32) -> Invocation,
) -> Step {
    let (workgroup, subgroup, _) = turn.who;
    let all = lanes(turn.ran).map(|lane| invocation(workgroup, subgroup, lane));
    let by = all.min_by_key(|by| by.local_index).unwrap_or_else(|| invocation(workgroup, subgroup, 0));
    let with = turn.ran.count_ones().saturating_sub(1);
    let of = Step {
        site: turn.site,
        by,
        does: Does::ControlBarrier { instance, execution: Scope::Workgroup },
        atomic: false,
        scope: Scope::Invocation,
        semantics: Semantics::RELAXED,
        class: StorageClasses::empty(),
        place: None,
        available: false,
        visible: false,
        access: None,
        with,
    };
    match turn.access {
        Some(operand) => {
            let memory = program.memory.iter().map(|entry| (entry.site, &entry.access));
            let images = program.images.iter().map(|entry| (entry.site, entry.instruction.access()));
            let mut accesses = memory.chain(images).filter(|(_, access)| access.atomic.is_some());
            let access = accesses.find(|(site, _)| *site == turn.site);
            Step {
                does: Does::Access(operand.kind),
                atomic: operand.atomic.is_some(),
                scope: operand.atomic.unwrap_or(Scope::Invocation),
                semantics: access.map_or(Semantics::RELAXED, |(_, access)| access.semantics),
                class: operand.place.class,
                place: Some(operand.place),
                ..of
            }
        }
        None => {
            let entry = program.barriers.iter().find(|entry| entry.site == turn.site);
            let execution = entry.and_then(|entry| entry.execution).unwrap_or(Scope::Workgroup);
            Step {
                does: Does::ControlBarrier { instance, execution },
                scope: entry.map_or(Scope::Invocation, |entry| entry.memory),
                semantics: entry.map_or(Semantics::RELAXED, |entry| entry.semantics),
                ..of
            }
        }
    }
}
