//! Random programs of verified instructions: lines, branches that lanes take one by one or together, loops
//! and accesses.

use super::super::rows::{has_encoding, test_has_encoding};
use crate::code::isa::AfterTest;
use crate::code::{Code, Inst, MemoryEntry, Opcode, OperandKind, Pin, Program, Space};
use crate::interface::CompileOptions;
use crate::ir::{GroupFold, GroupKind, Scalar};
use pellucid_memory::access::{Access, AtomicOp, Reference, Site};
use pellucid_memory::random::Random;
use pellucid_memory::scope::{Scope, StorageClasses};

pub(super) const PINS: u16 = 12;
pub(super) const VECTORS: u16 = 44;
/// Behind them: offsets that are never written (lanes, halves of lanes, any, one, rows of eight), and what
/// loads write, of which lanes that do not run may hold anything.
const OFFSETS: u16 = 5;
/// Then pairs of registers: addresses in the buffers ([`address`]).
pub(super) const ADDRESSES: u16 = 6;
pub(super) const POINTERS: u16 = VECTORS + OFFSETS;
pub(super) const LOADED: u16 = POINTERS + 2 * ADDRESSES;
pub(super) const ALL_VECTORS: u16 = LOADED + 8;
/// Words of the view that is only read, of the other one, of workgroup memory, and of private memory.
pub(super) const WORDS: [usize; 3] = [300, 281, 64];
pub(super) const PRIVATE: u32 = 12;
pub(super) const PARKS: u16 = 12;
pub(super) const MASKS: u16 = PARKS + 2 + 10;

/// Operations between lanes that have encodings.
const ACROSS: [Opcode; 11] = [
    Opcode::Elect,
    Opcode::VoteAll,
    Opcode::VoteAny,
    Opcode::VoteEqualMask,
    Opcode::VoteEqual,
    Opcode::VoteEqualFloat,
    Opcode::VoteEqual64,
    Opcode::Ballot,
    Opcode::Shuffle,
    Opcode::BroadcastFirst,
    Opcode::Group,
];

/// What [`Opcode::Group`] does.
const GROUPS: [(GroupFold, GroupKind, Scalar); 24] = {
    use GroupFold::*;
    use GroupKind::*;
    [
        (IAdd, Reduce, Scalar::I32),
        (IMul, Clustered(8), Scalar::I32),
        (And, Reduce, Scalar::I32),
        (Or, Clustered(16), Scalar::I32),
        (Xor, Clustered(4), Scalar::I32),
        (UMin, Reduce, Scalar::I32),
        (UMax, Clustered(2), Scalar::I32),
        (SMin, Clustered(32), Scalar::I32),
        (SMax, Reduce, Scalar::I32),
        (FAdd, Reduce, Scalar::F32),
        (FAdd, Clustered(8), Scalar::F32),
        (FMul, Reduce, Scalar::F32),
        (FMin, Reduce, Scalar::F32),
        (FMax, Reduce, Scalar::F32),
        (FMax, Clustered(16), Scalar::F32),
        (FMin, Clustered(1), Scalar::F32),
        (IAdd, InclusiveScan, Scalar::I32),
        (IAdd, ExclusiveScan, Scalar::I32),
        (UMax, InclusiveScan, Scalar::I32),
        (SMin, ExclusiveScan, Scalar::I32),
        (And, ExclusiveScan, Scalar::I32),
        (IMul, InclusiveScan, Scalar::I32),
        (FAdd, InclusiveScan, Scalar::F32),
        (IAdd, Reduce, Scalar::I16),
    ]
};

/// The buffers that have addresses, so many words each; 4 GiB end in the first one.
pub(super) const BUFFERS: [u64; 2] = [0x1_ffff_fe00, 0x5_0000_1000];
pub(super) const BUFFER_WORDS: usize = 400;

/// The address of a lane in pair `kind`: lanes apart, one after the other, in two buffers, all at one place,
/// in steps of 16 bytes, anywhere.
pub(super) fn address(kind: u16, lane: u64, random: &mut Random) -> u64 {
    let [first, second] = BUFFERS;
    match kind {
        0 => first + 32 * lane,
        1 => first + 4 * lane,
        2 if lane < 16 => first + 32 * lane,
        2 => second + 32 * (lane - 16),
        3 => second + 40,
        4 => first + 16 * lane,
        _ => first + 4 * random.below(200u64),
    }
}

/// Any shader: its metadata are those of the random programs.
const SHADER: &[u8] = include_bytes!("../../../tests/exec/shaders/chains.spv");

