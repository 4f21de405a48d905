//! The front end on its own: what shaders come out as (snapshots beside the sources; `UPDATE_EXPECT=1 cargo
//! test -p pellucid-shader-interp --test lowering` writes them anew), what is refused and how, and that no
//! module, however broken, makes it panic.

use expect_test::expect_file;
use pellucid_memory::random::Random;
use pellucid_shader_interp::{CompileError, CompileOptions, spirv};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shaders/lowering")
}

fn words(name: &str) -> Vec<u32> {
    let bytes = std::fs::read(folder().join(name).with_extension("spv")).expect("a shader");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn options() -> CompileOptions {
    CompileOptions::default()
}

fn lower(name: &str) -> String {
    let shader = spirv::lower(&words(name), &options()).expect("a shader that is lowered");
    let mut text = shader.to_string();
    for (k, site) in shader.sites.iter().enumerate().filter(|(_, site)| !site.instruction.is_empty()) {
        let line = site
            .source
            .map_or(String::new(), |at| format!(" {}:{}", shader.files[at.file as usize].name, at.line));
        text += &format!(
            "site {k}: {} in {} through {:?}{line}\n",
            site.instruction, site.function, site.variable
        );
    }
    text
}

const ACCEPTED: [&str; 17] = [
    "addresses",
    "atomics",
    "chosen_pointers",
    "coherent",
    "conditional_header",
    "control",
    "endless",
    "glsl_std_450",
    "initializers",
    "layouts",
    "pointers_of_array",
    "self_loop",
    "specialization",
    "subgroups",
    "unreachable",
    "variable_pointers",
    "workgroup_blocks",
];

/// The larger ones are only lowered: their text says little that a reader could check.
const SNAPSHOTS: [&str; 10] = [
    "addresses",
    "atomics",
    "chosen_pointers",
    "coherent",
    "conditional_header",
    "pointers_of_array",
    "specialization",
    "unreachable",
    "variable_pointers",
    "workgroup_blocks",
];

#[test]
fn shaders_come_out_as_recorded() {
    for name in SNAPSHOTS {
        expect_file![folder().join(name).with_extension("ir")].assert_eq(&lower(name));
    }
}

#[test]
fn every_value_is_used_after_its_definition() {
    // The verifier at the end of the passes says so or `lower` fails.
    for name in ACCEPTED {
        lower(name);
    }
}

#[test]
fn lowering_is_deterministic() {
    for name in ACCEPTED {
        assert_eq!(lower(name), lower(name), "{name}");
    }
}

#[test]
fn recursion_and_unstructured_control_flow_are_invalid() {
    for (name, what) in [("recursion", "calls itself"), ("irreducible", "unstructured control flow")] {
        match spirv::lower(&words(name), &options()) {
            Err(CompileError::Invalid(message)) => assert!(message.contains(what), "{message}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn residency_codes_are_integers() {
    let bytes = std::fs::read(folder().join("../../../../icd/tests/shaders/residency.spv")).unwrap();
    let good: Vec<u32> =
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    assert!(spirv::lower(&good, &options()).is_ok());
    // Types by their instructions: the code's becomes that of the texel's components, or the texel's.
    let (mut structures, mut vector, mut float) = (Vec::new(), 0, 0);
    let mut at = 5;
    while at < good.len() {
        match (good[at] & 0xffff, good[at] >> 16) {
            (22, _) => float = good[at + 1],
            (23, _) if good[at + 2] == float && good[at + 3] == 4 => vector = good[at + 1],
            (30, 4) if good[at + 3] == vector => structures.push(at + 2),
            _ => {}
        }
        at += (good[at] >> 16) as usize;
    }
    assert!(!structures.is_empty());
    for wrong in [float, vector] {
        let mut module = good.clone();
        structures.iter().for_each(|at| module[*at] = wrong);
        let outcome = spirv::lower(&module, &options()).err();
        let said = "has a residency code that is no integer";
        assert!(matches!(&outcome, Some(CompileError::Invalid(text)) if text.contains(said)), "{outcome:?}");
    }
}

#[test]
fn what_is_not_there_is_named() {
    let missing = CompileOptions { entry_point: "other".into(), ..options() };
    assert_eq!(
        spirv::lower(&words("control"), &missing).err(),
        Some(CompileError::NoEntryPoint("other".into(), "\"main\"".into()))
    );
    let mut module = words("control");
    // The first instruction is `OpCapability Shader`; 6 is Kernel.
    module[6] = 6;
    assert_eq!(
        spirv::lower(&module, &options()).err(),
        Some(CompileError::NotImplemented("capability Kernel".into()))
    );
}

#[test]
fn specialization_replaces_defaults_and_checks_sizes() {
    // layouts.comp: constant 0 is local_size_x, 1 the N of `M = N * 2 + (Bc ? 1 : 0)`, the length of a
    // workgroup array.
    let mut with = options();
    with.specialization =
        BTreeMap::from([(0, 16u32.to_le_bytes().to_vec()), (1, 20u32.to_le_bytes().to_vec())]);
    let shader = spirv::lower(&words("layouts"), &with).expect("a shader");
    assert_eq!(shader.local_size, [16, 2, 1]);
    assert!(shader.workgroup.iter().any(|object| object.name == "arr" && object.size == 4 * 41));
    with.specialization = BTreeMap::from([(0, vec![1, 2])]);
    assert!(matches!(spirv::lower(&words("layouts"), &with), Err(CompileError::Invalid(_))));
}

#[test]
fn headers_are_checked() {
    let good = words("control");
    let with = |at: usize, word: u32| {
        let mut words = good.clone();
        words[at] = word;
        spirv::lower(&words, &options()).err()
    };
    assert!(matches!(with(0, 1), Some(CompileError::Invalid(_))));
    assert!(matches!(with(0, good[0].swap_bytes()), Some(CompileError::Invalid(_))));
    assert!(matches!(with(1, 0x0002_0000), Some(CompileError::NotImplemented(_))));
    assert!(matches!(with(3, u32::MAX), Some(CompileError::Limit(_))));
    for len in 0..good.len() {
        assert!(spirv::lower(&good[..len], &options()).is_err(), "{len} words of {}", good.len());
    }
}

#[test]
fn broken_modules_are_errors_not_panics() {
    let files: Vec<Vec<u32>> = ACCEPTED.iter().map(|name| words(name)).collect();
    let mut random = Random::new(0);
    let mut random = move |below: usize| random.below(below);
    let mut accepted = 0;
    for _ in 0..4000 {
        let mut words = files[random(files.len())].clone();
        for _ in 0..=random(3) {
            let (at, from) = (random(words.len()), random(words.len()));
            match random(5) {
                0 => words[at] = random(1 << 32) as u32,
                1 => words[at] ^= 1 << random(32),
                2 => words[at] = random(400) as u32,
                3 => words[at] = words[from],
                _ => words.swap(at, from),
            }
        }
        accepted += usize::from(spirv::lower(&words, &options()).is_ok());
    }
    assert!(
        accepted > 50,
        "the mutations are so coarse that only {accepted} modules got past the first checks"
    );
}

/// The source lines of a shader's sites, in order.
fn lines(name: &str) -> Vec<String> {
    let shader = spirv::lower(&words(name), &options()).expect("a shader that is lowered");
    let line = |site: &pellucid_shader_interp::ir::SiteInfo| {
        let at = site.source?;
        let text = shader.files[at.file as usize].text.as_ref().expect("embedded source");
        Some(text.lines().nth(at.line as usize - 1).expect("a line").trim().to_owned())
    };
    shader.sites.iter().filter_map(line).collect()
}

#[test]
fn lines_count_in_the_source_as_it_was_written() {
    assert_eq!(lines("lines"), ["b.v[1] = b.v[0];"; 2]);
    let lines = lines("coherent");
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("void ")), "{lines:?}");
}

#[test]
fn source_that_is_not_utf_8_is_left_out() {
    let mut words = words("lines");
    let texts = |words: &[u32]| {
        let shader = spirv::lower(words, &options()).expect("a shader that is lowered");
        shader.files.into_iter().map(|file| file.text.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&words), [true]);
    // What glslang 12 makes of characters beyond ASCII.
    let at = words.iter().position(|word| word.to_le_bytes() == *b"ersi");
    words[at.expect("the source's first line")] = u32::from_le_bytes([0xff; 4]);
    assert_eq!(texts(&words), [false]);
}
