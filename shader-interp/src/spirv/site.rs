//! Sites: where instructions come from, for findings. They are collected as numbers and turned to text once,
//! at the end.

use super::module::Module;
use super::types::{Type, Types};
use super::words::Instruction;
use crate::ir::{Component, Node, Region, SiteInfo, SourceFile, SourcePosition};
use pellucid_memory::access::Site;
use rustc_hash::FxHashMap;
use spirv::Op;
use std::cmp::Ordering;
use std::fmt::Write;

#[derive(Clone, Copy)]
struct Raw {
    word: u32,
    variable: u32,
    function: u32,
    source: Option<SourcePosition>,
    call: u32,
}

/// The table under construction. Site 0 is none.
#[derive(Default)]
pub(crate) struct Sites {
    raw: Vec<Raw>,
    known: FxHashMap<(u32, u32, u32), Site>,
    /// File, line and column that hold for the next instruction.
    pub line: Option<SourcePosition>,
    /// The line of the last instruction that had one, and its function.
    last: Option<(u32, SourcePosition)>,
    files: Vec<SourceFile>,
    file_of: FxHashMap<u32, u32>,
    by_name: FxHashMap<u32, u32>,
}

/// The source as it was written: into SPIR-V 1.0 glslang puts comments before it, and a `#line 1`.
fn written(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        match line {
            "#line 1" => return after,
            _ if line.starts_with("// OpModuleProcessed ") => rest = after,
            _ => break,
        }
    }
    text
}

impl Sites {
    /// A table with site 0 and the files that OpSource names. Text that is not UTF-8 is not what somebody
    /// wrote: glslang 12 damages it where there are characters beyond ASCII, and loses lines. It is left out.
    pub fn new(module: &Module<'_>) -> Sites {
        let mut sites = Sites {
            raw: vec![Raw { word: 0, variable: 0, function: 0, source: None, call: 0 }],
            ..Sites::default()
        };
        for (file, text) in &module.sources {
            let index = sites.file(module, *file);
            if let Some(text) = text {
                let text = std::str::from_utf8(text).ok();
                sites.files[index as usize].text = text.map(|text| written(text).to_owned());
            }
        }
        sites
    }

    /// The file of an OpString id.
    pub fn file(&mut self, module: &Module<'_>, string: u32) -> u32 {
        *self.by_name.entry(string).or_insert_with(|| {
            let name = module.string(string).unwrap_or_default();
            self.files.push(SourceFile { name, text: None });
            self.files.len() as u32 - 1
        })
    }

    /// Takes up DebugSource (NonSemantic.Shader.DebugInfo.100, 35): file name and, if there, text.
    pub fn debug_source(&mut self, module: &Module<'_>, id: u32, file: u32, text: Option<u32>) {
        let index = self.file(module, file);
        if let Some(text) = text.and_then(|text| module.literal(text)) {
            self.files[index as usize].text = String::from_utf8(text).ok();
        }
        self.file_of.insert(id, index);
    }

    /// DebugSourceContinued (102): more text for the last source.
    pub fn debug_source_continued(&mut self, module: &Module<'_>, text: u32) {
        if let (Some(SourceFile { text: known @ Some(_), .. }), Some(more)) =
            (self.files.last_mut(), module.literal(text))
        {
            let mut all = known.take().unwrap_or_default().into_bytes();
            all.extend(more);
            *known = String::from_utf8(all).ok();
        }
    }

    /// The file index of a DebugSource id.
    pub fn debug_file(&self, source: u32) -> Option<u32> {
        self.file_of.get(&source).copied()
    }

    /// The site of an instruction; inlined copies of the same `call` share it.
    pub fn get(&mut self, i: &Instruction<'_>, variable: u32, function: u32, call: u32) -> Site {
        if let Some(&site) = self.known.get(&(i.word, variable, call)) {
            return site;
        }
        let site = Site(self.raw.len() as u32);
        if let Some(line) = self.line {
            self.last = Some((function, line));
        }
        // Lines end with a block. What compilers leave without one behind a selection belongs to the
        // statement of the selection.
        let before = self.last.filter(|(of, _)| *of == function).map(|(_, line)| line);
        self.raw.push(Raw { word: i.word, variable, function, source: self.line.or(before), call });
        self.known.insert((i.word, variable, call), site);
        site
    }

    /// The site of a DebugInlinedAt: a call that no instruction makes.
    pub fn of_inlined(&mut self, word: u32, source: Option<SourcePosition>, call: u32) -> Site {
        self.raw.push(Raw { word, variable: 0, function: 0, source, call });
        Site(self.raw.len() as u32 - 1)
    }

    /// Text for the sites that `used` marks, and the files.
    pub fn finish(
        self,
        module: &Module<'_>,
        types: &Types,
        used: &[bool],
    ) -> (Vec<SiteInfo>, Vec<SourceFile>) {
        let text = |(k, raw): (usize, &Raw)| match used.get(k) {
            Some(true) => info(module, types, raw),
            _ => SiteInfo::default(),
        };
        let infos = self.raw.iter().enumerate().map(text).collect();
        (infos, self.files)
    }

    /// The word of the module where a site's instruction begins; 0 for site 0.
    pub fn word(&self, site: Site) -> u32 {
        self.raw.get(site.0 as usize).map_or(0, |raw| raw.word)
    }

