//! Modules whose constructs, calls and types lie deep inside of each other, compiled on threads with little
//! stack.

use crate::structured::emit::{put, text};
use crate::support::{options, with_resources};
use pellucid_shader_interp::exec::plain::{PlainOptions, dispatch};
use pellucid_shader_interp::interface::{CompileOptions, Grid};
use pellucid_shader_interp::{CompileError, Program, compile};
use spirv::Op;

const VOID: u32 = 1;
const UINT: u32 = 2;
const BOOL: u32 = 3;
const MAIN_TYPE: u32 = 4;
const BLOCK: u32 = 5;
const BLOCK_POINTER: u32 = 6;
const WORD_POINTER: u32 = 7;
const BUFFER: u32 = 8;
const ID: u32 = 9;
const ID_POINTER: u32 = 10;
const MAIN: u32 = 11;
const ZERO: u32 = 12;
const VARIABLE_POINTER: u32 = 13;
const FREE: u32 = 20;

/// A module with one word of storage for results; `LocalInvocationIndex` is [`ID`].
struct Module {
    next: u32,
    decorations: Vec<u32>,
    types: Vec<u32>,
    code: Vec<u32>,
    /// A variable that is 0 once something was counted, and undefined before.
    seen: Option<u32>,
}

impl Module {
    fn new() -> Module {
        Module { next: FREE, decorations: Vec::new(), types: Vec::new(), code: Vec::new(), seen: None }
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn put(&mut self, op: Op, operands: &[u32]) {
        put(&mut self.code, op, operands);
    }

    fn result(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.fresh();
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        self.put(op, &all);
        id
    }

    fn constant(&mut self, value: u32) -> u32 {
        let id = self.fresh();
        put(&mut self.types, Op::Constant, &[UINT, id, value]);
        id
    }

    /// Adds to the word.
    fn count(&mut self, value: u32) {
        let to = self.result(Op::AccessChain, WORD_POINTER, &[BUFFER, ZERO]);
        let before = self.result(Op::Load, UINT, &[to]);
        let after = self.result(Op::IAdd, UINT, &[before, value]);
        self.put(Op::Store, &[to, after]);
        if let Some(seen) = self.seen {
            self.put(Op::Store, &[seen, ZERO]);
        }
    }

    fn begin(&mut self) {
        self.put(Op::Function, &[VOID, MAIN, 0, MAIN_TYPE]);
        let label = self.fresh();
        self.put(Op::Label, &[label]);
        self.seen = Some(self.result(Op::Variable, VARIABLE_POINTER, &[7]));
    }

    fn end(&mut self) {
        if let Some(seen) = self.seen.take() {
            let seen = self.result(Op::Load, UINT, &[seen]);
            self.count(seen);
        }
        self.put(Op::Return, &[]);
        self.put(Op::FunctionEnd, &[]);
    }

    fn words(&self) -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x0001_0500, 0, self.next, 0];
        let out = &mut words;
        put(out, Op::Capability, &[1]);
        put(out, Op::MemoryModel, &[0, 1]);
        text(out, Op::EntryPoint, &[5, MAIN], "main", &[BUFFER, ID]);
        put(out, Op::ExecutionMode, &[MAIN, 17, 1, 1, 1]);
        put(out, Op::Decorate, &[ID, 11, 29]);
        put(out, Op::Decorate, &[BLOCK, 2]);
        put(out, Op::MemberDecorate, &[BLOCK, 0, 35, 0]);
        put(out, Op::Decorate, &[BUFFER, 34, 0]);
        put(out, Op::Decorate, &[BUFFER, 33, 0]);
        out.extend_from_slice(&self.decorations);
        put(out, Op::TypeVoid, &[VOID]);
        put(out, Op::TypeInt, &[UINT, 32, 0]);
        put(out, Op::TypeBool, &[BOOL]);
        put(out, Op::TypeFunction, &[MAIN_TYPE, VOID]);
        put(out, Op::TypeStruct, &[BLOCK, UINT]);
        put(out, Op::TypePointer, &[BLOCK_POINTER, 12, BLOCK]);
        put(out, Op::TypePointer, &[WORD_POINTER, 12, UINT]);
        put(out, Op::TypePointer, &[ID_POINTER, 1, UINT]);
        put(out, Op::TypePointer, &[VARIABLE_POINTER, 7, UINT]);
        put(out, Op::Constant, &[UINT, ZERO, 0]);
        put(out, Op::Variable, &[BLOCK_POINTER, BUFFER, 12]);
        put(out, Op::Variable, &[ID_POINTER, ID, 1]);
        words.extend_from_slice(&self.types);
        words.extend_from_slice(&self.code);
        words
    }
}

