//! The formats of NonSemantic.DebugPrintf: what the instruction leaves to the client API, as the Khronos
//! validation layer documents it, and as `printf` of C prints it.
//!
//! `%[0][width][.precision][v2|v3|v4]specifier`, where the specifier is one of `d i u o x X a A e E f F g G`,
//! `ld`, `li`, `lu`, `lx`, `lX`, `lo` and `ul` (the same as `lx`) for 64 bits, and `p` for physical pointers.
//! An integer is printed by the width of its argument, with or without an `l`. Vectors come out with `, `
//! between their components, Booleans as 0 and 1, floats by `o`, `u`, `x` and `X` as their bits. Arguments
//! that no specifier takes are ignored.

use crate::ir::Scalar;
use crate::math::half;

/// The widest field, and the most digits.
const MOST: u32 = 1024;

/// An argument's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A scalar; a Boolean comes as an I32.
    Scalar(Scalar),
    /// A vector of so many components.
    Vector(Scalar, u32),
    /// A physical pointer: an I64.
    Pointer,
    /// What cannot be printed: a matrix, an array, a structure.
    Other,
}

impl Argument {
    /// Words of 32 bits that it takes: one for each scalar, or two.
    pub fn words(self) -> usize {
        let words = |scalar: Scalar| if scalar.bytes() == 8 { 2 } else { 1 };
        match self {
            Argument::Scalar(scalar) => words(scalar),
            Argument::Vector(scalar, count) => count as usize * words(scalar),
            Argument::Pointer => 2,
            Argument::Other => 0,
        }
    }
}

impl std::fmt::Display for Argument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |scalar: &Scalar| if scalar.is_float() { "floating-point" } else { "integer" };
        match self {
            Argument::Scalar(scalar) => write!(f, "a scalar ({})", name(scalar)),
            Argument::Vector(scalar, count) => {
                write!(f, "a vector of {count} components ({})", name(scalar))
            }
            Argument::Pointer => f.write_str("a pointer"),
            Argument::Other => f.write_str("no scalar and no vector"),
        }
    }
}

/// Why a format cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The format is no OpString.
    #[error("the format is no OpString")]
    NoString,
    /// It ends where a specifier goes on.
    #[error("it ends within the specifier \"{0}\"; a percent sign is written %%")]
    Unfinished(String),
    /// No specifier begins like that.
    #[error("\"{0}\" is no specifier; a percent sign is written %%")]
    Unknown(String),
    /// A width or precision of more than [`MOST`].
    #[error("\"{0}\" has a width or precision of more than {MOST}")]
    Wide(String),
    /// More specifiers than arguments.
    #[error("\"{0}\" has no argument: there are {1}")]
    Missing(String, usize),
    /// The argument is of another type.
    #[error("\"{specifier}\" does not print argument {number}, {argument}")]
    Type {
        /// As the format has it.
        specifier: String,
        /// Of the argument, from 1.
        number: usize,
        /// Its type.
        argument: Argument,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    Signed,
    /// `u`, `o`, `x` or `X`.
    Unsigned(char),
    /// `a`, `e`, `f` or `g`, or the same in upper case.
    Float(char),
    Pointer,
}

/// A specifier without its number of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Specifier {
    zeros: bool,
    width: u32,
    precision: Option<u32>,
    conversion: Conversion,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// Scalars one after the other, from this word on.
    Values {
        specifier: Specifier,
        first: usize,
        count: u32,
        scalar: Scalar,
    },
}

/// A format that was found to fit its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintFormat {
    pieces: Vec<Piece>,
}

