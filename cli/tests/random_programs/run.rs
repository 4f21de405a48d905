//! Runs a random program in check mode under each value policy.

use super::generate;
use super::judge::{Counts, judge};
use super::program::{Program, WORDS};
use super::recorder::Recorder;
use super::shader::{DATA, RESULTS, TEXELS, text};
use pellucid::assemble::assemble;
use pellucid_memory::access::Reference;
use pellucid_memory::agent::Placement;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::history::ValuePolicy;
use pellucid_memory::machine::{MACHINES, Machine};
use pellucid_memory::model::ModelOptions;
use pellucid_memory::progress::ProgressModel;
use pellucid_memory::system::Trap;
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions};
use pellucid_shader_interp::exec::plain::{self, PlainOptions};
use pellucid_shader_interp::exec::progress::ProgressScheduler;
use pellucid_shader_interp::interface::{Descriptor, Grid, ImageView, Resources};
use pellucid_shader_interp::{CompileOptions, Program as Code, compile};
use std::sync::Arc;

/// VK_FORMAT_R32_UINT.
const FORMAT: i32 = 98;

/// The module of a program.
pub fn words(program: &Program) -> Vec<u32> {
    let text = text(program);
    assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Device memory: the data buffer, the texels and the results.
struct Device {
    data: MemoryRange,
    texels: MemoryRange,
    results: MemoryRange,
}

impl Device {
    fn new(program: &Program) -> Device {
        let of = |words: u32, address| {
            let words = vec![0; words.next_multiple_of(2) as usize];
            MemoryRange::of_words(&words, address, Reference(0)).expect("memory")
        };
        Device {
            data: of(WORDS, DATA),
            texels: of(WORDS, TEXELS),
            results: of(program.groups * program.local, RESULTS),
        }
    }

    /// What it holds.
    fn words(&self) -> [Vec<u32>; 3] {
        [&self.data, &self.texels, &self.results].map(MemoryRange::words)
    }

    fn resources(&self, code: &Code) -> Resources {
        let bindings = code.shader.bindings.iter().enumerate().map(|(index, binding)| {
            let of = |range: &MemoryRange| range.through(Reference((index as u32) << 16));
            vec![match binding.binding {
                0 => Descriptor::Buffer(of(&self.results)),
                5 => Descriptor::TexelBuffer(of(&self.texels), FORMAT, WORDS),
                6 => Descriptor::Image(image(of(&self.texels))),
                _ => Descriptor::Buffer(of(&self.data)),
            }]
        });
        let addresses = Arc::new(vec![self.data.clone()]);
        Resources { bindings: bindings.collect(), addresses, ..Resources::default() }
    }
}

/// The texels as eight rows of eight.
fn image(memory: MemoryRange) -> ImageView {
    ImageView {
        memory,
        extent: [8, WORDS / 8, 1],
        layers: 1,
        format: FORMAT,
        row_pitch: 32,
        slice_pitch: 4 * WORDS,
        layer_pitch: 4 * WORDS,
        levels: 1,
        level_offsets: [0; 16],
        level_row_pitch: [32; 16],
        level_slice_pitch: [4 * WORDS; 16],
        samples: 1,
        sample_pitch: 4,
        swizzle: [3, 4, 5, 6],
        chroma: Vec::new(),
    }
}

fn compiled(program: &Program, words: &[u32], modelled: bool) -> Code {
    let options = CompileOptions { subgroup_size: program.subgroup, modelled, ..CompileOptions::default() };
    compile(words, &options).unwrap_or_else(|error| panic!("{error}\n{}", text(program)))
}

/// Runs the program of a seed with each policy. Returns what was counted, and whether final memory was
/// compared; or what is wrong.
pub fn compare(seed: u64) -> Result<(Counts, bool), String> {
    let program = generate::program(seed);
    let words = words(&program);
    let code = compiled(&program, &words, true);
    let grid = Grid { base: [0; 3], groups: [program.groups, 1, 1] };
    let chains = !seed.is_multiple_of(4);
    let mut counts = Counts::default();
    let mut finals: Vec<Device> = Vec::new();
    let drawn = if seed.is_multiple_of(2) { ValuePolicy::Seeded } else { ValuePolicy::Varied };
    let policies =
        [ValuePolicy::Stale, drawn, ValuePolicy::Latest].map(|values| (values, Machine::default()));
    let machines = MACHINES.iter().filter_map(|(_, text)| Machine::parse(text).ok());
    let policies = policies.into_iter().chain(machines.map(|machine| (ValuePolicy::Caches, machine)));
    for (turn, (values, machine)) in policies.enumerate() {
        let options = CheckOptions { values, machine, seed, chains, ..CheckOptions::default() };
        let device = Device::new(&program);
        let resources = device.resources(&code);
        let mut memory = CheckedMemory::new(options);
        let info = DispatchInfo {
            groups: grid.groups,
            workgroup_size: program.local,
            placement: Placement::in_order(program.subgroup),
            semantics: code.semantics(),
            subgroup_barriers: code.has_subgroup_barriers(),
            barriers_alone: code.barriers_alone(),
            non_private_workgroup: code.has_no_private_workgroup(),
            addresses: resources.addresses.clone(),
            variables: code.shader.workgroup.iter().map(|object| (object.offset, object.size)).collect(),
            written: resources.written_by(&code),
            ..DispatchInfo::default()
        };
        memory.begin_dispatch(info.clone());
        let mut recorder = Recorder::new(memory, program.local, program.subgroup);
        let mut scheduler = ProgressScheduler::new(ProgressModel::Fair, 3 * seed + turn as u64);
        let options = ModelledOptions::default();
        modelled::dispatch_over(&code, &grid, &resources, &mut recorder, &mut scheduler, &options)
            .map_err(|trap| format!("{trap}\n{program:#?}"))?;
        let findings = recorder.memory.end_dispatch();
        if let Some(undeclared) = recorder.events.iter().find(|recorded| {
            let classes = recorded.event.semantics.classes;
            !classes.is_empty() && !code.semantics().contains(&classes)
        }) {
            return Err(format!(
                "semantics that the code does not tell of: {:?}\n{program:?}",
                undeclared.event
            ));
        }
        let options = ModelOptions { chains, ..ModelOptions::default() };
        let judged = judge(&recorder.events, &findings, &options).map_err(|wrong| {
            let events: Vec<String> =
                recorder.events.iter().enumerate().map(|(id, e)| shown(id, e)).collect();
            format!("{values:?}, chains {chains}: {wrong}\n{program:?}\n{}", events.join("\n"))
        })?;
        counts.add(&judged);
        rehearse(&mut recorder.memory, info, &device, &|memory| {
            let mut scheduler = ProgressScheduler::steady(ProgressModel::Fair, seed);
            modelled::dispatch(&code, &grid, &resources, memory, &mut scheduler, &ModelledOptions::default())
        })
        .map_err(|wrong| format!("{wrong}\n{program:?}"))?;
        finals.push(device);
    }
    if program.has_atomics() || counts.racing != 0 {
        return Ok((counts, false));
    }
    let code = compiled(&program, &words, false);
    let device = Device::new(&program);
    let resources = device.resources(&code);
    plain::dispatch(&code, &grid, &resources, &PlainOptions::default()).map_err(|trap| trap.to_string())?;
    for other in &finals {
        if other.words() != device.words() {
            return Err(format!("without a race, memory differs in the end\n{program:#?}"));
        }
    }
    Ok((counts, true))
}

/// A rehearsal changes no device memory, and makes the detector no different for what follows.
fn rehearse(
    memory: &mut CheckedMemory,
    info: DispatchInfo,
    device: &Device,
    execute: &dyn Fn(&mut CheckedMemory) -> Result<(), Trap>,
) -> Result<(), String> {
    let before = device.words();
    memory.rehearse(Some((1, ValuePolicy::Latest)));
    memory.begin_dispatch(info);
    execute(memory).map_err(|trap| trap.to_string())?;
    memory.end_dispatch();
    memory.rehearse(None);
    if device.words() == before { Ok(()) } else { Err("a rehearsal changed memory".to_owned()) }
}

fn shown(id: usize, recorded: &super::recorder::Recorded) -> String {
    let e = &recorded.event;
    let flag = |there: bool, name: &'static str| if there { name } else { "" };
    let kind = match (e.read, e.write, e.fence, e.barrier) {
        (true, true, ..) => "update".to_owned(),
        (true, ..) => "read".to_owned(),
        (_, true, ..) => "write".to_owned(),
        (_, _, _, Some(b)) => format!("barrier {} {:?}", b.instance, b.execution),
        _ => "fence".to_owned(),
    };
    let place = e
        .locations
        .map_or(String::new(), |at| format!(" {:#x}+{} ref {:#x}", at.first, at.count, e.reference));
    let s = &e.semantics;
    format!(
        "{id}: site {} agent {} (sg {} wg {}) {kind}{place}{}{}{}{} {:?}{}{}{}{} {:?} {:?} {:?}",
        recorded.site.0,
        e.agent.thread,
        e.agent.subgroup,
        e.agent.workgroup,
        flag(e.atomic, " atomic"),
        flag(e.non_private, " nonprivate"),
        flag(e.available, " av"),
        flag(e.visible, " vis"),
        e.scope,
        flag(s.acquire, " acq"),
        flag(s.release, " rel"),
        flag(s.make_available, " makeav"),
        flag(s.make_visible, " makevis"),
        s.classes,
        recorded.read.map(|(got, newest)| format!("{got:#x} newest {newest:#x}")),
        recorded.sources,
    )
}
