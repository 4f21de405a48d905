//! Variable pointers (SPV_KHR_variable_pointers): logical pointers that are values. A pointer to the
//! StorageBuffer or Workgroup class is a *tag* and a byte offset, each I32. The tag says which variable it
//! points into and, for an array of descriptors, which element; the tag of a null pointer is 0. What a
//! pointer may point into is found in the module by following where it comes from, so that an access
//! through it is one of few.

use super::lowerer::{Def, Flat, Lowerer};
use super::pointer::{Base, Pointer};
use super::types::{Layout, Type, UNTYPED};
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, Conversion, Node, Scalar, Value, Values};
use pellucid_memory::access::Site;
use pellucid_memory::scope::StorageClasses;
use rustc_hash::FxHashMap;
use spirv::{Decoration, Op, StorageClass};
use std::rc::Rc;

/// Bits of a tag that number the variable; the others are the element.
const NUMBER: u32 = 8;
/// Ids that are followed to find what one pointer may point into.
const MAX_SOURCES: usize = 1 << 14;

/// Pointers that are made of one another.
const MAX_DEPTH: usize = 512;

/// A variable that a pointer may point into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    /// The low bits of its tags.
    number: u32,
    /// The whole variable.
    pointer: Pointer,
}

/// A pointer into one of several variables, or perhaps into none.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    tag: Value,
    roots: Rc<[Root]>,
    null: bool,
}

/// Where pointers of the module come from.
pub(crate) struct Origins {
    /// By a function's id: the argument lists of its calls.
    calls: FxHashMap<u32, Vec<Vec<u32>>>,
    /// By a function's id: what it returns.
    returns: FxHashMap<u32, Vec<u32>>,
    /// By a parameter's id: its function, and which parameter it is.
    parameters: FxHashMap<u32, (u32, usize)>,
    /// By pointer type: what is stored, or becomes a part of a composite.
    kept: FxHashMap<u32, Vec<u32>>,
    /// What has been followed already.
    roots: FxHashMap<u32, (Rc<[Root]>, bool)>,
}

/// True for the type of pointers that are values of two words.
pub(crate) fn is_variable(class: StorageClass) -> bool {
    matches!(class, StorageClass::StorageBuffer | StorageClass::Workgroup)
}

