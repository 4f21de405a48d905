//! Random litmus programs, and the comparison of the machine with the axioms on them.
//!
//! A program is a function of its seed alone: 2 to 4 threads, up to 14 events, every scope, storage class,
//! privacy, availability, visibility and semantics, memory and control barriers, aliases, device-domain
//! operations and system-synchronizes-with.

use std::collections::BTreeMap;

use crate::model::ModelOptions;
use crate::random::Random;
use crate::scope::{Scope, Semantics, StorageClasses};

use super::axioms::{self, Goal, Limits};
use super::machine;
use super::program::{
    Access, Arithmetic, Comparison, Condition, Instruction, LitmusProgram, Operand, Term, Thread, Update,
    Variable,
};

const SCOPES: [Scope; 6] =
    [Scope::Subgroup, Scope::Workgroup, Scope::Workgroup, Scope::QueueFamily, Scope::Device, Scope::Device];

struct Generator {
    random: Random,
    program: LitmusProgram,
    classes: Vec<StorageClasses>,
    next_value: i64,
    next_barrier: u32,
}

/// The program of a seed, with about `events` events.
pub fn program(seed: u64, events: usize) -> LitmusProgram {
    let mut random = Random::new(seed);
    let threads = 2 + random.below(3) as usize;
    let workgroups = 1 + random.below(2) as u32;
    let mut generator = Generator {
        program: LitmusProgram { name: format!("random-{seed}"), ..LitmusProgram::default() },
        classes: Vec::new(),
        next_value: 1,
        next_barrier: 0,
        random,
    };
    for (location, name) in ["x", "y"].into_iter().enumerate() {
        generator.program.variables.push(Variable { name: name.to_owned(), location: location as u32 });
        generator.program.initial.push(0);
    }
    if generator.random.chance(15) {
        generator.program.variables.push(Variable { name: "z".to_owned(), location: 0 });
    }
    let several = generator.random.chance(30);
    let classes = if several {
        vec![
            StorageClasses::UNIFORM,
            StorageClasses::WORKGROUP,
            StorageClasses::IMAGE,
            StorageClasses::OUTPUT,
        ]
    } else {
        vec![StorageClasses::UNIFORM, StorageClasses::WORKGROUP]
    };
    for _ in 0..2 {
        let class = generator.random.pick(&classes);
        generator.classes.push(class);
    }
    let queues = generator.random.chance(15);
    for id in 0..threads {
        let workgroup = generator.random.below(u64::from(workgroups)) as u32;
        let subgroup = generator.random.below(2) as u32;
        let queue_family = if queues { workgroup % 2 } else { 0 };
        generator.program.threads.push(Thread {
            id: id as u32,
            subgroup,
            workgroup,
            queue_family,
            ..Thread::default()
        });
    }
    // Threads of one scope instance stand together.
    generator.program.threads.sort_by_key(|t| (t.queue_family, t.workgroup, t.subgroup, t.id));
    for (id, thread) in generator.program.threads.iter_mut().enumerate() {
        thread.id = id as u32;
    }
    // A thread cannot meet one that it comes after at a control barrier.
    if generator.random.chance(12) && !generator.program.same_instance(0, threads - 1, 1) {
        generator.program.system_synchronizes.push((0, threads - 1));
    }
    let mut left = events as i64;
    while left > 0 {
        left -= generator.instruction(threads) as i64;
    }
    generator.program
}

impl Generator {
    fn semantics(&mut self, acquire: bool, release: bool) -> Semantics {
        let random = &mut self.random;
        let all = self.classes[0] | self.classes[1];
        let classes = match random.below(4) {
            0 => self.classes[0],
            1 => self.classes[1],
            _ => all,
        };
        Semantics {
            acquire,
            release,
            classes: if acquire || release { classes } else { StorageClasses::empty() },
            make_available: release && random.chance(55),
            make_visible: acquire && random.chance(55),
            volatile: false,
        }
    }

