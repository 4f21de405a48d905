//! Hazards between commands.

use super::*;

fn hazard_report<'a>(
    hazard: &'a pellucid_memory::commands::Hazard,
    dispatch: DispatchContext<'a>,
    aliases: Vec<Object>,
) -> HazardReport<'a> {
    let side = |command, dispatch| Side {
        command,
        position: "command 1 of submission 1 on queue 0".into(),
        labels: &[],
        dispatch,
        transition: None,
    };
    let place = Some((object("buffer", "a"), 0x1000));
    let (first, second) = (side("vkCmdCopyBuffer", None), side("vkCmdDispatch", Some(dispatch)));
    let (semaphore, timeline) = ("done".into(), timeline::Timeline::default());
    HazardReport {
        hazard,
        device: 0,
        first,
        second,
        barrier: None,
        fix_place: None,
        semaphore,
        place,
        aliases,
        timeline,
    }
}

fn object(what: &str, name: &str) -> Object {
    Object {
        reference: Reference(0),
        what: what.into(),
        handle: 1,
        object_type: 9,
        name: name.into(),
        address: 0,
        texels: None,
    }
}

#[test]
fn a_hazard_names_aliases_and_where_its_shader_accesses_the_memory() {
    use pellucid_memory::commands::{
        Accesses, Fix, Hazard, Operand, OperationId, QueueId, Range, SemaphoreGap, Stages,
    };
    let by = Invocation { dispatch: 3, workgroup: [0; 3], subgroup: 0, local_index: 0 };
    let second = Operand::fixed(Accesses::SHADER_STORAGE_READ, Accesses::empty());
    let hazard = Hazard {
        id: FindingId::HazardReadRacingWrite,
        first: OperationId(0),
        first_operand: Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE),
        first_at: (QueueId(0), Stages::COPY),
        second: OperationId(1),
        second_operand: Operand { shader: Some((Site(3), by)), ..second },
        second_at: (QueueId(1), Stages::COMPUTE_SHADER),
        bytes: vec![Range { start: 0x1000, end: 0x1010 }],
        executed: false,
        fix: Fix::ExtendSemaphore(SemaphoreGap {
            semaphore: 1,
            waits: QueueId(1),
            signals: QueueId(0),
            value: Some((4, 5)),
            wait_stages: Stages::COMPUTE_SHADER,
            signal_stages: Stages::COPY,
        }),
        barriers: Vec::new(),
    };
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatch = dispatch(&shader, &[], &[]);
    let report = hazard_report(&hazard, dispatch, vec![object("image", ""), object("buffer", "b")]);
    let notes = report.notes();
    assert_eq!(
        notes[2].text,
        "both on bytes 0..16 of buffer \"a\", the same memory as image 0x1 and buffer \"b\""
    );
    assert_eq!(report.help().kind, FixKind::Semaphore);
    assert_eq!(
        report.help().text,
        "in the submission on queue 1: wait for value 5 of semaphore \"done\" in place of 4, and add COMPUTE_SHADER to \
         the stages that wait for semaphore \"done\", and add COPY to the stages after which queue 0 signals \
         semaphore \"done\""
    );
    let line = report.json(1, 0, "replay", "");
    let source = &line["commands"][1]["source"];
    assert_eq!((&source["file"], &source["line"]), (&"shaders/reduce.comp".into(), &12.into()));
    assert!(line["commands"][0]["source"].is_null());
    assert_eq!(line["memory"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        hazard_report(&hazard, dispatch, Vec::new()).notes()[2].text,
        "both on bytes 0..16 of buffer \"a\""
    );
}

#[test]
fn hazards_between_the_same_two_commands_that_one_barrier_mends_are_one_group() {
    use pellucid_memory::commands::{Accesses, Fix, Hazard, Operand, OperationId, QueueId, Range, Stages};
    let written = Operand::fixed(Accesses::empty(), Accesses::TRANSFER_WRITE);
    let read = Operand::fixed(Accesses::SHADER_STORAGE_READ, Accesses::empty());
    let by = Invocation { dispatch: 3, workgroup: [0; 3], subgroup: 0, local_index: 0 };
    let hazard = |id, site| Hazard {
        id,
        first: OperationId(0),
        first_operand: written,
        first_at: (QueueId(0), Stages::COPY),
        second: OperationId(1),
        second_operand: Operand { shader: Some((Site(site), by)), ..read },
        second_at: (QueueId(0), Stages::COMPUTE_SHADER),
        bytes: vec![Range { start: 0x1000, end: 0x1010 }],
        executed: false,
        fix: Fix::Insert {
            source: Stages::COPY,
            available: Accesses::TRANSFER_WRITE,
            destination: Stages::COMPUTE_SHADER,
            visible: Accesses::SHADER_STORAGE_READ,
        },
        barriers: Vec::new(),
    };
    let shader = shader(SourceLanguage::Glsl, Some(SOURCE), true);
    let dispatch = dispatch(&shader, &[], &[]);
    let at = |index| CommandPlace { device: 0, queue: 0, submission: 1, index };
    let [here, elsewhere] = [(1, 2), (3, 4)].map(|(a, b)| Some(FixPlace::Between(at(a), at(b))));
    let told = [
        (FindingId::HazardReadAfterWrite, 3, here, Some(1)),
        (FindingId::HazardWriteAfterWrite, 1, here, Some(1)),
        (FindingId::HazardWriteAfterRead, 1, elsewhere, Some(3)),
        (FindingId::HazardWriteAfterRead, 3, None, None),
    ];
    let directory = tempfile::tempdir().unwrap();
    let config = Config { report: Some(directory.path().join("r.json")), ..Config::default() };
    let session = Session::new(&config, Some(String::new()));
    session.open().unwrap();
    for (id, site, fix_place, _) in told {
        let hazard = hazard(id, site);
        let report = HazardReport { fix_place, ..hazard_report(&hazard, dispatch, Vec::new()) };
        session.api(&report).message.unwrap();
    }
    let lines = std::fs::read_to_string(directory.path().join("r.json")).unwrap();
    let groups: Vec<Option<u64>> = lines
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["group"].as_u64())
        .collect();
    assert_eq!(groups, told.map(|(.., group)| group));
    let second = hazard(told[1].0, told[1].1);
    expect![[r#"
        error[hazard-write-after-write]: a command writes what an earlier command wrote, and no dependency orders them
         --> reduce.comp:6:5
          |
        6 |     partial[gl_LocalInvocationIndex] = sum;
          |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ (2) read by invocation 0 of workgroup (0,0,0), dispatch 3
          |
          = note: (1) vkCmdCopyBuffer (command 1 of submission 1 on queue 0): stage COPY, access TRANSFER_WRITE
          = note: (2) vkCmdDispatch, dispatch 3 (command 1 of submission 1 on queue 0): stage COMPUTE_SHADER, access SHADER_STORAGE_READ
          = note: both on bytes 0..16 of buffer "a"
          = help: the same fix as above: insert a barrier between them: srcStageMask COPY, srcAccessMask TRANSFER_WRITE, dstStageMask COMPUTE_SHADER, dstAccessMask SHADER_STORAGE_READ
    "#]].assert_eq(&hazard_report(&second, dispatch, Vec::new()).render_short());
}
