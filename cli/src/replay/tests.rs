//! Findings that come again, differ or are missing, and the options of a report.

use super::*;

fn line(number: u64, word: u64, notes: &str) -> String {
    format!(
        r#"{{"accesses":[{{"source":null,"word":{word}}}],"id":"race-private","notes":"{notes}","number":{number},"type":"finding"}}"#
    )
}

#[test]
fn lines_come_again_exactly_renumbered_differing_or_not() {
    let new = lines(&[line(1, 10, "a"), line(2, 20, "b")].join("\n")).unwrap();
    let again = |text: String| lines(&text).unwrap()[0].again(&new);
    assert_eq!(again(line(1, 10, "a")), Came::Exactly);
    assert_eq!(again(line(7, 20, "b")), Came::As(2));
    assert_eq!(again(line(1, 10, "c")), Came::Differs(vec!["notes".into()]));
    assert_eq!(again(line(1, 30, "a")), Came::No);
}

#[test]
fn options_are_the_reports_alone() {
    let folder = tempfile::tempdir().unwrap();
    let head = serde_json::json!({
        "type": "run", "seed": 7, "options": { "mode": "check", "values": "seeded" }, "suppressions": ["race:x*"],
    });
    let options = restored(&head, folder.path()).unwrap();
    assert!(options.closed);
    assert_eq!(options.variables["PELLUCID_MODE"], "check");
    assert_eq!(options.variables["PELLUCID_SEED"], "7");
    assert_eq!(options.variables["PELLUCID_VALUES"], "seeded");
    let rules = std::fs::read_to_string(&options.variables["PELLUCID_SUPPRESSIONS"]).unwrap();
    assert_eq!(rules, "race:x*\n");
    let unknown = serde_json::json!({ "seed": 0, "options": { "speed": "1" } });
    assert!(restored(&unknown, folder.path()).unwrap_err().to_string().contains("speed"));
}
