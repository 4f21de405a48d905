//! A finding as people read it: the shape of rustc's diagnostics, without colour, the same bytes every time.

use super::context::{Context, DispatchContext, base_name};
use super::fixes;
use super::note::{FixKind, Note, NoteKind, Notes};
use super::source::{Excerpt, excerpt};
use super::words;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Element, Level, Renderer, Snippet};
use pellucid_memory::finding::{AccessKind, Finding, FindingId, Severity};
use pellucid_memory::system::Trap;
use pellucid_shader_interp::ir::{Shape, SiteInfo};

/// Collects what is to be said about a finding.
pub fn notes(finding: &Finding, context: &Context<'_>) -> Notes {
    let mut out = Notes::default();
    let Some(dispatch) = context.primary(finding) else { return out };
    out.notes.extend(places(finding, context));
    out.notes.extend(bounds(finding, context).map(|text| Note::new(NoteKind::Bounds, text)));
    if finding.accesses.iter().any(|access| dispatch.is_push_constant(access)) {
        out.notes.push(Note::new(NoteKind::PushConstants, words::pushed(dispatch)));
    }
    out.notes.extend(finding.facts.iter().map(|f| Note::new(f.into(), words::fact(f, dispatch))));
    for missing in &finding.missing {
        // Of two instructions of one line the same may be missing.
        let note = Note::new(missing.into(), words::missing(missing, dispatch));
        if !out.notes.contains(&note) {
            out.notes.push(note);
        }
    }
    for (index, access) in finding.accesses.iter().enumerate().filter(|(_, a)| a.admissible.len() > 1) {
        let value = |bits: &u64| words::value(*bits, access, context.of(access));
        let values: Vec<String> = access.admissible.iter().map(value).collect();
        let text = format!("the model allows ({}) to return {}", index + 1, values.join(", "));
        out.notes.push(Note::new(NoteKind::Values, text));
    }
    for (index, access) in finding.accesses.iter().enumerate() {
        if let (Some(cached), Some(held)) = (&access.caches, words::caches(access, context.of(access))) {
            let number = index + 1;
            let text = format!("when ({number}) read, on compute unit {}, there was {held}", cached.unit);
            out.notes.push(Note::new(NoteKind::Caches, text));
        }
    }
    if words::Dialect::of(dispatch.shader) == words::Dialect::Glsl || !dispatch.shader.vulkan_memory_model {
        let text =
            "the shader declares the GLSL450 memory model: judged as lowered to the Vulkan memory model";
        out.notes.push(Note::new(NoteKind::MemoryModel, text));
    }
    out.help = fixes::for_compilers(finding, dispatch)
        .map_or_else(|| fixes::fix(&finding.fix, dispatch), |note| vec![note]);
    out
}

/// What the image of an access has, where the texel is not in it.
fn bounds(finding: &Finding, context: &Context<'_>) -> Option<String> {
    let access = finding.accesses.iter().find(|access| access.texel.is_some())?;
    let image = context.of(access)?.object(access)?.texels.as_ref()?;
    Some(image.bounds(access.texel.as_ref()?))
}

/// Whether the only access reads a whole variable of the invocation: one that has no parts to be named.
fn whole(finding: &Finding, context: &Context<'_>) -> bool {
    let place = &finding.accesses[0].place;
    let dispatch = context.of(&finding.accesses[0]);
    let variable = dispatch.and_then(|d| d.shader.variables.get(place.reference.0 as usize));
    place.class.is_empty() && variable.is_some_and(|variable| *variable.shape == Shape::Whole)
}

fn places(finding: &Finding, context: &Context<'_>) -> Vec<Note> {
    let told: Vec<(String, String)> = finding
        .accesses
        .iter()
        .filter(|a| a.place.size > 0 || a.texel.is_some() || finding.id == FindingId::UninitialisedRead)
        .filter_map(|a| Some((context.of(a)?.place(a), words::part(a, context.of(a)?))))
        .collect();
    let texts = match told.as_slice() {
        [] => Vec::new(),
        [(place, _)] if finding.accesses[0].texel.is_none() && whole(finding, context) => {
            vec![format!("in {place}")]
        }
        [(place, _)] if finding.accesses[0].texel.is_none() && finding.accesses[0].place.size == 0 => {
            vec![format!("in {place}; which part of it is not known")]
        }
        [(place, part)] => vec![format!("in {place}: {part}")],
        [first, rest @ ..] if rest.iter().all(|r| r == first) => {
            vec![format!("both in {}: {}", first.0, first.1)]
        }
        all => all
            .iter()
            .enumerate()
            .map(|(i, (place, part))| format!("({}) in {place}: {part}", i + 1))
            .collect(),
    };
    texts.into_iter().map(|text| Note::new(NoteKind::Place, text)).collect()
}

/// One annotated stretch of source or SPIR-V.
pub struct Shown {
    /// Its file.
    pub path: String,
    /// The lines that are shown.
    pub text: String,
    /// The number of the first of them.
    pub first_line: usize,
    /// The marked bytes of `text`.
    pub span: std::ops::Range<usize>,
    /// What is said beside the mark.
    pub label: String,
    /// It is what the finding is about, the others lead to it.
    pub primary: bool,
}

