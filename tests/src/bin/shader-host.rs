//! The program under test: one shader on the driver, as `pellucid exec` runs it, in a process of its own.
#![allow(clippy::print_stderr)]

use clap::Parser;
use pellucid_cli::exec::{self, ExecArgs};

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    exec: ExecArgs,
}

fn main() -> std::process::ExitCode {
    match exec::run(&Arguments::parse().exec) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shader-host: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
