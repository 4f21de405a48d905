//! Reader of the herd-style `.litmus` format, as the Dartagnan verifier's Vulkan tests use it.
//!
//! ```text
//! VULKAN name "comment"
//! { x=0; P1:r0=0; y aliases x; z=x; }         initial values; `aliases`: same location, another reference
//! { ssw 0 1; }                                optional: system-synchronizes-with between threads
//!  P0@sg 0, wg 0, qf 0   | P1@sg 1, wg 0, qf 0   ;
//!  st.av.wg.sc0 x, 1     | ld.vis.wg.sc0 r0, x   ;
//! locations [x; P1:r0]                        optional
//! filter (P1:r0 != 2)                         optional: final states that count
//! exists (P1:r0 == 1)                         optional: exists, ~exists, forall, final
//! ```
//!
//! Numbers of scope instances are hierarchical. A control barrier's execution scope is the workgroup.

mod question;

use std::collections::BTreeMap;

use super::flags::{Flags, arithmetic};
use super::program::{
    Access, Comparison, Instruction, LitmusProgram, Operand, Register, Thread, Update, Variable,
};
use super::syntax::{Scanner, SyntaxError, Token, TokenKind, Tokens};
use crate::scope::{Scope, Semantics};

/// Where symbolic addresses start: registers may hold the address of a variable, and locations are numbered
/// from here.
const ADDRESS_BASE: i64 = 0x1000_0000_0000;

/// Reads a test. `file` is how errors name it.
pub fn read(file: &str, text: &str) -> Result<LitmusProgram, SyntaxError> {
    let mut scanner = Scanner::new(file, text);
    loop {
        scanner.take(char::is_whitespace);
        if !scanner.enclosed()? {
            break;
        }
    }
    let position = scanner.position();
    let language = scanner.take(|c| c.is_ascii_alphabetic());
    if !language.eq_ignore_ascii_case("vulkan") {
        let found = match language {
            "" if scanner.rest().is_empty() => "the end of the file".to_owned(),
            "" => "another text".to_owned(),
            language => format!("`{language}`"),
        };
        return Err(scanner.error(position, "`VULKAN`, the language of the test", found));
    }
    let name = header(&mut scanner)?;
    let tokens = Tokens::scan(file, scanner)?;
    Reader { tokens, program: LitmusProgram { name, ..LitmusProgram::default() }, names: BTreeMap::new() }
        .read()
}

/// Skips everything before the first `{` that is not in a comment, and gives the first word of it.
fn header(scanner: &mut Scanner<'_>) -> Result<String, SyntaxError> {
    let mut name = String::new();
    let mut ended = false;
    while let Some(c) = scanner.peek().filter(|c| *c != '{') {
        if scanner.enclosed()? {
            ended |= !name.is_empty();
            continue;
        }
        scanner.bump();
        match c {
            c if c.is_whitespace() => ended |= !name.is_empty(),
            c if !ended => name.push(c),
            _ => {}
        }
    }
    Ok(name.trim_matches('"').to_owned())
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    program: LitmusProgram,
    /// Variables by name.
    names: BTreeMap<String, usize>,
}

/// A declaration that needs the threads, kept until they are known.
enum Declared {
    Value(i64),
    Address(String),
}

/// A branch whose target is not yet placed: thread, instruction, label.
type Pending = (usize, usize, Token);

