//! The execution around a race in words and source lines: what the page of a report draws.

use super::context::{Context, DispatchContext};
use super::json;
use super::words;
use pellucid_memory::around::{Around, Does, Leads, Reach, Step};
use pellucid_memory::finding::{AccessInfo, AccessKind, Finding};
use pellucid_memory::scope::{Scope, StorageClasses};
use serde_json::{Value, json};

/// The member `around` of a finding's line; null where nothing was judged.
pub fn around(finding: &Finding, context: &Context<'_>) -> Value {
    let Some(around) = &finding.around else { return Value::Null };
    let steps: Vec<Value> = around.steps.iter().map(|one| step(one, finding, context)).collect();
    let arrows = around.arrows.iter().map(|arrow| {
        let leads = match arrow.leads {
            Leads::ProgramOrder => "program-order",
            Leads::SynchronizesWith => "synchronizes-with",
            Leads::ReadsFrom => "reads-from",
            Leads::WaitsFor => "waits-for",
        };
        json!({ "from": arrow.from, "to": arrow.to, "leads": leads })
    });
    let Around { available, visible, left_out, .. } = around.as_ref();
    json!({
        "steps": steps,
        "arrows": arrows.collect::<Vec<_>>(),
        "available": available.as_ref().map(reach),
        "visible": visible.as_ref().map(reach),
        "left_out": left_out,
    })
}

fn reach(reach: &Reach) -> Value {
    let Reach { domain, by, needed } = reach;
    json!({ "domain": words::scope_name(*domain), "by": by, "needed": words::scope_name(*needed) })
}

fn step(step: &Step, finding: &Finding, context: &Context<'_>) -> Value {
    let dispatch = context.dispatch(step.by.dispatch);
    let site = dispatch.and_then(|d| d.site(step.site));
    let writes = !matches!(step.does, Does::Access(AccessKind::Read));
    let (what, joined) = match step.does {
        Does::Access(_) if step.atomic => ("atomic", None),
        Does::Access(_) => ("access", None),
        Does::MemoryBarrier => ("memory-barrier", None),
        Does::ControlBarrier { instance, execution } => ("control-barrier", Some((instance, execution))),
    };
    json!({
        "what": what,
        "writes": writes && joined.is_none() && what != "memory-barrier",
        "told": told(step, finding, dispatch),
        "does": does(step),
        "location": dispatch.map(|d| d.location(step.site)),
        "source": dispatch.zip(site).and_then(|(d, s)| json::source(d, s, writes)),
        "instance": joined.map(|(instance, _)| instance),
        "execution": joined.map(|(_, execution)| words::scope_name(execution)),
        "access": step.access,
        "dispatch": step.by.dispatch,
        "workgroup": step.by.workgroup,
        "subgroup": step.by.subgroup,
        "invocation": step.by.local_index,
        "with": step.with,
    })
}

/// `(1) writes partial[5]`, `barrier`, `atomicAdd flag`.
fn told(step: &Step, finding: &Finding, dispatch: Option<&DispatchContext<'_>>) -> String {
    let Does::Access(kind) = step.does else {
        return match (dispatch, step.does) {
            (Some(dispatch), _) => words::called(step.site, dispatch).to_owned(),
            (None, Does::ControlBarrier { .. }) => "control barrier".to_owned(),
            (None, _) => "memory barrier".to_owned(),
        };
    };
    let verb = match (kind, step.atomic) {
        (AccessKind::Read, false) => "reads".to_owned(),
        (AccessKind::Write, false) => "writes".to_owned(),
        (AccessKind::Read, true) => "reads atomically".to_owned(),
        (AccessKind::Write, true) => "writes atomically".to_owned(),
        (AccessKind::ReadModifyWrite(operation), _) => format!("atomic {}:", words::operation(operation)),
    };
    let numbered = step.access.and_then(|number| finding.accesses.get(usize::from(number) - 1));
    let own = || {
        let place = dispatch?.within_variable(step.place?);
        Some(AccessInfo { kind, place, ..AccessInfo::standing(step.site, step.by) })
    };
    let own = own();
    let access = numbered.or(own.as_ref());
    let element = access.zip(dispatch).and_then(|(access, dispatch)| dispatch.element(access));
    let variable = || {
        let site = dispatch?.site(step.site)?;
        (!site.variable.is_empty()).then(|| site.variable.clone())
    };
    let what = element.or_else(variable).unwrap_or_else(|| {
        let class = words::class_name(step.class);
        if class.is_empty() { "memory".to_owned() } else { format!("{class} memory") }
    });
    let number = step.access.map(|number| format!("({number}) ")).unwrap_or_default();
    format!("{number}{verb} {what}")
}

/// What it does for the order of others' accesses, sentence by sentence.
fn does(step: &Step) -> Vec<String> {
    let semantics = &step.semantics;
    let barrier = !matches!(step.does, Does::Access(_));
    let scope = words::scope_name(step.scope);
    let mut out = Vec::new();
    let orders = match (semantics.release, semantics.acquire) {
        (true, true) => "releases and acquires",
        (true, false) => "releases",
        (false, true) => "acquires",
        (false, false) => "",
    };
    let classes = words::class_name(semantics.classes);
    match orders {
        "" if barrier => out.push("orders no memory".to_owned()),
        "" if step.atomic => out.push(format!("relaxed, {scope} scope")),
        "" => {}
        _ if semantics.classes == StorageClasses::empty() => {
            out.push(format!("{orders} no memory, {scope} scope"));
        }
        _ => out.push(format!("{orders} {classes} memory, {scope} scope")),
    }
    match (semantics.make_available, semantics.make_visible) {
        (true, true) => out.push("makes available and visible".to_owned()),
        (true, false) => out.push("makes available".to_owned()),
        (false, true) => out.push("makes visible".to_owned()),
        (false, false) if !orders.is_empty() && barrier => {
            out.push("makes nothing available or visible".to_owned());
        }
        (false, false) => {}
    }
    if !barrier && !step.atomic && step.scope != Scope::Invocation {
        if step.available {
            out.push(format!("makes itself available, {scope} scope"));
        }
        if step.visible {
            out.push(format!("makes visible to itself, {scope} scope"));
        }
    }
    out
}
