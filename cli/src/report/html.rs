//! A page that needs nothing else: no network, and no script to be read. Light and dark, on a phone as on a
//! desk: what has text is laid out by the browser, so that it is inside its box at every width.

use super::Report;
use super::last_turns;
use super::markup::{escape, hover, strings, text};
use super::picture::{self, Arrow, Kind, Picture, Step};
use super::specification::{self, Said};
use super::timeline;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use vulkan_pellucid::report::context::base_name;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The source lines that a diagnostic shows, by the base name of their file and number.
fn sources(rendered: &str) -> BTreeMap<(String, u64), String> {
    let mut lines = BTreeMap::new();
    let mut file = String::new();
    for line in rendered.lines() {
        let start = line.trim_start();
        if let Some(at) = start.strip_prefix("--> ").or_else(|| start.strip_prefix("::: ")) {
            file = base_name(at.split(':').next().unwrap_or_default()).to_owned();
        } else if let Some((number, code)) = start.split_once(" |")
            && let Ok(number) = number.parse()
        {
            lines.insert((file.clone(), number), code.strip_prefix(' ').unwrap_or(code).to_owned());
        }
    }
    lines
}

/// What the lane of the host is called.
const HOST: &str = "host";

/// One of the two (or more) things that a finding is about: an access, a command, the host.
struct Event {
    /// Its agent, from the whole to the part: where lanes have a part in common, it is told once.
    lane: Vec<String>,
    told: String,
    place: String,
    said: Said,
    source: Option<(String, u64)>,
}

fn events(finding: &Value) -> Vec<Event> {
    let source = |value: &Value| {
        let source = &value["source"];
        Some((source["file"].as_str()?.to_owned(), source["line"].as_u64()?))
    };
    let list = |key: &str| finding[key].as_array().into_iter().flatten();
    let accesses = list("accesses").map(|access| {
        let [x, y, z] = std::array::from_fn(|k| access["workgroup"][k].as_u64().unwrap_or(0));
        let lane = vec![
            format!("dispatch {}", access["dispatch"]),
            format!("workgroup ({x},{y},{z})"),
            format!("subgroup {}", access["subgroup"]),
            format!("invocation {}", access["invocation"]),
        ];
        let place = access["element"].as_str().or(access["place"].as_str());
        let place = place.unwrap_or_default().to_owned();
        let said =
            specification::of_access(text(&access["kind"]) != "read", !access["atomic_scope"].is_null());
        Event { lane, told: text(&access["label"]).to_owned(), place, said, source: source(access) }
    });
    let host = finding.get("host").map(|host| Event {
        lane: vec![HOST.to_owned()],
        told: format!("{} by the host after {}", text(&host["access"]), text(&host["after"])),
        place: String::new(),
        said: specification::DEPENDENCIES,
        source: None,
    });
    let commands = list("commands").map(|command| Event {
        lane: vec![text(&command["position"]).to_owned()],
        told: format!(
            "{}: {} {}",
            text(&command["command"]),
            text(&command["stage"]),
            text(&command["access"])
        ),
        place: text(&command["location"]).to_owned(),
        said: specification::DEPENDENCIES,
        source: source(command),
    });
    let mut events: Vec<Event> = accesses.chain(commands).chain(host).collect();
    if text(&finding["id"]) == "host-not-flushed" {
        // The host wrote before the device read.
        events.reverse();
    }
    events
}

/// The lines around an event, its own marked.
fn pane(event: &Event, sources: &BTreeMap<(String, u64), String>) -> Option<String> {
    let (file, here) = event.source.as_ref()?;
    let name = base_name(file).to_owned();
    let near = sources.range((name.clone(), here.saturating_sub(6))..=(name, here + 6));
    let lines: String = near
        .map(|((_, number), code)| {
            let mark = if number == here { " class=\"here\"" } else { "" };
            format!("<li{mark} data-n=\"{number}\">{}</li>", escape(code))
        })
        .collect();
    (!lines.is_empty()).then(|| {
        format!(
            "<figure class=\"pane\"><figcaption>{}:{here}: {}</figcaption><ol>{lines}</ol></figure>\n",
            escape(file),
            escape(&event.told)
        )
    })
}

