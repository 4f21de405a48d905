//! What was executed between the two commands of a hazard: queues, submissions, command buffers, commands,
//! barriers with what they cover and lack, and semaphores. The page of a report draws it.

use super::hazard::{Side, accesses, gap_words, stages};
use pellucid_memory::commands::Between;
use serde_json::{Value, json};

/// A row of the timeline: a command, and where it was executed.
#[derive(Clone, Debug)]
pub struct CommandEntry<'a> {
    /// What names it.
    pub side: Side<'a>,
    /// Its queue: debug name, or "queue 0".
    pub queue: &'a str,
    /// Submission on the queue, from 1.
    pub submission: u64,
    /// Command buffer in the submission, from 1; 0 where it stands in none.
    pub buffer: u32,
    /// Command in the submission, from 1.
    pub index: u32,
    /// Which command of the hazard it is: 1 or 2.
    pub number: Option<u8>,
    /// What it orders, if it is a barrier that the hazard tells of.
    pub barrier: Option<&'a Between>,
}

/// Semaphores of a submission.
#[derive(Clone, Debug)]
pub struct Semaphores {
    /// As entries name it.
    pub queue: String,
    /// Submission on the queue, from 1.
    pub submission: u64,
    /// In words: `semaphore "done" for value 3, in stages COMPUTE_SHADER`.
    pub waits: Vec<String>,
    /// Likewise.
    pub signals: Vec<String>,
}

/// A call of the host.
#[derive(Clone, Debug)]
pub struct HostEntry<'a> {
    /// The entry point.
    pub call: &'static str,
    /// The submissions that it handed in: queue, as entries name it, and submission on the queue, from 1.
    pub handed_in: Vec<(&'a str, u64)>,
}

/// The commands from one access to the other, in the order in which they were executed.
#[derive(Clone, Debug, Default)]
pub struct Timeline<'a> {
    /// The first and the last ones.
    pub entries: Vec<CommandEntry<'a>>,
    /// Commands between the two that are not told, behind how many entries.
    pub left_out: (usize, usize),
    /// Of submissions that the entries are of, where they have any.
    pub semaphores: Vec<Semaphores>,
    /// The calls of the host that handed in these submissions, and those between, in their order.
    pub host: Vec<HostEntry<'a>>,
    /// Calls between them that are not told, behind how many.
    pub host_left_out: (usize, usize),
}

impl Timeline<'_> {
    /// The member `timeline` of a finding's line.
    pub fn json(&self) -> Value {
        let entries = self.entries.iter().map(|entry| {
            json!({
                "queue": entry.queue,
                "submission": entry.submission,
                "command_buffer": entry.buffer,
                "index": entry.index,
                "command": entry.side.command,
                "labels": entry.side.labels,
                "dispatch": entry.side.dispatch.as_ref().map(|d| d.number),
                "number": entry.number,
                "barrier": entry.barrier.map(barrier),
            })
        });
        let semaphores = self.semaphores.iter().map(|of| {
            json!({ "queue": of.queue, "submission": of.submission, "waits": of.waits, "signals": of.signals })
        });
        let host = self.host.iter().map(|one| {
            let submissions = one.handed_in.iter();
            let submissions = submissions.map(|(queue, n)| json!({ "queue": queue, "submission": n }));
            json!({ "call": one.call, "submissions": submissions.collect::<Vec<_>>() })
        });
        let (behind, left_out) = self.left_out;
        let (host_behind, host_left_out) = self.host_left_out;
        json!({
            "entries": entries.collect::<Vec<_>>(),
            "left_out": { "behind": behind, "commands": left_out },
            "semaphores": semaphores.collect::<Vec<_>>(),
            "host": host.collect::<Vec<_>>(),
            "host_left_out": { "behind": host_behind, "calls": host_left_out },
        })
    }
}

fn barrier(barrier: &Between) -> Value {
    let lacks = barrier.lacks.as_ref().map(|gap| {
        let mut lacks = gap_words(gap);
        if gap.range {
            lacks.push("these bytes in its range".to_owned());
        }
        lacks
    });
    json!({
        "source": stages(barrier.source),
        "available": accesses(barrier.available),
        "destination": stages(barrier.destination),
        "visible": accesses(barrier.visible),
        "memory": match barrier.covers {
            None => "no memory",
            Some(false) => "other memory",
            Some(true) => "this memory",
        },
        "lacks": lacks,
    })
}
