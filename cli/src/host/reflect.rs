//! What a SPIR-V module wants from its host: just enough of it is read to make descriptor set layouts and to
//! encode specialization constants.

use super::BindingKind;
use pellucid_shader_interp::spirv;
use std::collections::BTreeMap;
use vulkan_pellucid::report::element::Element;

const ENTRY_POINT: u16 = 15;
const NAME_DECORATE: u16 = 71;
const TYPE_BOOL: u16 = 20;
const TYPE_INT: u16 = 21;
const TYPE_FLOAT: u16 = 22;
const TYPE_ARRAY: u16 = 28;
const TYPE_STRUCT: u16 = 30;
const TYPE_POINTER: u16 = 32;
const SPEC_CONSTANT_TRUE: u16 = 48;
const SPEC_CONSTANT_FALSE: u16 = 49;
const SPEC_CONSTANT: u16 = 50;
const VARIABLE: u16 = 59;
const UNTYPED_VARIABLE: u16 = spirv::UNTYPED_VARIABLE as u16;
const MODEL_GL_COMPUTE: u32 = 5;
const DECORATION_SPEC_ID: u32 = 1;
const DECORATION_BUFFER_BLOCK: u32 = 3;
const DECORATION_BINDING: u32 = 33;
const DECORATION_SET: u32 = 34;
const CLASS_UNIFORM_CONSTANT: u32 = 0;
const CLASS_UNIFORM: u32 = 2;
const CLASS_PUSH_CONSTANT: u32 = 9;
const CLASS_STORAGE_BUFFER: u32 = 12;

/// The type of a specialization constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// OpTypeBool.
    Bool,
    /// OpTypeInt or OpTypeFloat.
    Number(Element),
}

impl Constant {
    /// The bytes of a value: true or false; a number, whose bits may be given as 0x...
    ///
    /// # Errors
    /// The text is no value of the type.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        match (self, text) {
            (Constant::Bool, "true" | "1") => Ok(vec![1, 0, 0, 0]),
            (Constant::Bool, "false" | "0") => Ok(vec![0; 4]),
            (Constant::Bool, _) => Err(format!("\"{text}\" is no bool")),
            (Constant::Number(kind), _) => {
                let bits = match kind {
                    Element::I8 => Element::U8,
                    Element::I16 | Element::F16 => Element::U16,
                    Element::I32 | Element::F32 => Element::U32,
                    Element::I64 | Element::F64 => Element::U64,
                    unsigned => unsigned,
                };
                if text.starts_with("0x") { bits.encode(text) } else { kind.encode(text) }
            }
        }
    }
}

fn number(opcode: u16, width: u32, signed: bool) -> Option<Element> {
    Some(match (opcode, width, signed) {
        (TYPE_INT, 8, false) => Element::U8,
        (TYPE_INT, 8, true) => Element::I8,
        (TYPE_INT, 16, false) => Element::U16,
        (TYPE_INT, 16, true) => Element::I16,
        (TYPE_INT, 32, false) => Element::U32,
        (TYPE_INT, 32, true) => Element::I32,
        (TYPE_INT, 64, false) => Element::U64,
        (TYPE_INT, 64, true) => Element::I64,
        (TYPE_FLOAT, 16, _) => Element::F16,
        (TYPE_FLOAT, 32, _) => Element::F32,
        (TYPE_FLOAT, 64, _) => Element::F64,
        _ => return None,
    })
}

