//! The names that the Khronos Alloy model gives to the sets and relations of an execution.
//!
//! Only the readers of its litmus format speak these names; everything else uses the specification's.

use super::event::DomainOperation;
use super::location::{alloy_chains, alloy_includes};
use super::matrix::{Matrix, Row};
use super::pre_execution::{LEVELS, PreExecution, level};
use super::verdict::{Candidate, Verdict};

const SETS: [&str; 39] = [
    "EV",
    "W",
    "R",
    "F",
    "A",
    "ACQ",
    "REL",
    "SC0",
    "SC1",
    "SC2",
    "SC3",
    "SEMSC0",
    "SEMSC1",
    "SEMSC2",
    "SEMSC3",
    "SEMSC01",
    "SCOPESG",
    "SCOPEWG",
    "SCOPEQF",
    "SCOPEDEV",
    "CBAR",
    "RFINIT",
    "AV",
    "VIS",
    "AVSHADER",
    "VISSHADER",
    "AVQF",
    "VISQF",
    "AVWG",
    "VISWG",
    "AVSG",
    "VISSG",
    "SEMAV",
    "SEMVIS",
    "AVDEVICE",
    "VISDEVICE",
    "NONPRIV",
    "PRIV",
    "AVDV",
];

const RELATIONS: [&str; 45] = [
    "sthd",
    "immpo",
    "pgmsloc",
    "ssg",
    "swg",
    "sqf",
    "ssw",
    "scbarinst",
    "pgmsref",
    "chains",
    "po",
    "posctosem",
    "posemtosc",
    "inscope",
    "mutordatom",
    "sloc",
    "sref",
    "avvisinc",
    "rf",
    "asmo",
    "rs",
    "hypors",
    "fr",
    "sw",
    "ithbsemsc0",
    "ithbsemsc1",
    "ithbsemsc2",
    "ithbsemsc3",
    "ithbsemsc01",
    "hb",
    "avsg",
    "avwg",
    "avqf",
    "avsh",
    "avdv",
    "vissg",
    "viswg",
    "visqf",
    "vissh",
    "visdv",
    "locord",
    "dr",
    "visto",
    "ithbsemsc02",
    "ithbsemsc12",
];

/// Whether a field of this name exists.
pub(crate) fn known(name: &str) -> bool {
    SETS.contains(&name) || RELATIONS.contains(&name)
}

/// The set of this name.
pub(crate) fn set<R: Row>(program: &PreExecution<R>, candidate: &Candidate<R>, name: &str) -> Option<R> {
    let by = |belongs: &dyn Fn(&super::Event) -> bool| {
        let mut row = R::default();
        for (index, event) in program.events.iter().enumerate() {
            if belongs(event) {
                row |= R::bit(index);
            }
        }
        row
    };
    let class = |digits: &str| -> Option<u8> {
        digits.bytes().try_fold(0, |mask, digit| match digit {
            b'0'..=b'3' => Some(mask | 1 << (digit - b'0')),
            _ => None,
        })
    };
    if !SETS.contains(&name) {
        return None;
    }
    if let Some(mask) = name.strip_prefix("SEMSC").and_then(class) {
        return Some(by(&|e| e.semantics.classes.bits() & mask == mask));
    }
    if let Some(mask) = name.strip_prefix("SC").and_then(class) {
        return Some(by(&|e| e.storage_class.bits() & mask != 0));
    }
    let scoped = |wanted: i8| {
        by(&|e| {
            (e.atomic || e.fence || e.barrier.is_some() || e.available || e.visible)
                && level(e.scope) == wanted
        })
    };
    Some(match name {
        "EV" => by(&|_| true),
        "W" => program.write,
        "R" => program.read,
        "F" => program.fence,
        "A" => program.atomic,
        "ACQ" => program.acquire,
        "REL" => program.release,
        "SCOPESG" => scoped(0),
        "SCOPEWG" => scoped(1),
        "SCOPEQF" => scoped(2),
        "SCOPEDEV" => scoped(3),
        "CBAR" => program.barrier,
        "RFINIT" => candidate.initial.iter().fold(R::default(), |all, row| all | *row),
        "AV" => by(&|e| e.available),
        "VIS" => by(&|e| e.visible),
        "AVSG" => program.available_at[0],
        "AVWG" => program.available_at[1],
        "AVQF" => program.available_at[2],
        "AVSHADER" => program.available_at[3],
        "VISSG" => program.visible_at[0],
        "VISWG" => program.visible_at[1],
        "VISQF" => program.visible_at[2],
        "VISSHADER" => program.visible_at[3],
        "SEMAV" => by(&|e| e.semantics.make_available),
        "SEMVIS" => by(&|e| e.semantics.make_visible),
        "AVDEVICE" | "AVDV" => by(&|e| matches!(e.domain, Some(DomainOperation::Availability(..)))),
        "VISDEVICE" => by(&|e| matches!(e.domain, Some(DomainOperation::Visibility(..)))),
        "NONPRIV" => program.non_private,
        "PRIV" => (program.read | program.write) & !program.non_private,
        _ => return None,
    })
}