    /// Sites that there are.
    pub fn len(&self) -> usize {
        self.raw.len()
    }
}

/// Marks the sites that operations of a region have.
pub(crate) fn mark(region: &Region, used: &mut [bool]) {
    for node in region {
        match node {
            Node::Op(op) => {
                if let Some(mark) = used.get_mut(op.site.0 as usize) {
                    *mark = true;
                }
            }
            Node::If { then, otherwise, .. } => {
                mark(then, used);
                mark(otherwise, used);
            }
            Node::Block { body, .. } | Node::Loop { body, .. } => mark(body, used),
            _ => {}
        }
    }
}

fn info(module: &Module<'_>, types: &Types, raw: &Raw) -> SiteInfo {
    if raw.word == 0 {
        return SiteInfo::default();
    }
    SiteInfo {
        instruction: module.stream.at(raw.word).map(|i| text(module, &i)).unwrap_or_default(),
        word: raw.word,
        source: raw.source,
        function: plain_name(&module.name(raw.function)),
        variable: variable_name(module, raw.variable),
        call: raw.call,
        component: module.stream.at(raw.word).ok().and_then(|i| component(module, types, &i)),
    }
}

/// What an instruction loads or stores.
fn component(module: &Module<'_>, types: &Types, i: &Instruction<'_>) -> Option<Component> {
    let of_value = |operand: usize| module.result_type.get(i.word(operand).ok()? as usize).copied();
    let ty = match i.op {
        Op::Load | Op::AtomicLoad | Op::CooperativeMatrixLoadKHR => i.word(1).ok()?,
        Op::Store | Op::CooperativeMatrixStoreKHR => of_value(2)?,
        Op::AtomicStore => of_value(4)?,
        Op::CopyMemory => match types.get(of_value(1)?).ok()?.kind {
            Type::Pointer { pointee, .. } => pointee,
            _ => return None,
        },
        Op::AtomicFlagTestAndSet | Op::AtomicFlagClear => return None,
        op if format!("{op:?}").starts_with("Atomic") => i.word(1).ok()?,
        _ => return None,
    };
    types.component(ty)
}

/// The Data Type of an untyped variable, or 0.
fn data_type(module: &Module<'_>, variable: u32) -> u32 {
    let word = module.defined.get(variable as usize).copied().unwrap_or(0);
    module.stream.at(word).and_then(|i| i.word(4)).unwrap_or(0)
}

/// A variable's name, or that of its block type when it has none.
pub(crate) fn variable_name(module: &Module<'_>, variable: u32) -> String {
    let name = module.name(variable);
    if !name.is_empty() || variable == 0 {
        return name;
    }
    let mut ty = module.result_type.get(variable as usize).copied().unwrap_or(0);
    for _ in 0..3 {
        let Some(&word) = module.defined.get(ty as usize) else { break };
        let Ok(i) = module.stream.at(word) else { break };
        match i.op {
            // An untyped pointer says nothing; the variable does.
            spirv::Op::TypePointer if i.untyped() => ty = data_type(module, variable),
            spirv::Op::TypePointer => ty = i.word(3).unwrap_or(0),
            spirv::Op::TypeArray | spirv::Op::TypeRuntimeArray => ty = i.word(2).unwrap_or(0),
            _ => break,
        }
    }
    module.name(ty)
}

/// A function's name without the signature that glslang appends.
pub(crate) fn plain_name(name: &str) -> String {
    name.split('(').next().unwrap_or("").to_owned()
}

/// The operand index from which an instruction's operands are literals: memory, image or group operands.
fn literals_from(i: &Instruction<'_>) -> usize {
    match i.op {
        Op::Load => 4,
        Op::Store | Op::CopyMemory => 3,
        Op::ImageWrite => 4,
        Op::CooperativeMatrixStoreKHR => 5,
        Op::CooperativeMatrixLoadKHR | Op::CooperativeMatrixMulAddKHR => 6,
        Op::ArrayLength => i.base() + 2,
        Op::ImageRead | Op::ImageFetch | Op::ImageSparseRead | Op::ImageSparseFetch => 5,
        _ => usize::MAX,
    }
}

/// `%12 = OpLoad %6 %11`, memory operands by their mask.
fn text(module: &Module<'_>, i: &Instruction<'_>) -> String {
    let mut out = String::new();
    let skip = match i.result() {
        Ok((ty, Some(result))) => {
            let _ = write!(out, "%{result} = ");
            if ty.is_some() { 2 } else { 1 }
        }
        _ => 0,
    };
    out.push_str(&i.name());
    if skip == 2
        && let Ok(ty) = i.word(1)
    {
        let _ = write!(out, " %{ty}");
    }
    for (k, &word) in i.rest(1 + skip).iter().enumerate() {
        let at = 1 + skip + k;
        let is_id = module.defined.get(word as usize).is_some_and(|&at| at != 0);
        let _ = match at.cmp(&literals_from(i)) {
            Ordering::Equal if i.op != Op::ArrayLength => write!(out, " {word:#x}"),
            Ordering::Less if is_id => write!(out, " %{word}"),
            _ => write!(out, " {word}"),
        };
    }
    out
}