/// The execution around a finding, as far as its report has it.
fn picture(finding: &Value, events: &[Event]) -> String {
    let known = match text(&finding["id"]) {
        "livelock" => last_turns::of_livelock(finding),
        _ => picture::of_around(finding).or_else(|| timeline::of_hazard(finding)),
    };
    let picture = known.unwrap_or_else(|| {
        let last = events.len().saturating_sub(1);
        let step = |(k, event): (usize, &Event)| Step {
            lane: event.lane.clone(),
            told: event.told.clone(),
            does: Vec::new(),
            lacks: Vec::new(),
            place: event.place.clone(),
            said: event.said,
            class: if k == last { "last" } else { "first" },
            together: None,
        };
        let mut steps: Vec<Step> = events.iter().enumerate().map(step).collect();
        let after = finding["host"]["after"].as_str().filter(|after| !after.is_empty());
        let arrows = after.and_then(|after| before_access(&mut steps, after));
        Picture {
            title: "Picture",
            order: "program order",
            steps,
            arrows: arrows.into_iter().collect(),
            reaches: Vec::new(),
            grouped: false,
            in_time: false,
            unmet: Vec::new(),
            left_out: None,
        }
    });
    picture.render(finding)
}

/// Puts the host's call before its access, which is one of these steps.
fn before_access(steps: &mut Vec<Step>, call: &str) -> Option<Arrow> {
    let access = steps.iter().position(|step| step.lane == [HOST])?;
    let step = Step {
        lane: vec![HOST.to_owned()],
        told: call.to_owned(),
        does: Vec::new(),
        lacks: Vec::new(),
        place: String::new(),
        said: specification::HOST,
        class: "",
        together: None,
    };
    steps.insert(access, step);
    Some(Arrow { from: access, to: access + 1, kind: Kind::Order })
}

/// What the caches of the machine held when an access read: a box for each, above what all of them share.
fn caches(access: &Value, number: usize) -> String {
    let Some(copies) = access["caches"]["copies"].as_array() else { return String::new() };
    let newest = &access["values"]["newest"];
    let hover = hover(specification::CACHES);
    let unit = access["caches"]["unit"].as_u64().unwrap_or_default();
    let mut out =
        format!("<h3>Caches when ({number}) read, on compute unit {unit}</h3>\n<div class=\"caches\">\n");
    let mut held = |place: &str, value: &Value, class: &str, mark: &str| {
        let old = if value == newest { "" } else { " last" };
        out.push_str(&format!(
            "<div class=\"event{old}{class}\"{hover}><span class=\"dim\">{}</span><br>{}{mark}</div>\n",
            escape(place),
            escape(text(value))
        ));
    };
    for copy in copies {
        let dirty = if copy["written_back"] == false { ", not written back" } else { "" };
        held(text(&copy["cache"]), &copy["value"], "", dirty);
    }
    held("point of coherency", &access["caches"]["coherent"], " shared", "");
    out + "</div>\n<p class=\"legend\"><span>blue: the newest value</span>\
           <span class=\"old\">red: another one</span></p>\n"
}

/// What the host's cache of the machine held of bytes that the host and the device accessed, beside memory.
fn host_cache(finding: &Value) -> String {
    let cache = &finding["cache"];
    let (Some(memory), hover) = (cache["memory"].as_str(), hover(specification::CACHES)) else {
        return String::new();
    };
    let place = |name: &str, bytes: &str, class: &str, mark: &str| {
        let (name, bytes) = (escape(name), escape(bytes));
        format!(
            "<div class=\"event{class}\"{hover}><span class=\"dim\">{name}</span><br>{bytes}{mark}</div>\n"
        )
    };
    let held = match (cache["held"].as_str(), cache["written_back"] == false) {
        (Some(held), true) => place("host's cache", held, " last", ", not written back"),
        (Some(held), false) => place("host's cache", held, " last", ", as it was before"),
        (None, _) => place("host's cache", "nothing else", "", ""),
    };
    format!(
        "<h3>The host's cache, bytes {}..{} of the memory</h3>\n<div class=\"caches\">\n{held}{}</div>\n",
        cache["bytes"][0],
        cache["bytes"][1],
        place("memory", memory, " shared", "")
    )
}

/// Who waits in a livelock, and for what: a box for each.
fn waiting(finding: &Value) -> String {
    let hover = hover(specification::PROGRESS);
    let waits = finding["waits"].as_array().into_iter().flatten();
    let boxes: String = waits
        .map(|wait| {
            format!(
                "<div class=\"event last\"{hover}><span class=\"dim\">{}</span><br>{}</div>\n",
                escape(text(&wait["who"])),
                escape(text(&wait["does"]))
            )
        })
        .collect();
    if boxes.is_empty() {
        return String::new();
    }
    format!("<h3>Who waits for ever</h3>\n<div class=\"picture waits\">\n{boxes}</div>\n")
}

