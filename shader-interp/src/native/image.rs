//! Reads and writes of texels, for 16 lanes: of images with two dimensions, one layer and one sample, in the
//! formats whose conversions are a few instructions.
//!
//! Which image it is, only the dispatch knows. The code is made for the format that the image has when it is
//! made, and looks each time whether it has it still; where it has not, the interpreter does the instruction.
//! So each of these instructions is a line of its own.

use super::assembler::Label;
use super::memory::{Access, HOST, SIZE};
use super::operation::*;
use super::registers::{Part, RUNNING_MASK, STATE, Source};
use super::rows::UNORDERED;
use super::state;
use crate::code::{Code, Inst, Opcode, Pin};
use crate::math::format::{self, Aspect, FormatInfo, Numeric};
use crate::ops::image::planar::{Plane, Texel};
use iced_x86::{Code as X86, Instruction, MemoryOperand, Register};
use pellucid_memory::system::MemoryView;
use smallvec::SmallVec;

/// The predicate of a comparison of unsigned integers.
const LESS: u32 = 1;

/// An instruction on texels that has an encoding.
pub(super) struct TexelAccess {
    /// Its number in [`Code::images`].
    slot: usize,
    writes: bool,
    /// The registers of x and y.
    at: [u16; 2],
    info: &'static FormatInfo,
    /// The components to write.
    values: SmallVec<[u16; 4]>,
    /// The first component read, and how many are.
    results: (u16, usize),
}

impl TexelAccess {
    /// What `inst` does, if it has an encoding for images of these formats.
    pub fn of(code: &Code, formats: &[i32], inst: &Inst) -> Option<TexelAccess> {
        if inst.op != Opcode::Image {
            return None;
        }
        let slot = inst.imm as usize;
        let entry = code.images.get(slot)?;
        let texel = entry.instruction.texel()?;
        let info = format::properties(*formats.get(slot)?)?;
        let plain = matches!(
            info.numeric,
            Numeric::Uint | Numeric::Sint | Numeric::Unorm | Numeric::Snorm | Numeric::Sfloat
        );
        let whole = info.texel_bytes.is_power_of_two() && info.texel_bytes <= 16;
        if !plain || !whole || info.compression.is_some() || info.is_64_bit() || info.aspect != Aspect::Color
        {
            return None;
        }
        let &[x, y, ref rest @ ..] = entry.arguments.as_slice() else { return None };
        let level = |register: &u32| code.pins.get(*register as usize) == Some(&Pin::Word(0));
        let writes = texel == Texel::Write;
        match texel {
            Texel::Write if rest.len() > 4 => return None,
            Texel::Read if !rest.is_empty() => return None,
            Texel::ReadLevel if rest.len() > 1 || !rest.iter().all(level) => return None,
            _ => {}
        }
        let values = if writes { rest } else { &[] };
        Some(TexelAccess {
            slot,
            writes,
            at: [x as u16, y as u16],
            info,
            values: values.iter().map(|register| *register as u16).collect(),
            results: (entry.results.0 as u16, (entry.results.1 as usize).min(4)),
        })
    }

    /// Words of a texel; less than one is one.
    fn words(&self) -> usize {
        usize::from(self.info.texel_bytes).div_ceil(4)
    }

    /// Each component that the format has is a word.
    fn is_of_words(&self) -> bool {
        self.info.fields.iter().all(|field| matches!(field.width, 0 | 32))
    }
}

/// Calls `each` with the vector registers of an image operation: whether it is read, whether it is written.
pub(super) fn registers(code: &Code, inst: &Inst, each: &mut impl FnMut(u16, bool, bool)) {
    if inst.op == Opcode::Image {
        code.listed_reads(inst, |register| each(register as u16, true, false));
        let (first, count) = code.images[inst.imm as usize].results;
        (first..first + count).for_each(|register| each(register as u16, false, true));
    }
}