/// A switch with this many cases, each of which counts, and then goes on with the next one if it `falls`.
fn switch(cases: u32, falls: bool) -> Vec<u32> {
    let mut m = Module::new();
    let one = m.constant(1);
    m.begin();
    let selector = m.result(Op::Load, UINT, &[ID]);
    let merge = m.fresh();
    let labels: Vec<u32> = (0..cases).map(|_| m.fresh()).collect();
    m.put(Op::SelectionMerge, &[merge, 0]);
    let pairs = labels.iter().zip(0..).flat_map(|(label, literal)| [literal, *label]);
    let operands: Vec<u32> = [selector, merge].into_iter().chain(pairs).collect();
    m.put(Op::Switch, &operands);
    for (k, label) in labels.iter().enumerate() {
        m.put(Op::Label, &[*label]);
        m.count(one);
        let next = labels.get(k + 1).filter(|_| falls);
        m.put(Op::Branch, &[*next.unwrap_or(&merge)]);
    }
    m.put(Op::Label, &[merge]);
    m.end();
    m.words()
}

/// Branches inside of each other.
fn branches(depth: u32) -> Vec<u32> {
    let mut m = Module::new();
    let one = m.constant(1);
    m.begin();
    let mut merges = Vec::new();
    for k in 0..depth {
        let id = m.result(Op::Load, UINT, &[ID]);
        let limit = m.constant(k + 1);
        let condition = m.result(Op::ULessThan, BOOL, &[id, limit]);
        let (inside, merge) = (m.fresh(), m.fresh());
        m.put(Op::SelectionMerge, &[merge, 0]);
        m.put(Op::BranchConditional, &[condition, inside, merge]);
        m.put(Op::Label, &[inside]);
        m.count(one);
        merges.push(merge);
    }
    for merge in merges.into_iter().rev() {
        m.put(Op::Branch, &[merge]);
        m.put(Op::Label, &[merge]);
    }
    m.end();
    m.words()
}

/// Loops of one round inside of each other.
fn loops(depth: u32) -> Vec<u32> {
    let mut m = Module::new();
    let one = m.constant(1);
    m.begin();
    let mut open = Vec::new();
    for k in 0..depth {
        let [header, inside, turn, merge] = std::array::from_fn(|_| m.fresh());
        m.put(Op::Branch, &[header]);
        m.put(Op::Label, &[header]);
        m.put(Op::LoopMerge, &[merge, turn, 0]);
        m.put(Op::Branch, &[inside]);
        m.put(Op::Label, &[inside]);
        m.count(one);
        open.push((header, turn, merge, k + 1));
    }
    for (header, turn, merge, limit) in open.into_iter().rev() {
        m.put(Op::Branch, &[turn]);
        m.put(Op::Label, &[turn]);
        let id = m.result(Op::Load, UINT, &[ID]);
        let limit = m.constant(limit);
        let again = m.result(Op::UGreaterThan, BOOL, &[id, limit]);
        m.put(Op::BranchConditional, &[again, header, merge]);
        m.put(Op::Label, &[merge]);
    }
    m.end();
    m.words()
}

