//! A journal whose last line was cut short.

use super::*;

#[test]
fn a_line_cut_short_counts_as_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let result = |name: &str| CaseResult {
        name: name.to_string(),
        status: Status::Fail,
        micros: 5,
        tries: 1,
        message: "line\nbreak, \"quotes\"".to_string(),
    };
    let (mut journal, held) = Journal::open(&path).unwrap();
    assert!(held.is_empty());
    journal.append(&result("a")).unwrap();
    journal.append(&result("b")).unwrap();
    drop(journal);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    let (mut journal, held) = Journal::open(&path).unwrap();
    assert_eq!(held, [result("a")]);
    journal.append(&result("c")).unwrap();
    assert_eq!(read(&path).unwrap(), [result("a"), result("c")]);
}
