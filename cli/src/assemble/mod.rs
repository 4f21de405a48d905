//! SPIR-V from text: the assembly language of SPIRV-Tools, in which `spirv-dis` writes and `spirv-as` reads.
//!
//! The grammar is that of the `rspirv` crate, generated from the machine-readable one of the specification:
//! [`operand`] reads an operand of any kind with the operands that its enumerants ask for. [`token`] cuts the
//! text, [`number`] encodes literals of every width. Guarantees:
//!
//! - `%12` is a name like any other, and names get ids in order of appearance; or, if asked, numeric ids stay
//!   what they are (`%12` is id 12) and names get the smallest free ids ([`NumericIds`]);
//! - the words are those of `spirv-as`, and of `spirv-as --preserve-numeric-ids`, but for the generator;
//! - an error says where it is and what was expected there.
//!
//! The version is that of a header comment as `spirv-dis` writes it (`; Version: 1.5`), else 1.6.

pub mod extended;
pub mod number;
pub mod operand;
pub mod token;
pub mod younger;

#[cfg(test)]
mod tests;

use number::Scalar;
use operand::Operands;
use rspirv::grammar::{Instruction, LogicalOperand, OperandKind, OperandQuantifier};
use rspirv::spirv::{self, Op};
use std::collections::{BTreeSet, HashMap};
use token::{Lexeme, Token};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct AssembleError {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// What was expected, or is wrong.
    pub message: String,
}

/// What an id is that is written as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumericIds {
    /// A name: `%12` may become any id.
    #[default]
    Named,
    /// That number.
    Preserved,
}

/// Assembles a module as `spirv-as` does.
///
/// # Errors
/// The first place where the text is no module.
pub fn assemble(text: &str) -> Result<Vec<u32>, AssembleError> {
    assemble_with(text, NumericIds::default())
}

/// Assembles a module.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_with(text: &str, numeric: NumericIds) -> Result<Vec<u32>, AssembleError> {
    let module = Module::parse(text, numeric)?;
    Ok(module.words(|_, _| {}))
}

/// Assembles a module in which every instruction of a function carries its place in `file`, by OpLine. A
/// module that names places of its own keeps those alone.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_with_lines(text: &str, file: &str, numeric: NumericIds) -> Result<Vec<u32>, AssembleError> {
    let mut module = Module::parse(text, numeric)?;
    let told = |i: &Assembled| {
        i.op == Op::Line || (i.op == Op::ExtInstImport && i.text.starts_with("NonSemantic.Shader"))
    };
    if module.instructions.iter().any(told) {
        return Ok(module.words(|_, _| {}));
    }
    let name = module.bound;
    module.bound += 1;
    let mut named = false;
    let mut lines = Places::default();
    Ok(module.words(|words, instruction| {
        if !named && !before_strings(instruction.op) {
            named = true;
            let string = operand::string_words(file);
            words.push((string.len() as u32 + 2) << 16 | Op::String as u32);
            words.push(name);
            words.extend(string);
        }
        if lines.wanted(instruction.op) {
            words.extend([4 << 16 | Op::Line as u32, name, instruction.line, instruction.column]);
        }
    }))
}

/// Whether an instruction belongs to the sections before OpString.
fn before_strings(op: Op) -> bool {
    matches!(
        op,
        Op::Capability
            | Op::Extension
            | Op::ExtInstImport
            | Op::MemoryModel
            | Op::EntryPoint
            | Op::ExecutionMode
            | Op::ExecutionModeId
    )
}

/// Where an OpLine may stand: in a block, but not between a merge instruction and the branch after it.
#[derive(Default)]
struct Places {
    in_block: bool,
    after_merge: bool,
}

impl Places {
    fn wanted(&mut self, op: Op) -> bool {
        let wanted = self.in_block && !self.after_merge && op != Op::Variable;
        match op {
            Op::Label => self.in_block = true,
            Op::FunctionEnd => self.in_block = false,
            _ => {}
        }
        self.after_merge = matches!(op, Op::SelectionMerge | Op::LoopMerge);
        wanted && !matches!(op, Op::Label | Op::FunctionEnd)
    }
}

/// One instruction.
struct Assembled {
    op: Op,
    words: Vec<u32>,
    /// The string of an import.
    text: String,
    line: u32,
    column: u32,
}

struct Module {
    version: u32,
    bound: u32,
    instructions: Vec<Assembled>,
}

/// SPIR-V 1.6, as `spirv-as` writes it.
const VERSION: u32 = 0x0001_0600;