/// Functions that call each other in a row, each within this many branches.
fn calls(functions: u32, depth: u32) -> Vec<u32> {
    let mut m = Module::new();
    let one = m.constant(1);
    let names: Vec<u32> = [MAIN].into_iter().chain((1..functions).map(|_| m.fresh())).collect();
    for (k, name) in names.iter().enumerate() {
        m.put(Op::Function, &[VOID, *name, 0, MAIN_TYPE]);
        let label = m.fresh();
        m.put(Op::Label, &[label]);
        let mut merges = Vec::new();
        for j in 0..depth {
            let id = m.result(Op::Load, UINT, &[ID]);
            let limit = m.constant(depth * k as u32 + j + 1);
            let condition = m.result(Op::ULessThan, BOOL, &[id, limit]);
            let (inside, merge) = (m.fresh(), m.fresh());
            m.put(Op::SelectionMerge, &[merge, 0]);
            m.put(Op::BranchConditional, &[condition, inside, merge]);
            m.put(Op::Label, &[inside]);
            merges.push(merge);
        }
        m.count(one);
        if let Some(next) = names.get(k + 1) {
            m.result(Op::FunctionCall, VOID, &[*next]);
        }
        for merge in merges.into_iter().rev() {
            m.put(Op::Branch, &[merge]);
            m.put(Op::Label, &[merge]);
        }
        m.end();
    }
    m.words()
}

/// A constant of structures and arrays inside of each other, copied through a variable.
fn types(depth: u32) -> Vec<u32> {
    let mut m = Module::new();
    let seven = m.constant(7);
    let length = m.constant(1);
    let (mut ty, mut value) = (UINT, seven);
    for k in 0..depth {
        let outer = m.fresh();
        match k % 2 {
            0 => put(&mut m.types, Op::TypeStruct, &[outer, ty]),
            _ => put(&mut m.types, Op::TypeArray, &[outer, ty, length]),
        }
        let composite = m.fresh();
        put(&mut m.types, Op::ConstantComposite, &[outer, composite, value]);
        (ty, value) = (outer, composite);
    }
    let (pointer, word) = (m.fresh(), m.fresh());
    put(&mut m.types, Op::TypePointer, &[pointer, 7, ty]);
    put(&mut m.types, Op::TypePointer, &[word, 7, UINT]);
    m.begin();
    let from = m.result(Op::Variable, pointer, &[7]);
    let to = m.result(Op::Variable, pointer, &[7]);
    m.put(Op::Store, &[from, value]);
    m.put(Op::CopyMemory, &[to, from]);
    let whole = m.result(Op::Load, ty, &[to]);
    // An instruction has room for 255 indices.
    let indices = vec![0; depth.min(255) as usize];
    if depth <= 255 {
        let operands: Vec<u32> = [whole].into_iter().chain(indices).collect();
        let part = m.result(Op::CompositeExtract, UINT, &operands);
        m.count(part);
    } else {
        m.count(seven);
    }
    m.end();
    m.words()
}

/// A buffer of structures each of which holds two of the one before, and one more word.
fn doubled(depth: u32) -> Vec<u32> {
    let mut m = Module::new();
    let seven = m.constant(7);
    let mut ty = UINT;
    for _ in 0..depth {
        let outer = m.fresh();
        put(&mut m.types, Op::TypeStruct, &[outer, ty, ty]);
        ty = outer;
    }
    let [block, pointer, variable] = std::array::from_fn(|_| m.fresh());
    put(&mut m.types, Op::TypeStruct, &[block, UINT, ty]);
    put(&mut m.types, Op::TypePointer, &[pointer, 12, block]);
    put(&mut m.types, Op::Variable, &[pointer, variable, 12]);
    put(&mut m.decorations, Op::Decorate, &[block, 2]);
    put(&mut m.decorations, Op::Decorate, &[variable, 34, 0]);
    put(&mut m.decorations, Op::Decorate, &[variable, 33, 0]);
    m.begin();
    // Nothing is counted in the other block of this binding.
    m.seen = None;
    let first = m.result(Op::AccessChain, WORD_POINTER, &[variable, ZERO]);
    m.put(Op::Store, &[first, seven]);
    m.end();
    m.words()
}

fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("an end without panic")
    })
}

fn compiled(words: &[u32], modelled: bool) -> Result<Program, CompileError> {
    let options = CompileOptions { modelled, notes: modelled, ..options(32) };
    on_small_stack(|| {
        let program = compile(words, &options);
        // Text, copies and destructors, too.
        let text = program.as_ref().map(|program| program.clone().to_string());
        assert!(text.is_err() || text.is_ok_and(|text| text.contains("Done")));
        program
    })
}

