//! The command line: what may be written, and who does it.

use crate::exec::ExecArgs;
use crate::hunt::{self, HuntArgs, MergeArgs};
use crate::litmus::{self, LitmusArgs};
use crate::mistaken;
use crate::options::{self, DriverOptions};
use crate::page::Page;
use crate::replay::{Replay, ReplayArgs};
use crate::run::{self, Job};
use crate::source::{is_shader, started};
use crate::status::{self, usage};
use crate::vulkan::batch::{self, BatchArgs};
use crate::{debug, demo, exec, install, report};
use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A software Vulkan device that you can see through.
#[derive(Parser)]
#[command(name = "pellucid", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program on the driver, in check mode unless told otherwise
    Run(RunArgs),
    /// Run a program many times, each time otherwise, and print every distinct finding once
    Hunt(HuntArgs),
    /// Put the reports of several hunts together: of all shards of one, or of several machines
    Merge(MergeArgs),
    /// Run one shader without a host program
    Exec(ExecCommand),
    /// Debug a shader, or a dispatch of a program, in check mode, forward and backward
    Debug(debug::DebugArgs),
    /// Run a program as a report's findings were found, and say whether they came again
    Replay(ReplayArgs),
    /// Run one small shader in every execution: each order, each value that a load may return
    #[command(after_help = EXPLORE_HELP)]
    Explore(ExploreCommand),
    /// Decide memory-model litmus tests
    Litmus(LitmusArgs),
    /// Show a report file as text, SARIF or HTML
    Report(report::ReportArgs),
    /// Put the driver's manifest where the Vulkan loader looks for it
    Install(SystemArgs),
    /// Remove what install put there
    Uninstall(SystemArgs),
    /// Print the exports that point the Vulkan loader at the driver
    Env,
    /// Show a bug, its finding, its fix and the clean run after it
    Demo,
    /// Print what completes this command's words in a shell
    Completions(CompletionsArgs),
    /// Print the manual page of this command, or write the pages of all commands
    Man(ManArgs),
    /// Print help, for everything or for one command; `help options` lists all options
    Help(HelpArgs),
    /// One shader in this process
    #[command(name = "exec-here", hide = true)]
    ExecHere(ExecArgs),
    /// Some runs of a litmus test in this process
    #[command(name = "litmus-here", hide = true)]
    LitmusHere(BatchArgs),
}

#[derive(clap::Args)]
struct RunArgs {
    #[command(flatten)]
    options: DriverOptions,
    #[command(flatten)]
    many: Many,
    #[command(flatten)]
    page: Page,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

#[derive(clap::Args)]
struct ExecCommand {
    #[command(flatten)]
    options: DriverOptions,
    #[command(flatten)]
    many: Many,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    exec: ExecArgs,
}

/// One run, or one for each of many seeds.
#[derive(clap::Args)]
struct Many {
    /// Run once for each seed of A..B, in parallel, name the failing ones, and print every distinct finding
    /// once
    #[arg(long, value_name = "A..B", value_parser = seed_range)]
    seeds: Option<Range<u64>>,
    /// With --seeds: an earlier report; no seed fails by what it tells
    #[arg(long, value_name = "FILE", requires = "seeds")]
    baseline: Vec<PathBuf>,
}

impl Many {
    /// Many seeds have a report each, and no page.
    fn without(&self, page: &Page) -> anyhow::Result<()> {
        if page.is_wanted() && self.seeds.is_some() {
            anyhow::bail!("--html is not for --seeds: `pellucid hunt` makes one page of many runs");
        }
        Ok(())
    }

