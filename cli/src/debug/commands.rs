//! The debugger's commands, as text in and text out: the terminal reads them from a line, the DAP server
//! evaluates them.

mod choose;

use self::choose::choose;
use super::sees;
use super::stop::{
    Accesses, At, Breakpoint, Edit, Motion, Place, Position, Range, Reason, Resume, Stop, Which, lane_of,
};
use super::target::{Line, Who};
use super::values::condition::Condition;
use pellucid_memory::finding::AccessKind;
use std::fmt::Write as _;
use vulkan_pellucid::report::context::Context;
use vulkan_pellucid::report::text;

/// What a command comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Text, and the dispatch stays where it is.
    Text(String),
    /// The dispatch goes on.
    Go(Resume),
}

/// What `help` prints.
pub const HELP: &str = "\
moving (each also backward: `step back`, `continue back`)
  step, s           to the next line of the invocation in focus, into functions
  next, n           the same, over functions
  finish            out of the function
  stepi, si         one instruction of the invocation
  subgroup, sg      to the next line of any part of its subgroup
  workgroup, wg     until every subgroup of its workgroup that can run has left its line
  continue, c       to a breakpoint or a finding
  wrote EXPR        back to the last write of EXPR
  goto T.I          to instruction I of turn T; `goto start`
  leave             let the dispatch end and the program go on
  quit, q           end the program
looking
  where, bt         the frames of the invocation in focus
  list [LINE]       source around a line
  print, p EXPR     a variable: NAME, NAME.MEMBER, NAME[INDEX], IMAGE[X,Y]
  locals, shared, buffers, images, builtins
  threads           the strands that run, and where they stand
  focus W L         invocation L of workgroup W (a number or X,Y,Z) comes into focus
  up, down          another frame
  findings [N]      what was found so far; N: all that is said of one
memory
  sees EXPR         each write of a location: who, where, how far available and visible
  reads EXPR        the values that the invocation may read there now, and why
  caches EXPR       what each cache holds of a location, with --values caches
  before EXPR A B   whether write #A comes before write #B, or before a read now (`now`)
stopping
  break [FILE:]LINE|FUNCTION [on W L] [if CONDITION]
  watch EXPR [read|write|any] [on W L] [if CONDITION]
  breakpoints       all of them
  delete N          remove one; `findings off`, `findings on`: whether findings stop
what if
  choose VALUE      the load that is next returns VALUE, if the memory model allows it; `1, 2` of a vector
  set NAME VALUE    a variable of the invocation becomes VALUE, whatever the model says
  turn W S          the next choice of the scheduler is subgroup S of workgroup W
  forget            undo all of these
CONDITION is made of ==, !=, <, <=, >, >= and &&; a value alone holds where it is not 0. An empty line repeats the last command.";

/// A line as its first word and the rest.
fn verb_of(line: &str) -> (&str, &str) {
    let line = line.trim();
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (verb, rest.trim())
}

/// Does what a line says.
///
/// # Errors
/// What is wrong with it.
pub fn command(stop: &mut Stop<'_, '_, '_, '_, '_>, line: &str) -> Result<Answer, String> {
    known(stop, line)?.ok_or_else(|| unknown(line))
}

/// What is said of a line whose first word is no command.
pub fn unknown(line: &str) -> String {
    format!("\"{}\" is no command; `help` lists them", verb_of(line).0)
}