/// What one invocation counts; both modes accept the module.
fn counted(words: &[u32]) -> u32 {
    compiled(words, true).expect("code for check mode");
    let program = compiled(words, false).expect("code for run mode");
    let mut buffers = [vec![0]];
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    with_resources(&program, &mut buffers, &[], |resources| {
        on_small_stack(|| dispatch(&program, &grid, resources, &PlainOptions::default()))
            .expect("a dispatch");
    });
    buffers[0][0]
}

#[test]
fn what_lies_deep_inside_compiles_on_a_small_stack() {
    assert_eq!(counted(&switch(10_000, false)), 1);
    assert_eq!(counted(&switch(10_000, true)), 10_000);
    assert_eq!(counted(&branches(1000)), 1000);
    assert_eq!(counted(&loops(300)), 300);
    assert_eq!(counted(&calls(90, 10)), 90);
    assert_eq!(counted(&types(255)), 7);
    assert_eq!(counted(&types(510)), 7);
}

#[test]
fn structures_that_hold_one_twice_are_measured_once() {
    for depth in [1, 20, 60] {
        assert_eq!(counted(&doubled(depth)), 7);
    }
}

/// Just below where a thread of its own is used.
#[test]
fn what_lies_less_deep_compiles_on_a_small_stack() {
    for k in 1..60 {
        assert_eq!(counted(&switch(k, false)), 1);
        assert_eq!(counted(&switch(k, true)), k);
        assert_eq!(counted(&branches(k)), k);
        assert_eq!(counted(&loops(k)), k);
        assert_eq!(counted(&calls(k, 1)), k);
        assert_eq!(counted(&types(k)), 7);
    }
}

#[test]
fn what_lies_too_deep_is_refused_by_name() {
    let refused = |words: &[u32]| compiled(words, false).expect_err("it is too deep").to_string();
    assert_eq!(refused(&branches(5000)), "limit exceeded: blocks nested deeper than 4096");
    assert_eq!(refused(&types(600)), "limit exceeded: types nested deeper than 512");
    assert_eq!(refused(&calls(150, 0)), "limit exceeded: calls nested deeper than 100");
}

/// Variables of more scalars than a value may have, zero by their initializers and by a store.
#[test]
fn large_variables_are_set_to_zero() {
    for (class, count) in [(7, 20_001), (6, 16_385)] {
        let mut m = Module::new();
        let length = m.constant(count);
        let [array, pointer, word, null, outside] = std::array::from_fn(|_| m.fresh());
        put(&mut m.types, Op::TypeArray, &[array, UINT, length]);
        put(&mut m.types, Op::TypePointer, &[pointer, class, array]);
        put(&mut m.types, Op::TypePointer, &[word, class, UINT]);
        put(&mut m.types, Op::ConstantNull, &[array, null]);
        let (seven, last) = (m.constant(7), m.constant(count - 1));
        if class == 6 {
            put(&mut m.types, Op::Variable, &[pointer, outside, class, null]);
        }
        m.begin();
        let variable = if class == 6 { outside } else { m.result(Op::Variable, pointer, &[class, null]) };
        for _ in 0..2 {
            for index in [last, ZERO, seven] {
                let at = m.result(Op::AccessChain, word, &[variable, index]);
                let value = m.result(Op::Load, UINT, &[at]);
                let more = m.result(Op::IAdd, UINT, &[value, seven]);
                m.put(Op::Store, &[at, more]);
                let value = m.result(Op::Load, UINT, &[at]);
                m.count(value);
            }
            m.put(Op::Store, &[variable, null]);
        }
        m.end();
        assert_eq!(counted(&m.words()), 2 * 3 * 7);
    }
    // Not taken apart, but valid.
    let mut m = Module::new();
    let length = m.constant(20_000);
    let [array, null] = std::array::from_fn(|_| m.fresh());
    put(&mut m.types, Op::TypeArray, &[array, UINT, length]);
    put(&mut m.types, Op::ConstantNull, &[array, null]);
    m.begin();
    m.result(Op::CompositeExtract, UINT, &[null, 0]);
    m.end();
    let refused = compiled(&m.words(), false).expect_err("it is too large").to_string();
    assert_eq!(refused, "limit exceeded: a value of 20000 scalars, more than 16384");
}
