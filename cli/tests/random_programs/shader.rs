//! Random programs as SPIR-V text.

use super::program::{Condition, How, Index, Node, Op, Place, Program, Through, Turns, WORDS, Width};
use pellucid_memory::access::AtomicOp;
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Device address of the data buffer.
pub const DATA: u64 = 0x1_0000;
/// Device address of the texels.
pub const TEXELS: u64 = 0x2_0000;
/// Device address of the results: a word for each invocation.
pub const RESULTS: u64 = 0x3_0000;

/// The bindings: results, words, alias, bytes, longs, texels, image, constants.
pub const BINDINGS: u32 = 8;

const TYPES: &str = "
%void = OpTypeVoid
%bool = OpTypeBool
%u8 = OpTypeInt 8 0
%u16 = OpTypeInt 16 0
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%v2 = OpTypeVector %u32 2
%v3 = OpTypeVector %u32 3
%v4 = OpTypeVector %u32 4
%fn = OpTypeFunction %void
%words_array = OpTypeRuntimeArray %u32
%bytes_array = OpTypeRuntimeArray %u8
%longs_array = OpTypeRuntimeArray %u64
%words_block = OpTypeStruct %words_array
%bytes_block = OpTypeStruct %bytes_array
%longs_block = OpTypeStruct %longs_array
%words_block_p = OpTypePointer StorageBuffer %words_block
%bytes_block_p = OpTypePointer StorageBuffer %bytes_block
%longs_block_p = OpTypePointer StorageBuffer %longs_block
%uniform_u32 = OpTypePointer Uniform %u32
%buffer_u8 = OpTypePointer StorageBuffer %u8
%buffer_u32 = OpTypePointer StorageBuffer %u32
%buffer_u64 = OpTypePointer StorageBuffer %u64
%physical_u8 = OpTypePointer PhysicalStorageBuffer %u8
%physical_u16 = OpTypePointer PhysicalStorageBuffer %u16
%physical_u32 = OpTypePointer PhysicalStorageBuffer %u32
%physical_u64 = OpTypePointer PhysicalStorageBuffer %u64
%physical_v2 = OpTypePointer PhysicalStorageBuffer %v2
%texels_type = OpTypeImage %u32 Buffer 0 0 0 2 R32ui
%image_type = OpTypeImage %u32 2D 0 0 0 2 R32ui
%texels_p = OpTypePointer UniformConstant %texels_type
%image_p = OpTypePointer UniformConstant %image_type
%texel_u32 = OpTypePointer Image %u32
%input_u32 = OpTypePointer Input %u32
%input_v3 = OpTypePointer Input %v3
%local_u32 = OpTypePointer Function %u32
%shared_u32 = OpTypePointer Workgroup %u32
%shared_u64 = OpTypePointer Workgroup %u64
";

const DECORATIONS: &str = "
OpDecorate %words_array ArrayStride 4
OpDecorate %bytes_array ArrayStride 1
OpDecorate %longs_array ArrayStride 8
OpDecorate %constants_array ArrayStride 4
OpDecorate %constants_block Block
OpMemberDecorate %constants_block 0 Offset 0
OpDecorate %words_block Block
OpDecorate %bytes_block Block
OpDecorate %longs_block Block
OpMemberDecorate %words_block 0 Offset 0
OpMemberDecorate %bytes_block 0 Offset 0
OpMemberDecorate %longs_block 0 Offset 0
OpDecorate %workgroup BuiltIn WorkgroupId
OpDecorate %local BuiltIn LocalInvocationIndex
";

const RESOURCES: [(&str, &str, &str); BINDINGS as usize] = [
    ("results", "words_block_p", "StorageBuffer"),
    ("words", "words_block_p", "StorageBuffer"),
    ("alias", "words_block_p", "StorageBuffer"),
    ("bytes", "bytes_block_p", "StorageBuffer"),
    ("longs", "longs_block_p", "StorageBuffer"),
    ("texels", "texels_p", "UniformConstant"),
    ("image", "image_p", "UniformConstant"),
    ("constants", "constants_p", "Uniform"),
];

struct Text {
    words: BTreeSet<u32>,
    longs: BTreeSet<u64>,
    body: String,
    ids: u32,
    sites: u32,
}

