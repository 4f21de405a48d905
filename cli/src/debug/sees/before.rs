//! `before`: how two accesses to a location stand to each other.

use super::{Location, Seen, Stopped, Write, location, reading, running};
use std::fmt::Write as _;
use vulkan_pellucid::report::words;

/// How what was there before the writes stands to one of them, or to a read now.
fn from_before(
    stop: &Stopped<'_, '_, '_, '_, '_>,
    at: &Location,
    seen: &Seen,
    text: &str,
    other: &str,
) -> String {
    let value = at.show(seen.before);
    let mut out = format!(
        "#0 is {value}, which {text} held before the writes that are remembered: it is older than each of them \
         in modification order"
    );
    if other == "now" {
        let may = match seen.before_readable {
            _ if seen.writes.is_empty() => "may still read it now",
            [true, true] => "may still read it now",
            [true, false] => "may still read the lower four of its eight bytes now",
            [false, true] => "may still read the upper four of its eight bytes now",
            [false, false] => "may not read it now: something newer is location-ordered before the read",
        };
        let _ = write!(out, "\n  {} {may}; `reads {text}` says why", stop.target.name(stop.session.focus));
    }
    out
}

/// `before EXPR A B`.
///
/// # Errors
/// What is wrong with it.
pub fn before(stop: &mut Stopped<'_, '_, '_, '_, '_>, rest: &str) -> Result<String, String> {
    running(stop)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [text, a, b] = words[..] else { return Err("before EXPR #A #B, or before EXPR #A now".to_owned()) };
    let at = location(stop, text)?;
    let seen = at.look(stop, text)?;
    let write = |name: &str| {
        let number: Option<usize> = name.trim_start_matches('#').parse().ok();
        let found = number.and_then(|k| k.checked_sub(1)).and_then(|k| seen.writes.get(k)).cloned();
        found.ok_or_else(|| format!("\"{name}\" is no write of {text}: `sees {text}` numbers them"))
    };
    let oldest = |name: &str| name.trim_start_matches('#') == "0";
    if let Some(other) = [(a, b), (b, a)].into_iter().find(|(one, _)| oldest(one)).map(|(_, other)| other) {
        if other != "now" && !oldest(other) {
            write(other)?;
        }
        return Ok(from_before(stop, &at, &seen, text, other));
    }
    let first = write(a)?;
    let second = if b == "now" { None } else { Some(write(b)?) };
    let relation = reading(stop, (&at.word, at.bytes), at.next.as_ref(), |stop, reader| {
        let second = second.as_ref().map(|write| &write.seen);
        stop.at.memory().relate(&at.word, &first.seen, second, reader)
    });
    let by = |write: &Write| {
        format!("the write of {} by {}", at.show(write.value), stop.target.name_of(&write.seen.by))
    };
    let later = match &second {
        Some(second) => by(second),
        None => format!("a read by {} now", stop.target.name(stop.session.focus)),
    };
    let mut out = if relation.ordered {
        format!(
            "(1) {} is ordered before (2) {later}, by location or as atomics of one another's scope",
            by(&first)
        )
    } else {
        format!("(1) {} is not location-ordered before (2) {later}", by(&first))
    };
    let dispatch = &stop.target.context;
    for fact in &relation.explanation.facts {
        let _ = write!(out, "\n  {}", words::fact(fact, dispatch));
    }
    if !relation.ordered && !relation.complete {
        out += "\n  as far as is remembered: more synchronisation lies between the two than is kept";
    } else if !relation.ordered {
        for missing in &relation.explanation.missing {
            let _ = write!(out, "\n  {}", words::missing(missing, dispatch));
        }
        let help = vulkan_pellucid::report::fixes::fix(&relation.explanation.fix, dispatch);
        for fix in help {
            let _ = write!(out, "\n  help: {}", fix.text);
        }
    }
    Ok(out)
}
