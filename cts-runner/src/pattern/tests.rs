//! Patterns with the names that they match.

use super::*;

#[test]
fn wildcards() {
    let matches = |pattern: &str, name: &str| Wildcard::new(pattern).matches(name);
    assert!(matches("dEQP-VK.*.comp", "dEQP-VK.a.b.comp"));
    assert!(!matches("dEQP-VK.*.comp", "dEQP-VK.a.b.vert"));
    assert!(matches("*", ""));
    assert!(matches("a*b*c", "a.b.b.c"));
    assert!(matches("u?", "u8"));
    assert!(!matches("u?", "u16"));
    assert!(!matches("dEQP-VK.info", "dEQP-VK.info.build"));
}

#[test]
fn expressions_match_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("skips.txt");
    fs::write(&path, "# a comment\n\nmemory_model\\..*physbuffer\n").unwrap();
    let set = Expressions::read(&[&path]).unwrap();
    assert!(set.matches("dEQP-VK.memory_model.x.physbuffer.comp"));
    assert!(!set.matches("# a comment"));
    fs::write(&path, "ok\n(\n").unwrap();
    let error = Expressions::read(&[&path]).unwrap_err().to_string();
    assert!(error.contains("skips.txt:2"), "{error}");
}
