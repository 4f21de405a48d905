//! Registers: a linear scan over the life intervals of [`super::lower`], and the final encoding.

use super::debug::{DebugInfo, Location, Register};
use super::isa::{Inst, Opcode, OperandKind};
use super::lower::{Immediate, Line, Lowered, Name, Named, Result};
use super::{Code, ElementIndex, Space};
use crate::error::CompileError;
use crate::ir::Shader;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Free registers of one file.
struct Free {
    /// A bit for each register: taken.
    taken: Vec<u64>,
    count: u32,
}

impl Free {
    fn is_taken(&self, k: u32) -> bool {
        self.taken.get(k as usize / 64).is_some_and(|w| w >> (k % 64) & 1 == 1)
    }

    fn set(&mut self, k: u32, taken: bool) {
        let word = k as usize / 64;
        if self.taken.len() <= word {
            self.taken.resize(word + 1, 0);
        }
        if taken {
            self.taken[word] |= 1 << (k % 64);
        } else {
            self.taken[word] &= !(1 << (k % 64));
        }
    }

    /// The lowest run of `n` free registers.
    fn take(&mut self, n: u32) -> u32 {
        let mut start = 0;
        loop {
            if let Some(word) = self.taken.get(start as usize / 64)
                && *word == u64::MAX
                && start % 64 == 0
            {
                start += 64;
                continue;
            }
            match (start..start + n).find(|k| self.is_taken(*k)) {
                Some(k) => start = k + 1,
                None => break,
            }
        }
        for k in start..start + n {
            self.set(k, true);
        }
        self.count = self.count.max(start + n);
        start
    }

    fn release(&mut self, start: u32, n: u32) {
        for k in start..start + n {
            self.set(k, false);
        }
    }
}

/// Loop-carried copies whose argument dies there and whose parameter is not needed after the argument is
/// computed share a register.
fn coalesce(lowered: &mut Lowered) -> Vec<u32> {
    let mut same: Vec<u32> = (0..lowered.registers.len() as u32).collect();
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); lowered.registers.len()];
    let mut interesting = vec![false; lowered.registers.len()];
    for (parameter, argument, _) in &lowered.carried {
        interesting[*parameter as usize] = true;
        interesting[*argument as usize] = true;
    }
    if lowered.carried.is_empty() {
        return same;
    }
    for (k, line) in lowered.lines.iter().enumerate() {
        let mut used = |register: u32| {
            if interesting[register as usize] {
                uses[register as usize].push(k as u32);
            }
        };
        for name in [line.dst, line.a, line.b, line.c, line.aux] {
            if let Name::Register(register, _) = name {
                used(register);
            }
        }
        let Immediate::Number(entry) = line.imm else { continue };
        match line.op.shape()[5] {
            OperandKind::Memory => {
                let entry = &lowered.memory[entry as usize];
                let listed = entry.values.iter().chain(&entry.comparator);
                listed.chain([&entry.offset, &entry.result]).for_each(|v| used(v >> 8));
                if let Space::Element { element, .. } = entry.space {
                    used(element >> 8);
                }
            }
            OperandKind::Image => {
                let entry = &lowered.images[entry as usize];
                entry.arguments.iter().chain([&entry.results.0]).for_each(|v| used(v >> 8));
                for element in [Some(entry.element), entry.sampler].into_iter().flatten() {
                    if let ElementIndex::Register(register) = element {
                        used(register >> 8);
                    }
                }
            }
            OperandKind::Print => {
                lowered.prints[entry as usize].registers.iter().for_each(|v| used(v >> 8));
            }
            OperandKind::Matrix => {
                let entry = &lowered.matrices[entry as usize];
                let listed = entry.operands.iter().flatten().chain(&entry.results);
                listed.for_each(|v| used(v >> 8));
            }
            _ => {}
        }
    }
    let stretched: rustc_hash::FxHashSet<u32> =
        lowered.stretches.iter().map(|(register, _)| *register).collect();
    let mut repeats = rustc_hash::FxHashMap::default();
    for (parameter, ..) in &lowered.carried {
        *repeats.entry(*parameter).or_insert(0u32) += 1;
    }
    let mut taken = vec![false; lowered.registers.len()];
    for (parameter, argument, id) in &lowered.carried {
        let (p, a) = (*parameter as usize, *argument as usize);
        let (first, last) = lowered.loops[*id as usize];
        let (pv, av) = (lowered.registers[p], lowered.registers[a]);
        if repeats[parameter] != 1
            || taken[p]
            || taken[a]
            || av.pinned.is_some()
            || pv.run != av.run
            || av.within != *id
            || stretched.contains(argument)
        {
            continue;
        }
        // The argument: written by one lane-wise instruction in the loop, used in the loop only.
        let Some(&definition) = uses[a].first() else { continue };
        let line = lowered.lines[definition as usize];
        if line.dst != Name::Register(*argument, 0)
            || !line.op.lane_wise()
            || !uses[a].iter().all(|k| (first..=last).contains(k))
            || uses[a]
                .iter()
                .filter(|k| matches!(lowered.lines[**k as usize].dst, Name::Register(r, _) if r == *argument))
                .count()
                != 1
        {
            continue;
        }
        // The parameter: in the loop, not read after the argument's definition; its only writes there are the
        // copy.
        let copy = uses[p].iter().copied().find(|k| {
            let line = lowered.lines[*k as usize];
            *k > definition
                && line.op == Opcode::Mov
                && line.dst == Name::Register(*parameter, 0)
                && line.a == Name::Register(*argument, 0)
        });
        let Some(copy) = copy else { continue };
        if !uses[p].iter().all(|k| *k <= definition || *k == copy || *k > last) {
            continue;
        }
        // After the loop the parameter is wanted as it was when the lanes left: not after the argument's
        // definition.
        let leaves = |k: u32| match lowered.lines[k as usize].imm {
            Immediate::Label(label) => {
                let to = lowered.labels[label as usize];
                to > last || to < first
            }
            Immediate::Number(_) => false,
        };
        if uses[p].iter().any(|k| *k > last) && (definition + 1..=last).any(leaves) {
            continue;
        }
        // The definition must not lie in an inner loop, where it would overwrite the parameter for a second
        // round.
        if lowered.loops.iter().any(|(f, l)| *f > first && *f <= definition && definition <= *l && *l < last)
        {
            continue;
        }
        taken[p] = true;
        taken[a] = true;
        same[a] = *parameter;
    }
    same
}