/// The module of a program.
pub fn text(program: &Program) -> String {
    let mut text =
        Text { words: BTreeSet::new(), longs: BTreeSet::new(), body: String::new(), ids: 0, sites: 0 };
    text.main(program);
    let mut module = String::from("; Version: 1.5\n");
    for capability in [
        "Shader",
        "Int8",
        "Int16",
        "Int64",
        "Int64Atomics",
        "StorageBuffer8BitAccess",
        "StorageBuffer16BitAccess",
        "PhysicalStorageBufferAddresses",
        "ImageBuffer",
        "VulkanMemoryModel",
        "VulkanMemoryModelDeviceScope",
        "GroupNonUniform",
    ] {
        let _ = writeln!(module, "OpCapability {capability}");
    }
    module.push_str("OpMemoryModel PhysicalStorageBuffer64 Vulkan\n");
    let names = RESOURCES.map(|(name, ..)| format!("%{name}")).join(" ");
    let _ = writeln!(
        module,
        "OpEntryPoint GLCompute %main \"main\" {names} %workgroup %local %shared %shared_longs\n\
         OpExecutionMode %main LocalSize {} 1 1",
        program.local
    );
    module.push_str(DECORATIONS);
    for (binding, (name, ..)) in RESOURCES.iter().enumerate() {
        let _ = writeln!(module, "OpDecorate %{name} DescriptorSet 0\nOpDecorate %{name} Binding {binding}");
        if matches!(*name, "words" | "alias" | "bytes" | "longs" | "texels" | "image" | "constants") {
            let _ = writeln!(module, "OpDecorate %{name} Aliased");
        }
    }
    module.push_str(TYPES);
    text.words.extend([0, 1, WORDS, WORDS / 2]);
    for word in &text.words {
        let _ = writeln!(module, "%w{word} = OpConstant %u32 {word}");
    }
    for long in &text.longs {
        let _ = writeln!(module, "%l{long} = OpConstant %u64 {long}");
    }
    let _ = writeln!(
        module,
        "%constants_array = OpTypeArray %u32 %w{WORDS}\n%constants_block = OpTypeStruct %constants_array\n\
         %constants_p = OpTypePointer Uniform %constants_block\n\
         %shared_array = OpTypeArray %u32 %w{WORDS}\n%shared_longs_array = OpTypeArray %u64 %w{}\n\
         %shared_array_p = OpTypePointer Workgroup %shared_array\n\
         %shared_longs_array_p = OpTypePointer Workgroup %shared_longs_array",
        WORDS / 2
    );
    let (mut first, mut second) = ("", "");
    if program.zeroed {
        module.push_str(
            "%null_words = OpConstantNull %shared_array\n%null_longs = OpConstantNull %shared_longs_array\n",
        );
        (first, second) = ("%null_words", "%null_longs");
    }
    let _ = writeln!(
        module,
        "%shared = OpVariable %shared_array_p Workgroup {first}\n\
         %shared_longs = OpVariable %shared_longs_array_p Workgroup {second}\n\
         %workgroup = OpVariable %input_v3 Input\n%local = OpVariable %input_u32 Input"
    );
    for (name, pointer, class) in RESOURCES {
        let _ = writeln!(module, "%{name} = OpVariable %{pointer} {class}");
    }
    module.push_str(&text.body);
    module
}

impl Text {
    fn id(&mut self) -> String {
        self.ids += 1;
        format!("%x{}", self.ids)
    }

