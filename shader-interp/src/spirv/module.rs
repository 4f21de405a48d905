//! A module's first pass: sections, ids, functions. Nothing is lowered here.

use super::capability::{LONG_VECTOR, UNTYPED_POINTERS, check_capability, check_extension};
use super::decorate::{Decorations, is_annotation};
use super::words::{Instruction, Stream};
use crate::CompileError;
use crate::ir::{SourceLanguage, Stage};
use rustc_hash::FxHashMap;
use spirv::Op;

/// An imported instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtendedSet {
    /// GLSL.std.450.
    Glsl,
    /// NonSemantic.Shader.DebugInfo.100.
    ShaderDebugInfo,
    /// NonSemantic.DebugPrintf.
    DebugPrintf,
    /// Another set that may be ignored.
    Ignored,
}

/// A function's place in the stream.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Id of OpFunction.
    pub id: u32,
    pub result_type: u32,
    /// Ids of its parameters.
    pub parameters: Vec<u32>,
    /// Word of the first OpLabel; that of OpFunctionEnd if there is none.
    pub body: u32,
    /// Word of OpFunctionEnd.
    pub end: u32,
}

/// What the first pass finds.
#[derive(Default)]
pub(crate) struct Module<'a> {
    /// The words.
    pub stream: Stream<'a>,
    /// LongVectorEXT is declared.
    pub long_vectors: bool,
    /// UntypedPointersKHR is declared.
    pub untyped_pointers: bool,
    pub vulkan_memory_model: bool,
    /// Imported sets by id.
    pub sets: FxHashMap<u32, ExtendedSet>,
    /// The entry point's function.
    pub entry: u32,
    /// The names of the others that a device like this one could run.
    entry_points: Vec<String>,
    /// The variables that the entry point names.
    pub interface: Vec<u32>,
    pub stage: Stage,
    /// Words of the execution modes of the entry point.
    pub modes: Vec<u32>,
    /// Word of OpName, by id.
    pub names: FxHashMap<u32, u32>,
    /// Word of OpMemberName, by type and member.
    pub member_names: FxHashMap<(u32, u32), u32>,
    /// Word of OpString, by id.
    pub strings: FxHashMap<u32, u32>,
    /// File id and text of OpSource, with continuation.
    pub sources: Vec<(u32, Option<Vec<u8>>)>,
    /// Language of the first OpSource.
    pub language: SourceLanguage,
    pub decorations: Decorations,
    /// Words of types, constants, variables and global extended instructions, in order.
    pub globals: Vec<u32>,
    /// Word of the defining instruction by id, 0 if there is none.
    pub defined: Vec<u32>,
    /// Result type by id, 0 if it has none.
    pub result_type: Vec<u32>,
    /// Functions, in order.
    pub functions: Vec<Function>,
    /// Index in `functions` by id.
    pub function_of: FxHashMap<u32, usize>,
}

