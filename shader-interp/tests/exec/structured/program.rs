//! Random programs, and what each invocation of one computes.

use pellucid_memory::random::Random;

/// Words that a program reads.
pub const INPUTS: usize = 64;
/// Private variables of the module.
pub const GLOBALS: usize = 2;
/// Variables of a function; the first is its parameter.
pub const LOCALS: usize = 2;
/// Functions, the entry point included; each calls later ones only.
pub const FUNCTIONS: usize = 3;

#[derive(Clone, Copy, Debug)]
pub enum Var {
    Global(usize),
    Local(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Xor,
    ShiftRight,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Constant(u32),
    Id,
    Read(Var),
    /// A word of the input, by an index modulo [`INPUTS`].
    Input(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug)]
pub enum Test {
    Equal,
    NotEqual,
    Less,
}

pub type Condition = (Test, Expr, Expr);

/// Where a loop tests whether it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestAt {
    Header,
    Body,
    BackEdge,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub literals: Vec<u32>,
    pub default: bool,
    pub body: Vec<Statement>,
    /// Goes on with the next case.
    pub falls: bool,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Set(Var, Expr),
    /// Folds a value into what the invocation tells of its way.
    Trace(Expr),
    /// Adds to the invocation's own word of memory; the variable gets what was there.
    Atomic(Var, Expr),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// At most `limit` rounds; `next` runs before each back-edge.
    Loop {
        at: TestAt,
        number: usize,
        limit: Expr,
        body: Vec<Statement>,
        next: Vec<Statement>,
    },
    Switch {
        selector: Expr,
        cases: Vec<Case>,
    },
    /// Out of the innermost loop or switch.
    Break,
    /// Out of the innermost loop.
    LoopBreak,
    Continue,
    Return(Expr),
    Call(Var, usize, Expr),
    Barrier,
}

#[derive(Clone, Debug, Default)]
pub struct Function {
    pub body: Vec<Statement>,
    pub loops: usize,
}

/// Function 0 is the entry point.
pub type Program = Vec<Function>;

// ---- what an invocation computes ----

enum Flow {
    Next,
    Break,
    LoopBreak,
    Continue,
    Return(u32),
}

pub struct Invocation<'a> {
    pub program: &'a Program,
    pub input: &'a [u32],
    pub id: u32,
    pub globals: [u32; GLOBALS],
    pub trace: u32,
    pub cell: u32,
}