impl Module {
    fn parse(text: &str, numeric: NumericIds) -> Result<Module, AssembleError> {
        let tokens = token::tokens(text)?;
        let ids = Ids::new(&tokens, numeric)?;
        let mut parser = Parser { tokens: &tokens, at: 0, ids, types: Types::default() };
        let mut instructions = Vec::new();
        while parser.at < tokens.len() {
            instructions.push(parser.instruction()?);
        }
        Ok(Module { version: version(text), bound: parser.ids.bound(), instructions })
    }

    fn words(&self, mut before: impl FnMut(&mut Vec<u32>, &Assembled)) -> Vec<u32> {
        let mut words = vec![spirv::MAGIC_NUMBER, self.version, 0, self.bound, 0];
        for instruction in &self.instructions {
            before(&mut words, instruction);
            words.extend(&instruction.words);
        }
        words
    }
}

/// The version that a header comment names.
fn version(text: &str) -> u32 {
    let comments = text.lines().map_while(|line| line.trim().strip_prefix(';'));
    let named = comments.filter_map(|comment| {
        let (major, minor) = comment.trim().strip_prefix("Version:")?.trim().split_once('.')?;
        Some((major.parse::<u8>().ok()?, minor.parse::<u8>().ok()?))
    });
    named.map(|(major, minor)| u32::from(major) << 16 | u32::from(minor) << 8).next().unwrap_or(VERSION)
}

/// Names and numbers of ids.
struct Ids {
    /// Numbers that are ids themselves.
    numeric: BTreeSet<u32>,
    named: HashMap<String, u32>,
    free: u32,
}

impl Ids {
    fn new(tokens: &[Token<'_>], preserved: NumericIds) -> Result<Ids, AssembleError> {
        let mut numeric = BTreeSet::new();
        let mut numbers = tokens.iter().filter(|t| t.kind == Lexeme::Id && is_number(t.text));
        while preserved == NumericIds::Preserved
            && let Some(token) = numbers.next()
        {
            match token.text.parse::<u32>() {
                Ok(id @ 1..0x0040_0000) => numeric.insert(id),
                _ => return Err(token.error("an id is a number from 1 to 4194303".to_owned())),
            };
        }
        Ok(Ids { numeric, named: HashMap::new(), free: 1 })
    }

    fn get(&mut self, name: &str) -> u32 {
        let number = name.parse::<u32>().ok().filter(|id| is_number(name) && self.numeric.contains(id));
        if let Some(id) = number {
            return id;
        }
        if let Some(id) = self.named.get(name) {
            return *id;
        }
        while self.numeric.contains(&self.free) {
            self.free += 1;
        }
        let id = self.free;
        self.free += 1;
        self.named.insert(name.to_owned(), id);
        id
    }

    fn bound(&self) -> u32 {
        let numeric = self.numeric.last().map_or(1, |id| id + 1);
        self.named.values().fold(numeric, |bound, id| bound.max(id + 1))
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What the encoding of later operands depends on.
#[derive(Default)]
struct Types {
    /// Scalar types.
    scalars: HashMap<u32, Scalar>,
    /// The type of each result.
    of: HashMap<u32, u32>,
    /// Names of imported sets.
    imports: HashMap<u32, String>,
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    ids: Ids,
    types: Types,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at)
    }

    /// Whether the next token begins another instruction, or there is none.
    fn at_end(&self) -> bool {
        let next_is_equals = || self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Lexeme::Equals);
        match self.peek() {
            None => true,
            Some(token) => match token.kind {
                Lexeme::Word => is_opcode(token.text),
                Lexeme::Id => next_is_equals(),
                _ => false,
            },
        }
    }