/// The relation of this name.
pub(crate) fn relation<R: Row>(
    program: &PreExecution<R>,
    candidate: &Candidate<R>,
    verdict: &Verdict<R>,
    name: &str,
) -> Option<Matrix<R>> {
    let n = program.len();
    let all = !R::default();
    let diagonal = |set: R| Matrix::<R>::empty(n).reflexive().between(set, all);
    let ithb = |mask: u8| {
        // A set of classes that no semantics hold orders by system-synchronizes-with and nothing else.
        let known = program.masks.iter().position(|known| known.mask == mask);
        known.map_or_else(
            || program.system_synchronized.clone(),
            |index| verdict.order.inter_thread[index].clone(),
        )
    };
    let chain = |at: usize, visible: bool| {
        let includes = alloy_includes(program, &program.overlap);
        let chains = alloy_chains(program, &verdict.order.happens_before, &includes);
        debug_assert!(at < LEVELS);
        if visible { chains.visible[at].clone() } else { chains.available[at].clone() }
    };
    let accesses = program.read | program.write;
    Some(match name {
        "sthd" => program.same_agent.clone(),
        "immpo" => {
            let order = &program.program_order;
            let mut immediate = order.clone();
            immediate.subtract(&order.compose(order));
            immediate
        }
        "po" => program.program_order.clone(),
        "ssg" => program.same_instance[0].clone(),
        "swg" => program.same_instance[1].clone(),
        "sqf" => program.same_instance[2].clone(),
        "ssw" => program.system_synchronizes.clone(),
        "scbarinst" => Matrix::from_fn(n, |a, b| {
            let instance = |event: usize| program.events[event].barrier.map(|barrier| barrier.instance);
            instance(a).is_some() && instance(a) == instance(b)
        }),
        "chains" => {
            let everything = Matrix::from_fn(n, |_, _| true);
            if program.options.chains { everything } else { diagonal(all) }
        }
        "posctosem" => program.access_then_semantics.clone(),
        "posemtosc" => program.semantics_then_access.clone(),
        "inscope" => program.in_scope.clone(),
        "mutordatom" => program.mutually_ordered.clone(),
        "sloc" | "pgmsloc" => program.overlap.between(accesses, accesses),
        "sref" | "pgmsref" => program.same_reference.clone(),
        "avvisinc" => alloy_includes(program, &program.overlap),
        "rf" => candidate.reads_from_anywhere(program),
        "asmo" => candidate.modification.clone(),
        "rs" => verdict.order.release_sequence.clone(),
        "hypors" => verdict.order.hypothetical_sequence.clone(),
        "fr" => verdict.from_reads.clone(),
        "sw" => verdict.order.synchronizes.clone(),
        "ithbsemsc0" => ithb(1),
        "ithbsemsc1" => ithb(2),
        "ithbsemsc2" => ithb(4),
        "ithbsemsc3" => ithb(8),
        "ithbsemsc01" => ithb(3),
        "ithbsemsc02" => ithb(5),
        "ithbsemsc12" => ithb(6),
        "hb" => verdict.order.happens_before.clone(),
        "avsg" => chain(0, false),
        "avwg" => chain(1, false),
        "avqf" => chain(2, false),
        "avsh" => chain(3, false),
        "vissg" => chain(0, true),
        "viswg" => chain(1, true),
        "visqf" => chain(2, true),
        "vissh" => chain(3, true),
        "avdv" => diagonal(program.domain.available_device),
        "visdv" => diagonal(program.domain.visible_device),
        "locord" => verdict.location_ordered.clone(),
        "dr" => verdict.races(program),
        "visto" => verdict.visible_to(program),
        _ => return None,
    })
}
