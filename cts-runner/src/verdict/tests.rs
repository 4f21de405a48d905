//! Results beside a baseline, and what is said of the difference.

use super::*;

fn expectations(baseline: &str, flakes: &str, gate: Option<&str>) -> Expectations {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    Expectations::read(&Sources {
        baselines: vec![write("baseline.csv", baseline)],
        flakes: vec![write("flakes.txt", flakes)],
        not_supported: gate.map(|gate| write("gate.txt", gate)).into_iter().collect(),
    })
    .unwrap()
}

fn judge(expectations: &Expectations, name: &str, status: Status) -> Verdict {
    let result = CaseResult { name: name.to_string(), status, micros: 0, tries: 1, message: String::new() };
    expectations.judge(&result).0
}

#[test]
fn against_a_baseline() {
    let expect = expectations("f,Fail\nc,Crash\np,Pass\nn,NotSupported\nk,Flake\n", "^flaky", None);
    for (name, status, verdict) in [
        ("new", Status::Pass, Verdict::Expected),
        ("new", Status::QualityWarning, Verdict::Expected),
        ("new", Status::NotSupported, Verdict::Expected),
        ("new", Status::Fail, Verdict::Regression),
        ("new", Status::Missing, Verdict::Regression),
        ("new", Status::Flake, Verdict::Flaky),
        ("new", Status::Skip, Verdict::Expected),
        ("f", Status::Fail, Verdict::Expected),
        ("f", Status::Crash, Verdict::Regression),
        ("f", Status::InternalError, Verdict::Regression),
        ("f", Status::Pass, Verdict::Improvement),
        ("f", Status::NotSupported, Verdict::Regression),
        ("c", Status::Fail, Verdict::Improvement),
        ("c", Status::Timeout, Verdict::Regression),
        ("p", Status::NotSupported, Verdict::Regression),
        ("p", Status::Pass, Verdict::Expected),
        ("n", Status::NotSupported, Verdict::Expected),
        ("n", Status::Pass, Verdict::Improvement),
        ("n", Status::Fail, Verdict::Regression),
        ("k", Status::Fail, Verdict::Expected),
        ("k", Status::Pass, Verdict::Expected),
        ("flaky.1", Status::Crash, Verdict::Flaky),
    ] {
        assert_eq!(judge(&expect, name, status), verdict, "{name} {status}");
    }
}

#[test]
fn the_gate() {
    let expect = expectations("f,Fail\n", "", Some("known\nf\n*.vert\n"));
    assert_eq!(judge(&expect, "known", Status::NotSupported), Verdict::Expected);
    assert_eq!(judge(&expect, "a.vert", Status::NotSupported), Verdict::Expected);
    assert_eq!(judge(&expect, "new", Status::NotSupported), Verdict::Regression);
    assert_eq!(judge(&expect, "known", Status::Pass), Verdict::Improvement);
    assert_eq!(judge(&expect, "f", Status::NotSupported), Verdict::Improvement);
    assert_eq!(judge(&expectations("", "", None), "new", Status::NotSupported), Verdict::Expected);
}

#[test]
fn reasons_stand_above() {
    let expect =
        expectations("# no graphics\n# queue\na,Fail\nb,Fail\n\nc,Fail\n# other\nd,Fail\n", "", None);
    let reason = |name: &str| expect.of(name).unwrap().reason.clone();
    assert_eq!([reason("a"), reason("b")], ["no graphics queue", "no graphics queue"]);
    assert_eq!([reason("c"), reason("d")], ["", "other"]);
}

#[test]
fn contradictions_are_refused() {
    let mut into = BTreeMap::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.csv");
    std::fs::write(&path, "a,Fail\na,Crash\n").unwrap();
    assert!(read_baseline(&path, &mut into).unwrap_err().to_string().contains("b.csv:2"));
}
