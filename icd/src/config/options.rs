//! The table of options: their names, their help, and what their values set.

use super::{
    ApiVersion, Coherence, Config, DeviceType, HostCoherence, Mode, OutcomeBuffer, Printf, Queues, Replay,
    SubgroupSizes, Surfaces, TellNotes, profiles,
};
use crate::capture::wanted::Wanted;
use crate::report::element::Element;
use pellucid_memory::history::ValuePolicy;
use pellucid_shader_interp::tier::Tier;
use std::path::PathBuf;

/// How an option is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `--name VALUE`, `PELLUCID_NAME=VALUE`.
    Value,
    /// `--name`, `PELLUCID_NAME=1`.
    Switch,
    /// A variable that the command sets for the driver, without a flag.
    Internal,
}

/// One row of the table of options.
pub struct OptionSpec {
    /// Its name, as a flag has it: `max-reports`.
    pub name: &'static str,
    /// How it is given.
    pub kind: OptionKind,
    /// What a value looks like: `run|check|explore`, `N`, `FILE`.
    pub value: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// One sentence.
    pub help: &'static str,
    pub(super) set: fn(&mut Config, &str) -> bool,
}

impl OptionSpec {
    /// The environment variable: `PELLUCID_MAX_REPORTS`.
    pub fn variable(&self) -> String {
        format!("PELLUCID_{}", self.name.replace('-', "_").to_ascii_uppercase())
    }

    /// The same without a flag.
    const fn internal(self) -> OptionSpec {
        OptionSpec { kind: OptionKind::Internal, ..self }
    }
}

fn put<T>(slot: &mut T, value: Option<T>) -> bool {
    match value {
        Some(value) => {
            *slot = value;
            true
        }
        None => false,
    }
}

fn pick<T: Copy>(slot: &mut T, text: &str, choices: &[(&str, T)]) -> bool {
    put(slot, choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value))
}

