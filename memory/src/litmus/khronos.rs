//! Reader of the Khronos `.test` format: one execution skeleton, with assertions about its consistent
//! executions.
//!
//! ```text
//! NEWWG                                    a new workgroup (NEWQF, NEWSG: queue family, subgroup)
//! NEWSG
//! NEWTHREAD 1                              a new thread, with the number that SSW uses
//! st.av.scopewg.sc0 x = 1                  variable and value; a read-modify-write has two:
//!                                          the value read, then the value written
//! cbar.acq.rel.scopewg.semsc0 0            a control barrier names its instance
//! SSW 1 2                                  every instruction of thread 1
//!                                          system-synchronizes-with every one of thread 2
//! SLOC x y                                 the same location through two references
//! SATISFIABLE NOCHAINS consistent[X] && #dr=0
//! ```
//!
//! Equal variable and value force reads-from; a value left out equals another one left out; `= 0` is the
//! initial value unless a store writes 0. A read whose value no store of its variable writes may read any
//! store to the location, or the initial value.

use std::collections::BTreeMap;

use crate::model::{Agent, BarrierInstance, Covers, Domain, DomainOperation, Event, LocationSet};
use crate::scope::{Scope, Semantics};

use super::flags::class;
use super::predicate::Predicate;
use super::syntax::{Position, Scanner, SyntaxError, Tokens};

/// A file in the format of the Khronos memory model's tests: one skeleton and what is asserted of it.
#[derive(Clone, Debug, Default)]
pub struct KhronosTest {
    /// The instructions, by thread and program order.
    pub instructions: Vec<Instruction>,
    /// Pairs of thread numbers.
    pub system_synchronizes: Vec<(usize, usize)>,
    /// What is asserted.
    pub assertions: Vec<Assertion>,
    /// Why no execution can exist, whatever is chosen: the skeleton breaks a rule of well-formed executions.
    pub ill_formed: Option<String>,
    /// Names of the variables, by reference number.
    pub variables: Vec<String>,
}

/// An instruction of a thread, and the event that it is.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// As written, without its value.
    pub text: String,
    /// Its line in the file.
    pub line: u32,
    /// Index of its thread.
    pub thread: usize,
    /// What it is in an execution.
    pub event: Event,
    /// The value read or -1.
    pub read: i64,
    /// The value written or -1.
    pub written: i64,
}

/// One line `SATISFIABLE` or `NOSOLUTION`.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The line in the file.
    pub line: u32,
    /// The line of the file, as written.
    pub text: String,
    /// Whether an execution that satisfies the predicate must exist.
    pub satisfiable: bool,
    /// Whether availability and visibility chains are supported.
    pub chains: bool,
    /// What has to hold in the execution.
    pub predicate: Predicate,
}

#[derive(Default)]
struct Threads {
    /// Number and first line, by index.
    numbers: Vec<u32>,
    thread: usize,
    next_number: u32,
    subgroup: u32,
    workgroup: u32,
    queue_family: u32,
}