    /// The exit status.
    fn run(self, job: &Job) -> anyhow::Result<u8> {
        match self.seeds {
            Some(seeds) => hunt::seeds(job, seeds, &self.baseline),
            None => finish(job),
        }
    }
}

/// `exec` in explore mode.
#[derive(clap::Args)]
struct ExploreCommand {
    #[command(flatten)]
    options: DriverOptions,
    /// No execution begins after so many seconds; without it, --executions ends the search
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    #[command(flatten)]
    page: Page,
    #[command(flatten)]
    exec: ExecArgs,
}

const EXPLORE_HELP: &str = "The outcomes are those of the buffers of --dump, by default of all storage \
    buffers; --executions, --steps and --time bound the search; the exit status is 67 if \
    it is not complete and nothing was found. For each dispatch of a program: pellucid run --mode \
    explore -- PROGRAM";

#[derive(clap::Args)]
struct SystemArgs {
    /// For all users: /etc/vulkan/icd.d
    #[arg(long)]
    system: bool,
}

#[derive(clap::Args)]
struct CompletionsArgs {
    /// Whose completions they are
    shell: clap_complete::Shell,
}

#[derive(clap::Args)]
struct ManArgs {
    /// Write all pages here: pellucid.1, pellucid-run.1, ...
    folder: Option<PathBuf>,
}

#[derive(clap::Args)]
struct HelpArgs {
    /// A command, or `options`
    topic: Option<String>,
}

fn seed_range(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    range
        .filter(|r: &Range<u64>| !r.is_empty())
        .ok_or_else(|| format!("\"{text}\" is not A..B with A below B, such as 0..16"))
}

/// The variable of the driver's mode.
const MODE: &str = "PELLUCID_MODE";

/// Parses the command line and does what it says.
pub fn main() -> ExitCode {
    end_with_the_reader();
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        let command = std::env::args_os().nth(1).unwrap_or_default();
        let word = mistaken::unexpected(&error);
        if let Some(advice) = word.and_then(|word| advice(&command.to_string_lossy(), &word)) {
            eprintln!("pellucid: {advice}");
            std::process::exit(status::USAGE.into());
        }
        let unknown = error.kind() == ErrorKind::InvalidSubcommand;
        let word = std::env::args_os().nth(1).filter(|_| unknown);
        let file = word.and_then(|word| word.into_string().ok());
        if let Some(file) = file.filter(|file| Path::new(file).is_file()) {
            let meant = match is_shader(&file) {
                true => format!("exec {file}"),
                false => format!("run -- {}", started(&file)),
            };
            eprintln!("pellucid: {file} is no command but a file: pellucid {meant}\n");
        }
        mistaken::without_far_tips(error).exit()
    });
    match dispatch(cli.command) {
        Ok(status) => status,
        Err(error) => {
            // What asks for help is such an error, too.
            let error = match error.downcast() {
                Ok(error) => mistaken::without_far_tips(error).exit(),
                Err(error) => error,
            };
            eprintln!("pellucid: {error:#}");
            ExitCode::from(status::of(&error))
        }
    }
}

/// The words of a command that this process was started for.
fn words() -> Vec<String> {
    std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What to say of a word that a command does not take, where it is known where that belongs.
fn advice(command: &str, word: &str) -> Option<String> {
    let whole = Cli::command();
    let shader = match command {
        "hunt" => Some(hunt::of_shader()),
        "debug" => Some(debug::of_shader()),
        _ => None,
    };
    let advice = mistaken::advice(&whole, command, shader.as_ref(), &words(), word)?;
    Some(format!("unexpected argument '{word}' found; {advice}"))
}

/// An error of a command, with what to do about it where it is about a word that the command does not take.
fn placed<T>(command: &str, result: anyhow::Result<T>) -> anyhow::Result<T> {
    result.or_else(|error| match mistaken::word(&error) {
        None => Err(error),
        Some(word) => match advice(command, &word) {
            Some(advice) => usage(Err(anyhow::anyhow!(advice))),
            None if error.is::<clap::Error>() => Err(error),
            None => usage(Err(anyhow::anyhow!("{error}; pellucid help {command} lists its options"))),
        },
    })
}

/// Says that a program gets what may have been meant for a command.
fn say_what_is_swallowed(command: &str, program: usize) {
    let whole = Cli::command();
    let command = whole.find_subcommand(command);
    if let Some(said) = command.and_then(|command| mistaken::swallowed(command, &words(), program)) {
        eprintln!("pellucid: {said}");
    }
}

/// Who reads what is printed may go away, as `head` does: that ends the command without a word, with the
/// status of programs that SIGPIPE ends.
fn end_with_the_reader() {
    const ENDED_BY_SIGPIPE: i32 = 128 + 13;
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload_as_str().unwrap_or_default();
        if said.starts_with("failed printing to ") && said.contains("Broken pipe") {
            std::process::exit(ENDED_BY_SIGPIPE);
        }
        usual(panic);
    }));
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    let status = match command {
        Command::Litmus(arguments) => return Ok(litmus::run(&arguments)),
        Command::Run(mut arguments) => {
            usage(arguments.options.resolve())?;
            let RunArgs { options, many, page, program } = arguments;
            usage(many.without(&page))?;
            placed("run", mistaken::program(program.first()).map_err(Into::into))?;
            say_what_is_swallowed("run", program.len());
            page.around(options, |options| many.run(&Job { options, command: program, shown: None }))
        }
        Command::Hunt(mut arguments) => {
            usage(arguments.options.resolve())?;
            usage(placed("hunt", hunt::check(&arguments)))?;
            say_what_is_swallowed("hunt", arguments.program.len());
            hunt::hunt(arguments)
        }
        Command::Merge(arguments) => hunt::merge(&arguments),
        Command::Exec(mut arguments) => {
            usage(arguments.options.resolve())?;
            let ExecCommand { options, many, page, exec } = arguments;
            usage(many.without(&page))?;
            page.around(options, |options| many.run(&exec_job(options, &exec)?))
        }
        Command::Explore(mut arguments) => {
            let mode = arguments.options.variables.insert(MODE.to_owned(), "explore".to_owned());
            if let Some(mode) = mode.filter(|mode| mode != "explore") {
                return usage(Err(anyhow::anyhow!("explore has its own mode, not {mode}: pellucid exec")));
            }
            let ExploreCommand { mut options, time, page, exec } = arguments;
            if let Some(seconds) = time {
                options.set("explore-time", seconds.to_string());
            }
            usage(options.resolve())?;
            page.around(options, |options| finish(&exec_job(options, &exec)?))
        }
        Command::Debug(arguments) => placed("debug", debug::run(&arguments)).map(|()| 0),
        Command::ExecHere(arguments) => exec::run(&arguments),
        Command::LitmusHere(arguments) => batch::run(&arguments).map(|()| 0),
        Command::Replay(arguments) => usage(Replay::new(&arguments))?.run(),
        Command::Report(arguments) => report::run(&arguments).map(|()| 0),
        Command::Install(arguments) => install::install(arguments.system).map(|()| 0),
        Command::Uninstall(arguments) => install::uninstall(arguments.system).map(|()| 0),
        Command::Env => install::env().map(|()| 0),
        Command::Demo => demo::run(),
        Command::Completions(arguments) => {
            let mut text = Vec::new();
            clap_complete::generate(arguments.shell, &mut shown(), "pellucid", &mut text);
            printed(&text).map(|()| 0)
        }
        Command::Man(arguments) => man(arguments.folder.as_deref()).map(|()| 0),
        Command::Help(arguments) => usage(help(arguments.topic.as_deref())).map(|()| 0),
    };
    status.map(ExitCode::from)
}

