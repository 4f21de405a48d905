//! The picture of a finding: a lane for each agent, downwards in the order of the execution, what leads from
//! one step to another, how far availability and visibility reached, what is missing, and the fix.
//!
//! Boxes and their order are laid out by the browser, so that text is inside its box at every width; the
//! script of the page draws the arrows between them.

use super::markup::{escape, hover, lines, strings, text};
use super::specification::{self, Said};
use serde_json::Value;
use std::collections::BTreeMap;
use vulkan_pellucid::report::note::{FixKind, NoteKind};

/// One box.
pub struct Step {
    /// Its agent, from the whole to the part: where lanes have a part in common, it is told once.
    pub lane: Vec<String>,
    /// What happens.
    pub told: String,
    /// What it does besides, line by line.
    pub does: Vec<String>,
    /// What it lacks, line by line.
    pub lacks: Vec<String>,
    /// Where, in small print.
    pub place: String,
    pub said: Said,
    /// How it looks: a class of the page's style.
    pub class: &'static str,
    /// Steps of one number happen together.
    pub together: Option<u64>,
}

/// From one step to another, by their index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
}

/// Why there is an arrow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The order within a lane.
    Order,
    /// Synchronizes-with, or reads-from.
    Synchronizes,
    /// Of a livelock: the agent goes on only if that of the second step does something.
    Waits,
}

/// How far something reached.
pub struct Reach<'a> {
    /// What: `(1) is available to`.
    pub what: &'static str,
    /// As a report names it: `workgroup`.
    pub domain: &'a str,
    pub needed: &'a str,
    /// The step that reached there.
    pub by: Option<usize>,
    pub said: Said,
}

/// All that is drawn of a finding. The earlier access is of the class `first`, the later one the last step.
pub struct Picture<'a> {
    pub title: &'static str,
    /// What the order of the steps of one lane is called.
    pub order: &'static str,
    pub steps: Vec<Step>,
    pub arrows: Vec<Arrow>,
    pub reaches: Vec<Reach<'a>>,
    /// Steps that wait for what nobody does: from them it leads to what is missing.
    pub unmet: Vec<usize>,
    /// Lanes stand below the groups that their agents are in, such as workgroups and subgroups.
    pub grouped: bool,
    /// Its steps happened one after the other: each has a row of its own, and nothing leads to the last one.
    pub in_time: bool,
    /// What is not shown, in words.
    pub left_out: Option<String>,
}

/// A box of the picture.
struct Drawn {
    /// The steps that it stands for, by their index.
    steps: Vec<usize>,
    columns: (usize, usize),
}

impl Drawn {
    /// Whether an arrow is within the box.
    fn holds(&self, arrow: &Arrow) -> bool {
        self.steps.contains(&arrow.from) && self.steps.contains(&arrow.to)
    }
}

/// The domains that availability and visibility reach one after the other.
const DOMAINS: [&str; 6] = ["invocation", "subgroup", "workgroup", "queue family", "device", "host"];

