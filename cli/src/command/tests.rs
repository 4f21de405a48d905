//! What the command line takes, and whose an option is that stands around a program.

use super::*;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn seeds_are_a_range() {
    assert_eq!(seed_range("0..64").unwrap(), 0..64);
    assert!(seed_range("3..3").is_err() && seed_range("3").is_err() && seed_range("a..b").is_err());
}

#[test]
fn everything_after_the_program_is_its_own() {
    let cli =
        Cli::try_parse_from(["pellucid", "run", "--seed", "3", "--", "app", "--seed", "9", "-x"]).unwrap();
    let Command::Run(run) = cli.command else { panic!("run") };
    assert_eq!(run.program, ["app", "--seed", "9", "-x"]);
    assert_eq!(run.options.variables["PELLUCID_SEED"], "3");
}

#[test]
fn options_of_the_driver_are_not_passed_on_to_the_program_itself() {
    let words = ["a.spv", "--seed", "3", "--seeds", "0..4", "--groups", "1", "--no-chains", "--values=stale"];
    let mut options = DriverOptions::default();
    for (name, value) in [("seed", "3"), ("no-chains", "1"), ("values", "stale")] {
        options.set(name, value);
    }
    assert_eq!(without_options(words.iter().map(OsString::from), &options), ["a.spv", "--groups", "1"]);
}
