//! The words and the look of reports, on findings made by hand.

use super::api::ApiFinding as _;
use super::note::{FixKind, NoteKind};
use super::*;
use crate::config::{Config, TellNotes};
use expect_test::expect;
use pellucid_memory::access::{Reference, Site};
use pellucid_memory::agent::Invocation;
use pellucid_memory::finding::{
    AccessInfo, AccessKind, Edit, Fact, Finding, FindingId, Missing, Place, Severity,
};
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_shader_interp::ir::{
    Shader, SiteInfo, SourceFile, SourceLanguage, SourcePosition, WorkgroupObject,
};

mod hazards;

const SOURCE: &str = "#version 450
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;
shared uint partial[64];
void main() {
    partial[gl_LocalInvocationIndex] = sum;


    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, 0, 0);
    uint total = 0;
    for (uint i = 0; i < 64; i++)
        total += partial[i];
}
";

fn shader(language: SourceLanguage, text: Option<&str>, lines: bool) -> Shader {
    let site = |instruction: &str, word, line, variable: &str| SiteInfo {
        instruction: instruction.into(),
        word,
        source: lines.then_some(SourcePosition { file: 0, line, column: 0 }),
        function: "main".into(),
        variable: variable.into(),
        call: 0,
        component: None,
    };
    Shader {
        name: "main".into(),
        workgroup: vec![WorkgroupObject {
            offset: 0,
            size: 256,
            reference: Reference(0),
            zeroed: false,
            name: "partial".into(),
        }],
        workgroup_bytes: 256,
        local_size: [64, 1, 1],
        vulkan_memory_model: true,
        sites: vec![
            SiteInfo::default(),
            site("OpStore %25 %17", 120, 6, "partial"),
            site("OpControlBarrier %uint_2 %uint_2 %uint_0", 130, 9, ""),
            site("%31 = OpLoad %uint %30", 150, 12, "partial"),
        ],
        files: vec![SourceFile { name: "shaders/reduce.comp".into(), text: text.map(str::to_owned) }],
        language,
        ..Shader::default()
    }
}

fn access(site: u32, kind: AccessKind, local_index: u32) -> AccessInfo {
    AccessInfo {
        site: Site(site),
        kind,
        atomic: None,
        by: Invocation { dispatch: 3, workgroup: [1, 0, 0], subgroup: local_index / 32, local_index },
        place: Place {
            class: StorageClasses::WORKGROUP,
            reference: Reference(0),
            address: 20,
            offset: 20,
            size: 4,
        },
        texel: None,
        returned: None,
        newest: None,
        admissible: vec![],
        half: None,
        caches: None,
    }
}

fn not_visible() -> Finding {
    let mut read = access(3, AccessKind::Read, 0);
    read.returned = Some(0);
    read.newest = Some(17);
    read.admissible = vec![0, 17];
    Finding {
        id: FindingId::RaceNotVisible,
        accesses: vec![access(1, AccessKind::Write, 5), read],
        facts: vec![Fact::HappensBefore(vec![Site(2)])],
        missing: vec![Missing::Visibility(Scope::Workgroup)],
        fix: vec![
            Edit::AddClasses(Site(2), StorageClasses::WORKGROUP),
            Edit::MakeVisible(Site(2)),
            Edit::MakeAvailable(Site(2)),
        ],
        count: 63,
        around: None,
    }
}

fn dispatch<'a>(shader: &'a Shader, labels: &'a [String], objects: &'a [Object]) -> DispatchContext<'a> {
    DispatchContext {
        number: 3,
        shader,
        pipeline: "",
        labels,
        queue: "queue 0",
        objects,
        addressed: &[],
        pushed: &[],
    }
}

fn rendered(shader: &Shader, finding: &Finding) -> String {
    let labels = ["frame".to_owned(), "reduce".to_owned()];
    let dispatches = [dispatch(shader, &labels, &[])];
    text::render(finding, &Context { dispatches: &dispatches }, Some("pellucid run --seed 0 -- ./reduce"))
}

