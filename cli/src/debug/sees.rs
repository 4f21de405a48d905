//! Who sees what: the writes of a location, how far each is available and visible, what may be read, and
//! what comes before what.

use super::stop::{At, Stop};
use super::target::Who;
use pellucid_memory::access::{Access, Reference, Site};
use pellucid_memory::checked::inspect::{Reader, Word, WordSeen, WriteSeen};
use pellucid_memory::finding::AccessKind;
use pellucid_memory::raw;
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_shader_interp::exec::waiting::Operand;
use pellucid_shader_interp::interface::Descriptor;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use vulkan_pellucid::report::element::Element;
use vulkan_pellucid::report::words;

type Stopped<'s, 'x, 'm, 'a, 't> = Stop<'s, 'x, 'm, 'a, 't>;

/// The word of memory that an access goes to.
pub fn word_of(stop: &mut Stopped<'_, '_, '_, '_, '_>, operand: &Operand) -> Option<Word> {
    let workgroup =
        (operand.place.class == StorageClasses::WORKGROUP).then_some(stop.session.focus.workgroup);
    word_at(stop, workgroup, operand.place.address)
}

/// The aligned word that holds a byte.
fn word_at(stop: &mut Stopped<'_, '_, '_, '_, '_>, workgroup: Option<u32>, address: u64) -> Option<Word> {
    let address = address & !3;
    let newest = match workgroup {
        Some(workgroup) => stop.at.memory().workgroup_word(workgroup, address)?,
        None => {
            let resources = stop.target.resources;
            let bound = resources.bindings.iter().flatten().filter_map(|descriptor| match descriptor {
                Descriptor::Buffer(range) => Some(range),
                _ => None,
            });
            let holds = |start: u64, size: u64| address >= start && address + 4 <= start + size;
            let mut ranges = bound.chain(resources.addresses.iter());
            let range = ranges.find(|range| holds(range.address(), range.size()))?;
            raw::load(&range.view(), address - range.address(), 4, Ordering::Relaxed)? as u32
        }
    };
    Some(Word { workgroup, address, newest })
}

/// How the invocation in focus would read a word: by the access that it makes next, or by a plain one.
fn reading<T>(
    stop: &mut Stopped<'_, '_, '_, '_, '_>,
    word: &Word,
    operand: Option<&Operand>,
    with: impl FnOnce(&mut Stopped<'_, '_, '_, '_, '_>, &Reader<'_>) -> T,
) -> T {
    let Who { workgroup, local_index } = stop.session.focus;
    let program = stop.target.program;
    let next = stop.at.standing(stop.session.focus).map(|(standing, _)| standing.strand.pc());
    let entry = next.and_then(|pc| {
        let inst = program.code.get(pc as usize)?;
        program.memory.get(inst.imm as usize)
    });
    let class = if word.workgroup.is_some() { StorageClasses::WORKGROUP } else { StorageClasses::UNIFORM };
    let plain = Access { non_private: true, ..Access::plain(class, 4, 1) };
    let reader = match (operand, entry) {
        (Some(operand), Some(entry)) if operand.kind != AccessKind::Write => Reader {
            workgroup,
            local_index,
            site: entry.site,
            access: &entry.access,
            reference: operand.place.reference,
            modifies: matches!(operand.kind, AccessKind::ReadModifyWrite(_)),
        },
        _ => {
            let reference =
                operand.map_or_else(|| reference_of(stop, word), |operand| operand.place.reference);
            Reader { workgroup, local_index, site: Site(0), access: &plain, reference, modifies: false }
        }
    };
    with(stop, &reader)
}

/// The reference through which the shader's variable reaches a word.
fn reference_of(stop: &Stopped<'_, '_, '_, '_, '_>, word: &Word) -> Reference {
    if word.workgroup.is_some() {
        let objects = &stop.target.program.shader.workgroup;
        let holds = |start: u32, size: u32| {
            word.address >= u64::from(start) && word.address < u64::from(start) + u64::from(size)
        };
        let object = objects.iter().find(|object| holds(object.offset, object.size));
        return object.map_or(Reference(0), |object| object.reference);
    }
    let bound = stop.target.resources.bindings.iter().flatten();
    let range = bound.filter_map(|descriptor| match descriptor {
        Descriptor::Buffer(range) => Some(range),
        _ => None,
    });
    let holds = |start: u64, size: u64| word.address >= start && word.address < start + size;
    let found = range.into_iter().find(|range| holds(range.address(), range.size()));
    found.map_or(Reference::PHYSICAL, |range| range.view().reference)
}