fn number<T: std::str::FromStr>(slot: &mut T, text: &str) -> bool {
    put(slot, text.parse().ok())
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

fn outcomes(text: &str) -> Option<Vec<OutcomeBuffer>> {
    let buffer = |text: &str| {
        let (place, element) = text.split_once('=').unwrap_or((text, "u32"));
        let (set, binding) = place.split_once(':')?;
        let (set, binding) = (set.parse().ok()?, binding.parse().ok()?);
        Some(OutcomeBuffer { set, binding, element: Element::parse(element).ok()? })
    };
    text.split(',').map(buffer).collect()
}

fn version(text: &str) -> Option<[u8; 4]> {
    let parts: Option<Vec<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

fn replay(text: &str) -> Option<Replay> {
    let (dispatch, choices) = text.split_once(':')?;
    Some(Replay { dispatch: dispatch.parse().ok()?, choices: choices.parse().ok()? })
}

fn path(slot: &mut Option<PathBuf>, text: &str) -> bool {
    put(slot, (!text.is_empty()).then(|| Some(PathBuf::from(text))))
}

const fn option(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    help: &'static str,
    set: fn(&mut Config, &str) -> bool,
) -> OptionSpec {
    OptionSpec { name, kind: OptionKind::Value, value, default, help, set }
}

const fn flag(name: &'static str, help: &'static str, set: fn(&mut Config, &str) -> bool) -> OptionSpec {
    OptionSpec { kind: OptionKind::Switch, ..option(name, "1|0", "0", help, set) }
}

/// The row of an option that is one of these.
macro_rules! choice {
    ($name:literal, $default:literal, $help:literal, $field:ident is
        $first:literal: $first_value:expr, $($text:literal: $value:expr),+ $(,)?) => {
        option($name, concat!($first $(, "|", $text)+), $default, $help, |c, v| {
            pick(&mut c.$field, v, &[($first, $first_value), $(($text, $value)),+])
        })
    };
}

/// All options, in the order in which help shows them.
pub const OPTIONS: &[OptionSpec] = &[
    choice!(
        "mode", "run; under the command pellucid, check",
        "flat memory on all cores; the memory model with findings; every schedule",
        mode is "run": Mode::Run, "check": Mode::Check, "explore": Mode::Explore
    ),
    option(
        "seed",
        "N",
        "0",
        "seed of the schedule and of seeded values; equal seeds give equal runs",
        |c, v| number(&mut c.seed, v),
    ),
    choice!(
        "values", "varied",
        "which value a load returns among those that the model allows: newest, oldest, drawn by the seed, or what caches hold",
        values is "varied": ValuePolicy::Varied, "latest": ValuePolicy::Latest, "stale": ValuePolicy::Stale,
            "seeded": ValuePolicy::Seeded, "caches": ValuePolicy::Caches
    ),
    option(
        "machine",
        "desktop|tiled|integrated|FILE",
        "tiled",
        "whose caches values come from, by name or description; implies the values `caches`",
        |_, v| !v.is_empty(),
    ),
    option(
        "progress",
        "fair|obe|lobe|hsa|hsa-obe",
        "fair",
        "who is guaranteed to run again: all; those that have started; these and those before them; the first; the first and those that have started",
        |c, v| number(&mut c.progress, v),
    ),
    option("report", "FILE", "none", "write findings to FILE, one JSON object a line", |c, v| {
        path(&mut c.report, v)
    }),
    option(
        "exitcode",
        "N",
        "66 under `pellucid run`",
        "exit status of a program that ended well but had findings, 0 to 255",
        |c, v| put(&mut c.exitcode, v.parse().ok().map(Some)),
    ),
    flag("halt-on-error", "the first finding loses the device", |c, v| put(&mut c.halt_on_error, switch(v))),
    option("max-reports", "N", "100", "findings, notes, and outcomes of explore mode, shown in full, each, 0 for all; all are counted, and a report has all", |c, v| {
        number(&mut c.max_reports, v)
    }),
    option(
        "suppressions",
        "FILE",
        "none",
        "file of rules for findings that are not to be reported",
        |c, v| path(&mut c.suppressions, v),
    ),
    option(
        "shaders",
        "REGEX",
        "all",
        "check only shaders whose entry point, source file or pipeline name matches",
        |c, v| put(&mut c.shaders, regex::Regex::new(v).ok().map(Some)),
    ),
    option("subgroup-size", "1|2|4|8|16|32", "32", "invocations in a subgroup", |c, v| {
        put(&mut c.subgroup_size, v.parse::<u32>().ok().filter(|n| n.is_power_of_two() && *n <= 32))
    }),
    choice!(
        "subgroup-sizes", "all",
        "the subgroup sizes that pipelines can ask for: 1 to 32, or that of subgroup-size alone",
        subgroup_sizes is "all": SubgroupSizes::All, "one": SubgroupSizes::One
    ),
    choice!(
        "workgroup-memory", "as-written",
        "accesses of workgroup memory without NonPrivatePointer, in modules with the Vulkan memory model: private, or as in other modules",
        workgroup_memory is "as-written": Coherence::AsWritten, "coherent": Coherence::Coherent
    ),
    choice!(
        "storage-memory", "as-written",
        "accesses of storage buffers and images that are neither Coherent nor NonPrivate: private, or coherent in their workgroup, as HLSL and WGSL mean them",
        storage_memory is "as-written": Coherence::AsWritten, "coherent": Coherence::Coherent
    ),
    option(
        "max-workgroup-invocations",
        "128 to 1024",
        "1024",
        "the limit maxComputeWorkGroupInvocations",
        |c, v| {
            put(&mut c.max_workgroup_invocations, v.parse::<u32>().ok().filter(|n| (128..=1024).contains(n)))
        },
    ),
    option(
        "threads",
        "0 to 1024",
        "0",
        "host threads for shaders, 0 for one per core; no result depends on it",
        |c, v| put(&mut c.threads, v.parse().ok().filter(|n| *n <= 1024)),
    ),
    choice!(
        "device-type", "cpu",
        "the device type shown to applications, some of which refuse a CPU",
        device_type is "cpu": DeviceType::Cpu, "discrete": DeviceType::Discrete,
            "integrated": DeviceType::Integrated, "virtual": DeviceType::Virtual, "other": DeviceType::Other
    ),
    flag("no-chains", "a device without availability and visibility chains", |c, v| {
        put(&mut c.chains, switch(v).map(|without| !without))
    }),
    option(
        "stale-budget",
        "N",
        "64",
        "reads of one stale value in a row before a newer one is seen",
        |c, v| number(&mut c.stale_budget, v),
    ),
    option(
        "rehearsals",
        "0 to 1000",
        "7",
        "other executions of a small dispatch that are tried before it, where atomics decide something",
        |c, v| put(&mut c.rehearsals, v.parse().ok().filter(|n| *n <= 1000)),
    ),
    choice!(
        "queues", "compute",
        "the flags of the first queue family",
        queues is "compute": Queues::Compute, "pretend-graphics": Queues::PretendGraphics
    ),
    choice!(
        "surfaces", "none",
        "pretend: show VK_KHR_surface, VK_KHR_xlib_surface and VK_KHR_swapchain to applications that ask for them and open no window",
        surfaces is "none": Surfaces::None, "pretend": Surfaces::Pretend
    ),
    choice!(
        "host-memory", "non-coherent",
        "coherent: no memory type has to be flushed or invalidated, for applications that do neither",
        host_memory is "non-coherent": HostCoherence::NonCoherent, "coherent": HostCoherence::Coherent
    ),
    choice!(
        "api-version", "1.4",
        "the version of Vulkan shown to applications",
        api_version is "1.3": ApiVersion::V1_3, "1.4": ApiVersion::V1_4
    ),
    option(
        "conformance-version",
        "A.B.C.D",
        "0.0.0.0",
        "the conformanceVersion shown to applications, some of which refuse a device that passed no version of the conformance suite",
        |c, v| put(&mut c.conformance_version, version(v)),
    ),
    option(
        "for",
        profiles::NAMES,
        "none",
        "show the device as that client wants to see it; options that are given as well come first",
        |c, v| put(&mut c.profile, profiles::find(v).map(Some)),
    ),
    option(
        "executions",
        "N",
        "100000",
        "explore mode: executions of one dispatch that are started at most",
        |c, v| put(&mut c.executions, v.parse().ok().filter(|n| *n > 0)),
    ),
    option("steps", "N", "20000", "explore mode: steps of one execution at most", |c, v| {
        put(&mut c.steps, v.parse().ok().filter(|n| *n > 0))
    }),
    option(
        "outcomes",
        "SET:BINDING[=TYPE],...",
        "all storage buffers",
        "explore mode: buffers whose final contents make up the outcomes, and how they are shown",
        |c, v| put(&mut c.outcomes, outcomes(v)),
    ),
    option(
        "replay",
        "DISPATCH:CHOICES",
        "none",
        "explore mode: one execution of that dispatch, as a report names it; of others the first",
        |c, v| put(&mut c.replay, replay(v).map(Some)),
    ),
    option(
        "watchdog",
        "N",
        "none",
        "turns of loops of a subgroup in one dispatch before the device is lost, 0 for no limit; 2147483648 without it, in check mode 1073741824; accesses that others may see count as 64",
        |c, v| put(&mut c.watchdog, v.parse().ok().map(Some)),
    ),
    option(
        "spins",
        "N",
        "8388608",
        "operations while all subgroups only wait in loops before the device is lost, 0 for no limit",
        |c, v| number(&mut c.spins, v),
    ),
    choice!(
        "notes", "off",
        "in check mode, also tell of what is defined or undesired in few programs only, such as integer divisions by zero; error: as findings",
        notes is "off": TellNotes::Off, "on": TellNotes::On, "error": TellNotes::Error
    ),
    choice!(
        "tier", "auto",
        "what runs shaders, in check mode between their accesses; auto: machine code for those that have executed much",
        tier is "interpreter": Tier::Interpreter, "compiled": Tier::Compiled, "auto": Tier::Auto
    ),
    choice!(
        "printf", "both",
        "where debugPrintf of shaders goes: standard output, debug messengers",
        printf is "both": Printf::Both, "stdout": Printf::Stdout, "messengers": Printf::Messengers,
            "off": Printf::Off
    ),
    option(
        "printf-limit",
        "N",
        "65536",
        "messages of debugPrintf of one dispatch, 0 for all; how many are left out is said",
        |c, v| number(&mut c.printf_limit, v),
    ),
    flag(
        "strict",
        "warnings are findings: what is undefined by the letter of the specification and harmless on most devices",
        |c, v| put(&mut c.strict, switch(v)),
    ),
    flag(
        "validation",
        "`pellucid run` adds the Khronos validation layer, and its messages to the report",
        |c, v| put(&mut c.validation, switch(v)),
    ),
    option(
        "summary",
        "FOLDER",
        "none",
        "folder in which each process keeps its totals; set by `pellucid run`",
        |c, v| path(&mut c.summary, v),
    )
    .internal(),
    flag(
        "occurrences",
        "a line of the report for every occurrence of a finding; set by `pellucid litmus --by vulkan`",
        |c, v| put(&mut c.occurrences, switch(v)),
    )
    .internal(),
    flag(
        "communication",
        "a line of the report for every pair of instructions that communicate; set by `pellucid hunt`",
        |c, v| put(&mut c.communication, switch(v)),
    )
    .internal(),
    option(
        "explore-time",
        "SECONDS",
        "none",
        "explore mode: no execution of a dispatch begins after so many seconds; set by `pellucid explore --time`",
        |c, v| put(&mut c.explore_time, v.parse().ok().map(Some)),
    )
    .internal(),
    flag(
        "explore-complete",
        "explore mode: an exploration that cannot be complete ends at once; set by `pellucid hunt`",
        |c, v| put(&mut c.explore_complete, switch(v)),
    )
    .internal(),
    option(
        "capture",
        "N:FOLDER",
        "none",
        "the dispatch that is written into a folder, and the program waits; set by `pellucid debug`",
        |c, v| put(&mut c.capture, Wanted::parse(v).map(Some)),
    )
    .internal(),
    option(
        "command",
        "TEXT",
        "none",
        "the command that a replay line repeats; set by `pellucid run` and `pellucid exec`",
        |c, v| put(&mut c.command, Some(Some(v.to_owned()))),
    )
    .internal(),
];

/// The row of an option, by the name that its flag has.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|spec| spec.name == name)
}