/// Reads a test. `file` is how errors name it.
pub fn read(file: &str, text: &str) -> Result<KhronosTest, SyntaxError> {
    let mut test = KhronosTest::default();
    let mut threads = Threads { numbers: vec![0], ..Threads::default() };
    let mut synchronizes: Vec<(Position, u32, u32)> = Vec::new();
    let mut same: Vec<[(Position, String); 2]> = Vec::new();
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line_number = index as u32 + 1;
        let body = line.split("//").next().unwrap_or("").trim_end();
        let mut scanner = Scanner::at(file, body, Position { line: line_number, column: 1 });
        scanner.take(char::is_whitespace);
        if scanner.rest().is_empty() {
            continue;
        }
        let start = scanner.position();
        let word = scanner.rest().split_whitespace().next().unwrap_or("");
        // The number may follow without a blank.
        let word = match word.strip_prefix("NEWTHREAD") {
            Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => "NEWTHREAD",
            _ => word,
        };
        match word {
            "SATISFIABLE" | "NOSOLUTION" => {
                scanner.skip(word.len());
                scanner.take(char::is_whitespace);
                let mut chains = true;
                if scanner.rest().starts_with("NOCHAINS") {
                    chains = false;
                    scanner.skip("NOCHAINS".len());
                }
                let tokens = Tokens::scan(file, scanner)?;
                test.assertions.push(Assertion {
                    line: line_number,
                    text: body.trim().to_owned(),
                    satisfiable: word == "SATISFIABLE",
                    chains,
                    predicate: Predicate::read(tokens)?,
                });
            }
            "SSW" => {
                scanner.skip(3);
                let first = number(&mut scanner, "the number of a thread")?;
                let second = number(&mut scanner, "the number of a thread")?;
                finished(&mut scanner)?;
                synchronizes.push((start, first, second));
            }
            "SLOC" => {
                scanner.skip(4);
                let first = placed_name(&mut scanner)?;
                let second = placed_name(&mut scanner)?;
                finished(&mut scanner)?;
                same.push([first, second]);
            }
            "NEWQF" | "NEWWG" | "NEWSG" => {
                scanner.skip(5);
                finished(&mut scanner)?;
                // A group that no instruction has used yet is not closed.
                if !test.instructions.is_empty() {
                    match word {
                        "NEWQF" => threads.queue_family += 1,
                        "NEWWG" => threads.workgroup += 1,
                        _ => threads.subgroup += 1,
                    }
                }
            }
            "NEWTHREAD" => {
                scanner.skip(9);
                scanner.take(char::is_whitespace);
                let number = if scanner.rest().is_empty() {
                    threads.next_number + 1
                } else {
                    number(&mut scanner, "the number of the thread")?
                };
                finished(&mut scanner)?;
                let used = |index: usize| test.instructions.iter().any(|i| i.thread == index);
                if threads.numbers.iter().enumerate().any(|(index, known)| *known == number && used(index)) {
                    return Err(scanner.error(
                        start,
                        "a thread number not used before",
                        format!("`{number}`"),
                    ));
                }
                threads.next_number = number;
                if test.instructions.is_empty() {
                    threads.numbers[0] = number;
                } else {
                    threads.numbers.push(number);
                    threads.thread = threads.numbers.len() - 1;
                }
            }
            _ => {
                let instruction = instruction(&mut scanner, &threads, &mut names, &mut test.ill_formed)?;
                test.instructions.push(instruction);
            }
        }
    }
    let scanner = Scanner::new(file, "");
    for (position, first, second) in synchronizes {
        let find = |number: u32| {
            (0..threads.numbers.len())
                .find(|index| {
                    threads.numbers[*index] == number && test.instructions.iter().any(|i| i.thread == *index)
                })
                .ok_or_else(|| {
                    scanner.error(position, "the number of a thread with instructions", format!("`{number}`"))
                })
        };
        test.system_synchronizes.push((find(first)?, find(second)?));
    }
    test.variables = vec![String::new(); names.len()];
    for (name, reference) in &names {
        test.variables[*reference as usize] = name.clone();
    }
    for (position, name) in same.iter().flatten() {
        if !names.contains_key(name) {
            return Err(scanner.error(*position, "a variable of this test", found_text(name)));
        }
    }
    share_locations(&mut test, &names, &same);
    if test.ill_formed.is_none() {
        test.ill_formed = ill_formed(&test);
    }
    Ok(test)
}

fn number(scanner: &mut Scanner<'_>, expected: &str) -> Result<u32, SyntaxError> {
    scanner.take(char::is_whitespace);
    let position = scanner.position();
    let digits = scanner.take(|c| c.is_ascii_digit());
    digits.parse().map_err(|_| {
        let found = scanner.take(|c| !c.is_whitespace());
        scanner.error(position, expected, found_text(found))
    })
}

fn name(scanner: &mut Scanner<'_>) -> Result<String, SyntaxError> {
    scanner.take(char::is_whitespace);
    let position = scanner.position();
    let name = scanner.take(|c| !c.is_whitespace() && c != '=');
    if name.is_empty() {
        return Err(scanner.error(position, "a variable", found_text(scanner.rest())));
    }
    Ok(name.to_owned())
}

fn placed_name(scanner: &mut Scanner<'_>) -> Result<(Position, String), SyntaxError> {
    scanner.take(char::is_whitespace);
    Ok((scanner.position(), name(scanner)?))
}

fn finished(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    scanner.take(char::is_whitespace);
    if scanner.rest().is_empty() {
        return Ok(());
    }
    Err(scanner.error(scanner.position(), "the end of the line", found_text(scanner.rest())))
}

fn found_text(text: &str) -> String {
    if text.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", text.trim_end()) }
}

/// Reads an optional integer value.
fn value(scanner: &mut Scanner<'_>, expected: &str) -> Result<i64, SyntaxError> {
    scanner.take(char::is_whitespace);
    let position = scanner.position();
    let text = scanner.take(|c| c.is_ascii_digit() || c == '-');
    text.parse().map_err(|_| {
        let found = if text.is_empty() { scanner.rest() } else { text };
        scanner.error(position, expected, found_text(found))
    })
}

