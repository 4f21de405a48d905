//! The predicates of `.test` assertions: the part of the Alloy language that speaks of one execution `X`.
//!
//! Formulas: `consistent[X]`, `racefree[X]`, `locordcomplete[X]`, `is_acyclic[r]`, `is_equivalence[r,s]`,
//! `strict_partial_order[r]`, `transitive[r]`, `irreflexive[r]`, `symmetric[r]`, `#expression` compared with
//! a number or another, `no`, `some`, `one`, `lone`, `in`, `=`, and `!`, `&&`, `||`, `=>`, `<=>` with their
//! words. Expressions: the sets and relations of an execution (with or without `X.`), `none`, `iden`, `univ`,
//! `+ - & -> . <: :> ~ ^ *` and the functions `stor`, `rai`, `rc`, `imm`, `twoplus`.

use crate::model::{Candidate, Matrix, PreExecution, Row, Verdict, alloy};

use super::program::Comparison;
use super::syntax::{SyntaxError, TokenKind, Tokens, join_all};

/// A formula about one execution.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// `consistent[X]`.
    Consistent,
    /// `racefree[X]`.
    RaceFree,
    /// `locordcomplete[X]`.
    LocationOrderComplete,
    /// A constant, as an empty predicate is.
    Always,
    /// Negation.
    Not(Box<Predicate>),
    /// Conjunction.
    And(Box<Predicate>, Box<Predicate>),
    /// Disjunction.
    Or(Box<Predicate>, Box<Predicate>),
    /// The second where the first holds, the third elsewhere.
    If(Box<Predicate>, Box<Predicate>, Box<Predicate>),
    /// Both or neither.
    Equal(Box<Predicate>, Box<Predicate>),
    /// Comparison of sizes.
    Count(Comparison, Count, Count),
    /// How many pairs or members: at least and at most.
    Multiplicity(Expression, u32, u32),
    /// Inclusion.
    In(Expression, Expression),
    /// No event reaches itself.
    Acyclic(Expression),
    /// No event relates to itself directly.
    Irreflexive(Expression),
    /// Two steps are one.
    Transitive(Expression),
    /// Its own inverse.
    Symmetric(Expression),
    /// Acyclic and transitive.
    StrictPartialOrder(Expression),
    /// An equivalence over a set.
    Equivalence(Expression, Expression),
}

/// A number.
#[derive(Clone, Debug)]
pub enum Count {
    /// Written in the predicate.
    Constant(i64),
    /// The size of a set or relation.
    Size(Expression),
}

/// A set of events or a relation between them.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A field of the execution.
    Field(String),
    /// The empty set.
    None,
    /// The identity relation.
    Identity,
    /// All events.
    Universe,
    /// A binary operator.
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// A unary operator or function.
    Unary(&'static str, Box<Expression>),
}

const PROPERTIES: [&str; 8] = [
    "is_acyclic",
    "acyclic",
    "irreflexive",
    "transitive",
    "symmetric",
    "strict_partial_order",
    "is_equivalence",
    "equivalence",
];

const FUNCTIONS: [&str; 5] = ["stor", "rai", "rc", "imm", "twoplus"];

impl Predicate {
    pub(super) fn read(mut tokens: Tokens<'_>) -> Result<Predicate, SyntaxError> {
        if tokens.end() {
            return Ok(Predicate::Always);
        }
        let predicate = equivalence(&mut tokens)?;
        if !tokens.end() {
            return Err(tokens.error("`&&`, `||`, `=>`, `<=>` or the end of the line"));
        }
        Ok(predicate)
    }

    /// Whether only consistent executions can satisfy it.
    pub(super) fn demands_consistency(&self) -> bool {
        match self {
            Predicate::Consistent => true,
            Predicate::And(a, b) => a.demands_consistency() || b.demands_consistency(),
            Predicate::Or(a, b) => a.demands_consistency() && b.demands_consistency(),
            _ => false,
        }
    }