impl Picture<'_> {
    fn lanes(&self) -> Vec<&[String]> {
        let mut lanes: Vec<&[String]> = Vec::new();
        let last = self.steps.last().map(|step| step.lane.as_slice());
        let others = || self.steps.iter().filter(|step| Some(step.lane.as_slice()) != last);
        let first = self.steps.get(self.first()).into_iter();
        for lane in first.chain(others()).map(|step| step.lane.as_slice()).chain(last) {
            if !lanes.contains(&lane) {
                lanes.push(lane);
            }
        }
        if self.grouped {
            // Those of one group side by side, the groups in the order of their first lanes.
            let known = lanes.clone();
            let place = |part: &[String]| known.iter().position(|lane| lane.starts_with(part));
            lanes.sort_by_cached_key(|lane| (1..=lane.len()).map(|n| place(&lane[..n])).collect::<Vec<_>>());
        }
        lanes
    }

    /// What one box stands for: a step, or those of a barrier in lanes that stand side by side. Each has the
    /// columns of its first and last step, from 1.
    fn boxes(&self, lanes: &[&[String]]) -> Vec<Drawn> {
        let column =
            |k: usize| 1 + lanes.iter().position(|lane| *lane == self.steps[k].lane.as_slice()).unwrap_or(0);
        let mut boxes: Vec<Drawn> = Vec::new();
        let mut joined: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
        for (k, step) in self.steps.iter().enumerate() {
            match step.together {
                Some(instance) => joined.entry(instance).or_default().push((column(k), k)),
                None => boxes.push(Drawn { steps: vec![k], columns: (column(k), column(k)) }),
            }
        }
        for mut members in joined.into_values() {
            members.sort_unstable();
            for (column, k) in members {
                match boxes.last_mut() {
                    Some(last)
                        if self.steps[last.steps[0]].together == self.steps[k].together
                            && last.columns.1 + 1 == column =>
                    {
                        last.steps.push(k);
                        last.columns.1 = column;
                    }
                    _ => boxes.push(Drawn { steps: vec![k], columns: (column, column) }),
                }
            }
        }
        boxes
    }

    /// The row of names above the lanes: the part `k` of each, once for those that have it in common.
    fn names(&self, lanes: &[&[String]], k: usize, row: usize) -> String {
        let mut out = String::new();
        let mut at = 0;
        while at < lanes.len() {
            let group = lanes[at].get(..=k);
            let count = lanes[at..].iter().take_while(|lane| lane.get(..=k) == group).count();
            if let Some(name) = group.and_then(|parts| parts.last()) {
                out.push_str(&format!(
                    "<div class=\"group\"{} style=\"grid-column:{}/span {count};grid-row:{row}\">{}</div>\n",
                    hover(specification::AGENT),
                    at + 1,
                    escape(name)
                ));
            }
            at += count;
        }
        out
    }

    /// The step of the earlier access.
    fn first(&self) -> usize {
        self.steps.iter().position(|step| step.class == "first").unwrap_or(0)
    }

    /// Steps in rows: below the one before in the lane and below what leads to it; what happens together in
    /// one row.
    fn rows(&self) -> Vec<usize> {
        if self.in_time {
            return (0..self.steps.len()).collect();
        }
        let mut rows = vec![0; self.steps.len()];
        let mut last: BTreeMap<&[String], usize> = BTreeMap::new();
        let mut below: Vec<(usize, usize)> = Vec::new();
        for (k, step) in self.steps.iter().enumerate() {
            below.extend(last.insert(&step.lane, k).map(|before| (before, k)));
        }
        let together = |a: usize, b: usize| {
            self.steps[a].together.is_some() && self.steps[a].together == self.steps[b].together
        };
        let leads =
            self.arrows.iter().filter(|arrow| arrow.from < arrow.to && !together(arrow.from, arrow.to));
        below.extend(leads.map(|arrow| (arrow.from, arrow.to)));
        // As many rounds as there are steps are enough where nothing leads back.
        for _ in 0..self.steps.len() {
            let before = rows.clone();
            for &(from, to) in &below {
                rows[to] = rows[to].max(rows[from] + 1);
            }
            for a in 0..self.steps.len() {
                for b in 0..self.steps.len() {
                    if together(a, b) {
                        rows[a] = rows[a].max(rows[b]);
                    }
                }
            }
            if rows == before {
                break;
            }
        }
        rows
    }

    /// The arrows for the page's script: `0>3:sw`.
    fn drawn(&self, boxes: &[Drawn], fix: bool) -> String {
        let between = |arrow: &&Arrow| !boxes.iter().any(|one| one.holds(arrow));
        let back = |arrow: &Arrow| Arrow { from: arrow.to, to: arrow.from, ..*arrow };
        let mut words: Vec<String> = Vec::new();
        // What is within one box is told there.
        for arrow in self.arrows.iter().filter(between) {
            let both = arrow.kind == Kind::Synchronizes && self.arrows.contains(&back(arrow));
            if both && arrow.from > arrow.to {
                continue;
            }
            let kind = match (arrow.kind, both) {
                (Kind::Order, _) => "po",
                (Kind::Waits, _) => "wait",
                (Kind::Synchronizes, false) => "sw",
                (Kind::Synchronizes, true) => "both",
            };
            words.push(format!("{}>{}:{kind}", arrow.from, arrow.to));
        }
        words.extend(self.unmet.iter().map(|step| format!("{step}>lacks:wait")));
        let (first, last) = (self.first(), self.steps.len() - 1);
        for (kind, is) in [("lacks", true), ("fix", fix)] {
            if is && !self.in_time {
                words.push(format!("{first}>{kind}:{kind}"));
                words.push(format!("{kind}>{last}:{kind}"));
            }
        }
        words.join(" ")
    }

    /// The picture of `finding`; nothing where there is only one step, but for what is told in time.
    pub fn render(&self, finding: &Value) -> String {
        if self.steps.is_empty() || (self.steps.len() < 2 && !self.in_time) {
            return String::new();
        }
        let lanes = self.lanes();
        // What all lanes have in common is told once, but for what an agent is called by.
        let all = |k: usize| {
            (k == 0 || !self.grouped) && lanes.iter().all(|lane| k + 1 < lane.len() && lane[k] == lanes[0][k])
        };
        let common: Vec<usize> = (0..lanes[0].len()).filter(|k| all(*k)).collect();
        let within: Vec<&str> = common.iter().map(|k| lanes[0][*k].as_str()).collect();
        let within =
            if within.is_empty() { String::new() } else { format!(", in {}", escape(&within.join(", "))) };
        let boxes = self.boxes(&lanes);
        let groups: Vec<usize> = match self.grouped {
            true => (0..lanes[0].len().saturating_sub(1)).filter(|k| !common.contains(k)).collect(),
            false => Vec::new(),
        };
        let notes = || lines::<NoteKind>(finding, "notes").filter_map(|(kind, note)| Some((kind?, note)));
        let (missing, told): (Vec<_>, Vec<_>) = notes().partition(|(kind, _)| kind.is_missing());
        let ordered: Vec<_> = told.into_iter().filter(|(kind, _)| *kind == NoteKind::HappensBefore).collect();
        let helps: Vec<_> = lines::<FixKind>(finding, "help").collect();
        let mut out = format!(
            "<h3>{}{within}</h3>\n<div class=\"scroll\"><div class=\"picture run\" data-arrows=\"{}\" style=\"grid-template-columns:repeat({},minmax(6.2rem,1fr))\">\n<svg class=\"arrows\" aria-hidden=\"true\"></svg>\n",
            self.title,
            escape(&self.drawn(&boxes, !helps.is_empty())),
            lanes.len()
        );
        for (k, row) in groups.iter().zip(1..) {
            out.push_str(&self.names(&lanes, *k, row));
        }
        let head = groups.len() + 1;
        for (lane, column) in lanes.iter().zip(1..) {
            let parts = lane.iter().enumerate().filter(|(k, _)| !common.contains(k) && !groups.contains(k));
            let parts: Vec<&str> = parts.map(|(_, part)| part.as_str()).collect();
            out.push_str(&format!(
                "<div class=\"lane\"{} style=\"grid-column:{column};grid-row:{head}\">{}</div>\n",
                hover(specification::AGENT),
                escape(&parts.join(", "))
            ));
        }
        let rows = self.rows();
        let before = if self.in_time { rows.len() } else { rows.len() - 1 };
        let way = head + 2 + rows[..before].iter().max().copied().unwrap_or(0);
        for one in boxes.iter().filter(|one| one.steps[0] < before) {
            out.push_str(&self.drawn_box(one, rows[one.steps[0]] + head + 1));
        }
        out.push_str(&format!("<div class=\"way\" style=\"grid-row:{way}\">{}", self.ladders()));
        out.push_str("<ul>\n");
        let mut item = |class: &str, note: &str, said: Option<Said>| {
            let hover = said.map(hover).unwrap_or_default();
            out.push_str(&format!("<li class=\"{class}\"{hover}>{}</li>\n", escape(note)));
        };
        let of_finding = specification::of_finding(text(&finding["id"]));
        for (kind, note) in &ordered {
            item("has", note, specification::of_note(*kind));
        }
        if missing.is_empty() {
            item("lacks", text(&finding["title"]), of_finding);
        }
        for (kind, note) in &missing {
            item("lacks", note, specification::of_note(*kind));
        }
        for (kind, help) in &helps {
            let said = kind.and_then(|kind| specification::of_fix(kind).or(of_finding));
            item("fix", &format!("fix: {help}"), said);
        }
        out.push_str("</ul></div>\n");
        if !self.in_time {
            let of_last = boxes.iter().find(|one| one.steps[0] == self.steps.len() - 1);
            out.extend(of_last.map(|one| self.drawn_box(one, way + 1)));
        }
        out.push_str("</div></div>\n");
        if let Some(left_out) = &self.left_out {
            out.push_str(&format!("<p class=\"dim\">{}</p>\n", escape(left_out)));
        }
        out + &self.legend(&boxes, !ordered.is_empty(), !helps.is_empty())
    }

    fn legend(&self, boxes: &[Drawn], ordered: bool, fix: bool) -> String {
        let within = |arrow: &Arrow| boxes.iter().any(|one| one.holds(arrow));
        let any = |kind: Kind| self.arrows.iter().any(|arrow| arrow.kind == kind && !within(arrow));
        let joins = self.steps.iter().any(|step| step.together.is_some());
        let parts = [
            (any(Kind::Order), "po", format!("grey: {}", self.order)),
            (any(Kind::Synchronizes), "sw", "blue: synchronizes-with, reads-from".to_owned()),
            (
                any(Kind::Waits),
                "wait",
                "red, dotted: waits for what the other one would have to do".to_owned(),
            ),
            (!self.unmet.is_empty(), "wait", "red, dotted, down: waits for what nobody does".to_owned()),
            (ordered, "has", "blue bar: what orders them".to_owned()),
            (true, "lacks", "red: what is missing".to_owned()),
            (fix, "fix", "green, dashed: what would mend it".to_owned()),
            (joins, "joins", "double line: a barrier, across the lanes that it joins".to_owned()),
        ];
        let shown = parts.into_iter().filter(|(is, ..)| *is);
        let shown: String =
            shown.map(|(_, class, told)| format!("<span class=\"{class}\">{told}</span>")).collect();
        format!("<p class=\"legend\">{shown}</p>\n")
    }

    fn drawn_box(&self, one: &Drawn, row: usize) -> String {
        let lines = |class: &str, lines: &[String]| -> String {
            lines.iter().map(|line| format!("<br><span class=\"{class}\">{}</span>", escape(line))).collect()
        };
        let step = &self.steps[one.steps[0]];
        let place = if step.place.is_empty() {
            String::new()
        } else {
            format!("<br><span class=\"dim\">{}</span>", escape(&step.place))
        };
        let synchronize =
            self.arrows.iter().any(|arrow| arrow.kind == Kind::Synchronizes && one.holds(arrow));
        let (mut does, mut lacks) = (step.does.clone(), step.lacks.clone());
        if one.steps.len() > 1 {
            match synchronize {
                true => does.push("they synchronize with each other".to_owned()),
                false => lacks.push("they do not synchronize with each other".to_owned()),
            }
        }
        let keys: Vec<String> = one.steps.iter().map(usize::to_string).collect();
        let (first, last) = one.columns;
        format!(
            "<div class=\"event {}\"{} data-k=\"{}\" style=\"grid-column:{first}/{};grid-row:{row}\"><b>{}</b>{}{}{place}</div>\n",
            step.class,
            hover(step.said),
            keys.join(" "),
            last + 1,
            escape(&step.told),
            lines("does", &does),
            lines("not", &lacks)
        )
    }

    /// How far availability and visibility reached: domain by domain, from the agent itself to the host.
    fn ladders(&self) -> String {
        let rung = |domain: &str| DOMAINS.iter().position(|one| *one == domain).unwrap_or(0);
        let ladder = |reach: &Reach<'_>| {
            let (reached, needed) = (rung(reach.domain), rung(reach.needed));
            let rungs: String = DOMAINS
                .iter()
                .enumerate()
                .map(|(k, domain)| {
                    let class = match (k <= reached, k == needed) {
                        (true, true) => "on need",
                        (true, false) => "on",
                        (false, true) => "off need",
                        (false, false) => "off",
                    };
                    let marks = match class {
                        "on" | "on need" => "✓ ",
                        "off need" => "✗ ",
                        _ => "",
                    };
                    let domain = if k == 0 { "itself" } else { domain };
                    format!("<li class=\"{class}\"{}>{marks}{domain}</li>", hover(reach.said))
                })
                .collect();
            let by = reach.by.and_then(|k| self.steps.get(k)).map(|step| match step.place.as_str() {
                "" => format!(", by {}", step.told),
                place => format!(", by {} at {place}", step.told),
            });
            let by = by.filter(|_| reached > 0).unwrap_or_default();
            let end = if reached < needed {
                format!("; it has to reach the {}", reach.needed)
            } else {
                String::new()
            };
            let reached = if reached == 0 { "itself only" } else { reach.domain };
            let article = if reached == "itself only" { "" } else { "the " };
            format!(
                "<div class=\"reach\"><p>{} {article}{}{}{}</p><ol>{rungs}</ol></div>\n",
                reach.what,
                escape(reached),
                escape(&by),
                escape(&end)
            )
        };
        self.reaches.iter().map(ladder).collect()
    }
}