    fn register(&mut self, thread: usize) -> usize {
        let thread = &mut self.program.threads[thread];
        thread.registers.push(format!("r{}", thread.registers.len()));
        thread.initial.push(0);
        thread.registers.len() - 1
    }

    /// Adds one instruction (a control barrier to each thread of a workgroup) and tells how many events it
    /// makes.
    fn instruction(&mut self, threads: usize) -> usize {
        let thread = self.random.below(threads as u64) as usize;
        match self.random.below(100) {
            0..10 => {
                let scope = self.random.pick(&SCOPES);
                let (acquire, release) =
                    self.random.pick(&[(true, true), (true, false), (false, true), (true, true)]);
                let semantics = self.semantics(acquire, release);
                self.program.threads[thread].code.push(Instruction::MemoryBarrier(scope, semantics));
                1
            }
            10..20 => {
                let members: Vec<usize> =
                    (0..threads).filter(|other| self.program.same_instance(thread, *other, 1)).collect();
                let scope =
                    self.random.pick(&[Scope::Subgroup, Scope::Workgroup, Scope::Workgroup, Scope::Device]);
                let (acquire, release) = self.random.pick(&[
                    (true, true),
                    (true, true),
                    (true, false),
                    (false, true),
                    (false, false),
                ]);
                let semantics = self.semantics(acquire, release);
                let instance = self.next_barrier.to_string();
                self.next_barrier += 1;
                for member in &members {
                    self.program.threads[*member].code.push(Instruction::ControlBarrier {
                        scope,
                        semantics,
                        instance: instance.clone(),
                        resource: None,
                        quorum: None,
                    });
                }
                members.len()
            }
            20..22 => {
                let operation = if self.random.chance(50) {
                    Instruction::AvailableDevice
                } else {
                    Instruction::VisibleDevice
                };
                self.program.threads[thread].code.push(operation);
                1
            }
            kind => {
                self.access(thread, kind < 60);
                1
            }
        }
    }

    fn access(&mut self, thread: usize, atomic: bool) {
        let variables = self.program.variables.len() as u64;
        let variable = self.random.below(variables) as usize;
        let location = self.program.variables[variable].location as usize;
        let class = self.classes[location];
        let mut access = Access {
            variable,
            class,
            atomic,
            non_private: false,
            available: false,
            visible: false,
            scope: Scope::Invocation,
            semantics: Semantics::RELAXED,
        };
        let kind = self.random.below(if atomic { 5 } else { 4 });
        let (read, write) = match kind {
            0 | 1 => (true, false),
            4 => (true, true),
            _ => (false, true),
        };
        if atomic {
            access.scope = self.random.pick(&SCOPES);
            let ordered = self.random.chance(65);
            let acquire = read && ordered && (!write || self.random.chance(80));
            let release = write && ordered && (!read || self.random.chance(80));
            access.semantics = self.semantics(acquire, release);
        } else {
            match self.random.below(10) {
                0..5 => {
                    access.available = write;
                    access.visible = read;
                    access.scope = self.random.pick(&SCOPES);
                }
                5..9 => access.non_private = true,
                _ => {}
            }
        }
        let value = self.next_value;
        let instruction = match (read, write) {
            (true, false) => Instruction::Load(access, self.register(thread)),
            (false, _) => {
                self.next_value += 1;
                Instruction::Store(access, Operand::Constant(value))
            }
            (true, true) => {
                let register = self.register(thread);
                if self.random.chance(50) {
                    Instruction::ReadModifyWrite(
                        access,
                        register,
                        Update::Apply(Arithmetic::Add),
                        Operand::Constant(100),
                    )
                } else {
                    self.next_value += 1;
                    Instruction::ReadModifyWrite(access, register, Update::Exchange, Operand::Constant(value))
                }
            }
        };
        self.program.threads[thread].code.push(instruction);
    }
}