    /// Evaluates the predicate; an error names a misuse of a set as a relation or the reverse.
    pub(super) fn holds<R: Row>(&self, execution: &JudgedExecution<'_, R>) -> Result<bool, &'static str> {
        Ok(match self {
            Predicate::Always => true,
            Predicate::Consistent => execution.verdict.consistent(),
            Predicate::RaceFree => execution.verdict.races(execution.model).is_empty(),
            Predicate::LocationOrderComplete => {
                let plain = |mut relation: Matrix<R>| {
                    let reads = execution.model.read & !execution.model.write;
                    for event in reads.members() {
                        *relation.row_mut(event) &= !reads;
                    }
                    relation
                };
                let ordered = &execution.verdict.location_ordered;
                let mut left = ordered.inverse();
                left.unite(ordered);
                left.unite(&execution.model.mutually_ordered);
                let mut right = execution.model.overlap.clone();
                right.subtract(&Matrix::empty(right.len()).reflexive());
                plain(left) == plain(right)
            }
            Predicate::Not(inner) => !inner.holds(execution)?,
            Predicate::And(a, b) => a.holds(execution)? && b.holds(execution)?,
            Predicate::Or(a, b) => a.holds(execution)? || b.holds(execution)?,
            Predicate::If(condition, a, b) => {
                if condition.holds(execution)? {
                    a.holds(execution)?
                } else {
                    b.holds(execution)?
                }
            }
            Predicate::Equal(a, b) => a.holds(execution)? == b.holds(execution)?,
            Predicate::Count(comparison, a, b) => {
                comparison.holds(a.evaluate(execution)?, b.evaluate(execution)?)
            }
            Predicate::Multiplicity(expression, least, most) => {
                let size = expression.evaluate(execution)?.size();
                (*least as usize..=*most as usize).contains(&size)
            }
            Predicate::In(a, b) => a.evaluate(execution)?.within(&b.evaluate(execution)?)?,
            Predicate::Acyclic(expression) => expression.evaluate(execution)?.relation()?.acyclic(),
            Predicate::Irreflexive(expression) => expression.evaluate(execution)?.relation()?.irreflexive(),
            Predicate::Transitive(expression) => {
                let relation = expression.evaluate(execution)?.relation()?;
                relation.closure() == relation
            }
            Predicate::Symmetric(expression) => {
                let relation = expression.evaluate(execution)?.relation()?;
                relation.inverse() == relation
            }
            Predicate::StrictPartialOrder(expression) => {
                let relation = expression.evaluate(execution)?.relation()?;
                relation.acyclic() && relation.closure() == relation
            }
            Predicate::Equivalence(relation, set) => {
                let (relation, set) =
                    (relation.evaluate(execution)?.relation()?, set.evaluate(execution)?.set()?);
                relation.inverse() == relation
                    && relation.closure() == relation
                    && set.members().all(|event| relation.has(event, event))
                    && (0..relation.len()).all(|event| relation.row(event).is_empty() || set.has(event))
            }
        })
    }
}

impl Count {
    fn evaluate<R: Row>(&self, execution: &JudgedExecution<'_, R>) -> Result<i64, &'static str> {
        Ok(match self {
            Count::Constant(value) => *value,
            Count::Size(expression) => expression.evaluate(execution)?.size() as i64,
        })
    }
}

/// An execution with everything that predicates can name.
pub(super) struct JudgedExecution<'a, R> {
    pub model: &'a PreExecution<R>,
    pub candidate: &'a Candidate<R>,
    pub verdict: &'a Verdict<R>,
}

enum Value<R> {
    Set(R),
    Relation(Matrix<R>),
}

impl<R: Row> Value<R> {
    fn size(&self) -> usize {
        match self {
            Value::Set(set) => set.count(),
            Value::Relation(relation) => relation.pairs().count(),
        }
    }

    fn relation(self) -> Result<Matrix<R>, &'static str> {
        match self {
            Value::Relation(relation) => Ok(relation),
            Value::Set(_) => Err("a relation is needed where a set of events stands"),
        }
    }

    fn set(self) -> Result<R, &'static str> {
        match self {
            Value::Set(set) => Ok(set),
            Value::Relation(_) => Err("a set of events is needed where a relation stands"),
        }
    }

    fn within(&self, other: &Value<R>) -> Result<bool, &'static str> {
        match (self, other) {
            (Value::Set(a), Value::Set(b)) => Ok((*a & !*b).is_empty()),
            (Value::Relation(a), Value::Relation(b)) => {
                let mut left = a.clone();
                left.subtract(b);
                Ok(left.is_empty())
            }
            // `none` is the empty relation too.
            (Value::Set(a), Value::Relation(_)) if a.is_empty() => Ok(true),
            (Value::Relation(a), Value::Set(b)) if b.is_empty() => Ok(a.is_empty()),
            _ => Err("a set of events is compared with a relation"),
        }
    }
}