/// Where an instruction's jump goes, before the code is whole.
#[derive(Clone, Copy)]
enum To {
    Here(usize),
    End,
}

pub(super) struct Generator {
    pub(super) random: Random,
    code: Vec<(Inst, To)>,
    parks: u16,
    /// Rows that lines may have.
    pub(super) rows: Vec<Opcode>,
    tests: Vec<Opcode>,
    memory: Vec<MemoryEntry>,
    /// Accesses only load, and in no order.
    only_loads: bool,
    /// The program is one of the modelled mode.
    pub(super) modelled: bool,
}

fn row(op: Opcode) -> Inst {
    Inst { op, dst: 0, a: 0, b: 0, c: 0, aux: 0, imm: 0 }
}

pub(super) fn is_encoded(op: Opcode) -> bool {
    let row = |op| has_encoding(op) || ACROSS.contains(&op);
    op.test().map_or(row(op), |(test, after)| after == AfterTest::Set && test_has_encoding(test))
}

impl Generator {
    pub(super) fn new(seed: u64, encoded: bool) -> Generator {
        use Opcode::*;
        let special = [
            MovMasked,
            Select,
            Select64,
            MaskMov,
            MaskMovMasked,
            MaskAnd,
            MaskOr,
            MaskXor,
            MaskNot,
            MaskEqual,
            MaskSelect,
            MaskToInt,
            MaskToLanes,
        ];
        let handed = [InverseBallot, BallotBitExtract, BallotBitCount, BallotFind, QuadSwap, LanesToMask];
        let lanes = Opcode::ALL.iter().copied().filter(|op| {
            let set = op.test().is_some_and(|(_, after)| after == AfterTest::Set);
            op.lane_wise() || set
        });
        let mut rows: Vec<Opcode> = lanes.chain(special).chain(ACROSS).chain(handed).collect();
        if encoded {
            rows.retain(|op| is_encoded(*op));
        }
        let tests = Opcode::ALL.iter().copied().filter(|op| op.fused().is_some()).collect();
        let random = Random::new(seed);
        let (code, memory) = (Vec::new(), Vec::new());
        Generator { random, code, parks: 0, rows, tests, memory, only_loads: false, modelled: false }
    }

    fn vector(&mut self, run: u16, written: bool) -> u16 {
        // Few registers, so that values meet.
        let few = if self.random.chance(60) { 10 } else { VECTORS - PINS - 4 };
        if written { PINS + self.random.below(few) } else { self.random.below(PINS + few + 1 - run) }
    }

    fn operands(&mut self, op: Opcode) -> Inst {
        let shape = op.shape();
        let mut inst = row(op);
        let fields = [&mut inst.dst, &mut inst.a, &mut inst.b, &mut inst.c, &mut inst.aux];
        for (n, (kind, field)) in shape.into_iter().zip(fields).enumerate() {
            *field = match kind {
                OperandKind::Vector(run) => self.vector(run, n == 0),
                OperandKind::Mask if n == 0 => PARKS + 2 + self.random.below(MASKS - PARKS - 2),
                OperandKind::Mask => PARKS + self.random.below(MASKS - PARKS),
                _ => 0,
            };
        }
        if shape[5] == OperandKind::Literal {
            inst.imm = self.random.below(if op == Opcode::Group { GROUPS.len() as u32 } else { 11 });
        }
        inst
    }

