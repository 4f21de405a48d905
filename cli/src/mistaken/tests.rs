//! Command lines with a word in the wrong place, and the advice for each.

use super::*;
use clap::{Arg, ArgAction};

fn command(name: &'static str, flags: &[&'static str], values: &[&'static str]) -> Command {
    let flags = flags.iter().map(|flag| Arg::new(*flag).long(*flag).action(ArgAction::SetTrue));
    let values = values.iter().map(|value| Arg::new(*value).long(*value));
    Command::new(name).args(flags).args(values)
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_word_is_said_to_belong_elsewhere() {
    let exec = command("exec", &["numeric"], &["groups", "buffer"]).arg(Arg::new("define").short('D'));
    let whole = Command::new("pellucid")
        .subcommand(command("hunt", &["quiet"], &["runs", "report"]))
        .subcommand(command("run", &[], &["report"]))
        .subcommand(exec.clone());
    let said = |name: &str, shader: bool, line: &str, word: &str| {
        let shader = shader.then_some(&exec);
        advice(&whole, name, shader, &words(line), word).unwrap_or_default()
    };
    assert_eq!(
        said("hunt", true, "a.spv --groups 2 --runs 8 --buffer 0:0=u32x1=file:b.spv --quiet", "--runs"),
        "options of hunt, such as --runs, come before the shader: pellucid hunt --runs 8 --quiet a.spv \
             --groups 2 --buffer 0:0=u32x1=file:b.spv"
    );
    assert_eq!(
        said("hunt", true, "-DN=4 --report=x a.comp", "-DN=4"),
        "options of a shader, such as -D, follow it: pellucid hunt --report=x a.comp -DN=4"
    );
    assert_eq!(
        said("hunt", true, "a.spv --what --runs 8", "--runs"),
        "options of hunt, such as --runs, come before the shader"
    );
    assert_eq!(
        said("run", false, "--groups 4 a.spv", "--groups"),
        "--groups is an option of pellucid exec, not of run"
    );
    assert_eq!(
        said("--report", false, "x run a", "--report"),
        "--report is an option of pellucid hunt and pellucid run, and follows the command"
    );
    assert_eq!(
        said("run", false, "-report x a", "-report"),
        "options of more than a letter have two hyphens: --report"
    );
    assert_eq!(said("run", false, "--what a", "--what"), "");
    assert_eq!(
        said("exec", false, "-- a.spv --groups 2", "--groups"),
        "options of exec, such as --groups, come before `--`"
    );
}

#[test]
fn tips_are_for_words_that_begin_alike() {
    let of = |word: &'static str| {
        let command = command("exec", &[], &["report", "stale-budget"]).arg(Arg::new("file"));
        let error = command.try_get_matches_from(["exec", "a.spv", word]).unwrap_err();
        without_far_tips(error).to_string()
    };
    assert!(of("--reprot").contains("tip: a similar argument exists: '--report'"), "{}", of("--reprot"));
    for word in ["--budgets", "--x"] {
        let said = of(word);
        assert!(said.contains(word) && !said.contains("tip") && !said.contains("stale"), "{said}");
    }
}

#[test]
fn what_a_program_gets_is_said_unless_it_is_meant() {
    let run = command("run", &[], &["report", "seed"]);
    let said = |line: &str, program: usize| swallowed(&run, &words(line), program).unwrap_or_default();
    assert_eq!(
        said("--seed 3 ./app x --report r.json y", 5),
        "--report, behind the program, is passed on to it; options of run come before: pellucid run \
             --seed 3 --report r.json -- ./app x y"
    );
    assert_eq!(said("--seed 3 -- ./app --report r.json", 3), "");
    assert_eq!(said("./app --small", 2), "");
    assert_eq!(said("a.spv --report x", 3), "");
}
