//! What the user chose: every option of Pellucid, typed.
//!
//! [`OPTIONS`] is the one table of options. The driver's environment variables (`PELLUCID_<NAME>`), the flags
//! of the `pellucid` command and `pellucid help options` are all made of it, so that an option cannot exist
//! in one of them alone. An unknown variable or a bad value is an error that names the valid ones; nothing is
//! ignored.

mod options;

pub mod profiles;

pub use self::options::{OPTIONS, OptionKind, OptionSpec, find};
use crate::capture::wanted::Wanted;
use crate::report::element::Element;
use pellucid_memory::explore::{Bounds, Choices};
use pellucid_memory::history::ValuePolicy;
use pellucid_memory::machine::{HostCache, Machine};
use pellucid_memory::progress::ProgressModel;
use pellucid_shader_interp::tier::Tier;
use profiles::Profile;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the driver does with the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Flat, coherent memory; workgroups on all cores; traps only.
    Run,
    /// The Vulkan memory model: deterministic by seed, stale values, findings.
    Check,
    /// Every schedule and reads-from choice.
    Explore,
}

impl Mode {
    /// Whether dispatches run over the memory model.
    pub fn modelled(self) -> bool {
        self != Mode::Run
    }
}

/// A buffer whose contents are part of the outcomes of exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutcomeBuffer {
    /// Descriptor set.
    pub set: u32,
    /// Within the set.
    pub binding: u32,
    /// How its elements are shown.
    pub element: Element,
}

/// One execution of one explored dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The number of the dispatch on its device.
    pub dispatch: u32,
    /// The choices of its execution.
    pub choices: Choices,
}

/// The `VkPhysicalDeviceType` that the device shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DeviceType {
    Other,
    Integrated,
    Discrete,
    Virtual,
    Cpu,
}

impl DeviceType {
    /// The number of the `VkPhysicalDeviceType`.
    pub fn vk(self) -> i32 {
        match self {
            DeviceType::Other => 0,
            DeviceType::Integrated => 1,
            DeviceType::Discrete => 2,
            DeviceType::Virtual => 3,
            DeviceType::Cpu => 4,
        }
    }
}

/// The queue flags that the queue family shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// COMPUTE and TRANSFER.
    Compute,
    /// GRAPHICS as well, for applications that refuse a device without it; drawing is refused by name.
    PretendGraphics,
}

/// The subgroup sizes that pipelines can ask for (VK_EXT_subgroup_size_control).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubgroupSizes {
    /// 1 to 32.
    All,
    /// The one that pipelines have which ask for none.
    One,
}

/// Accesses of some memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coherence {
    /// Private where the module does not say otherwise.
    AsWritten,
    /// All are non-private, and available and visible at the scope Workgroup: for what compilers wrote that
    /// leave it out.
    Coherent,
}

/// The extensions of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surfaces {
    /// They are not there.
    None,
    /// VK_KHR_surface, VK_KHR_xlib_surface and VK_KHR_swapchain, for applications that enable them without
    /// opening a window; creating a surface is refused by name.
    Pretend,
}

/// The version of Vulkan that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiVersion {
    /// 1.3.
    V1_3,
    /// 1.4.
    V1_4,
}

/// Whether memory that the host can map has to be flushed and invalidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCoherence {
    /// One memory type has to.
    NonCoherent,
    /// None has to.
    Coherent,
}

/// Whether check mode tells what is undefined or undesired in few programs only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TellNotes {
    /// Not at all.
    Off,
    /// As notes, which change no exit status.
    On,
    /// As findings.
    Error,
}

/// Where goes what shaders print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printf {
    /// To standard output and to debug messengers.
    Both,
    /// To standard output.
    Stdout,
    /// To debug messengers.
    Messengers,
    /// Nowhere.
    Off,
}