impl Lowerer<'_> {
    /// True if the id is a logical pointer that is a value.
    pub fn is_variable_pointer(&self, id: u32) -> bool {
        let ty = self.module.result_type.get(id as usize).copied().unwrap_or(0);
        let kind = self.types.get(ty).map(|info| &info.kind);
        matches!(kind, Ok(Type::Pointer { class, .. }) if is_variable(*class))
    }

    /// The tag and the byte offset that a pointer is.
    pub fn pointer_words(&mut self, pointer: &Pointer) -> Result<Flat, CompileError> {
        let tag = match pointer.base {
            Base::Chosen { choice, .. } => self.choices[choice as usize].tag,
            Base::Buffer { element: Some(element), .. } => {
                let number = self.root_number(pointer)?;
                let last = self.b.int(u32::MAX >> NUMBER);
                let element = self.b.alu(Alu::UMin, Scalar::I32, &[element, last]);
                let by = self.b.int(NUMBER);
                let element = self.b.alu(Alu::ShiftLeft, Scalar::I32, &[element, by]);
                let number = self.b.int(number);
                self.b.alu(Alu::Or, Scalar::I32, &[element, number])
            }
            _ => {
                let number = self.root_number(pointer)?;
                self.b.int(number)
            }
        };
        let immediate = self.b.int(pointer.immediate);
        let offset = match pointer.offset {
            Some(offset) => self.b.add(offset, immediate),
            None => immediate,
        };
        Ok(Flat::from_slice(&[tag, offset]))
    }

    /// The low bits of the tags of pointers into a variable. Variables of one descriptor have one number.
    fn root_number(&self, pointer: &Pointer) -> Result<u32, CompileError> {
        let index = match pointer.base {
            Base::Buffer { binding, .. } => {
                let own = &self.bindings[binding as usize];
                let same = |other: &crate::ir::Binding| (other.set, other.binding) == (own.set, own.binding);
                self.bindings.iter().position(same).unwrap_or(binding as usize) as u32
            }
            Base::Workgroup(object) => object,
            _ => {
                let what = "variable pointer into a variable of this storage class";
                return Err(CompileError::NotImplemented(what.into()));
            }
        };
        if index + 1 >= 1 << NUMBER {
            return Err(CompileError::Limit("variable pointers among more than 254 variables".into()));
        }
        Ok(index + 1)
    }

    /// The pointer that the words of an id say.
    pub fn variable_pointer(&mut self, id: u32, words: &[Value]) -> Result<Pointer, CompileError> {
        let ty = self.type_of(id)?;
        let &[tag, offset] = words else {
            return Err(CompileError::Invalid(format!("id {id} is no pointer")));
        };
        let Type::Pointer { class, pointee, .. } = self.types.get(ty)?.kind else {
            return Err(CompileError::Invalid(format!("id {id} is no pointer")));
        };
        let (roots, null) = self.roots(id)?;
        let (coherent, volatile, layout) = self.way(id, &roots)?;
        let class = if class == StorageClass::Workgroup {
            StorageClasses::WORKGROUP
        } else {
            StorageClasses::UNIFORM
        };
        let base = Base::Chosen { choice: self.choices.len() as u32, class };
        let chosen =
            Pointer { base, offset: Some(offset), pointee, layout, coherent, volatile, ..Pointer::default() };
        let choice = Choice { tag, roots, null };
        if let ([root], false) = (&choice.roots[..], null) {
            let root = *root;
            return Ok(self.at_root(&chosen, &choice, &root));
        }
        self.choices.push(choice);
        Ok(chosen)
    }

    /// A chosen pointer where it points into one of its roots.
    fn at_root(&mut self, pointer: &Pointer, choice: &Choice, root: &Root) -> Pointer {
        let base = match root.pointer.base {
            Base::Buffer { binding, .. } if root.pointer.descriptor_array => {
                let by = self.b.int(NUMBER);
                let element = self.b.alu(Alu::ShiftRightLogical, Scalar::I32, &[choice.tag, by]);
                Base::Buffer { binding, element: Some(element) }
            }
            base => base,
        };
        Pointer {
            base,
            variable: root.pointer.variable,
            coherent: pointer.coherent || root.pointer.coherent,
            volatile: pointer.volatile || root.pointer.volatile,
            ..*pointer
        }
    }

    /// Does something with a pointer: at once if it is known what it points into, else once for each
    /// variable, where it points into that. A null pointer is the address 0, where nothing is.
    pub fn at_each_root(
        &mut self,
        pointer: &Pointer,
        results: &[Scalar],
        act: &mut dyn FnMut(&mut Self, &Pointer) -> Result<Flat, CompileError>,
    ) -> Result<Flat, CompileError> {
        let Base::Chosen { choice, .. } = pointer.base else { return act(self, pointer) };
        let choice = self.choices[choice as usize].clone();
        let mask = self.b.int((1 << NUMBER) - 1);
        let number = self.b.alu(Alu::And, Scalar::I32, &[choice.tag, mask]);
        let label = self.b.label();
        self.b.open();
        // Of each open selection: its condition, and what is done where it holds.
        let (mut conditions, mut arms) = (Vec::new(), Vec::new());
        for (k, root) in choice.roots.iter().enumerate() {
            self.b.check_size()?;
            let last = k + 1 == choice.roots.len() && !choice.null;
            if !last {
                let own = self.b.int(root.number);
                let condition = self.b.alu(Alu::IEqual, Scalar::Bool, &[number, own]);
                self.b.open();
                conditions.push(condition);
            }
            let here = self.at_root(pointer, &choice, root);
            let values = act(self, &here)?;
            self.b.push(Node::Leave { label, arguments: Values::from_slice(&values) });
            if !last {
                arms.push(self.b.close());
                self.b.open();
            }
        }
        if choice.null || choice.roots.is_empty() {
            let address = self.b.constant(Scalar::I64, 0);
            let nowhere = Pointer { base: Base::Physical(address), offset: None, immediate: 0, ..*pointer };
            let values = act(self, &nowhere)?;
            self.b.push(Node::Leave { label, arguments: Values::from_slice(&values) });
        }
        while let Some(condition) = conditions.pop() {
            let otherwise = self.b.close();
            let then = arms.pop().unwrap_or_default();
            self.b.push(Node::If { condition, then, otherwise });
        }
        let body = self.b.close();
        let values: Values = results.iter().map(|&scalar| self.b.fresh(scalar)).collect();
        let flat = Flat::from_slice(&values);
        self.b.push(Node::Block { label, results: values, body });
        Ok(flat)
    }

    /// The site of the same instruction, through another variable.
    pub fn site_through(&mut self, site: Site, variable: u32) -> Result<Site, CompileError> {
        let word = self.sites.word(site);
        if site == Site(0) || variable == 0 {
            return Ok(site);
        }
        let i = self.module.stream.at(word)?;
        Ok(self.site(&i, variable))
    }

    /// OpPtrEqual, OpPtrNotEqual and OpPtrDiff of pointers that are values.
    pub fn compare_variable_pointers(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let (a, b) = (i.id(3)?, i.id(4)?);
        let Type::Pointer { class, pointee, stride } = self.types.get(self.type_of(a)?)?.kind else {
            return Err(i.invalid("has operands of types that it does not take"));
        };
        let (x, y) = (self.values(a)?, self.values(b)?);
        let (&[x_tag, x_offset], &[y_tag, y_offset]) = (&x[..], &y[..]) else {
            return Err(i.invalid("has operands of types that it does not take"));
        };
        if i.op == Op::PtrDiff {
            let layout = self.pointer(a)?.layout;
            let stride = match stride {
                // Untyped pointers count bytes.
                _ if pointee == UNTYPED => 1,
                Some(stride) if layout.explicit => stride,
                _ => self.types.size(pointee, layout)?,
            };
            let bytes = self.b.alu(Alu::ISub, Scalar::I32, &[x_offset, y_offset]);
            let stride = self.b.int(stride.max(1));
            let elements = self.b.alu(Alu::SDiv, Scalar::I32, &[bytes, stride]);
            let result = self.types.scalar(i.id(1)?)?;
            let elements = self.b.convert(Conversion::SConvert, result, elements);
            return self.set(i, &[elements]);
        }
        let tags = if class == StorageClass::Workgroup {
            // All workgroup variables lie in one memory, blocks over each other.
            let zero = self.b.int(0);
            let [x, y] = [x_tag, y_tag].map(|tag| self.b.alu(Alu::IEqual, Scalar::Bool, &[tag, zero]));
            self.b.alu(Alu::LogicalEqual, Scalar::Bool, &[x, y])
        } else {
            self.b.alu(Alu::IEqual, Scalar::Bool, &[x_tag, y_tag])
        };
        let offsets = self.b.alu(Alu::IEqual, Scalar::Bool, &[x_offset, y_offset]);
        let mut equal = self.b.alu(Alu::LogicalAnd, Scalar::Bool, &[tags, offsets]);
        if i.op == Op::PtrNotEqual {
            equal = self.b.alu(Alu::LogicalNot, Scalar::Bool, &[equal]);
        }
        self.set(i, &[equal])
    }

    /// The variables that a pointer may point into, and whether it may be null or undefined.
    fn roots(&mut self, id: u32) -> Result<(Rc<[Root]>, bool), CompileError> {
        self.find_origins()?;
        if let Some((roots, null)) = self.origins.as_ref().and_then(|origins| origins.roots.get(&id)) {
            return Ok((roots.clone(), *null));
        }
        let (mut roots, mut null) = (Vec::<Root>::new(), false);
        let mut seen = rustc_hash::FxHashSet::default();
        let mut rest = vec![id];
        while let Some(id) = rest.pop() {
            if !seen.insert(id) {
                continue;
            }
            if seen.len() > MAX_SOURCES {
                return Err(CompileError::Limit("too many pointers to choose from".into()));
            }
            if self.is_global_variable(id) {
                let pointer = self.pointer(id)?;
                let number = self.root_number(&pointer)?;
                if roots.iter().all(|root| root.number != number) {
                    roots.push(Root { number, pointer });
                }
                continue;
            }
            match self.sources(id)? {
                Some(sources) => rest.extend(sources),
                None => null = true,
            }
        }
        roots.sort_by_key(|root| root.number);
        let roots: Rc<[Root]> = roots.into();
        if let Some(origins) = &mut self.origins {
            origins.roots.insert(id, (roots.clone(), null));
        }
        Ok((roots, null))
    }

    /// The ids that a pointer's value comes from; `None` for a null or undefined pointer.
    fn sources(&self, id: u32) -> Result<Option<Vec<u32>>, CompileError> {
        let word = self.module.defined.get(id as usize).copied().unwrap_or(0);
        let i = self.module.stream.at(word)?;
        let list = |map: &FxHashMap<u32, Vec<u32>>, key: u32| map.get(&key).cloned().unwrap_or_default();
        let Some(origins) = &self.origins else { return Ok(None) };
        Ok(Some(match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                vec![i.id(i.base())?]
            }
            Op::CopyObject => vec![i.id(3)?],
            Op::Select => vec![i.id(4)?, i.id(5)?],
            Op::Phi => i.rest(3).chunks_exact(2).map(|pair| pair[0]).collect(),
            Op::FunctionCall => list(&origins.returns, i.id(3)?),
            Op::FunctionParameter => {
                let (function, k) = origins.parameters.get(&id).copied().unwrap_or_default();
                let calls = origins.calls.get(&function).map_or(&[][..], Vec::as_slice);
                calls.iter().filter_map(|arguments| arguments.get(k).copied()).collect()
            }
            Op::Load | Op::CompositeExtract => list(&origins.kept, i.id(1)?),
            Op::ConstantNull | Op::Undef => return Ok(None),
            _ => return Err(i.refuse("that gives a variable pointer")),
        }))
    }

    /// What lies on the way to a pointer: decorations of its variables' members, and the layout of what it
    /// points to.
    fn way(&self, id: u32, roots: &[Root]) -> Result<(bool, bool, Layout), CompileError> {
        let explicit = roots.iter().all(|root| root.pointer.layout.explicit);
        let mut way =
            Way { coherent: false, volatile: false, explicit, depth: 0, known: FxHashMap::default() };
        let layout = self.way_to(id, &mut way)?;
        let plain = Layout { explicit, ..Layout::default() };
        Ok((way.coherent, way.volatile, layout.unwrap_or(plain)))
    }

    fn way_to(&self, id: u32, way: &mut Way) -> Result<Option<Layout>, CompileError> {
        if let Some(&known) = way.known.get(&id) {
            return Ok(known);
        }
        way.depth += 1;
        if way.depth > MAX_DEPTH || way.known.len() > MAX_SOURCES {
            return Err(CompileError::Limit("too many pointers to choose from".into()));
        }
        way.known.insert(id, None);
        let decorations = &self.module.decorations;
        way.coherent |= decorations.has(id, Decoration::Coherent);
        way.volatile |= decorations.has(id, Decoration::Volatile);
        if self.is_global_variable(id) {
            let plain = Layout { explicit: way.explicit, ..Layout::default() };
            way.known.insert(id, Some(plain));
            way.depth -= 1;
            return Ok(Some(plain));
        }
        let word = self.module.defined.get(id as usize).copied().unwrap_or(0);
        let i = self.module.stream.at(word)?;
        let mut layout = None;
        // What uses an untyped pointer says how its pointee is laid out.
        let untyped = self.is_untyped(id);
        let plain = Layout { explicit: way.explicit, ..Layout::default() };
        for source in self.sources(id)?.unwrap_or_default() {
            let other = self.way_to(source, way)?;
            match (layout, other) {
                (Some(one), Some(other)) if one != other && !untyped => {
                    return Err(i.refuse("of pointers to matrices that are laid out differently"));
                }
                (None, other) => layout = other,
                _ => {}
            }
        }
        let first = match i.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                i.indices()
            }
            _ => i.len(),
        };
        if first < i.len() {
            let mut at = layout.unwrap_or(plain);
            let mut pointee = match self.types.get(self.type_of(i.id(i.base())?)?)?.kind {
                _ if i.untyped() => {
                    at = plain;
                    i.id(3)?
                }
                Type::Pointer { pointee, .. } => pointee,
                _ => return Err(i.invalid("has a base that is no pointer")),
            };
            for k in first..i.len() {
                if let Type::Struct { members } = &self.types.get(pointee)?.kind {
                    let number = self.constant_u32(i.id(k)?)?;
                    if let Some(member) = members.get(number as usize) {
                        way.coherent |= member.coherent;
                        way.volatile |= member.volatile;
                    }
                    (pointee, _, at) = self.types.part(pointee, at, number)?;
                } else {
                    (pointee, _, at) = self.types.element(pointee, at)?;
                }
            }
            layout = Some(at);
        }
        if untyped {
            layout = Some(plain);
        }
        way.known.insert(id, layout);
        way.depth -= 1;
        Ok(layout)
    }

    /// Reads where pointers come from, in the functions that the entry point reaches.
    fn find_origins(&mut self) -> Result<(), CompileError> {
        if self.origins.is_some() {
            return Ok(());
        }
        let mut origins = Origins {
            calls: FxHashMap::default(),
            returns: FxHashMap::default(),
            parameters: FxHashMap::default(),
            kept: FxHashMap::default(),
            roots: FxHashMap::default(),
        };
        for &word in &self.module.globals {
            let i = self.module.stream.at(word)?;
            let initializer = if i.op == Op::Variable { 4.min(i.len()) } else { i.len() };
            self.keep(&mut origins, i.rest(initializer));
        }
        let mut reached = vec![self.function_index(self.module.entry)?];
        let mut next = 0;
        while let Some(&index) = reached.get(next) {
            next += 1;
            let function = &self.module.functions[index];
            for (k, &parameter) in function.parameters.iter().enumerate() {
                origins.parameters.insert(parameter, (function.id, k));
            }
            let (mut word, end) = (function.body, function.end);
            while word < end {
                let i = self.module.stream.at(word)?;
                match i.op {
                    Op::FunctionCall => {
                        let callee = i.id(3)?;
                        origins.calls.entry(callee).or_default().push(i.rest(4).to_vec());
                        let callee = self.function_index(callee)?;
                        if !reached.contains(&callee) {
                            reached.push(callee);
                        }
                    }
                    Op::ReturnValue => origins.returns.entry(function.id).or_default().push(i.id(1)?),
                    Op::Store => self.keep(&mut origins, &[i.id(2)?]),
                    Op::CompositeConstruct => self.keep(&mut origins, i.rest(3)),
                    Op::CompositeInsert => self.keep(&mut origins, &[i.id(3)?]),
                    Op::Variable if i.len() > 4 => self.keep(&mut origins, &[i.id(4)?]),
                    _ => {}
                }
                word = i.next();
            }
        }
        self.origins = Some(origins);
        Ok(())
    }

    fn keep(&self, origins: &mut Origins, ids: &[u32]) {
        for &id in ids {
            if self.is_variable_pointer(id)
                && let Ok(ty) = self.type_of(id)
            {
                origins.kept.entry(ty).or_default().push(id);
            }
        }
    }

    /// The scalars of an id that is a pointer.
    pub fn pointer_values(&mut self, id: u32) -> Result<Flat, CompileError> {
        if !self.is_variable_pointer(id) {
            return Ok(Flat::from_slice(&[self.pointer_value(id)?]));
        }
        let pointer = self.pointer(id)?;
        self.pointer_words(&pointer)
    }

    /// The pointer of an id that is defined by its words; found once.
    pub fn pointer_of_words(&mut self, id: u32, words: &[Value]) -> Result<Pointer, CompileError> {
        let pointer = self.variable_pointer(id, words)?;
        // A constant is one in every function, and an element is computed where it is used.
        let element = matches!(pointer.base, Base::Buffer { element: Some(_), .. });
        if !element && !matches!(self.sources(id), Ok(None)) {
            self.define_pointer(id, pointer);
        }
        Ok(pointer)
    }

    /// The words that an id is defined by, if it is a variable pointer.
    pub fn words_of(&self, id: u32) -> Option<Flat> {
        match self.defs.get(id as usize) {
            Some(&Def::Many(start, 2)) if self.is_variable_pointer(id) => {
                Some(Flat::from_slice(&self.arena[start as usize..start as usize + 2]))
            }
            _ => None,
        }
    }
}

/// The state of [`Lowerer::way`].
struct Way {
    coherent: bool,
    volatile: bool,
    explicit: bool,
    depth: usize,
    /// What was found for each id; nothing while its sources are followed.
    known: FxHashMap<u32, Option<Layout>>,
}
