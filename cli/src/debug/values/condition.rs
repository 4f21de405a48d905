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
mod tests {
    use super::*;

    #[test]
    fn what_is_no_condition_is_refused_with_the_reason() {
        for text in [
            "l == 5",
            "t[0]",
            "a.b[i].c!=-1.5e-3&&done",
            "x >= 0xffu && y == true",
            "img[3,p].x < 2.0f",
            ".5 < a",
        ] {
            assert_eq!(Condition::parse(text).map(|of| of.text), Ok(text.to_owned()));
        }
        for (text, why) in [
            ("l ==", "a number or a variable is missing at its end"),
            ("", "a number or a variable is missing at its end"),
            ("a == 1 || b", "what follows a comparison is &&, and no other operator: \"|| b\""),
            ("a == 1 &&", "a number or a variable is missing at its end"),
            ("a = 1", "what follows a comparison is &&, and no other operator: \"= 1\""),
            ("a < b < c", "what follows a comparison is &&, and no other operator: \"< c\""),
            ("a + 1 == b", "what follows a comparison is &&, and no other operator: \"+ 1 == b\""),
            ("!a", "\"!a\" begins with no number and no variable"),
            ("(a)", "\"(a)\" begins with no number and no variable"),
            ("-a == 1", "\"-a == 1\" begins with no number"),
            ("5x == 1", "\"5x == 1\" begins with no number"),
            ("t[0 == 1", "\"[0 == 1\" has no closing bracket"),
            ("t[i + 1] == 1", "\" + 1\" is neither .MEMBER nor [INDEX]"),
        ] {
            let told = Condition::parse(text).map(|of| of.text);
            assert_eq!(told, Err(format!("no condition: \"{text}\": {why}")));
        }
    }

    #[test]
    fn numbers_are_compared_exactly_where_they_are_integers() {
        let number = |text| Number::parse(text);
        assert_eq!(number("0xff"), Some(Number::Integer(255)));
        assert_eq!((number("-3"), number("7u")), (Some(Number::Integer(-3)), Some(Number::Integer(7))));
        assert_eq!((number("-.5"), number("1e3")), (Some(Number::Float(-0.5)), Some(Number::Float(1000.0))));
        assert_eq!((number("inf"), number("0x"), number("1.2.3")), (None, None, None));
        let large = Number::of(u64::MAX, Element::U64).unwrap();
        assert_eq!(large.order(Number::of(u64::MAX - 1, Element::U64).unwrap()), Some(Ordering::Greater));
        assert_eq!(Number::of(0xffff_ffff, Element::I32), number("-1"));
        assert_eq!(Number::of(u64::from(0.1f32.to_bits()), Element::F32), number("0.1"));
        let nan = Number::of(u64::from(f32::NAN.to_bits()), Element::F32).unwrap();
        assert_eq!(nan.order(Number::Integer(0)), None);
    }
}
