//! JSON lines: the schema of docs/report.md. The first line is the run, then one line a finding, the last one
//! the totals.

use super::around;
use super::context::{Context, DispatchContext};
use super::element::ValueType;
use super::note::{Note, Notes};
use super::source::excerpt;
use super::text;
use super::words;
use pellucid_memory::finding::{AccessInfo, AccessKind, Fact, Finding, Severity};
use pellucid_shader_interp::ir::SiteInfo;
use serde_json::{Value, json};

/// Version of the schema; it changes when a field changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// What the line of a finding about calls, commands and objects says.
pub struct FindingLine<'a> {
    /// As `docs/report.md` lists it: `image-layout`.
    pub id: &'a str,
    /// The family that totals count it under.
    pub family: &'a str,
    /// The first line of the diagnostic.
    pub title: &'a str,
    /// How bad it is, by its id.
    pub severity: Severity,
    /// What is said beneath.
    pub notes: Notes,
}

impl FindingLine<'_> {
    /// The line; `rendered` is the diagnostic.
    pub fn line(&self, number: u64, seed: u64, replay: &str, rendered: &str) -> Value {
        json!({
            "type": "finding",
            "schema": SCHEMA,
            "number": number,
            "id": self.id,
            "family": self.family,
            "title": self.title,
            "level": self.severity.name(),
            "notes": texts(&self.notes.notes),
            "note_kinds": kinds(&self.notes.notes),
            "help": texts(&self.notes.help),
            "help_kinds": kinds(&self.notes.help),
            "seed": seed,
            "replay": replay,
            "text": rendered,
        })
    }
}

/// The lines beneath a finding, as people read them.
fn texts<K>(notes: &[Note<K>]) -> Vec<&str> {
    notes.iter().map(|note| note.text.as_str()).collect()
}

/// What each of them is about.
fn kinds<K: Copy>(notes: &[Note<K>]) -> Vec<K> {
    notes.iter().map(|note| note.kind).collect()
}

/// Who waits, of a livelock, and what each does.
fn waits(finding: &Finding, dispatch: Option<&DispatchContext<'_>>) -> Value {
    let told = |fact: &Fact| match fact {
        Fact::Waits(wait) => {
            let (who, does) = words::waits(wait, dispatch?);
            Some(json!({ "who": who, "does": does }))
        }
        _ => None,
    };
    let waits: Vec<Value> = finding.facts.iter().filter_map(told).collect();
    if waits.is_empty() { Value::Null } else { waits.into() }
}

/// The record of a finding: a line of the report.
pub fn finding(
    number: u64,
    finding: &Finding,
    context: &Context<'_>,
    seed: u64,
    replay: &str,
    rendered: &str,
) -> Value {
    let dispatch = context.primary(finding);
    let notes = text::notes(finding, context);
    let accesses: Vec<Value> = (0..finding.accesses.len()).map(|i| access(i, finding, context)).collect();
    json!({
        "type": "finding",
        "number": number,
        "id": finding.id.name(),
        "family": words::family(finding.id),
        "title": words::title(finding.id),
        "shader": dispatch.map(|d| json!({
            "entry": d.shader.name,
            "pipeline": d.pipeline,
            "memory_model": if d.shader.vulkan_memory_model { "Vulkan" } else { "GLSL450" },
        })),
        "dispatch": dispatch.map(|d| json!({ "number": d.number, "labels": d.labels, "queue": d.queue })),
        "accesses": accesses,
        "around": around::around(finding, context),
        "notes": texts(&notes.notes),
        "note_kinds": kinds(&notes.notes),
        "help": texts(&notes.help),
        "help_kinds": kinds(&notes.help),
        "waits": waits(finding, dispatch),
        "seed": seed,
        "replay": replay,
        "finding": finding,
        "text": rendered,
    })
}

/// Where an instruction stands in the source, if that is known.
pub fn source(dispatch: &DispatchContext<'_>, site: &SiteInfo, write: bool) -> Option<Value> {
    let position = site.source?;
    let file = dispatch.shader.files.get(position.file as usize)?;
    let column = excerpt(dispatch.shader, site, write).map_or(position.column, |e| e.column);
    Some(json!({ "file": file.name, "line": position.line, "column": column }))
}

fn access(index: usize, finding: &Finding, context: &Context<'_>) -> Value {
    let access: &AccessInfo = &finding.accesses[index];
    let dispatch = context.of(access);
    let site = dispatch.and_then(|d| d.site(access.site));
    let write = !matches!(access.kind, AccessKind::Read);
    let source = dispatch.zip(site).and_then(|(d, s)| source(d, s, write));
    let object = dispatch.and_then(|d| d.object(access));
    json!({
        "kind": match access.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::ReadModifyWrite(_) => "read-modify-write",
        },
        "atomic_scope": access.atomic.map(words::scope_name),
        "source": source,
        "instruction": site.map(|s| s.instruction.as_str()),
        "word": site.map(|s| s.word),
        "function": site.map(|s| s.function.as_str()),
        "variable": site.map(|s| s.variable.as_str()),
        "class": words::class_name(access.place.class),
        "place": dispatch.map(|d| d.place(access)),
        "object": object.map(|o| json!({ "binding": o.what, "name": o.name, "type": o.object_type, "texels": o.texels })),
        "offset": dispatch.map_or(Some(access.place.offset), |d| d.offset(access)),
        "element": dispatch.and_then(|d| d.element(access)),
        "texel": dispatch.and_then(|d| d.texel(access)),
        "size": access.place.size,
        "dispatch": access.by.dispatch,
        "workgroup": access.by.workgroup,
        "subgroup": access.by.subgroup,
        "invocation": access.by.local_index,
        "returned": access.returned,
        "newest": access.newest,
        "admissible": access.admissible,
        "values": values(access, dispatch),
        "caches": caches(access, dispatch),
        "label": words::access(index, finding, context),
    })
}

/// The values of an access as people read them, where it has some.
fn values(access: &AccessInfo, dispatch: Option<&DispatchContext<'_>>) -> Value {
    let told = |bits: u64| words::value(bits, access, dispatch);
    let Some(returned) = access.returned else { return Value::Null };
    json!({
        "type": dispatch.and_then(|dispatch| dispatch.value_type(access)).map(ValueType::name),
        "half": access.half,
        "returned": told(returned),
        "newest": access.newest.map(told),
        "admissible": access.admissible.iter().copied().map(told).collect::<Vec<_>>(),
    })
}

/// What the caches of the machine held when it read, where values come from such.
fn caches(access: &AccessInfo, dispatch: Option<&DispatchContext<'_>>) -> Value {
    let Some(cached) = &access.caches else { return Value::Null };
    let told = |bits: u32| words::value(u64::from(bits), access, dispatch);
    let copies = cached.copies.iter().map(|copy| {
        json!({
            "cache": words::cache(copy),
            "units": [copy.units.0, copy.units.1],
            "value": told(copy.value),
            "written_back": copy.dirty == 0,
        })
    });
    json!({
        "unit": cached.unit,
        "copies": copies.collect::<Vec<_>>(),
        "coherent": told(cached.coherent),
    })
}
