//! Which buffers a SPIR-V module binds: just enough of the module is read to make descriptor set layouts.

use super::BindingKind;
use std::collections::BTreeMap;

const NAME_DECORATE: u16 = 71;
const TYPE_ARRAY: u16 = 28;
const TYPE_STRUCT: u16 = 30;
const TYPE_POINTER: u16 = 32;
const VARIABLE: u16 = 59;
const DECORATION_BUFFER_BLOCK: u32 = 3;
const DECORATION_BINDING: u32 = 33;
const DECORATION_SET: u32 = 34;
const CLASS_UNIFORM_CONSTANT: u32 = 0;
const CLASS_UNIFORM: u32 = 2;
const CLASS_STORAGE_BUFFER: u32 = 12;

/// The buffers of a module, by set and binding.
///
/// # Errors
/// The words are no SPIR-V module, or it binds something that is no buffer or an array of them: named.
pub fn bindings(words: &[u32]) -> Result<BTreeMap<(u32, u32), BindingKind>, String> {
    if words.len() < 5 || words[0] != 0x0723_0203 {
        return Err("not a SPIR-V module: it does not begin with the magic number 0x07230203".to_owned());
    }
    let mut decorations: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut pointee: BTreeMap<u32, u32> = BTreeMap::new();
    let mut structs: Vec<u32> = Vec::new();
    let mut arrays: Vec<u32> = Vec::new();
    let mut variables: Vec<(u32, u32, u32)> = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let (length, opcode) = ((words[at] >> 16) as usize, (words[at] & 0xffff) as u16);
        let Some(operands) = words.get(at + 1..at + length).filter(|_| length > 0) else {
            return Err(format!("not a SPIR-V module: the instruction at word {at} has a bad length"));
        };
        match (opcode, operands) {
            (NAME_DECORATE, [target, decoration, rest @ ..]) => {
                decorations.insert((*target, *decoration), rest.first().copied().unwrap_or(0));
            }
            (TYPE_STRUCT, [id, ..]) => structs.push(*id),
            (TYPE_ARRAY, [id, ..]) => arrays.push(*id),
            (TYPE_POINTER, [id, _, target]) => {
                pointee.insert(*id, *target);
            }
            (VARIABLE, [kind, id, class, ..]) => variables.push((*kind, *id, *class)),
            _ => {}
        }
        at += length;
    }
    let mut found = BTreeMap::new();
    for (kind, id, class) in variables {
        let Some(binding) = decorations.get(&(id, DECORATION_BINDING)) else { continue };
        let set = decorations.get(&(id, DECORATION_SET)).copied().unwrap_or(0);
        let target = pointee.get(&kind).copied().unwrap_or(0);
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
                    "not implemented in Pellucid: exec of a shader whose binding {set}:{binding} is {what}"
                ));
            }
        };
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_refused() {
        assert!(bindings(&[]).unwrap_err().starts_with("not a SPIR-V module"));
        assert!(bindings(&[0x0723_0203, 0, 0, 0, 0, 0]).unwrap_err().contains("word 5 has a bad length"));
        assert!(bindings(&[0x0723_0203, 0, 0, 0, 0, 0x0009_0011]).unwrap_err().contains("bad length"));
    }
}
