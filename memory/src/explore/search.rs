//! The depth-first search: which execution comes next.

use super::execution::{Effect, Execution};
use super::{Accessed, Actor, Bounds, Choices, End, Explorer, Limit, Ready, Totals};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A point at which someone takes a step.
struct Node {
    /// Who could; the one that took the step before comes first.
    ready: Vec<Actor>,
    /// Who does in the present execution.
    chosen: usize,
    /// Who has to be tried.
    wanted: Vec<bool>,
    /// Who was.
    tried: Vec<bool>,
    /// The choices that the step makes, and out of how many.
    values: Vec<(usize, usize)>,
    /// The graph before the step, where there was an alternative.
    key: Option<u128>,
    /// What the steps from here on did, in all executions so far, by number.
    effects: BTreeSet<u32>,
}

/// Stands for effects that are not known: a trap ended the execution.
const UNKNOWN: u32 = 0;

/// Sets of effects, each once.
#[derive(Default)]
struct Effects {
    list: Vec<Effect>,
    numbers: FxHashMap<Effect, u32>,
    sets: Vec<Box<[u32]>>,
    known: FxHashMap<Box<[u32]>, u32>,
}

impl Effects {
    fn number(&mut self, effect: Effect) -> u32 {
        let next = self.list.len() as u32 + 1;
        let number = *self.numbers.entry(effect).or_insert(next);
        if number == next {
            self.list.push(effect);
        }
        number
    }

    fn set(&mut self, effects: &BTreeSet<u32>) -> u32 {
        let set: Box<[u32]> = effects.iter().copied().collect();
        let next = self.sets.len() as u32;
        let number = *self.known.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        number
    }
}

/// Enumerates executions; see the [module](super)'s page.
///
/// ```
/// use pellucid_memory::explore::{Actor, Bounds, Explorer, Ready, Search};
///
/// // One actor, whose only step has two alternatives.
/// let actor = Actor { workgroup: 0, subgroup: 0, part: 0 };
/// let mut search = Search::new(Bounds::default());
/// let mut seen = Vec::new();
/// while search.begin() {
///     search.next(&[Ready { actor, local: 0, silent: false, parked: false }]);
///     seen.push(search.choose(2));
///     search.end(false);
/// }
/// assert_eq!(seen, [0, 1]);
/// assert!(search.totals().complete());
/// ```
#[derive(Default)]
pub struct Search {
    bounds: Bounds,
    /// The choices to make, in a replay.
    replay: Option<Vec<usize>>,
    made: usize,
    stack: Vec<Node>,
    seen: FxHashMap<u128, u32>,
    effects: Effects,
    execution: Execution,
    depth: usize,
    value: usize,
    /// Steps from this one on are new.
    fresh: usize,
    steps: u64,
    end: End,
    last: Option<Actor>,
    /// The present step has a node.
    stepping: bool,
    started: u64,
    totals: Totals,
    over: bool,
}

impl Search {
    /// All executions, within bounds.
    pub fn new(bounds: Bounds) -> Search {
        Search { bounds, ..Search::default() }
    }

    /// The one execution that makes these choices.
    pub fn replay(choices: &Choices, bounds: Bounds) -> Search {
        Search { replay: Some(choices.as_slice().to_vec()), ..Search::new(bounds) }
    }

    /// Prepares the next execution; false if there is none, or a bound is reached.
    pub fn begin(&mut self) -> bool {
        if self.over || (self.started > 0 && !self.advance()) {
            self.over = true;
            return false;
        }
        if self.started >= self.bounds.executions {
            self.totals.limits.insert(Limit::Executions);
            self.over = true;
            return false;
        }
        self.started += 1;
        self.execution = Execution::default();
        self.fresh = self.stack.len().saturating_sub(1);
        (self.depth, self.value, self.steps, self.made) = (0, 0, 0, 0);
        (self.end, self.last, self.stepping) = (End::Ran, None, false);
        true
    }

    /// Moves on to the next alternative, deepest first.
    fn advance(&mut self) -> bool {
        if self.replay.is_some() {
            return false;
        }
        while let Some(node) = self.stack.last_mut() {
            while let Some((choice, options)) = node.values.last_mut() {
                *choice += 1;
                if choice < options {
                    return true;
                }
                node.values.pop();
            }
            node.tried[node.chosen] = true;
            if let Some(next) = (0..node.ready.len()).find(|k| node.wanted[*k] && !node.tried[*k]) {
                node.chosen = next;
                return true;
            }
            if let Some(node) = self.stack.pop() {
                if let Some(key) = node.key {
                    let set = self.effects.set(&node.effects);
                    self.seen.insert(key, set);
                }
                if let Some(parent) = self.stack.last_mut() {
                    parent.effects.extend(node.effects);
                }
            }
        }
        false
    }