impl PrintFormat {
    /// Reads a format for arguments of these types.
    ///
    /// # Errors
    /// What does not fit.
    pub fn parse(format: &str, arguments: &[Argument]) -> Result<PrintFormat, FormatError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let (mut taken, mut first) = (0, 0);
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            literal.push_str(&rest[..at]);
            let specified = &rest[at..];
            if let Some(after) = specified.strip_prefix("%%") {
                literal.push('%');
                rest = after;
                continue;
            }
            let is_long = arguments.get(taken).is_some_and(|a| {
                matches!(a, Argument::Scalar(Scalar::I64) | Argument::Vector(Scalar::I64, _))
            });
            let (specifier, components, length) = specifier(specified, is_long)?;
            let text = || specified[..length].to_owned();
            let Some(&argument) = arguments.get(taken) else {
                return Err(FormatError::Missing(text(), arguments.len()));
            };
            let scalar = match argument {
                Argument::Scalar(scalar) if components == 0 => Some(scalar),
                Argument::Vector(scalar, count) if components > 0 && components <= count => Some(scalar),
                Argument::Pointer if components == 0 => Some(Scalar::I64),
                _ => None,
            };
            let fits = |scalar: &Scalar| match specifier.conversion {
                Conversion::Signed => !scalar.is_float(),
                Conversion::Unsigned(_) => true,
                Conversion::Float(_) => scalar.is_float(),
                Conversion::Pointer => *scalar == Scalar::I64 && components == 0,
            };
            let Some(scalar) = scalar.filter(fits) else {
                return Err(FormatError::Type { specifier: text(), number: taken + 1, argument });
            };
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Values { specifier, first, count: components.max(1), scalar });
            first += argument.words();
            taken += 1;
            rest = &specified[length..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(PrintFormat { pieces })
    }

    /// What it prints; `word` gives the words of the arguments by number, low ones before high ones.
    pub fn print(&self, word: impl Fn(usize) -> u32) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Values { specifier, first, count, scalar: of } => {
                    let words = Argument::Scalar(*of).words();
                    for k in 0..*count as usize {
                        if k > 0 {
                            out.push_str(", ");
                        }
                        let at = first + k * words;
                        let high = if words == 2 { word(at + 1) } else { 0 };
                        out.push_str(&specifier.print(u64::from(word(at)) | u64::from(high) << 32, *of));
                    }
                }
            }
        }
        out
    }
}

/// The specifier that a text begins with, its components (0 for a scalar), and its length in bytes.
/// `is_long`: the argument has 64 bits, so `ul` is one specifier.
fn specifier(text: &str, is_long: bool) -> Result<(Specifier, u32, usize), FormatError> {
    let mut specifier = Specifier { zeros: false, width: 0, precision: None, conversion: Conversion::Signed };
    let mut components = 0;
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        let so_far = || text[..at + c.len_utf8()].to_owned();
        let conversion = match c {
            '.' if specifier.precision.is_none() => {
                specifier.precision = Some(0);
                continue;
            }
            '0' if specifier.width == 0 && specifier.precision.is_none() => {
                specifier.zeros = true;
                continue;
            }
            '0'..='9' => {
                let number = specifier.precision.as_mut().unwrap_or(&mut specifier.width);
                *number = *number * 10 + c as u32 - '0' as u32;
                if *number > MOST {
                    return Err(FormatError::Wide(so_far()));
                }
                continue;
            }
            'v' if components == 0 => {
                match characters.next() {
                    Some((_, count @ '2'..='4')) => components = count as u32 - '0' as u32,
                    Some((next, other)) => {
                        return Err(FormatError::Unknown(text[..next + other.len_utf8()].to_owned()));
                    }
                    None => return Err(FormatError::Unfinished(text.to_owned())),
                }
                continue;
            }
            'l' => continue,
            'd' | 'i' => Conversion::Signed,
            'u' if is_long && characters.next_if(|(_, next)| *next == 'l').is_some() => {
                Conversion::Unsigned('x')
            }
            'u' | 'o' | 'x' | 'X' => Conversion::Unsigned(c),
            'a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => Conversion::Float(c),
            'p' => Conversion::Pointer,
            _ => return Err(FormatError::Unknown(so_far())),
        };
        specifier.conversion = conversion;
        let end = characters.peek().map_or(text.len(), |(next, _)| *next);
        return Ok((specifier, components, end));
    }
    Err(FormatError::Unfinished(text.to_owned()))
}

