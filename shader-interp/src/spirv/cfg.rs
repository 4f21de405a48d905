//! A function's control flow graph, its structural dominator tree (SPIR-V 2.11 *Structured Control Flow*:
//! declared merge blocks and continue targets count as successors of their headers), and which blocks become
//! targets of [`crate::ir::Node::Leave`].

use super::module::Function;
use super::words::{Instruction, Stream};
use crate::CompileError;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::Op;

/// A basic block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// Id of its label.
    pub label: u32,
    /// Word after its label.
    pub first: u32,
    /// Words of its phi instructions.
    pub phis: Vec<u32>,
    /// Word of its terminator.
    pub terminator: u32,
    /// Declared merge block.
    pub merge: Option<u32>,
    /// Declared continue target: the block is a loop header.
    pub continue_target: Option<u32>,
    /// Distinct successors.
    pub successors: SmallVec<[u32; 2]>,
    /// Distinct reachable predecessors that are not back edges.
    pub predecessors: SmallVec<[u32; 2]>,
    /// Structural immediate dominator; itself for the entry block.
    pub dominator: u32,
    /// Blocks that it immediately dominates, and that are left to by name, in reverse post-order.
    pub children: Vec<u32>,
    /// A real path leads here.
    pub reachable: bool,
    /// Left to by name rather than continued into.
    pub placed: bool,
    /// Ends with OpSwitch.
    pub switch: bool,
    /// Declared by a header as merge block or continue target.
    pub declared: bool,
}

/// The graph of a function. Blocks are numbered in the order of the module; block 0 is the entry.
#[derive(Debug)]
pub(crate) struct Cfg {
    pub blocks: Vec<Block>,
    /// Block numbers by label id.
    pub of_label: FxHashMap<u32, u32>,
}

/// Labels that a block branches to, its merge block's and its continue target's.
type Targets = (SmallVec<[u32; 4]>, Option<u32>, Option<u32>);

/// True for block terminators.
pub(crate) fn is_terminator(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Branch
            | BranchConditional
            | Switch
            | Return
            | ReturnValue
            | Kill
            | Unreachable
            | TerminateInvocation
            | IgnoreIntersectionKHR
            | TerminateRayKHR
            | EmitMeshTasksEXT
    )
}

/// The literals and labels of OpSwitch; `wide` selectors have literals of two words.
pub(crate) fn switch_cases(i: &Instruction<'_>, wide: bool) -> Result<Vec<(u64, u32)>, CompileError> {
    let words = i.rest(3);
    let step = if wide { 3 } else { 2 };
    if !words.len().is_multiple_of(step) {
        return Err(i.invalid("has half a case"));
    }
    Ok(words
        .chunks_exact(step)
        .map(|c| if wide { (u64::from(c[0]) | u64::from(c[1]) << 32, c[2]) } else { (u64::from(c[0]), c[1]) })
        .collect())
}

impl Cfg {
    /// Reads the blocks of a function. `wide` tells whether a selector id is 64 bits wide.
    pub fn read(
        stream: Stream<'_>,
        function: &Function,
        wide: impl Fn(u32) -> bool,
    ) -> Result<Cfg, CompileError> {
        let mut cfg = Cfg { blocks: Vec::new(), of_label: FxHashMap::default() };
        let mut targets: Vec<Targets> = Vec::new();
        let mut open: Option<Block> = None;
        let (mut merge, mut continue_target) = (None, None);
        let mut word = function.body;
        while word < function.end {
            let i = stream.at(word)?;
            match (&mut open, i.op) {
                (None, Op::Label) => {
                    let label = i.id(1)?;
                    cfg.of_label.insert(label, cfg.blocks.len() as u32);
                    open = Some(Block { label, first: i.next(), ..Block::default() });
                    (merge, continue_target) = (None, None);
                }
                (None, Op::Line | Op::NoLine | Op::ExtInst) => {}
                (None, _) => return Err(i.invalid("stands outside a block")),
                (Some(_), Op::Label) => return Err(i.invalid("follows a block without terminator")),
                (Some(block), Op::Phi) => block.phis.push(word),
                (Some(_), Op::SelectionMerge) => merge = Some(i.id(1)?),
                (Some(_), Op::LoopMerge) => (merge, continue_target) = (Some(i.id(1)?), Some(i.id(2)?)),
                (Some(block), op) => {
                    if is_terminator(op) {
                        let mut to: SmallVec<[u32; 4]> = SmallVec::new();
                        match op {
                            Op::Branch => to.push(i.id(1)?),
                            Op::BranchConditional => to.extend([i.id(2)?, i.id(3)?]),
                            Op::Switch => {
                                block.switch = true;
                                to.push(i.id(2)?);
                                to.extend(switch_cases(&i, wide(i.id(1)?))?.iter().map(|case| case.1));
                            }
                            _ => {}
                        }
                        block.terminator = word;
                        if let Some(done) = open.take() {
                            cfg.blocks.push(done);
                            targets.push((to, merge, continue_target));
                        }
                    }
                }
            }
            word = i.next();
        }
        if open.is_some() || cfg.blocks.is_empty() {
            return Err(CompileError::Invalid(format!(
                "function {} has no body or an open block",
                function.id
            )));
        }
        cfg.connect(&targets, function.id)?;
        cfg.order()?;
        Ok(cfg)
    }

    /// Number of the block of a label.
    pub fn block(&self, label: u32) -> Result<u32, CompileError> {
        self.of_label
            .get(&label)
            .copied()
            .ok_or_else(|| CompileError::Invalid(format!("label {label} is not in the function")))
    }

