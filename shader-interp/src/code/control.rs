//! The tree of structured constructs, by park and join (see [`super`]).

use super::Pin;
use super::isa::Opcode;
use super::lower::{BlockState, Generator, Immediate, LoopState, Name, Result, words};
use super::uniform::{self, Uniformity};
use crate::error::CompileError;
use crate::ir::{Label, Node, Op, OpKind, Region, Scalar, Value};
use smallvec::{SmallVec, smallvec};

impl Generator<'_> {
    // ---- parks ----

    fn take_park(&mut self) -> Result<u16> {
        let park = self.parks_in_use;
        self.parks_in_use = park
            .checked_add(1)
            .filter(|n| *n < 30_000)
            .ok_or_else(|| CompileError::Limit("control flow nested too deeply".into()))?;
        self.out.parks = self.out.parks.max(self.parks_in_use);
        Ok(park)
    }

    fn next_join(&self) -> Immediate {
        Immediate::Label(self.pending.last().copied().unwrap_or(0))
    }

    /// Takes back a jump or park to what follows anyway.
    fn fall_through(&mut self, op: Opcode, park: Name, label: u32) -> bool {
        if self.last_label == self.here() {
            return false;
        }
        let Some(last) = self.out.lines.last() else { return false };
        let same =
            last.op == op && last.dst == park && (op == Opcode::Park || last.imm == Immediate::Label(label));
        if same {
            self.out.lines.pop();
        }
        same
    }

    // ---- the tree ----

    pub fn region(&mut self, region: &Region) -> Result<()> {
        for node in region {
            match node {
                Node::Op(op) => {
                    self.at_site(op.site);
                    self.operation(op)?
                }
                Node::If { condition, then, otherwise } => {
                    let divergent = self.uniformity.ifs[self.next_if];
                    self.next_if += 1;
                    if divergent {
                        self.divergent_selection(*condition, then, otherwise)?;
                    } else {
                        self.uniform_selection(*condition, then, otherwise)?;
                    }
                }
                Node::Block { label, results, body } => self.block(*label, results, body)?,
                Node::Loop { label, parameters, initial, body } => {
                    self.repetition(*label, parameters, initial, body)?
                }
                Node::Switch { selector, cases, default } => return self.switch(*selector, cases, *default),
                Node::Leave { label, arguments } => {
                    let partial = self.uniformity.jumps[self.next_jump];
                    self.next_jump += 1;
                    let masked = self.uniformity.blocks[label].partial;
                    let results = self.blocks[label].results.clone();
                    self.pass(&results, arguments, masked)?;
                    return self.leave(*label, partial);
                }
                Node::Repeat { label, arguments } => {
                    let partial = self.uniformity.jumps[self.next_jump];
                    self.next_jump += 1;
                    return self.repeat(*label, arguments, partial);
                }
                Node::End => {
                    let next = self.next_join();
                    return self.emit_with(Opcode::EndLanes, Name::None, &[], next);
                }
            }
            if !uniform::reaches_end(std::slice::from_ref(node)) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn pass(&mut self, to: &[Name], arguments: &[Value], masked: bool) -> Result<()> {
        let mut list = SmallVec::<[(Name, Name, Scalar); 4]>::new();
        for (to, argument) in to.iter().zip(arguments) {
            list.push((*to, self.value(*argument)?, self.scalar(*argument)));
        }
        self.moves(&list, masked)
    }

    fn leave(&mut self, label: Label, partial: bool) -> Result<()> {
        let Some(block) = self.blocks.get_mut(&label) else {
            return Err(CompileError::Invalid(format!("leave of block {} from outside", label.0)));
        };
        let end = block.end;
        match (partial, block.park) {
            (true, Some(park)) => {
                block.park_uses += 1;
                let next = self.next_join();
                self.emit_with(Opcode::Park, Name::Park(park), &[], next)
            }
            _ => self.emit_with(Opcode::Jump, Name::None, &[], Immediate::Label(end)),
        }
    }

    fn block(&mut self, label: Label, results: &[Value], body: &Region) -> Result<()> {
        let uniformity = self.uniformity.blocks[&label];
        let (end, join) = (self.label(), self.label());
        let park = if uniformity.partial { Some(self.take_park()?) } else { None };
        let names: SmallVec<[Name; 4]> = results.iter().map(|v| self.fresh_for(self.scalar(*v))).collect();
        self.blocks.insert(label, BlockState { end, park, park_uses: 0, results: names.clone() });
        if let Some(park) = park {
            self.pending.push(join);
            self.open_blocks.push((park, end));
        }
        self.region(body)?;
        let mut parked = 0;
        if let Some(park) = park {
            self.open_blocks.pop();
            self.pending.pop();
            parked = self.blocks[&label].park_uses;
            if self.fall_through(Opcode::Park, Name::Park(park), end) {
                parked -= 1;
            }
        }
        self.fall_through(Opcode::Jump, Name::None, end);
        self.place(end);
        if let Some(park) = park {
            if parked > 0 {
                self.out.labels[join as usize] = self.here();
                let next = self.next_join();
                self.emit_with(Opcode::Join, Name::Park(park), &[], next)?;
            } else {
                // All lanes run on to the end, or none: those look for a join further out.
                let outer = self.pending.last().copied().unwrap_or(0);
                self.out.no_joins.push((join, outer));
            }
            self.parks_in_use -= 1;
        }
        for (value, name) in results.iter().zip(names) {
            self.define(*value, name)?;
        }
        Ok(())
    }

    fn repetition(
        &mut self,
        label: Label,
        parameters: &[Value],
        initial: &[Value],
        body: &Region,
    ) -> Result<()> {
        let id = self.uniformity.loop_labels[&label];
        let outer = self.current_loop;
        let uniformity = self.uniformity.loops[id as usize];
        let mut list = SmallVec::<[(Name, Name, Scalar); 4]>::new();
        let mut names = SmallVec::<[Name; 4]>::new();
        for (parameter, value) in parameters.iter().zip(initial) {
            let scalar = self.scalar(*parameter);
            self.current_loop = id;
            let name = self.fresh_for(scalar);
            self.current_loop = outer;
            names.push(name);
            list.push((name, self.value(*value)?, scalar));
        }
        self.moves(&list, false)?;
        let (head, join, exit) = (self.label(), self.label(), self.label());
        let exit_park = if uniformity.partial_end { Some(self.take_park()?) } else { None };
        let park = self.take_park()?;
        self.loops.insert(label, LoopState { head, park: None, parameters: names.clone() });
        let first_line = self.here();
        self.place(head);
        self.current_loop = id;
        for name in &names {
            if let Name::Register(register, _) = name {
                self.out.stretches.push((*register, id));
            }
        }
        for (value, name) in parameters.iter().zip(&names) {
            self.define(*value, *name)?;
        }
        // Lanes that repeat while others are still inside wait at the loop's end. Whether there are any is
        // known only after the body, but a join without lanes costs nothing.
        let partial_repeats = self.has_partial_repeat(label, body);
        if exit_park.is_some() {
            self.pending.push(exit);
        }
        if partial_repeats {
            if let Some(state) = self.loops.get_mut(&label) {
                state.park = Some(park);
            }
            self.pending.push(join);
        }
        self.region(body)?;
        let reaches_end = uniform::reaches_end(body);
        if reaches_end && exit_park.is_none() && partial_repeats {
            self.emit_with(Opcode::Jump, Name::None, &[], Immediate::Label(exit))?;
        }
        if let (true, Some(park)) = (reaches_end, exit_park) {
            let next = self.next_join();
            self.emit_with(Opcode::Park, Name::Park(park), &[], next)?;
        }
        if partial_repeats {
            self.pending.pop();
            self.fall_through(Opcode::Park, Name::Park(park), join);
            self.place(join);
            let next = *self.pending.last().unwrap_or(&0);
            if self.turns_count(label) {
                self.back_edge();
                self.emit_with(Opcode::RepeatJoin, Name::Park(park), &[], Immediate::Label(head))?;
                self.emit_with(Opcode::Jump, Name::None, &[], Immediate::Label(next))?;
            } else {
                self.emit_with(Opcode::Join, Name::Park(park), &[], Immediate::Label(next))?;
                self.emit_with(Opcode::Jump, Name::None, &[], Immediate::Label(head))?;
            }
        }
        if exit_park.is_some() {
            self.pending.pop();
        }
        let last_line = self.here().saturating_sub(1).max(first_line);
        self.out.loops[id as usize] = (first_line, last_line);
        self.current_loop = outer;
        self.place(exit);
        self.parks_in_use -= 1;
        if let Some(park) = exit_park {
            let next = self.next_join();
            self.emit_with(Opcode::Join, Name::Park(park), &[], next)?;
            self.parks_in_use -= 1;
        }
        Ok(())
    }

    /// Looks ahead for a Repeat of the loop that only some of its lanes take. The walk mirrors
    /// [`Generator::region`].
    fn has_partial_repeat(&self, label: Label, body: &Region) -> bool {
        let mut counter = Lookahead {
            uniformity: self.uniformity,
            next_if: self.next_if,
            next_jump: self.next_jump,
            label,
        };
        counter.region(body)
    }

    fn repeat(&mut self, label: Label, arguments: &[Value], partial: bool) -> Result<()> {
        let Some(state) = self.loops.get(&label) else {
            return Err(CompileError::Invalid(format!("repeat of loop {} from outside", label.0)));
        };
        let (head, park) = (state.head, state.park);
        let parameters = state.parameters.clone();
        if !partial {
            let id = self.uniformity.loop_labels[&label];
            for (parameter, argument) in parameters.iter().zip(arguments) {
                let argument = self.value(*argument)?;
                if let (Name::Register(parameter, 0), Name::Register(argument, 0)) = (*parameter, argument) {
                    self.out.carried.push((parameter, argument, id));
                }
            }
        }
        self.pass(&parameters, arguments, partial)?;
        match (partial, park) {
            (true, Some(park)) => {
                let next = self.next_join();
                self.emit_with(Opcode::Park, Name::Park(park), &[], next)
            }
            _ if self.turns_count(label) => {
                self.back_edge();
                self.emit_with(Opcode::Repeat, Name::None, &[], Immediate::Label(head))
            }
            _ => self.emit_with(Opcode::Jump, Name::None, &[], Immediate::Label(head)),
        }
    }

    /// Whether the turns of a loop count as back-edges: schedules hang on how many there were.
    fn turns_count(&self, label: Label) -> bool {
        self.shader.written_out.binary_search(&label).is_err()
    }

    /// The next line is a back-edge.
    fn back_edge(&mut self) {
        let (line, next) = (self.here(), *self.pending.last().unwrap_or(&0));
        self.out.back_edges.push((line, next));
    }

    fn switch(&mut self, selector: Value, cases: &[(u64, Label)], default: Label) -> Result<()> {
        let scalar = self.scalar(selector);
        let selector = self.value(selector)?;
        let wide = words(scalar) == 2;
        for (literal, label) in cases {
            let literal = self.constant_of(scalar, *literal);
            let opcode = if wide { Opcode::IEqual64 } else { Opcode::IEqual };
            let Some(block) = self.blocks.get_mut(label) else {
                return Err(CompileError::Invalid(format!("switch to block {} from outside", label.0)));
            };
            let end = block.end;
            let park = block.park;
            block.park_uses += u32::from(park.is_some());
            if let Some(park) = park {
                // Lanes that match are parked: the test that fails for them is "not equal".
                let next = self.next_join();
                if wide {
                    let matches = self.compute(opcode, 0, &[selector, literal])?;
                    self.emit_with(Opcode::SplitNot, Name::Park(park), &[matches], next)?;
                } else {
                    self.emit_with(Opcode::SplitINotEqual, Name::Park(park), &[selector, literal], next)?;
                }
            } else if wide {
                let matches = self.compute(opcode, 0, &[selector, literal])?;
                self.emit_with(Opcode::JumpIf, Name::None, &[matches], Immediate::Label(end))?;
            } else {
                self.emit_with(
                    Opcode::JumpINotEqual,
                    Name::None,
                    &[selector, literal],
                    Immediate::Label(end),
                )?;
            }
        }
        self.leave(default, self.uniformity.blocks[&default].partial)
    }

    fn uniform_selection(&mut self, condition: Value, then: &Region, otherwise: &Region) -> Result<()> {
        // The walk order is that of `uniform`: an arm without an end first.
        let then_first = uniform::arm_order(then, otherwise);
        let (first, second) = if then_first { (then, otherwise) } else { (otherwise, then) };
        if let Some(label) = uniform::only_leaves(first)
            && !self.uniformity.jumps[self.next_jump]
            && let Some(end) = self.blocks.get(&label).map(|block| block.end)
        {
            // All lanes leave, or none.
            self.next_jump += 1;
            self.jump_unless(condition, !then_first, end)?;
            return self.region(second);
        }
        let (other, end) = (self.label(), self.label());
        self.jump_unless(condition, then_first, other)?;
        self.region(first)?;
        if uniform::reaches_end(first) && !second.is_empty() {
            self.emit_with(Opcode::Jump, Name::None, &[], Immediate::Label(end))?;
        }
        self.place(other);
        self.region(second)?;
        self.place(end);
        Ok(())
    }

    /// Jumps to `to` unless the uniform `condition` is `sense`.
    fn jump_unless(&mut self, condition: Value, sense: bool, to: u32) -> Result<()> {
        match self.plan.branches.get(&condition).copied() {
            // The fused jump is taken where the test fails.
            Some((test, [x, y])) => {
                let (opcode, x, y) = if sense { (Some(test), x, y) } else { invert(test, x, y) };
                let (x, y) = (self.value(x)?, self.value(y)?);
                match opcode.and_then(Opcode::fused) {
                    Some((_, jump)) => self.emit_with(jump, Name::None, &[x, y], Immediate::Label(to)),
                    None => {
                        let mask = self.compute(test, 0, &[x, y])?;
                        self.emit_with(Opcode::JumpIf, Name::None, &[mask], Immediate::Label(to))
                    }
                }
            }
            None => {
                let mask = self.value(condition)?;
                let op = if sense { Opcode::JumpUnless } else { Opcode::JumpIf };
                self.emit_with(op, Name::None, &[mask], Immediate::Label(to))
            }
        }
    }

    fn divergent_selection(&mut self, condition: Value, then: &Region, otherwise: &Region) -> Result<()> {
        let then_first = uniform::arm_order(then, otherwise);
        let (first, second) = if then_first { (then, otherwise) } else { (otherwise, then) };
        if let Some(label) = uniform::only_leaves(first) {
            // The lanes of the first arm are parked at once; the others run on.
            self.next_jump += 1;
            let Some(block) = self.blocks.get_mut(&label) else {
                return Err(CompileError::Invalid(format!("leave of block {} from outside", label.0)));
            };
            block.park_uses += 1;
            let park = block.park.unwrap_or(0);
            let next = self.next_join();
            self.split(condition, !then_first, park, next)?;
            return self.region(second);
        }
        let first_ends = uniform::reaches_end(first);
        let other_park = self.take_park()?;
        let other = self.label();
        self.split(condition, then_first, other_park, Immediate::Label(other))?;
        if second.is_empty() {
            self.pending.push(other);
            self.region(first)?;
            self.pending.pop();
            self.place(other);
            let next = self.next_join();
            self.emit_with(Opcode::Join, Name::Park(other_park), &[], next)?;
            self.parks_in_use -= 1;
            return Ok(());
        }
        let end_park = if first_ends { Some(self.take_park()?) } else { None };
        let end = self.label();
        if first_ends {
            self.pending.push(end);
        }
        self.pending.push(other);
        self.region(first)?;
        self.pending.pop();
        if let Some(park) = end_park {
            self.emit_with(Opcode::Park, Name::Park(park), &[], Immediate::Label(other))?;
        }
        self.place(other);
        let next = self.next_join();
        self.emit_with(Opcode::Join, Name::Park(other_park), &[], next)?;
        self.region(second)?;
        if let Some(park) = end_park {
            self.pending.pop();
            self.place(end);
            let next = self.next_join();
            self.emit_with(Opcode::Join, Name::Park(park), &[], next)?;
            self.parks_in_use -= 1;
        }
        self.parks_in_use -= 1;
        Ok(())
    }

    /// Goes on with the lanes where `condition` is `sense`, parks the others; goes to `next` if none goes on.
    fn split(&mut self, condition: Value, sense: bool, park: u16, next: Immediate) -> Result<()> {
        let park = Name::Park(park);
        let Some((test, [x, y])) = self.plan.branches.get(&condition).copied() else {
            let mask = self.value(condition)?;
            return self.emit_with(if sense { Opcode::Split } else { Opcode::SplitNot }, park, &[mask], next);
        };
        let (opcode, x, y) = if sense { (Some(test), x, y) } else { invert(test, x, y) };
        let (x, y) = (self.value(x)?, self.value(y)?);
        match opcode.and_then(Opcode::fused) {
            Some((split, _)) => self.emit_with(split, park, &[x, y], next),
            None => {
                let mask = self.compute(test, 0, &[x, y])?;
                self.emit_with(Opcode::SplitNot, park, &[mask], next)
            }
        }
    }

    fn operation(&mut self, op: &Op) -> Result<()> {
        match &op.kind {
            OpKind::Constant(_) => Ok(()),
            OpKind::Undef => {
                let name = self.constant_of(self.scalar(op.results[0]), 0);
                self.define(op.results[0], name)
            }
            OpKind::BuiltIn(builtin) => {
                let name = self.pin(&[Pin::BuiltIn(*builtin)]);
                self.define(op.results[0], name)
            }
            OpKind::Alu(_) | OpKind::Convert(_) | OpKind::Pack64 | OpKind::Unpack64 => {
                if !self.plan.uses_results(op) {
                    return Ok(());
                }
                if let Some((opcode, arguments)) = self.plan.fused.get(&op.results[0]) {
                    let mut names: SmallVec<[Name; 4]> = smallvec![];
                    for argument in arguments {
                        names.push(self.value(*argument)?);
                    }
                    let result = self.compute(*opcode, 1, &names)?;
                    return self.define(op.results[0], result);
                }
                self.pure(op)
            }
            _ => self.access(op),
        }
    }
}

/// The test that holds where `opcode(x, y)` does not, if there is one that can be fused.
fn invert(opcode: Opcode, x: Value, y: Value) -> (Option<Opcode>, Value, Value) {
    match opcode {
        Opcode::IEqual => (Some(Opcode::INotEqual), x, y),
        Opcode::INotEqual => (Some(Opcode::IEqual), x, y),
        Opcode::ULess => (Some(Opcode::ULessEqual), y, x),
        Opcode::ULessEqual => (Some(Opcode::ULess), y, x),
        Opcode::SLess => (Some(Opcode::SLessEqual), y, x),
        Opcode::SLessEqual => (Some(Opcode::SLess), y, x),
        Opcode::FOrdEqual => (Some(Opcode::FUnordNotEqual), x, y),
        Opcode::FUnordNotEqual => (Some(Opcode::FOrdEqual), x, y),
        _ => (None, x, y),
    }
}

struct Lookahead<'a> {
    uniformity: &'a Uniformity,
    next_if: usize,
    next_jump: usize,
    label: Label,
}

impl Lookahead<'_> {
    fn region(&mut self, region: &Region) -> bool {
        let mut found = false;
        for node in region {
            match node {
                Node::If { then, otherwise, .. } => {
                    self.next_if += 1;
                    let (first, second) = if uniform::arm_order(then, otherwise) {
                        (then, otherwise)
                    } else {
                        (otherwise, then)
                    };
                    found |= self.region(first);
                    found |= self.region(second);
                }
                Node::Block { body, .. } | Node::Loop { body, .. } => found |= self.region(body),
                Node::Leave { .. } => self.next_jump += 1,
                Node::Repeat { label, .. } => {
                    found |= *label == self.label && self.uniformity.jumps[self.next_jump];
                    self.next_jump += 1;
                }
                Node::Op(_) | Node::Switch { .. } | Node::End => {}
            }
            if !uniform::reaches_end(std::slice::from_ref(node)) {
                break;
            }
        }
        found
    }
}