/// What a comparison of many programs found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparisons {
    /// Programs compared.
    pub programs: u64,
    /// Programs left out because a bound was hit.
    pub skipped: u64,
    /// Outcomes that the axioms allow.
    pub allowed: u64,
    /// Those that the machine reached.
    pub reached: u64,
    /// Those that it did not, by kind.
    pub missing: BTreeMap<&'static str, u64>,
    /// Programs in which the machine reached an outcome that the axioms forbid: seed and outcome. Must be
    /// empty.
    pub forbidden: Vec<(u64, Vec<i64>)>,
    /// Of race-free programs (by the axioms): compared, and those where the machine reached every allowed
    /// outcome.
    pub race_free: (u64, u64),
}

impl Comparisons {
    /// Adds what another batch found.
    pub fn merge(&mut self, other: Comparisons) {
        self.programs += other.programs;
        self.skipped += other.skipped;
        self.allowed += other.allowed;
        self.reached += other.reached;
        for (kind, count) in other.missing {
            *self.missing.entry(kind).or_default() += count;
        }
        self.forbidden.extend(other.forbidden);
        self.race_free.0 += other.race_free.0;
        self.race_free.1 += other.race_free.1;
    }

    /// The totals in one line.
    pub fn line(&self) -> String {
        let missing: Vec<String> =
            self.missing.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        format!(
            "{} programs ({} skipped), {} forbidden outcomes reached, {} of {} allowed outcomes reached ({:.1}%), missing: {}; {} of {} race-free programs reached in full",
            self.programs,
            self.skipped,
            self.forbidden.len(),
            self.reached,
            self.allowed,
            100.0 * self.reached as f64 / self.allowed.max(1) as f64,
            if missing.is_empty() { "none".to_owned() } else { missing.join(", ") },
            self.race_free.1,
            self.race_free.0,
        )
    }
}

/// The condition that a final state has exactly these values.
pub fn exactly(terms: &[Term], values: &[i64]) -> Option<Condition> {
    terms
        .iter()
        .zip(values)
        .map(|(term, value)| Condition::Compare(Comparison::Equal, *term, Term::Constant(*value)))
        .reduce(|a, b| Condition::And(Box::new(a), Box::new(b)))
}

/// Outcomes of one program that are looked up one by one, where enumerating all allowed ones hit a bound.
const MOST_CHECKED: usize = 64;

/// Compares the outcomes of the program of one seed.
pub fn compare(seed: u64, events: usize, options: &ModelOptions, limits: &Limits) -> Comparisons {
    let program = program(seed, events);
    let mut result = Comparisons { programs: 1, ..Comparisons::default() };
    let allowed = axioms::search(&program, options, limits, &Goal::Outcomes);
    let reached = machine::search(&program, options, limits, &Goal::Outcomes);
    let terms = program.observables();
    for outcome in reached.outcomes.difference(&allowed.outcomes).take(MOST_CHECKED) {
        // Not all that is allowed may have been enumerated: ask for this one.
        let Some(condition) = exactly(&terms, outcome) else { continue };
        let asked = axioms::search(&program, options, limits, &Goal::State(&condition, true));
        if asked.complete && asked.witness.is_none() {
            result.forbidden.push((seed, outcome.clone()));
        }
    }
    if !allowed.complete || !reached.complete {
        result.skipped = 1;
        return result;
    }
    result.allowed = allowed.outcomes.len() as u64;
    result.reached = reached.outcomes.intersection(&allowed.outcomes).count() as u64;
    let race = axioms::search(&program, options, limits, &Goal::Race);
    let race_free = race.complete && race.witness.is_none();
    for outcome in allowed.outcomes.difference(&reached.outcomes) {
        let Some(condition) = exactly(&terms, outcome) else { continue };
        let in_order = axioms::search(&program, options, limits, &Goal::StateInOrder(&condition));
        let kind = match (in_order.witness, race_free) {
            (None, _) => "load buffering",
            (Some(_), false) => "racing accesses",
            (Some(_), true) => "race-free and in program order",
        };
        *result.missing.entry(kind).or_default() += 1;
    }
    if race_free {
        result.race_free = (1, u64::from(result.reached == result.allowed));
    }
    result
}
