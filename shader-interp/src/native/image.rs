//! Reads, writes and 32-bit read-modify-writes of texels, for 16 lanes: of the first level of images with one
//! sample and of texel buffers, in the formats whose conversions are a few instructions.
//!
//! Which image it is, only the dispatch knows. The code is made for the format that the image has when it is
//! made, and looks each time whether it has it still; where it has not, the interpreter does the instruction.
//! So each of these instructions is a line of its own.

use super::assembler::Label;
use super::memory::modify::Modified;
use super::memory::{Access, HOST, SIZE, spread_at};
use super::operation::*;
use super::registers::{Part, RUNNING_MASK, STATE, Source};
use super::sample::SampleAccess;
use super::state;
use crate::code::{Code, Inst, Opcode};
use crate::math::format::{self, Aspect, FormatInfo, Numeric};
use crate::ops::image::kind::{Component, Kind};
use crate::ops::image::raster::{Raster, Texel};
use iced_x86::{Code as X86, Instruction, MemoryOperand, Register};
use pellucid_memory::access::AtomicOp;
use pellucid_memory::system::MemoryView;
use smallvec::SmallVec;

/// An instruction on texels that has an encoding.
pub(super) struct TexelAccess {
    /// Its number in [`Code::images`].
    slot: usize,
    does: Texel,
    /// The registers of the coordinates, at least one, and of the level that lanes choose.
    at: SmallVec<[u16; 3]>,
    level: Option<u16>,
    /// Coordinates without the layer.
    axes: usize,
    /// What the code is made for.
    kind: Kind,
    info: &'static FormatInfo,
    /// The components to write; the value and perhaps the comparator of a read-modify-write.
    values: SmallVec<[u16; 4]>,
    /// The first component read, and how many are.
    results: (u16, usize),
}

