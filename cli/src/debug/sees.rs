//! Who sees what: the writes of a location, how far each is available and visible, what may be read, and
//! what comes before what.

mod before;

pub use before::before;

use super::stop::{At, Stop};
use super::target::Who;
use super::texels::{self, Texels};
use super::values::Home;
use pellucid_memory::access::{Access, Reference, Site};
use pellucid_memory::checked::inspect::{BothSeen, Reader, Word, WordSeen, WriteSeen};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::finding::AccessKind;
use pellucid_memory::raw;
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_shader_interp::exec::modelled::debugged::Accessed;
use pellucid_shader_interp::exec::waiting::Operand;
use pellucid_shader_interp::interface::Descriptor;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vulkan_pellucid::report::element::Element;
use vulkan_pellucid::report::words;

type Stopped<'s, 'x, 'm, 'a, 't> = Stop<'s, 'x, 'm, 'a, 't>;

/// The words of memory that an access goes to, with the bytes of each: bit `b` for byte `b`.
pub fn words_of(stop: &mut Stopped<'_, '_, '_, '_, '_>, operand: &Operand) -> Option<Vec<(Word, u8)>> {
    let workgroup =
        (operand.place.class == StorageClasses::WORKGROUP).then_some(stop.session.focus.workgroup);
    let (start, end) = (operand.place.address, operand.place.address + u64::from(operand.place.size));
    let words = (start & !3..end).step_by(4);
    words.map(|address| Some((word_at(stop, workgroup, address)?, bytes_of(address, start, end)))).collect()
}

/// The bytes of the word at `address` that lie in `start .. end`.
pub fn bytes_of(address: u64, start: u64, end: u64) -> u8 {
    (0..4).filter(|b| (start..end).contains(&(address + b))).fold(0, |bytes, b| bytes | 1 << b)
}

/// The memory of a descriptor, and the class of what the shader does to it.
fn memory_of(descriptor: &Descriptor) -> impl Iterator<Item = (&MemoryRange, StorageClasses)> {
    let class = match descriptor {
        Descriptor::Buffer(_) => StorageClasses::UNIFORM,
        _ => StorageClasses::IMAGE,
    };
    descriptor.memory().map(move |range| (range, class))
}

/// The aligned word that holds a byte.
fn word_at(stop: &mut Stopped<'_, '_, '_, '_, '_>, workgroup: Option<u32>, address: u64) -> Option<Word> {
    let byte = address;
    let address = address & !3;
    let newest = match workgroup {
        Some(workgroup) => stop.at.memory().workgroup_word(workgroup, address)?,
        None => {
            let resources = stop.target.resources;
            let bound = resources.bindings.iter().flatten().flat_map(Descriptor::memory);
            let mut ranges = bound.chain(resources.addresses.iter());
            let holds = |start: u64, size: u64| (start..start + size).contains(&byte);
            let range = ranges.find(|range| holds(range.address(), range.size()))?;
            // The last word of a range may have less than four bytes.
            let one = |b: u64| {
                let at = (address + b).checked_sub(range.address())?;
                raw::load(&range.view(), at, 1, Ordering::Relaxed).map(|byte| (byte as u32) << (8 * b))
            };
            (0..4).filter_map(one).fold(0, |word, byte| word | byte)
        }
    };
    Some(Word { workgroup, address, newest })
}

/// How the invocation in focus would read bytes of a word: by the access that it makes next, or by a plain
/// one.
fn reading<T>(
    stop: &mut Stopped<'_, '_, '_, '_, '_>,
    (word, bytes): (&Word, u8),
    next: Option<&Accessed>,
    with: impl FnOnce(&mut Stopped<'_, '_, '_, '_, '_>, &Reader<'_>) -> T,
) -> T {
    let Who { workgroup, local_index } = stop.session.focus;
    let (reference, class) = reference_of(stop, word);
    let plain = Access { non_private: true, ..Access::plain(class, 4, 1) };
    let reader = match next {
        Some(Accessed { operand, site, access }) if operand.kind != AccessKind::Write => Reader {
            workgroup,
            local_index,
            site: *site,
            access,
            reference: operand.place.reference,
            bytes,
            modifies: matches!(operand.kind, AccessKind::ReadModifyWrite(_)),
        },
        _ => {
            let reference = next.map_or(reference, |next| next.operand.place.reference);
            let (site, access) = (Site(0), &plain);
            Reader { workgroup, local_index, site, access, reference, bytes, modifies: false }
        }
    };
    with(stop, &reader)
}

