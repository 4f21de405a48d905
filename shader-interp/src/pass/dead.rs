//! The last pass: phi-like values that carry one value go, what nobody uses goes, values are numbered anew,
//! and every use is checked to come after its definition in textual order, which execution relies on.

use crate::CompileError;
use crate::ir::{Label, Node, Op, Region, Scalar, Shader, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const UNSET: Value = Value(u32::MAX);

/// What defines a value, as far as liveness asks.
#[derive(Clone, Copy)]
enum Definition {
    /// An operation that stays anyway, or nothing.
    Fixed,
    /// A pure operation, by index.
    Pure(u32),
    /// A block result or loop parameter, by index.
    Phi(u32),
}

#[derive(Default)]
struct Analysis {
    definition: Vec<Definition>,
    /// Arguments of pure operations.
    pure: Vec<SmallVec<[Value; 4]>>,
    /// The value and incoming values of results and parameters.
    phis: Vec<(Value, SmallVec<[Value; 4]>)>,
    /// First phi of a label, and how many it has.
    first: FxHashMap<Label, (u32, u32)>,
    /// Values that operations which stay use.
    roots: Vec<Value>,
    /// What a phi is another name for.
    same: Vec<Value>,
}

/// Runs the pass. `known` values are other names of constants.
pub(crate) fn run(shader: &mut Shader, known: &FxHashMap<Value, Value>) -> Result<(), CompileError> {
    let count = shader.values.len();
    let mut analysis = Analysis {
        definition: vec![Definition::Fixed; count],
        same: (0..count as u32).map(Value).collect(),
        ..Analysis::default()
    };
    for (&value, &constant) in known {
        analysis.same[value.0 as usize] = constant;
    }
    analysis.region(&shader.body);
    analysis.merge();
    let live = analysis.live();
    let body = std::mem::take(&mut shader.body);
    let mut renumber = Renumber {
        analysis: &analysis,
        live: &live,
        old: &shader.values,
        number: vec![UNSET; count],
        values: Vec::new(),
    };
    shader.body = renumber.region(body)?;
    shader.names.retain_mut(|name| {
        let defined = renumber.get(name.value);
        defined.map(|value| name.value = value).is_ok()
    });
    shader.values = renumber.values;
    Ok(())
}

impl Analysis {
    fn region(&mut self, region: &Region) {
        for node in region {
            match node {
                Node::Op(op) => self.op(op),
                Node::If { condition, then, otherwise } => {
                    self.roots.push(*condition);
                    self.region(then);
                    self.region(otherwise);
                }
                Node::Block { label, results, body } => {
                    self.phis(*label, results, None);
                    self.region(body);
                }
                Node::Loop { label, parameters, initial, body } => {
                    self.phis(*label, parameters, Some(initial));
                    self.region(body);
                }
                Node::Switch { selector, .. } => self.roots.push(*selector),
                Node::Leave { label, arguments } | Node::Repeat { label, arguments } => {
                    let first = self.first.get(label).map_or(0, |&(first, _)| first as usize);
                    for (k, &argument) in arguments.iter().enumerate() {
                        if let Some(phi) = self.phis.get_mut(first + k) {
                            phi.1.push(argument);
                        }
                    }
                }
                Node::End => {}
            }
        }
    }

    fn op(&mut self, op: &Op) {
        if op.kind.is_droppable() {
            let mut used: SmallVec<[Value; 4]> = op.arguments.clone();
            op.kind.for_each_value(|value| used.push(value));
            for result in &op.results {
                self.definition[result.0 as usize] = Definition::Pure(self.pure.len() as u32);
            }
            self.pure.push(used);
        } else {
            self.roots.extend_from_slice(&op.arguments);
            let roots = &mut self.roots;
            op.kind.for_each_value(|value| roots.push(value));
        }
    }

    fn phis(&mut self, label: Label, values: &[Value], initial: Option<&[Value]>) {
        self.first.insert(label, (self.phis.len() as u32, values.len() as u32));
        for (k, &value) in values.iter().enumerate() {
            self.definition[value.0 as usize] = Definition::Phi(self.phis.len() as u32);
            let incoming = initial.and_then(|initial| initial.get(k)).copied();
            self.phis.push((value, incoming.into_iter().collect()));
        }
    }

    fn resolve(&self, mut value: Value) -> Value {
        while self.same[value.0 as usize] != value {
            value = self.same[value.0 as usize];
        }
        value
    }

    /// A phi all of whose incoming values are one value or itself is that value.
    fn merge(&mut self) {
        for _ in 0..16 {
            let mut changed = false;
            for k in 0..self.phis.len() {
                let value = self.phis[k].0;
                if self.same[value.0 as usize] != value {
                    continue;
                }
                let mut one = UNSET;
                let mut several = false;
                for &incoming in &self.phis[k].1 {
                    let incoming = self.resolve(incoming);
                    if incoming == value || incoming == one {
                        continue;
                    }
                    several |= one != UNSET;
                    one = incoming;
                }
                if !several && one != UNSET {
                    self.same[value.0 as usize] = one;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }

    fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.same.len()];
        let mut work: Vec<Value> = self.roots.clone();
        while let Some(value) = work.pop() {
            let value = self.resolve(value);
            if std::mem::replace(&mut live[value.0 as usize], true) {
                continue;
            }
            match self.definition[value.0 as usize] {
                Definition::Fixed => {}
                Definition::Pure(k) => work.extend_from_slice(&self.pure[k as usize]),
                Definition::Phi(k) => work.extend_from_slice(&self.phis[k as usize].1),
            }
        }
        live
    }
}

struct Renumber<'a> {
    analysis: &'a Analysis,
    live: &'a [bool],
    old: &'a [Scalar],
    /// New numbers of values that are defined so far.
    number: Vec<Value>,
    values: Vec<Scalar>,
}

impl Renumber<'_> {
    fn define(&mut self, value: Value) -> Result<Value, CompileError> {
        let new = Value(self.values.len() as u32);
        if self.number[value.0 as usize] != UNSET {
            return Err(CompileError::Invalid(format!("value {} is defined twice", value.0)));
        }
        self.number[value.0 as usize] = new;
        self.values.push(self.old[value.0 as usize]);
        Ok(new)
    }

    fn get(&self, value: Value) -> Result<Value, CompileError> {
        match self.number[self.analysis.resolve(value).0 as usize] {
            UNSET => {
                Err(CompileError::Invalid("a value is used where its definition does not dominate".into()))
            }
            new => Ok(new),
        }
    }

    fn list<const N: usize>(&self, values: &[Value]) -> Result<SmallVec<[Value; N]>, CompileError>
    where
        [Value; N]: smallvec::Array<Item = Value>,
    {
        values.iter().map(|&value| self.get(value)).collect()
    }

    fn region(&mut self, region: Region) -> Result<Region, CompileError> {
        let mut out = Vec::with_capacity(region.len());
        for node in region {
            match node {
                Node::Op(op) => {
                    if let Some(op) = self.op(op)? {
                        out.push(Node::Op(op));
                    }
                }
                Node::If { condition, then, otherwise } => {
                    let condition = self.get(condition)?;
                    let (then, otherwise) = (self.region(then)?, self.region(otherwise)?);
                    out.push(Node::If { condition, then, otherwise });
                }
                Node::Block { label, results, body } => {
                    let body = self.region(body)?;
                    let results = self.kept(label).map(|k| results[k]).collect::<Vec<_>>();
                    let results =
                        results.into_iter().map(|value| self.define(value)).collect::<Result<_, _>>()?;
                    out.push(Node::Block { label, results, body });
                }
                Node::Loop { label, parameters, initial, body } => {
                    let kept: Vec<usize> = self.kept(label).collect();
                    let initial = kept.iter().map(|&k| self.get(initial[k])).collect::<Result<_, _>>()?;
                    let parameters =
                        kept.iter().map(|&k| self.define(parameters[k])).collect::<Result<_, _>>()?;
                    let body = self.region(body)?;
                    out.push(Node::Loop { label, parameters, initial, body });
                }
                Node::Switch { selector, cases, default } => {
                    out.push(Node::Switch { selector: self.get(selector)?, cases, default });
                }
                Node::Leave { label, arguments } => {
                    let arguments = self.arguments(label, &arguments)?;
                    out.push(Node::Leave { label, arguments });
                }
                Node::Repeat { label, arguments } => {
                    let arguments = self.arguments(label, &arguments)?;
                    out.push(Node::Repeat { label, arguments });
                }
                Node::End => out.push(Node::End),
            }
        }
        Ok(out)
    }

    /// Positions of a label's results or parameters that stay.
    fn kept(&self, label: Label) -> impl Iterator<Item = usize> + use<'_> {
        let (first, count) = self.analysis.first.get(&label).copied().unwrap_or((0, 0));
        let (first, count) = (first as usize, count as usize);
        let phis = &self.analysis.phis;
        (0..count).filter(move |&k| {
            let value = phis[first + k].0;
            self.live[value.0 as usize] && self.analysis.same[value.0 as usize] == value
        })
    }

    fn arguments(&self, label: Label, arguments: &[Value]) -> Result<SmallVec<[Value; 4]>, CompileError> {
        if arguments.is_empty() {
            return Ok(SmallVec::new());
        }
        self.kept(label)
            .map(|k| match arguments.get(k) {
                Some(&value) => self.get(value),
                None => Err(CompileError::Invalid("a jump passes too few values".into())),
            })
            .collect()
    }

    fn op(&mut self, mut op: Op) -> Result<Option<Op>, CompileError> {
        if op.kind.is_droppable() && !op.results.iter().any(|value| self.live[value.0 as usize]) {
            return Ok(None);
        }
        let arguments = self.list::<4>(&op.arguments)?;
        op.kind.try_for_each_value_mut(|value| {
            *value = self.get(*value)?;
            Ok(())
        })?;
        let results = op.results.iter().map(|&value| self.define(value)).collect::<Result<_, _>>()?;
        Ok(Some(Op { results, arguments, ..op }))
    }
}