fn instruction(
    scanner: &mut Scanner<'_>,
    threads: &Threads,
    names: &mut BTreeMap<String, u32>,
    ill_formed: &mut Option<String>,
) -> Result<Instruction, SyntaxError> {
    let start = scanner.position();
    let text = scanner.rest().to_owned();
    let agent =
        Agent::invocation(threads.thread as u32, threads.subgroup, threads.workgroup, threads.queue_family);
    let mut event = Event::other(agent);
    let mut scope: Option<Scope> = None;
    let mut barrier = false;
    let mut refuse = |why: &str| {
        ill_formed.get_or_insert_with(|| format!("line {}: {why}", start.line));
    };
    loop {
        let position = scanner.position();
        let token = scanner.take(|c| c != '.' && !c.is_whitespace());
        let mut at_scope = |new: Scope| match scope.replace(new) {
            Some(old) if old != new => refuse("two scopes"),
            _ => {}
        };
        match token {
            "st" => event.write = true,
            "ld" => event.read = true,
            "rmw" => (event.read, event.write, event.atomic) = (true, true, true),
            "atom" => event.atomic = true,
            "membar" => event.fence = true,
            "cbar" => barrier = true,
            "acq" => event.semantics.acquire = true,
            "rel" => event.semantics.release = true,
            "semav" => event.semantics.make_available = true,
            "semvis" => event.semantics.make_visible = true,
            "av" => event.available = true,
            "vis" => event.visible = true,
            "nonpriv" => event.non_private = true,
            "avdevice" => event.domain = Some(DomainOperation::Availability(Domain::Device, Covers::All)),
            "visdevice" => event.domain = Some(DomainOperation::Visibility(Domain::Device, Covers::All)),
            "scopesg" => at_scope(Scope::Subgroup),
            "scopewg" => at_scope(Scope::Workgroup),
            "scopeqf" => at_scope(Scope::QueueFamily),
            "scopedev" => at_scope(Scope::Device),
            other => {
                if let Some(class) = other.strip_prefix("semsc").and_then(class) {
                    event.semantics.classes |= class;
                } else if let Some(class) = other.strip_prefix("sc").and_then(class) {
                    event.storage_class |= class;
                } else {
                    return Err(scanner.error(
                        position,
                        "an instruction's token (st, ld, rmw, atom, membar, cbar, avdevice, visdevice, acq, rel, av, vis, semav, \
                         semvis, nonpriv, scopesg, scopewg, scopeqf, scopedev, sc0 to sc3, semsc0 to semsc3) or a directive \
                         (NEWQF, NEWWG, NEWSG, NEWTHREAD, SSW, SLOC, SATISFIABLE, NOSOLUTION)",
                        found_text(other),
                    ));
                }
            }
        }
        if scanner.peek() != Some('.') {
            break;
        }
        scanner.bump();
    }
    let head = &text[..text.len() - scanner.rest().len()];
    let per_instruction = event.available || event.visible;
    if scope.is_none() && (event.atomic || event.fence || barrier) {
        refuse("an atomic or barrier without a scope");
    }
    // An availability or visibility operation without a scope reaches the subgroup domain only.
    event.scope = scope.unwrap_or(if per_instruction { Scope::Subgroup } else { Scope::Invocation });
    let (mut read, mut written) = (-1, -1);
    let mut label = head.to_owned();
    if barrier {
        let instance = number(scanner, "the number of the control barrier's instance")?;
        label = format!("{head} {instance}");
        event.fence |= event.semantics.acquire || event.semantics.release;
        event.barrier =
            Some(BarrierInstance { instance, execution: event.scope, arrives: true, waits: true });
        finished(scanner)?;
    } else if event.read || event.write {
        let variable = name(scanner)?;
        label = format!("{head} {variable}");
        let next = names.len() as u32;
        let reference = *names.entry(variable).or_insert(next);
        event.reference = reference;
        event.locations = Some(LocationSet::one(reference));
        scanner.take(char::is_whitespace);
        if scanner.peek() == Some('=') {
            scanner.bump();
            let first = value(scanner, "an integer value")?;
            scanner.take(char::is_whitespace);
            let second =
                if scanner.rest().is_empty() { None } else { Some(value(scanner, "a second value")?) };
            match (event.read, event.write, second) {
                (true, true, second) => (read, written) = (first, second.unwrap_or(-1)),
                (true, false, None) => read = first,
                (false, _, None) => written = first,
                (_, _, Some(second)) => {
                    return Err(scanner.error(
                        scanner.position(),
                        "one value: only a read-modify-write has a second one",
                        format!("`{second}`"),
                    ));
                }
            }
        }
        finished(scanner)?;
    } else {
        finished(scanner)?;
    }
    Ok(Instruction { text: label, line: start.line, thread: threads.thread, event, read, written })
}

