//! Witnesses as one SVG: a lane for each thread, downwards in the order of the execution, and an arrow for
//! each pair of a relation.

use pellucid_memory::litmus::report::{EventReport, ReadsFromReport, Report, WitnessReport};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a character takes at 13 pixels in the widest of the usual monospaced fonts, rounded up.
const CHARACTER: usize = 9;

const ROW: usize = 58;
const BOX: usize = 30;
const MARGIN: usize = 16;

const STYLE: &str = include_str!("picture.css");

/// A relation by the name on its arrows: how it is drawn, and what it says in the specification's words.
const RELATIONS: [(&str, &str, &str); 3] = [
    ("rf", "rf", "reads-from: the read returns the value that this write wrote"),
    (
        "asmo",
        "asmo",
        "scoped modification order: the order of atomic writes to a location in each other's scope",
    ),
    (
        "data race",
        "race",
        "data race: the accesses conflict, are not mutually ordered atomics, and neither is location-ordered \
         before the other",
    ),
];

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn width(text: &str) -> usize {
    text.chars().count() * CHARACTER
}

/// Where the name of an arrow may stand, in eighths of its way.
const PLACES: [usize; 7] = [4, 3, 5, 2, 6, 1, 7];

/// What a box or a name covers.
#[derive(Clone, Copy)]
struct Area {
    x: usize,
    y: usize,
    wide: usize,
    high: usize,
}

impl Area {
    fn meets(&self, other: &Area) -> bool {
        let along = self.x < other.x + other.wide && other.x < self.x + self.wide;
        along && self.y < other.y + other.high && other.y < self.y + self.high
    }
}

/// One arrow from event to event.
struct Arrow {
    from: u32,
    to: u32,
    name: String,
}

/// An execution that is drawn.
struct Drawn<'a>(&'a WitnessReport);