/// The execution around a race, as its report has it.
pub fn of_around<'a>(finding: &'a Value) -> Option<Picture<'a>> {
    let around = &finding["around"];
    let steps: Vec<Step> = around["steps"].as_array()?.iter().map(|one| step(one, finding)).collect();
    let index = |value: &Value| value.as_u64().map(|k| k as usize).filter(|k| *k < steps.len());
    let arrows = around["arrows"].as_array().into_iter().flatten();
    let arrows = arrows.filter_map(|arrow| {
        let kind = match text(&arrow["leads"]) {
            "program-order" => Kind::Order,
            "waits-for" => Kind::Waits,
            _ => Kind::Synchronizes,
        };
        Some(Arrow { from: index(&arrow["from"])?, to: index(&arrow["to"])?, kind })
    });
    let reach = |key: &str, what, said| {
        let reach = &around[key];
        let (domain, needed) = (reach["domain"].as_str()?, reach["needed"].as_str()?);
        Some(Reach { what, domain, needed, by: index(&reach["by"]), said })
    };
    let reaches = [
        reach("available", "(1) is available to", specification::AVAILABLE),
        reach("visible", "(2) sees what is available to", specification::VISIBLE),
    ];
    let left_out = around["left_out"].as_u64().filter(|n| *n > 0);
    let mut arrows: Vec<Arrow> = arrows.collect();
    arrows.sort_unstable();
    arrows.dedup();
    Some(Picture {
        title: "The execution around it",
        order: "program order",
        arrows,
        grouped: true,
        in_time: false,
        unmet: Vec::new(),
        reaches: reaches.into_iter().flatten().collect(),
        left_out: left_out
            .map(|n| format!("{n} more operations were judged; they lead from neither access to the other.")),
        steps,
    })
}