    /// An access, in which lanes do not disturb those of other parts but by read-modify-writes, in a line of
    /// its own unless it only reads.
    fn access(&mut self) {
        let space = self.random.pick(&[
            Space::View(0),
            Space::View(1),
            Space::View(1),
            Space::Workgroup(Reference(0)),
            Space::Private { start: 4, end: 44 },
            Space::Physical,
        ]);
        let only_loads = self.only_loads;
        let space = match space {
            Space::Private { .. } | Space::Physical if only_loads => Space::View(0),
            space => space,
        };
        let private = matches!(space, Space::Private { .. });
        let physical = space == Space::Physical;
        let shared = !private && space != Space::View(0);
        let kind = if only_loads { 0 } else { self.random.below(if shared { 3u32 } else { 2 }) };
        let (loads, modifies) = (kind == 0 || space == Space::View(0), kind == 2);
        let size = if modifies { 4 } else { self.random.pick(&[1, 2, 4, 4, 4, 8u8]) };
        let size = if only_loads { 4 } else { size };
        let size = if private { size.min(4) } else { size };
        let several = !private && !modifies;
        let components = if several { self.random.pick(&[1, 1, 1, 2, 3, 4u8]) } else { 1 };
        let components = if size == 8 { components.min(3) } else { components };
        let words = u16::from(components) * if size == 8 { 2 } else { 1 };
        let mut access = Access::plain(StorageClasses::UNIFORM, size, components);
        if modifies || size == 4 && words == 1 && !private && !only_loads && self.random.chance(20) {
            access.atomic = Some(Scope::Device);
        }
        // Lanes follow one another, most often.
        let follow = (u32::from(size) * u32::from(components)).next_power_of_two().trailing_zeros();
        let apart = !loads && !modifies && !private && words > 1;
        let (offset, shift) = match self.random.below(if apart { 3u32 } else { 8 }) {
            0 | 1 => (VECTORS, follow),
            2 => (VECTORS + 4, follow),
            3 => (VECTORS + 1 + self.random.below(3u16), follow),
            4 => (VECTORS + self.random.below(OFFSETS), self.random.below(7u32)),
            5 => (self.random.below(PINS), 0),
            6 => (self.vector(1, false), self.random.below(3u32)),
            _ => (VECTORS + 3, self.random.below(6u32)),
        };
        let immediate = match self.random.below(6u32) {
            0..=2 => 0,
            3 => self.random.below(40u32) * 4,
            4 => self.random.below(1400u32),
            _ => 0u32.wrapping_sub(self.random.below(20u32)),
        };
        // What lies outside of the buffers traps.
        let pair = if apart { self.random.pick(&[0, 2]) } else { self.random.below(ADDRESSES) };
        let (offset, shift, immediate) = match physical {
            true => (POINTERS + 2 * pair, 0, 4 * self.random.below(40u32)),
            false => (offset, shift, immediate),
        };
        let values = (0..words).map(|_| self.vector(1, false).into()).collect();
        let op = self.random.pick(&[
            AtomicOp::Exchange,
            AtomicOp::CompareExchange,
            AtomicOp::IAdd,
            AtomicOp::IAdd,
            AtomicOp::ISub,
            AtomicOp::SMin,
            AtomicOp::UMin,
            AtomicOp::SMax,
            AtomicOp::UMax,
            AtomicOp::And,
            AtomicOp::Or,
            AtomicOp::Xor,
            AtomicOp::FAdd,
        ]);
        let compares = modifies && op == AtomicOp::CompareExchange;
        let comparator = if compares {
            [self.vector(1, false).into()].into_iter().collect()
        } else {
            [].into_iter().collect()
        };
        let entry = self.memory.len();
        // Nobody reads the last register.
        let result = if modifies && self.random.chance(30) { ALL_VECTORS - 1 } else { LOADED };
        self.memory.push(MemoryEntry {
            site: Site(0),
            access,
            space,
            offset: offset.into(),
            shift,
            immediate,
            result: if loads || modifies { result.into() } else { 0 },
            values: if loads { [].into_iter().collect() } else { values },
            comparator,
            atomic: modifies.then_some(op),
            visible: false,
        });
        let values: Vec<u16> = self.memory[entry].values.iter().map(|value| *value as u16).collect();
        let fast = size == 4 && access.atomic.is_none() && !physical && self.random.chance(60) || private;
        let one = offset < PINS || offset == VECTORS + 3 || physical && pair == 3;
        let uniform = one && self.random.chance(60);
        let (slot, workgroup) = match space {
            Space::View(slot) => (slot, false),
            _ => (0, true),
        };
        let op = match (fast, loads, components, private) {
            (_, true, _, true) => Opcode::LoadPrivate,
            (_, false, _, true) => Opcode::StorePrivate,
            (true, true, 1, _) if workgroup => Opcode::LoadWorkgroup,
            (true, true, 2, _) if workgroup => Opcode::LoadWorkgroup2,
            (true, true, 3, _) if workgroup => Opcode::LoadWorkgroup3,
            (true, true, _, _) if workgroup => Opcode::LoadWorkgroup4,
            (true, true, 1, _) if uniform => Opcode::LoadViewUniform,
            (true, true, 1, _) => Opcode::LoadView,
            (true, true, 2, _) => Opcode::LoadView2,
            (true, true, 3, _) => Opcode::LoadView3,
            (true, true, _, _) => Opcode::LoadView4,
            (true, false, 1, _) if workgroup => Opcode::StoreWorkgroup,
            (true, false, 1, _) => Opcode::StoreView,
            _ if modifies => Opcode::Atomic,
            (_, true, _, _) if uniform => Opcode::LoadUniform,
            (_, true, _, _) => Opcode::Load,
            _ => Opcode::Store,
        };
        let mut inst = row(op);
        if op.shape()[5] == OperandKind::Memory {
            inst.imm = entry as u32;
        } else {
            (inst.dst, inst.a, inst.b) = (if loads { LOADED } else { values[0] }, offset, slot);
            (inst.c, inst.aux, inst.imm) = (shift as u16, entry as u16, immediate);
        }
        let alone = !private && space != Space::View(0) && !only_loads;
        if alone {
            self.code.push((row(Opcode::Jump), To::Here(self.code.len() + 1)));
        }
        self.code.push((inst, To::End));
        if alone {
            self.code.push((row(Opcode::Jump), To::Here(self.code.len() + 1)));
        }
        // What only an entry names is read as well.
        if modifies && result == LOADED && self.random.chance(30) {
            let entry = MemoryEntry {
                offset: VECTORS.into(),
                shift: 2,
                immediate: 0,
                space: Space::View(1),
                result: (ALL_VECTORS - 1).into(),
                values: [LOADED.into()].into_iter().collect(),
                comparator: [].into_iter().collect(),
                atomic: Some(AtomicOp::FAdd),
                ..self.memory[entry].clone()
            };
            self.memory.push(entry);
            let imm = self.memory.len() as u32 - 1;
            self.code.push((Inst { imm, ..row(Opcode::Atomic) }, To::End));
        } else if (loads || modifies) && result == LOADED {
            for word in 0..words {
                let mov = Inst { dst: self.vector(1, true), a: LOADED + word, ..row(Opcode::MovMasked) };
                self.code.push((mov, To::End));
            }
        }
    }