impl Invocation<'_> {
    /// Runs a function; returns what it returns.
    pub fn run(&mut self, function: usize, argument: u32) -> u32 {
        let mut locals = [0; LOCALS];
        locals[0] = argument;
        let program = self.program;
        match self.statements(&program[function].body, &mut locals) {
            Flow::Return(value) => value,
            _ => locals[1],
        }
    }

    fn expr(&self, expr: &Expr, locals: &[u32; LOCALS]) -> u32 {
        match expr {
            Expr::Constant(value) => *value,
            Expr::Id => self.id,
            Expr::Read(Var::Global(k)) => self.globals[*k],
            Expr::Read(Var::Local(k)) => locals[*k],
            Expr::Input(at) => self.input[self.expr(at, locals) as usize % INPUTS],
            Expr::Binary(op, x, y) => {
                let (x, y) = (self.expr(x, locals), self.expr(y, locals));
                match op {
                    Binary::Add => x.wrapping_add(y),
                    Binary::Sub => x.wrapping_sub(y),
                    Binary::Mul => x.wrapping_mul(y),
                    Binary::And => x & y,
                    Binary::Xor => x ^ y,
                    Binary::ShiftRight => x >> (y & 31),
                }
            }
        }
    }

    fn set(&mut self, var: Var, value: u32, locals: &mut [u32; LOCALS]) {
        match var {
            Var::Global(k) => self.globals[k] = value,
            Var::Local(k) => locals[k] = value,
        }
    }

    fn statements(&mut self, list: &[Statement], locals: &mut [u32; LOCALS]) -> Flow {
        for statement in list {
            match self.statement(statement, locals) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &Statement, locals: &mut [u32; LOCALS]) -> Flow {
        match statement {
            Statement::Set(var, expr) => self.set(*var, self.expr(expr, locals), locals),
            Statement::Trace(expr) => {
                self.trace = self.trace.wrapping_mul(31).wrapping_add(self.expr(expr, locals));
            }
            Statement::Atomic(var, expr) => {
                let before = self.cell;
                self.cell = before.wrapping_add(self.expr(expr, locals));
                self.set(*var, before, locals);
            }
            Statement::If((test, x, y), then, otherwise) => {
                let (x, y) = (self.expr(x, locals), self.expr(y, locals));
                let holds = match test {
                    Test::Equal => x == y,
                    Test::NotEqual => x != y,
                    Test::Less => x < y,
                };
                return self.statements(if holds { then } else { otherwise }, locals);
            }
            Statement::Loop { at, limit, body, next, .. } => {
                let limit = self.expr(limit, locals);
                let mut count = 0;
                loop {
                    if *at != TestAt::BackEdge && count >= limit {
                        break;
                    }
                    match self.statements(body, locals) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break | Flow::LoopBreak => break,
                        Flow::Return(value) => return Flow::Return(value),
                    }
                    self.statements(next, locals);
                    count += 1;
                    if *at == TestAt::BackEdge && count >= limit {
                        break;
                    }
                }
            }
            Statement::Switch { selector, cases } => {
                let selector = self.expr(selector, locals);
                let chosen = cases.iter().position(|case| case.literals.contains(&selector));
                let chosen = chosen.or_else(|| cases.iter().position(|case| case.default));
                for case in cases.iter().skip(chosen.unwrap_or(cases.len())) {
                    match self.statements(&case.body, locals) {
                        Flow::Next if case.falls => {}
                        Flow::Next | Flow::Break => break,
                        other => return other,
                    }
                }
            }
            Statement::Break => return Flow::Break,
            Statement::LoopBreak => return Flow::LoopBreak,
            Statement::Continue => return Flow::Continue,
            Statement::Return(expr) => return Flow::Return(self.expr(expr, locals)),
            Statement::Call(var, function, argument) => {
                let value = self.run(*function, self.expr(argument, locals));
                self.set(*var, value, locals);
            }
            Statement::Barrier => {}
        }
        Flow::Next
    }
}

// ---- random programs ----

/// What surrounds a statement.
#[derive(Clone, Copy)]
struct Around {
    /// All invocations of the workgroup run it together.
    together: bool,
    /// There is a loop or switch, and a loop, to break out of.
    breaks: bool,
    loops: bool,
    returns: bool,
    depth: u32,
}

struct Generator {
    random: Random,
    function: usize,
    loops: usize,
    /// Statements that are still to be made.
    size: u32,
}

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let size = 6 + random.below(24);
    let mut generator = Generator { random, function: 0, loops: 0, size: 0 };
    (0..FUNCTIONS)
        .map(|function| {
            generator.function = function;
            generator.loops = 0;
            generator.size = size >> function;
            let around =
                Around { together: function == 0, breaks: false, loops: false, returns: true, depth: 4 };
            let mut body = Vec::new();
            for _ in 0..2 {
                body.extend(generator.statements(around));
            }
            Function { body, loops: generator.loops }
        })
        .collect()
}

impl Generator {
    fn var(&mut self) -> Var {
        match self.random.below(4) {
            k @ 0..2 => Var::Global(k as usize),
            k => Var::Local(k as usize - 2),
        }
    }

    fn small(&mut self) -> Expr {
        Expr::Constant(self.random.below(5))
    }

    fn expr(&mut self) -> Expr {
        match self.random.below(8) {
            0 => self.small(),
            1 => Expr::Id,
            2..4 => Expr::Read(self.var()),
            4 => Expr::Input(Box::new(Expr::Read(self.var()))),
            _ => {
                let ops =
                    [Binary::Add, Binary::Sub, Binary::Mul, Binary::And, Binary::Xor, Binary::ShiftRight];
                let op = ops[self.random.below(6) as usize];
                let x = Expr::Read(self.var());
                let y = if self.random.chance(50) { self.small() } else { Expr::Read(self.var()) };
                Expr::Binary(op, Box::new(x), Box::new(y))
            }
        }
    }