    fn instruction(&mut self) -> Result<Assembled, AssembleError> {
        let first = &self.tokens[self.at];
        let result = if first.kind == Lexeme::Id {
            self.at += 1;
            match self.peek().filter(|token| token.kind == Lexeme::Equals) {
                Some(_) => self.at += 1,
                None => return Err(self.expected("`=` after the result id")),
            }
            Some(first)
        } else {
            None
        };
        let Some(token) = self.peek().filter(|token| token.kind == Lexeme::Word) else {
            return Err(self.expected("an opcode"));
        };
        if !is_opcode(token.text) {
            return Err(self.expected("an opcode, such as OpLoad"));
        }
        let Some(form) = younger::form(&token.text[2..]) else {
            return Err(token.error(format!("no instruction is called {}", token.text)));
        };
        self.at += 1;
        let has_result = form.operands.iter().any(|o| o.kind == OperandKind::IdResult);
        match result {
            None if has_result => {
                return Err(token.error(format!("{} has a result: expected `%id = {0}`", token.text)));
            }
            Some(result) if !has_result => {
                return Err(result.error(format!("{} has no result", token.text)));
            }
            _ => {}
        }
        let mut words = vec![form.opcode];
        let mut text = String::new();
        self.operands(&form, result, token, &mut words, &mut text)?;
        if !self.at_end() {
            return Err(self.expected(&format!("the end of {}", token.text)));
        }
        if words.len() > usize::from(u16::MAX) {
            return Err(token.error(format!("{} words; an instruction has at most 65535", words.len())));
        }
        words[0] = (words.len() as u32) << 16 | form.opcode;
        self.types.learn(form.op, &words, &text);
        Ok(Assembled { op: form.op, words, text, line: first.line, column: first.column })
    }

    fn operands(
        &mut self,
        form: &younger::Form,
        result: Option<&Token<'a>>,
        token: &Token<'a>,
        words: &mut Vec<u32>,
        text: &mut String,
    ) -> Result<(), AssembleError> {
        let mut pending: Operands = form.operands.iter().rev().cloned().collect();
        while let Some(LogicalOperand { kind, quantifier }) = pending.pop() {
            if kind == OperandKind::IdResult {
                words.extend(result.map(|result| self.ids.get(result.text)));
                continue;
            }
            if quantifier != OperandQuantifier::One && self.at_end() {
                continue;
            }
            if self.peek().is_some_and(|token| token.kind == Lexeme::Raw) {
                return self.raw(words);
            }
            if self.at_end() {
                let what = operand::describe(kind);
                return Err(self.expected(&format!("{what} for {}", token.text)));
            }
            if quantifier == OperandQuantifier::ZeroOrMore {
                pending.push(LogicalOperand { kind, quantifier });
            }
            operand::read(self, kind, words, &mut pending, text)?;
        }
        Ok(())
    }

    /// After the first `!word`, the rest of an instruction is words, ids, integers and strings as they come.
    fn raw(&mut self, words: &mut Vec<u32>) -> Result<(), AssembleError> {
        while !self.at_end() {
            let Some(token) = self.peek() else { break };
            match &token.kind {
                Lexeme::Raw => words.push(number::raw(token.text).map_err(|message| token.error(message))?),
                Lexeme::Id => words.push(self.ids.get(token.text)),
                Lexeme::String(text) => words.extend(operand::string_words(text)),
                _ => {
                    let scalar = if number::is_float(token.text) {
                        Scalar::Float { width: 32 }
                    } else {
                        Scalar::Int { width: 32, signed: token.text.starts_with('-') }
                    };
                    words.extend(number::encode(token.text, scalar).map_err(|message| token.error(message))?);
                }
            }
            self.at += 1;
        }
        Ok(())
    }

    /// An error at the next token: what was expected there.
    fn expected(&self, what: &str) -> AssembleError {
        match (self.peek(), self.tokens.last()) {
            (Some(token), _) => token.error(format!("expected {what}, found {}", token.shown())),
            (None, Some(last)) => last.error_after(format!("expected {what}, found the end of the text")),
            (None, None) => AssembleError { line: 1, column: 1, message: format!("expected {what}") },
        }
    }
}

impl Types {
    /// Remembers what an instruction says about its result.
    fn learn(&mut self, op: Op, words: &[u32], text: &str) {
        match (op, words) {
            (Op::TypeInt, [_, id, width, signed, ..]) => {
                self.scalars.insert(*id, Scalar::Int { width: *width, signed: *signed != 0 });
            }
            (Op::TypeFloat, [_, id, width, ..]) => {
                self.scalars.insert(*id, Scalar::Float { width: *width });
            }
            (Op::ExtInstImport, [_, id, ..]) => {
                self.imports.insert(*id, text.to_owned());
            }
            _ => {
                let typed = core_instruction_of(op).operands.first();
                if let (Some(OperandKind::IdResultType), [_, of, id, ..]) = (typed.map(|o| o.kind), words) {
                    self.of.insert(*id, *of);
                }
            }
        }
    }
}

fn core_instruction_of(op: Op) -> &'static Instruction<'static> {
    rspirv::grammar::CoreInstructionTable::get(op)
}

/// Whether a word is the name of an instruction rather than of an enumerant.
fn is_opcode(text: &str) -> bool {
    text.strip_prefix("Op").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}
