//! The driver's options as flags. They are made of [`vulkan_pellucid::config::OPTIONS`], like the environment
//! variables.

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use std::collections::BTreeMap;
use vulkan_pellucid::config::{Config, OPTIONS, OptionKind, OptionSpec, find};

/// Options by their flags' names.
pub type Variation = Vec<(&'static str, String)>;

/// The options that were given as flags: variable to value, for a child's environment.
#[derive(Clone, Debug, Default)]
pub struct DriverOptions {
    /// `PELLUCID_*` variables.
    pub variables: BTreeMap<String, String>,
    /// These are all: the variables of this process's environment do not count.
    pub closed: bool,
}

fn flags() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(|spec| spec.kind != OptionKind::Internal)
}

impl clap::Args for DriverOptions {
    fn augment_args(command: Command) -> Command {
        flags().fold(command, |command, spec| {
            let arg = Arg::new(spec.name)
                .long(spec.name)
                .help(format!("{} [default: {}]", spec.help, spec.default));
            let arg = match spec.kind {
                OptionKind::Switch => arg.action(ArgAction::SetTrue),
                _ => arg.value_name(spec.value).value_parser(move |value: &str| {
                    match Config::default().set(spec, spec.name, value) {
                        Ok(()) => Ok(value.to_owned()),
                        Err(error) => Err(error.to_string()),
                    }
                }),
            };
            command.arg(arg.help_heading("Options of the driver"))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DriverOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = DriverOptions::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for spec in flags() {
            let value = match spec.kind {
                OptionKind::Switch => matches.get_flag(spec.name).then(|| "1".to_owned()),
                _ => matches.get_one::<String>(spec.name).cloned(),
            };
            if let Some(value) = value {
                self.variables.insert(spec.variable(), value);
            }
        }
        Ok(())
    }
}

impl DriverOptions {
    /// Sets an option by its flag's name.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        if let Some(spec) = find(name) {
            self.variables.insert(spec.variable(), value.into());
        }
    }

    /// Whether an option was given, by its flag's name.
    pub fn has(&self, name: &str) -> bool {
        find(name).is_some_and(|spec| {
            let variable = spec.variable();
            self.variables.contains_key(&variable) || (!self.closed && std::env::var_os(variable).is_some())
        })
    }

    /// Whether the flags ask for explore mode.
    pub fn explores(&self) -> bool {
        self.variables.get("PELLUCID_MODE").is_some_and(|mode| mode == "explore")
    }

    /// The configuration that a child sees: the environment, then the flags, and check mode where neither
    /// chose one.
    ///
    /// # Errors
    /// The environment has an unknown or bad variable.
    pub fn resolve(&mut self) -> anyhow::Result<Config> {
        let given = |(name, value): (&String, &String)| (name.into(), value.into());
        if self.closed {
            return Ok(Config::from_variables(self.variables.iter().map(given).collect::<Vec<_>>())?);
        }
        let environment = Config::from_env()?;
        if !environment.given.contains_key("mode") && !self.variables.contains_key("PELLUCID_MODE") {
            self.set("mode", "check");
        }
        let inherited =
            std::env::vars_os().filter(|(name, _)| !self.variables.contains_key(&*name.to_string_lossy()));
        Ok(Config::from_variables(inherited.chain(self.variables.iter().map(given)).collect::<Vec<_>>())?)
    }
}

/// What `pellucid help options` prints.
pub fn table() -> String {
    let mut text = String::from(
        "Every option is a flag of `pellucid run` and `pellucid exec`, and a variable of the environment, which also works\nwithout the command: VK_ICD_FILENAMES=MANIFEST PELLUCID_MODE=check APP\n\n",
    );
    for spec in flags() {
        let flag = match spec.kind {
            OptionKind::Switch => format!("--{}", spec.name),
            _ => format!("--{} {}", spec.name, spec.value),
        };
        text.push_str(&format!("{flag}\n    {}={}\n", spec.variable(), spec.value));
        text.push_str(&format!("    {}. Default: {}.\n\n", spec.help, spec.default));
    }
    text.push_str("--seeds A..B (pellucid run and pellucid exec only)\n    runs the program once for each seed, in parallel, names the failing seeds, and prints each distinct finding once.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_table_is_a_flag_and_in_the_help() {
        let command = <DriverOptions as clap::Args>::augment_args(Command::new("test"));
        let table = table();
        for spec in flags() {
            let argument = command.get_arguments().find(|a| a.get_long() == Some(spec.name));
            assert!(argument.is_some(), "{} is no flag", spec.name);
            assert!(table.contains(&spec.variable()), "{} is not in the help", spec.variable());
        }
    }

    #[test]
    fn flags_become_variables() {
        let command = <DriverOptions as clap::Args>::augment_args(Command::new("test"));
        let matches = command.get_matches_from(["test", "--seed", "7", "--no-chains", "--values=seeded"]);
        let options = DriverOptions::from_arg_matches(&matches).unwrap();
        let pairs: Vec<String> = options.variables.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(pairs, ["PELLUCID_NO_CHAINS=1", "PELLUCID_SEED=7", "PELLUCID_VALUES=seeded"]);
    }
}