/// Does what a line says; `None` where its first word is no command.
///
/// # Errors
/// What is wrong with it.
pub fn known(stop: &mut Stop<'_, '_, '_, '_, '_>, line: &str) -> Result<Option<Answer>, String> {
    let (verb, rest) = verb_of(line);
    let go = |motion| match rest {
        "" => Ok(Some(Answer::Go(Resume::Move(motion, false)))),
        "back" => Ok(Some(Answer::Go(Resume::Move(motion, true)))),
        other => Err(format!("{verb} {other}: only `back` may follow")),
    };
    let moved = match verb {
        "step" | "s" => Some(Motion::In),
        "next" | "n" => Some(Motion::Over),
        "finish" => Some(Motion::Out),
        "stepi" | "si" => Some(Motion::Instruction),
        "subgroup" | "sg" => Some(Motion::Subgroup),
        "workgroup" | "wg" => Some(Motion::Workgroup),
        "continue" | "c" => Some(Motion::Continue),
        _ => None,
    };
    if let Some(motion) = moved {
        return go(motion);
    }
    let text = match verb {
        "help" | "h" => HELP.to_owned(),
        "wrote" => {
            let range = range(stop, rest)?;
            return Ok(Some(Answer::Go(Resume::Move(Motion::Wrote(range), true))));
        }
        "goto" => return Ok(Some(Answer::Go(Resume::To(position(rest)?)))),
        "leave" => return Ok(Some(Answer::Go(Resume::Leave))),
        "quit" | "q" | "exit" => return Ok(Some(Answer::Go(Resume::Quit))),
        "where" | "bt" => frames(stop)?,
        "list" | "l" => list(stop, rest)?,
        "print" | "p" => print(stop, rest)?,
        "locals" | "shared" | "buffers" | "images" | "builtins" => variables(stop, verb),
        "threads" => threads(stop),
        "focus" => {
            stop.session.focus = who(stop, rest)?;
            stop.session.frame = 0;
            standing(stop)
        }
        "up" | "down" => {
            let frames = stop.spot(stop.session.focus).map_or(1, |spot| stop.target.frames(spot).len());
            let frame = stop.session.frame;
            let next = if verb == "up" { frame + 1 } else { frame.wrapping_sub(1) };
            if next >= frames {
                return Err(format!("there is no frame {verb} from here"));
            }
            stop.session.frame = next;
            frames_text(stop, Some(next))?
        }
        "findings" => findings(stop, rest)?,
        "sees" => sees::sees(stop, rest)?,
        "reads" => sees::reads(stop, rest)?,
        "caches" => sees::caches(stop, rest)?,
        "before" => sees::before(stop, rest)?,
        "break" | "b" => add_break(stop, rest)?,
        "watch" => add_watch(stop, rest)?,
        "breakpoints" => breakpoints(stop),
        "delete" => {
            let id: u32 = rest.parse().map_err(|_| format!("\"{rest}\" is no number of a breakpoint"))?;
            let all = stop.session.breakpoints.len();
            stop.session.breakpoints.retain(|of| of.id != id);
            if stop.session.breakpoints.len() == all {
                return Err(format!("there is no breakpoint {id}"));
            }
            String::new()
        }
        "choose" => choose(stop, rest)?,
        "set" => set(stop, rest)?,
        "turn" => {
            let (group, subgroup) = rest.split_once(' ').ok_or("turn WORKGROUP SUBGROUP")?;
            let group = workgroup(stop, group)?;
            let subgroups = stop.target.workgroup_size().div_ceil(stop.target.program.subgroup_size.max(1));
            let named = subgroup.trim().parse().ok().filter(|number| *number < subgroups);
            let subgroup = named.ok_or_else(|| {
                format!("\"{}\" is no subgroup of a workgroup, which has {subgroups}", subgroup.trim())
            })?;
            stop.give_turn(group, subgroup);
            return Ok(Some(Answer::Go(Resume::Again)));
        }
        "forget" => {
            stop.session.edits.clear();
            stop.session.turns.clear();
            return Ok(Some(Answer::Go(Resume::Again)));
        }
        "who" => match rest.split_once(char::is_whitespace) {
            Some(("sees", what)) => sees::sees(stop, what)?,
            _ => return Err("who sees EXPR".to_owned()),
        },
        "back" | "reverse" | "rs" | "rn" | "rc" => {
            return Err("`step back`, `next back`, `continue back` and other motions go back".to_owned());
        }
        _ => return Ok(None),
    };
    Ok(Some(Answer::Text(text)))
}

fn position(text: &str) -> Result<Position, String> {
    if text == "start" {
        return Ok(Position::default());
    }
    let parts = text.split_once('.').unwrap_or((text, "0"));
    match (parts.0.parse(), parts.1.parse()) {
        (Ok(turn), Ok(index)) => Ok(Position { turn, index }),
        _ => Err(format!("\"{text}\" is no position: TURN.INSTRUCTION")),
    }
}