fn shown(index: usize, finding: &Finding, context: &Context<'_>) -> Option<Shown> {
    let access = &finding.accesses[index];
    let dispatch = context.of(access)?;
    let site = dispatch.site(access.site)?;
    let label = words::access(index, finding, context);
    let primary = index + 1 == finding.accesses.len();
    let write = !matches!(access.kind, AccessKind::Read);
    Some(match excerpt(dispatch.shader, site, write) {
        Some(Excerpt { name, text, span, .. }) => {
            Shown { path: base_name(&name).to_owned(), text, first_line: 1, span, label, primary }
        }
        None => {
            let text = site.instruction.clone();
            let span = 0..text.len();
            Shown {
                path: listing(dispatch, site),
                text,
                first_line: site.word as usize,
                span,
                label,
                primary,
            }
        }
    })
}

/// The heading of an instruction without source text: its file and line if it has them, else the entry point.
fn listing(dispatch: &DispatchContext<'_>, site: &SiteInfo) -> String {
    match site.source.and_then(|p| Some((dispatch.shader.files.get(p.file as usize)?, p.line))) {
        Some((file, line)) => format!("{} line {line}, SPIR-V word", base_name(&file.name)),
        None => format!("{}, SPIR-V word", dispatch.shader.name),
    }
}

/// The stretches as snippets: those of one text share one.
pub(super) fn snippets(shown: &[Shown]) -> Vec<Element<'_>> {
    let mut elements: Vec<Element<'_>> = Vec::new();
    let mut done = vec![false; shown.len()];
    for i in 0..shown.len() {
        if done[i] {
            continue;
        }
        let same = |j: usize| {
            (shown[j].path == shown[i].path)
                && shown[j].text == shown[i].text
                && shown[j].first_line == shown[i].first_line
        };
        let group: Vec<usize> = (i..shown.len()).filter(|j| !done[*j] && same(*j)).collect();
        let mut snippet = Snippet::<Annotation<'_>>::source(shown[i].text.as_str())
            .line_start(shown[i].first_line)
            .path(shown[i].path.as_str())
            .fold(true);
        for j in group {
            done[j] = true;
            let kind = if shown[j].primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            snippet = snippet.annotation(kind.span(shown[j].span.clone()).label(shown[j].label.as_str()));
        }
        elements.push(snippet.into());
    }
    elements
}

/// The diagnostic, ending in a line feed. `replay` is the command that shows it again, where there is one.
pub fn render(finding: &Finding, context: &Context<'_>, replay: Option<&str>) -> String {
    whole_or_short(finding, context, notes(finding, context), replay)
}

/// The diagnostic of a finding that a fix which was told already mends, too: its accesses and their place.
pub fn render_short(finding: &Finding, context: &Context<'_>) -> String {
    let help = notes(finding, context).help.into_iter().map(as_above).collect();
    let notes = places(finding, context);
    whole_or_short(finding, context, Notes { notes, help }, None)
}

/// A line of help that an earlier finding has told.
pub(super) fn as_above(fix: Note<FixKind>) -> Note<FixKind> {
    Note::new(fix.kind, format!("the same fix as above: {}", fix.text))
}

fn whole_or_short(
    finding: &Finding,
    context: &Context<'_>,
    Notes { notes, help }: Notes,
    replay: Option<&str>,
) -> String {
    let shown: Vec<Shown> =
        (0..finding.accesses.len()).rev().filter_map(|i| shown(i, finding, context)).collect();
    let mut elements = snippets(&shown);
    if shown.is_empty() {
        elements.extend(
            (0..finding.accesses.len())
                .map(|i| Level::NOTE.message(words::access(i, finding, context)).into()),
        );
    }
    let level = level(finding.id.severity());
    diagnostic(level, (finding.id.name(), words::title(finding.id)), elements, Notes { notes, help }, replay)
}

/// How a diagnostic of this severity begins.
pub(super) fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    }
}

/// A diagnostic of any kind, ending in a line feed: id and title, stretches of source, what is said beneath
/// them.
pub(super) fn diagnostic(
    level: Level<'_>,
    (id, title): (&str, &str),
    mut elements: Vec<Element<'_>>,
    Notes { notes, help }: Notes,
    replay: Option<&str>,
) -> String {
    elements.extend(notes.into_iter().map(|n| Level::NOTE.message(n.text).into()));
    elements.extend(help.into_iter().map(|h| Level::HELP.message(h.text).into()));
    elements
        .extend(replay.map(|replay| Level::NOTE.with_name(Some("replay")).message(replay.to_owned()).into()));
    let group = level.primary_title(title).id(id).elements(elements);
    let renderer = Renderer::plain().decor_style(DecorStyle::Ascii).term_width(160);
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

/// That a dispatch could not go on: the diagnostic.
pub fn trap(trap: &Trap, dispatch: Option<&DispatchContext<'_>>) -> String {
    let mut rendered = format!("error[device-lost]: {trap}\n");
    if let Some(d) = dispatch {
        if let Trap::InvalidAddress { site, .. } = trap {
            rendered.push_str(&format!("  --> {}\n", d.location(*site)));
        }
        rendered.push_str(&format!("   = note: {}, entry point \"{}\"\n", d.title(), d.shader.name));
    }
    if let (Trap::Watchdog(facts), Some(d)) = (trap, dispatch) {
        for fact in facts {
            rendered.push_str(&format!("   = note: {}\n", words::fact(fact, d)));
        }
    }
    if matches!(trap, Trap::Watchdog(_)) {
        rendered.push_str("   = help: a loop that waits for another invocation, or whose condition never comes true, does not end; if it only takes long, raise PELLUCID_SPINS and PELLUCID_WATCHDOG, or set them to 0\n");
    }
    if matches!(trap, Trap::NotImplemented(_)) {
        rendered.push_str("   = note: this is a gap of Pellucid, not a bug of the program\n");
    }
    rendered
}