    fn line(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    fn word(&mut self, value: u32) -> String {
        self.words.insert(value);
        format!("%w{value}")
    }

    fn long(&mut self, value: u64) -> String {
        self.longs.insert(value);
        format!("%l{value}")
    }

    /// An instruction with a result.
    fn value(&mut self, what: &str) -> String {
        let id = self.id();
        self.line(&format!("{id} = {what}"));
        id
    }

    fn main(&mut self, program: &Program) {
        self.line("%main = OpFunction %void None %fn\n%start = OpLabel");
        for name in ["loaded", "sum", "turn"] {
            self.line(&format!("%{name} = OpVariable %local_u32 Function %w0"));
        }
        let locals = self.word(program.local);
        self.line(
            "%group3 = OpLoad %v3 %workgroup\n%group = OpCompositeExtract %u32 %group3 0\n%index = OpLoad %u32 %local",
        );
        self.line(&format!("%first = OpIMul %u32 %group {locals}\n%agent = OpIAdd %u32 %first %index"));
        self.nodes(&program.body);
        let to = self.value("OpAccessChain %buffer_u32 %results %w0 %agent");
        let sum = self.value("OpLoad %u32 %sum");
        self.line(&format!("OpStore {to} {sum}\nOpReturn\nOpFunctionEnd"));
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Op(op) => self.op(op),
                Node::Barrier(scope, semantics) => self.barrier(2, *scope, *semantics),
                Node::If(condition, then, otherwise) => {
                    let condition = self.condition(*condition);
                    let [yes, no, merge] = [self.id(), self.id(), self.id()];
                    self.line(&format!(
                        "OpSelectionMerge {merge} None\nOpBranchConditional {condition} {yes} {no}"
                    ));
                    self.line(&format!("{yes} = OpLabel"));
                    self.nodes(then);
                    self.line(&format!("OpBranch {merge}\n{no} = OpLabel"));
                    self.nodes(otherwise);
                    self.line(&format!("OpBranch {merge}\n{merge} = OpLabel"));
                }
                Node::Loop(turns, body) => self.turns(*turns, body),
            }
        }
    }

    fn turns(&mut self, turns: Turns, body: &[Node]) {
        let most = match turns {
            Turns::All(most) | Turns::Until(most) => self.word(most),
            Turns::Divergent(least) => {
                let least = self.word(least);
                let odd = self.value("OpBitwiseAnd %u32 %index %w1");
                self.value(&format!("OpIAdd %u32 {odd} {least}"))
            }
        };
        let before = self.value("OpLoad %u32 %turn");
        let end = self.value(&format!("OpIAdd %u32 {before} {most}"));
        let [header, inside, next, merge] = [self.id(), self.id(), self.id(), self.id()];
        self.line(&format!("OpBranch {header}\n{header} = OpLabel"));
        let turn = self.value("OpLoad %u32 %turn");
        let mut more = self.value(&format!("OpULessThan %bool {turn} {end}"));
        if let Turns::Until(_) = turns {
            let first = self.value(&format!("OpIEqual %bool {turn} {before}"));
            let loaded = self.value("OpLoad %u32 %loaded");
            let nothing = self.value(&format!("OpIEqual %bool {loaded} %w0"));
            let go = self.value(&format!("OpLogicalOr %bool {first} {nothing}"));
            more = self.value(&format!("OpLogicalAnd %bool {more} {go}"));
        }
        self.line(&format!("OpLoopMerge {merge} {next} None\nOpBranchConditional {more} {inside} {merge}"));
        self.line(&format!("{inside} = OpLabel"));
        self.nodes(body);
        self.line(&format!("OpBranch {next}\n{next} = OpLabel"));
        let turn = self.value(&format!("OpIAdd %u32 {turn} %w1"));
        self.line(&format!("OpStore %turn {turn}\nOpBranch {header}\n{merge} = OpLabel"));
    }

    fn condition(&mut self, condition: Condition) -> String {
        let equal = |text: &mut Text, of: &str, value: u32| {
            let value = text.word(value);
            text.value(&format!("OpIEqual %bool {of} {value}"))
        };
        match condition {
            Condition::Is(agent) => equal(self, "%agent", agent),
            Condition::Workgroup(group) => equal(self, "%group", group),
            Condition::Lanes(mask) => {
                let mask = self.word(mask);
                let most = self.word(31);
                let lane = self.value(&format!("OpBitwiseAnd %u32 %index {most}"));
                let bits = self.value(&format!("OpShiftRightLogical %u32 {mask} {lane}"));
                let bit = self.value(&format!("OpBitwiseAnd %u32 {bits} %w1"));
                equal(self, &bit, 1)
            }
            Condition::Bit(bit) => {
                let loaded = self.value("OpLoad %u32 %loaded");
                let mask = self.word(1 << bit);
                let bit = self.value(&format!("OpBitwiseAnd %u32 {loaded} {mask}"));
                self.value(&format!("OpINotEqual %bool {bit} %w0"))
            }
            Condition::Loaded => {
                let loaded = self.value("OpLoad %u32 %loaded");
                self.value(&format!("OpINotEqual %bool {loaded} %w0"))
            }
            Condition::Equal(value) => {
                let loaded = self.value("OpLoad %u32 %loaded");
                equal(self, &loaded, value)
            }
        }
    }

    fn index(&mut self, index: Index) -> String {
        match index {
            Index::Constant(element) => self.word(element),
            Index::Local(shift, count) => self.shifted("%index", shift, count),
            Index::Global(shift, count) => self.shifted("%agent", shift, count),
            Index::Loaded(count) => {
                let loaded = self.value("OpLoad %u32 %loaded");
                self.shifted(&loaded, 0, count)
            }
        }
    }

    fn shifted(&mut self, of: &str, shift: u32, count: u32) -> String {
        let (shift, count) = (self.word(shift), self.word(count));
        let sum = self.value(&format!("OpIAdd %u32 {of} {shift}"));
        self.value(&format!("OpUMod %u32 {sum} {count}"))
    }

    /// A pointer, unless the place is a texel of a plain access.
    fn pointer(&mut self, place: &Place) -> String {
        let index = self.index(place.index);
        match place.through {
            Through::Words => self.value(&format!("OpAccessChain %buffer_u32 %words %w0 {index}")),
            Through::Alias => self.value(&format!("OpAccessChain %buffer_u32 %alias %w0 {index}")),
            Through::Bytes => self.value(&format!("OpAccessChain %buffer_u8 %bytes %w0 {index}")),
            Through::Longs => self.value(&format!("OpAccessChain %buffer_u64 %longs %w0 {index}")),
            Through::Shared => self.value(&format!("OpAccessChain %shared_u32 %shared {index}")),
            Through::SharedLongs => self.value(&format!("OpAccessChain %shared_u64 %shared_longs {index}")),
            Through::Physical => {
                let (size, base) = (self.long(u64::from(place.width.bytes())), self.long(DATA));
                let wide = self.value(&format!("OpUConvert %u64 {index}"));
                let offset = self.value(&format!("OpIMul %u64 {wide} {size}"));
                let address = self.value(&format!("OpIAdd %u64 {offset} {base}"));
                self.value(&format!("OpConvertUToPtr %physical_{} {address}", name(place.width)))
            }
            Through::Texels => self.value(&format!("OpImageTexelPointer %texel_u32 %texels {index} %w0")),
            Through::Image => {
                let at = self.coordinates(&index);
                self.value(&format!("OpImageTexelPointer %texel_u32 %image {at} %w0"))
            }
        }
    }

    /// The image has eight columns.
    fn coordinates(&mut self, index: &str) -> String {
        let (seven, three) = (self.word(7), self.word(3));
        let x = self.value(&format!("OpBitwiseAnd %u32 {index} {seven}"));
        let y = self.value(&format!("OpShiftRightLogical %u32 {index} {three}"));
        self.value(&format!("OpCompositeConstruct %v2 {x} {y}"))
    }

    fn scope(&mut self, scope: Scope) -> String {
        self.word(match scope {
            Scope::Device => 1,
            Scope::Workgroup => 2,
            Scope::Subgroup => 3,
            Scope::Invocation => 4,
            Scope::QueueFamily => 5,
        })
    }

    /// At Invocation scope there are none.
    fn semantics(&mut self, scope: Scope, s: Semantics) -> String {
        let bit = |there: bool, bit: u32| if there { bit } else { 0 };
        let order = match (s.acquire, s.release) {
            (true, true) => 8,
            (true, false) => 2,
            (false, true) => 4,
            (false, false) => 0,
        };
        let bits = order
            | bit(s.classes.contains(StorageClasses::UNIFORM), 0x40)
            | bit(s.classes.contains(StorageClasses::WORKGROUP), 0x100)
            | bit(s.classes.contains(StorageClasses::IMAGE), 0x800)
            | bit(s.make_available, 0x2000)
            | bit(s.make_visible, 0x4000);
        self.word(if order == 0 || scope == Scope::Invocation { 0 } else { bits })
    }

    fn barrier(&mut self, execution: u32, scope: Scope, semantics: Semantics) {
        let execution = self.word(execution);
        let (scope, semantics) = (self.scope(scope), self.semantics(scope, semantics));
        self.line(&format!("OpControlBarrier {execution} {scope} {semantics}"));
    }

    /// A word that no other store of the program stores.
    fn fresh(&mut self) -> String {
        self.sites += 1;
        let base = self.word(self.sites << 12 | 1);
        let eight = self.word(8);
        let turn = self.value("OpLoad %u32 %turn");
        let agent = self.value(&format!("OpIMul %u32 %agent {eight}"));
        let sum = self.value(&format!("OpIAdd %u32 {agent} {turn}"));
        let number = self.value(&format!("OpIAdd %u32 {sum} {base}"));
        let odd = self.word(0x9e37_79b1);
        self.value(&format!("OpIMul %u32 {number} {odd}"))
    }

    /// A fresh value of a type.
    fn fresh_of(&mut self, width: Width) -> String {
        let word = self.fresh();
        match width {
            Width::Word => word,
            Width::Pair => {
                let other = self.fresh();
                self.value(&format!("OpCompositeConstruct %v2 {word} {other}"))
            }
            Width::Long => {
                let other = self.fresh();
                let pair = self.value(&format!("OpCompositeConstruct %v2 {word} {other}"));
                self.value(&format!("OpBitcast %u64 {pair}"))
            }
            Width::Byte | Width::Short => {
                let by = self.word(if width == Width::Byte { 24 } else { 16 });
                let high = self.value(&format!("OpShiftRightLogical %u32 {word} {by}"));
                self.value(&format!("OpUConvert %{} {high}", name(width)))
            }
        }
    }

    /// Keeps a value that was loaded.
    fn keep(&mut self, value: &str, width: Width) {
        let (word, high) = match width {
            Width::Word => (value.to_owned(), None),
            Width::Byte | Width::Short => (self.value(&format!("OpUConvert %u32 {value}")), None),
            Width::Pair | Width::Long => {
                let pair = match width {
                    Width::Long => self.value(&format!("OpBitcast %v2 {value}")),
                    _ => value.to_owned(),
                };
                let low = self.value(&format!("OpCompositeExtract %u32 {pair} 0"));
                (low, Some(self.value(&format!("OpCompositeExtract %u32 {pair} 1"))))
            }
        };
        self.line(&format!("OpStore %loaded {word}"));
        for word in [Some(word), high].into_iter().flatten() {
            let thirty_one = self.word(31);
            let sum = self.value("OpLoad %u32 %sum");
            let more = self.value(&format!("OpIMul %u32 {sum} {thirty_one}"));
            let sum = self.value(&format!("OpIAdd %u32 {more} {word}"));
            self.line(&format!("OpStore %sum {sum}"));
        }
    }

    /// The memory operands of a plain access, or the image operands.
    fn operands(&mut self, place: &Place, how: How, write: bool) -> String {
        let kind =
            if matches!(place.through, Through::Texels | Through::Image) { "Texel" } else { "Pointer" };
        let verb = if write { "Available" } else { "Visible" };
        let mut masks = Vec::new();
        let mut ids = Vec::new();
        if place.through == Through::Physical {
            masks.push("Aligned".to_owned());
            ids.push(place.width.bytes().to_string());
        }
        if let Some(scope) = how.scope {
            masks.push(format!("Make{kind}{verb}"));
            ids.push(self.scope(scope));
        }
        if how.non_private || how.scope.is_some() {
            masks.push(format!("NonPrivate{kind}"));
        }
        if masks.is_empty() { String::new() } else { format!("{} {}", masks.join("|"), ids.join(" ")) }
    }

    /// The image and coordinates of a plain access to a texel.
    fn texel(&mut self, place: &Place) -> (String, String) {
        let index = self.index(place.index);
        match place.through {
            Through::Image => {
                let at = self.coordinates(&index);
                (self.value("OpLoad %image_type %image"), at)
            }
            _ => (self.value("OpLoad %texels_type %texels"), index),
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Load(place, how) => {
                let operands = self.operands(place, *how, false);
                if matches!(place.through, Through::Texels | Through::Image) {
                    let (image, at) = self.texel(place);
                    let texel = self.value(&format!("OpImageRead %v4 {image} {at} {operands}"));
                    let word = self.value(&format!("OpCompositeExtract %u32 {texel} 0"));
                    return self.keep(&word, Width::Word);
                }
                let pointer = match place.through {
                    // Another descriptor reads as another descriptor does: as a uniform buffer.
                    Through::Alias => {
                        let index = self.index(place.index);
                        self.value(&format!("OpAccessChain %uniform_u32 %constants %w0 {index}"))
                    }
                    _ => self.pointer(place),
                };
                let value = self.value(&format!("OpLoad %{} {pointer} {operands}", name(place.width)));
                self.keep(&value, place.width);
            }
            Op::Store(place, how) => {
                let operands = self.operands(place, *how, true);
                if matches!(place.through, Through::Texels | Through::Image) {
                    let (image, at) = self.texel(place);
                    let word = self.fresh();
                    let texel = self.value(&format!("OpCompositeConstruct %v4 {word} %w0 %w0 %w0"));
                    return self.line(&format!("OpImageWrite {image} {at} {texel} {operands}"));
                }
                let pointer = self.pointer(place);
                let value = self.fresh_of(place.width);
                self.line(&format!("OpStore {pointer} {value} {operands}"));
            }
            Op::AtomicLoad(place, scope, semantics) => {
                let pointer = self.pointer(place);
                let (scope, semantics) = (self.scope(*scope), self.semantics(*scope, *semantics));
                let t = name(place.width);
                let value = self.value(&format!("OpAtomicLoad %{t} {pointer} {scope} {semantics}"));
                self.keep(&value, place.width);
            }
            Op::AtomicStore(place, scope, semantics) => {
                let pointer = self.pointer(place);
                let (scope, semantics) = (self.scope(*scope), self.semantics(*scope, *semantics));
                let value = self.fresh_of(place.width);
                self.line(&format!("OpAtomicStore {pointer} {scope} {semantics} {value}"));
            }
            Op::Count(place, scope, semantics) => {
                let pointer = self.pointer(place);
                let (scope, semantics) = (self.scope(*scope), self.semantics(*scope, *semantics));
                let t = name(place.width);
                let value = self.value(&format!("OpAtomicIIncrement %{t} {pointer} {scope} {semantics}"));
                self.keep(&value, place.width);
            }
            Op::Update(place, scope, semantics, op, failed) => {
                let pointer = self.pointer(place);
                let at = *scope;
                let (scope, semantics) = (self.scope(at), self.semantics(at, *semantics));
                let value = self.fresh_of(place.width);
                let t = name(place.width);
                let old = if *op == AtomicOp::CompareExchange {
                    let failed = self.semantics(at, *failed);
                    let mut expected = if self.sites.is_multiple_of(2) {
                        "%w0".to_owned()
                    } else {
                        self.value("OpLoad %u32 %loaded")
                    };
                    if place.width == Width::Long {
                        expected = self.value(&format!("OpUConvert %u64 {expected}"));
                    }
                    self.value(&format!(
                        "OpAtomicCompareExchange %{t} {pointer} {scope} {semantics} {failed} {value} {expected}"
                    ))
                } else {
                    self.value(&format!("OpAtomic{op:?} %{t} {pointer} {scope} {semantics} {value}"))
                };
                self.keep(&old, place.width);
            }
            Op::Fence(scope, semantics) => {
                // A memory barrier has semantics.
                let scope = (*scope).max(Scope::Subgroup);
                let (scope, semantics) = (self.scope(scope), self.semantics(scope, *semantics));
                self.line(&format!("OpMemoryBarrier {scope} {semantics}"));
            }
            Op::Together(scope, semantics) => self.barrier(3, *scope, *semantics),
        }
    }
}

fn name(width: Width) -> &'static str {
    match width {
        Width::Byte => "u8",
        Width::Short => "u16",
        Width::Word => "u32",
        Width::Long => "u64",
        Width::Pair => "v2",
    }
}