/// Assigns registers and encodes.
pub(super) fn allocate(mut lowered: Lowered) -> Result<Code> {
    for (register, id) in &lowered.stretches {
        let (first, last) = lowered.loops[*id as usize];
        let register = &mut lowered.registers[*register as usize];
        register.start = register.start.min(2 * first);
        register.end = register.end.max(2 * last + 1);
    }
    // Where named values are, before registers are shared.
    let lives: Vec<(u32, u32)> = lowered
        .named
        .iter()
        .map(|(.., named)| match *named {
            Named::Register(k, _) => {
                let register = &lowered.registers[k as usize];
                (register.start.div_ceil(2), register.end / 2)
            }
            Named::Constant(_) => (0, u32::MAX),
        })
        .collect();
    let same = coalesce(&mut lowered);
    for (k, to) in same.iter().map(|to| *to as usize).enumerate() {
        if to != k {
            let from = lowered.registers[k];
            let target = &mut lowered.registers[to];
            target.start = target.start.min(from.start);
            target.end = target.end.max(from.end);
        }
    }
    let pinned_vectors = lowered.pins.len() as u32;
    let parks = u32::from(lowered.parks);
    let mut vectors = Free { taken: Vec::new(), count: pinned_vectors };
    let mut masks = Free { taken: Vec::new(), count: parks + 2 };
    (0..pinned_vectors).for_each(|k| vectors.set(k, true));
    (0..parks + 2).for_each(|k| masks.set(k, true));
    let mut order: Vec<u32> = (0..lowered.registers.len() as u32)
        .filter(|k| {
            let register = &lowered.registers[*k as usize];
            register.pinned.is_none() && same[*k as usize] == *k && register.start != u32::MAX
        })
        .collect();
    order.sort_by_key(|k| (lowered.registers[*k as usize].start, *k));
    let mut place = vec![0u32; lowered.registers.len()];
    let mut active: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    for k in order {
        let register = lowered.registers[k as usize];
        while let Some(Reverse((end, other))) = active.peek().copied() {
            if end >= register.start {
                break;
            }
            active.pop();
            let run = u32::from(lowered.registers[other as usize].run);
            if run == 0 {
                masks.release(place[other as usize], 1)
            } else {
                vectors.release(place[other as usize], run)
            }
        }
        place[k as usize] =
            if register.run == 0 { masks.take(1) } else { vectors.take(u32::from(register.run)) };
        active.push(Reverse((register.end, k)));
    }
    for (k, register) in lowered.registers.iter().enumerate() {
        if let Some(pin) = register.pinned {
            place[k] = if register.run == 0 { parks + pin } else { pin };
        } else if same[k] != k as u32 {
            place[k] = place[same[k] as usize];
        }
    }
    // Behind the last register there is a number, too.
    if vectors.count >= 1 << 16 || masks.count >= 1 << 16 {
        return Err(CompileError::Limit("more than 65535 registers".into()));
    }
    encode(lowered, &place, vectors.count, masks.count, &lives)
}