fn step(step: &Value, finding: &Value) -> Step {
    let number = step["access"].as_u64();
    let values = number.map(|number| &finding["accesses"][(number as usize).wrapping_sub(1)]["values"]);
    let got = values.and_then(|values| Some((values["returned"].as_str()?, values["newest"].as_str()?)));
    let got = got.map(|(got, newest)| match got == newest {
        true => format!("got {got}"),
        false => format!("got {got}, the newest is {newest}"),
    });
    let [x, y, z] = std::array::from_fn(|k| step["workgroup"][k].as_u64().unwrap_or(0));
    let what = text(&step["what"]);
    let joins = step["execution"].as_str().map(|scope| format!("joins the invocations of one {scope}"));
    Step {
        lane: vec![
            format!("dispatch {}", step["dispatch"]),
            format!("workgroup ({x},{y},{z})"),
            format!("subgroup {}", step["subgroup"]),
            format!("invocation {}", step["invocation"]),
        ],
        told: text(&step["told"]).to_owned(),
        does: joins.into_iter().chain(strings(step, "does").map(str::to_owned)).chain(got).collect(),
        lacks: Vec::new(),
        place: text(&step["location"]).to_owned(),
        said: match what {
            "control-barrier" => specification::CONTROL_BARRIER,
            "memory-barrier" => specification::MEMORY_BARRIER,
            _ => specification::of_access(step["writes"] == true, what == "atomic"),
        },
        class: match (step["access"].as_u64(), what) {
            (Some(1), _) => "first",
            (Some(_), _) => "last",
            (None, "control-barrier") => "barrier",
            (None, "memory-barrier") => "fence",
            (None, "atomic") => "atomic",
            (None, _) => "",
        },
        together: step["instance"].as_u64(),
    }
}
