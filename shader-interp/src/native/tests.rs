//! Random programs in both tiers: all registers, masks, the running lanes, the place and the fuel are the
//! same wherever either stops.

use super::enter::run;
use super::*;
use crate::code::isa::AfterTest;
use crate::code::{Inst, Opcode, OperandKind, Pin, Program};
use crate::exec::context::Context;
use crate::exec::run::{Control, interpret_at};
use crate::exec::strand::{Step, Strand};
use crate::interface::{CompileOptions, Grid, Resources};
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::random::Random;
use pellucid_memory::system::Lanes;

const PINS: u16 = 12;
const VECTORS: u16 = 44;
const PARKS: u16 = 12;
const MASKS: u16 = PARKS + 2 + 10;

/// Any shader: its metadata are those of the random programs.
const SHADER: &[u8] = include_bytes!("../../tests/exec/shaders/chains.spv");

/// Where an instruction's jump goes, before the code is whole.
#[derive(Clone, Copy)]
enum To {
    Here(usize),
    End,
}

struct Generator {
    random: Random,
    code: Vec<(Inst, To)>,
    parks: u16,
    /// Rows that lines may have.
    rows: Vec<Opcode>,
    tests: Vec<Opcode>,
}

fn row(op: Opcode) -> Inst {
    Inst { op, dst: 0, a: 0, b: 0, c: 0, aux: 0, imm: 0 }
}

impl Generator {
    fn new(seed: u64, encoded: bool) -> Generator {
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
        let handed = [Elect, VoteAll, VoteAny, Ballot, BroadcastFirst, LanesToMask];
        let lanes = Opcode::ALL.iter().copied().filter(|op| {
            let set = op.test().is_some_and(|(_, after)| after == AfterTest::Set);
            op.lane_wise() || set
        });
        let mut rows: Vec<Opcode> = lanes.chain(special).chain(handed).collect();
        if encoded {
            rows.retain(|op| translate::kind(&row(*op)) == translate::Kind::Lanes);
        }
        let tests = Opcode::ALL.iter().copied().filter(|op| op.fused().is_some()).collect();
        Generator { random: Random::new(seed), code: Vec::new(), parks: 0, rows, tests }
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
        inst
    }

    fn line(&mut self) {
        for _ in 0..self.random.below(14u32) {
            let op = self.random.pick(&self.rows.clone());
            let inst = self.operands(op);
            self.code.push((inst, To::End));
        }
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
            match self.random.below(if depth == 0 { 1 } else { 7u32 }) {
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

    fn word(&mut self) -> u32 {
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

    fn program(mut self) -> (Program, Random) {
        let depth = self.random.below(4u32);
        self.block(depth);
        let words: Vec<u32> = SHADER.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
        let options = CompileOptions {
            entry_point: "main".into(),
            specialization: Default::default(),
            subgroup_size: 32,
            modelled: false,
            push_unset: false,
            notes: false,
            debug: false,
            keep_variables: false,
        };
        let mut code = Code::clone(&crate::compile(&words, &options).expect("a shader that compiles"));
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
        (code.vectors, code.masks, code.parks) = (VECTORS.into(), MASKS.into(), PARKS.into());
        code.memory.clear();
        code.barriers.clear();
        code.images.clear();
        code.prints.clear();
        code.views.clear();
        code.groups.clear();
        code.back_edges.clear();
        (Program::new(code).expect("a program that is verified"), self.random)
    }
}

/// Everything of a strand but its own counts.
fn state(strand: &Strand) -> (Vec<Lanes>, Vec<u32>, [u32; 4]) {
    (strand.vectors.clone(), strand.masks.clone(), [strand.pc, strand.mask, strand.live, strand.fuel])
}

fn differ(seed: u64, mut generator: Generator, level: Level) -> Result<(), String> {
    let values: Vec<Lanes> = (0..VECTORS).map(|_| Lanes(std::array::from_fn(|_| generator.word()))).collect();
    let (program, mut random) = generator.program();
    let native = NativeCode::new(&program, level, Tier::Compiled).ok_or("no code")?;
    let resources = Resources::default();
    let context = Context::new(&program, &Grid { base: [0; 3], groups: [1; 3] }, &resources);
    let mut memory = PlainMemory::new(&[]);
    let control = Control { alone: true, every: false };
    let mut one = Strand::default();
    one.prepare(&context);
    one.start(&context, &context.launch.identity(0, [0; 3], 0));
    one.vectors[PINS as usize..].copy_from_slice(&values[PINS as usize..]);
    for mask in &mut one.masks[PARKS as usize + 2..] {
        *mask = random.bits() as u32;
    }
    if random.chance(50) {
        one.mask = random.bits() as u32 | 1;
        one.live = one.mask;
    }
    let mut two = one.clone();
    for round in 0..6 {
        let fuel = 1 + random.below(30u32);
        (one.fuel, two.fuel) = (fuel, fuel);
        let left = interpret_at::<_, false>(level, &context, &mut one, &mut memory, &control, 0);
        let right = run(level, &native, &context, &mut two, &mut memory, &control);
        let (left, right) = (left.map_err(|_| "a trap")?, right.map_err(|_| "a trap")?);
        let (is, should) = (state(&two), state(&one));
        if left == right && is == should {
            if left == Step::Done {
                break;
            }
            continue;
        }
        let mut text = format!("seed {seed}, round {round}: {left:?} {right:?}\n{:?} {:?}\n", should.2, is.2);
        for k in 0..VECTORS as usize {
            if let Some(j) = (0..32).find(|j| is.0[k].0[*j] != should.0[k].0[*j]) {
                text += &format!("v{k}[{j}]: {:08x}, not {:08x}\n", is.0[k].0[j], should.0[k].0[j]);
            }
        }
        for k in (0..MASKS as usize).filter(|k| is.1[*k] != should.1[*k]) {
            text += &format!("m{k}: {:08x}, not {:08x}\n", is.1[k], should.1[k]);
        }
        return Err(text + &program.to_string());
    }
    Ok(())
}

fn levels() -> Vec<Level> {
    match Level::detect() {
        Level::Avx512 => vec![Level::Avx512, Level::Avx2],
        Level::Avx2 => vec![Level::Avx2],
        Level::Baseline => Vec::new(),
    }
}

#[test]
fn random_programs_compute_the_same_in_both_tiers() {
    let count = std::env::var("PELLUCID_RANDOM_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    for level in levels() {
        for seed in 0..count {
            if let Err(text) = differ(seed, Generator::new(seed, seed % 3 != 0), level) {
                panic!("{level:?}: {text}");
            }
        }
    }
}

#[test]
fn every_encoding_computes_what_its_row_says() {
    let rows = Opcode::ALL.iter().copied().filter(|op| translate::kind(&row(*op)) == translate::Kind::Lanes);
    let mut wrong = Vec::new();
    for op in rows {
        for (level, seed) in levels().into_iter().flat_map(|level| (0..12).map(move |seed| (level, seed))) {
            let mut generator = Generator::new(seed, true);
            generator.rows = vec![op];
            if let Err(text) = differ(seed, generator, level) {
                wrong.push(format!("{op:?} {level:?}: {}", &text[..text.len().min(200)]));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