impl Expression {
    fn evaluate<R: Row>(&self, execution: &JudgedExecution<'_, R>) -> Result<Value<R>, &'static str> {
        let n = execution.model.len();
        let identity = || Matrix::<R>::empty(n).reflexive();
        let diagonal = |set: R| identity().between(set, !R::default());
        Ok(match self {
            Expression::None => Value::Set(R::default()),
            Expression::Identity => Value::Relation(identity()),
            Expression::Universe => Value::Set((0..n).fold(R::default(), |all, event| all | R::bit(event))),
            Expression::Field(name) => match alloy::set(execution.model, execution.candidate, name) {
                Some(set) => Value::Set(set),
                None => Value::Relation(
                    alloy::relation(execution.model, execution.candidate, execution.verdict, name)
                        .ok_or("an unknown field of the execution")?,
                ),
            },
            Expression::Unary(operator, inner) => {
                let inner = inner.evaluate(execution)?;
                match *operator {
                    "stor" => Value::Relation(diagonal(inner.set()?)),
                    operator => {
                        let relation = inner.relation()?;
                        Value::Relation(match operator {
                            "~" => relation.inverse(),
                            "^" => relation.closure(),
                            "*" => relation.closure().reflexive(),
                            "rc" => relation.reflexive(),
                            "rai" => {
                                let mut both = relation.inverse();
                                both.unite(&relation);
                                both
                            }
                            "imm" => {
                                let mut immediate = relation.clone();
                                immediate.subtract(&relation.compose(&relation.closure()));
                                immediate
                            }
                            _ => relation.compose(&relation.closure()),
                        })
                    }
                }
            }
            Expression::Binary(operator, a, b) => {
                let (a, b) = (a.evaluate(execution)?, b.evaluate(execution)?);
                binary(operator, a, b, n)?
            }
        })
    }
}

fn binary<R: Row>(operator: &str, a: Value<R>, b: Value<R>, n: usize) -> Result<Value<R>, &'static str> {
    // `none` stands for the empty relation where a relation is needed.
    let (a, b) = match (a, b) {
        (Value::Set(a), Value::Relation(b)) if a.is_empty() && "+-&".contains(operator) => {
            (Value::Relation(Matrix::empty(n)), Value::Relation(b))
        }
        (Value::Relation(a), Value::Set(b)) if b.is_empty() && "+-&".contains(operator) => {
            (Value::Relation(a), Value::Relation(Matrix::empty(n)))
        }
        other => other,
    };
    Ok(match (operator, a, b) {
        ("+", Value::Set(a), Value::Set(b)) => Value::Set(a | b),
        ("-", Value::Set(a), Value::Set(b)) => Value::Set(a & !b),
        ("&", Value::Set(a), Value::Set(b)) => Value::Set(a & b),
        ("->", Value::Set(a), Value::Set(b)) => {
            Value::Relation(Matrix::from_fn(n, |x, y| a.has(x) && b.has(y)))
        }
        ("+", Value::Relation(mut a), Value::Relation(b)) => {
            a.unite(&b);
            Value::Relation(a)
        }
        ("-", Value::Relation(mut a), Value::Relation(b)) => {
            a.subtract(&b);
            Value::Relation(a)
        }
        ("&", Value::Relation(mut a), Value::Relation(b)) => {
            a.intersect(&b);
            Value::Relation(a)
        }
        (".", Value::Relation(a), Value::Relation(b)) => Value::Relation(a.compose(&b)),
        (".", Value::Set(a), Value::Relation(b)) => Value::Set(b.image(a)),
        (".", Value::Relation(a), Value::Set(b)) => Value::Set(a.inverse().image(b)),
        ("<:", Value::Set(a), Value::Relation(b)) => Value::Relation(b.between(a, !R::default())),
        (":>", Value::Relation(a), Value::Set(b)) => Value::Relation(a.between(!R::default(), b)),
        ("<:" | ":>", Value::Set(a), Value::Set(b)) => Value::Set(a & b),
        _ => return Err("an operator mixes sets of events and relations"),
    })
}

fn equivalence(tokens: &mut Tokens<'_>) -> Result<Predicate, SyntaxError> {
    chain(tokens, ["<=>", "iff"], implication, |a, b| Predicate::Equal(Box::new(a), Box::new(b)))
}

