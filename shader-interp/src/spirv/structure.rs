//! From the control flow graph to the tree of constructs.
//!
//! A block that several edges lead to, or that a header declares, is *placed*: its structural immediate
//! dominator opens a [`Node::Block`] around everything it runs before, and each edge to it is a
//! [`Node::Leave`]. All other blocks are continued into. Merge blocks come outermost, then continue targets,
//! then the others in reverse post-order, so that lanes meet where the module says they do. No block is
//! copied.

use super::cfg::{Cfg, switch_cases};
use super::lowerer::{Flat, Lowerer};
use super::types::Type;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Label, Node, Scalar, Value, Values};
use crate::stack::MAX_BLOCKS;
use smallvec::SmallVec;
use spirv::Op;
use std::rc::Rc;

/// One function instance being written.
pub(crate) struct Frame {
    pub cfg: Rc<Cfg>,
    /// Labels of the open blocks of placed blocks.
    block_label: Vec<Option<Label>>,
    /// Labels of the open loops of headers.
    loop_label: Vec<Option<Label>>,
    /// Placed blocks to which something leaves that is written. Branches on constants go one way alone.
    entered: Vec<bool>,
    /// Where returns go.
    pub return_label: Label,
}

impl Frame {
    /// A frame with nothing open.
    pub fn new(cfg: Rc<Cfg>, return_label: Label) -> Frame {
        let n = cfg.blocks.len();
        Frame {
            cfg,
            block_label: vec![None; n],
            loop_label: vec![None; n],
            entered: vec![false; n],
            return_label,
        }
    }
}

/// How a block ends: in a block that is continued into, or not.
type Next = Option<(u32, Flat)>;