fn encode(
    mut lowered: Lowered,
    place: &[u32],
    vectors: u32,
    masks: u32,
    lives: &[(u32, u32)],
) -> Result<Code> {
    // 0 stands for nothing: register 0 is a mask.
    let resolve =
        |encoded: u32| if encoded == 0 { 0 } else { place[(encoded >> 8) as usize] + (encoded & 0xff) };
    // Copies between registers that became one are dropped; labels and lines move up.
    let mut moved = Vec::with_capacity(lowered.lines.len() + 1);
    let field = |name: Name| -> u16 {
        match name {
            Name::None => 0,
            Name::Register(register, part) => (place[register as usize] + u32::from(part)) as u16,
            Name::Park(park) => park,
            Name::Literal(number) => number,
        }
    };
    let redundant =
        |line: &Line| matches!(line.op, Opcode::Mov | Opcode::MaskMov) && field(line.dst) == field(line.a);
    let mut count = 0u32;
    for line in &lowered.lines {
        moved.push(count);
        count += u32::from(!redundant(line));
    }
    moved.push(count);
    let mut lines = if lowered.sites.is_empty() { Vec::new() } else { moved.clone() };
    let target = |label: u32| moved[(lowered.labels[label as usize] as usize).min(moved.len() - 1)];
    let mut code = Vec::with_capacity(count as usize);
    for line in lowered.lines.iter().filter(|line| !redundant(line)) {
        let imm = match line.imm {
            Immediate::Number(number) => number,
            Immediate::Label(label) => target(label),
        };
        code.push(Inst {
            op: line.op,
            dst: field(line.dst),
            a: field(line.a),
            b: field(line.b),
            c: field(line.c),
            aux: field(line.aux),
            imm,
        });
    }
    let mut back_edges: Vec<(u32, u32)> =
        lowered.back_edges.iter().map(|(line, label)| (moved[*line as usize], target(*label))).collect();
    let mut ends: Vec<(u32, u16, u32)> =
        lowered.open_at_barrier.iter().map(|(barrier, park, end)| (*barrier, *park, target(*end))).collect();
    for _ in 0..2 {
        thread_jumps(&mut code);
        let keep = wanted(&code, &back_edges);
        let moved = compact(&mut code, &keep);
        back_edges.retain(|(pc, _)| keep[*pc as usize]);
        back_edges.iter_mut().for_each(|(pc, to)| (*pc, *to) = (moved[*pc as usize], moved[*to as usize]));
        ends.iter_mut().for_each(|(_, _, end)| *end = moved[*end as usize]);
        lines.iter_mut().for_each(|pc| *pc = moved.get(*pc as usize).copied().unwrap_or(code.len() as u32));
    }
    rotate(&mut code);
    for (barrier, park, end) in ends {
        let mut rest = code[end as usize..].iter();
        if rest.all(|inst| matches!(inst.op, Opcode::Join | Opcode::Jump | Opcode::Done)) {
            lowered.barriers[barrier as usize].returned.push(park);
        }
    }
    let debug = (!lines.is_empty()).then(|| Arc::new(debug_info(&lowered, place, &lines, lives)));
    for entry in &mut lowered.memory {
        entry.offset = resolve(entry.offset);
        entry.result = resolve(entry.result);
        entry.values.iter_mut().chain(&mut entry.comparator).for_each(|v| *v = resolve(*v));
        if let Space::Element { element, .. } = &mut entry.space {
            *element = resolve(*element);
        }
    }
    for entry in &mut lowered.images {
        entry.arguments.iter_mut().for_each(|v| *v = resolve(*v));
        entry.results.0 = if entry.results.1 > 0 { resolve(entry.results.0) } else { 0 };
        let elements = [Some(&mut entry.element), entry.sampler.as_mut()];
        for element in elements.into_iter().flatten() {
            if let ElementIndex::Register(register) = element {
                *register = resolve(*register);
            }
        }
    }
    lowered.prints.iter_mut().flat_map(|entry| &mut entry.registers).for_each(|v| *v = resolve(*v));
    for entry in &mut lowered.matrices {
        let listed = entry.operands.iter_mut().flatten().chain(&mut entry.results);
        listed.for_each(|v| *v = resolve(*v));
    }
    Ok(Code {
        shader: Shader::default(),
        subgroup_size: 0,
        modelled: false,
        code,
        memory: lowered.memory,
        barriers: lowered.barriers,
        images: lowered.images,
        prints: lowered.prints,
        matrices: lowered.matrices,
        views: lowered.views,
        pins: lowered.pins,
        vectors,
        masks,
        parks: u32::from(lowered.parks),
        back_edges,
        groups: lowered.groups,
        workgroup_barriers: lowered.workgroup_barriers,
        outline: None,
        debug,
    })
}