fn workgroup(stop: &Stop<'_, '_, '_, '_, '_>, text: &str) -> Result<u32, String> {
    let numbers: Option<Vec<u32>> =
        text.trim_matches(['(', ')']).split(',').map(|part| part.trim().parse().ok()).collect();
    let target = stop.target;
    let found = match numbers.as_deref() {
        Some([linear]) => {
            let all = target.grid.groups.iter().map(|n| u64::from(*n)).product::<u64>();
            (u64::from(*linear) < all).then_some(*linear)
        }
        Some([x, y]) => target.workgroup([*x, *y, target.grid.base[2]]),
        Some([x, y, z]) => target.workgroup([*x, *y, *z]),
        _ => None,
    };
    found.ok_or_else(|| format!("\"{text}\" is no workgroup of this dispatch"))
}

fn who(stop: &Stop<'_, '_, '_, '_, '_>, text: &str) -> Result<Who, String> {
    let (group, local) = text.trim().split_once(char::is_whitespace).ok_or("WORKGROUP INVOCATION")?;
    let workgroup = workgroup(stop, group)?;
    let local_index = local.trim().parse().ok().filter(|k| *k < stop.target.workgroup_size());
    let local_index = local_index.ok_or_else(|| format!("\"{local}\" is no invocation of a workgroup"))?;
    Ok(Who { workgroup, local_index })
}

/// The bytes that an expression names.
pub fn range(stop: &mut Stop<'_, '_, '_, '_, '_>, text: &str) -> Result<Range, String> {
    let mut eyes = stop.eyes();
    let item = eyes.find(text)?;
    let (workgroup, address, bytes) = eyes.place(&item)?;
    Ok(Range { workgroup, address, bytes })
}

fn frames(stop: &Stop<'_, '_, '_, '_, '_>) -> Result<String, String> {
    frames_text(stop, None)
}

fn frames_text(stop: &Stop<'_, '_, '_, '_, '_>, only: Option<usize>) -> Result<String, String> {
    let focus = stop.session.focus;
    let spot = stop.spot(focus).ok_or_else(|| format!("{} does not run", stop.target.name(focus)))?;
    let mut text = String::new();
    for (k, (call, line)) in stop.target.frames(spot).into_iter().enumerate() {
        if only.is_none_or(|only| only == k) {
            let _ = writeln!(text, "{}", frame_line(stop, k, call, line));
        }
    }
    Ok(text.trim_end().to_owned())
}

fn frame_line(stop: &Stop<'_, '_, '_, '_, '_>, k: usize, call: u32, line: Line) -> String {
    let mark = if k == stop.session.frame { '*' } else { ' ' };
    let function = function(stop, call);
    format!("{mark}#{k} {function} at {}  {}", stop.target.place(line), stop.target.line_text(line))
}

/// The name of the function that a call is of.
pub fn function(stop: &Stop<'_, '_, '_, '_, '_>, call: u32) -> String {
    let name = stop.target.program.shader.calls.get(call as usize).map_or("", |call| &call.function);
    if name.is_empty() { stop.target.program.shader.name.clone() } else { name.to_owned() }
}

/// Where the invocation in focus stands, with its line.
pub fn standing(stop: &Stop<'_, '_, '_, '_, '_>) -> String {
    let focus = stop.session.focus;
    let name = stop.target.name(focus);
    let Some(spot) = stop.spot(focus) else {
        return format!("{name} does not run");
    };
    let waits = stop.at.standing(focus).is_some_and(|(standing, _)| standing.at_barrier);
    let parked =
        stop.at.standing(focus).is_some_and(|(of, lane)| !waits && of.strand.mask() >> lane & 1 == 0);
    let state = if waits {
        " waits at the barrier"
    } else if parked {
        " waits for others of its subgroup, which are"
    } else {
        ""
    };
    let (call, line) = (spot.call, spot.line);
    let number = if stop.target.has_lines() { format!("{:>5}", line.line) } else { "     ".to_owned() };
    // In the midst of a line the instruction says more.
    let pc = stop.at.standing(focus).filter(|_| !waits && !parked).map(|(of, _)| of.strand.pc());
    let site = pc.filter(|pc| !stop.target.begins(*pc)).and_then(|pc| {
        let site = stop.target.program.debug.as_ref()?.site(pc);
        stop.target.program.shader.sites.get(site.0 as usize)
    });
    let instruction = site.filter(|site| site.word != 0 && stop.target.has_lines());
    let instruction = instruction.map(|site| format!("\n       {}", site.instruction)).unwrap_or_default();
    format!(
        "{name}{state} at {} in {}\n{number}  {}{instruction}",
        stop.target.place(line),
        function(stop, call),
        stop.target.line_text(line)
    )
}