/// What is known of a word, for the invocation in focus.
pub fn look_at(stop: &mut Stopped<'_, '_, '_, '_, '_>, word: &Word, operand: Option<&Operand>) -> WordSeen {
    reading(stop, word, operand, |stop, reader| stop.at.memory().look(word, reader))
}

/// The type of what the invocation in focus accesses next; unsigned where that is not of one type.
pub fn element_next(stop: &Stopped<'_, '_, '_, '_, '_>) -> Element {
    let program = stop.target.program;
    let next = stop.at.standing(stop.session.focus).map(|(standing, _)| standing.strand.pc());
    let entry = next.and_then(|pc| program.memory.get(program.code.get(pc as usize)?.imm as usize));
    let site = entry.and_then(|entry| program.shader.sites.get(entry.site.0 as usize));
    let element = site.and_then(|site| Element::of_component(site.component?));
    element.filter(|element| element.size() == 4).unwrap_or(Element::U32)
}

/// A location that an expression names.
struct Location {
    word: Word,
    element: Element,
    operand: Option<Operand>,
    shift: u64,
}

impl Location {
    fn show(&self, word: u32) -> String {
        let bits = u64::from(word) >> (8 * self.shift);
        self.element.show(bits & ((1 << (8 * self.element.size().min(4))) - 1))
    }
}

