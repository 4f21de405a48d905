//! The questions of a herd-style test: `locations`, `exists`, `~exists`, `forall` and their conditions.

use super::{Reader, is_register};
use crate::litmus::program::{Comparison, Condition, Question, Term};
use crate::litmus::syntax::{SyntaxError, TokenKind, join_all};

impl Reader<'_> {
    pub(super) fn locations(&mut self) -> Result<(), SyntaxError> {
        self.tokens.expect("locations")?;
        self.tokens.expect("[")?;
        while !self.tokens.eat("]") {
            if self.tokens.eat(";") {
                continue;
            }
            let term = self.term(false)?;
            self.program.observed.push(term);
        }
        Ok(())
    }

    pub(super) fn question(&mut self) -> Result<(), SyntaxError> {
        let negated = self.tokens.eat("~") || self.tokens.eat("not");
        let word = self.tokens.peek().text.clone();
        match word.as_str() {
            "exists" | "final" if !self.tokens.end() => {
                self.tokens.advance();
                let condition = self.condition()?;
                self.program.question =
                    Some(if negated { Question::NotExists(condition) } else { Question::Exists(condition) });
                self.tokens.eat(";");
                if word == "final" && self.tokens.eat("with") {
                    self.expectations()?;
                }
            }
            "forall" if !negated => {
                self.tokens.advance();
                self.program.question = Some(Question::ForAll(self.condition()?));
                self.tokens.eat(";");
            }
            _ if negated => return Err(self.tokens.error("`exists`")),
            _ => {}
        }
        Ok(())
    }

    /// `final ... with tso: exists; ...`: expectations of other models, which say nothing of this one.
    fn expectations(&mut self) -> Result<(), SyntaxError> {
        while !self.tokens.end() {
            self.tokens.word("the name of a model")?;
            self.tokens.expect(":")?;
            let _negated = self.tokens.eat("~") || self.tokens.eat("not");
            self.tokens.expect("exists")?;
            self.tokens.expect(";")?;
        }
        Ok(())
    }

    pub(super) fn condition(&mut self) -> Result<Condition, SyntaxError> {
        let first = self.conjunction()?;
        let mut rest = Vec::new();
        while self.tokens.eat("\\/") {
            rest.push(self.conjunction()?);
        }
        Ok(join_all(first, rest, |a, b| Condition::Or(Box::new(a), Box::new(b))))
    }

    fn conjunction(&mut self) -> Result<Condition, SyntaxError> {
        let first = self.negation()?;
        let mut rest = Vec::new();
        while self.tokens.eat("/\\") {
            rest.push(self.negation()?);
        }
        Ok(join_all(first, rest, |a, b| Condition::And(Box::new(a), Box::new(b))))
    }

    fn negation(&mut self) -> Result<Condition, SyntaxError> {
        self.tokens.enter()?;
        let condition = self.operand_of_condition();
        self.tokens.leave();
        condition
    }

    fn operand_of_condition(&mut self) -> Result<Condition, SyntaxError> {
        if self.tokens.eat("~") || self.tokens.eat("not") {
            return Ok(Condition::Not(Box::new(self.negation()?)));
        }
        if self.tokens.eat("(") {
            let condition = self.condition()?;
            self.tokens.expect(")")?;
            return Ok(condition);
        }
        let a = self.term(false)?;
        let comparison = match self.tokens.peek().text.as_str() {
            "=" | "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => return Err(self.tokens.error("a comparison: =, ==, !=, <, <=, > or >=")),
        };
        self.tokens.advance();
        Ok(Condition::Compare(comparison, a, self.term(true)?))
    }

    /// A value of the final state. A bare variable on the right of a comparison is its address, as in the
    /// format's definition.
    fn term(&mut self, right: bool) -> Result<Term, SyntaxError> {
        if self.tokens.peek_at(1).text == ":" {
            let name = self.thread_name()?;
            self.tokens.advance();
            let register = self.tokens.word("a register")?;
            let thread = self.thread(&name)?;
            let known = self.program.threads[thread].registers.contains(&register.text);
            if !known && !is_register(&register.text) {
                return Err(self.tokens.error_at(&register, "a register of this thread"));
            }
            return Ok(Term::Register(thread, self.register_index(thread, &register)));
        }
        let bracketed = self.tokens.eat("[");
        if bracketed || self.tokens.peek().kind == TokenKind::Word {
            let name = self.tokens.word("a variable")?;
            let Some(variable) = self.names.get(&name.text).copied() else {
                return Err(self
                    .tokens
                    .error_at(&name, "a variable of this test, a register `P0:r0` or a constant"));
            };
            if bracketed {
                self.tokens.expect("]")?;
            }
            let mut indexed = bracketed;
            if !bracketed && self.tokens.eat("[") {
                let index = self.tokens.peek().clone();
                if self.tokens.number("an index")? != 0 {
                    return Err(self.tokens.error_at(&index, "index 0: variables are single cells"));
                }
                self.tokens.expect("]")?;
                indexed = true;
            }
            if right && !indexed {
                return Ok(Term::Constant(self.address(&name.text)));
            }
            return Ok(Term::Memory(self.program.variables[variable].location));
        }
        match self.tokens.constant() {
            Ok(value) => Ok(Term::Constant(value)),
            Err(mut error) => {
                error.expected = "a register `P0:r0`, a variable or a constant".to_owned();
                Err(error)
            }
        }
    }
}
