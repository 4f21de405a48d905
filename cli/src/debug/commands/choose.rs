//! `choose`: the value that the next load returns, among those that the memory model allows.

use super::super::sees;
use super::super::stop::{Edit, Stop};
use super::super::target::Who;
use pellucid_memory::checked::inspect::{Chosen, Word};
use pellucid_memory::finding::AccessKind;
use pellucid_shader_interp::exec::modelled::debugged::Accessed;
use vulkan_pellucid::report::element::Element;

/// Values that are listed.
const MOST_ALLOWED: usize = 16;

pub(super) fn choose(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let focus = stop.session.focus;
    let next = stop.at.access(focus).filter(|next| next.operand.kind == AccessKind::Read);
    let next =
        next.ok_or("the next instruction is no load of memory that others may see; `stepi` goes on by one")?;
    let (size, count) = (u64::from(next.access.size), usize::from(next.access.components));
    if size == 8 && next.operand.atomic.is_some() {
        return Err("not implemented in Pellucid: choosing what an atomic of 8 bytes reads".to_owned());
    }
    let element = sees::element_of(stop, &next).filter(|element| element.size() as u64 == size);
    let element = element.ok_or("not implemented in Pellucid: choosing a texel of such a format")?;
    let listed = rest.trim_start_matches('(').trim_end_matches(')');
    let wanted: Vec<&str> = match count {
        1 => vec![rest],
        _ => listed.split([',', ' ']).filter(|word| !word.is_empty()).collect(),
    };
    if wanted.len() != count {
        return Err(format!("the load has {count} components, such as {}", vec!["0"; count].join(", ")));
    }
    let words = sees::words_of(stop, &next.operand).ok_or("the load is outside of its buffer")?;
    let Who { workgroup, local_index } = focus;
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut allowed = Vec::new();
    for (text, k) in wanted.iter().copied().zip(0..) {
        let bytes = element.encode(text).map_err(|_| format!("\"{text}\" is no {}", element.name()))?;
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(&bytes);
        let start = next.operand.place.address + k * size;
        let (bits, shown) = component(stop, &next, &words, start, (text, u64::from_le_bytes(wide)), element)?;
        for (address, value) in bits {
            match chosen.iter_mut().find(|chosen| chosen.address == address) {
                Some(chosen) => chosen.value |= value,
                None => chosen.push(Chosen { workgroup, local_index, address, value }),
            }
        }
        allowed.push(shown);
    }
    for chosen in chosen {
        stop.edit(Edit::Read(chosen));
    }
    Ok(format!("the load returns {} (the memory model allows {})", wanted.join(", "), allowed.join("; ")))
}

/// The bits of a component of the next load in each of its words, if the model allows the value, and the
/// values that it allows. `start`: the address of the component.
fn component(
    stop: &mut Stop<'_, '_, '_, '_, '_>,
    next: &Accessed,
    words: &[(Word, u8)],
    start: u64,
    (text, wanted): (&str, u64),
    element: Element,
) -> Result<(Vec<(u64, u32)>, String), String> {
    let end = start + u64::from(next.access.size);
    // Each word is a choice of its own: a load of eight bytes may be torn.
    let mut parts: Vec<(u64, Vec<u64>)> = Vec::new();
    let (mut chosen, mut fits) = (Vec::new(), true);
    for (word, _) in words {
        let bytes = sees::bytes_of(word.address, start, end);
        if bytes == 0 {
            continue;
        }
        let seen = sees::look_at(stop, (word, bytes), Some(next));
        let shift = 8 * u64::from(bytes.trailing_zeros());
        let mask = (1u64 << (8 * bytes.count_ones())) - 1;
        let before = (word.address + shift / 8 - start) * 8;
        let values: Vec<u64> = seen.values.iter().map(|value| u64::from(*value) >> shift & mask).collect();
        let value = wanted >> before & mask;
        fits &= values.contains(&value);
        chosen.push((word.address, (value << shift) as u32));
        parts.push((before, values));
    }
    let mut allowed: Vec<u64> = vec![0];
    for (before, values) in &parts {
        let joined = allowed.iter().flat_map(|low| values.iter().map(move |value| low | value << before));
        allowed = joined.take(1 << 12).collect();
    }
    if parts.len() > 1 {
        allowed.sort_unstable();
    }
    let mut shown: Vec<String> =
        allowed.iter().take(MOST_ALLOWED).map(|value| element.show(*value)).collect();
    if allowed.len() > MOST_ALLOWED {
        shown.push("...".to_owned());
    }
    let shown = shown.join(", ");
    if !fits {
        return Err(format!(
            "the memory model does not allow {text} here, only {shown}; `set` gives a variable any value"
        ));
    }
    Ok((chosen, shown))
}
