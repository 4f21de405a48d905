//! Programs with nested, divergent control flow of every kind (loops, switches with fall-through, early
//! returns, breaks and continues from inside them, calls), generated once at random; what each of eight
//! invocations must leave in the buffer was computed by the same program in C.

use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{Descriptor, Grid, Resources};
use pellucid_shader_interp::{CompileOptions, compile};
use std::path::Path;

fn words(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).expect("a shader");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn run(words: &[u32]) -> Vec<i32> {
    let options = CompileOptions::default();
    let program = compile(words, &options).expect("a program");
    let words: Vec<u32> = (0..8).map(|i| (i * 3 - 7i32).cast_unsigned()).collect();
    let memory = MemoryRange::of_words(&words, 0x1000, Reference(0)).expect("memory");
    let bindings = vec![vec![Descriptor::Buffer(memory.clone())]];
    let resources = Resources { bindings, ..Resources::default() };
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    dispatch(&program, &grid, &resources, &PlainOptions::default()).expect("a dispatch that ends");
    memory.words().into_iter().map(u32::cast_signed).collect()
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