fn finish(job: &Job) -> anyhow::Result<u8> {
    let outcome = run::one(job)?;
    let program = job.shown.is_none();
    if outcome.total["processes"].as_u64() != Some(0) || outcome.status == 0 || program {
        eprintln!("{}", run::total(&outcome));
    }
    Ok(outcome.status)
}

/// This executable as the program, with the arguments of `exec` and without the driver's options, which go by
/// the environment.
fn exec_job(mut options: DriverOptions, exec: &ExecArgs) -> anyhow::Result<Job> {
    if usage(options.resolve())?.validation {
        let why = "--validation is for programs that use the Vulkan loader: pellucid run";
        return usage(Err(anyhow::anyhow!(why)));
    }
    let dumped = usage(exec::check(exec))?;
    if !dumped.is_empty() && options.explores() && !options.variables.contains_key("PELLUCID_OUTCOMES") {
        options.set("outcomes", dumped);
    }
    // Behind the names of this executable and of the command.
    let arguments = without_options(std::env::args_os().skip(2), &options);
    exec::job(options, arguments)
}

/// What is left for the shader's process: no options of the driver, and none that are for many of them.
fn without_options(arguments: impl Iterator<Item = OsString>, options: &DriverOptions) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        let name = text.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag));
        let spec = name.and_then(vulkan_pellucid::config::find);
        if matches!(name, Some("seeds" | "baseline" | "html" | "time")) {
            if !text.contains('=') {
                drop(arguments.next());
            }
            continue;
        }
        match spec.filter(|spec| options.variables.contains_key(&spec.variable())) {
            Some(spec) if spec.kind == vulkan_pellucid::config::OptionKind::Value && !text.contains('=') => {
                drop(arguments.next())
            }
            Some(_) => {}
            None => kept.push(argument),
        }
    }
    kept
}

/// The command line without what is hidden, which the generators of completions would show.
fn shown() -> clap::Command {
    let whole = Cli::command();
    let commands: Vec<clap::Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let about = whole.get_about().cloned().unwrap_or_default();
    clap::Command::new("pellucid")
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .subcommands(commands)
}

/// To standard output, whose reader may leave early.
fn printed(text: &[u8]) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn man(folder: Option<&Path>) -> anyhow::Result<()> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(shown()).render(&mut page)?;
        return printed(&page);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(shown(), folder))
        .with_context(|| folder.display().to_string())
}

fn help(topic: Option<&str>) -> anyhow::Result<()> {
    let mut command = Cli::command();
    // Then the usage of a command begins with `pellucid`.
    command.build();
    match topic {
        None => command.print_help()?,
        Some("options") => print!("{}", options::table()),
        Some(name) => match command.find_subcommand_mut(name) {
            Some(subcommand) => subcommand.print_help()?,
            None => anyhow::bail!("no command \"{name}\"; see pellucid help, or pellucid help options"),
        },
    }
    Ok(())
}

#[cfg(test)]
mod tests;
