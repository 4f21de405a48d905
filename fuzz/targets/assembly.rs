//! Assembly text: the assembler, and what the command reads of a module.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pellucid::assemble::{NumericIds, assemble_with, assemble_with_lines};
use pellucid::host::reflect;

fuzz_target!(|text: &str| {
    for numeric in [NumericIds::Named, NumericIds::Preserved] {
        let Ok(words) = assemble_with(text, numeric) else { continue };
        assert!(assemble_with_lines(text, "a.spvasm", numeric).is_ok());
        let _ = (reflect::bindings(&words), reflect::constants(&words), reflect::has_push_constants(&words));
    }
});