    /// Who takes the next step, as an index into `ready`; `None`: this execution has ended, [`Search::end`]
    /// says how.
    pub fn next(&mut self, ready: &[Ready]) -> Option<usize> {
        self.finish_step();
        self.execution.settle(ready);
        self.steps += 1;
        if self.steps > self.bounds.steps {
            self.totals.limits.insert(Limit::Steps);
            self.end = End::CutOff;
            return None;
        }
        let free = |k: &usize| !self.execution.blocked(ready[*k].actor);
        let mut order: Vec<usize> = (0..ready.len()).filter(free).collect();
        if order.is_empty() && ready.iter().any(|ready| ready.parked) {
            self.totals.limits.insert(Limit::Subgroups);
            self.end = End::CutOff;
            return None;
        }
        if order.is_empty() {
            self.end = if self.execution.stuck(ready) { End::Livelock } else { End::Repeated };
            return None;
        }
        // What nobody else can see needs no alternative.
        if let Some(k) = order.iter().copied().find(|k| ready[*k].silent) {
            self.execution.enter(ready[k].actor, None);
            self.stepping = false;
            return Some(k);
        }
        if let Some(position) = order.iter().position(|k| Some(ready[*k].actor) == self.last) {
            order[..=position].rotate_right(1);
        }
        if self.depth == self.stack.len() && !self.push(order.iter().map(|k| ready[*k].actor).collect()) {
            self.end = End::Repeated;
            return None;
        }
        let node = &self.stack[self.depth];
        let actor = node.ready.get(node.chosen).copied()?;
        let index = order.into_iter().find(|k| ready[*k].actor == actor)?;
        self.execution.enter(actor, Some(self.depth as u32));
        (self.stepping, self.last, self.value) = (true, Some(actor), 0);
        self.depth += 1;
        Some(index)
    }

    /// Adds a node; false if its graph was explored.
    fn push(&mut self, ready: Vec<Actor>) -> bool {
        let count = ready.len();
        let mut chosen = 0;
        let mut key = None;
        if self.replay.is_some() {
            chosen = if count > 1 { self.repeat(count) } else { 0 };
        } else if count > 1 {
            let now = self.execution.key();
            if let Some(set) = self.seen.get(&now).copied() {
                self.cut(set);
                return false;
            }
            key = Some(now);
        }
        let mut wanted = vec![false; count];
        wanted[chosen] = true;
        self.stack.push(Node {
            ready,
            chosen,
            wanted,
            tried: vec![false; count],
            values: Vec::new(),
            key,
            effects: BTreeSet::new(),
        });
        true
    }

    /// The next choice of a replay.
    fn repeat(&mut self, options: usize) -> usize {
        let choices = self.replay.as_deref().unwrap_or_default();
        let choice = choices.get(self.made).copied().unwrap_or(0);
        self.made += 1;
        choice.min(options.saturating_sub(1))
    }

    /// The continuation is known: its effects race with what happened so far.
    fn cut(&mut self, set: u32) {
        let set = self.effects.sets[set as usize].clone();
        for number in &set {
            if *number == UNKNOWN {
                self.want_all();
                continue;
            }
            let effect = self.effects.list[*number as usize - 1];
            for step in self.execution.races_of(&effect) {
                self.want(step as usize, effect.actor);
            }
        }
        if let Some(parent) = self.stack.last_mut() {
            parent.effects.extend(set);
        }
    }

    fn want(&mut self, step: usize, actor: Actor) {
        let Some(node) = self.stack.get_mut(step) else { return };
        match node.ready.iter().position(|other| *other == actor) {
            Some(k) => node.wanted[k] = true,
            None => node.wanted.fill(true),
        }
    }

    fn want_all(&mut self) {
        self.stack.iter_mut().for_each(|node| node.wanted.fill(true));
    }

    fn finish_step(&mut self) {
        let mut effects = Vec::new();
        let Some((actor, racing)) = self.execution.leave(self.stepping, &mut effects) else { return };
        if !self.stepping || self.replay.is_some() {
            return;
        }
        let step = self.depth - 1;
        for effect in effects {
            let number = self.effects.number(effect);
            self.stack[step].effects.insert(number);
        }
        if step >= self.fresh {
            for earlier in racing {
                self.want(earlier as usize, actor);
            }
        }
    }

    /// The execution has ended; `trapped`: by a trap, before all was done.
    pub fn end(&mut self, trapped: bool) -> End {
        if self.end == End::Ran {
            self.finish_step();
            if trapped {
                self.want_all();
                if let Some(node) = self.stack.last_mut() {
                    node.effects.insert(UNKNOWN);
                }
            }
        }
        match self.end {
            End::Ran | End::Livelock => self.totals.executions += 1,
            End::Repeated => self.totals.repeated += 1,
            End::CutOff => {}
        }
        self.end
    }

    /// How the present execution has ended, if it was the search that ended it.
    pub fn ending(&self) -> End {
        self.end
    }

    /// The choices of the present execution: a [`Search::replay`] makes them again.
    pub fn choices(&self) -> Choices {
        let mut choices = Vec::new();
        for node in &self.stack[..self.depth.min(self.stack.len())] {
            if node.ready.len() > 1 {
                choices.push(node.chosen);
            }
            choices.extend(node.values.iter().map(|(choice, _)| *choice));
        }
        Choices::new(choices)
    }

    /// Numbers so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Says that something is left out.
    pub fn limit(&mut self, limit: Limit) {
        self.totals.limits.insert(limit);
    }
}

impl Explorer for Search {
    fn choose(&mut self, options: usize) -> usize {
        if options <= 1 || !self.stepping {
            return 0;
        }
        let step = self.depth - 1;
        if self.value == self.stack[step].values.len() {
            let choice = if self.replay.is_some() { self.repeat(options) } else { 0 };
            self.stack[step].values.push((choice, options));
        }
        let (choice, _) = self.stack[step].values[self.value];
        self.value += 1;
        choice.min(options - 1)
    }

    fn accessed(&mut self, access: &Accessed) -> u64 {
        self.execution.accessed(access)
    }

    fn joined(&mut self, workgroup: u32) {
        self.execution.joined(workgroup);
    }

    fn limited(&mut self, limit: Limit) {
        self.limit(limit);
    }
}
