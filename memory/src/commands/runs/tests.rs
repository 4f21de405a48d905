//! Runs that are joined, against runs one by one.

use super::super::dependency::{Accesses, Stages};
use super::super::id::QueueId;
use super::super::tracker::Tracker;
use super::super::{Dependency, Footprint};
use super::*;
use crate::access::{Reference, Site};
use crate::agent::{Invocation, Numbering};
use crate::random::Random;

fn access(site: u32, by: u32, reference: u32, write: bool) -> Operand {
    let by = Invocation { dispatch: 0, workgroup: [0; 3], subgroup: 0, local_index: by };
    let (reads, writes) = (Accesses::SHADER_STORAGE_READ, Accesses::SHADER_STORAGE_WRITE);
    let none = Accesses::empty();
    let fixed = if write { Operand::fixed(none, writes) } else { Operand::fixed(reads, none) };
    Operand { shader: Some((Site(site), by)), reference: Some(Reference(reference)), ..fixed }
}

#[test]
fn interleaved_runs_of_two_instructions_are_one_run_and_keep_their_names() {
    let list: Vec<_> = (0..64)
        .map(|k| (Range::new(0x1000 + 4 * k, 4), access(1 + k as u32 % 2, k as u32, 0, true)))
        .collect();
    let runs: Runs = list.iter().copied().collect();
    let all = together(&runs);
    assert_eq!((all.len(), all[0].operand), (1, list[0].1));
    assert!(all[0].bytes.ranges().eq([Range::new(0x1000, 256)]));
    let mut shadow = Shadow::default();
    let at = (OperationId(3), QueueId(0), Stages::COMPUTE_SHADER);
    let record = Record { operation: at.0, queue: at.1, stage: at.2, number: 1, operand: list[0].1 };
    shadow.record(Range::new(0x1000, 256), record);
    let mut joined = Joined::default();
    joined.add(at.0, (&runs, &all), &shadow);
    let who = joined.who(&record, Range { start: 0x1006, end: 0x100c });
    let expected = [
        (Range { start: 0x1006, end: 0x1008 }, Record { operand: list[1].1, ..record }),
        (Range { start: 0x1008, end: 0x100c }, Record { operand: list[2].1, ..record }),
    ];
    assert_eq!(who, expected);
}

/// What is recorded together and taken apart afterwards is what is recorded apart.
#[test]
fn runs_that_were_joined_name_whom_runs_apart_name() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let write = random.below(2) == 0;
        // Of writes through several references the order matters, too.
        let references = if write { 1 } else { 2 };
        let mut list = Vec::new();
        for _ in 0..1 + random.below(2) {
            let mut part: Vec<_> = (0..random.below(30))
                .map(|by| {
                    let range = Range::new(4 * random.below::<u64>(40), 4 + 4 * random.below::<u64>(4));
                    (range, access(random.below(3), by, random.below(references), write))
                })
                .collect();
            part.sort_by_key(|(range, _)| *range);
            list.extend(part);
        }
        let record = |operand| Record {
            operation: OperationId(1),
            queue: QueueId(0),
            stage: Stages::COMPUTE_SHADER,
            number: 1,
            operand,
        };
        let (mut apart, mut whole, mut joined) = (Shadow::default(), Shadow::default(), Joined::default());
        list.iter().for_each(|(range, operand)| apart.record(*range, record(*operand)));
        let runs: Runs = list.iter().copied().collect();
        let all = together(&runs);
        all.iter().for_each(|alike| whole.record_all(&alike.bytes, record(alike.operand)));
        joined.add(OperationId(1), (&runs, &all), &whole);
        let bytes = |shadow: &Shadow, joined: &Joined| {
            let mut found = BTreeSet::new();
            shadow.for_each(Range { start: 0, end: 1000 }, |part, cell| {
                for record in cell.write.iter().chain(&cell.reads) {
                    for (part, record) in joined.who(record, part) {
                        let o = record.operand;
                        let (site, by) = o.shader.expect("a shader");
                        let who = (site, by, o.reference, o.write);
                        found.extend((part.start..part.end).map(|byte| (byte, who)));
                    }
                }
            });
            found
        };
        let (expected, got) = (bytes(&apart, &Joined::default()), bytes(&whole, &joined));
        assert_eq!(got, expected, "seed {seed}");
    }
}

/// Operations and barriers at random, given run by run and together: the same hazards by the same
/// invocations.
#[test]
fn hazards_are_told_as_if_each_run_were_recorded() {
    let (mut unordered, mut quiet) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (mut apart, mut whole) = (Tracker::default(), Tracker::default());
        for tag in 0..random.below(12) {
            let queue = QueueId(u32::from(random.below(8) == 0u8));
            let host = random.below(12);
            let bytes = Range::new(4 * random.below::<u64>(40), 4 + 4 * random.below::<u64>(40));
            let tell = |t: &mut Tracker| match host {
                0 => t.host_wrote(&[bytes], tag % 2 == 0, tag),
                1 => t.host_read(&[(bytes, false)], tag),
                2 => {
                    let known = t.signal_fence(queue);
                    t.host_wait(&known);
                    Vec::new()
                }
                _ => Vec::new(),
            };
            assert_eq!(tell(&mut apart), tell(&mut whole), "seed {seed}");
            let knowledge = (apart.host_knowledge(), whole.host_knowledge());
            apart.submit(queue, &knowledge.0);
            whole.submit(queue, &knowledge.1);
            let (memory, shader) = (Accesses::MEMORY_READ | Accesses::MEMORY_WRITE, Stages::COMPUTE_SHADER);
            let barrier = match random.below(4) {
                0 => None,
                1 => Some(Dependency::memory(shader, memory, shader, memory).on(&[bytes])),
                _ => Some(Dependency::memory(shader, memory, shader, memory)),
            };
            for d in barrier.iter() {
                assert_eq!(apart.barrier(queue, d, tag), whole.barrier(queue, d, tag));
            }
            let numbering = Numbering { workgroup: 64, groups: [1; 3], ..Numbering::default() };
            let mut footprint = Footprint::of(numbering);
            let (write, step, regular) = (random.below(2) == 0, random.below(3) + 1, random.below(2) == 0);
            for k in (0..random.below::<u32>(40)).step_by(step as usize) {
                if regular || random.below(3) > 0 {
                    let access = access(random.below(3), k, u32::from(write), write);
                    footprint.add_to(&mut None, (Range::new(4 * u64::from(k), 4), k), || access);
                }
            }
            let list = footprint.runs();
            let begin = |t: &mut Tracker| t.begin(queue, shader, tag, None);
            let (id, same) = (begin(&mut apart), begin(&mut whole));
            assert_eq!(id, same);
            let (mut hazards, mut of_host) = (Vec::new(), Vec::new());
            for (range, operand) in list.iter() {
                hazards.extend(apart.access(id, range, operand));
                of_host.extend(apart.access_after_host(id, range, operand));
            }
            *if hazards.is_empty() { &mut quiet } else { &mut unordered } += 1;
            assert_eq!(whole.accesses(id, &list), (hazards, of_host), "seed {seed}");
        }
    }
    assert!(unordered > 100 && quiet > 100, "{unordered} {quiet}");
}