#[test]
fn a_race_in_glsl_is_told_with_source_lines_and_the_fix() {
    expect![[r#"
        error[race-not-visible]: a read may miss a write that happens before it
          --> reduce.comp:12:18
           |
         6 |     partial[gl_LocalInvocationIndex] = sum;
           |     --------------------------------------- (1) written by invocation 5 (subgroup 0) of workgroup (1,0,0), dispatch 3 "reduce"
        ...
        12 |         total += partial[i];
           |                  ^^^^^^^^^^ (2) read by invocation 0 (subgroup 0) of the same workgroup: got 0 (stale), newest is 17
           |
           = note: both in workgroup variable "partial": 4 bytes at offset 20
           = note: (1) happens before (2): controlBarrier at reduce.comp:9
           = note: missing: a visibility operation for (2) at workgroup scope or wider
           = note: the model allows (2) to return 0, 17
           = help: controlBarrier at reduce.comp:9: add gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible to the semantics, add gl_StorageSemanticsShared to the storage semantics
           = replay: pellucid run --seed 0 -- ./reduce
    "#]].assert_eq(&rendered(&shader(SourceLanguage::Glsl, Some(SOURCE), true), &not_visible()));
}

#[test]
fn without_source_the_spirv_instruction_is_shown_in_spirv_terms() {
    expect![[r#"
        error[race-not-visible]: a read may miss a write that happens before it
           --> main, SPIR-V word:150:1
            |
        150 | %31 = OpLoad %uint %30
            | ^^^^^^^^^^^^^^^^^^^^^^ (2) read by invocation 0 (subgroup 0) of the same workgroup: got 0 (stale), newest is 17
            |
           ::: main, SPIR-V word:120:1
            |
        120 | OpStore %25 %17
            | --------------- (1) written by invocation 5 (subgroup 0) of workgroup (1,0,0), dispatch 3 "reduce"
            |
            = note: both in workgroup variable "partial": 4 bytes at offset 20
            = note: (1) happens before (2): OpControlBarrier %uint_2 %uint_2 %uint_0 (word 130)
            = note: missing: a visibility operation for (2) at workgroup scope or wider
            = note: the model allows (2) to return 0, 17
            = help: OpControlBarrier %uint_2 %uint_2 %uint_0 (word 130): add MakeAvailable | MakeVisible to the semantics, add WorkgroupMemory to the semantics
            = replay: pellucid run --seed 0 -- ./reduce
    "#]].assert_eq(&rendered(&shader(SourceLanguage::Unknown, None, false), &not_visible()));
}

#[test]
fn a_finding_that_a_fix_above_mends_is_short() {
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatches = [dispatch(&shader, &[], &[])];
    let text = text::render_short(&not_visible(), &Context { dispatches: &dispatches });
    expect![[r#"
        error[race-not-visible]: a read may miss a write that happens before it
          --> reduce.comp:12:18
           |
         6 |     partial[gl_LocalInvocationIndex] = sum;
           |     --------------------------------------- (1) written by invocation 5 (subgroup 0) of workgroup (1,0,0), dispatch 3
        ...
        12 |         total += partial[i];
           |                  ^^^^^^^^^^ (2) read by invocation 0 (subgroup 0) of the same workgroup: got 0 (stale), newest is 17
           |
           = note: both in workgroup variable "partial": 4 bytes at offset 20
           = help: the same fix as above: controlBarrier at reduce.comp:9: add gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible to the semantics, add gl_StorageSemanticsShared to the storage semantics
    "#]].assert_eq(&text);
}

/// References of workgroup variables and of descriptors are numbered apart: equal numbers are not the same
/// thing.
#[test]
fn a_workgroup_variable_is_no_descriptor() {
    let objects = [Object {
        reference: Reference(0),
        what: "set 0, binding 0".into(),
        handle: 7,
        object_type: 9,
        name: "input".into(),
        address: 0,
        texels: None,
    }];
    let shader = shader(SourceLanguage::Glsl, None, true);
    let dispatch = dispatch(&shader, &[], &objects);
    let mut read = access(3, AccessKind::Read, 0);
    assert_eq!(dispatch.object(&read), None);
    read.place.class = StorageClasses::UNIFORM;
    assert_eq!(dispatch.object(&read), Some(&objects[0]));
}

#[test]
fn lines_without_text_are_named() {
    expect![[r#"
        error[race-not-visible]: a read may miss a write that happens before it
           --> reduce.comp line 12, SPIR-V word:150:1
            |
        150 | %31 = OpLoad %uint %30
            | ^^^^^^^^^^^^^^^^^^^^^^ (2) read by invocation 0 (subgroup 0) of the same workgroup: got 0 (stale), newest is 17
            |
           ::: reduce.comp line 6, SPIR-V word:120:1
            |
        120 | OpStore %25 %17
            | --------------- (1) written by invocation 5 (subgroup 0) of workgroup (1,0,0), dispatch 3 "reduce"
            |
            = note: both in workgroup variable "partial": 4 bytes at offset 20
            = note: (1) happens before (2): controlBarrier at reduce.comp:9
            = note: missing: a visibility operation for (2) at workgroup scope or wider
            = note: the model allows (2) to return 0, 17
            = help: controlBarrier at reduce.comp:9: add gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible to the semantics, add gl_StorageSemanticsShared to the storage semantics
            = replay: pellucid run --seed 0 -- ./reduce
    "#]].assert_eq(&rendered(&shader(SourceLanguage::Glsl, None, true), &not_visible()));
}

#[test]
fn equal_findings_are_counted_and_totals_are_greppable() {
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatches = [dispatch(&shader, &[], &[])];
    let context = Context { dispatches: &dispatches };
    let directory = tempfile::tempdir().unwrap();
    let config = Config {
        report: Some(directory.path().join("r.json")),
        summary: Some(directory.path().to_owned()),
        ..Config::default()
    };
    let session = Session::new(&config, Some("pellucid run --seed 0 -- app".into()));
    session.open().unwrap();
    let first = session.report(&not_visible(), &context, None).message.unwrap();
    assert_eq!(
        (first.id_name, first.id_number),
        ("race-not-visible", verdict::fnv("race-not-visible").cast_signed())
    );
    assert!(
        session.report(&not_visible(), &context, None).message.is_none(),
        "the same finding again is only counted"
    );
    let unordered = Finding { id: FindingId::RaceUnordered, ..not_visible() };
    assert!(session.report(&unordered, &context, None).message.is_some());
    session.dispatch_checked();
    session.finish();

    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let lines: Vec<serde_json::Value> =
        read("r.json").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run", "finding", "finding", "total"]);
    assert_eq!(
        lines[1]["accesses"][1]["source"],
        serde_json::json!({"file": "shaders/reduce.comp", "line": 12, "column": 18})
    );
    assert_eq!(lines[1]["accesses"][1]["returned"], 0);
    assert_eq!(lines[1]["accesses"][1]["values"]["returned"], "0");
    assert_eq!(
        lines[1]["note_kinds"],
        serde_json::json!(["place", "happens-before", "missing-visibility", "values"])
    );
    assert_eq!(lines[1]["help_kinds"], serde_json::json!(["availability"]));
    assert!(lines[1]["waits"].is_null());
    assert_eq!(lines[3]["occurrences"], serde_json::json!([126, 63]));
    let again: Finding = serde_json::from_value(lines[1]["finding"].clone()).unwrap();
    assert_eq!(again, not_visible());
    let last: serde_json::Value = serde_json::from_str(&read(&std::process::id().to_string())).unwrap();
    assert_eq!(total::total_line(&last), "2 findings (2 race), 0 suppressed, seed 0, 1 dispatch checked");
}

#[test]
fn findings_with_one_fix_are_one_group_and_whole_in_the_report() {
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatches = [dispatch(&shader, &[], &[])];
    let context = Context { dispatches: &dispatches };
    let directory = tempfile::tempdir().unwrap();
    let config = Config { report: Some(directory.path().join("r.json")), ..Config::default() };
    let session = Session::new(&config, Some(String::new()));
    session.open().unwrap();
    let accesses = not_visible().accesses;
    let elsewhere = Finding { accesses: vec![accesses[1].clone(), accesses[0].clone()], ..not_visible() };
    let unordered = Finding { id: FindingId::RaceUnordered, ..not_visible() };
    let without = Finding { id: FindingId::RaceScope, fix: vec![], ..not_visible() };
    for finding in [&not_visible(), &unordered, &without, &elsewhere] {
        session.report(finding, &context, None).message.unwrap();
    }
    let lines = std::fs::read_to_string(directory.path().join("r.json")).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let groups: Vec<&serde_json::Value> = lines.iter().map(|line| &line["group"]).collect();
    assert_eq!(groups, [&serde_json::json!(1), &2.into(), &serde_json::Value::Null, &1.into()]);
    for line in &lines {
        assert!(line["text"].as_str().unwrap().contains("= note: missing: "), "{line}");
    }
}

#[test]
fn a_suppressed_finding_is_silent_and_counted_apart() {
    let directory = tempfile::tempdir().unwrap();
    let rules = directory.path().join("rules");
    std::fs::write(&rules, "race:reduce.comp:12\n").unwrap();
    let config = Config { suppressions: Some(rules), ..Config::default() };
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatches = [dispatch(&shader, &[], &[])];
    let session = Session::new(&config, Some(String::new()));
    session.open().unwrap();
    assert_eq!(
        session.report(&not_visible(), &Context { dispatches: &dispatches }, None),
        Verdict::default()
    );
    assert_eq!(session.state.lock().findings(), 0);
}

#[test]
fn notes_change_no_status_unless_they_are_asked_for_as_findings() {
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatches = [dispatch(&shader, &[], &[])];
    let context = Context { dispatches: &dispatches };
    let note = Finding { id: FindingId::DivideByZero, ..not_visible() };
    for (notes, findings, status) in [(TellNotes::On, 0, None), (TellNotes::Error, 1, Some(7))] {
        let config = Config { notes, exitcode: Some(7), halt_on_error: true, ..Config::default() };
        let session = Session::new(&config, Some(String::new()));
        let verdict = session.report(&note, &context, None);
        assert_eq!(verdict.halt, findings > 0);
        let message = verdict.message.unwrap();
        assert_eq!(message.severity == Severity::Note, findings == 0);
        assert!(message.text.starts_with("note[divide-by-zero]"), "{}", message.text);
        assert_eq!(session.state.lock().findings(), findings);
        assert_eq!(session.finish(), status);
    }
    let total = serde_json::json!({ "findings": 0, "notes": 2, "suppressed": 0, "seed": 0, "dispatches": 1 });
    assert_eq!(total::total_line(&total), "0 findings, 2 notes, 0 suppressed, seed 0, 1 dispatch checked");
}

#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(verdict::fnv(""), 0x811c_9dc5);
    assert_eq!(verdict::fnv("a"), 0xe40c_292c);
    assert_eq!(verdict::fnv("foobar"), 0xbf9c_f968);
}

/// One declaration serves several accesses; accesses of one line are one place; others do not join it.
#[test]
fn a_declaration_is_told_once_with_all_accesses_that_it_serves() {
    let mut shader = shader(SourceLanguage::Glsl, None, false);
    shader.files = vec![SourceFile { name: "a.comp".into(), text: None }];
    let site = |line, variable: &str| SiteInfo {
        instruction: "OpLoad".into(),
        word: 5,
        source: Some(SourcePosition { file: 0, line, column: 0 }),
        function: "main".into(),
        variable: variable.into(),
        call: 0,
        component: None,
    };
    shader.sites =
        vec![SiteInfo::default(), site(4, "flag"), site(6, "flag"), site(6, "flag"), site(7, "data")];
    let edits = [
        Edit::VisibleAccess(Site(1), Scope::Device),
        Edit::AvailableAccess(Site(4), Scope::Device),
        Edit::VisibleAccess(Site(2), Scope::Device),
        Edit::AvailableAccess(Site(3), Scope::Device),
        Edit::VisibleAccess(Site(1), Scope::Device),
        Edit::NonPrivate(Site(2)),
    ];
    let expected = [
        "declare `flag` devicecoherent, for the accesses at a.comp:4 and a.comp:6",
        "declare `data` devicecoherent, for the access at a.comp:7",
        "declare `flag` nonprivate, for the access at a.comp:6",
    ];
    let fix = fixes::fix(&edits, &dispatch(&shader, &[], &[]));
    assert_eq!(fix.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), expected);
    let kinds: Vec<FixKind> = fix.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [FixKind::Coherent, FixKind::Coherent, FixKind::NonPrivate]);
}

#[test]
fn what_a_compiler_left_out_of_all_accesses_is_one_fix() {
    let shader = Shader { private_workgroup: 7, ..shader(SourceLanguage::Slang, None, false) };
    let fix = vec![
        Edit::AvailableAccess(Site(1), Scope::Workgroup),
        Edit::VisibleAccess(Site(3), Scope::Workgroup),
    ];
    let finding = Finding { id: FindingId::RacePrivate, fix, ..not_visible() };
    let told =
        |shader: &Shader, finding: &Finding| fixes::for_compilers(finding, &dispatch(shader, &[], &[]));
    let note = told(&shader, &finding).expect("a fix");
    assert!(note.text.contains("left it out of all 7 "), "{}", note.text);
    assert_eq!(note.kind, FixKind::NonPrivate);
    // What lacks more is another matter, as is what the source can say, and a slip.
    let mut fix = finding.fix.clone();
    fix.push(Edit::Acquire(Site(2)));
    assert!(told(&shader, &Finding { fix, ..finding.clone() }).is_none());
    assert!(told(&Shader { language: SourceLanguage::Glsl, ..shader.clone() }, &finding).is_none());
    assert!(told(&Shader { private_workgroup: 2, ..shader.clone() }, &finding).is_none());
    let fix = vec![Edit::AvailableAccess(Site(1), Scope::QueueFamily)];
    assert!(told(&shader, &Finding { fix, ..finding.clone() }).is_none(), "more than the workgroup shares");
    // In buffers, by the words of either memory model.
    let mut buffer = finding.clone();
    buffer.accesses.iter_mut().for_each(|access| access.place.class = StorageClasses::UNIFORM);
    assert!(told(&shader, &buffer).is_none(), "not all of them are private");
    for (vulkan_memory_model, kind) in [(true, FixKind::NonPrivate), (false, FixKind::Coherent)] {
        let shader = Shader { private_storage: 9, vulkan_memory_model, ..shader.clone() };
        let note = told(&shader, &buffer).expect("a fix");
        assert_eq!(note.kind, kind);
        assert!(note.text.contains("9 ") && note.text.contains("--storage-memory coherent"), "{}", note.text);
    }
}

#[test]
fn the_schema_lists_all_kinds_of_notes_and_help() {
    use strum::VariantNames as _;
    let schema = include_str!("../../../docs/report.md");
    let rows = |heading: &str| -> Vec<&str> {
        let (_, rows) = schema.split_once(&format!("| `{heading}` |")).expect("a table");
        let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
        rows.flat_map(|row| row.split('|').nth(1).unwrap_or("").split_whitespace()).collect()
    };
    let quoted = |names: &[&str]| -> Vec<String> { names.iter().map(|name| format!("`{name}`")).collect() };
    for (heading, known) in [("note_kinds", NoteKind::VARIANTS), ("help_kinds", FixKind::VARIANTS)] {
        let (mut listed, mut known) = (rows(heading), quoted(known));
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