fn list(stop: &Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let spot = stop.spot(stop.session.focus);
    let here = spot.map(|spot| stop.target.frames(spot)[stop.session.frame].1);
    let file = here.map_or(0, |line| line.file);
    let around = match rest {
        "" => here.map(|line| line.line).ok_or("nothing runs")?,
        number => number.parse().map_err(|_| format!("\"{number}\" is no line"))?,
    };
    let text = stop.target.text(file).ok_or("the source is neither in the module nor on disk")?;
    let mut out = String::new();
    for (k, line) in (1..).zip(text.lines()) {
        if (around.saturating_sub(5)..=around + 5).contains(&k) {
            let mark = if here.is_some_and(|here| here.line == k) { '>' } else { ' ' };
            let _ = writeln!(out, "{mark}{k:>4}  {}", line.trim_end());
        }
    }
    Ok(out.trim_end().to_owned())
}

fn print(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let mut eyes = stop.eyes();
    let item = eyes.find(rest)?;
    let value = eyes.show(&item);
    Ok(format!("{rest} = {value}"))
}

fn variables(stop: &mut Stop<'_, '_, '_, '_, '_>, scope: &str) -> String {
    let mut eyes = stop.eyes();
    let lines: Vec<String> = eyes
        .scope(scope)
        .iter()
        .map(|item| {
            let kind = eyes.target.types.describe(item.ty);
            let kind = if kind.is_empty() { kind } else { format!(": {kind}") };
            format!("{}{kind} = {}", item.name, eyes.show(item))
        })
        .collect();
    if lines.is_empty() { "none".to_owned() } else { lines.join("\n") }
}

fn threads(stop: &Stop<'_, '_, '_, '_, '_>) -> String {
    let At::Moment(moment) = &stop.at else { return "none: the dispatch has ended".to_owned() };
    let mut lines = Vec::new();
    for of in moment.strands() {
        let identity = of.identity;
        let [x, y, z] = identity.workgroup_id;
        let lanes = |mask: u32| match &identity.local_indices(mask)[..] {
            [] => "no invocations".to_owned(),
            [only] => format!("invocation {only}"),
            [first, .., last] if mask.count_ones() == last - first + 1 => {
                format!("invocations {first}-{last}")
            }
            [first, .., last] => format!("{} of invocations {first}-{last}", mask.count_ones()),
        };
        let (mask, live) = (of.strand.mask(), of.strand.live());
        let spot = stop.target.spot(of.strand.pc().saturating_sub(u32::from(of.at_barrier)));
        let place = spot.map_or_else(
            || "its start".to_owned(),
            |spot| format!("{}  {}", stop.target.place(spot.line), stop.target.line_text(spot.line)),
        );
        let state = if of.at_barrier { "wait at the barrier at" } else { "at" };
        let parked = if live & !mask != 0 && mask != 0 && !of.at_barrier {
            format!(" ({} wait for them)", lanes(live & !mask))
        } else {
            String::new()
        };
        let shown = if mask == 0 || of.at_barrier { live } else { mask };
        let focus = stop.session.focus;
        let own = lane_of(&of, focus).is_some();
        let mark = if own { '*' } else { ' ' };
        lines.push(format!(
            "{mark}workgroup ({x},{y},{z}) subgroup {}: {} {state} {place}{parked}",
            identity.subgroup,
            lanes(shown)
        ));
    }
    lines.join("\n")
}

fn findings(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    match rest {
        "off" | "on" => {
            stop.session.ignore_findings = rest == "off";
            return Ok(format!("findings {}", if rest == "off" { "do not stop" } else { "stop" }));
        }
        _ => {}
    }
    let found = stop.findings();
    if rest.is_empty() {
        let lines: Vec<String> = (1..)
            .zip(&found)
            .map(|(k, finding)| {
                // Who has ended stands nowhere.
                let sites = finding.accesses.iter().map(|access| access.site);
                let sites = sites.filter(|site| stop.target.line_of(*site).is_some());
                let sites = sites.map(|site| stop.target.context.location(site));
                format!("{k}  {}: {}", finding.id.name(), sites.collect::<Vec<_>>().join(", "))
            })
            .collect();
        return Ok(if lines.is_empty() { "none so far".to_owned() } else { lines.join("\n") });
    }
    let number: usize = rest.parse().map_err(|_| format!("\"{rest}\" is no number of a finding"))?;
    let finding = number.checked_sub(1).and_then(|k| found.get(k));
    let finding = finding.ok_or_else(|| format!("there is no finding {number} so far"))?;
    Ok(told(stop, finding))
}

