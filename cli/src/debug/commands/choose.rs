//! `choose`: the value that the next load returns, among those that the memory model allows.

use super::super::sees;
use super::super::stop::{Edit, Stop};
use super::super::target::Who;
use super::super::texels;
use pellucid_memory::checked::inspect::{Chosen, Word};
use pellucid_memory::finding::AccessKind;
use pellucid_shader_interp::exec::modelled::debugged::Accessed;
use pellucid_shader_interp::interface::Descriptor;
use pellucid_shader_interp::math::format::{self, FormatInfo};
use vulkan_pellucid::report::element::Element;

/// Values that are listed.
const MOST_ALLOWED: usize = 16;
/// Combinations of the words of a texel that are looked at.
const MOST_TEXELS: usize = 1 << 12;

pub(super) fn choose(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let focus = stop.session.focus;
    let next = stop.at.access(focus).filter(|next| next.operand.kind == AccessKind::Read);
    if next.is_none() && stop.at.samples(focus) {
        return Err(
            "not implemented in Pellucid: choosing the texels that a sampling instruction reads".into()
        );
    }
    let next =
        next.ok_or("the next instruction is no load of memory that others may see; `stepi` goes on by one")?;
    let (size, count) = (u64::from(next.access.size), usize::from(next.access.components));
    let listed = rest.trim_start_matches('(').trim_end_matches(')');
    let listed: Vec<&str> = listed.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let words = sees::words_of(stop, &next.operand).ok_or("the load is outside of its buffer")?;
    let element = sees::element_of(stop, &next).filter(|element| element.size() as u64 == size);
    let Some(element) = element else { return texel(stop, &next, &words, &listed) };
    let wanted = if count == 1 { vec![rest] } else { listed };
    if wanted.len() != count {
        return Err(format!("the load has {count} components, such as {}", vec!["0"; count].join(", ")));
    }
    if let ([(low, _), (high, _)], 8, true) = (&words[..], size, next.operand.atomic.is_some()) {
        return atomic_of_64_bits(stop, &next, [low, high], rest, element);
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut allowed = Vec::new();
    for (text, k) in wanted.iter().copied().zip(0..) {
        let start = next.operand.place.address + k * size;
        let wanted = (text, encoded(text, element)?);
        let (bits, shown) = component(stop, &next, &words, start, wanted, element)?;
        for (address, value) in bits {
            match chosen.iter_mut().find(|chosen| chosen.address == address) {
                Some(chosen) => chosen.value |= value,
                None => chosen.push(choice(focus, address, value, None)),
            }
        }
        allowed.push(shown);
    }
    for chosen in chosen {
        stop.edit(Edit::Read(chosen));
    }
    Ok(format!("the load returns {} (the memory model allows {})", wanted.join(", "), allowed.join("; ")))
}

fn choice(focus: Who, address: u64, value: u32, saw: Option<u32>) -> Chosen {
    let Who { workgroup, local_index } = focus;
    Chosen { workgroup, local_index, address, value, saw }
}

/// The bits of a value.
fn encoded(text: &str, element: Element) -> Result<u64, String> {
    let bytes = element.encode(text).map_err(|_| format!("\"{text}\" is no {}", element.name()))?;
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(&bytes);
    Ok(u64::from_le_bytes(wide))
}

/// The first of these, without repetition.
fn list(values: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = Vec::new();
    for value in values {
        if shown.contains(&value) {
            continue;
        }
        if shown.len() == MOST_ALLOWED {
            shown.push("...".to_owned());
            break;
        }
        shown.push(value);
    }
    shown.join(", ")
}

/// Why a value is not chosen that is none of those shown. `forgotten`: the model may allow others.
fn refused(text: &str, shown: &str, forgotten: bool) -> String {
    if forgotten {
        return format!(
            "{text} is not among the values that are remembered and allowed here: {shown}; older ones are \
             forgotten, and so is whether the memory model allows them; `set` gives a variable any value"
        );
    }
    format!("the memory model does not allow {text} here, only {shown}; `set` gives a variable any value")
}

/// An atomic load of two words reads both from one write.
fn atomic_of_64_bits(
    stop: &mut Stop<'_, '_, '_, '_, '_>,
    next: &Accessed,
    words: [&Word; 2],
    text: &str,
    element: Element,
) -> Result<String, String> {
    let wanted = encoded(text, element)?;
    let seen = sees::look_at_both(stop, words, next);
    let seen = seen.ok_or(
        "not implemented in Pellucid: choosing what an atomic of 8 bytes reads where the newest write is of fewer",
    )?;
    let shown = list(seen.writes.iter().map(|seen| element.show(seen.value)));
    // Of writes of one value the newest.
    let found = seen.writes.iter().rev().find(|seen| seen.value == wanted);
    let found = found.ok_or_else(|| refused(text, &shown, seen.forgotten))?;
    let focus = stop.session.focus;
    for ((word, saw), shift) in words.into_iter().zip(found.saw).zip([0, 32]) {
        stop.edit(Edit::Read(choice(focus, word.address, (wanted >> shift) as u32, Some(saw))));
    }
    Ok(format!("the load returns {text} (the memory model allows {shown})"))
}

/// The format of the texels that a load reads, where each lies by itself.
fn format_of(stop: &Stop<'_, '_, '_, '_, '_>, next: &Accessed) -> Result<&'static FormatInfo, String> {
    let reference = next.operand.place.reference;
    let of = |descriptor: &Descriptor| match descriptor {
        Descriptor::TexelBuffer(memory, number, _) => {
            (memory.view().reference == reference).then_some((*number, true))
        }
        Descriptor::Image(view) | Descriptor::ImageSampler(view, _) => {
            (view.memory.view().reference == reference).then_some((view.format, view.chroma.is_empty()))
        }
        _ => None,
    };
    let found = stop.target.resources.bindings.iter().flatten().find_map(of);
    let (number, whole) = found.ok_or("not implemented in Pellucid: choosing a texel of a plane")?;
    let info = format::properties(number).filter(|_| whole);
    let info =
        info.ok_or("not implemented in Pellucid: choosing a texel that shares its colours with others")?;
    if info.compression.is_some() {
        return Err(format!(
            "not implemented in Pellucid: choosing a texel of {}, which is compressed",
            name_of(info)
        ));
    }
    Ok(info)
}

/// What the specification calls a format, without its prefix.
fn name_of(info: &FormatInfo) -> &'static str {
    info.name.strip_prefix("VK_FORMAT_").unwrap_or(info.name)
}

/// A load of a texel, which is chosen by its components, as memory holds them.
fn texel(
    stop: &mut Stop<'_, '_, '_, '_, '_>,
    next: &Accessed,
    words: &[(Word, u8)],
    wanted: &[&str],
) -> Result<String, String> {
    let info = format_of(stop, next)?;
    let count = usize::from(info.components);
    if wanted.len() != count {
        let example = vec!["0"; count].join(", ");
        return Err(format!("a texel of {} has {count} components, such as {example}", name_of(info)));
    }
    let element = texels::element_of(info);
    let bits: Result<Vec<u64>, String> = wanted.iter().map(|text| encoded(text, element)).collect();
    let bits = bits?;
    // What a word may hold is independent of the others: a load of several words may be torn.
    let mut texels: Vec<Vec<u32>> = vec![Vec::new()];
    let mut forgotten = false;
    for (word, bytes) in words {
        let seen = sees::look_at(stop, (word, *bytes), Some(next));
        forgotten |= seen.forgotten;
        let with = |texel: &Vec<u32>| {
            let texel = texel.clone();
            seen.values.iter().map(move |value| [&texel[..], &[*value]].concat()).collect::<Vec<_>>()
        };
        texels = texels.iter().flat_map(with).collect();
        if texels.len() > MOST_TEXELS {
            return Err(format!(
                "not implemented in Pellucid: choosing among more than {MOST_TEXELS} texels"
            ));
        }
    }
    let start = next.operand.place.address;
    let components = |texel: &Vec<u32>| {
        let held = words.iter().map(|(word, _)| word.address).zip(texel.iter().copied());
        texels::components(info, texels::words_from(start, held))
    };
    let shown = list(texels.iter().map(|texel| {
        let all: Vec<String> = components(texel).iter().map(|bits| element.show(*bits)).collect();
        if count == 1 { all.join("") } else { format!("({})", all.join(", ")) }
    }));
    let text = if count == 1 { wanted.concat() } else { format!("({})", wanted.join(", ")) };
    // Of equal ones the newest.
    let found = texels.iter().rev().find(|texel| components(texel) == bits);
    let found = found.ok_or_else(|| refused(&text, &shown, forgotten))?;
    let focus = stop.session.focus;
    for ((word, _), value) in words.iter().zip(found) {
        stop.edit(Edit::Read(choice(focus, word.address, *value, None)));
    }
    Ok(format!("the load returns {text} (the memory model allows {shown})"))
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
    let (mut chosen, mut fits, mut forgotten) = (Vec::new(), true, false);
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
        forgotten |= seen.forgotten;
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
    let shown = list(allowed.iter().map(|value| element.show(*value)));
    if !fits {
        return Err(refused(text, &shown, forgotten));
    }
    Ok((chosen, shown))
}
