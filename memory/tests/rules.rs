//! Every rule of the specification's memory model by litmus tests of our own, `tests/model`: a test in which
//! the rule holds beside others in which one of its conditions is missing, as programs and as executions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pellucid_memory::litmus::expect;
use pellucid_memory::litmus::run::{By, Settings};
use pellucid_memory::model::{ChainRule, ReadModifyWrite};

/// The sections of the appendix, and the parts of those that have several rules.
const RULES: [&str; 36] = [
    "Program-Order",
    "Reference",
    "Atomic Operation",
    "Scoped Modification Order",
    "Memory Semantics",
    "Release Sequence",
    "Synchronizes-With",
    "Synchronizes-With, atomic to atomic",
    "Synchronizes-With, release barrier to atomic",
    "Synchronizes-With, atomic to acquire barrier",
    "Synchronizes-With, release barrier to acquire barrier",
    "Synchronizes-With, control barrier",
    "System-Synchronizes-With",
    "Private vs. Non-Private",
    "Memory Semantics and Inter-Thread-Happens-Before",
    "Inter-Thread-Happens-Before",
    "Availability and Visibility",
    "Availability chain",
    "Visibility chain",
    "Availability and Visibility Semantics",
    "Per-Instruction Availability",
    "Per-Instruction Visibility",
    "Location-Ordered, first bullet",
    "Location-Ordered, second bullet",
    "Location-Ordered, third bullet",
    "Location-Ordered, fourth bullet",
    "Location-Ordered, last bullet",
    "Data Race",
    "Visible-To",
    "Acyclicity",
    "Scoped Modification Order Coherence, two reads",
    "Scoped Modification Order Coherence, read and write",
    "Scoped Modification Order Coherence, write and read",
    "Scoped Modification Order Coherence, two writes",
    "Scoped Modification Order Coherence, read-modify-write",
    "Descriptions",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/model")
}

fn unexpected(settings: &Settings) -> Vec<String> {
    let files = expect::tests_below(&folder()).expect("the folder can be read");
    let csv = std::fs::read_to_string(folder().join("expected.csv")).expect("expectations");
    let mut rows = expect::expectations("expected.csv", &csv, &folder(), &files).expect("expectations");
    let tests = expect::load_all(&files);
    let executions: Vec<PathBuf> =
        files.iter().filter(|file| file.extension().is_some_and(|end| end == "test")).cloned().collect();
    rows.extend(expect::own_expectations(&executions, &tests, &[], true));
    let checked = expect::check(&rows, &tests, settings, 2);
    assert!(checked.len() >= 690, "{} answers", checked.len());
    checked.iter().filter(|line| !line.as_expected()).map(|line| line.line()).collect()
}

#[test]
fn the_axioms_have_every_rule() {
    for chain_rule in [ChainRule::Specification, ChainRule::Alloy] {
        for read_modify_write in [ReadModifyWrite::Literal, ReadModifyWrite::ByHalves] {
            let mut settings = Settings { read_modify_write: Some(read_modify_write), ..Settings::default() };
            settings.options.chain_rule = chain_rule;
            assert_eq!(unexpected(&settings), Vec::<String>::new(), "{chain_rule:?} {read_modify_write:?}");
        }
    }
}

#[test]
fn the_machine_has_every_rule() {
    let settings = Settings { by: By::Machine, ..Settings::default() };
    assert_eq!(unexpected(&settings), Vec::<String>::new());
}

/// What the header of a test begins with.
fn header(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a test");
    let text = text.lines().find_map(|line| line.strip_prefix("(* ").or(line.strip_prefix("// ")));
    text.expect("a header").split(':').next().unwrap_or_default().to_owned()
}

#[test]
fn every_rule_has_tests_in_which_it_holds_and_fails_in_both_formats() {
    let csv = std::fs::read_to_string(folder().join("expected.csv")).expect("expectations");
    let mut kinds: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut titles = BTreeSet::new();
    for file in expect::tests_below(&folder()).expect("the folder can be read") {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (rule, variant) = name.split_once('.').expect("RULE.holds or RULE.fails");
        let kind = ["holds", "fails"].into_iter().find(|kind| variant.starts_with(kind)).expect("a kind");
        kinds.entry(rule.to_owned()).or_default().insert(kind);
        assert!(csv.contains(&format!("\n{name}.litmus,")), "{name} has no expectation");
        for format in ["litmus", "test"] {
            let twin = folder().join(format!("{name}.{format}"));
            assert_eq!(header(&twin), header(&file), "{name}");
        }
        titles.insert(header(&file));
    }
    for (rule, kinds) in kinds {
        assert_eq!(kinds.len(), 2, "{rule}");
    }
    assert_eq!(titles, RULES.into_iter().map(str::to_owned).collect());
}
