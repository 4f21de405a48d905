//! Conditions of breakpoints: comparisons of numbers and variables, joined by `&&`. One is read when the
//! breakpoint is set, its names are looked up once for each instruction that hits the breakpoint, and what
//! is left to do for each invocation is to load values and to compare them.

use super::expression::Path;
use super::{Eyes, Item};
use std::cmp::Ordering;
use vulkan_pellucid::report::element::Element;

/// A condition; `R` as of a [`Path`].
#[derive(Clone, Debug)]
pub struct Condition<R = String> {
    /// As the user wrote it.
    pub text: String,
    /// All of them have to hold.
    comparisons: Vec<Comparison<R>>,
}

/// A relation between two values; without one the value is not 0.
#[derive(Clone, Debug)]
struct Comparison<R> {
    left: Value<R>,
    right: Option<(Holds, Value<R>)>,
}

#[derive(Clone, Debug)]
enum Value<R> {
    Literal(Number),
    Of(Path<R>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer(i128),
    Float(f64),
}

/// Whether a relation holds between values of this order; `None`: one of them is no number.
type Holds = fn(Option<Ordering>) -> bool;

/// Those that begin like others come first.
const RELATIONS: [(&str, Holds); 6] = [
    ("==", |order| order == Some(Ordering::Equal)),
    ("!=", |order| order != Some(Ordering::Equal)),
    ("<=", |order| order.is_some_and(Ordering::is_le)),
    (">=", |order| order.is_some_and(Ordering::is_ge)),
    ("<", |order| order == Some(Ordering::Less)),
    (">", |order| order == Some(Ordering::Greater)),
];

impl Number {
    /// Decimal, or hexadecimal after `0x`, with a suffix as in shaders.
    fn parse(text: &str) -> Option<Number> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
        let sign = if negative { -1 } else { 1 };
        if let Some(hex) = digits.strip_prefix("0x") {
            let bits = u64::from_str_radix(hex.trim_end_matches(['u', 'U']), 16).ok()?;
            return Some(Number::Integer(sign * i128::from(bits)));
        }
        if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let integer = digits.trim_end_matches(['u', 'U']).parse::<u64>();
        let float = || digits.trim_end_matches(['f', 'F']).parse::<f64>();
        Some(match integer {
            Ok(integer) => Number::Integer(sign * i128::from(integer)),
            Err(_) => Number::Float(f64::from(sign as i8) * float().ok()?),
        })
    }

    /// A value of a variable. Floats are what their shortest text says, as a literal is.
    fn of(bits: u64, element: Element) -> Option<Number> {
        match element.integer(bits) {
            Some(integer) => Some(Number::Integer(integer)),
            None => Some(Number::Float(element.decode(&bits.to_le_bytes()).parse().ok()?)),
        }
    }

    fn float(self) -> f64 {
        match self {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        }
    }

    fn order(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(&b)),
            (a, b) => a.float().partial_cmp(&b.float()),
        }
    }
}

/// The value that a text begins with; and what follows it.
fn value(text: &str) -> Result<(Value<String>, &str), String> {
    let text = text.trim_start();
    if text.is_empty() {
        return Err("a number or a variable is missing at its end".to_owned());
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
        let hex = text.trim_start_matches('-').starts_with("0x");
        let mut last = None;
        let end = text.find(|c: char| {
            let sign = (c == '-' || c == '+') && !hex && matches!(last, None | Some('e' | 'E'));
            last = Some(c);
            !(sign || c.is_alphanumeric() || c == '.')
        });
        let (literal, rest) = text.split_at(end.unwrap_or(text.len()));
        let number = Number::parse(literal).ok_or_else(|| format!("\"{text}\" begins with no number"))?;
        return Ok((Value::Literal(number), rest));
    }
    let (path, rest) = Path::begin(text)?;
    Ok(match path.text.as_str() {
        "" => return Err(format!("\"{text}\" begins with no number and no variable")),
        "true" => (Value::Literal(Number::Integer(1)), rest),
        "false" => (Value::Literal(Number::Integer(0)), rest),
        _ => (Value::Of(path), rest),
    })
}

impl Condition {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it, whatever its names stand for.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let text = text.trim();
        let wrong = |why: String| format!("no condition: \"{text}\": {why}");
        let mut comparisons = Vec::new();
        let mut rest = text;
        loop {
            let (left, behind) = value(rest).map_err(wrong)?;
            rest = behind.trim_start();
            let relation = RELATIONS.iter().find(|(name, _)| rest.starts_with(name));
            let right = match relation {
                Some((name, holds)) => {
                    let (right, behind) = value(&rest[name.len()..]).map_err(wrong)?;
                    rest = behind.trim_start();
                    Some((*holds, right))
                }
                None => None,
            };
            comparisons.push(Comparison { left, right });
            if rest.is_empty() {
                return Ok(Condition { text: text.to_owned(), comparisons });
            }
            let and = rest.strip_prefix("&&");
            rest = and.ok_or_else(|| {
                wrong(format!("what follows a comparison is &&, and no other operator: \"{rest}\""))
            })?;
        }
    }
}

impl Eyes<'_, '_, '_, '_, '_> {
    /// Looks up the names of a condition, for all invocations that stand at the same instruction.
    ///
    /// # Errors
    /// Why it can be judged for none of them: a name that there is not, or that is no number.
    pub fn judge(&mut self, condition: &Condition) -> Result<Condition<Item>, String> {
        let mut known = |value: &Value<String>| {
            let path = match value {
                Value::Literal(number) => return Ok(Value::Literal(*number)),
                Value::Of(path) => self.look_up(path)?,
            };
            if !path.is_constant() {
                return Ok(Value::Of(path));
            }
            let root = self.follow(&path)?;
            match self.element(&root) {
                None => Err(format!("\"{}\" is no number", path.text)),
                Some(_) => Ok(Value::Of(Path { text: path.text, root, steps: Vec::new() })),
            }
        };
        let mut comparisons = Vec::new();
        for Comparison { left, right } in &condition.comparisons {
            let right = match right {
                Some((holds, right)) => Some((*holds, known(right)?)),
                None => None,
            };
            comparisons.push(Comparison { left: known(left)?, right });
        }
        Ok(Condition { text: condition.text.clone(), comparisons })
    }

    fn value(&mut self, value: &Value<Item>) -> Result<Number, String> {
        let path = match value {
            Value::Literal(number) => return Ok(*number),
            Value::Of(path) => path,
        };
        let found = match path.is_constant() {
            true => self.scalar(&path.root),
            false => {
                let item = self.follow(path)?;
                self.scalar(&item)
            }
        };
        let number = found.and_then(|(bits, element)| Number::of(bits, element));
        number.ok_or_else(|| format!("\"{}\" is no number that is known here", path.text))
    }

    /// Whether a condition holds for the invocation.
    ///
    /// # Errors
    /// Why it cannot be judged for this one.
    pub fn holds(&mut self, condition: &Condition<Item>) -> Result<bool, String> {
        for Comparison { left, right } in &condition.comparisons {
            let left = self.value(left)?;
            let holds = match right {
                Some((holds, right)) => holds(left.order(self.value(right)?)),
                None => left.float() != 0.0,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
