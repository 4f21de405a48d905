//! A recorded execution before the axioms: whether it may happen, whether every race that check mode reports
//! is one, and which it does not report.

use super::recorder::{Recorded, accesses, conflict};
use pellucid_memory::finding::{AccessInfo, Finding, FindingId};
use pellucid_memory::model::{Event, EventId, Execution, ModelOptions, RelationName};
use std::collections::{BTreeMap, BTreeSet};

/// Why check mode does not report a race, by the accesses between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missed {
    /// Another write came between, which races with one of the two.
    SupersededInRace,
    /// The same invocation wrote there by the same reference, and that write is ordered before the later
    /// access.
    SupersededByItself,
    /// Another write came between, which is ordered after the one and before the other: location order is not
    /// transitive.
    Superseded,
    /// The earlier access is a read, and others read the same word later: two are remembered.
    ManyReaders,
    /// Nothing that explains it.
    Unexplained,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub executions: u64,
    pub events: u64,
    pub pairs: u64,
    pub ordered: u64,
    /// Racing pairs.
    pub races: u64,
    /// Pairs of instructions that race, and those that were reported.
    pub static_races: u64,
    pub reported: u64,
    /// Pairs of instructions that were not reported.
    pub missed: BTreeMap<Missed, u64>,
    pub racing: u64,
    /// Racing executions in which nothing was reported.
    pub silent: u64,
    pub reads: u64,
    /// Reads of something else than the newest value.
    pub stale: u64,
    /// Executions in which who wrote a value cannot be told.
    pub ambiguous: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.executions += other.executions;
        self.events += other.events;
        self.pairs += other.pairs;
        self.ordered += other.ordered;
        self.races += other.races;
        self.static_races += other.static_races;
        self.reported += other.reported;
        for (why, count) in &other.missed {
            *self.missed.entry(*why).or_default() += count;
        }
        self.racing += other.racing;
        self.silent += other.silent;
        self.reads += other.reads;
        self.stale += other.stale;
        self.ambiguous += other.ambiguous;
    }
}

/// Most ways of telling who wrote what that are tried.
const WAYS: usize = 64;

/// Judges an execution; says what is wrong with it, if anything is.
pub fn judge(events: &[Recorded], findings: &[Finding], options: &ModelOptions) -> Result<Counts, String> {
    for (id, recorded) in accesses(events) {
        if let Some((got, newest)) = recorded.read {
            if recorded.updates && got != newest {
                return Err(format!("event {id} updates {got:#x}, and not the newest value {newest:#x}"));
            }
            if recorded.sources.iter().any(|(_, from)| from.is_empty()) {
                return Err(format!("event {id} reads {got:#x}, which nobody wrote"));
            }
        }
    }
    let choices: Vec<usize> =
        events.iter().flat_map(|e| &e.sources).map(|(_, from)| from.len()).filter(|n| *n > 1).collect();
    let ways = choices.iter().fold(1usize, |all, n| all.saturating_mul(*n));
    let mut first = None;
    for way in 0..ways.min(WAYS) {
        match of_way(events, findings, options, way) {
            Ok(counts) => return Ok(Counts { ambiguous: u64::from(way > 0), ..counts }),
            Err(wrong) => first = first.or(Some(wrong)),
        }
    }
    Err(first.unwrap_or_default())
}

/// The execution in which ambiguous reads are explained in way number `way`.
fn execution(events: &[Recorded], mut way: usize) -> Execution {
    let mut execution = Execution::new();
    for recorded in events {
        execution.push(recorded.event.clone());
    }
    for (id, recorded) in accesses(events) {
        for (place, from) in &recorded.sources {
            let chosen = way % from.len();
            way /= from.len();
            if let Some(write) = from[chosen] {
                execution.reads_from_at(write, id, *place);
            }
        }
    }
    execution
}