    fn connect(&mut self, targets: &[Targets], function: u32) -> Result<(), CompileError> {
        for (k, (to, merge, continue_target)) in targets.iter().enumerate() {
            for &label in to {
                let target = self.block(label)?;
                if target == 0 {
                    return Err(CompileError::Invalid(format!(
                        "function {function} branches to its first block"
                    )));
                }
                if !self.blocks[k].successors.contains(&target) {
                    self.blocks[k].successors.push(target);
                }
            }
            let merge = merge.map(|label| self.block(label)).transpose()?;
            let continue_target = continue_target.map(|label| self.block(label)).transpose()?;
            (self.blocks[k].merge, self.blocks[k].continue_target) = (merge, continue_target);
        }
        let mut stack = vec![0u32];
        self.blocks[0].reachable = true;
        while let Some(k) = stack.pop() {
            for target in self.blocks[k as usize].successors.clone() {
                if !self.blocks[target as usize].reachable {
                    self.blocks[target as usize].reachable = true;
                    stack.push(target);
                }
            }
        }
        Ok(())
    }

    /// Structural successors in an order whose depth-first search puts merge blocks last.
    fn structural(&self, k: u32) -> SmallVec<[u32; 4]> {
        let block = &self.blocks[k as usize];
        let mut all: SmallVec<[u32; 4]> = SmallVec::new();
        all.extend(block.merge);
        all.extend(block.continue_target.filter(|&target| target != k));
        all.extend(block.successors.iter().rev().copied());
        all
    }

    fn order(&mut self) -> Result<(), CompileError> {
        let n = self.blocks.len();
        const UNSEEN: u32 = u32::MAX;
        let mut post = Vec::with_capacity(n);
        let mut seen = vec![false; n];
        let mut stack: Vec<(u32, SmallVec<[u32; 4]>, usize)> = vec![(0, self.structural(0), 0)];
        seen[0] = true;
        while let Some((k, next, at)) = stack.last_mut() {
            if let Some(&target) = next.get(*at) {
                *at += 1;
                if !seen[target as usize] {
                    seen[target as usize] = true;
                    let successors = self.structural(target);
                    stack.push((target, successors, 0));
                }
            } else {
                post.push(*k);
                stack.pop();
            }
        }
        post.reverse();
        let order = post;
        let mut number = vec![UNSEEN; n];
        for (k, &block) in order.iter().enumerate() {
            number[block as usize] = k as u32;
        }
        let mut into: Vec<SmallVec<[u32; 4]>> = vec![SmallVec::new(); n];
        for &block in &order {
            for target in self.structural(block) {
                into[target as usize].push(block);
            }
        }
        self.dominators(&order, &number, &into, UNSEEN);
        self.edges(&order, &number)
    }

    /// Cooper, Harvey and Kennedy's iteration over the reverse post-order.
    fn dominators(&mut self, order: &[u32], number: &[u32], into: &[SmallVec<[u32; 4]>], unseen: u32) {
        let mut dominator = vec![unseen; self.blocks.len()];
        dominator[0] = 0;
        loop {
            let mut changed = false;
            for &block in &order[1..] {
                let mut new = unseen;
                for &from in &into[block as usize] {
                    if dominator[from as usize] == unseen {
                        continue;
                    }
                    if new == unseen {
                        new = from;
                        continue;
                    }
                    let (mut a, mut b) = (from, new);
                    while a != b {
                        if number[a as usize] > number[b as usize] {
                            a = dominator[a as usize];
                        } else {
                            b = dominator[b as usize];
                        }
                    }
                    new = a;
                }
                if dominator[block as usize] != new {
                    dominator[block as usize] = new;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for (block, dominator) in self.blocks.iter_mut().zip(dominator) {
            block.dominator = if dominator == unseen { 0 } else { dominator };
        }
    }

    fn dominates(&self, a: u32, mut b: u32, number: &[u32]) -> bool {
        while number[b as usize] > number[a as usize] {
            b = self.blocks[b as usize].dominator;
        }
        a == b
    }

    /// Forward predecessors, back edges, and which blocks are placed.
    fn edges(&mut self, order: &[u32], number: &[u32]) -> Result<(), CompileError> {
        for &block in order {
            if !self.blocks[block as usize].reachable {
                continue;
            }
            for target in self.blocks[block as usize].successors.clone() {
                if number[target as usize] > number[block as usize] {
                    self.blocks[target as usize].predecessors.push(block);
                    continue;
                }
                let header = &self.blocks[target as usize];
                if header.continue_target.is_none() || !self.dominates(target, block, number) {
                    return Err(CompileError::Invalid(format!(
                        "unstructured control flow: block {} branches back to block {}",
                        self.blocks[block as usize].label, header.label
                    )));
                }
            }
            let of = &self.blocks[block as usize];
            let declared: SmallVec<[u32; 2]> = of.merge.into_iter().chain(of.continue_target).collect();
            let header_of_itself = of.continue_target == Some(block);
            for target in declared {
                if !(header_of_itself && target == block) {
                    self.blocks[target as usize].declared = true;
                }
            }
        }
        let mut switched = Vec::new();
        for block in &self.blocks {
            if block.reachable && block.switch {
                switched.extend(block.successors.iter().copied());
            }
        }
        for block in &mut self.blocks[1..] {
            block.placed = block.reachable && (block.declared || block.predecessors.len() >= 2);
        }
        for target in switched {
            self.blocks[target as usize].placed = true;
        }
        for &block in &order[1..] {
            if self.blocks[block as usize].placed {
                let dominator = self.blocks[block as usize].dominator;
                self.blocks[dominator as usize].children.push(block);
            }
        }
        Ok(())
    }
}