/// The specialization constants of a module, by SpecId.
///
/// # Errors
/// The words are no SPIR-V module.
pub fn constants(words: &[u32]) -> Result<BTreeMap<u32, Constant>, String> {
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    let mut types: BTreeMap<u32, Constant> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (opcode, operands) in instructions(words)? {
        match (opcode, operands) {
            (NAME_DECORATE, [target, DECORATION_SPEC_ID, id]) => {
                numbers.insert(*target, *id);
            }
            (TYPE_BOOL, [id]) => {
                types.insert(*id, Constant::Bool);
            }
            (TYPE_INT | TYPE_FLOAT, [id, width, rest @ ..]) => {
                let kind = number(opcode, *width, rest.first() == Some(&1));
                types.extend(kind.map(|kind| (*id, Constant::Number(kind))));
            }
            (SPEC_CONSTANT_TRUE | SPEC_CONSTANT_FALSE | SPEC_CONSTANT, [kind, id, ..]) => {
                if let (Some(number), Some(kind)) = (numbers.get(id), types.get(kind)) {
                    found.insert(*number, *kind);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The names of the entry points with execution model GLCompute.
///
/// # Errors
/// The words are no SPIR-V module.
pub fn entry_points(words: &[u32]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for (opcode, operands) in instructions(words)? {
        if let (ENTRY_POINT, [MODEL_GL_COMPUTE, _, name @ ..]) = (opcode, operands) {
            let bytes = name.iter().flat_map(|word| word.to_le_bytes());
            let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
            names.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(names)
}

/// Whether a module has push constants.
///
/// # Errors
/// The words are no SPIR-V module.
pub fn has_push_constants(words: &[u32]) -> Result<bool, String> {
    let variable = |(opcode, operands): &(u16, &[u32])| {
        matches!(*opcode, VARIABLE | UNTYPED_VARIABLE) && operands.get(2) == Some(&CLASS_PUSH_CONSTANT)
    };
    Ok(instructions(words)?.iter().any(variable))
}

/// Opcodes and operands.
fn instructions(words: &[u32]) -> Result<Vec<(u16, &[u32])>, String> {
    if words.len() < 5 || words[0] != 0x0723_0203 {
        return Err("not a SPIR-V module: it does not begin with the magic number 0x07230203".to_owned());
    }
    let mut all = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let (length, opcode) = ((words[at] >> 16) as usize, (words[at] & 0xffff) as u16);
        let Some(operands) = words.get(at + 1..at + length).filter(|_| length > 0) else {
            return Err(format!("not a SPIR-V module: the instruction at word {at} has a bad length"));
        };
        all.push((opcode, operands));
        at += length;
    }
    Ok(all)
}

/// The buffers of a module, by set and binding.
///
/// # Errors
/// The words are no SPIR-V module, or it binds something that is no buffer or an array of them: named.
pub fn bindings(words: &[u32]) -> Result<BTreeMap<(u32, u32), BindingKind>, String> {
    let mut decorations: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut pointee: BTreeMap<u32, u32> = BTreeMap::new();
    let mut structs: Vec<u32> = Vec::new();
    let mut arrays: Vec<u32> = Vec::new();
    let mut variables: Vec<(u32, u32, u32)> = Vec::new();
    for (opcode, operands) in instructions(words)? {
        match (opcode, operands) {
            (NAME_DECORATE, [target, decoration, rest @ ..]) => {
                decorations.insert((*target, *decoration), rest.first().copied().unwrap_or(0));
            }
            (TYPE_STRUCT, [id, ..]) => structs.push(*id),
            (TYPE_ARRAY, [id, ..]) => arrays.push(*id),
            (TYPE_POINTER, [id, _, target]) => {
                pointee.insert(*id, *target);
            }
            (VARIABLE, [kind, id, class, ..]) => {
                variables.push((pointee.get(kind).copied().unwrap_or(0), *id, *class));
            }
            (UNTYPED_VARIABLE, [_, id, class, target, ..]) => variables.push((*target, *id, *class)),
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    for (target, id, class) in variables {
        let Some(binding) = decorations.get(&(id, DECORATION_BINDING)) else { continue };
        let set = decorations.get(&(id, DECORATION_SET)).copied().unwrap_or(0);
        let kind = match class {
            CLASS_UNIFORM_CONSTANT => Err("an image or a sampler"),
            _ if arrays.contains(&target) => Err("an array of descriptors"),
            _ if !structs.contains(&target) => Err("no buffer block"),
            CLASS_STORAGE_BUFFER => Ok(BindingKind::Storage),
            CLASS_UNIFORM if decorations.contains_key(&(target, DECORATION_BUFFER_BLOCK)) => {
                Ok(BindingKind::Storage)
            }
            CLASS_UNIFORM => Ok(BindingKind::Uniform),
            _ => Err("of an unknown storage class"),
        };
        match kind {
            Ok(kind) => found.insert((set, *binding), kind),
            Err(what) => {
                return Err(format!(
                    "not implemented in Pellucid: exec of a shader whose binding {set}:{binding} is {what}; `pellucid \
                     run` checks the program that binds it"
                ));
            }
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