/// All options, with their values.
#[derive(Clone, Debug)]
pub struct Config {
    /// `mode`.
    pub mode: Mode,
    /// `seed`: of the schedule, and of values where they are seeded.
    pub seed: u64,
    /// `values`, in check mode.
    pub values: ValuePolicy,
    /// `machine`: whose caches values come from, with `caches`.
    pub machine: Machine,
    /// `progress`: to whom the schedules of check mode guarantee progress.
    pub progress: ProgressModel,
    /// `report`: a file that gets one JSON object a line.
    pub report: Option<PathBuf>,
    /// `exitcode`: the status of a process that ended well but had findings. Without it the driver leaves the
    /// status alone, and `pellucid run` turns 0 into 66.
    pub exitcode: Option<u8>,
    /// `halt-on-error`: the first finding that is not suppressed loses the device.
    pub halt_on_error: bool,
    /// `max-reports`: findings shown in full; 0 for all. All are counted.
    pub max_reports: u32,
    /// `suppressions`: a file of rules.
    pub suppressions: Option<PathBuf>,
    /// `shaders`: check only the shaders whose entry point, source file or pipeline name matches; the others
    /// run plainly.
    pub shaders: Option<regex::Regex>,
    /// `subgroup-size`: a power of two, 1 to 32.
    pub subgroup_size: u32,
    /// `subgroup-sizes`: which ones pipelines can ask for.
    pub subgroup_sizes: SubgroupSizes,
    /// `workgroup-memory`: accesses of it in modules that declare the Vulkan memory model.
    pub workgroup_memory: Coherence,
    /// `storage-memory`: accesses of storage buffers and storage images.
    pub storage_memory: Coherence,
    /// `max-workgroup-invocations`: the limits `maxComputeWorkGroupInvocations` and
    /// `maxComputeWorkGroupSize.x` and `.y`.
    pub max_workgroup_invocations: u32,
    /// `threads`: host threads for shaders; 0 for one per core. No result depends on it.
    pub threads: u32,
    /// `device-type`: what applications are told that the device is.
    pub device_type: DeviceType,
    /// False by `no-chains`: availability and visibility chains
    /// (`vulkanMemoryModelAvailabilityVisibilityChains`).
    pub chains: bool,
    /// `stale-budget`: after so many reads of one stale entry in a row an invocation sees a newer one.
    pub stale_budget: u32,
    /// `rehearsals`: executions of a small dispatch that are tried before the one that counts, where atomics
    /// decide something; with `varied` values.
    pub rehearsals: u32,
    /// `queues`: what the first queue family is shown as.
    pub queues: Queues,
    /// `surfaces`.
    pub surfaces: Surfaces,
    /// `host-memory`.
    pub host_memory: HostCoherence,
    /// `conformance-version`: major, minor, subminor, patch.
    pub conformance_version: [u8; 4],
    /// `api-version`: `apiVersion` of instance and device.
    pub api_version: ApiVersion,
    /// `for`: the profile whose options hold where none is given.
    pub profile: Option<&'static Profile>,
    /// `executions`: of one dispatch, in explore mode.
    pub executions: u64,
    /// `steps`: of one execution, in explore mode.
    pub steps: u64,
    /// `explore-time`: seconds after which explore mode begins no further execution of a dispatch.
    pub explore_time: Option<u64>,
    /// `explore-complete`: explore mode ends an exploration that cannot be complete any more.
    pub explore_complete: bool,
    /// `outcomes`: the buffers whose contents make up the outcomes of exploration; empty for all storage
    /// buffers.
    pub outcomes: Vec<OutcomeBuffer>,
    /// `replay`: explore mode makes this execution of one dispatch only, and the first execution of all
    /// others.
    pub replay: Option<Replay>,
    /// `watchdog`: turns of loops that a subgroup may take in one dispatch before the device is lost; 0 for
    /// no limit. [`Config::watchdog`] says what holds without it.
    pub watchdog: Option<u64>,
    /// `spins`: atomics, barriers and the like in a row, or 64 turns of loops each in run mode, in which
    /// nothing that runs does anything but wait in a loop, before the device is lost; 0 for no limit.
    pub spins: u64,
    /// `tier`: what runs shaders. No result depends on it.
    pub tier: Tier,
    /// `notes`: what is told beside findings.
    pub notes: TellNotes,
    /// `printf`: where the messages of debugPrintf go.
    pub printf: Printf,
    /// `printf-limit`: messages of one dispatch; 0 for all.
    pub printf_limit: u64,
    /// `strict`: warnings are findings.
    pub strict: bool,
    /// `validation`: the messages of the validation layer are findings.
    pub validation: bool,
    /// `summary`: a folder in which each process keeps a file with its totals, a JSON object; whoever reads
    /// them prints the total line.
    pub summary: Option<PathBuf>,
    /// A line of the report for every occurrence of a finding after its first.
    pub occurrences: bool,
    /// A line of the report for every pair of instructions that communicate.
    pub communication: bool,
    /// The dispatch that is captured for `pellucid debug`.
    pub capture: Option<Wanted>,
    /// The command line that a report's `replay` line repeats; set by `pellucid run`.
    pub command: Option<String>,
    /// Names and values of the options that were set, by name.
    pub given: BTreeMap<&'static str, String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mode: Mode::Run,
            seed: 0,
            values: ValuePolicy::Varied,
            machine: Machine::default(),
            progress: ProgressModel::Fair,
            report: None,
            exitcode: None,
            halt_on_error: false,
            max_reports: 100,
            suppressions: None,
            shaders: None,
            subgroup_size: 32,
            subgroup_sizes: SubgroupSizes::All,
            workgroup_memory: Coherence::AsWritten,
            storage_memory: Coherence::AsWritten,
            max_workgroup_invocations: 1024,
            threads: 0,
            device_type: DeviceType::Cpu,
            chains: true,
            stale_budget: 64,
            rehearsals: 7,
            queues: Queues::Compute,
            surfaces: Surfaces::None,
            host_memory: HostCoherence::NonCoherent,
            conformance_version: [0; 4],
            api_version: ApiVersion::V1_4,
            profile: None,
            executions: Bounds::default().executions,
            steps: Bounds::default().steps,
            explore_time: None,
            explore_complete: false,
            outcomes: Vec::new(),
            replay: None,
            watchdog: None,
            spins: 1 << 23,
            notes: TellNotes::Off,
            tier: Tier::Auto,
            printf: Printf::Both,
            printf_limit: 1 << 16,
            strict: false,
            validation: false,
            summary: None,
            occurrences: false,
            communication: false,
            capture: None,
            command: None,
            given: BTreeMap::new(),
        }
    }
}