impl Specifier {
    fn print(&self, bits: u64, scalar: Scalar) -> String {
        let width = 8 * scalar.bytes().max(4);
        match self.conversion {
            Conversion::Signed => {
                let shift = 64 - 8 * scalar.bytes().max(1);
                let value = (bits << shift).cast_signed() >> shift;
                self.integer(if value < 0 { "-" } else { "" }, value.unsigned_abs().to_string())
            }
            Conversion::Unsigned(radix) => {
                let bits = if width == 32 { bits & 0xffff_ffff } else { bits };
                let digits = match radix {
                    'o' => format!("{bits:o}"),
                    'x' => format!("{bits:x}"),
                    'X' => format!("{bits:X}"),
                    _ => bits.to_string(),
                };
                self.integer("", digits)
            }
            Conversion::Pointer => self.integer("0x", format!("{bits:x}")),
            Conversion::Float(letter) => {
                let value = match scalar {
                    Scalar::F16 => half::to_f64(bits as u32),
                    Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
                    _ => f64::from_bits(bits),
                };
                let text = self.float(value, letter.to_ascii_lowercase());
                if letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
            }
        }
    }

    /// At least `precision` digits, and none for a 0 of precision 0.
    fn integer(&self, sign: &str, digits: String) -> String {
        let digits = match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(precision) => format!("{digits:0>0$}", precision as usize),
            None => digits,
        };
        self.pad(sign, &digits, self.zeros && self.precision.is_none())
    }

    fn float(&self, value: f64, letter: char) -> String {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let magnitude = value.abs();
        if !magnitude.is_finite() {
            return self.pad(sign, if magnitude.is_nan() { "nan" } else { "inf" }, false);
        }
        let precision = self.precision.unwrap_or(6) as usize;
        match letter {
            'f' => self.pad(sign, &format!("{magnitude:.precision$}"), self.zeros),
            'e' => self.pad(sign, &exponential(magnitude, precision).0, self.zeros),
            'g' => {
                let digits = precision.max(1);
                let (text, exponent) = exponential(magnitude, digits - 1);
                let fixed = (-4..digits as i32).contains(&exponent);
                let text = if fixed {
                    format!("{magnitude:.*}", (digits as i32 - 1 - exponent) as usize)
                } else {
                    text
                };
                let (mantissa, power) = text.split_at(text.find('e').unwrap_or(text.len()));
                let mantissa = match mantissa.contains('.') {
                    true => mantissa.trim_end_matches('0').trim_end_matches('.'),
                    false => mantissa,
                };
                self.pad(sign, &format!("{mantissa}{power}"), self.zeros)
            }
            _ => self.pad(&format!("{sign}0x"), &hexadecimal(magnitude, self.precision), self.zeros),
        }
    }

    /// Fills the field: with zeros behind the sign, or with spaces before it.
    fn pad(&self, sign: &str, digits: &str, zeros: bool) -> String {
        let width = self.width as usize;
        if zeros {
            format!("{sign}{digits:0>0$}", width.saturating_sub(sign.len()))
        } else {
            format!("{:>width$}", format!("{sign}{digits}"))
        }
    }
}

/// `d.ddde+dd`, and the exponent.
fn exponential(magnitude: f64, precision: usize) -> (String, i32) {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    (format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs()), exponent)
}

/// `h.hhhp+d` without its `0x`: all digits that count, or as many as `precision` says, half to even.
fn hexadecimal(magnitude: f64, precision: Option<u32>) -> String {
    const DIGITS: u32 = 13;
    let (bits, of) = (magnitude.to_bits(), 4 * DIGITS);
    let biased = (bits >> of) as i32;
    let mut significand = bits & ((1 << of) - 1);
    if biased > 0 {
        significand |= 1 << of;
    }
    let exponent = match (biased, significand) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let mut digits = DIGITS;
    if let Some(precision) = precision.filter(|precision| *precision < DIGITS) {
        let dropped = 4 * (DIGITS - precision);
        let (half, rest) = (1 << (dropped - 1), significand & ((1 << dropped) - 1));
        significand >>= dropped;
        significand += u64::from(rest > half || (rest == half && significand & 1 == 1));
        digits = precision;
    }
    let (whole, fraction) = (significand >> (4 * digits), significand & ((1 << (4 * digits)) - 1));
    let mut text = if digits > 0 { format!("{fraction:0>0$x}", digits as usize) } else { String::new() };
    match precision {
        Some(precision) => text = format!("{text:0<0$}", precision as usize),
        None => text.truncate(text.trim_end_matches('0').len()),
    }
    let point = if text.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{whole}{point}{text}p{sign}{}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests;
