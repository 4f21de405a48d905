//! The `pellucid-cts-runner` command.

use clap::Parser;
use pellucid_cts_runner::cli::Cli;
use pellucid_cts_runner::commands::{Streams, execute};
use pellucid_cts_runner::exit;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let terminal = err.is_terminal();
    let mut streams = Streams { out: &mut out, err: &mut err, terminal };
    let status = match execute(cli.command, &mut streams) {
        Ok(status) => status,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "pellucid-cts-runner: error: {error}");
            exit::INFRASTRUCTURE
        }
    };
    ExitCode::from(status)
}