    fn line(&mut self) {
        for _ in 0..self.random.below(14u32) {
            if self.random.chance(25) {
                self.access();
            }
            let op = self.random.pick(&self.rows.clone());
            let inst = self.operands(op);
            self.code.push((inst, To::End));
        }
    }

    /// Rows of a loop that changes nothing in memory.
    fn rows_that_load(&mut self) {
        let most = if self.random.chance(10) { 90 } else { 10u32 };
        for _ in 0..self.random.below(most) {
            if self.random.chance(10) {
                self.only_loads = true;
                self.access();
                self.only_loads = false;
            }
            let op = self.random.pick(&self.rows.clone());
            let inst = self.operands(op);
            self.code.push((inst, To::End));
        }
    }

    /// A way out of a loop: its place, and where lanes wait behind it, if they leave one after the other.
    fn exit(&mut self) -> Option<(usize, Option<u16>)> {
        if self.random.chance(60) {
            let park = self.park()?;
            return Some((self.split(park), Some(park)));
        }
        let jump = if self.random.chance(50) {
            let test = self.random.pick(&self.tests.clone());
            self.operands(test.fused().expect("a test").1)
        } else {
            self.operands(Opcode::JumpUnless)
        };
        self.code.push((jump, To::End));
        Some((self.code.len() - 1, None))
    }

    fn park(&mut self) -> Option<u16> {
        (self.parks < PARKS).then(|| {
            self.parks += 1;
            self.parks - 1
        })
    }

    /// A split whose lanes that fail wait in `park`; returns its place.
    fn split(&mut self, park: u16) -> usize {
        let inst = if self.random.chance(60) {
            let test = self.random.pick(&self.tests.clone());
            self.operands(test.fused().expect("a test").0)
        } else {
            let op = self.random.pick(&[Opcode::Split, Opcode::SplitNot]);
            self.operands(op)
        };
        self.code.push((Inst { dst: park, ..inst }, To::End));
        self.code.len() - 1
    }

    fn land(&mut self, from: usize) {
        self.code[from].1 = To::Here(self.code.len());
    }

