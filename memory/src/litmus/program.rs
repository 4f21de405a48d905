//! A litmus program: threads with their scope instances, instructions, initial values and the condition asked
//! of its final states.
//!
//! This is what the herd-style reader produces, what the runs by axioms and by machine execute, and what the
//! random program generator makes. Values are 64-bit integers with wrapping arithmetic.

use crate::model::Location;
use crate::scope::{Scope, Semantics, StorageClasses};

/// Index of a register within its thread.
pub type Register = usize;

/// Index of an instruction within its thread.
pub type Pc = usize;

/// A whole test.
#[derive(Clone, Debug, Default)]
pub struct LitmusProgram {
    /// The name in the file's first line.
    pub name: String,
    /// The threads, in the order of their columns.
    pub threads: Vec<Thread>,
    /// The names through which memory is accessed: each is a reference of its own.
    pub variables: Vec<Variable>,
    /// Initial values by location.
    pub initial: Vec<i64>,
    /// Every operation of the first thread system-synchronizes-with every operation of the second.
    pub system_synchronizes: Vec<(usize, usize)>,
    /// Final states that do not satisfy it are left out.
    pub filter: Option<Condition>,
    /// What is asked.
    pub question: Option<Question>,
    /// What the file asks to be shown of final states: `locations [...]`.
    pub observed: Vec<Term>,
}

/// A variable of the program: a reference to a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As the file writes it.
    pub name: String,
    /// What it refers to; aliases share it.
    pub location: Location,
}

/// One agent.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// The number in its name: `P3`.
    pub id: u32,
    /// Subgroup number within the workgroup.
    pub subgroup: u32,
    /// Workgroup number within the queue family.
    pub workgroup: u32,
    /// Queue family number.
    pub queue_family: u32,
    /// Register names, by index.
    pub registers: Vec<String>,
    /// Their initial values.
    pub initial: Vec<i64>,
    /// The code. Control leaves it at the end.
    pub code: Vec<Instruction>,
}

/// A constant or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Written in the program.
    Constant(i64),
    /// The value of a register.
    Register(Register),
}

/// Integer operations of local instructions and read-modify-writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arithmetic {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Signed quotient, rounded towards zero; 0 where the divisor is 0.
    Div,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Arithmetic {
    /// Applies the operation.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Arithmetic::Add => a.wrapping_add(b),
            Arithmetic::Sub => a.wrapping_sub(b),
            Arithmetic::Mul => a.wrapping_mul(b),
            Arithmetic::Div => a.checked_div(b).unwrap_or(if b == 0 { 0 } else { i64::MIN }),
            Arithmetic::And => a & b,
            Arithmetic::Or => a | b,
            Arithmetic::Xor => a ^ b,
        }
    }
}

/// Signed comparisons of branches and conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// Compares.
    pub fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterEqual => a >= b,
        }
    }

    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

/// What qualifies a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Index into [`LitmusProgram::variables`].
    pub variable: usize,
    /// The storage class: one bit.
    pub class: StorageClasses,
    /// By an atomic instruction.
    pub atomic: bool,
    /// Non-private, by itself; implied by the others.
    pub non_private: bool,
    /// Per-instruction availability (writes).
    pub available: bool,
    /// Per-instruction visibility (reads).
    pub visible: bool,
    /// The scope; `Invocation` where the instruction has none.
    pub scope: Scope,
    /// The semantics of an atomic.
    pub semantics: Semantics,
}

/// What a read-modify-write writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// The operand.
    Exchange,
    /// The operation applied to the value read and the operand.
    Apply(Arithmetic),
}

/// An instruction of a thread of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Writes the operand.
    Store(Access, Operand),
    /// Reads into the register.
    Load(Access, Register),
    /// An atomic read-modify-write: the register receives the value read.
    ReadModifyWrite(Access, Register, Update, Operand),
    /// Orders the accesses around it, with the memory scope.
    MemoryBarrier(Scope, Semantics),
    /// A control barrier; its execution scope is the workgroup.
    ControlBarrier {
        /// The memory scope.
        scope: Scope,
        /// The semantics; neither acquire nor release for a pure control barrier.
        semantics: Semantics,
        /// The instance that the file names.
        instance: String,
        /// The barrier resource of a named barrier.
        resource: Option<Operand>,
        /// How many arrivals release a named barrier; all members without it.
        quorum: Option<Operand>,
    },
    /// `avdevice`.
    AvailableDevice,
    /// `visdevice`.
    VisibleDevice,
    /// Register := a op b.
    Local(Register, Arithmetic, Operand, Operand),
    /// An unconditional branch.
    Goto(Pc),
    /// A conditional branch.
    Branch(Comparison, Operand, Operand, Pc),
    /// A label: nothing happens.
    Label(String),
}

/// A value in a final state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Written in the program.
    Constant(i64),
    /// Thread index and register.
    Register(usize, Register),
    /// The final value at a location.
    Memory(Location),
}

/// A condition on final states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A comparison.
    Compare(Comparison, Term, Term),
    /// Negation.
    Not(Box<Condition>),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// Either.
    Or(Box<Condition>, Box<Condition>),
}