/// Why caches do not say what explore mode reads, and what does what may be meant.
const EXPLORED_CACHES: &str = "explore mode reads every value that the memory model allows, so also each \
    that the caches of a machine would give, and caches choose among none: leave --values caches and \
    --machine away; what a machine shows by chance: pellucid hunt, or pellucid exec --seeds 0..64, with \
    --machine NAME";

/// Why the caches of a machine say nothing in run mode, and under another policy.
const RUN_CACHES: &str = "run mode has one value for each location, and no caches that could hold another: \
    --machine is for check mode";
const UNASKED_CACHES: &str = "values come either from the caches of a machine or by another policy: leave \
    --machine away, or --values, which is caches with --machine";

/// Why a configuration was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A variable that begins with `PELLUCID_` and is none of ours.
    #[error("unknown variable {variable}; the variables of Pellucid are: {valid}")]
    Unknown {
        /// As the environment has it.
        variable: String,
        /// All valid names, comma-separated.
        valid: String,
    },
    /// A value that the option does not take.
    #[error("{option}: bad value \"{value}\"; valid: {expected}")]
    Value {
        /// The flag or variable, as the user gave it.
        option: String,
        /// What was given.
        value: String,
        /// What is valid.
        expected: String,
    },
    /// Two options that do not go together.
    #[error("{0}")]
    Apart(&'static str),
    /// A file that cannot be read, or says something wrong.
    #[error("{option}: {value}: {message}")]
    File {
        /// The flag or variable, as the user gave it.
        option: String,
        /// The file.
        value: String,
        /// What is wrong.
        message: String,
    },
}