    /// A small number: equal in all invocations if they run together, of any kind else.
    fn number(&mut self, together: bool) -> Expr {
        let mask = [0, 1, 1, 3][self.random.below(4) as usize];
        let inner = if together || self.random.chance(30) {
            let k = self.random.below(INPUTS as u32);
            // Equal for certain, or by the values alone.
            let zero = Expr::Binary(Binary::ShiftRight, Box::new(Expr::Id), Box::new(Expr::Constant(7)));
            let sum = Expr::Binary(Binary::Add, Box::new(zero), Box::new(Expr::Constant(k)));
            Expr::Input(Box::new(if self.random.chance(50) { Expr::Constant(k) } else { sum }))
        } else {
            self.expr()
        };
        Expr::Binary(Binary::And, Box::new(inner), Box::new(Expr::Constant(mask)))
    }

    fn condition(&mut self, together: bool) -> Condition {
        let test = [Test::Equal, Test::NotEqual, Test::Less][self.random.below(3) as usize];
        (test, self.number(together), Expr::Constant(self.random.below(3)))
    }

    fn straight(&mut self) -> Statement {
        match self.random.below(8) {
            0..4 => Statement::Set(self.var(), self.expr()),
            4..7 => Statement::Trace(self.expr()),
            _ => Statement::Atomic(self.var(), self.expr()),
        }
    }

    fn statements(&mut self, around: Around) -> Vec<Statement> {
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            list.push(self.straight());
            if self.size == 0 || around.depth == 0 {
                continue;
            }
            self.size -= 1;
            if around.together && self.random.chance(25) {
                list.push(Statement::Barrier);
            }
            // Invocations may part ways here; then they come together at the end.
            let together = around.together && self.random.chance(60);
            let mut inner = Around { together, depth: around.depth - 1, ..around };
            if around.together && !together {
                (inner.breaks, inner.loops, inner.returns) = (false, false, false);
            }
            match self.random.below(10) {
                0..3 => {
                    let condition = self.condition(together);
                    let then = self.statements(inner);
                    let otherwise = if self.random.chance(50) { self.statements(inner) } else { Vec::new() };
                    list.push(Statement::If(condition, then, otherwise));
                }
                3..6 => list.push(self.repetition(inner)),
                6..9 => list.push(self.switch(inner)),
                _ if self.function + 1 < FUNCTIONS => {
                    let later = (FUNCTIONS - 1 - self.function) as u32;
                    let function = self.function + 1 + self.random.below(later) as usize;
                    list.push(Statement::Call(self.var(), function, self.expr()));
                }
                _ => {}
            }
        }
        if self.random.chance(25) {
            list.extend(self.jump(around));
        }
        list
    }

    fn jump(&mut self, around: Around) -> Option<Statement> {
        match self.random.below(5) {
            0 | 1 if around.breaks => Some(Statement::Break),
            2 if around.loops => Some(Statement::Continue),
            3 if around.loops => Some(Statement::LoopBreak),
            4 if around.returns && around.depth < 4 => Some(Statement::Return(self.expr())),
            _ => None,
        }
    }

    fn repetition(&mut self, around: Around) -> Statement {
        let number = self.loops;
        self.loops += 1;
        let at = [TestAt::Header, TestAt::Body, TestAt::BackEdge][self.random.below(3) as usize];
        let limit = self.number(around.together);
        let body = self.statements(Around { breaks: true, loops: true, ..around });
        let next = if self.random.chance(30) {
            self.statements(Around { breaks: false, loops: false, returns: false, ..around })
        } else {
            Vec::new()
        };
        Statement::Loop { at, number, limit, body, next }
    }

    fn switch(&mut self, around: Around) -> Statement {
        let selector = self.number(around.together);
        let count = 1 + self.random.below(3);
        let default = if self.random.chance(70) { self.random.below(count) } else { count };
        let mut literals: Vec<u32> = (0..4).collect();
        let cases = (0..count)
            .map(|k| {
                let mut own = Vec::new();
                for _ in 0..self.random.below(3) {
                    if !literals.is_empty() {
                        own.push(literals.swap_remove(self.random.below(literals.len() as u32) as usize));
                    }
                }
                if own.is_empty() && k != default {
                    own.push(10 + k);
                }
                let body = if self.random.chance(15) {
                    vec![Statement::Break]
                } else {
                    self.statements(Around { breaks: true, ..around })
                };
                Case { literals: own, default: k == default, body, falls: self.random.chance(30) }
            })
            .collect();
        Statement::Switch { selector, cases }
    }
}