/// The reference through which the shader's variable reaches a word, and the class of its memory.
fn reference_of(stop: &Stopped<'_, '_, '_, '_, '_>, word: &Word) -> (Reference, StorageClasses) {
    if word.workgroup.is_some() {
        let objects = &stop.target.program.shader.workgroup;
        let holds = |start: u32, size: u32| {
            word.address >= u64::from(start) && word.address < u64::from(start) + u64::from(size)
        };
        let object = objects.iter().find(|object| holds(object.offset, object.size));
        return (object.map_or(Reference(0), |object| object.reference), StorageClasses::WORKGROUP);
    }
    let mut bound = stop.target.resources.bindings.iter().flatten().flat_map(memory_of);
    let holds = |start: u64, size: u64| word.address + 4 > start && word.address < start + size;
    let found = bound.find(|(range, _)| holds(range.address(), range.size()));
    let plain = (Reference::PHYSICAL, StorageClasses::UNIFORM);
    found.map_or(plain, |(range, class)| (range.view().reference, class))
}

/// What is known of bytes of a word, for the invocation in focus.
pub fn look_at(
    stop: &mut Stopped<'_, '_, '_, '_, '_>,
    (word, bytes): (&Word, u8),
    next: Option<&Accessed>,
) -> WordSeen {
    reading(stop, (word, bytes), next, |stop, reader| stop.at.memory().look(word, reader))
}

/// What the next access, an atomic of both words, may read.
pub fn look_at_both(
    stop: &mut Stopped<'_, '_, '_, '_, '_>,
    words: [&Word; 2],
    next: &Accessed,
) -> Option<BothSeen> {
    reading(stop, (words[0], 15), Some(next), |stop, reader| stop.at.memory().look_at_both(words, reader))
}

/// The type of what an access moves; unsigned where that is not of one type. `None` for texels that are not
/// kept as they are.
pub fn element_of(stop: &Stopped<'_, '_, '_, '_, '_>, accessed: &Accessed) -> Option<Element> {
    let place = &accessed.operand.place;
    if place.class == StorageClasses::IMAGE {
        let object = stop.target.context.objects.iter().find(|object| object.reference == place.reference);
        return Element::of_format(object?.texels.as_ref()?.format);
    }
    let site = stop.target.program.shader.sites.get(accessed.site.0 as usize);
    let element = site.and_then(|site| Element::of_component(site.component?));
    let size = usize::from(accessed.access.size);
    let unsigned = [Element::U8, Element::U16, Element::U32, Element::U64];
    element
        .filter(|element| element.size() == size)
        .or_else(|| unsigned.into_iter().find(|element| element.size() == size))
}

/// What the bits of a location are.
enum Shown {
    Element(Element),
    /// A texel, or a component of one, whose first byte is at this address.
    Texel(Arc<Texels>, u64, Option<usize>),
}

/// A location that an expression names.
struct Location {
    word: Word,
    /// The word behind it, of a location of eight bytes.
    high: Option<Word>,
    /// Of the word.
    bytes: u8,
    shown: Shown,
    next: Option<Accessed>,
    /// The next access goes there; else it is a load of something else of the same variable, and one like it
    /// is what is asked about.
    itself: bool,
}

impl Location {
    /// By what it would be read.
    fn how(&self) -> &'static str {
        match self.next {
            Some(_) if self.itself => "by the access that it makes next",
            Some(_) => "by a load like its next one",
            None => "by a plain load",
        }
    }

    /// The value that these bits of its words are.
    fn show(&self, value: Value) -> String {
        let Value(word, high) = value;
        match &self.shown {
            Shown::Element(element) if self.high.is_some() => {
                element.show(u64::from(word) | u64::from(high) << 32)
            }
            Shown::Element(element) => {
                let bits = u64::from(word) >> (8 * self.bytes.trailing_zeros().min(3));
                element.show(bits & ((1 << (8 * element.size().min(4))) - 1))
            }
            Shown::Texel(texels, start, component) => {
                let mut words = [0; 4];
                match self.word.address.checked_sub(*start) {
                    Some(behind) => words[(behind / 4).min(3) as usize] = word,
                    None => words[0] = word >> (8 * (start - self.word.address)),
                }
                texels::text(texels.info, words, 0, *component)
            }
        }
    }
}