/// All that is said of a finding.
pub fn told(stop: &Stop<'_, '_, '_, '_, '_>, finding: &pellucid_memory::finding::Finding) -> String {
    let dispatches = [stop.target.context];
    let context = Context { dispatches: &dispatches };
    text::render(finding, &context, None).trim_end().to_owned()
}

/// `... [on W L] [if CONDITION]`.
type Filter = (String, Option<Who>, Option<Condition>);

fn filtered(stop: &Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<Filter, String> {
    let (rest, condition) = match rest.split_once(" if ") {
        Some((rest, condition)) => (rest, Some(Condition::parse(condition)?)),
        None => (rest, None),
    };
    let (rest, by) = match rest.split_once(" on ") {
        Some((rest, by)) => (rest, Some(who(stop, by)?)),
        None => (rest, None),
    };
    Ok((rest.trim().to_owned(), by, condition))
}

/// Adds a breakpoint; its number.
pub fn add(
    stop: &mut Stop<'_, '_, '_, '_, '_>,
    place: Place,
    who: Option<Who>,
    condition: Option<Condition>,
) -> u32 {
    stop.session.numbered += 1;
    let id = stop.session.numbered;
    stop.session.breakpoints.push(Breakpoint { id, place, condition, told: false, who });
    id
}

fn add_break(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let (at, who, condition) = filtered(stop, rest)?;
    let (file, line) = match at.rsplit_once(':') {
        Some((file, line)) => (Some(file), line),
        None => (None, at.as_str()),
    };
    let (file, line) = match line.trim().parse::<u32>() {
        Ok(line) => (file, line),
        Err(_) => {
            let first = stop.target.first_line(&at);
            let first = first.ok_or_else(|| format!("\"{at}\" is no line, and no function that runs"))?;
            (Some(stop.target.file(first.file)), first.line)
        }
    };
    let (line, pcs) =
        lines(stop, file, line).ok_or_else(|| format!("nothing runs at line {line} or behind it"))?;
    let place = Place::Line { shown: format!("line {line}"), pcs };
    let id = add(stop, place, who, condition);
    Ok(format!("breakpoint {id} at line {line}"))
}

/// The line, or the next one, at which something runs, and its instructions.
pub fn lines(stop: &Stop<'_, '_, '_, '_, '_>, file: Option<&str>, line: u32) -> Option<(u32, Vec<u32>)> {
    let line = stop.target.next_line(file, line)?;
    let pcs = stop.target.beginnings(file, line);
    (!pcs.is_empty()).then_some((line, pcs))
}

fn add_watch(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let (what, who, condition) = filtered(stop, rest)?;
    let (name, accesses) = match what.rsplit_once(' ') {
        Some((name, "read")) => (name.to_owned(), Accesses::Read),
        Some((name, "write")) => (name.to_owned(), Accesses::Write),
        Some((name, "any")) => (name.to_owned(), Accesses::Any),
        _ => (what, Accesses::Write),
    };
    let range = range(stop, &name)?;
    let id = add(stop, Place::Data { shown: name.clone(), range, accesses }, who, condition);
    Ok(format!("data breakpoint {id} at {name}, {} bytes", range.bytes))
}

fn breakpoints(stop: &Stop<'_, '_, '_, '_, '_>) -> String {
    let line = |of: &Breakpoint| {
        let place = match &of.place {
            Place::Line { shown, .. } => shown.clone(),
            Place::Data { shown, accesses, .. } => format!("{shown}, {accesses:?}").to_lowercase(),
        };
        let who = of.who.map(|who| format!(" on {}", stop.target.name(who))).unwrap_or_default();
        let condition = of.condition.as_ref().map(|of| format!(" if {}", of.text)).unwrap_or_default();
        format!("{}  {place}{who}{condition}", of.id)
    };
    let all: Vec<String> = stop.session.breakpoints.iter().map(line).collect();
    if all.is_empty() { "none".to_owned() } else { all.join("\n") }
}

fn set(stop: &mut Stop<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    let (name, value) = rest.split_once([' ', '=']).ok_or("set NAME VALUE")?;
    let value = value.trim_start_matches([' ', '=']).trim();
    assign(stop, name.trim(), value)
}

/// Gives a variable of the invocation in focus a value.
///
/// # Errors
/// What is wrong with it.
pub fn assign(stop: &mut Stop<'_, '_, '_, '_, '_>, name: &str, value: &str) -> Result<String, String> {
    use super::values::Home;
    let mut eyes = stop.eyes();
    let item = eyes.find(name)?;
    let element = eyes.element(&item).ok_or_else(|| format!("{name} is no scalar"))?;
    let Home::Private(byte) = item.home else {
        return Err(format!(
            "not implemented in Pellucid: setting {name}, which is no variable of the function"
        ));
    };
    let value = match value {
        "true" => "1",
        "false" => "0",
        value => value,
    };
    let bytes = element.encode(value)?;
    let who = stop.session.focus;
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(&bytes);
    let bits = u64::from_le_bytes(wide);
    let (word, shift) = (byte / 4, 8 * (byte % 4));
    let mask = if bytes.len() >= 4 { u32::MAX } else { ((1u32 << (8 * bytes.len())) - 1) << shift };
    stop.edit(Edit::Private(who, word, (bits as u32) << shift, mask));
    if bytes.len() == 8 {
        stop.edit(Edit::Private(who, word + 1, (bits >> 32) as u32, u32::MAX));
    }
    Ok(format!("{name} = {value}"))
}

/// Why the dispatch has stopped, in a line.
pub fn reason(stop: &mut Stop<'_, '_, '_, '_, '_>) -> Option<String> {
    let shown = |stop: &Stop<'_, '_, '_, '_, '_>, id: u32| {
        stop.session.breakpoints.iter().find(|of| of.id == id).map(|of| match &of.place {
            Place::Line { shown, .. } | Place::Data { shown, .. } => shown.clone(),
        })
    };
    Some(match stop.reason.clone() {
        Reason::Step | Reason::Position => return None,
        Reason::Entry => format!("{} begins", stop.target.context.title()),
        Reason::Breakpoint(id) => format!("breakpoint {id}, {}", shown(stop, id).unwrap_or_default()),
        Reason::Data(id) => {
            let kind = stop.at.access(stop.session.focus).map(|next| next.operand.kind);
            let verb = match kind {
                // What samples is no access of its own.
                Some(AccessKind::Read) | None => "read",
                Some(AccessKind::ReadModifyWrite(_)) => "updated",
                Some(AccessKind::Write) => "written",
            };
            format!("data breakpoint {id}: {} is about to be {verb}", shown(stop, id).unwrap_or_default())
        }
        Reason::Unjudged(id, why) => {
            let of = stop.session.breakpoints.iter().find(|of| of.id == id);
            let condition = of.and_then(|of| of.condition.as_ref()).map_or("", |condition| &condition.text);
            format!(
                "breakpoint {id}, {}: whether {condition} holds is not known here: {why} (told once: from now on \
                 it stops where that holds, and nowhere else)",
                shown(stop, id).unwrap_or_default()
            )
        }
        Reason::Finding(which) => {
            let number = stop.findings().len();
            let next = stop.session.next.as_ref();
            let name = next.map_or("", |finding| finding.id.name());
            let told = match which {
                Which::Access(_) if next.is_some_and(|f| f.accesses.len() == 1) => "this is the access",
                Which::Access(_) => "this is the second access",
                Which::Waiting(_) => "this is who waits",
            };
            format!("finding {number} ({name}) is about to happen: {told}")
        }
        Reason::Pause => "paused".to_owned(),
        Reason::Wrote => "this is the write".to_owned(),
        Reason::Start => "nothing earlier: this is the beginning of the dispatch".to_owned(),
        Reason::NeverWritten => "nothing has written it in this dispatch so far".to_owned(),
        Reason::Gone => "the invocation has ended; another one is in focus".to_owned(),
        Reason::Ended(None) => "the dispatch has ended; `continue` goes on with the program".to_owned(),
        Reason::Ended(Some(why)) => format!("the dispatch has ended: {why}"),
    })
}