/// Debug information; `lines` are the instructions that lines became, `lives` the lines before which the
/// named values are in their registers.
fn debug_info(lowered: &Lowered, place: &[u32], lines: &[u32], lives: &[(u32, u32)]) -> DebugInfo {
    let pc = |line: u32| lines[(line as usize).min(lines.len() - 1)];
    let mut info = DebugInfo::default();
    for (line, site) in &lowered.sites {
        // A run that became no instruction gives way to the next.
        info.sites.pop_if(|(first, _)| *first == pc(*line));
        info.sites.push((pc(*line), *site));
    }
    for ((name, scalar, named), (first, last)) in lowered.named.iter().zip(lives) {
        let (register, pcs) = match *named {
            Named::Constant(bits) => (Register::Constant(bits), 0..pc(u32::MAX)),
            Named::Register(k, part) => {
                let (at, virtual_register) =
                    (place[k as usize] + u32::from(part), &lowered.registers[k as usize]);
                let mask = virtual_register.run == 0;
                // Pinned registers are never written.
                let pinned = virtual_register.pinned.is_some();
                let pcs = if pinned { 0..pc(u32::MAX) } else { pc(*first)..pc(*last) + 1 };
                (if mask { Register::Mask(at) } else { Register::Vector(at) }, pcs)
            }
        };
        info.locations.push(Location {
            id: name.id,
            call: name.call,
            component: name.component,
            scalar: *scalar,
            register,
            pcs,
        });
    }
    info
}

/// Jumps to jumps go to where those go.
fn thread_jumps(code: &mut [Inst]) {
    for k in 0..code.len() {
        if code[k].op.shape()[5] != OperandKind::Target
            || matches!(code[k].op, Opcode::Repeat | Opcode::RepeatJoin)
        {
            continue;
        }
        let mut to = code[k].imm;
        for _ in 0..8 {
            match code.get(to as usize) {
                Some(next) if next.op == Opcode::Jump => to = next.imm,
                _ => break,
            }
        }
        code[k].imm = to;
    }
}

/// A back-edge to a test that leaves the loop for what follows the back-edge makes the test itself.
fn rotate(code: &mut [Inst]) {
    for k in 0..code.len() {
        if code[k].op != Opcode::Repeat {
            continue;
        }
        let head = code[code[k].imm as usize];
        if let Some(op) = head.op.repeated()
            && head.imm == k as u32 + 1
        {
            code[k] = Inst { op, imm: code[k].imm + 1, ..head };
        }
    }
}

/// Instructions that can be reached and are not jumps to the next one.
fn wanted(code: &[Inst], back_edges: &[(u32, u32)]) -> Vec<bool> {
    let mut reached = vec![false; code.len()];
    let mut work = vec![0u32];
    // Where parked lanes of a strand go on that is split at a back-edge.
    work.extend(back_edges.iter().map(|edge| edge.1));
    work.push(code.len() as u32 - 1);
    while let Some(start) = work.pop() {
        let mut k = start as usize;
        while k < code.len() && !std::mem::replace(&mut reached[k], true) {
            if code[k].op.shape()[5] == OperandKind::Target {
                work.push(code[k].imm);
            }
            if matches!(
                code[k].op,
                Opcode::Jump | Opcode::Park | Opcode::EndLanes | Opcode::Repeat | Opcode::Done
            ) {
                break;
            }
            k += 1;
        }
    }
    let mut next = code.len() as u32;
    for k in (0..code.len()).rev() {
        if reached[k] && code[k].op == Opcode::Jump && code[k].imm == next {
            reached[k] = false;
        }
        if reached[k] {
            next = k as u32;
        }
    }
    reached
}

/// Drops the instructions that are not kept. Returns where each one, or the next one that is kept, has gone.
fn compact(code: &mut Vec<Inst>, keep: &[bool]) -> Vec<u32> {
    let mut moved = Vec::with_capacity(code.len());
    let mut count = 0;
    for keep in keep {
        moved.push(count);
        count += u32::from(*keep);
    }
    let mut k = 0;
    code.retain(|_| {
        k += 1;
        keep[k - 1]
    });
    for inst in code.iter_mut() {
        if inst.op.shape()[5] == OperandKind::Target {
            inst.imm = moved[inst.imm as usize];
        }
    }
    moved
}
