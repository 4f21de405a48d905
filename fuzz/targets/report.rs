//! Report files: every format that `pellucid report` shows, the command that a replay repeats, and rules of
//! suppression.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pellucid::report::{Format, Report};
use vulkan_pellucid::report::{replay, suppress::Suppressions};

fuzz_target!(|text: &str| {
    let _ = Suppressions::parse(text);
    if let Some(words) = replay::words(text) {
        let line: Vec<String> = words.iter().map(|word| replay::quote(word)).collect();
        assert_eq!(replay::words(&line.join(" ")), Some(words));
    }
    let Ok(report) = Report::parse(text) else { return };
    for format in [Format::Text, Format::Sarif, Format::Html] {
        let _ = report.shown(format);
    }
});
