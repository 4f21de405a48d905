//! The timeline of a hazard: a lane for each queue, its submissions, command buffers and commands, the
//! barriers between the two accesses with what they cover and lack, and the semaphores.

use super::markup::{strings, text};
use super::picture::{Arrow, Kind, Picture, Step};
use super::specification;
use serde_json::Value;
use std::collections::BTreeMap;

/// The timeline, as a hazard's report has it.
pub fn of_hazard(finding: &Value) -> Option<Picture<'_>> {
    let timeline = &finding["timeline"];
    let entries = timeline["entries"].as_array().filter(|entries| entries.len() >= 2)?;
    let mut semaphores: BTreeMap<(&str, u64), &Value> = BTreeMap::new();
    for one in timeline["semaphores"].as_array().into_iter().flatten() {
        semaphores.insert((text(&one["queue"]), one["submission"].as_u64()?), one);
    }
    let host: Vec<&Value> = timeline["host"].as_array().into_iter().flatten().collect();
    // Where the host's calls are among the steps, and which step each hands in.
    let mut calls: Vec<usize> = Vec::new();
    let mut handed_in: Vec<(usize, usize)> = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut known: BTreeMap<(&str, u64), ()> = BTreeMap::new();
    // The access comes first and last: what its submission waits for is told in it.
    for entry in entries {
        let (queue, submission) = (text(&entry["queue"]), entry["submission"].as_u64().unwrap_or(0));
        let mut step = command(entry, finding);
        let hands_in = |call: &Value| {
            let mut of = call["submissions"].as_array().into_iter().flatten();
            of.any(|one| text(&one["queue"]) == queue && one["submission"] == submission)
        };
        if !known.contains_key(&(queue, submission))
            && let Some(by) = host.iter().position(|call| hands_in(call))
        {
            // What the host did until it handed in the submission.
            while calls.len() <= by {
                steps.push(host_call(host[calls.len()]));
                calls.push(steps.len() - 1);
            }
            handed_in.push((calls[by], steps.len()));
        }
        if known.insert((queue, submission), ()).is_none()
            && let Some(of) = semaphores.get(&(queue, submission))
        {
            step.does.extend(strings(of, "waits").map(|one| format!("its submission waits for {one}")));
            step.does.extend(strings(of, "signals").map(|one| format!("its submission signals {one}")));
        }
        steps.push(step);
    }
    let host_is_there = !handed_in.is_empty();
    let mut last: BTreeMap<&[String], usize> = BTreeMap::new();
    let mut arrows = Vec::new();
    for (k, step) in steps.iter().enumerate() {
        if let Some(from) = last.insert(&step.lane, k) {
            arrows.push(Arrow { from, to: k, kind: Kind::Order });
        }
    }
    let handed_in = handed_in.into_iter();
    arrows.extend(handed_in.map(|(from, to)| Arrow { from, to, kind: Kind::Order }));
    let commands = timeline["left_out"]["commands"].as_u64().filter(|n| *n > 0);
    let commands = commands.map(|n| format!("{n} more commands between them are not shown."));
    let calls = timeline["host_left_out"]["calls"].as_u64().filter(|n| *n > 0);
    let calls = calls.map(|n| format!("{n} more calls of the host are not shown."));
    let left_out: Vec<String> = commands.into_iter().chain(calls).collect();
    Some(Picture {
        title: if host_is_there { "Timeline of the host and the queues" } else { "Timeline of the queues" },
        order: "submission order",
        steps,
        arrows,
        reaches: Vec::new(),
        grouped: false,
        in_time: false,
        unmet: Vec::new(),
        left_out: (!left_out.is_empty()).then(|| left_out.join(" ")),
    })
}

/// A call of the host: what it hands in.
fn host_call(call: &Value) -> Step {
    let submissions = call["submissions"].as_array().into_iter().flatten();
    let told = |one: &Value| format!("submission {} of {}", one["submission"], text(&one["queue"]));
    let submissions: Vec<String> = submissions.map(told).collect();
    Step {
        lane: vec!["host".to_owned()],
        told: text(&call["call"]).to_owned(),
        does: submissions.into_iter().map(|one| format!("hands in {one}")).collect(),
        lacks: Vec::new(),
        place: String::new(),
        said: specification::HOST,
        class: "",
        together: None,
    }
}

fn command(entry: &Value, finding: &Value) -> Step {
    let number = entry["number"].as_u64();
    let side = number.map(|number| &finding["commands"][number as usize - 1]);
    let label = strings(entry, "labels").last().map(|label| format!(" \"{label}\"")).unwrap_or_default();
    let dispatch = entry["dispatch"].as_u64().map(|d| format!(", dispatch {d}")).unwrap_or_default();
    let name = format!("{}{label}{dispatch}", text(&entry["command"]));
    let (mut does, mut lacks) = (Vec::new(), Vec::new());
    if let Some(side) = side {
        match side["transition"].as_str() {
            Some(transition) => does.push(transition.to_owned()),
            None => does.push(format!("stage {}, access {}", text(&side["stage"]), text(&side["access"]))),
        }
        does.extend(finding["bytes"].as_str().map(str::to_owned));
    }
    let barrier = &entry["barrier"];
    if barrier.is_object() {
        let half =
            |stage: &str, access: &str| format!("{}, {}", text(&barrier[stage]), text(&barrier[access]));
        does.push(format!("from {}", half("source", "available")));
        does.push(format!("to {}", half("destination", "visible")));
        match text(&barrier["memory"]) {
            "this memory" => does.push("covers this memory".to_owned()),
            "other memory" => lacks.push("covers other memory".to_owned()),
            _ => lacks.push("covers no memory: execution alone".to_owned()),
        }
        lacks.extend(strings(barrier, "lacks").map(|bits| format!("lacks {bits}")));
    }
    let buffer = match entry["command_buffer"].as_u64() {
        Some(buffer) if buffer > 0 => format!(", command buffer {buffer}"),
        _ => String::new(),
    };
    let location = side.and_then(|side| side["location"].as_str()).map(|at| format!("{at}, "));
    Step {
        lane: vec![text(&entry["queue"]).to_owned()],
        told: number.map_or(name.clone(), |number| format!("({number}) {name}")),
        does,
        lacks,
        place: format!(
            "{}submission {}{buffer}, command {}",
            location.unwrap_or_default(),
            entry["submission"],
            entry["index"]
        ),
        said: if barrier.is_object() { specification::PIPELINE_BARRIER } else { specification::DEPENDENCIES },
        class: match number {
            Some(1) => "first",
            Some(_) => "last",
            None if barrier.is_object() => "barrier",
            None => "",
        },
        together: None,
    }
}
