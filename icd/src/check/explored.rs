//! Explore mode: every execution of a dispatch, the outcomes, and the memory of the first.

use super::exploring::Exploring;
use super::info::{Dispatch, check_info, report};
use super::named::Named;
use super::watching::Watching;
use crate::config::{Config, OutcomeBuffer};
use crate::device::Device;
use crate::report::element::Element;
use crate::report::explored::{Explored, Occurrences, Outcome, ShownBuffer};
use pellucid_memory::checked::CheckedMemory;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::explore::Bounds;
use pellucid_memory::finding::Severity;
use pellucid_memory::progress::ProgressModel;
use pellucid_memory::raw;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::exec::explore::{Execution, ExploreOptions, Which, explore};
use pellucid_shader_interp::interface::{Descriptor, Resources};
use pellucid_shader_interp::ir::DescriptorKind;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Bytes of all buffers of one outcome.
const MOST_BYTES: u64 = 1 << 16;

/// The memory of the buffers whose contents make up an outcome.
struct Shown {
    buffers: Vec<ShownBuffer>,
    ranges: Vec<MemoryRange>,
}

impl Shown {
    fn new(config: &Config, program: &Program, resources: &Resources) -> Result<Shown, Trap> {
        let chosen = |set: u32, binding: u32| match config.outcomes.as_slice() {
            [] => Some(Element::U32),
            list => list.iter().find(|o| (o.set, o.binding) == (set, binding)).map(|o| o.element),
        };
        let mut all: BTreeMap<(u32, u32, usize), (Element, MemoryRange)> = BTreeMap::new();
        for (binding, descriptors) in program.shader.bindings.iter().zip(&resources.bindings) {
            if binding.kind != DescriptorKind::StorageBuffer {
                continue;
            }
            let Some(element) = chosen(binding.set, binding.binding) else { continue };
            for (index, descriptor) in descriptors.iter().enumerate() {
                if let Descriptor::Buffer(range) = descriptor {
                    all.insert((binding.set, binding.binding, index), (element, range.clone()));
                }
            }
        }
        let missing =
            |o: &&OutcomeBuffer| !all.keys().any(|(set, binding, _)| (o.set, o.binding) == (*set, *binding));
        if let Some(missing) = config.outcomes.iter().find(missing) {
            let gap = format!(
                "explore mode: outcomes of {}:{}, which is no storage buffer of this dispatch",
                missing.set, missing.binding
            );
            return Err(Trap::NotImplemented(gap));
        }
        let bytes: u64 = all.values().map(|(_, range)| range.size()).sum();
        if bytes > MOST_BYTES {
            let gap = format!(
                "explore mode: outcomes of {bytes} bytes (at most {MOST_BYTES}); choose buffers with PELLUCID_OUTCOMES or --outcomes"
            );
            return Err(Trap::NotImplemented(gap));
        }
        let one = |set: u32, binding: u32| all.keys().filter(|k| (k.0, k.1) == (set, binding)).count() == 1;
        let buffers = all.iter().map(|((set, binding, index), (element, _))| ShownBuffer {
            place: if one(*set, *binding) {
                format!("{set}:{binding}")
            } else {
                format!("{set}:{binding}({index})")
            },
            element: *element,
        });
        let buffers = buffers.collect();
        Ok(Shown { buffers, ranges: all.into_values().map(|(_, range)| range).collect() })
    }

    fn contents(&self) -> Vec<Vec<u8>> {
        let bytes = |range: &MemoryRange| {
            let mut bytes = vec![0; range.size() as usize];
            raw::read(&range.view(), 0, &mut bytes);
            bytes
        };
        self.ranges.iter().map(bytes).collect()
    }
}

/// What executions had in common.
#[derive(Default)]
struct Collected {
    outcomes: BTreeMap<Vec<Vec<u8>>, Outcome>,
    failing: BTreeMap<String, Occurrences>,
    halted: Option<Trap>,
}

/// Explores a dispatch; its memory is then that of the first execution, whose dispatch is still open in
/// `memory`. The trap of a failing execution, if there was one.
pub fn dispatch(
    device: &Device,
    memory: &mut CheckedMemory,
    explored: Dispatch<'_>,
    named: &dyn Fn() -> Named,
) -> Result<(), Trap> {
    let Dispatch { program, grid, resources, number, prints, .. } = explored;
    let config = &device.instance.config;
    if config.progress != ProgressModel::Fair {
        return Err(Trap::NotImplemented("explore mode: progress models other than fair".into()));
    }
    let shown = Shown::new(config, program, resources)?;
    let which = match &config.replay {
        None => Which::All,
        Some(replay) if replay.dispatch == number => Which::Only(&replay.choices),
        Some(_) => Which::First,
    };
    let invocations = grid.groups.iter().chain(&program.shader.local_size).map(|n| u64::from(*n)).product();
    let exploring = Exploring::new(config, number, invocations);
    let options = ExploreOptions {
        bounds: Bounds { executions: config.executions, steps: config.steps },
        which,
        watchdog: config.watchdog(),
        stop: Some(&device.stop),
        until: exploring.until(),
        complete: config.explore_complete,
        prints,
    };
    let begun = || exploring.execution();
    let mut watching = Watching::new(config, explored);
    watching.begun = Some(&begun);
    let mut collected = Collected::default();
    let mut first_trap = None;
    let totals = explore(
        program,
        grid,
        resources,
        memory,
        &check_info(device, explored),
        &mut watching,
        &options,
        &mut |execution: Execution, watching: &mut Watching<'_>| {
            let Execution { choices, outcome, mut findings } = execution;
            findings.append(&mut watching.findings);
            match outcome {
                Ok(()) => {
                    let same = collected.outcomes.entry(shown.contents()).or_default();
                    same.all.add(&choices);
                    if findings.iter().any(|finding| finding.id.severity() == Severity::Error) {
                        same.found.add(&choices);
                    }
                }
                Err(trap) => {
                    collected.failing.entry(trap.to_string()).or_default().add(&choices);
                    first_trap.get_or_insert(trap);
                }
            }
            match report(device, &findings, named, Some(&choices)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(halted) => {
                    collected.halted = Some(halted);
                    ControlFlow::Break(())
                }
            }
        },
    )?;
    let named = named();
    let context = named.context();
    let told = Explored {
        title: context.title(),
        dispatch: number,
        totals: &totals,
        buffers: &shown.buffers,
        outcomes: &collected.outcomes,
        failing: &collected.failing,
        replayed: which != Which::All,
    };
    device.instance.session.explored(&told);
    collected.halted.or(first_trap).map_or(Ok(()), Err)
}