fn article(finding: &Value, shader: &str) -> String {
    let field = |key: &str| escape(text(&finding[key]));
    let mut out = format!(
        "<article data-kind=\"{}\" data-shader=\"{}\">\n<h2>{}. <span class=\"id\">{}</span>: {}</h2>\n",
        field("id"),
        escape(shader),
        finding["number"],
        field("id"),
        field("title")
    );
    let events = events(finding);
    let sources = sources(text(&finding["text"]));
    let panes: String = events.iter().filter_map(|event| pane(event, &sources)).collect();
    out.push_str(&format!("<div class=\"panes\">\n{panes}</div>\n"));
    out.push_str(&picture(finding, &events));
    for (access, number) in finding["accesses"].as_array().into_iter().flatten().zip(1..) {
        out.push_str(&caches(access, number));
    }
    out.push_str(&host_cache(finding));
    if text(&finding["id"]) == "livelock" {
        out.push_str(&waiting(finding));
    }
    let helps = if events.len() < 2 { strings(finding, "help").collect() } else { Vec::new() };
    for help in helps {
        out.push_str(&format!("<p>Fix: {}</p>\n", escape(help)));
    }
    if let Some((said, section)) = specification::of_finding(text(&finding["id"])) {
        out.push_str(&format!(
            "<details><summary>What the specification says</summary><p>{said}</p><p class=\"dim\">{section}</p></details>\n"
        ));
    }
    out.push_str(&format!(
        "<details><summary>All of it, as text</summary><pre>{}</pre></details>\n<p class=\"dim\">Replay: <code>{}</code></p>\n</article>\n",
        field("text"),
        field("replay")
    ));
    out
}

/// Lines of an exploration that a page shows.
const MOST_LINES: usize = 1000;

/// What was explored of a dispatch: whether it is complete, what bounds it, its outcomes.
fn explored(line: &Value) -> String {
    let (title, rest) = text(&line["text"]).split_once('\n').unwrap_or_default();
    let facts = rest.lines().filter_map(|line| line.strip_prefix("   = "));
    let facts: String = facts.map(|fact| format!("<p>{}</p>\n", escape(fact))).collect();
    let shown: String = rest.lines().take(MOST_LINES).map(|line| format!("{}\n", escape(line))).collect();
    let more = match rest.lines().count().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!("<p class=\"dim\">{more} more lines: the JSON of --report has them all</p>\n"),
    };
    format!(
        "<article><h2>{}</h2>\n{facts}<details><summary>Outcomes, and how to see each again</summary><pre>{shown}</pre>\n{more}</details>\n</article>\n",
        escape(title)
    )
}

/// The shader of a finding, by which findings are chosen.
fn shader(finding: &Value) -> String {
    let files = events(finding).into_iter().find_map(|event| event.source).map(|(file, _)| file);
    files.unwrap_or_else(|| text(&finding["shader"]["entry"]).to_owned())
}

fn options<'a>(name: &str, of: impl Iterator<Item = &'a str>) -> String {
    let choices: String = of.map(|one| format!("<option>{}</option>", escape(one))).collect();
    format!("<option value=\"\">{name}</option>{choices}")
}

/// The page.
pub fn render(report: &Report) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Pellucid report</title><style>\n{STYLE}</style></head><body>\n<h1>Pellucid report</h1>\n"
    );
    for total in report.of_type("total") {
        page.push_str(&format!("<p>{}</p>\n", escape(&super::total(total))));
    }
    let findings: Vec<(&Value, String)> = report.of_type("finding").map(|f| (f, shader(f))).collect();
    let kinds: BTreeSet<&str> = findings.iter().map(|(finding, _)| text(&finding["id"])).collect();
    let shaders: BTreeSet<&str> =
        findings.iter().map(|(_, shader)| shader.as_str()).filter(|s| !s.is_empty()).collect();
    page.push_str(&format!(
        "<div id=\"filter\"><input id=\"words\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\"><select id=\"kind\" aria-label=\"Kind\">{}</select><select id=\"shader\" aria-label=\"Shader\">{}</select><span id=\"shown\" class=\"dim\"></span></div>\n",
        options("all kinds", kinds.iter().copied()),
        options("all shaders", shaders.into_iter())
    ));
    for (finding, shader) in &findings {
        page.push_str(&article(finding, shader));
    }
    for line in report.of_type("explored") {
        page.push_str(&explored(line));
    }
    for other in report.of_type("trap").chain(report.of_type("not-implemented")) {
        // What a finding tells is not told again.
        if !other["finding"].as_str().is_some_and(|id| kinds.contains(id)) {
            page.push_str(&format!("<article><h2>{}</h2></article>\n", escape(text(&other["message"]))));
        }
    }
    page.push_str(&format!(
        "<div id=\"said\" role=\"status\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body></html>\n"
    ));
    page
}
