//! The dispatch loop.
//!
//! Indexing of registers and tables is unchecked here: [`crate::code::verify`] has checked every operand, and
//! [`run`] checks that the register files have the sizes that the verifier knew.

use super::calls::{AtomicOf, ImageOf, Load, Store};
use super::context::Context;
use super::far;
use super::flat;
use super::granularity::shared;
use super::lane::{Lane, lanes, test};
use super::level::{Level, Set, has_one_loop};
use super::prints::print;
use super::strand::{Step, Strand};
use super::target::{Baseline, CHUNK, Target};
use crate::arrays::blend;
use crate::code::isa::instruction_table;
use crate::code::{Inst, Marked, NOTES, Opcode};
use crate::ir::GroupKind;
use crate::math::{convert, single};
use crate::ops::{group, memory as table};
use pellucid_memory::access::Site;
use pellucid_memory::finding::FindingId;
use pellucid_memory::scope::Scope;
use pellucid_memory::system::{LANES, Lanes, Mask, MemorySystem, Trap};

/// What runs a strand: limits, and who it shares the workgroup with.
pub(crate) struct Control {
    /// The only strand of its workgroup: it need not stop at barriers.
    pub alone: bool,
    /// Modelled mode: stop before every access to memory that others may see.
    pub every: bool,
}

