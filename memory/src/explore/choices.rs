//! The choices of one execution as text: what a replay takes.

use std::fmt;
use std::str::FromStr;

/// The choices of one execution, in the order in which they were made, forced ones left out. After the last
/// one the first alternative is taken for ever.
///
/// ```
/// use pellucid_memory::explore::Choices;
///
/// let choices: Choices = "01z(40)".parse().unwrap();
/// assert_eq!(choices.as_slice(), [0, 1, 35, 40]);
/// assert_eq!(Choices::new(vec![0, 1, 35, 40, 0, 0]).to_string(), "01z(40)");
/// assert_eq!(Choices::default().to_string(), "0");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choices(Vec<usize>);

impl Choices {
    /// These choices.
    pub fn new(mut choices: Vec<usize>) -> Choices {
        while choices.last() == Some(&0) {
            choices.pop();
        }
        Choices(choices)
    }

    /// The choices, without the zeros at the end.
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        for choice in &self.0 {
            match char::from_digit(*choice as u32, 36).filter(|_| *choice < 36) {
                Some(digit) => write!(f, "{digit}")?,
                None => write!(f, "({choice})")?,
            }
        }
        Ok(())
    }
}

/// A text that is no list of choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no list of choices: digits 0 to 9 and a to z, or numbers in parentheses")]
pub struct ChoicesError(String);

impl FromStr for Choices {
    type Err = ChoicesError;

    fn from_str(text: &str) -> Result<Choices, ChoicesError> {
        let wrong = || ChoicesError(text.to_owned());
        let mut choices = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(inner) = rest.strip_prefix('(') {
                let (number, after) = inner.split_once(')').ok_or_else(wrong)?;
                choices.push(number.parse::<u32>().map_err(|_| wrong())? as usize);
                rest = after;
            } else {
                let digit = first.to_digit(36).filter(|_| !first.is_ascii_uppercase()).ok_or_else(wrong)?;
                choices.push(digit as usize);
                rest = &rest[1..];
            }
        }
        if choices.is_empty() { Err(wrong()) } else { Ok(Choices::new(choices)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_choices_is_refused() {
        for text in ["", "A", "0 1", "(", "(x)", "(99999999999)", "é"] {
            assert!(text.parse::<Choices>().is_err(), "{text}");
        }
        assert_eq!("000".parse::<Choices>().unwrap(), Choices::default());
    }
}