fn implication(tokens: &mut Tokens<'_>) -> Result<Predicate, SyntaxError> {
    let left = disjunction(tokens)?;
    if !tokens.eat("=>") && !tokens.eat("implies") {
        return Ok(left);
    }
    let right = nested(tokens, implication)?;
    let other = if tokens.eat("else") { nested(tokens, implication)? } else { Predicate::Always };
    Ok(Predicate::If(Box::new(left), Box::new(right), Box::new(other)))
}

fn disjunction(tokens: &mut Tokens<'_>) -> Result<Predicate, SyntaxError> {
    chain(tokens, ["||", "or"], conjunction, |a, b| Predicate::Or(Box::new(a), Box::new(b)))
}

fn conjunction(tokens: &mut Tokens<'_>) -> Result<Predicate, SyntaxError> {
    chain(tokens, ["&&", "and"], negation, |a, b| Predicate::And(Box::new(a), Box::new(b)))
}

/// Operands with an associative operator between them.
fn chain(
    tokens: &mut Tokens<'_>,
    operator: [&str; 2],
    next: fn(&mut Tokens<'_>) -> Result<Predicate, SyntaxError>,
    join: fn(Predicate, Predicate) -> Predicate,
) -> Result<Predicate, SyntaxError> {
    let first = next(tokens)?;
    let mut rest = Vec::new();
    while operator.iter().any(|word| tokens.eat(word)) {
        rest.push(next(tokens)?);
    }
    Ok(join_all(first, rest, join))
}

/// Reads something that is a level deeper.
fn nested<T>(
    tokens: &mut Tokens<'_>,
    next: fn(&mut Tokens<'_>) -> Result<T, SyntaxError>,
) -> Result<T, SyntaxError> {
    tokens.enter()?;
    let inner = next(tokens);
    tokens.leave();
    inner
}

fn negation(tokens: &mut Tokens<'_>) -> Result<Predicate, SyntaxError> {
    if tokens.eat("!") || tokens.eat("not") {
        return Ok(Predicate::Not(Box::new(nested(tokens, negation)?)));
    }
    if tokens.is("(") {
        // A parenthesis opens a formula or an expression that a comparison goes on with.
        let mark = tokens.mark();
        tokens.advance();
        let formula = match nested(tokens, equivalence) {
            Ok(inner) => {
                let follows = ["&&", "||", "=>", "<=>", ")", "and", "or", "implies", "iff", "else"];
                let closed = tokens.eat(")");
                if closed && (tokens.end() || follows.iter().any(|word| tokens.is(word))) {
                    return Ok(inner);
                }
                tokens.error(if closed { "`&&`, `||`, `=>`, `<=>` or the end" } else { "`)`" })
            }
            Err(error) => error,
        };
        tokens.reset(mark);
        // Of the two readings, the one that got further tells what is wrong.
        return atom(tokens).map_err(|error| if formula.position > error.position { formula } else { error });
    }
    atom(tokens)
}

fn atom(tokens: &mut Tokens<'_>) -> Result<Predicate, SyntaxError> {
    for (word, least, most) in [("no", 0, 0), ("some", 1, u32::MAX), ("one", 1, 1), ("lone", 0, 1)] {
        if tokens.eat(word) {
            return Ok(Predicate::Multiplicity(sum(tokens)?, least, most));
        }
    }
    let name = tokens.peek().text.clone();
    if tokens.peek_at(1).text == "[" {
        let execution = match name.as_str() {
            "consistent" => Some(Predicate::Consistent),
            "racefree" => Some(Predicate::RaceFree),
            "locordcomplete" => Some(Predicate::LocationOrderComplete),
            _ => None,
        };
        if let Some(predicate) = execution {
            tokens.advance();
            tokens.expect("[")?;
            tokens.expect("X")?;
            tokens.expect("]")?;
            return Ok(predicate);
        }
        if PROPERTIES.contains(&name.as_str()) {
            tokens.advance();
            tokens.expect("[")?;
            let relation = sum(tokens)?;
            let set = if tokens.eat(",") { Some(sum(tokens)?) } else { None };
            tokens.expect("]")?;
            return match (name.as_str(), set) {
                ("is_acyclic" | "acyclic", _) => Ok(Predicate::Acyclic(relation)),
                ("irreflexive", _) => Ok(Predicate::Irreflexive(relation)),
                ("transitive", _) => Ok(Predicate::Transitive(relation)),
                ("symmetric", _) => Ok(Predicate::Symmetric(relation)),
                ("strict_partial_order", _) => Ok(Predicate::StrictPartialOrder(relation)),
                (_, Some(set)) => Ok(Predicate::Equivalence(relation, set)),
                (_, None) => Err(tokens.error("`,` and a set")),
            };
        }
    }
    if tokens.is("#") || tokens.peek().kind == TokenKind::Number || tokens.is("-") {
        let left = count(tokens)?;
        let token = tokens.peek().clone();
        let negated = tokens.eat("!");
        let comparison = match tokens.peek().text.as_str() {
            "=" | "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" | "=<" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => return Err(tokens.error_at(&token, "a comparison: =, !=, <, =<, <=, > or >=")),
        };
        tokens.advance();
        let right = count(tokens)?;
        let predicate = Predicate::Count(comparison, left, right);
        return Ok(if negated { Predicate::Not(Box::new(predicate)) } else { predicate });
    }
    let left = sum(tokens)?;
    let negated = tokens.eat("!") || tokens.eat("not");
    let predicate = if tokens.eat("in") {
        Predicate::In(left, sum(tokens)?)
    } else if tokens.is("=") || tokens.is("!=") {
        let different = tokens.advance().text == "!=";
        let right = sum(tokens)?;
        let both = Predicate::And(
            Box::new(Predicate::In(left.clone(), right.clone())),
            Box::new(Predicate::In(right, left)),
        );
        if different { Predicate::Not(Box::new(both)) } else { both }
    } else {
        return Err(tokens.error("`in`, `=` or `!=`"));
    };
    Ok(if negated { Predicate::Not(Box::new(predicate)) } else { predicate })
}

fn count(tokens: &mut Tokens<'_>) -> Result<Count, SyntaxError> {
    if tokens.eat("#") {
        return Ok(Count::Size(sum(tokens)?));
    }
    Ok(Count::Constant(tokens.constant()?))
}

fn level(
    tokens: &mut Tokens<'_>,
    operators: &[&'static str],
    next: fn(&mut Tokens<'_>) -> Result<Expression, SyntaxError>,
) -> Result<Expression, SyntaxError> {
    let mut left = next(tokens)?;
    while let Some(operator) = operators.iter().find(|operator| tokens.is(operator)) {
        tokens.operator()?;
        left = Expression::Binary(operator, Box::new(left), Box::new(next(tokens)?));
    }
    Ok(left)
}

fn sum(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    level(tokens, &["+", "-"], intersection)
}

fn intersection(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    level(tokens, &["&"], product)
}

fn product(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    level(tokens, &["->"], restriction)
}

fn restriction(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    level(tokens, &["<:", ":>"], join)
}

fn join(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    level(tokens, &["."], unary)
}

fn unary(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    if let Some(operator) = ["~", "^", "*"].into_iter().find(|operator| tokens.is(operator)) {
        tokens.advance();
        return Ok(Expression::Unary(operator, Box::new(nested(tokens, unary)?)));
    }
    primary(tokens)
}

fn primary(tokens: &mut Tokens<'_>) -> Result<Expression, SyntaxError> {
    if tokens.eat("(") {
        let inner = nested(tokens, sum)?;
        tokens.expect(")")?;
        return Ok(inner);
    }
    let token = tokens.peek().clone();
    if token.kind != TokenKind::Word {
        return Err(tokens.error("a set or relation of the execution"));
    }
    tokens.advance();
    if let Some(function) = FUNCTIONS.into_iter().find(|function| *function == token.text) {
        tokens.expect("[")?;
        let inner = nested(tokens, sum)?;
        tokens.expect("]")?;
        return Ok(Expression::Unary(function, Box::new(inner)));
    }
    match token.text.as_str() {
        "none" => return Ok(Expression::None),
        "iden" => return Ok(Expression::Identity),
        "univ" | "E" => return Ok(Expression::Universe),
        _ => {}
    }
    let name = if token.text == "X" {
        tokens.expect(".")?;
        tokens.word("a field of the execution")?
    } else {
        token
    };
    if !alloy::known(&name.text) {
        return Err(
            tokens.error_at(&name, "a set or relation of the execution (such as locord, hb, rf, dr, W, R)")
        );
    }
    Ok(Expression::Field(name.text))
}