impl Config {
    /// The host's cache in front of memory that is not coherent: that of the machine whose caches values come
    /// from, if it has one.
    pub fn host_cache(&self) -> Option<HostCache> {
        self.machine.host.filter(|_| self.values == ValuePolicy::Caches)
    }

    /// How many turns of loops a subgroup may take in one dispatch; `None`: any number.
    pub fn watchdog(&self) -> Option<u64> {
        let without = if self.mode.modelled() { 1 << 30 } else { 1 << 31 };
        Some(self.watchdog.unwrap_or(without)).filter(|most| *most > 0)
    }
}

/// The machine of a name or of a file.
fn machine(value: &str) -> Result<Machine, String> {
    if let Some(machine) = Machine::named(value) {
        return Ok(machine);
    }
    let text = pellucid_memory::input::text(value.as_ref()).map_err(|error| error.to_string())?;
    Machine::parse(&text).map_err(|error| error.to_string())
}

impl Config {
    /// The configuration that the environment of this process asks for.
    ///
    /// # Errors
    /// An unknown `PELLUCID_*` variable, or a bad value: the first by name; or options that do not go
    /// together.
    pub fn from_env() -> Result<Config, ConfigError> {
        Config::from_variables(std::env::vars_os())
    }

    /// The configuration that these environment variables ask for; those that do not begin with `PELLUCID_`
    /// are other people's.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn from_variables(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Config, ConfigError> {
        let ours: BTreeMap<String, String> = variables
            .into_iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .filter(|(name, _)| name.starts_with("PELLUCID_"))
            .collect();
        let mut config = Config::default();
        let mut given = Vec::new();
        for (variable, value) in ours {
            let Some(spec) = OPTIONS.iter().find(|spec| spec.variable() == variable) else {
                let valid =
                    OPTIONS.iter().filter(|o| o.kind != OptionKind::Internal).map(OptionSpec::variable);
                return Err(ConfigError::Unknown { variable, valid: valid.collect::<Vec<_>>().join(", ") });
            };
            given.push((spec, variable, value));
        }
        // What is given comes before what the profile sets.
        given.sort_by_key(|(spec, ..)| spec.name != "for");
        for (spec, variable, value) in given {
            config.set(spec, &variable, &value)?;
        }
        if config.mode == Mode::Explore && config.values == ValuePolicy::Caches {
            return Err(ConfigError::Apart(EXPLORED_CACHES));
        }
        if config.given.contains_key("machine") {
            if config.given.contains_key("mode") && config.mode == Mode::Run {
                return Err(ConfigError::Apart(RUN_CACHES));
            }
            if config.values != ValuePolicy::Caches {
                return Err(ConfigError::Apart(UNASKED_CACHES));
            }
        }
        Ok(config)
    }

    /// Sets one option. `shown` is how the user named it, for the message.
    ///
    /// # Errors
    /// The value is not one that the option takes.
    pub fn set(&mut self, spec: &OptionSpec, shown: &str, value: &str) -> Result<(), ConfigError> {
        if (spec.set)(self, value) {
            self.given.insert(spec.name, value.to_owned());
            if spec.name == "machine" {
                self.machine = machine(value).map_err(|message| ConfigError::File {
                    option: shown.to_owned(),
                    value: value.to_owned(),
                    message,
                })?;
            }
            if self.given.contains_key("machine") && !self.given.contains_key("values") {
                self.values = ValuePolicy::Caches;
            }
            let profile = self.profile.filter(|_| spec.name == "for");
            for (name, value) in profile.iter().flat_map(|profile| profile.options) {
                let set = find(name).is_some_and(|spec| (spec.set)(self, value));
                debug_assert!(set, "{name}={value}");
            }
            Ok(())
        } else {
            Err(ConfigError::Value {
                option: shown.to_owned(),
                value: value.to_owned(),
                expected: spec.value.replace('|', ", "),
            })
        }
    }
}

#[cfg(test)]
mod tests;