macro_rules! define_run {
    (
        ()
        near { $($(#[$near_doc:meta])* $near:ident ($($nx:ident : $nt:ident),*) -> $nr:ident $nb:block)* }
        far { $($(#[$far_doc:meta])* $far:ident $far_operands:tt -> $far_result:ident $far_body:block)* }
        test { $($test:ident $split:ident $jump:ident $repeat:ident ($($tx:ident : $tt:ident),*) $tb:block)* }
        far_test { $($far_test:ident $far_test_operands:tt $far_test_body:block)* }
        special { $($special:tt)* }
    ) => {
        #[inline(always)]
        fn interpret<M: MemorySystem, T: Target, const BOUNDED: bool>(
            context: &Context<'_>,
            strand: &mut Strand,
            memory: &mut M,
            control: &Control,
            to: u32,
            marked: Option<&Marked>,
        ) -> Result<Step, Trap> {
            let program = context.program;
            assert!(
                strand.vectors.len() == program.vectors as usize
                    && strand.masks.len() == program.masks as usize
                    && context.views.len() == program.views.len()
                    && (strand.pc as usize) < program.code.len()
            );
            let marked = marked.and_then(|marked| marked.code(program));
            let code = marked.unwrap_or(&program.code).as_ptr();
            let v: *mut Lanes = strand.vectors.as_mut_ptr();
            let m: *mut Mask = strand.masks.as_mut_ptr();
            let mut pc = strand.pc;
            let mut mask = strand.mask;
            let mut granted = strand.granted;
            let mut fuel = strand.fuel;
            macro_rules! stop {
                ($pc:expr, $step:expr) => {{
                    strand.pc = $pc;
                    strand.mask = mask;
                    strand.granted = false;
                    strand.fuel = fuel;
                    return Ok($step);
                }};
            }
            // SAFETY (of the whole loop): the verifier, through which alone a `Program` comes to be, has
            // checked register numbers, table entries and jump targets and that the last instruction is Done;
            // marks in place of instructions have no operands, and stop the loop. The assertion above has
            // checked the sizes of the files. Nothing else accesses the files meanwhile. Registers of one
            // instruction may be the same: they are read through shared references, none of which lives when
            // a register is written.
            macro_rules! vector {
                ($k:expr) => {
                    // SAFETY: see above.
                    unsafe { &*v.add($k as usize).cast_const() }
                };
            }
            macro_rules! set_vector {
                ($k:expr, $value:expr) => {{
                    let value: Lanes = $value;
                    // SAFETY: see above.
                    unsafe { *v.add($k as usize) = value };
                }};
            }
            macro_rules! mask_of {
                ($k:expr) => {
                    // SAFETY: see above.
                    unsafe { *m.add($k as usize) }
                };
            }
            macro_rules! set_mask {
                ($k:expr, $value:expr) => {{
                    let value: Mask = $value;
                    // SAFETY: see above.
                    unsafe { *m.add($k as usize) = value };
                }};
            }
            macro_rules! take_mask {
                ($k:expr) => {{
                    let lanes = mask_of!($k);
                    set_mask!($k, 0);
                    lanes
                }};
            }
            macro_rules! file {
                // SAFETY: as above; no other reference to a register lives meanwhile.
                () => { unsafe { std::slice::from_raw_parts_mut(v, program.vectors as usize) } };
            }
            macro_rules! call {
                ($work:ty, $entry:expr) => {
                    call!($work, $entry, memory)
                };
                ($work:ty, $entry:expr, $memory:expr) => {
                    T::work::<$work, _, _>(context, $entry, file!(), mask, $memory).map_err(|trap| *trap)
                };
            }
            macro_rules! entry {
                ($k:expr) => {
                    // SAFETY: the verifier checked the entry.
                    unsafe { program.memory.get_unchecked($k as usize) }
                };
            }
            macro_rules! yield_before {
                ($visible:expr, $here:expr) => {
                    if M::MODELLED && $visible {
                        if !granted {
                            stop!($here, Step::Yielded);
                        }
                        granted = false;
                        strand.step += 1;
                    }
                };
            }
            macro_rules! split {
                ($condition:expr, $inst:expr) => {{
                    let condition: Mask = $condition;
                    set_mask!($inst.dst, mask_of!($inst.dst) | mask & !condition);
                    mask &= condition;
                    if mask == 0 {
                        pc = $inst.imm;
                    }
                }};
            }
            macro_rules! tested {
                ($row:ident, $inst:ident, $operands:tt $body:block) => {
                    if const { T::FOR_SPEED && !BOUNDED } {
                        test!(T, v, $inst, $operands $body)
                    } else {
                        // SAFETY: verified; no reference to a register lives.
                        unsafe { far::row::$row::<T>(v, $inst) }
                    }
                };
            }
            macro_rules! flat {
                ($work:ty, $inst:expr) => {{
                    if M::MODELLED {
                        return Err(Trap::NotImplemented("plain code in modelled mode".into()));
                    }
                    call!($work, $inst)?;
                }};
            }
            let (from, mut first) = (pc, true);
            loop {
                if BOUNDED && !std::mem::take(&mut first) && !(from..to).contains(&pc) {
                    stop!(pc, Step::Yielded);
                }
                let here = pc;
                // SAFETY: the verifier checked that code ends in `Done` and that all targets are inside.
                let inst: &Inst = unsafe { &*code.add(pc as usize) };
                debug_assert!(mask != 0 || inst.op.awaits_lanes(), "no lane runs {inst} at {pc}");
                pc += 1;
                match inst.op {
                    $(Opcode::$near => {
                        if const { T::FOR_SPEED && !BOUNDED } {
                            lanes!(v, inst, ($($nx: $nt),*) -> $nr $nb);
                        } else {
                            // SAFETY: verified; no reference to a register lives.
                            unsafe { far::row::$near::<T>(v, inst) };
                        }
                    })*
                    // SAFETY: the same.
                    $(Opcode::$far => unsafe { far::row::$far::<T>(v, inst) },)*
                    $(
                        Opcode::$test => {
                            set_mask!(inst.dst, tested!($test, inst, ($($tx: $tt),*) $tb));
                        }
                        Opcode::$split => split!(tested!($test, inst, ($($tx: $tt),*) $tb), inst),
                        Opcode::$jump => {
                            if tested!($test, inst, ($($tx: $tt),*) $tb) & mask == 0 {
                                pc = inst.imm;
                            }
                        }
                    )*
                    $(Opcode::$repeat => {
                        if tested!($test, inst, ($($tx: $tt),*) $tb) & mask != 0 {
                            fuel = fuel.wrapping_sub(1);
                            if fuel == 0 {
                                stop!(here, Step::OutOfFuel);
                            }
                            pc = inst.imm;
                        }
                    })*
                    $(Opcode::$far_test => {
                        // SAFETY: verified.
                        set_mask!(inst.dst, unsafe { far::row::$far_test::<T>(v, inst) });
                    })*

                    Opcode::MovMasked => {
                        let value = blend(mask, &vector!(inst.a).0, &vector!(inst.dst).0);
                        set_vector!(inst.dst, Lanes(value));
                    }
                    Opcode::Select => {
                        let value = blend(mask_of!(inst.a), &vector!(inst.b).0, &vector!(inst.c).0);
                        set_vector!(inst.dst, Lanes(value));
                    }
                    Opcode::Select64 => {
                        let condition = mask_of!(inst.a);
                        let low = blend(condition, &vector!(inst.b).0, &vector!(inst.c).0);
                        let high = blend(condition, &vector!(inst.b + 1).0, &vector!(inst.c + 1).0);
                        set_vector!(inst.dst, Lanes(low));
                        set_vector!(inst.dst + 1, Lanes(high));
                    }
                    Opcode::MaskMov => set_mask!(inst.dst, mask_of!(inst.a)),
                    Opcode::MaskMovMasked => {
                        set_mask!(inst.dst, (mask_of!(inst.dst) & !mask) | (mask_of!(inst.a) & mask));
                    }
                    Opcode::MaskAnd => set_mask!(inst.dst, mask_of!(inst.a) & mask_of!(inst.b)),
                    Opcode::MaskOr => set_mask!(inst.dst, mask_of!(inst.a) | mask_of!(inst.b)),
                    Opcode::MaskXor => set_mask!(inst.dst, mask_of!(inst.a) ^ mask_of!(inst.b)),
                    Opcode::MaskNot => set_mask!(inst.dst, !mask_of!(inst.a)),
                    Opcode::MaskEqual => set_mask!(inst.dst, !(mask_of!(inst.a) ^ mask_of!(inst.b))),
                    Opcode::MaskSelect => {
                        let condition = mask_of!(inst.a);
                        set_mask!(inst.dst, (mask_of!(inst.b) & condition) | (mask_of!(inst.c) & !condition));
                    }
                    Opcode::MaskToInt => {
                        set_vector!(inst.dst, Lanes(blend(mask_of!(inst.a), &[1; LANES], &[0; LANES])));
                    }

                    Opcode::Jump => pc = inst.imm,
                    Opcode::JumpIf => {
                        if mask_of!(inst.a) & mask != 0 {
                            pc = inst.imm;
                        }
                    }
                    Opcode::JumpUnless => {
                        if mask_of!(inst.a) & mask == 0 {
                            pc = inst.imm;
                        }
                    }
                    Opcode::Split => split!(mask_of!(inst.a), inst),
                    Opcode::SplitNot => split!(!mask_of!(inst.a), inst),
                    Opcode::Park => {
                        set_mask!(inst.dst, mask_of!(inst.dst) | mask);
                        mask = 0;
                        pc = inst.imm;
                    }
                    Opcode::Join => {
                        mask |= take_mask!(inst.dst);
                        if mask == 0 {
                            pc = inst.imm;
                        }
                    }
                    Opcode::Repeat => {
                        pc = inst.imm;
                        fuel = fuel.wrapping_sub(1);
                        if fuel == 0 {
                            stop!(here, Step::OutOfFuel);
                        }
                    }
                    Opcode::RepeatJoin => {
                        if mask | mask_of!(inst.dst) != 0 {
                            fuel = fuel.wrapping_sub(1);
                            if fuel == 0 {
                                // The lanes stay parked here: this instruction runs again.
                                set_mask!(inst.dst, mask_of!(inst.dst) | mask);
                                mask = take_mask!(inst.dst);
                                stop!(here, Step::OutOfFuel);
                            }
                            mask |= take_mask!(inst.dst);
                            pc = inst.imm;
                        }
                    }
                    Opcode::EndLanes => {
                        strand.live &= !mask;
                        mask = 0;
                        pc = inst.imm;
                    }
                    Opcode::Done => {
                        strand.live = 0;
                        stop!(here, Step::Done);
                    }
                    Opcode::Native => {
                        (strand.pc, strand.mask, strand.granted, strand.fuel) = (here, mask, granted, fuel);
                        return Ok(Step::Yielded);
                    }

                    Opcode::LoadView => flat!(flat::LoadView<1>, inst),
                    Opcode::LoadView2 => flat!(flat::LoadView<2>, inst),
                    Opcode::LoadView3 => flat!(flat::LoadView<3>, inst),
                    Opcode::LoadView4 => flat!(flat::LoadView<4>, inst),
                    Opcode::LoadViewUniform => flat!(flat::LoadViewUniform, inst),
                    Opcode::LoadWorkgroup => flat!(flat::LoadWorkgroup<1>, inst),
                    Opcode::LoadWorkgroup2 => flat!(flat::LoadWorkgroup<2>, inst),
                    Opcode::LoadWorkgroup3 => flat!(flat::LoadWorkgroup<3>, inst),
                    Opcode::LoadWorkgroup4 => flat!(flat::LoadWorkgroup<4>, inst),
                    Opcode::StoreView => flat!(flat::StoreView, inst),
                    Opcode::StoreWorkgroup => flat!(flat::StoreWorkgroup, inst),
                    Opcode::Load => {
                        let entry = entry!(inst.imm);
                        yield_before!(entry.visible || (control.every && shared(entry)), here);
                        call!(Load, entry)?;
                    }
                    Opcode::LoadUniform => {
                        let entry = entry!(inst.imm);
                        let first = mask & mask.wrapping_neg();
                        T::work::<Load, _, _>(context, entry, file!(), first, memory).map_err(|trap| *trap)?;
                        table::spread(entry, file!(), mask);
                    }
                    Opcode::Store => {
                        let entry = entry!(inst.imm);
                        yield_before!(entry.visible || (control.every && shared(entry)), here);
                        strand.stores += 1;
                        call!(Store, entry)?;
                    }
                    Opcode::Atomic => {
                        let entry = entry!(inst.imm);
                        yield_before!(entry.visible, here);
                        let changed = call!(AtomicOf, entry)?;
                        strand.changes += u64::from(changed);
                    }
                    Opcode::LoadPrivate => {
                        let entry = entry!(inst.aux);
                        let shift = inst.c & 31;
                        let offset = table::shifted(vector!(inst.a), u32::from(shift));
                        if M::MODELLED {
                            table::check_private(entry, &offset, inst.imm, mask, false, memory);
                        }
                        let mut value = table::load_private(entry, &strand.private, &offset, inst.imm);
                        if M::MODELLED && entry.site == Site(0) {
                            table::defined_outside(entry, &offset, inst.imm, &mut value);
                        }
                        set_vector!(inst.dst, value);
                    }
                    Opcode::StorePrivate => {
                        let entry = entry!(inst.aux);
                        let shift = inst.c & 31;
                        let offset = table::shifted(vector!(inst.a), u32::from(shift));
                        if M::MODELLED {
                            table::check_private(entry, &offset, inst.imm, mask, true, memory);
                        }
                        let value = vector!(inst.dst);
                        table::store_private(entry, &mut strand.private, &offset, inst.imm, mask, value);
                    }
                    Opcode::NoteWhere => {
                        if M::MODELLED {
                            let here = mask_of!(inst.a) & mask;
                            let id = NOTES[usize::from(inst.aux) % NOTES.len()];
                            table::note(Site(inst.imm), here, id, memory);
                        }
                    }
                    Opcode::NoteDiverging => {
                        if M::MODELLED {
                            let here = table::diverging(vector!(inst.a), mask);
                            table::note(Site(inst.imm), here, FindingId::NonUniformIndex, memory);
                        }
                    }
                    Opcode::ReadUndefined => {
                        let undefined = if M::MODELLED { memory.read_undefined() } else { Lanes::ZERO };
                        set_vector!(inst.dst, undefined);
                    }
                    Opcode::StoreUndefined => {
                        table::store_undefined(&program.shader.origins, vector!(inst.a), inst.imm, mask, memory);
                    }
                    Opcode::CheckDefined => {
                        table::check_defined(&program.shader.origins, vector!(inst.a), inst.imm != 0, mask, memory);
                    }
                    Opcode::Print => print(context, &program.prints[inst.imm as usize], file!(), mask),
                    Opcode::BufferSize => table::buffer_size(context, entry!(inst.imm), file!(), mask),

                    Opcode::MemoryBarrier => {
                        let barrier = &program.barriers[inst.imm as usize];
                        yield_before!(true, here);
                        table::fence(barrier, mask, memory);
                    }
                    Opcode::ControlBarrier => {
                        let barrier = &program.barriers[inst.imm as usize];
                        yield_before!(true, here);
                        let execution = barrier.execution.unwrap_or(Scope::Invocation);
                        table::arrive((barrier, execution), &program.barriers, mask, memory);
                        if execution == Scope::Workgroup && !control.alone {
                            stop!(pc, Step::AtBarrier(inst.imm));
                        }
                    }

                    Opcode::Elect => set_mask!(inst.dst, mask & mask.wrapping_neg()),
                    Opcode::VoteAll => {
                        set_mask!(inst.dst, if mask & !mask_of!(inst.a) == 0 { Mask::MAX } else { 0 });
                    }
                    Opcode::VoteAny => {
                        set_mask!(inst.dst, if mask & mask_of!(inst.a) != 0 { Mask::MAX } else { 0 });
                    }
                    Opcode::VoteEqualMask => {
                        let yes = mask & mask_of!(inst.a);
                        set_mask!(inst.dst, if yes == 0 || yes == mask { Mask::MAX } else { 0 });
                    }
                    Opcode::VoteEqual => {
                        let equal = group::all_equal(std::slice::from_ref(vector!(inst.a)), mask);
                        set_mask!(inst.dst, if equal { Mask::MAX } else { 0 });
                    }
                    Opcode::VoteEqualFloat => {
                        let equal = group::all_equal_float(vector!(inst.a), mask);
                        set_mask!(inst.dst, if equal { Mask::MAX } else { 0 });
                    }
                    Opcode::VoteEqual64 => {
                        let equal = group::all_equal(&[*vector!(inst.a), *vector!(inst.a + 1)], mask);
                        set_mask!(inst.dst, if equal { Mask::MAX } else { 0 });
                    }
                    Opcode::Ballot => {
                        let bits = mask_of!(inst.a) & mask;
                        set_vector!(inst.dst, Lanes([bits; LANES]));
                        for k in 1..4 {
                            set_vector!(inst.dst + k, Lanes::ZERO);
                        }
                    }
                    Opcode::InverseBallot => {
                        let words = &vector!(inst.a).0;
                        set_mask!(inst.dst, (0..LANES).fold(0, |bits, j| bits | (words[j] & 1 << j)));
                    }
                    Opcode::BallotBitExtract => {
                        let (words, index) = (&vector!(inst.a).0, &vector!(inst.b).0);
                        set_mask!(inst.dst, (0..LANES).fold(0, |bits, j| {
                            let bit = if index[j] < 32 { words[j] >> index[j] & 1 } else { 0 };
                            bits | bit << j
                        }));
                    }
                    Opcode::BallotBitCount => {
                        let kind = match inst.imm {
                            0 => GroupKind::Reduce,
                            1 => GroupKind::InclusiveScan,
                            _ => GroupKind::ExclusiveScan,
                        };
                        set_vector!(inst.dst, group::ballot_bit_count(kind, vector!(inst.a), program.subgroup_size));
                    }
                    Opcode::BallotFind => {
                        set_vector!(inst.dst, group::ballot_find(vector!(inst.a), program.subgroup_size, inst.imm != 0));
                    }
                    Opcode::Shuffle => {
                        let (value, by) = (vector!(inst.a), vector!(inst.b));
                        let moved = far::shuffle::<T>(value, by, inst.imm, program.subgroup_size);
                        set_vector!(inst.dst, moved);
                    }
                    Opcode::BroadcastFirst => {
                        let word = vector!(inst.a).0[mask.trailing_zeros() as usize & (LANES - 1)];
                        set_vector!(inst.dst, Lanes([word; LANES]));
                    }
                    Opcode::QuadSwap => {
                        let value = group::quad_swap(vector!(inst.a), inst.imm);
                        set_vector!(inst.dst, value);
                    }
                    Opcode::MaskToLanes => {
                        set_vector!(inst.dst, Lanes(blend(mask_of!(inst.a), &[u32::MAX; LANES], &[0; LANES])));
                    }
                    Opcode::LanesToMask => {
                        let words = &vector!(inst.a).0;
                        set_mask!(inst.dst, (0..LANES).fold(0, |bits, j| bits | (words[j] >> 31) << j));
                    }
                    Opcode::Group => {
                        let value = std::array::from_ref(vector!(inst.a));
                        let out = far::fold::<T, 1>(program.groups[inst.imm as usize], value, mask);
                        set_vector!(inst.dst, out[0]);
                    }
                    Opcode::Group64 => {
                        let value = [*vector!(inst.a), *vector!(inst.a + 1)];
                        let out = far::fold::<T, 2>(program.groups[inst.imm as usize], &value, mask);
                        set_vector!(inst.dst, out[0]);
                        set_vector!(inst.dst + 1, out[1]);
                    }
                    Opcode::GroupMask => {
                        let (fold, kind, _) = program.groups[inst.imm as usize];
                        set_mask!(inst.dst, group::fold_mask(fold, kind, mask_of!(inst.a), mask));
                    }
                    Opcode::MatrixMulAdd => call!(far::ProductOf, &program.matrices[inst.imm as usize], &mut ())?,
                    Opcode::ReadClock => {
                        strand.clock += 1;
                        set_vector!(inst.dst, Lanes([strand.clock as u32; LANES]));
                        set_vector!(inst.dst + 1, Lanes([(strand.clock >> 32) as u32; LANES]));
                    }
                    Opcode::Image => {
                        let entry = &program.images[inst.imm as usize];
                        yield_before!(entry.visible || control.every, here);
                        let changed = call!(ImageOf, entry)?;
                        if entry.instruction.stores() {
                            strand.stores += 1;
                        } else {
                            strand.changes += u64::from(changed);
                        }
                    }
                }
            }
        }
    };
}
instruction_table!(define_run);

macro_rules! loops {
    ($($(#[$attribute:meta])* $name:ident = $target:ty;)*) => {
        $(
            $(#[$attribute])*
            fn $name<M: MemorySystem, const BOUNDED: bool>(
                context: &Context<'_>,
                strand: &mut Strand,
                memory: &mut M,
                control: &Control,
                to: u32,
                marked: Option<&Marked>,
            ) -> Result<Step, Trap> {
                interpret::<M, $target, BOUNDED>(context, strand, memory, control, to, marked)
            }
        )*
    };
}
loops! {
    #[inline(never)]
    run_baseline = Baseline;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    run_avx2 = super::target::Avx2;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt")]
    run_avx512 = super::target::Avx512;
}

/// The loop for `level`; with `BOUNDED` until the strand is outside of the instructions from the one where it
/// stands to before `to`, but one at least: [`Step::Yielded`]. With `marked` it runs these instructions, and
/// a strand that comes to a mark has yielded, too.
#[inline(always)]
pub(crate) fn interpret_at<M: MemorySystem, const BOUNDED: bool>(
    level: Level,
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
    to: u32,
    marked: Option<&Marked>,
) -> Result<Step, Trap> {
    if has_one_loop::<M>() {
        return run_baseline::<M, BOUNDED>(context, strand, memory, control, to, marked);
    }
    match level.set() {
        // SAFETY: detected: `Level` is nothing else.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { run_avx512::<M, BOUNDED>(context, strand, memory, control, to, marked) },
        // SAFETY: detected.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { run_avx2::<M, BOUNDED>(context, strand, memory, control, to, marked) },
        Set::Baseline => run_baseline::<M, BOUNDED>(context, strand, memory, control, to, marked),
    }
}

/// Runs one instruction of `strand`. [`Step::Yielded`]: it has run, and the strand stands at another.
///
/// # Errors
/// The trap of a memory operation.
pub(super) fn run_one<M: MemorySystem>(
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
) -> Result<Step, Trap> {
    // Nothing stops before the instruction: neither its being visible nor the want of fuel.
    strand.fuel = u32::MAX;
    run_next(context, strand, memory, control)
}

/// Runs one instruction of `strand`, if there is fuel for it, visible or not.
///
/// # Errors
/// The trap of a memory operation.
pub(super) fn run_next<M: MemorySystem>(
    context: &Context<'_>,
    strand: &mut Strand,
    memory: &mut M,
    control: &Control,
) -> Result<Step, Trap> {
    strand.granted = true;
    run_baseline::<M, true>(context, strand, memory, control, 0, None)
}
