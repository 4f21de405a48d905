//! The table of options: their names, their help, and what their values set.

use super::{
    Config, DeviceType, HostMemory, Mode, Notes, OutcomeBuffer, Printf, Queues, Replay, Surfaces, profiles,
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

/// All options, in the order in which help shows them.
pub const OPTIONS: &[OptionSpec] = &[
    option(
        "mode",
        "run|check|explore",
        "run (check under `pellucid run`)",
        "flat memory on all cores; the memory model with findings; every schedule",
        |c, v| {
            pick(&mut c.mode, v, &[("run", Mode::Run), ("check", Mode::Check), ("explore", Mode::Explore)])
        },
    ),
    option(
        "seed",
        "N",
        "0",
        "seed of the schedule and of seeded values; equal seeds give equal runs",
        |c, v| number(&mut c.seed, v),
    ),
    option(
        "values",
        "varied|latest|stale|seeded|caches",
        "varied",
        "which value a load returns among those that the model allows: newest, oldest, drawn by the seed, or what caches hold",
        |c, v| {
            pick(
                &mut c.values,
                v,
                &[
                    ("latest", ValuePolicy::Latest),
                    ("stale", ValuePolicy::Stale),
                    ("seeded", ValuePolicy::Seeded),
                    ("varied", ValuePolicy::Varied),
                    ("caches", ValuePolicy::Caches),
                ],
            )
        },
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
    OptionSpec {
        name: "halt-on-error",
        kind: OptionKind::Switch,
        value: "1|0",
        default: "0",
        help: "the first finding loses the device",
        set: |c, v| put(&mut c.halt_on_error, switch(v)),
    },
    option("max-reports", "N", "100", "findings shown in full, 0 for all; all are counted", |c, v| {
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
    option(
        "device-type",
        "cpu|discrete|integrated|virtual|other",
        "cpu",
        "the device type shown to applications, some of which refuse a CPU",
        |c, v| {
            pick(
                &mut c.device_type,
                v,
                &[
                    ("cpu", DeviceType::Cpu),
                    ("discrete", DeviceType::Discrete),
                    ("integrated", DeviceType::Integrated),
                    ("virtual", DeviceType::Virtual),
                    ("other", DeviceType::Other),
                ],
            )
        },
    ),
    OptionSpec {
        name: "no-chains",
        kind: OptionKind::Switch,
        value: "1|0",
        default: "0",
        help: "a device without availability and visibility chains",
        set: |c, v| put(&mut c.chains, switch(v).map(|without| !without)),
    },
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
    option("queues", "compute|pretend-graphics", "compute", "the flags of the first queue family", |c, v| {
        pick(&mut c.queues, v, &[("compute", Queues::Compute), ("pretend-graphics", Queues::PretendGraphics)])
    }),
    option(
        "surfaces",
        "none|pretend",
        "none",
        "pretend: show VK_KHR_surface, VK_KHR_xlib_surface and VK_KHR_swapchain to applications that ask for them and open no window",
        |c, v| pick(&mut c.surfaces, v, &[("none", Surfaces::None), ("pretend", Surfaces::Pretend)]),
    ),
    option(
        "host-memory",
        "non-coherent|coherent",
        "non-coherent",
        "coherent: no memory type has to be flushed or invalidated, for applications that do neither",
        |c, v| {
            let choices = [("non-coherent", HostMemory::NonCoherent), ("coherent", HostMemory::Coherent)];
            pick(&mut c.host_memory, v, &choices)
        },
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
    option(
        "notes",
        "off|on|error",
        "off",
        "in check mode, also tell of what is defined or undesired in few programs only, such as integer divisions by zero; error: as findings",
        |c, v| pick(&mut c.notes, v, &[("off", Notes::Off), ("on", Notes::On), ("error", Notes::Error)]),
    ),
    option(
        "tier",
        "interpreter|compiled|auto",
        "auto",
        "run mode: what runs shaders; auto: machine code for those that have executed much",
        |c, v| {
            let choices =
                [("interpreter", Tier::Interpreter), ("compiled", Tier::Compiled), ("auto", Tier::Auto)];
            pick(&mut c.tier, v, &choices)
        },
    ),
    option(
        "printf",
        "both|stdout|messengers|off",
        "both",
        "where debugPrintf of shaders goes: standard output, debug messengers",
        |c, v| {
            let choices = [
                ("both", Printf::Both),
                ("stdout", Printf::Stdout),
                ("messengers", Printf::Messengers),
                ("off", Printf::Off),
            ];
            pick(&mut c.printf, v, &choices)
        },
    ),
    option(
        "printf-limit",
        "N",
        "65536",
        "messages of debugPrintf of one dispatch, 0 for all; how many are left out is said",
        |c, v| number(&mut c.printf_limit, v),
    ),
    OptionSpec {
        name: "strict",
        kind: OptionKind::Switch,
        value: "1|0",
        default: "0",
        help: "warnings are findings: what is undefined by the letter of the specification and harmless on most devices",
        set: |c, v| put(&mut c.strict, switch(v)),
    },
    OptionSpec {
        name: "validation",
        kind: OptionKind::Switch,
        value: "1|0",
        default: "0",
        help: "`pellucid run` adds the Khronos validation layer, and its messages to the report",
        set: |c, v| put(&mut c.validation, switch(v)),
    },
    OptionSpec {
        name: "summary",
        kind: OptionKind::Internal,
        value: "FOLDER",
        default: "none",
        help: "folder in which each process keeps its totals; set by `pellucid run`",
        set: |c, v| path(&mut c.summary, v),
    },
    OptionSpec {
        name: "occurrences",
        kind: OptionKind::Internal,
        value: "1|0",
        default: "0",
        help: "a line of the report for every occurrence of a finding; set by `pellucid litmus --by vulkan`",
        set: |c, v| put(&mut c.occurrences, switch(v)),
    },
    OptionSpec {
        name: "communication",
        kind: OptionKind::Internal,
        value: "1|0",
        default: "0",
        help: "a line of the report for every pair of instructions that communicate; set by `pellucid hunt`",
        set: |c, v| put(&mut c.communication, switch(v)),
    },
    OptionSpec {
        name: "capture",
        kind: OptionKind::Internal,
        value: "N:FOLDER",
        default: "none",
        help: "the dispatch that is written into a folder, and the program waits; set by `pellucid debug`",
        set: |c, v| put(&mut c.capture, Wanted::parse(v).map(Some)),
    },
    OptionSpec {
        name: "command",
        kind: OptionKind::Internal,
        value: "TEXT",
        default: "none",
        help: "the command that a replay line repeats; set by `pellucid run` and `pellucid exec`",
        set: |c, v| put(&mut c.command, Some(Some(v.to_owned()))),
    },
];

/// The row of an option, by the name that its flag has.
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|spec| spec.name == name)
}