/// What is asked of the final states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Is one reachable that satisfies the condition?
    Exists(Condition),
    /// Is none reachable that satisfies it?
    NotExists(Condition),
    /// Do all satisfy it?
    ForAll(Condition),
}

impl Question {
    /// The condition and whether a state that satisfies (true) or violates (false) it decides the question.
    pub fn witness(&self) -> (&Condition, bool) {
        match self {
            Question::Exists(condition) | Question::NotExists(condition) => (condition, true),
            Question::ForAll(condition) => (condition, false),
        }
    }

    /// The answer, given whether a deciding state was found.
    pub fn answer(&self, found: bool) -> bool {
        match self {
            Question::Exists(_) => found,
            Question::NotExists(_) | Question::ForAll(_) => !found,
        }
    }
}

impl Condition {
    /// Evaluates with some values unknown.
    pub fn evaluate(&self, value: &dyn Fn(Term) -> Option<i64>) -> Option<bool> {
        match self {
            Condition::Compare(comparison, a, b) => {
                let known = |term: Term| match term {
                    Term::Constant(constant) => Some(constant),
                    other => value(other),
                };
                Some(comparison.holds(known(*a)?, known(*b)?))
            }
            Condition::Not(inner) => inner.evaluate(value).map(|holds| !holds),
            Condition::And(a, b) => match (a.evaluate(value), b.evaluate(value)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (a.evaluate(value), b.evaluate(value)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    /// Every term that it mentions.
    pub fn terms(&self, into: &mut Vec<Term>) {
        match self {
            Condition::Compare(_, a, b) => into.extend([*a, *b]),
            Condition::Not(inner) => inner.terms(into),
            Condition::And(a, b) | Condition::Or(a, b) => {
                a.terms(into);
                b.terms(into);
            }
        }
    }
}

impl LitmusProgram {
    /// The constants among the operands of its instructions.
    pub fn constants(&self) -> Vec<i64> {
        let mut operands: Vec<&Operand> = Vec::new();
        for instruction in self.threads.iter().flat_map(|thread| &thread.code) {
            match instruction {
                Instruction::Store(_, value) | Instruction::ReadModifyWrite(_, _, _, value) => {
                    operands.push(value)
                }
                Instruction::Local(_, _, a, b) | Instruction::Branch(_, a, b, _) => operands.extend([a, b]),
                Instruction::ControlBarrier { resource, quorum, .. } => {
                    operands.extend(resource.iter().chain(quorum));
                }
                _ => {}
            }
        }
        let constant = |operand: &Operand| match operand {
            Operand::Constant(value) => Some(*value),
            Operand::Register(_) => None,
        };
        operands.into_iter().filter_map(constant).collect()
    }

    /// The terms that tell final states apart: what the condition, the filter and `locations` mention; every
    /// register that an instruction writes if they mention nothing.
    pub fn observables(&self) -> Vec<Term> {
        let mut terms = self.observed.clone();
        if let Some(question) = &self.question {
            question.witness().0.terms(&mut terms);
        }
        if let Some(filter) = &self.filter {
            filter.terms(&mut terms);
        }
        terms.retain(|term| !matches!(term, Term::Constant(_)));
        if terms.is_empty() {
            for (index, thread) in self.threads.iter().enumerate() {
                for instruction in &thread.code {
                    if let Instruction::Load(_, register) | Instruction::ReadModifyWrite(_, register, ..) =
                        instruction
                    {
                        terms.push(Term::Register(index, *register));
                    }
                }
            }
        }
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// How a term is written.
    pub fn term_name(&self, term: Term) -> String {
        match term {
            Term::Constant(value) => value.to_string(),
            Term::Register(thread, register) => {
                let thread = &self.threads[thread];
                format!("P{}:{}", thread.id, thread.registers[register])
            }
            Term::Memory(location) => self.location_name(location).to_owned(),
        }
    }

    /// The name of a location: its first variable.
    pub fn location_name(&self, location: Location) -> &str {
        self.variables.iter().find(|v| v.location == location).map_or("?", |v| v.name.as_str())
    }

    /// Whether two threads share the scope instance of a level (0 subgroup to 3 device). Numbers are
    /// hierarchical.
    pub fn same_instance(&self, a: usize, b: usize, level: usize) -> bool {
        let (a, b) = (&self.threads[a], &self.threads[b]);
        let queue = a.queue_family == b.queue_family;
        let workgroup = queue && a.workgroup == b.workgroup;
        match level {
            0 => workgroup && a.subgroup == b.subgroup,
            1 => workgroup,
            2 => queue,
            _ => true,
        }
    }

    /// The agent that a thread is: its instance numbers are the first thread of the instance.
    pub fn agent(&self, thread: usize) -> crate::model::Agent {
        let first = |level| {
            (0..self.threads.len()).find(|other| self.same_instance(thread, *other, level)).unwrap_or(thread)
                as u32
        };
        crate::model::Agent::invocation(thread as u32, first(0), first(1), first(2))
    }
}
