//! The picture of a livelock: the last turns of those that make no progress, in the order in which they were
//! taken, and who waits for whom.

use super::picture::{self, Kind, Picture};
use serde_json::Value;
use std::collections::BTreeMap;

/// The last turns, as a livelock's report has them.
pub fn of_livelock(finding: &Value) -> Option<Picture<'_>> {
    let mut picture = picture::of_around(finding)?;
    let told = finding["around"]["steps"].as_array().into_iter().flatten();
    for (step, told) in picture.steps.iter_mut().zip(told) {
        let with = told["with"].as_u64().unwrap_or(0);
        if with > 0 {
            let many = if with == 1 { "invocation" } else { "invocations" };
            step.does.insert(0, format!("with {with} more {many} of its subgroup"));
        }
        // Arrivals are told one by one.
        step.together = None;
        if step.class == "barrier" {
            step.told = format!("arrives at {}", step.told);
        }
    }
    let waits = |to: &picture::Arrow| to.kind == Kind::Waits;
    let names = |k: usize| picture.steps[k].lane[1..].join(", ");
    let waiting: Vec<(usize, String)> = picture
        .arrows
        .iter()
        .filter(|arrow| waits(arrow))
        .map(|arrow| (arrow.from, names(arrow.to)))
        .collect();
    for (from, whom) in waiting {
        picture.steps[from].lacks.push(format!("waits for {whom}"));
    }
    // Where none of those that wait would have to do it, nobody does.
    let all_told = finding["around"]["left_out"].as_u64() == Some(0);
    let lanes = picture.steps.iter().map(|step| step.lane.as_slice());
    let last: BTreeMap<&[String], usize> = lanes.zip(0..).collect();
    let meets = |k: &usize| {
        let of_lane = |from: usize| picture.steps[from].lane == picture.steps[*k].lane;
        picture.arrows.iter().any(|arrow| waits(arrow) && of_lane(arrow.from))
    };
    let accesses = |k: &usize| picture.steps[*k].class != "barrier";
    let mut unmet: Vec<usize> = last.into_values().filter(|k| all_told && !meets(k) && accesses(k)).collect();
    unmet.sort_unstable();
    for k in &unmet {
        picture.steps[*k].lacks.push("waits for a change that nobody makes".to_owned());
    }
    picture.unmet = unmet;
    picture.steps.last_mut()?.class = "last";
    picture.title = "The last turns, in the order in which they were taken";
    picture.in_time = true;
    let left_out = finding["around"]["left_out"].as_u64().filter(|n| *n > 0);
    picture.left_out = left_out.map(|n| format!("{n} more turns, of other subgroups, are not shown."));
    Some(picture)
}
