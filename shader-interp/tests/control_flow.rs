//! Programs with nested, divergent control flow of every kind (loops, switches with fall-through, early
//! returns, breaks and continues from inside them, calls), generated once at random; what each of eight
//! invocations must leave in the buffer was computed by the same program in C.

use pellucid_memory::access::Reference;
use pellucid_memory::system::MemoryView;
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use pellucid_shader_interp::{CompileOptions, compile};
use std::collections::BTreeMap;
use std::path::Path;

fn words(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).expect("a shader");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn run(words: &[u32]) -> Vec<i32> {
    let options = CompileOptions {
        entry_point: "main".into(),
        specialization: BTreeMap::new(),
        subgroup_size: 32,
        modelled: false,
        push_unset: false,
        notes: false,
        debug: false,
    };
    let program = compile(words, &options).expect("a program");
    let mut memory: Vec<u64> = vec![0; 4];
    for i in 0..8 {
        memory[i / 2] |= u64::from((i as i32 * 3 - 7) as u32) << (32 * (i % 2));
    }
    let view =
        MemoryView { host: memory.as_mut_ptr().cast(), address: 0x1000, size: 32, reference: Reference(0) };
    let resources = Resources { bindings: vec![vec![Descriptor::Buffer(view)]], ..Resources::default() };
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    dispatch(&program, &grid, &resources, &PlainOptions::default()).expect("a dispatch that ends");
    (0..8).map(|i| (memory[i / 2] >> (32 * (i % 2))) as u32 as i32).collect()
}

#[test]
fn programs_compute_what_c_computes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shaders/control");
    let expected = std::fs::read_to_string(folder.join("expected.txt")).expect("the expected results");
    let mut wrong = Vec::new();
    for line in expected.lines() {
        let mut fields = line.split(' ');
        let name = fields.next().expect("a name");
        let want: Vec<i32> = fields.map(|field| field.parse().expect("a number")).collect();
        let got = run(&words(&folder.join(name).with_extension("spv")));
        if got != want {
            wrong.push(format!("{name}: {got:?}, not {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
