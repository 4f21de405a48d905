//! Both litmus formats: the readers, the axioms, and the machine, which may not reach what the axioms forbid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pellucid_memory::litmus::axioms::Limits;
use pellucid_memory::litmus::report::{Report, Wanted};
use pellucid_memory::litmus::run::{By, Settings, parse};

fuzz_target!(|text: &str| {
    for name in ["fuzz.litmus", "fuzz.test"] {
        let Ok(test) = parse(name, text) else { continue };
        for by in [By::Axioms, By::Machine] {
            let settings =
                Settings { limits: Limits { unroll: 2, candidates: 200 }, by, ..Settings::default() };
            let Ok(report) = Report::new(name, &test, &settings, &Wanted::default()) else { continue };
            let _ = (report.text(), report.graph());
        }
    }
});