impl Part<'_> {
    /// A field of the instruction's image, whose table is in RAX.
    fn plane(&self, image: &TexelAccess, field: usize) -> MemoryOperand {
        let at = image.slot * size_of::<Plane<'_>>() + field;
        MemoryOperand::with_base_displ(Register::RAX, at as i64)
    }

    /// The same in every lane.
    fn plane_word(&self, image: &TexelAccess, field: usize) -> MemoryOperand {
        let at = image.slot * size_of::<Plane<'_>>() + field;
        MemoryOperand::with_base_displ_bcst_seg(Register::RAX, at as i64, true, Register::None)
    }

    fn planes(&mut self) {
        let planes = MemoryOperand::with_base_displ(STATE, state::PLANES as i64);
        self.asm.load(X86::Mov_r64_rm64, Register::RAX, planes);
    }

    /// Jumps if the image has another format than the code was made for, or is of another shape.
    pub fn unless_format(&mut self, image: &TexelAccess, other: Label) {
        self.planes();
        let format = self.plane(image, Plane::FORMAT);
        self.asm.put(Instruction::with2(X86::Cmp_rm32_imm32, format, image.info.format));
        self.asm.branch(X86::Jne_rel32_64, other);
    }

    /// The lanes of this part read or write texels.
    pub fn image(&mut self, image: &TexelAccess) {
        if image.writes { self.write_texels(image) } else { self.read_texels(image) }
    }

    /// Byte offsets of the texels, in `t`; the running lanes whose texels exist.
    fn texels(&mut self, image: &TexelAccess, [x, y]: [u8; 2], (t, u): (u8, u8)) -> u8 {
        let running = self.condition(RUNNING_MASK);
        let inside = self.host_mask_but(running);
        self.planes();
        let to = Register::K0 + u32::from(inside);
        for (condition, of, field) in [(running, x, Plane::WIDTH), (inside, y, Plane::HEIGHT)] {
            let (of, size) = (self.host(of), self.plane_word(image, field));
            let code = X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
            self.masked(condition, Instruction::with4(code, to, of, size, LESS));
        }
        let (pitch, start) = (self.plane_word(image, Plane::PITCH), self.plane_word(image, Plane::START));
        let (wide_t, wide_y) = (self.host(t), self.host(y));
        self.asm.put(Instruction::with3(MUL.0, wide_t, wide_y, pitch));
        self.by(SHL_BY, u, x, image.info.texel_bytes.trailing_zeros());
        self.binary(ADD, t, t, Source::Host(u));
        self.asm.put(Instruction::with3(ADD.0, wide_t, wide_t, start));
        let memory = |field: usize| Plane::MEMORY + field;
        let (host, size) = (memory(MemoryView::HOST), memory(MemoryView::SIZE));
        let (host, size) = (self.plane(image, host), self.plane(image, size));
        self.asm.load(X86::Mov_r64_rm64, HOST, host);
        self.asm.load(X86::Mov_r64_rm64, SIZE, size);
        inside
    }

    /// The word in every lane.
    fn spread_bits(&mut self, to: u8, word: u32) {
        self.general(X86::Mov_r32_imm32, word, Register::EAX);
        self.spread_general(to, Register::EAX);
    }

    fn read_texels(&mut self, image: &TexelAccess) {
        // What may make code of its own comes before the first jump.
        let at = image.at.map(|register| self.read(register));
        let (t, u) = (self.temporary(), self.temporary());
        let words: SmallVec<[u8; 4]> = (0..image.words()).map(|_| self.temporary()).collect();
        let components: SmallVec<[(usize, u16); 4]> = (0..image.results.1)
            .map(|k| (k, image.results.0 + k as u16))
            .filter(|(_, register)| self.reads[usize::from(*register)])
            .collect();
        let to: SmallVec<[u8; 4]> = components
            .iter()
            .map(|(k, _)| match image.info.fields[*k] {
                field if field.width == 32 => words[usize::from(field.offset) / 32],
                _ => self.temporary(),
            })
            .collect();
        let inside = self.texels(image, at, (t, u));
        let (k, done) = (self.host_mask_but(inside), self.asm.label());
        let access = Access::of_texels(image.info.texel_bytes.into());
        self.load_lanes(&access, &words, (t, u), (inside, k), done);
        self.asm.bind(done);
        for word in &words {
            let word = self.host(*word);
            self.masked_zero(inside, Instruction::with2(LOAD.0, word, word));
        }
        // What `u` holds in every lane.
        let mut held = None;
        for ((k, register), to) in components.into_iter().zip(to) {
            self.decode(image.info, k, &words, to, (t, u), &mut held);
            self.set(register, to);
        }
    }

    /// Component `k` of texels with these words, in `to`.
    fn decode(
        &mut self,
        info: &FormatInfo,
        k: usize,
        words: &[u8],
        to: u8,
        (t, u): (u8, u8),
        held: &mut Option<u32>,
    ) {
        let field = info.fields[k];
        let (width, shift) = (u32::from(field.width), u32::from(field.offset) % 32);
        match width {
            0 if info.missing(k) == 0 => return self.zero_register(to),
            0 => return self.spread_bits(to, info.missing(k)),
            32 => return,
            _ => {}
        }
        let word = words[usize::from(field.offset) / 32];
        let signed = matches!(info.numeric, Numeric::Sint | Numeric::Snorm);
        self.by(SHL_BY, t, word, 32 - width - shift);
        self.by(if signed { SAR_BY } else { SHR_BY }, to, t, 32 - width);
        match info.numeric {
            Numeric::Sfloat => {
                self.widen_half(to, to);
                let nan = self.compare_floats(UNORDERED, to, Source::Host(to));
                self.choose(to, nan, Source::Constant(Constant::Nan), to);
            }
            Numeric::Unorm | Numeric::Snorm => {
                let largest = (largest(info.numeric, width) as f32).to_bits();
                if held.replace(largest) != Some(largest) {
                    self.spread_bits(u, largest);
                }
                self.unary(F_FROM_S, to, Source::Host(to));
                self.binary(F_DIV, to, to, Source::Host(u));
                if signed {
                    self.spread_bits(t, (-1f32).to_bits());
                    self.binary(F_MAX, to, to, Source::Host(t));
                }
            }
            _ => {}
        }
    }

    fn write_texels(&mut self, image: &TexelAccess) {
        // What may make code of its own comes before the first jump.
        let at = image.at.map(|register| self.read(register));
        let [t, u, v, w] = std::array::from_fn(|_| self.temporary());
        let info = image.info;
        let mut words: SmallVec<[u8; 4]> = SmallVec::new();
        if image.is_of_words() {
            for word in 0..image.words() {
                let is_there = |k: &usize| {
                    let field = info.fields[*k];
                    field.width == 32 && usize::from(field.offset) / 32 == word
                };
                words.push(match (0..image.values.len()).find(is_there) {
                    Some(k) => self.read(image.values[k]),
                    None => self.temporary(),
                });
                if !(0..image.values.len()).any(|k| is_there(&k)) {
                    self.zero_register(words[word]);
                }
            }
        } else {
            words.extend((0..image.words()).map(|_| self.temporary()));
            words.iter().for_each(|word| self.zero_register(*word));
            for (field, value) in info.fields.into_iter().zip(&image.values) {
                if field.width > 0 {
                    let value = self.read(*value);
                    let shift = u32::from(field.offset) % 32;
                    self.encode(info.numeric, (field.width.into(), shift), value, (u, v));
                    let word = words[usize::from(field.offset) / 32];
                    self.binary(OR, word, word, Source::Host(u));
                }
            }
        }
        let inside = self.texels(image, at, (t, u));
        let k = self.host_mask_but(inside);
        self.store_lanes(&Access::of_texels(info.texel_bytes.into()), &words, [t, u, v, w], (inside, k));
    }

    /// The bits of components, of so many bits, in their place in `u`.
    fn encode(&mut self, numeric: Numeric, (width, shift): (u32, u32), value: u8, (u, v): (u8, u8)) {
        match numeric {
            Numeric::Unorm | Numeric::Snorm => {
                let least: f32 = if numeric == Numeric::Snorm { -1.0 } else { 0.0 };
                self.spread_bits(v, least.to_bits());
                // The least for what is no number: the second operand.
                self.binary(F_MAX, u, value, Source::Host(v));
                self.binary(F_MIN, u, u, Source::Constant(Constant::FloatOne));
                self.spread_bits(v, (largest(numeric, width) as f32).to_bits());
                self.binary(F_MUL, u, u, Source::Host(v));
                let wide = self.host(u);
                self.asm.registers(X86::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er, wide, wide);
                self.by(SHL_BY, u, u, 32 - width);
            }
            Numeric::Sfloat => {
                self.narrow_half_to(value, u);
                self.by(SHL_BY, u, u, 32 - width);
            }
            _ => self.by(SHL_BY, u, value, 32 - width),
        }
        self.by(SHR_BY, u, u, 32 - width - shift);
    }
}

/// What 1 is as a normalized integer of so many bits.
fn largest(numeric: Numeric, width: u32) -> u32 {
    u32::MAX >> (32 - width + u32::from(numeric == Numeric::Snorm))
}
