//! A log of which some sections are kept.

use super::*;

#[test]
fn only_the_named_sections_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.qpa");
    let section = |name: &str| format!("#beginTestCaseResult {name}\n<x/>\n#endTestCaseResult\n\n");
    fs::write(&log, section("a") + &section("b") + "#beginTestCaseResult c\n<cut").unwrap();
    let kept = folder.path().join("kept");
    extract(&log, &BTreeSet::from(["b", "c"]), &kept).unwrap();
    assert!(!path_of(&kept, "a").exists());
    assert_eq!(fs::read_to_string(path_of(&kept, "b")).unwrap(), section("b").trim_end().to_string() + "\n");
    assert_eq!(fs::read_to_string(path_of(&kept, "c")).unwrap(), "#beginTestCaseResult c\n<cut");
}

#[test]
fn long_names_stay_apart() {
    let long = "a".repeat(300);
    let (one, two) = (path_of(Path::new("."), &long), path_of(Path::new("."), &(long.clone() + "b")));
    assert_ne!(one, two);
    assert!(one.as_os_str().len() < 255);
}