/// The bits of a location's word, and of the word behind it where it has eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Value(u32, u32);

/// A write of a location.
#[derive(Clone)]
struct Write {
    value: Value,
    /// Of its only word, or of the first one.
    seen: WriteSeen,
    /// The reader may return its value in the first word, and in the last.
    readable: [bool; 2],
}

/// What is known of a location.
struct Seen {
    before: Value,
    /// The reader may return it in the first word, and in the last.
    before_readable: [bool; 2],
    /// Oldest first.
    writes: Vec<Write>,
    /// What a reader may return now, oldest first; not all of those of two words that are more than
    /// [`MOST_VALUES`].
    values: Vec<Value>,
    /// A reader might return others, of writes that are forgotten.
    forgotten: bool,
}

/// Values of eight bytes that are listed.
const MOST_VALUES: usize = 64;

impl Location {
    /// What is known of it, for the invocation in focus.
    ///
    /// # Errors
    /// Its words were not written together.
    fn look(&self, stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<Seen, String> {
        let low = look_at(stop, (&self.word, self.bytes), self.next.as_ref());
        let Some(high_word) = &self.high else {
            let write =
                |seen: WriteSeen| Write { value: Value(seen.value, 0), readable: [seen.readable; 2], seen };
            return Ok(Seen {
                before: Value(low.before, 0),
                before_readable: [low.before_readable; 2],
                writes: low.writes.into_iter().map(write).collect(),
                values: low.values.into_iter().map(|word| Value(word, 0)).collect(),
                forgotten: low.forgotten,
            });
        };
        let high = look_at(stop, (high_word, 15), self.next.as_ref());
        let together = low.writes.len() == high.writes.len()
            && low.writes.iter().zip(&high.writes).all(|(a, b)| a.is_of(b) && a.bytes & b.bytes == 15);
        if !together {
            return Err(format!(
                "not implemented in Pellucid: the writes of {text}, whose eight bytes were not written together"
            ));
        }
        let atomic = self.next.as_ref().filter(|next| next.operand.atomic.is_some());
        let wide = match atomic {
            Some(next) => look_at_both(stop, [&self.word, high_word], next),
            None => None,
        };
        let forgotten = wide.as_ref().map_or(low.forgotten || high.forgotten, |wide| wide.forgotten);
        // What an atomic reads is all of one write. Otherwise each word may come from another one.
        let readable = |[low, high]: [bool; 2]| match wide {
            Some(_) => [low && high; 2],
            None => [low, high],
        };
        let all: Vec<Value> = match &wide {
            Some(wide) => {
                wide.writes.iter().map(|one| Value(one.value as u32, (one.value >> 32) as u32)).collect()
            }
            None => {
                let pairs = low.values.iter().flat_map(|a| high.values.iter().map(|b| Value(*a, *b)));
                pairs.take(MOST_VALUES + 1).collect()
            }
        };
        let mut values: Vec<Value> = Vec::new();
        for value in all {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let writes = low.writes.into_iter().zip(high.writes).map(|(a, b)| Write {
            value: Value(a.value, b.value),
            readable: readable([a.readable, b.readable]),
            seen: a,
        });
        Ok(Seen {
            before: Value(low.before, high.before),
            before_readable: readable([low.before_readable, high.before_readable]),
            writes: writes.collect(),
            values,
            forgotten,
        })
    }
}

fn location(stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<Location, String> {
    if text.is_empty() {
        return Err("which location? NAME, NAME.MEMBER, NAME[INDEX] or IMAGE[X,Y]".to_owned());
    }
    let mut eyes = stop.eyes();
    let item = eyes.find(text)?;
    let (workgroup, address, bytes) = eyes.place(&item)?;
    let element = eyes.element(&item);
    let shown = match (element, &item.home) {
        (Some(element), _) => Shown::Element(element),
        (None, Home::Texel(texels, byte, component)) => {
            let start = texels.memory.address() + byte.offset;
            Shown::Texel(texels.clone(), start, *component)
        }
        (None, _) => return Err(format!("{text} is no scalar: name one of its parts")),
    };
    let wide = bytes == 8 && address % 4 == 0 && matches!(shown, Shown::Element(_));
    if bytes > 4 && !wide {
        let name = match shown {
            Shown::Texel(_, _, None) => "name one of its components",
            _ => "not implemented in Pellucid",
        };
        return Err(format!("{name}: the writes of {text}, which has {bytes} bytes"));
    }
    let outside = || format!("{text} is outside of its buffer");
    let word = word_at(stop, workgroup, address).ok_or_else(outside)?;
    let high = match wide {
        true => Some(word_at(stop, workgroup, address + 4).ok_or_else(outside)?),
        false => None,
    };
    let focus = stop.session.focus;
    let reference = reference_of(stop, &word).0;
    let mut next = stop.at.access(focus).filter(|next| {
        let own = (next.operand.place.class == StorageClasses::WORKGROUP).then_some(focus.workgroup);
        own == workgroup
    });
    let itself = next.as_ref().is_some_and(|next| {
        let place = &next.operand.place;
        (place.address..place.address + u64::from(place.size)).contains(&address)
    });
    // A structure is loaded part by part.
    next = next.filter(|Accessed { operand, .. }| {
        let load = operand.kind == AccessKind::Read && operand.atomic.is_none();
        itself || (load && operand.place.reference == reference)
    });
    let bytes = bytes_of(word.address, address, address + bytes);
    Ok(Location { word, high, bytes, shown, next, itself })
}

fn wrote(stop: &Stopped<'_, '_, '_, '_, '_>, at: &Location, k: usize, write: &Write) -> String {
    let Write { value, seen: write, .. } = write;
    let line = stop.target.line_of(write.site);
    let place = line.map_or_else(String::new, |line| {
        format!(" at {}  {}", stop.target.place(line), stop.target.line_text(line))
    });
    let atomic = write.atomic.map(|scope| format!(" (atomic, {} scope)", words::scope_name(scope)));
    format!(
        "#{k} {} by {}{}{place}",
        at.show(*value),
        stop.target.name_of(&write.by),
        atomic.unwrap_or_default()
    )
}

/// How a write stands to the reader.
fn stands(write: &WriteSeen) -> String {
    let to = write.to_reader;
    let available = to.available.map(|level| Scope::of_level(Some(level)));
    let before = if to.happens_before { "happens before it" } else { "does not happen before it" };
    let available = match available {
        Some(scope) => format!("available to it at {} scope", words::scope_name(scope)),
        None => "not available to it".to_owned(),
    };
    let visible = if to.visible { "visible" } else { "not visible" };
    format!("{before}, {available}, {visible}")
}

/// Values, unless they are too many.
fn listed(values: &[String]) -> String {
    match values.len() {
        ..=MOST_VALUES => values.join(" or "),
        _ => format!("more than {MOST_VALUES} values"),
    }
}

/// `sees EXPR`.
///
/// # Errors
/// What is wrong with the expression.
pub fn sees(stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<String, String> {
    running(stop)?;
    let at = location(stop, text)?;
    let seen = at.look(stop, text)?;
    let focus = stop.target.name(stop.session.focus);
    let newest = Value(at.word.newest, at.high.map_or(0, |high| high.newest));
    let mut out = format!("memory holds {} in {text}\n", at.show(newest));
    let _ = writeln!(
        out,
        "#0 {} from before {}{}",
        at.show(seen.before),
        if seen.writes.is_empty() {
            "anything that is remembered: no write of this dispatch is"
        } else {
            "these writes"
        },
        if seen.forgotten { "; older values are forgotten, and might be read, too" } else { "" }
    );
    for (k, write) in (1..).zip(&seen.writes) {
        let _ = writeln!(out, "{}", wrote(stop, &at, k, write));
        let write = &write.seen;
        let to = write.to_reader.available.map(|level| Scope::of_level(Some(level)));
        let made = match write.available.max(to) {
            Some(made) => format!("made available at {} scope", words::scope_name(made)),
            None if write.running => "not made available by its writer".to_owned(),
            None => "its writer has ended, and did not make it available to the reader".to_owned(),
        };
        let own = stop.target.name_of(&write.by) == focus;
        let to = if own { "its own write".to_owned() } else { stands(write) };
        let _ = writeln!(out, "     {made}; for {focus}: {to}");
    }
    let values: Vec<String> = seen.values.iter().map(|value| at.show(*value)).collect();
    let _ = write!(out, "{focus} may read {} now", listed(&values));
    if !at.itself {
        let _ = write!(out, ", {}", at.how());
    }
    Ok(out)
}

/// `caches EXPR`.
///
/// # Errors
/// What is wrong with the expression.
pub fn caches(stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<String, String> {
    running(stop)?;
    let at = location(stop, text)?;
    if at.word.workgroup.is_some() {
        return Err(format!("{text} is in workgroup memory, which has no caches"));
    }
    if at.high.is_some() {
        return Err(format!(
            "not implemented in Pellucid: what caches hold of {text}, which has eight bytes"
        ));
    }
    let focus = stop.session.focus;
    let Some(cached) = stop.at.memory().cached(&at.word, focus.workgroup) else {
        return Err("values come from no caches: begin with --values caches, or --machine NAME".to_owned());
    };
    let mut out = String::new();
    let bytes = at.bytes;
    for copy in cached.copies.iter().filter(|copy| copy.held & bytes == bytes) {
        let dirty = if copy.dirty & bytes != 0 { ", not written back" } else { "" };
        let _ = writeln!(out, "{}: {}{dirty}", words::cache(copy), at.show(Value(copy.value, 0)));
    }
    let _ = writeln!(out, "point of coherency: {}", at.show(Value(cached.coherent, 0)));
    let name = stop.target.name(focus);
    let _ = write!(out, "{name} runs on compute unit {}", cached.unit);
    if cached.overruled > 0 {
        let _ = write!(out, "; the model overruled the caches in {} loads", cached.overruled);
    }
    Ok(out)
}

fn running(stop: &Stopped<'_, '_, '_, '_, '_>) -> Result<(), String> {
    match stop.at {
        At::Moment(_) => Ok(()),
        At::End(_) => {
            let why = "the dispatch has ended: everything is visible to what comes after a dependency; \
                       `step back` (or `continue back`, `goto POSITION`) comes to where it still runs";
            Err(why.to_owned())
        }
    }
}

/// `reads EXPR`.
///
/// # Errors
/// What is wrong with the expression.
pub fn reads(stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<String, String> {
    running(stop)?;
    let at = location(stop, text)?;
    let seen = at.look(stop, text)?;
    let focus = stop.target.name(stop.session.focus);
    let mut out = format!("what {focus} may read of {text} {}:\n", at.how());
    // A write that is location-ordered before the read hides all that are older.
    let hides = |from: usize| {
        seen.writes.iter().enumerate().skip(from).find(|(_, write)| write.seen.to_reader.ordered)
    };
    let newest = seen.writes.len();
    let verdict = |k: usize, readable: [bool; 2]| -> String {
        let whole = match readable {
            [true, false] => return "of its eight bytes the lower four only".to_owned(),
            [false, true] => return "of its eight bytes the upper four only".to_owned(),
            [both, _] => both,
        };
        match (whole, hides(k)) {
            (true, _) if k == newest => "yes: it is the newest".to_owned(),
            (true, _) => "yes: nothing newer is location-ordered before the read".to_owned(),
            (false, Some((by, _))) => {
                format!("no: #{} is newer, and location-ordered before the read", by + 1)
            }
            (false, None) => "no: what it has read already, or synchronized with, is newer".to_owned(),
        }
    };
    let initial = if seen.writes.is_empty() { [true; 2] } else { seen.before_readable };
    let _ = writeln!(out, "#0 {} from before: {}", at.show(seen.before), verdict(0, initial));
    for (k, write) in (1..).zip(&seen.writes) {
        let _ = writeln!(out, "{}", wrote(stop, &at, k, write));
        let _ = writeln!(out, "     {}", verdict(k, write.readable));
    }
    Ok(out.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_counted_only() {
        let values = |count: usize| -> Vec<String> { (0..count).map(|k| k.to_string()).collect() };
        assert_eq!(listed(&values(2)), "0 or 1");
        assert!(listed(&values(MOST_VALUES)).ends_with("62 or 63"));
        assert_eq!(listed(&values(MOST_VALUES + 1)), "more than 64 values");
    }
}