impl TexelAccess {
    /// What `inst` does, if it has an encoding for images of these kinds.
    pub fn of(code: &Code, kinds: &[Kind], inst: &Inst) -> Option<TexelAccess> {
        if inst.op != Opcode::Image {
            return None;
        }
        let slot = inst.imm as usize;
        let entry = code.images.get(slot)?;
        let does = entry.instruction.texel()?;
        let kind = *kinds.get(slot)?;
        let info = format::properties(kind.texels())?;
        let reads = matches!(does, Texel::Read | Texel::ReadLevel);
        if !(is_plain(info) && kind.is_identity() || reads && is_read(info)) {
            return None;
        }
        let (at, rest) = entry.arguments.split_at_checked(entry.instruction.coordinates())?;
        let fits = match does {
            Texel::Read => rest.is_empty(),
            Texel::ReadLevel => rest.len() <= 1,
            Texel::Write => rest.len() <= 4,
            Texel::Modify(op) => {
                let operands = if op == AtomicOp::CompareExchange { 2 } else { 1 };
                let word = info.units() == 1 && info.unit == 4;
                word && !op.is_float() && rest.len() == operands && entry.results.1 <= 1
            }
        };
        if !fits || !(1..=3).contains(&at.len()) {
            return None;
        }
        // Which level a constant one is, the image's raster says.
        let level =
            rest.first().filter(|register| does == Texel::ReadLevel && code.constant(**register).is_none());
        let registers = |list: &[u32]| list.iter().map(|register| *register as u16).collect::<SmallVec<_>>();
        Some(TexelAccess {
            slot,
            does,
            kind,
            at: at.iter().map(|register| *register as u16).collect(),
            level: level.map(|register| *register as u16),
            axes: entry.instruction.axes(),
            info,
            values: if reads { SmallVec::new() } else { registers(rest) },
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

/// Whether texels of a format are taken apart, and made, by a few instructions.
fn is_plain(info: &FormatInfo) -> bool {
    use Numeric::*;
    let numeric = matches!(info.numeric, Uint | Sint | Unorm | Snorm | Sfloat);
    is_read(info) && numeric && info.aspect == Aspect::Color
}

/// Whether texels of a format are taken apart by a few instructions.
pub(super) fn is_read(info: &FormatInfo) -> bool {
    use Numeric::*;
    let numeric = matches!(info.numeric, Uint | Sint | Unorm | Snorm | Sfloat | Srgb | Ufloat);
    let whole = info.texel_bytes.is_power_of_two() && info.texel_bytes <= 16;
    let aspect = matches!(info.aspect, Aspect::Color | Aspect::Depth);
    numeric && whole && aspect && info.compression.is_none() && !info.is_64_bit()
}

/// Lanes that choose among an array of images or samplers.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// The number of the instruction in [`Code::images`].
    pub slot: usize,
    /// The register with the element.
    pub register: u16,
}

/// An image instruction that has an encoding.
pub(super) enum ImageAccess {
    Texel(TexelAccess),
    Sample(SampleAccess),
    /// The size of an image or texel buffer: the number of the instruction in [`Code::images`], the first
    /// result and how many there are.
    Size(usize, u16, u16),
}

impl ImageAccess {
    /// What `inst` does, if it has an encoding for images of these kinds.
    pub fn of(code: &Code, kinds: &[Kind], inst: &Inst) -> Option<ImageAccess> {
        let texel = TexelAccess::of(code, kinds, inst).map(ImageAccess::Texel);
        let sample = || SampleAccess::of(code, kinds, inst).map(ImageAccess::Sample);
        texel.or_else(sample).or_else(|| ImageAccess::size(code, kinds, inst))
    }

    fn size(code: &Code, kinds: &[Kind], inst: &Inst) -> Option<ImageAccess> {
        let entry = code.images.get(inst.imm as usize).filter(|_| inst.op == Opcode::Image)?;
        let (first, count) = (entry.results.0 as u16, entry.results.1 as u16);
        let known = kinds.get(inst.imm as usize).is_some_and(|kind| *kind != Kind::NONE);
        let first_level = entry.arguments.iter().all(|register| code.constant(*register) == Some(0));
        let size = entry.instruction.asks_size() && first_level && known && count <= 3;
        size.then_some(ImageAccess::Size(inst.imm as usize, first, count))
    }

    /// Whether it needs most host registers for itself, or lanes take turns.
    pub fn is_large(&self, code: &Code) -> bool {
        matches!(self, ImageAccess::Sample(_)) || self.choice(code).is_some()
    }

    fn slot(&self) -> usize {
        match self {
            ImageAccess::Texel(texel) => texel.slot,
            ImageAccess::Sample(sample) => sample.slot,
            ImageAccess::Size(slot, ..) => *slot,
        }
    }

    /// How lanes choose the image, if they do.
    pub fn choice(&self, code: &Code) -> Option<Choice> {
        let slot = self.slot();
        let entry = code.images.get(slot)?;
        let (register, _) = entry.choice()?;
        Some(Choice { slot, register: register as u16 })
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
    pub fn raster(&self, slot: usize, field: usize) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RAX, self.in_rasters(slot, field) as i64)
    }

    fn in_rasters(&self, slot: usize, field: usize) -> usize {
        if self.choice.is_some() { field } else { slot * size_of::<Raster<'_>>() + field }
    }

    /// The same in every lane.
    pub fn raster_word(&self, slot: usize, field: usize) -> MemoryOperand {
        spread_at(self.in_rasters(slot, field))
    }

    /// RAX is where the table of rasters is; where lanes choose, where the chosen one is.
    pub fn rasters(&mut self) {
        let from = if self.choice.is_some() { state::CHOSEN } else { state::RASTERS };
        let rasters = MemoryOperand::with_base_displ(STATE, from as i64);
        self.asm.load(X86::Mov_r64_rm64, Register::RAX, rasters);
    }

    /// Jumps if the image is not of the kind that the code was made for.
    pub fn unless_kind(&mut self, image: &ImageAccess, other: Label) {
        let slot = image.slot();
        let kind = match image {
            ImageAccess::Texel(texel) => texel.kind,
            ImageAccess::Sample(sample) => sample.kind,
            ImageAccess::Size(..) => Kind::NONE,
        };
        self.rasters();
        let found = self.raster(slot, Raster::KIND);
        self.asm.put(Instruction::with2(X86::Mov_r64_imm64, Register::RDX, kind.bits()));
        self.asm.put(Instruction::with2(X86::Cmp_rm64_r64, found, Register::RDX));
        let any = matches!(image, ImageAccess::Size(..));
        self.asm.branch(if any { X86::Je_rel32_64 } else { X86::Jne_rel32_64 }, other);
    }

    /// The lanes of this part access texels, or ask for sizes.
    pub fn image(&mut self, image: &ImageAccess) {
        match image {
            ImageAccess::Texel(texel) => self.texel(texel),
            ImageAccess::Sample(sample) => self.sample(sample),
            ImageAccess::Size(slot, first, count) => {
                self.rasters();
                for k in 0..*count {
                    let (t, field) = (self.temporary(), Raster::EXTENT + usize::from(k) * size_of::<u32>());
                    let (to, from) = (self.host(t), self.raster(*slot, field));
                    self.asm.load(X86::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, to, from);
                    self.set(first + k, t);
                }
            }
        }
        if self.choice.is_some() {
            self.keep_others(image);
        }
    }

    /// The lanes that do not take their turn keep what their results are.
    fn keep_others(&mut self, image: &ImageAccess) {
        let (first, count) = self.code.images[image.slot()].results;
        let running = self.condition(RUNNING_MASK);
        let others = self.host_mask_but(running);
        let [to, from] = [others, running].map(|k| Register::K0 + u32::from(k));
        self.asm.registers(X86::VEX_Knotw_kr_kr, to, from);
        for register in first as u16..(first + count) as u16 {
            if self.reads[usize::from(register)] {
                let k = self.read(register);
                let (to, before) = (self.host(k), self.file(register));
                self.masked(others, Instruction::with2(LOAD.0, to, before));
            }
        }
    }

    fn texel(&mut self, image: &TexelAccess) {
        match image.does {
            Texel::Read | Texel::ReadLevel => self.read_texels(image),
            Texel::Write => self.write_texels(image),
            Texel::Modify(op) => self.modify_texels(image, op),
        }
    }

    /// Byte offsets of the texels, in `t`; the running lanes whose texels exist.
    fn texels(&mut self, image: &TexelAccess, at: &[u8], (t, u): (u8, u8)) -> u8 {
        let running = self.condition(RUNNING_MASK);
        let inside = self.host_mask_but(running);
        self.rasters();
        let to = Register::K0 + u32::from(inside);
        let (wide_t, wide_u) = (self.host(t), self.host(u));
        let level = image.level.map(|register| self.read(register));
        let less = X86::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
        if let Some(level) = level {
            let (levels, level) = (self.raster_word(image.slot, Raster::LEVELS), self.host(level));
            self.masked(running, Instruction::with4(less, to, level, levels, I_LESS));
        }
        for (k, coordinate) in at.iter().enumerate() {
            let along = |field: usize| field + k * size_of::<u32>();
            let of = self.host(*coordinate);
            let condition = if k == 0 && level.is_none() { running } else { inside };
            let of_lane = level.filter(|_| k < image.axes);
            if of_lane.is_some() {
                self.extent(image.slot, (k, of_lane), u);
                self.masked(condition, Instruction::with4(less, to, of, wide_u, I_LESS));
            } else {
                let extent = self.raster_word(image.slot, along(Raster::EXTENT));
                self.masked(condition, Instruction::with4(less, to, of, extent, I_LESS));
            }
            if k == 0 {
                self.by(SHL_BY, t, *coordinate, image.info.texel_bytes.trailing_zeros());
                continue;
            }
            match of_lane {
                Some(level) => {
                    self.of_level(image.slot, Raster::PITCHES[k - 1], level, u);
                    self.binary(MUL, u, u, Source::Host(*coordinate));
                }
                None => {
                    let pitch = self.raster_word(image.slot, along(Raster::PITCH));
                    self.asm.put(Instruction::with3(MUL.0, wide_u, of, pitch));
                }
            }
            self.binary(ADD, t, t, Source::Host(u));
        }
        if let Some(level) = level {
            self.of_level(image.slot, Raster::STARTS, level, u);
            self.binary(ADD, t, t, Source::Host(u));
        } else {
            let start = self.raster_word(image.slot, Raster::START);
            self.asm.put(Instruction::with3(ADD.0, wide_t, wide_t, start));
        }
        self.raster_memory(image.slot);
        inside
    }

    /// The memory of a raster, whose table is in RAX, to `HOST` and `SIZE`.
    pub fn raster_memory(&mut self, slot: usize) {
        for (to, field) in [(HOST, MemoryView::HOST), (SIZE, MemoryView::SIZE)] {
            let from = self.raster(slot, Raster::MEMORY + field);
            self.asm.load(X86::Mov_r64_rm64, to, from);
        }
    }

    /// A word of the raster, in every lane.
    pub fn spread_field(&mut self, slot: usize, field: usize, to: u8) {
        let (to, from) = (self.host(to), self.raster(slot, field));
        self.asm.load(X86::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, to, from);
    }

    /// Texels along axis `k`: of these levels, if they are not known.
    pub fn extent(&mut self, slot: usize, (k, level): (usize, Option<u8>), to: u8) {
        self.spread_field(slot, Raster::EXTENT + k * size_of::<u32>(), to);
        if let Some(level) = level {
            self.binary(SHR, to, to, Source::Host(level));
            self.binary(S_MAX, to, to, Source::Constant(Constant::One));
        }
    }

    /// What one of the view's tables of levels has for those of all lanes.
    pub fn of_level(&mut self, slot: usize, table: usize, level: u8, to: u8) {
        let view = self.raster(slot, Raster::VIEW);
        self.asm.load(X86::Mov_r64_rm64, Register::RDX, view);
        let table = MemoryOperand::with_base_displ(Register::RDX, table as i64);
        let (to, level) = (self.host(to), self.host(level));
        self.asm.put(Instruction::with3(X86::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, to, level, table));
    }

    fn coordinates(&mut self, image: &TexelAccess) -> SmallVec<[u8; 3]> {
        image.at.iter().map(|register| self.read(*register)).collect()
    }

    fn modify_texels(&mut self, image: &TexelAccess, op: AtomicOp) {
        // What may make code of its own comes before the first jump.
        let at = self.coordinates(image);
        let [t, u, v, r] = std::array::from_fn(|_| self.temporary());
        let operands: SmallVec<[u8; 2]> = image.values.iter().map(|register| self.read(*register)).collect();
        let inside = self.texels(image, &at, (t, u));
        let (result, wanted) = (image.results.0, image.results.1 > 0);
        let wanted = wanted && self.reads[usize::from(result)];
        let (value, comparator) = (operands[0], operands.get(1).copied());
        self.modify_lanes(op, &Modified { value, comparator, locked: true, wanted }, [t, u, v, r], inside);
        if image.results.1 > 0 {
            let old = self.host(r);
            self.masked_zero(inside, Instruction::with2(LOAD.0, old, old));
            self.set(result, r);
        }
    }

    fn read_texels(&mut self, image: &TexelAccess) {
        // What may make code of its own comes before the first jump.
        let at = self.coordinates(image);
        let (t, u) = (self.temporary(), self.temporary());
        let words: SmallVec<[u8; 4]> = (0..image.words()).map(|_| self.temporary()).collect();
        let components: SmallVec<[(Component, u16); 4]> = (0..image.results.1)
            .map(|k| (image.kind.component(image.info, k), image.results.0 + k as u16))
            .filter(|(_, register)| self.reads[usize::from(*register)])
            .collect();
        let to: SmallVec<[u8; 4]> = components
            .iter()
            .map(|(component, _)| match component {
                Component::Of(k) if image.info.fields[*k].width == 32 => {
                    words[usize::from(image.info.fields[*k].offset) / 32]
                }
                _ => self.temporary(),
            })
            .collect();
        let inside = self.texels(image, &at, (t, u));
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
        for ((component, register), to) in components.into_iter().zip(to) {
            self.decode(image.info, component, &words, to, (t, u), &mut held);
            self.set(register, to);
        }
    }

    /// A component of texels with these words, in `to`.
    pub fn decode(
        &mut self,
        info: &FormatInfo,
        component: Component,
        words: &[u8],
        to: u8,
        (t, u): (u8, u8),
        held: &mut Option<u32>,
    ) {
        let k = match component {
            Component::Of(k) => k,
            Component::Constant(0) => return self.zero_register(to),
            Component::Constant(word) => return self.spread_bits(to, word),
        };
        let field = info.fields[k];
        let (width, shift) = (u32::from(field.width), u32::from(field.offset) % 32);
        let word = words[usize::from(field.offset) / 32];
        if width == 32 {
            if word != to {
                self.unary(LOAD, to, Source::Host(word));
            }
            return;
        }
        let signed = matches!(info.numeric, Numeric::Sint | Numeric::Snorm);
        self.by(SHL_BY, t, word, 32 - width - shift);
        self.by(if signed { SAR_BY } else { SHR_BY }, to, t, 32 - width);
        match info.numeric {
            Numeric::Sfloat | Numeric::Ufloat => {
                if info.numeric == Numeric::Ufloat {
                    self.by(SHL_BY, to, to, 15 - width);
                }
                self.widen_half(to, to);
                let nan = self.compare_floats(UNORDERED, to, Source::Host(to));
                self.choose(to, nan, Source::Constant(Constant::Nan), to);
            }
            Numeric::Srgb if k < 3 => self.linear_of_srgb(to, t),
            Numeric::Srgb => self.of_normalized(Numeric::Unorm, width, to, (t, u), held),
            Numeric::Unorm | Numeric::Snorm => self.of_normalized(info.numeric, width, to, (t, u), held),
            _ => {}
        }
    }

    fn write_texels(&mut self, image: &TexelAccess) {
        // What may make code of its own comes before the first jump.
        let at = self.coordinates(image);
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
        let inside = self.texels(image, &at, (t, u));
        let k = self.host_mask_but(inside);
        self.store_lanes(&Access::of_texels(info.texel_bytes.into()), &words, [t, u, v, w], (inside, k));
    }
}
