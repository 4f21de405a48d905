//! Command lines as they are quoted, and the options that are kept.

use super::*;

fn config(options: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (name, value) in options {
        config.set(find(name).unwrap(), name, value).unwrap();
    }
    config
}

#[test]
fn words_undo_quotes() {
    let all = ["a", "", "two words", "it's", "--push=0=f32:1,2", "'", "\\", "a\"b", "$(x)"];
    let line: Vec<String> = all.iter().map(|word| quote(word)).collect();
    assert_eq!(words(&line.join(" ")).unwrap(), all);
    assert_eq!(words("unfinished '"), None);
    assert_eq!(words(""), Some(vec![]));
}

#[test]
fn only_what_decides_findings_is_kept() {
    let config = config(&[
        ("mode", "check"),
        ("seed", "7"),
        ("threads", "8"),
        ("report", "/tmp/x"),
        ("max-reports", "1"),
        ("summary", "/tmp/y"),
        ("command", "./app"),
    ]);
    let kept: Vec<String> = decisive(&config).iter().map(|(n, v)| format!("{n}={v}")).collect();
    assert_eq!(kept, ["mode=check", "seed=7"]);
}

#[test]
fn the_line_has_the_options_and_the_command() {
    let given = [("seed", "3"), ("values", "seeded"), ("no-chains", "1")];
    let run = [&given[..], &[("command", "./app 'a b'")]].concat();
    assert_eq!(line(&config(&run)), "pellucid run --seed 3 --values seeded --no-chains -- ./app 'a b'");
    let exec = [&given[..1], &[("command", "pellucid exec a.spv --groups 1")]].concat();
    assert_eq!(line(&config(&exec)), "pellucid exec --seed 3 a.spv --groups 1");
    let explored = config(&[("mode", "explore"), ("steps", "9"), ("command", "./app")]);
    assert_eq!(line(&explored), "pellucid run --mode explore --steps 9 -- ./app");
    let choices = Choices::new(vec![0, 2, 40]);
    assert_eq!(
        line_of(&explored, 1, &choices),
        "pellucid run --mode explore --replay '1:02(40)' --steps 9 -- ./app"
    );
}