impl<'a> Module<'a> {
    /// Reads the module and selects the entry point.
    pub fn read(words: &'a [u32], entry_point: &str) -> Result<Module<'a>, CompileError> {
        let stream = Stream::new(words)?;
        let bound = stream.bound as usize;
        let (defined, result_type) = (vec![0; bound], vec![0; bound]);
        let mut module = Module { stream, defined, result_type, ..Module::default() };
        module.scan(entry_point)?;
        Ok(module)
    }

    fn scan(&mut self, entry_point: &str) -> Result<(), CompileError> {
        let mut word = self.stream.start();
        let mut function: Option<Function> = None;
        let mut modes = Vec::new();
        while word < self.stream.end() {
            let i = self.stream.at(word)?;
            self.define(&i)?;
            match &mut function {
                Some(open) => match i.op {
                    Op::FunctionParameter => open.parameters.push(i.id(2)?),
                    Op::Label if open.body == 0 => open.body = word,
                    Op::FunctionEnd => {
                        open.end = word;
                        if open.body == 0 {
                            open.body = word;
                        }
                        if let Some(done) = function.take() {
                            self.function_of.insert(done.id, self.functions.len());
                            self.functions.push(done);
                        }
                    }
                    Op::Function => return Err(i.invalid("stands inside a function")),
                    _ => {}
                },
                None if i.op == Op::Function => {
                    let (result_type, id) = (i.id(1)?, i.id(2)?);
                    function = Some(Function { id, result_type, parameters: Vec::new(), body: 0, end: 0 });
                }
                None => self.global(&i, entry_point, &mut modes)?,
            }
            word = i.next();
        }
        if function.is_some() {
            return Err(CompileError::Invalid("the module ends inside a function".into()));
        }
        if self.entry == 0 {
            let names: Vec<String> = self.entry_points.iter().map(|name| format!("\"{name}\"")).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(CompileError::NoEntryPoint(entry_point.to_owned(), names));
        }
        let entry = self.entry;
        self.modes = modes.into_iter().filter(|&(target, _)| target == entry).map(|(_, word)| word).collect();
        Ok(())
    }

    fn define(&mut self, i: &Instruction<'a>) -> Result<(), CompileError> {
        let (result_type, result) = i.result()?;
        if let Some(id) = result {
            let slot = &mut self.defined[id as usize];
            if *slot != 0 {
                return Err(i.invalid(&format!("defines id {id} a second time")));
            }
            *slot = i.word;
            if let Some(result_type) = result_type {
                self.result_type[id as usize] = result_type;
            }
        }
        Ok(())
    }

    fn global(
        &mut self,
        i: &Instruction<'a>,
        entry_point: &str,
        modes: &mut Vec<(u32, u32)>,
    ) -> Result<(), CompileError> {
        match i.op {
            Op::Capability => {
                check_capability(i.word(1)?)?;
                self.long_vectors |= i.word(1)? == LONG_VECTOR;
                self.untyped_pointers |= i.word(1)? == UNTYPED_POINTERS;
            }
            Op::Extension => check_extension(&i.string(1)?.0)?,
            Op::ExtInstImport => {
                let (name, _) = i.string(2)?;
                let set = match name.as_str() {
                    "GLSL.std.450" => ExtendedSet::Glsl,
                    "NonSemantic.Shader.DebugInfo.100" => ExtendedSet::ShaderDebugInfo,
                    "NonSemantic.DebugPrintf" => ExtendedSet::DebugPrintf,
                    "OpenCL.DebugInfo.100" => ExtendedSet::Ignored,
                    other if other.starts_with("NonSemantic.") => ExtendedSet::Ignored,
                    other => {
                        return Err(CompileError::NotImplemented(format!("instruction set {other}")));
                    }
                };
                self.sets.insert(i.id(1)?, set);
            }
            Op::MemoryModel => {
                match i.word(1)? {
                    0 | 5348 => {}
                    other => {
                        return Err(CompileError::NotImplemented(format!("addressing model {other}")));
                    }
                }
                self.vulkan_memory_model = match i.word(2)? {
                    0 | 1 => false,
                    3 => true,
                    other => return Err(CompileError::NotImplemented(format!("memory model {other}"))),
                };
            }
            Op::EntryPoint => {
                let (name, next) = i.string(3)?;
                let stage = Stage::of(i.word(1)?);
                if let Some(stage) = stage.filter(|_| name == entry_point) {
                    self.stage = stage;
                    if self.entry != 0 {
                        return Err(i.invalid("names an entry point that is there already"));
                    }
                    self.entry = i.id(2)?;
                    self.interface = i.rest(next).to_vec();
                } else if stage.is_some() {
                    self.entry_points.push(name);
                }
            }
            Op::ExecutionMode | Op::ExecutionModeId => modes.push((i.id(1)?, i.word)),
            Op::Name => {
                self.names.insert(i.id(1)?, i.word);
            }
            Op::String => {
                self.strings.insert(i.id(1)?, i.word);
            }
            Op::Source => self.source(i)?,
            Op::SourceContinued => {
                if let Some((_, Some(text))) = self.sources.last_mut() {
                    text.extend(i.literal(1)?.0);
                }
            }
            Op::MemberName => {
                self.member_names.insert((i.id(1)?, i.word(2)?), i.word);
            }
            Op::SourceExtension | Op::ModuleProcessed | Op::Nop => {}
            op if is_annotation(op) => self.decorations.read(i)?,
            Op::Line | Op::NoLine => {}
            _ => self.globals.push(i.word),
        }
        Ok(())
    }

    fn source(&mut self, i: &Instruction<'a>) -> Result<(), CompileError> {
        let language = match i.word(1)? {
            1 | 2 => SourceLanguage::Glsl,
            5 => SourceLanguage::Hlsl,
            11 => SourceLanguage::Slang,
            0 => SourceLanguage::Unknown,
            _ => SourceLanguage::Other,
        };
        if self.language == SourceLanguage::Unknown {
            self.language = language;
        }
        if i.len() > 3 {
            let text = if i.len() > 4 { Some(i.literal(4)?.0) } else { None };
            self.sources.push((i.id(3)?, text));
        }
        Ok(())
    }

    /// OpName of an id, or "".
    pub fn name(&self, id: u32) -> String {
        let read = |word| self.stream.at(word).and_then(|i| i.string(2));
        self.names.get(&id).and_then(|&word| read(word).ok()).map(|(name, _)| name).unwrap_or_default()
    }

    /// OpMemberName of a member, or "".
    pub fn member_name(&self, ty: u32, member: u32) -> String {
        let read = |word| self.stream.at(word).and_then(|i| i.string(3));
        let word = self.member_names.get(&(ty, member));
        word.and_then(|&word| read(word).ok()).map(|(name, _)| name).unwrap_or_default()
    }

    /// The text of an OpString.
    pub fn string(&self, id: u32) -> Option<String> {
        self.literal(id).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The bytes of an OpString.
    pub fn literal(&self, id: u32) -> Option<Vec<u8>> {
        let word = *self.strings.get(&id)?;
        self.stream.at(word).and_then(|i| i.literal(2)).ok().map(|(bytes, _)| bytes)
    }
}