impl Reader<'_> {
    fn read(mut self) -> Result<LitmusProgram, SyntaxError> {
        let registers = self.declarations()?;
        let pairs = if self.tokens.is("{") { self.synchronizes()? } else { Vec::new() };
        self.threads()?;
        for (thread, register, value) in registers {
            let index = self.thread(&thread)?;
            let register = self.register_index(index, &register);
            let value = match value {
                Declared::Value(value) => value,
                Declared::Address(name) => self.address(&name),
            };
            self.program.threads[index].initial[register] = value;
        }
        for (first, second) in pairs {
            let pair = (self.thread(&first)?, self.thread(&second)?);
            self.program.system_synchronizes.push(pair);
        }
        self.instructions()?;
        if self.tokens.is("locations") {
            self.locations()?;
        }
        if self.tokens.eat("filter") {
            self.program.filter = Some(self.condition()?);
            self.tokens.eat(";");
        }
        self.question()?;
        if !self.tokens.end() {
            return Err(self
                .tokens
                .error("`locations`, `filter`, `exists`, `~exists`, `forall`, `final` or the end"));
        }
        Ok(self.program)
    }

    fn declarations(&mut self) -> Result<Vec<(Token, Token, Declared)>, SyntaxError> {
        self.tokens.expect("{")?;
        let mut registers = Vec::new();
        loop {
            while self.tokens.eat(";") {}
            if self.tokens.eat("}") {
                break;
            }
            if self.tokens.peek_at(1).text == ":" {
                let thread = self.tokens.advance();
                self.tokens.advance();
                let register = self.tokens.word("a register")?;
                self.tokens.expect("=")?;
                let value = if self.tokens.is("&") || self.tokens.peek().kind == TokenKind::Word {
                    self.tokens.eat("&");
                    Declared::Address(self.tokens.word("a variable")?.text)
                } else {
                    Declared::Value(self.tokens.constant()?)
                };
                registers.push((thread, register, value));
            } else {
                let name = self.tokens.word("a variable, a register (`P0:r0`) or `}`")?.text;
                if self.tokens.eat("aliases") {
                    let target = self.tokens.word("a variable")?.text;
                    let target = self.variable(&target);
                    let location = self.program.variables[target].location;
                    let variable = self.variable(&name);
                    self.program.variables[variable].location = location;
                } else {
                    self.tokens.expect("=").map_err(|mut error| {
                        error.expected = "`=` or `aliases`".to_owned();
                        error
                    })?;
                    let address = self.tokens.eat("&");
                    let value = if self.tokens.peek().kind == TokenKind::Word {
                        let source = self.tokens.advance().text;
                        let source_variable = self.variable(&source);
                        let location = self.program.variables[source_variable].location;
                        if address { self.address(&source) } else { self.program.initial[location as usize] }
                    } else {
                        self.tokens.constant()?
                    };
                    let variable = self.variable(&name);
                    let location = self.program.variables[variable].location;
                    self.program.initial[location as usize] = value;
                }
            }
            if !self.tokens.is(";") && !self.tokens.is("}") {
                return Err(self.tokens.error("`;` or `}`"));
            }
        }
        self.tokens.eat(";");
        Ok(registers)
    }

    fn synchronizes(&mut self) -> Result<Vec<(Token, Token)>, SyntaxError> {
        self.tokens.expect("{")?;
        let mut pairs = Vec::new();
        loop {
            while self.tokens.eat(";") {}
            if self.tokens.eat("}") {
                break;
            }
            self.tokens.expect("ssw")?;
            let first = self.thread_name()?;
            let second = self.thread_name()?;
            pairs.push((first, second));
            if !self.tokens.is(";") && !self.tokens.is("}") {
                return Err(self.tokens.error("`;` or `}`"));
            }
        }
        self.tokens.eat(";");
        Ok(pairs)
    }

    fn thread_name(&mut self) -> Result<Token, SyntaxError> {
        let token = self.tokens.peek().clone();
        match thread_number(&token.text) {
            Some(_) => Ok(self.tokens.advance()),
            None => Err(self.tokens.error("a thread: `P0` or `0`")),
        }
    }

    fn thread(&self, name: &Token) -> Result<usize, SyntaxError> {
        thread_number(&name.text)
            .and_then(|number| self.program.threads.iter().position(|thread| thread.id == number))
            .ok_or_else(|| self.tokens.error_at(name, "a thread of this test"))
    }

    fn threads(&mut self) -> Result<(), SyntaxError> {
        loop {
            let name = self.thread_name()?;
            let id = thread_number(&name.text).unwrap_or_default();
            if self.program.threads.iter().any(|thread| thread.id == id) {
                return Err(self.tokens.error_at(&name, "a thread that is not declared yet"));
            }
            self.tokens.expect("@")?;
            self.tokens.expect("sg")?;
            let subgroup = self.tokens.number("the number of the subgroup")?;
            self.tokens.expect(",")?;
            self.tokens.expect("wg")?;
            let workgroup = self.tokens.number("the number of the workgroup")?;
            self.tokens.expect(",")?;
            self.tokens.expect("qf")?;
            let queue_family = self.tokens.number("the number of the queue family")?;
            self.program.threads.push(Thread { id, subgroup, workgroup, queue_family, ..Thread::default() });
            if self.tokens.eat(";") {
                return Ok(());
            }
            if !self.tokens.eat("|") {
                return Err(self.tokens.error("`|` or `;`"));
            }
        }
    }

    fn instructions(&mut self) -> Result<(), SyntaxError> {
        let mut pending: Vec<Pending> = Vec::new();
        let mut labels: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut rows = 0;
        while !self.at_question() {
            rows += 1;
            for thread in 0.. {
                if !self.tokens.is("|") && !self.tokens.is(";") {
                    if thread >= self.program.threads.len() {
                        let count = self.program.threads.len();
                        return Err(self
                            .tokens
                            .error(format!("at most {count} columns, one for each thread")));
                    }
                    self.instruction(thread, &mut pending, &mut labels)?;
                }
                if self.tokens.eat(";") {
                    break;
                }
                if !self.tokens.eat("|") {
                    return Err(self.tokens.error("`|` or `;`"));
                }
            }
        }
        if rows == 0 {
            return Err(self.tokens.error("a row of instructions"));
        }
        for (thread, index, label) in pending {
            let Some(target) = labels.get(&(thread, label.text.clone())) else {
                return Err(self.tokens.error_at(&label, "a label of this thread"));
            };
            match &mut self.program.threads[thread].code[index] {
                Instruction::Goto(to) | Instruction::Branch(_, _, _, to) => *to = *target,
                _ => {}
            }
        }
        Ok(())
    }

    fn at_question(&self) -> bool {
        let words = ["exists", "forall", "final", "filter", "locations", "not"];
        self.tokens.end() || self.tokens.is("~") || words.iter().any(|word| self.tokens.is(word))
    }

    fn instruction(
        &mut self,
        thread: usize,
        pending: &mut Vec<Pending>,
        labels: &mut BTreeMap<(usize, String), usize>,
    ) -> Result<(), SyntaxError> {
        let index = self.program.threads[thread].code.len();
        let name = self.tokens.word("an instruction, a label, `|` or `;`")?;
        if self.tokens.eat(":") {
            if labels.insert((thread, name.text.clone()), index).is_some() {
                return Err(self.tokens.error_at(&name, "a label that this thread does not have yet"));
            }
            self.program.threads[thread].code.push(Instruction::Label(name.text));
            return Ok(());
        }
        let instruction = match name.text.as_str() {
            "st" => {
                let flags = Flags::read(&mut self.tokens)?;
                let access = self.access(thread, flags, &name, AccessForm::Store)?;
                let value = self.after_comma(thread)?;
                Instruction::Store(access, value)
            }
            "ld" => {
                let flags = Flags::read(&mut self.tokens)?;
                let register = self.register(thread)?;
                self.tokens.expect(",")?;
                Instruction::Load(self.access(thread, flags, &name, AccessForm::Load)?, register)
            }
            "rmw" => {
                let flags = Flags::read(&mut self.tokens)?;
                let update = flags.operation.map_or(Update::Exchange, Update::Apply);
                let register = self.register(thread)?;
                self.tokens.expect(",")?;
                let access = self.access(thread, flags, &name, AccessForm::ReadModifyWrite)?;
                let value = self.after_comma(thread)?;
                Instruction::ReadModifyWrite(access, register, update, value)
            }
            "membar" => {
                let flags = Flags::read(&mut self.tokens)?;
                let (scope, semantics) = self.barrier(&flags, &name, false)?;
                Instruction::MemoryBarrier(scope, semantics)
            }
            "cbar" => {
                let flags = Flags::read(&mut self.tokens)?;
                let (scope, semantics) = self.barrier(&flags, &name, true)?;
                let sign = if self.tokens.is("-") { "-" } else { "" };
                let digits = usize::from(!sign.is_empty());
                let instance = format!("{sign}{}", self.tokens.peek_at(digits).text);
                self.tokens.constant()?;
                let resource = self.tokens.eat(",").then(|| self.operand(thread)).transpose()?;
                let quorum = match resource {
                    Some(_) => self.tokens.eat(",").then(|| self.operand(thread)).transpose()?,
                    None => None,
                };
                Instruction::ControlBarrier { scope, semantics, instance, resource, quorum }
            }
            "avdevice" => Instruction::AvailableDevice,
            "visdevice" => Instruction::VisibleDevice,
            "goto" => {
                pending.push((thread, index, self.tokens.word("a label")?));
                Instruction::Goto(0)
            }
            word => {
                if let Some(operation) = arithmetic(word) {
                    let register = self.register(thread)?;
                    let a = self.after_comma(thread)?;
                    let b = self.after_comma(thread)?;
                    Instruction::Local(register, operation, a, b)
                } else if let Some(comparison) = branch(word) {
                    let a = self.operand(thread)?;
                    let b = self.after_comma(thread)?;
                    self.tokens.expect(",")?;
                    pending.push((thread, index, self.tokens.word("a label")?));
                    Instruction::Branch(comparison, a, b, 0)
                } else {
                    return Err(self.tokens.error_at(
                        &name,
                        "an instruction: st, ld, rmw, membar, cbar, avdevice, visdevice, add, sub, mul, div, and, or, xor, goto, \
                         beq, bne, blt, ble, bgt, bge, or a label and `:`",
                    ));
                }
            }
        };
        self.program.threads[thread].code.push(instruction);
        Ok(())
    }

    fn after_comma(&mut self, thread: usize) -> Result<Operand, SyntaxError> {
        self.tokens.expect(",")?;
        self.operand(thread)
    }

    fn operand(&mut self, thread: usize) -> Result<Operand, SyntaxError> {
        if is_register(&self.tokens.peek().text) {
            return Ok(Operand::Register(self.register(thread)?));
        }
        match self.tokens.constant() {
            Ok(value) => Ok(Operand::Constant(value)),
            Err(mut error) => {
                error.expected = "a register or an integer constant".to_owned();
                Err(error)
            }
        }
    }

    fn register(&mut self, thread: usize) -> Result<Register, SyntaxError> {
        let token = self.tokens.peek().clone();
        if !is_register(&token.text) {
            return Err(self.tokens.error("a register: `r` and a number"));
        }
        self.tokens.advance();
        Ok(self.register_index(thread, &token))
    }

    fn register_index(&mut self, thread: usize, name: &Token) -> Register {
        let thread = &mut self.program.threads[thread];
        match thread.registers.iter().position(|known| *known == name.text) {
            Some(index) => index,
            None => {
                thread.registers.push(name.text.clone());
                thread.initial.push(0);
                thread.registers.len() - 1
            }
        }
    }

    fn variable(&mut self, name: &str) -> usize {
        if let Some(index) = self.names.get(name) {
            return *index;
        }
        let index = self.program.variables.len();
        let location = self.program.initial.len() as u32;
        self.program.initial.push(0);
        self.program.variables.push(Variable { name: name.to_owned(), location });
        self.names.insert(name.to_owned(), index);
        index
    }

    fn address(&mut self, name: &str) -> i64 {
        let variable = self.variable(name);
        ADDRESS_BASE + 8 * i64::from(self.program.variables[variable].location)
    }

    fn access(
        &mut self,
        _thread: usize,
        flags: Flags,
        name: &Token,
        kind: AccessForm,
    ) -> Result<Access, SyntaxError> {
        let location = self.tokens.word("a variable")?;
        if is_register(&location.text) {
            return Err(self
                .tokens
                .error_at(&location, "a variable: addresses in registers are not in the format"));
        }
        let variable = self.variable(&location.text);
        let fail = |expected: &str| Err(self.tokens.error_at(name, expected));
        let Some(class) = flags.class else {
            return fail("a storage class (.sc0 to .sc3) in the instruction");
        };
        let atomic = flags.atomic;
        let plain_scope = flags.available || flags.visible;
        if atomic && flags.scope.is_none() {
            return fail("a scope (.sg, .wg, .qf, .dv) on an atomic");
        }
        if plain_scope != flags.scope.is_some() && !atomic {
            return fail("a scope exactly where there is .av or .vis");
        }
        let wrong = match kind {
            AccessForm::Store => flags.visible || flags.acquire || flags.semantics_visible,
            AccessForm::Load => flags.available || flags.release || flags.semantics_available,
            AccessForm::ReadModifyWrite => !atomic || flags.available || flags.visible,
        };
        if wrong {
            return fail(match kind {
                AccessForm::Store => "a store without .vis, .acq and .semvis",
                AccessForm::Load => "a load without .av, .rel and .semav",
                AccessForm::ReadModifyWrite => "`rmw.atom` without .av and .vis",
            });
        }
        if flags.operation.is_some() && !matches!(kind, AccessForm::ReadModifyWrite) {
            return fail("an operation on `rmw` only");
        }
        let semantics = flags.semantics();
        if semantics != Semantics::RELAXED && !atomic {
            return fail("semantics on `.atom` only");
        }
        self.check_semantics(&flags, name)?;
        Ok(Access {
            variable,
            class,
            atomic,
            non_private: flags.non_private,
            available: flags.available,
            visible: flags.visible,
            scope: flags.scope.unwrap_or(Scope::Invocation),
            semantics,
        })
    }

    fn check_semantics(&self, flags: &Flags, name: &Token) -> Result<(), SyntaxError> {
        let semantics = flags.semantics();
        let fail = |expected: &str| Err(self.tokens.error_at(name, expected));
        if (semantics.acquire || semantics.release) == semantics.classes.is_empty() {
            return fail(".semsc0 to .semsc3 exactly where there is .acq, .rel or .acq_rel");
        }
        if semantics.make_available && !semantics.release {
            return fail(".semav only with .rel or .acq_rel");
        }
        if semantics.make_visible && !semantics.acquire {
            return fail(".semvis only with .acq or .acq_rel");
        }
        Ok(())
    }

    fn barrier(&self, flags: &Flags, name: &Token, control: bool) -> Result<(Scope, Semantics), SyntaxError> {
        let semantics = flags.semantics();
        let fail = |expected: &str| Err(self.tokens.error_at(name, expected));
        let Some(scope) = flags.scope else { return fail("a scope (.sg, .wg, .qf, .dv) on a barrier") };
        if !control && !semantics.acquire && !semantics.release {
            return fail(".acq, .rel or .acq_rel on a memory barrier");
        }
        let access = flags.class.is_some() || flags.atomic || flags.operation.is_some();
        if access || flags.non_private || flags.available || flags.visible {
            return fail("a barrier without .sc, .atom, .nonpriv, .av, .vis and an operation");
        }
        self.check_semantics(flags, name)?;
        Ok((scope, semantics))
    }
}

#[derive(Clone, Copy)]
enum AccessForm {
    Store,
    Load,
    ReadModifyWrite,
}

fn branch(word: &str) -> Option<Comparison> {
    Some(match word {
        "beq" => Comparison::Equal,
        "bne" => Comparison::NotEqual,
        "blt" => Comparison::Less,
        "ble" => Comparison::LessEqual,
        "bgt" => Comparison::Greater,
        "bge" => Comparison::GreaterEqual,
        _ => return None,
    })
}

fn is_register(word: &str) -> bool {
    word.strip_prefix('r')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn thread_number(word: &str) -> Option<u32> {
    word.strip_prefix('P').unwrap_or(word).parse().ok()
}