impl Drawn<'_> {
    fn arrows(&self) -> Vec<Arrow> {
        let read = self.0.reads_from.iter().filter_map(|pair| Some((pair.write?, pair.read, "rf")));
        let order = self.0.scoped_modification_order.iter().map(|(from, to)| (*from, *to, "asmo"));
        let races = self.0.races.iter().map(|(from, to)| (*from, *to, "data race"));
        let drawn = read.chain(order).chain(races);
        let mut arrows: Vec<Arrow> =
            drawn.map(|(from, to, name)| Arrow { from, to, name: name.to_owned() }).collect();
        // All relations that were asked for share one arrow of a pair.
        let mut others: BTreeMap<(u32, u32), Vec<&str>> = BTreeMap::new();
        for (name, pairs) in &self.0.relations {
            pairs.iter().for_each(|pair| others.entry(*pair).or_default().push(*name));
        }
        let other = |((from, to), names): (_, Vec<&str>)| Arrow { from, to, name: names.join(", ") };
        arrows.extend(others.into_iter().map(other));
        arrows
    }

    /// The events from the top: each below what comes before it in its thread and below what it reads from,
    /// as far as that is no circle.
    fn rows(&self) -> Vec<&EventReport> {
        let mut rest: Vec<&EventReport> = self.0.events.iter().collect();
        let mut rows: Vec<&EventReport> = Vec::new();
        while !rest.is_empty() {
            let waits = |event: &EventReport| {
                let source = self.0.reads_from.iter().find(|pair| pair.read == event.id);
                let source = source.and_then(|pair| pair.write);
                rest.iter().any(|other| {
                    Some(other.id) == source || other.thread == event.thread && other.id < event.id
                })
            };
            let next = rest.iter().position(|event| !waits(event)).unwrap_or(0);
            rows.push(rest.remove(next));
        }
        rows
    }

    fn line(&self, event: &EventReport) -> String {
        let from_start = |pair: &ReadsFromReport| pair.read == event.id && pair.write.is_none();
        let initial = if self.0.reads_from.iter().any(from_start) { " (initial)" } else { "" };
        let read = event.read.map_or(String::new(), |value| format!(" = {value}{initial}"));
        format!("e{}: {}{read}", event.id, event.instruction)
    }

    /// Draws the execution from `top` on; returns where it ends, and how wide it is.
    fn draw(&self, out: &mut String, title: &str, top: usize) -> (usize, usize) {
        let mut lanes: Vec<(&str, usize)> = Vec::new();
        for event in &self.0.events {
            let wide = width(&self.line(event)).max(width(&event.thread)) + 20;
            match lanes.iter_mut().find(|(thread, _)| *thread == event.thread) {
                Some((_, lane)) => *lane = wide.max(*lane),
                None => lanes.push((&event.thread, wide)),
            }
        }
        let arrows = self.arrows();
        // Between lanes, and right of the last one: arrows and their names.
        let gap = 70 + arrows.iter().map(|arrow| width(&arrow.name)).max().unwrap_or_default();
        let left = |lane: usize| MARGIN + lanes[..lane].iter().map(|(_, wide)| wide + gap).sum::<usize>();
        let lane_of = |event: &EventReport| {
            lanes.iter().position(|(thread, _)| *thread == event.thread).unwrap_or_default()
        };
        let text = |out: &mut String, class: &str, x: usize, y: usize, text: &str| {
            let _ = writeln!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text));
        };
        text(out, "", MARGIN, top + 20, title);
        for (lane, (thread, _)) in lanes.iter().enumerate() {
            text(out, "lane", left(lane) + 10, top + 52, thread);
        }
        let rows = self.rows();
        // Boxes cover arrows that pass behind them, and names lie on top.
        let (mut boxes, mut names) = (String::new(), String::new());
        let mut taken: Vec<Area> = Vec::new();
        let y = |id: u32| top + 64 + ROW * rows.iter().position(|event| event.id == id).unwrap_or_default();
        for event in &rows {
            let (x, upper, wide) = (left(lane_of(event)), y(event.id), lanes[lane_of(event)].1);
            let _ =
                writeln!(boxes, "<rect x=\"{x}\" y=\"{upper}\" width=\"{wide}\" height=\"{BOX}\" rx=\"4\"/>");
            text(&mut boxes, "event", x + 10, upper + 20, &self.line(event));
            taken.push(Area { x, y: upper, wide, high: BOX });
            let next = rows.iter().skip_while(|other| other.id != event.id).skip(1);
            if let Some(next) = next.into_iter().find(|other| other.thread == event.thread) {
                let (x, from, to) = (x + 24, upper + BOX, y(next.id));
                let _ = writeln!(
                    out,
                    "<path class=\"po\" d=\"M{x} {from}V{to}m-4 -7l4 7l4 -7\">\
                     <title>program order</title></path>"
                );
            }
        }
        for (number, arrow) in arrows.iter().enumerate() {
            let find = |id: u32| self.0.events.iter().find(|event| event.id == id);
            let (Some(from), Some(to)) = (find(arrow.from), find(arrow.to)) else { continue };
            let joins = |other: &&Arrow| {
                [(other.from, other.to), (other.to, other.from)].contains(&(arrow.from, arrow.to))
            };
            let beside = arrows[..number].iter().filter(joins).count();
            let (a, b) = (lane_of(from), lane_of(to));
            let down = 6 + 9 * (beside % 3);
            let (start, end) = (y(arrow.from) + down, y(arrow.to) + down);
            let drawn = RELATIONS.iter().find(|(name, ..)| *name == arrow.name);
            let (class, said) =
                drawn.map_or(("other", arrow.name.as_str()), |(_, class, said)| (*class, *said));
            let right = |lane: usize| left(lane) + lanes[lane].1;
            let wide = width(&arrow.name);
            let area = |x: usize, y: usize| Area { x, y: y.saturating_sub(8), wide, high: 16 };
            // Where the name may stand: the middle of the arrow first.
            let (line, into, places): (String, i32, Vec<Area>) = if a == b {
                let (x, out) = (right(a), right(a) + 40 + 9 * (beside % 3));
                let line = format!("M{x} {start}C{out} {start} {out} {end} {x} {end}");
                (line, 7, PLACES.map(|k| area(x + 34, (start * (8 - k) + end * k) / 8)).into())
            } else {
                let (x, to_x, into) = if a < b { (right(a), left(b), -7) } else { (left(a), right(b), 7) };
                let place = |k: usize| {
                    let middle = (x * (8 - k) + to_x * k) / 8;
                    area(middle.saturating_sub(wide / 2).max(MARGIN), (start * (8 - k) + end * k) / 8)
                };
                (format!("M{x} {start}L{to_x} {end}"), into, PLACES.map(place).into())
            };
            let free = places.iter().find(|place| !taken.iter().any(|other| place.meets(other)));
            let Some(name) = free.or(places.first()).copied() else { continue };
            taken.push(name);
            let head = match arrow.name.as_str() {
                "data race" => String::new(),
                _ => format!("m{into} -4l{} 4l{into} 4", -into),
            };
            let said = escape(said);
            let _ = writeln!(out, "<path class=\"{class}\" d=\"{line}{head}\"><title>{said}</title></path>");
            let _ = writeln!(
                names,
                "<text class=\"name {class}\" x=\"{}\" y=\"{}\">{}<title>{said}</title></text>",
                name.x,
                name.y + 12,
                escape(&arrow.name)
            );
        }
        out.push_str(&boxes);
        out.push_str(&names);
        let state: Vec<String> = self.0.state.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let state = format!("final state: {}", state.join(" "));
        let bottom = top + 64 + ROW * rows.len();
        text(out, "", MARGIN, bottom + 12, &state);
        let wide = left(lanes.len()).max(width(&state) + 2 * MARGIN).max(width(title) + 2 * MARGIN);
        (bottom + 40, wide)
    }
}

/// The executions that answers rest on, as one SVG, below one another.
pub fn picture(report: &Report) -> String {
    let (mut drawn, mut bottom, mut wide) = (String::new(), MARGIN, 0);
    for (title, witness) in report.witnesses() {
        let (end, width) = Drawn(witness).draw(&mut drawn, title, bottom);
        (bottom, wide) = (end + MARGIN, wide.max(width));
    }
    if drawn.is_empty() {
        let none = "no execution to draw: no answer rests on one";
        (bottom, wide) = (2 * MARGIN + 20, width(none) + 2 * MARGIN);
        let _ = writeln!(drawn, "<text x=\"{MARGIN}\" y=\"{}\">{none}</text>", MARGIN + 14);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {bottom}\" width=\"{wide}\" \
         style=\"max-width:100%;height:auto\">\n<style>{STYLE}</style>\n{drawn}</svg>\n"
    )
}