/// What the axioms say of the execution in which ambiguous reads are explained in way number `way`.
fn of_way(
    events: &[Recorded],
    findings: &[Finding],
    options: &ModelOptions,
    way: usize,
) -> Result<Counts, String> {
    let judgement = execution(events, way).judge(options).map_err(|e| format!("no execution: {e}"))?;
    if !judgement.consistent() {
        return Err(format!("not consistent: {:?}", judgement.inconsistency()));
    }
    let race = judgement.relation(RelationName::DataRace);
    let races: Vec<(EventId, EventId)> = race.pairs().filter(|(a, b)| a < b).collect();
    let event = |id: EventId| &events[id as usize];
    let mut reported = BTreeSet::new();
    for finding in findings.iter().filter(|finding| is_race(finding.id)) {
        let [earlier, later] = &finding.accesses[..] else {
            return Err(format!("a race of {} accesses: {finding:?}", finding.accesses.len()));
        };
        let matches =
            |(a, b): &(EventId, EventId)| is(event(*a), earlier, later) && is(event(*b), later, later);
        if !races.iter().any(matches) {
            return Err(format!("a false alarm: {finding:#?}"));
        }
        reported.insert((earlier.site, later.site));
    }
    let mut counts = Counts { executions: 1, events: events.len() as u64, ..Counts::default() };
    for (a, x) in accesses(events) {
        for (b, _) in accesses(events).filter(|(b, y)| *b > a && conflict(&x.event, &y.event)) {
            counts.pairs += 1;
            counts.ordered += u64::from(judgement.location_ordered(a, b));
        }
        if let Some((got, newest)) = x.read {
            counts.reads += 1;
            counts.stale += u64::from(got != newest);
            if races.is_empty() && !x.event.atomic && got != newest {
                return Err(format!("without a race, event {a} reads {got:#x} and not {newest:#x}"));
            }
        }
    }
    counts.races = races.len() as u64;
    counts.racing = u64::from(!races.is_empty());
    counts.silent = u64::from(!races.is_empty() && reported.is_empty());
    let mut missed: BTreeMap<(u32, u32), Missed> = BTreeMap::new();
    for (a, b) in &races {
        let sites = (event(*a).site, event(*b).site);
        if reported.contains(&sites) {
            continue;
        }
        let why = why(events, &races, *a, *b);
        if why == Missed::Unexplained {
            return Err(format!("events {a} and {b} race, and that is not reported"));
        }
        let known = missed.entry((sites.0.0, sites.1.0)).or_insert(why);
        *known = why.min(*known);
    }
    counts.reported = reported.len() as u64;
    counts.static_races = (reported.len() + missed.len()) as u64;
    for why in missed.into_values() {
        *counts.missed.entry(why).or_default() += 1;
    }
    Ok(counts)
}

fn is_race(id: FindingId) -> bool {
    use FindingId::*;
    matches!(
        id,
        RaceUnordered
            | RacePrivate
            | RaceNotAvailable
            | RaceNotVisible
            | RaceScope
            | RaceStorageClass
            | RaceReference
            | RaceMixedScopeAtomics
            | RaceSameInvocation
            | RaceSameSubgroup
    )
}

/// Whether an event is the access of a finding, at the place of the later one.
fn is(recorded: &Recorded, access: &AccessInfo, at: &AccessInfo) -> bool {
    let start = if access.place.class == pellucid_memory::scope::StorageClasses::WORKGROUP {
        0x8000_0000 + u64::from(recorded.workgroup) * 0x1_0000 + at.place.address
    } else {
        at.place.address
    };
    let end = start + u64::from(at.place.size);
    let overlaps = |event: &Event| {
        event.locations.is_some_and(|set| u64::from(set.first) < end && start < u64::from(set.end()))
    };
    recorded.site == access.site
        && recorded.workgroup == access.by.workgroup[0]
        && recorded.local == access.by.local_index
        && recorded.event.reference == access.place.reference.0
        && recorded.event.storage_class == access.place.class
        && overlaps(&recorded.event)
}

/// Why nothing is said of a race.
fn why(events: &[Recorded], races: &[(EventId, EventId)], a: EventId, b: EventId) -> Missed {
    let (x, y) = (&events[a as usize].event, &events[b as usize].event);
    let meets =
        |z: &Event, other: &Event| z.locations.zip(other.locations).is_some_and(|(z, o)| z.overlaps(o));
    let between = || {
        let later = accesses(events).filter(|(c, _)| a < *c && *c < b);
        later.map(|(c, recorded)| (c, &recorded.event))
    };
    let writes: Vec<_> = between().filter(|(_, z)| z.write && meets(z, x) && meets(z, y)).collect();
    let in_race = |c: EventId| races.contains(&(a, c)) || races.contains(&(c, b));
    if writes.iter().any(|(c, _)| in_race(*c)) {
        return Missed::SupersededInRace;
    }
    if writes.iter().any(|(_, z)| z.agent == x.agent && z.reference == x.reference) {
        return Missed::SupersededByItself;
    }
    if !writes.is_empty() {
        return Missed::Superseded;
    }
    // Two readers of a word are remembered.
    let word = |e: &Event| e.locations.map(|at| (at.first / 4, (at.end() - 1) / 4));
    let near = |z: &Event| word(z).zip(word(x)).is_some_and(|(z, x)| z.0 <= x.1 && x.0 <= z.1);
    let readers = accesses(events).filter(|(c, r)| *c < b && *c != a && r.event.read && near(&r.event));
    if !x.write && readers.count() >= 2 {
        return Missed::ManyReaders;
    }
    Missed::Unexplained
}