fn location(stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<Location, String> {
    if text.is_empty() {
        return Err("which location? NAME, NAME.MEMBER or NAME[INDEX]".to_owned());
    }
    let mut eyes = stop.eyes();
    let item = eyes.find(text)?;
    let (workgroup, address, _) = eyes.place(&item)?;
    let element = eyes.element(&item).ok_or_else(|| format!("{text} is no scalar: name one of its parts"))?;
    if element.size() > 4 {
        return Err(format!(
            "not implemented in Pellucid: the writes of {text}, which has {} bytes",
            element.size()
        ));
    }
    let word = word_at(stop, workgroup, address).ok_or_else(|| format!("{text} is outside of its buffer"))?;
    let focus = stop.session.focus;
    let next = stop.at.access(focus).filter(|operand| {
        let own = (operand.place.class == StorageClasses::WORKGROUP).then_some(focus.workgroup);
        let (start, end) = (operand.place.address, operand.place.address + u64::from(operand.place.size));
        own == workgroup && start <= address && address < end
    });
    Ok(Location { word, element, operand: next, shift: address - word.address })
}

fn wrote(stop: &Stopped<'_, '_, '_, '_, '_>, at: &Location, k: usize, write: &WriteSeen) -> String {
    let line = stop.target.line_of(write.site);
    let place = line.map_or_else(String::new, |line| {
        format!(" at {}  {}", stop.target.place(line), stop.target.line_text(line))
    });
    let atomic = write.atomic.map(|scope| format!(" (atomic, {} scope)", words::scope_name(scope)));
    format!(
        "#{k} {} by {}{}{place}",
        at.show(write.value),
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

/// `sees EXPR`.
///
/// # Errors
/// What is wrong with the expression.
pub fn sees(stop: &mut Stopped<'_, '_, '_, '_, '_>, text: &str) -> Result<String, String> {
    running(stop)?;
    let at = location(stop, text)?;
    let seen = look_at(stop, &at.word, at.operand.as_ref());
    let focus = stop.target.name(stop.session.focus);
    let mut out = format!("memory holds {} in {text}\n", at.show(at.word.newest));
    let _ = writeln!(
        out,
        "#0 {} from before {}",
        at.show(seen.before),
        if seen.writes.is_empty() {
            "anything that is remembered: no write of this dispatch is"
        } else {
            "these writes"
        }
    );
    for (k, write) in (1..).zip(&seen.writes) {
        let _ = writeln!(out, "{}", wrote(stop, &at, k, write));
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
    let _ = write!(out, "{focus} may read {} now", values.join(" or "));
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
    let focus = stop.session.focus;
    let Some(cached) = stop.at.memory().cached(&at.word, focus.workgroup) else {
        return Err("values come from no caches: begin with --values caches, or --machine NAME".to_owned());
    };
    let mut out = String::new();
    let bytes = ((1 << at.element.size().min(4)) - 1) << at.shift;
    for copy in cached.copies.iter().filter(|copy| copy.held & bytes == bytes) {
        let level = ["first level", "second level"][copy.level.min(1)];
        let (unit, shared) = copy.units;
        let of = match shared {
            1 => format!("of compute unit {unit}"),
            _ => format!("of compute units {unit} to {}", unit + shared - 1),
        };
        let dirty = if copy.dirty & bytes != 0 { ", not written back" } else { "" };
        let _ = writeln!(out, "{level} {of}: {}{dirty}", at.show(copy.value));
    }
    let _ = writeln!(out, "point of coherency: {}", at.show(cached.coherent));
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
    let seen = look_at(stop, &at.word, at.operand.as_ref());
    let focus = stop.target.name(stop.session.focus);
    let how = if at.operand.is_some() { "by the access that it makes next" } else { "by a plain load" };
    let mut out = format!("what {focus} may read of {text} {how}:\n");
    // A write that is location-ordered before the read hides all that are older.
    let hides =
        |from: usize| seen.writes.iter().enumerate().skip(from).find(|(_, write)| write.to_reader.ordered);
    let newest = seen.writes.len();
    let verdict = |k: usize, readable: bool| -> String {
        match (readable, hides(k)) {
            (true, _) if k == newest => "yes: it is the newest".to_owned(),
            (true, _) => "yes: nothing newer is location-ordered before the read".to_owned(),
            (false, Some((by, _))) => {
                format!("no: #{} is newer, and location-ordered before the read", by + 1)
            }
            (false, None) => "no: what it has read already, or synchronized with, is newer".to_owned(),
        }
    };
    let initial = seen.before_readable || seen.writes.is_empty();
    let _ = writeln!(out, "#0 {} from before: {}", at.show(seen.before), verdict(0, initial));
    for (k, write) in (1..).zip(&seen.writes) {
        let _ = writeln!(out, "{}", wrote(stop, &at, k, write));
        let _ = writeln!(out, "     {}", verdict(k, write.readable));
    }
    Ok(out.trim_end().to_owned())
}

/// How what was there before the writes stands to one of them, or to a read now.
fn from_before(
    stop: &Stopped<'_, '_, '_, '_, '_>,
    at: &Location,
    seen: &WordSeen,
    text: &str,
    other: &str,
) -> String {
    let value = at.show(seen.before);
    let mut out = format!(
        "#0 is {value}, which {text} held before the writes that are remembered: it is older than each of them \
         in modification order"
    );
    if other == "now" {
        let may = match seen.before_readable || seen.writes.is_empty() {
            true => "may still read it now",
            false => "may not read it now: something newer is location-ordered before the read",
        };
        let _ = write!(out, "\n  {} {may}; `reads {text}` says why", stop.target.name(stop.session.focus));
    }
    out
}

/// `before EXPR A B`.
///
/// # Errors
/// What is wrong with it.
pub fn before(stop: &mut Stopped<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    running(stop)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [text, a, b] = words[..] else { return Err("before EXPR #A #B, or before EXPR #A now".to_owned()) };
    let at = location(stop, text)?;
    let seen = look_at(stop, &at.word, at.operand.as_ref());
    let write = |name: &str| {
        let number: Option<usize> = name.trim_start_matches('#').parse().ok();
        let found = number.and_then(|k| k.checked_sub(1)).and_then(|k| seen.writes.get(k)).cloned();
        found.ok_or_else(|| format!("\"{name}\" is no write of {text}: `sees {text}` numbers them"))
    };
    let oldest = |name: &str| name.trim_start_matches('#') == "0";
    if let Some(other) = [(a, b), (b, a)].into_iter().find(|(one, _)| oldest(one)).map(|(_, other)| other) {
        if other != "now" && !oldest(other) {
            write(other)?;
        }
        return Ok(from_before(stop, &at, &seen, text, other));
    }
    let first = write(a)?;
    let second = if b == "now" { None } else { Some(write(b)?) };
    let relation = reading(stop, &at.word, at.operand.as_ref(), |stop, reader| {
        stop.at.memory().relate(&at.word, &first, second.as_ref(), reader)
    });
    let by = |write: &WriteSeen| {
        format!("the write of {} by {}", at.show(write.value), stop.target.name_of(&write.by))
    };
    let later = match &second {
        Some(second) => by(second),
        None => format!("a read by {} now", stop.target.name(stop.session.focus)),
    };
    let mut out = if relation.ordered {
        format!(
            "(1) {} is ordered before (2) {later}, by location or as atomics of one another's scope",
            by(&first)
        )
    } else {
        format!("(1) {} is not location-ordered before (2) {later}", by(&first))
    };
    let dispatch = &stop.target.context;
    for fact in &relation.explanation.facts {
        let _ = write!(out, "\n  {}", words::fact(fact, dispatch));
    }
    if !relation.ordered {
        for missing in &relation.explanation.missing {
            let _ = write!(out, "\n  {}", words::missing(missing, dispatch));
        }
        let help = vulkan_pellucid::report::fixes::fix(&relation.explanation.fix, dispatch);
        for fix in help {
            let _ = write!(out, "\n  help: {fix}");
        }
    }
    Ok(out)
}