    fn join(&mut self, park: u16) {
        self.code.push((Inst { dst: park, ..row(Opcode::Join) }, To::End));
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(3u32) {
            self.line();
            match self.random.below(if depth == 0 { 1 } else { 8u32 }) {
                0 => {}
                // Divergent selection.
                1 | 2 => {
                    let Some(park) = self.park() else { continue };
                    let split = self.split(park);
                    self.block(depth - 1);
                    self.land(split);
                    self.join(park);
                }
                // Uniform selection.
                3 => {
                    let jump = if self.random.chance(50) {
                        let test = self.random.pick(&self.tests.clone());
                        self.operands(test.fused().expect("a test").1)
                    } else {
                        let op = self.random.pick(&[Opcode::JumpIf, Opcode::JumpUnless]);
                        self.operands(op)
                    };
                    self.code.push((jump, To::End));
                    let from = self.code.len() - 1;
                    self.block(depth - 1);
                    self.land(from);
                }
                // A loop that lanes leave one after the other.
                4 | 5 => {
                    let Some(park) = self.park() else { continue };
                    let again = self.code.len();
                    self.block(depth - 1);
                    let split = self.split(park);
                    self.line();
                    if self.random.chance(50) {
                        self.code.push((row(Opcode::Repeat), To::Here(again)));
                    } else {
                        let Some(other) = self.park() else {
                            self.code.push((row(Opcode::Repeat), To::Here(again)));
                            self.land(split);
                            self.join(park);
                            continue;
                        };
                        let on = self.split(other);
                        self.line();
                        self.land(on);
                        self.code.push((Inst { dst: other, ..row(Opcode::RepeatJoin) }, To::Here(again)));
                    }
                    self.land(split);
                    self.join(park);
                }
                // One that changes nothing in memory, that lanes leave one after the other and all at once.
                6 => {
                    let again = self.code.len();
                    let mut exits = Vec::new();
                    for _ in 0..self.random.below(4u32) {
                        self.rows_that_load();
                        exits.extend(self.exit());
                    }
                    self.rows_that_load();
                    if self.random.chance(50) {
                        self.code.push((row(Opcode::Repeat), To::Here(again)));
                    } else {
                        let test = self.random.pick(&self.tests.clone());
                        let jump = test.fused().expect("a test").1;
                        let inst = self.operands(jump.repeated().expect("a back-edge"));
                        self.code.push((inst, To::Here(again)));
                    }
                    exits.iter().for_each(|(from, _)| self.land(*from));
                    exits.iter().filter_map(|(_, park)| *park).for_each(|park| self.join(park));
                }
                // A loop that all take while any wants to.
                _ => {
                    let again = self.code.len();
                    self.block(depth - 1);
                    let test = self.random.pick(&self.tests.clone());
                    let jump = test.fused().expect("a test").1;
                    let inst = self.operands(jump.repeated().expect("a back-edge"));
                    self.code.push((inst, To::Here(again)));
                }
            }
        }
    }

    pub(super) fn word(&mut self) -> u32 {
        match self.random.below(6u32) {
            0 => self.random.pick(&[
                0,
                1,
                2,
                31,
                32,
                33,
                0x7fff_ffff,
                0x8000_0000,
                u32::MAX,
                0x7f80_0000,
                0xff80_0000,
                0x7ff0_0000,
                0xfff0_0000,
                0x7ff8_0001,
                0x3ff0_0000,
                0x4f00_0000,
                0xcf00_0000,
                0x4f80_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x0080_0000,
                0x7f7f_ffff,
            ]),
            1 => (self.random.below(2000u32) as f32 / 16.0 - 60.0).to_bits(),
            2 => self.random.below(70u32),
            3 => 0x7f80_0001 + self.random.below(0x7f_fffeu32) + (self.random.below(2u32) << 31),
            _ => self.random.bits() as u32,
        }
    }

    pub(super) fn program(mut self) -> (Program, Random) {
        let depth = self.random.below(4u32);
        self.block(depth);
        let words: Vec<u32> = SHADER.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        let options = CompileOptions::default();
        let mut code = Code::clone(&crate::compile(&words, &options).expect("a shader that compiles"));
        code.modelled = self.modelled;
        let end = self.code.len() as u32;
        self.code.push((row(Opcode::Done), To::End));
        code.code = std::mem::take(&mut self.code)
            .into_iter()
            .map(|(inst, to)| match (inst.op.shape()[5], to) {
                (OperandKind::Target, To::Here(imm)) => Inst { imm: imm as u32, ..inst },
                (OperandKind::Target, To::End) => Inst { imm: end, ..inst },
                _ => inst,
            })
            .collect();
        code.pins = (0..PINS).map(|_| Pin::Word(self.word())).collect();
        (code.vectors, code.masks, code.parks) = (ALL_VECTORS.into(), MASKS.into(), PARKS.into());
        code.memory = std::mem::take(&mut self.memory);
        code.shader.private_bytes = 4 * PRIVATE;
        code.barriers.clear();
        code.images.clear();
        code.prints.clear();
        code.matrices.clear();
        code.views = vec![(0, 0), (1, 0)];
        code.groups = GROUPS.to_vec();
        code.back_edges.clear();
        (Program::new(code).expect("a program that is verified"), self.random)
    }
}
