//! Rules of suppression, what they match, and texts that are no rules.

use super::*;

fn named(id: FindingId) -> (&'static str, &'static str) {
    (crate::report::words::family(id), id.name())
}

#[test]
fn wildcards_match_any_characters() {
    for (pattern, text, expected) in [
        ("*", "", true),
        ("*", "anything", true),
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "acb", false),
        ("a*b*c", "aXbYbZc", true),
        ("ab*ba", "aba", false),
        ("reduce.comp:41", "reduce.comp:41", true),
        ("reduce.comp:4", "reduce.comp:41", false),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
    }
}

#[test]
fn rules_are_typed_and_unused_ones_are_listed() {
    let text = "# known\nrace:partial*\nhazard:partial*\nshader:warm*  # all of it\nout-of-bounds:*\n";
    let mut rules = Suppressions::parse(text).unwrap();
    let partial = Subject { names: vec!["partials".into()], shaders: vec!["main".into()] };
    assert!(rules.covers(named(FindingId::RaceNotVisible), &partial));
    assert!(!rules.covers(named(FindingId::UninitialisedRead), &partial));
    let warm = Subject { names: vec![], shaders: vec!["warmup.comp".into()] };
    assert!(rules.covers(named(FindingId::UninitialisedRead), &warm));
    assert_eq!(rules.unused(), ["hazard:partial* (line 3)", "out-of-bounds:* (line 5)"]);
    assert!(rules.covers(named(FindingId::OutOfBounds), &partial));
}

#[test]
fn what_is_not_a_rule_is_refused() {
    assert!(
        Suppressions::parse("rave:x")
            .unwrap_err()
            .starts_with("line 1: unknown kind \"rave\"; valid: race, hazard")
    );
    assert!(Suppressions::parse("\n\nrace").unwrap_err().starts_with("line 3: \"race\" is not a rule"));
}