/// Gives variables that SLOC relates one location.
fn share_locations(test: &mut KhronosTest, names: &BTreeMap<String, u32>, same: &[[(Position, String); 2]]) {
    let mut location: Vec<u32> = (0..names.len() as u32).collect();
    for [(_, a), (_, b)] in same {
        let (Some(a), Some(b)) = (names.get(a), names.get(b)) else { continue };
        let (from, to) = (location[*a as usize], location[*b as usize]);
        location.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
    }
    for instruction in &mut test.instructions {
        if let Some(set) = &mut instruction.event.locations {
            set.first = location[instruction.event.reference as usize];
        }
    }
}

/// The rules that every execution of the format obeys; a skeleton that breaks one has no execution.
fn ill_formed(test: &KhronosTest) -> Option<String> {
    for instruction in &test.instructions {
        if let Some(why) = ill_formed_instruction(&instruction.event) {
            return Some(format!("line {}: {why}", instruction.line));
        }
    }
    /// An instance and the wider one that it lies in.
    type Nesting = fn(&Agent) -> (u32, u32);
    let groups: [Nesting; 3] = [
        |agent| (agent.thread, agent.subgroup),
        |agent| (agent.subgroup, agent.workgroup),
        |agent| (agent.workgroup, agent.queue_family),
    ];
    for a in &test.instructions {
        for b in &test.instructions {
            let (x, y) = (a.event.agent, b.event.agent);
            if groups.iter().any(|group| group(&x).0 == group(&y).0 && group(&x).1 != group(&y).1) {
                return Some(format!("lines {} and {}: a group lies in two wider groups", a.line, b.line));
            }
            let (Some(p), Some(q)) = (a.event.barrier, b.event.barrier) else { continue };
            if p.instance != q.instance {
                continue;
            }
            if x.thread == y.thread && a.line != b.line {
                return Some(format!(
                    "lines {} and {}: one barrier instance twice in a thread",
                    a.line, b.line
                ));
            }
            let same = |e: &Event| {
                (e.scope, Semantics { make_available: false, make_visible: false, ..e.semantics })
            };
            if same(&a.event) != same(&b.event) {
                return Some(format!(
                    "lines {} and {}: members of one barrier instance differ",
                    a.line, b.line
                ));
            }
            let crossed = test.instructions.iter().any(|c| {
                c.thread == a.thread
                    && c.line > a.line
                    && c.event.barrier.is_some_and(|r| {
                        test.instructions.iter().any(|d| {
                            d.thread == b.thread
                                && d.line < b.line
                                && d.event.barrier.is_some_and(|s| s.instance == r.instance)
                        })
                    })
            });
            if crossed && a.thread != b.thread {
                return Some(format!(
                    "lines {} and {}: barrier instances in opposite orders",
                    a.line, b.line
                ));
            }
        }
    }
    None
}

fn ill_formed_instruction(event: &Event) -> Option<&'static str> {
    let access = event.read || event.write;
    let semantics = event.semantics;
    let barrier = event.fence || event.barrier.is_some();
    let flags = semantics != Semantics::RELAXED || event.available || event.visible || event.non_private;
    if !access && !barrier && event.domain.is_none() {
        return Some("neither an access, a barrier nor a device operation");
    }
    if event.domain.is_some() && (access || barrier || flags || !event.storage_class.is_empty()) {
        return Some("a device operation has no other property");
    }
    if access && barrier {
        return Some("an access is not a barrier");
    }
    if access != (event.storage_class.bits().count_ones() == 1)
        || (!access && !event.storage_class.is_empty())
    {
        return Some("an access has exactly one storage class, and only an access has one");
    }
    if event.read && event.write && !event.atomic {
        return Some("a read-modify-write is atomic");
    }
    if event.atomic && !access {
        return Some("an atomic reads or writes");
    }
    if event.fence && !semantics.acquire && !semantics.release {
        return Some("a memory barrier acquires or releases");
    }
    if semantics.acquire && !(event.fence || (event.read && event.atomic)) {
        return Some("acquire is for atomic reads and barriers");
    }
    if semantics.release && !(event.fence || (event.write && event.atomic)) {
        return Some("release is for atomic writes and barriers");
    }
    if (semantics.acquire || semantics.release) == semantics.classes.is_empty() {
        return Some("acquire or release exactly where there are storage classes in the semantics");
    }
    if (semantics.make_available && !semantics.release) || (semantics.make_visible && !semantics.acquire) {
        return Some("semav needs rel and semvis needs acq");
    }
    if (event.available && !event.write) || (event.visible && !event.read) {
        return Some("av is for writes and vis is for reads");
    }
    if event.non_private && !access {
        return Some("nonpriv is for accesses");
    }
    None
}