impl Lowerer<'_> {
    /// Writes block `block` and all that it dominates; `incoming` are the values of its phis.
    pub fn emit(
        &mut self,
        frame: &mut Frame,
        mut block: u32,
        mut incoming: Flat,
    ) -> Result<(), CompileError> {
        self.depth += 1;
        if self.depth > MAX_BLOCKS {
            return Err(CompileError::Limit(format!("blocks nested deeper than {MAX_BLOCKS}")));
        }
        let cfg = frame.cfg.clone();
        loop {
            self.b.check_size()?;
            let of = &cfg.blocks[block as usize];
            let is_loop = of.continue_target.is_some();
            let child = |target: Option<u32>| target.filter(|&t| t != block && of.children.contains(&t));
            let merge = child(of.merge);
            let continue_target = child(of.continue_target);
            let others: SmallVec<[u32; 4]> = of
                .children
                .iter()
                .copied()
                .filter(|&t| Some(t) != merge && Some(t) != continue_target)
                .collect();
            if merge.is_some() {
                self.open_block(frame, merge);
            }
            let loop_node = if is_loop { Some(self.open_loop(frame, block, &incoming)?) } else { None };
            if !is_loop {
                self.bind_phis(&cfg, block, &incoming)?;
            }
            self.open_block(frame, continue_target);
            for &other in others.iter().rev() {
                self.open_block(frame, Some(other));
            }
            let next = self.emit_instructions(frame, block)?;
            let nested = is_loop || !others.is_empty() || merge.is_some() || continue_target.is_some();
            if let Some((target, values)) = next {
                if !nested {
                    (block, incoming) = (target, values);
                    continue;
                }
                self.emit(frame, target, values)?;
            }
            for &other in others.iter().chain(&continue_target) {
                if let Some(results) = self.close_block(frame, other)? {
                    self.emit(frame, other, results)?;
                }
            }
            if let Some((label, parameters, initial)) = loop_node {
                frame.loop_label[block as usize] = None;
                let body = self.b.close();
                self.b.push(Node::Loop { label, parameters, initial, body });
            }
            let Some(merge) = merge else { break };
            let Some(results) = self.close_block(frame, merge)? else { break };
            (block, incoming) = (merge, results);
        }
        self.depth -= 1;
        Ok(())
    }

    fn open_block(&mut self, frame: &mut Frame, target: Option<u32>) {
        if let Some(target) = target {
            frame.block_label[target as usize] = Some(self.b.label());
            self.b.open();
        }
    }

    /// Ends the block that `target` follows and gives the values of its phis; `None` if no invocation comes
    /// to `target`, nor to what it dominates.
    fn close_block(&mut self, frame: &mut Frame, target: u32) -> Result<Option<Flat>, CompileError> {
        let body = self.b.close();
        let label = frame.block_label[target as usize].take();
        let label = label.ok_or_else(|| CompileError::Invalid("unstructured control flow".into()))?;
        let cfg = frame.cfg.clone();
        let mut results = Values::new();
        // The single target of a switch has its phis bound by the switch itself.
        for scalar in self.phi_scalars(&cfg, target)? {
            results.push(self.b.fresh(scalar));
        }
        let incoming = Flat::from_slice(&results);
        self.b.push(Node::Block { label, results, body });
        if !frame.entered[target as usize] {
            self.b.push(Node::End);
            return Ok(None);
        }
        Ok(Some(incoming))
    }

    fn open_loop(
        &mut self,
        frame: &mut Frame,
        header: u32,
        incoming: &Flat,
    ) -> Result<(Label, Values, Values), CompileError> {
        let label = self.b.label();
        frame.loop_label[header as usize] = Some(label);
        let cfg = frame.cfg.clone();
        let mut parameters = Values::new();
        for scalar in self.phi_scalars(&cfg, header)? {
            parameters.push(self.b.fresh(scalar));
        }
        if parameters.len() != incoming.len() {
            return Err(CompileError::Invalid("a loop header without values for its phis".into()));
        }
        self.b.open();
        self.bind_phis(&cfg, header, &Flat::from_slice(&parameters))?;
        Ok((label, parameters, Values::from_slice(incoming)))
    }

    /// Types of the values of a block's phis.
    fn phi_scalars(&self, cfg: &Cfg, block: u32) -> Result<Vec<Scalar>, CompileError> {
        let mut scalars = Vec::new();
        for &word in &cfg.blocks[block as usize].phis {
            let i = self.module.stream.at(word)?;
            match self.types.get(i.id(1)?)?.kind {
                Type::Pointer { .. } if self.types.get(i.id(1)?)?.flat == 0 => scalars.push(Scalar::I32),
                _ => scalars.extend(self.scalars(i.id(1)?)?),
            }
        }
        Ok(scalars)
    }

    fn bind_phis(&mut self, cfg: &Cfg, block: u32, values: &[Value]) -> Result<(), CompileError> {
        let mut at = 0;
        for &word in &cfg.blocks[block as usize].phis {
            let i = self.module.stream.at(word)?;
            let info = self.types.get(i.id(1)?)?;
            let logical = matches!(info.kind, Type::Pointer { .. }) && info.flat == 0;
            let n = if logical { 1 } else { info.flat as usize };
            let part = values.get(at..at + n).ok_or_else(|| i.invalid("has no value here"))?;
            let part = Flat::from_slice(part);
            at += n;
            if logical {
                self.define_chosen_pointer(&i, part[0])?;
            } else {
                self.set(&i, &part)?;
            }
        }
        Ok(())
    }

    /// Values for the phis of `to` when it is reached from `from`.
    fn phi_arguments(&mut self, cfg: &Cfg, from: u32, to: u32) -> Result<Flat, CompileError> {
        let label = cfg.blocks[from as usize].label;
        let mut values = Flat::new();
        for &word in &cfg.blocks[to as usize].phis {
            let i = self.module.stream.at(word)?;
            let pair = i.rest(3).chunks_exact(2).position(|pair| pair[1] == label);
            let Some(k) = pair else {
                return Err(i.invalid(&format!("has no value for the edge from block {label}")));
            };
            let id = i.id(3 + 2 * k)?;
            let start = values.len();
            values.extend(self.values(id)?);
            self.check_phi(&i, &values[start..])?;
        }
        Ok(values)
    }

    fn check_phi(&self, i: &Instruction<'_>, values: &[Value]) -> Result<(), CompileError> {
        let info = self.types.get(i.id(1)?)?;
        let fits = match (&info.kind, info.scalar) {
            (Type::Pointer { .. }, None) => values.len() == 1 && self.b.scalar(values[0]) == Scalar::I32,
            (_, Some(scalar)) => {
                values.len() == info.flat as usize && values.iter().all(|&x| self.b.scalar(x) == scalar)
            }
            _ => {
                let scalars = self.scalars(i.id(1)?)?;
                scalars.len() == values.len()
                    && values.iter().zip(&scalars).all(|(&x, &scalar)| self.b.scalar(x) == scalar)
            }
        };
        if fits { Ok(()) } else { Err(i.invalid("has a value of another type")) }
    }

    /// Takes the edge from one block to another: writes a leave or repeat, or says that `to` is to be
    /// continued into.
    fn edge(&mut self, frame: &mut Frame, from: u32, to: u32) -> Result<Next, CompileError> {
        let arguments = self.phi_arguments(&frame.cfg.clone(), from, to)?;
        if let Some(label) = frame.loop_label[to as usize] {
            self.b.push(Node::Repeat { label, arguments: Values::from_slice(&arguments) });
            return Ok(None);
        }
        if frame.cfg.blocks[to as usize].placed {
            let label = frame.block_label[to as usize].ok_or_else(|| {
                CompileError::Invalid(format!(
                    "unstructured control flow: block {} branches to block {}",
                    frame.cfg.blocks[from as usize].label, frame.cfg.blocks[to as usize].label
                ))
            })?;
            frame.entered[to as usize] = true;
            self.b.push(Node::Leave { label, arguments: Values::from_slice(&arguments) });
            return Ok(None);
        }
        Ok(Some((to, arguments)))
    }

    /// An edge in a region of its own.
    fn arm(&mut self, frame: &mut Frame, from: u32, to: u32) -> Result<Vec<Node>, CompileError> {
        self.b.open();
        if let Some((target, values)) = self.edge(frame, from, to)? {
            self.emit(frame, target, values)?;
        }
        Ok(self.b.close())
    }

    /// Straight-line instructions and the terminator of a block.
    fn emit_instructions(&mut self, frame: &mut Frame, block: u32) -> Result<Next, CompileError> {
        let (mut word, terminator) = {
            let of = &frame.cfg.blocks[block as usize];
            (of.first, of.terminator)
        };
        self.sites.line = None;
        self.call = self.instance_call;
        while word < terminator {
            let i = self.module.stream.at(word)?;
            self.instruction(&i)?;
            word = i.next();
        }
        let i = self.module.stream.at(terminator)?;
        self.terminator(frame, block, &i)
    }

    fn terminator(
        &mut self,
        frame: &mut Frame,
        block: u32,
        i: &Instruction<'_>,
    ) -> Result<Next, CompileError> {
        let to = |frame: &Frame, label: u32| frame.cfg.block(label);
        match i.op {
            Op::Branch => {
                let target = to(frame, i.id(1)?)?;
                self.edge(frame, block, target)
            }
            Op::BranchConditional => {
                let condition = self.scalar_operand(i, 1)?;
                if self.b.scalar(condition) != Scalar::Bool {
                    return Err(i.invalid("has a condition that is no boolean"));
                }
                let (yes, no) = (to(frame, i.id(2)?)?, to(frame, i.id(3)?)?);
                if yes == no {
                    return self.edge(frame, block, yes);
                }
                if let Some(bits) = self.b.constant_bits(condition) {
                    return self.edge(frame, block, if bits != 0 { yes } else { no });
                }
                let then = self.arm(frame, block, yes)?;
                let otherwise = self.arm(frame, block, no)?;
                self.b.push(Node::If { condition, then, otherwise });
                Ok(None)
            }
            Op::Switch => self.switch(frame, block, i).map(|()| None),
            Op::Return | Op::ReturnValue => {
                let arguments = if i.op == Op::ReturnValue { self.return_values(i)? } else { Values::new() };
                let expected = self.expected_returns.last().map_or(&[][..], Vec::as_slice);
                if expected.len() != arguments.len()
                    || arguments.iter().zip(expected).any(|(&value, &scalar)| self.b.scalar(value) != scalar)
                {
                    return Err(i.invalid("does not return what the function's type says"));
                }
                self.b.push(Node::Leave { label: frame.return_label, arguments });
                Ok(None)
            }
            Op::Unreachable | Op::Kill | Op::TerminateInvocation => {
                self.b.push(Node::End);
                Ok(None)
            }
            _ => Err(i.refuse("")),
        }
    }

    fn return_values(&mut self, i: &Instruction<'_>) -> Result<Values, CompileError> {
        Ok(Values::from_slice(&self.values(i.id(1)?)?))
    }

    /// OpSwitch. A target that only this switch reaches is left to directly; for the others there is a block
    /// without results that takes the edge.
    fn switch(&mut self, frame: &mut Frame, block: u32, i: &Instruction<'_>) -> Result<(), CompileError> {
        let selector = self.scalar_operand(i, 1)?;
        let wide = match self.b.scalar(selector) {
            Scalar::I64 => true,
            Scalar::I8 | Scalar::I16 | Scalar::I32 => false,
            _ => return Err(i.invalid("has a selector that is no integer")),
        };
        let cases = switch_cases(i, wide)?;
        let default = frame.cfg.block(i.id(2)?)?;
        let width = crate::pass::fold::width(self.b.scalar(selector));
        let mut numbered = Vec::with_capacity(cases.len());
        let mut targets: Vec<u32> = vec![default];
        for (literal, label) in cases {
            let target = frame.cfg.block(label)?;
            numbered.push((literal & crate::pass::fold::mask(width), target));
            targets.push(target);
        }
        targets.sort_unstable();
        targets.dedup();
        let selector = if matches!(self.b.scalar(selector), Scalar::I8 | Scalar::I16) {
            self.int_value(selector)
        } else {
            selector
        };
        let mut label_of: Vec<(u32, Label)> = Vec::new();
        let mut indirect: Vec<(u32, Label)> = Vec::new();
        for &target in &targets {
            let of = &frame.cfg.blocks[target as usize];
            let direct = of.placed
                && !of.declared
                && of.dominator == block
                && of.phis.is_empty()
                && of.predecessors.as_slice() == [block]
                && frame.loop_label[target as usize].is_none();
            match frame.block_label[target as usize] {
                Some(label) if direct => {
                    frame.entered[target as usize] = true;
                    label_of.push((target, label));
                }
                _ => {
                    let label = self.b.label();
                    label_of.push((target, label));
                    indirect.push((target, label));
                    self.b.open();
                }
            }
        }
        self.b.check_size()?;
        let find = |target: u32| {
            let at = label_of.binary_search_by_key(&target, |&(target, _)| target);
            at.map(|at| label_of[at].1)
                .map_err(|_| CompileError::Invalid("a switch without its target".into()))
        };
        let mut by_label = Vec::with_capacity(numbered.len());
        for (literal, target) in numbered {
            by_label.push((literal, find(target)?));
        }
        self.b.push(Node::Switch { selector, cases: by_label, default: find(default)? });
        for &(target, label) in indirect.iter().rev() {
            let body = self.b.close();
            self.b.push(Node::Block { label, results: Values::new(), body });
            if let Some((target, values)) = self.edge(frame, block, target)? {
                self.emit(frame, target, values)?;
            }
        }
        Ok(())
    }

    /// The graph of a function, read once.
    pub fn cfg(&mut self, function: usize) -> Result<Rc<Cfg>, CompileError> {
        if let Some(cfg) = &self.cfgs[function] {
            return Ok(cfg.clone());
        }
        let wide = |id: u32| {
            let ty = self.module.result_type.get(id as usize).copied().unwrap_or(0);
            self.types.get(ty).is_ok_and(|info| info.scalar == Some(Scalar::I64))
        };
        let cfg = Rc::new(Cfg::read(self.module.stream, &self.module.functions[function], wide)?);
        self.cfgs[function] = Some(cfg.clone());
        Ok(cfg)
    }
}
