//! Literal numbers of every width: decimal and hexadecimal integers, decimal and hexadecimal floats.

/// The type of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// OpTypeInt.
    Int {
        /// Bits.
        width: u32,
        /// Two's complement.
        signed: bool,
    },
    /// OpTypeFloat.
    Float {
        /// Bits: 16, 32 or 64.
        width: u32,
    },
}

/// Whether a number can only be a float.
pub fn is_float(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => hex.contains(['p', 'P', '.']),
        None => digits.contains(['.', 'e', 'E']),
    }
}

/// The words of a literal: low-order first; what is narrower than a word is sign-extended if signed, else
/// zero-extended.
///
/// # Errors
/// What was expected, or that the number does not fit.
pub fn encode(text: &str, scalar: Scalar) -> Result<Vec<u32>, String> {
    let (bits, width) = match scalar {
        Scalar::Int { width, signed } => (integer(text, width, signed)?, width),
        Scalar::Float { width } => (float(text, width)?, width),
    };
    let low = bits as u32;
    Ok(if width > 32 { vec![low, (bits >> 32) as u32] } else { vec![low] })
}

/// The word of `!word`.
///
/// # Errors
/// It is no integer of 32 bits.
pub fn raw(text: &str) -> Result<u32, String> {
    integer(text, 32, false).map(|bits| bits as u32)
}

fn integer(text: &str, width: u32, signed: bool) -> Result<u64, String> {
    let kind = format!("{} integer of {width} bits", if signed { "signed" } else { "unsigned" });
    if !matches!(width, 1..=64) {
        return Err(format!("literals of {width} bits do not exist"));
    }
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let valid = |digits: &str, radix| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    let magnitude = match hex {
        Some(digits) if valid(digits, 16) => u128::from_str_radix(digits, 16).ok(),
        None if valid(digits, 10) => digits.parse::<u128>().ok(),
        _ => return Err(format!("expected an {kind}, found `{text}`").replace("an signed", "a signed")),
    };
    let too_large = || format!("{text} does not fit an {kind}").replace("an signed", "a signed");
    let magnitude = magnitude.ok_or_else(too_large)?;
    // Hexadecimal digits are bits: all of them may be set in a signed number, too.
    let most = match (negative, signed, hex) {
        (true, false, _) => 0,
        (true, true, _) => 1 << (width - 1),
        (false, true, None) => (1 << (width - 1)) - 1,
        (false, ..) => (1 << width) - 1,
    };
    if magnitude > most {
        return Err(too_large());
    }
    let value = if negative { (magnitude as u64).wrapping_neg() } else { magnitude as u64 };
    let unused = 64 - width;
    Ok(if signed {
        (value << unused).cast_signed() >> unused
    } else {
        (value << unused >> unused).cast_signed()
    }
    .cast_unsigned())
}

/// Bits of the fraction and of the exponent.
fn layout(width: u32) -> Result<(u32, u32), String> {
    match width {
        16 => Ok((10, 5)),
        32 => Ok((23, 8)),
        64 => Ok((52, 11)),
        _ => Err(format!("float literals of {width} bits are not implemented in Pellucid")),
    }
}

fn float(text: &str, width: u32) -> Result<u64, String> {
    let (fraction, exponent) = layout(width)?;
    let bad = || format!("expected a float of {width} bits, found `{text}`");
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let sign = u64::from(negative) << (width - 1);
    if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        let bits = hex_float(hex, fraction, exponent).ok_or_else(bad)?;
        return bits
            .map(|bits| sign | bits)
            .ok_or_else(|| format!("{text} does not fit a float of {width} bits"));
    }
    // Rust reads "inf" and "nan" as well.
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(bad());
    }
    let (bits, finite) = match width {
        16 => {
            let value = half::f16::from_f64(digits.parse::<f64>().map_err(|_| bad())?);
            (u64::from(value.to_bits()), value.is_finite())
        }
        32 => {
            let value = digits.parse::<f32>().map_err(|_| bad())?;
            (u64::from(value.to_bits()), value.is_finite())
        }
        _ => {
            let value = digits.parse::<f64>().map_err(|_| bad())?;
            (value.to_bits(), value.is_finite())
        }
    };
    if finite { Ok(sign | bits) } else { Err(format!("{text} does not fit a float of {width} bits")) }
}

/// `1.8p+3`: the bits without the sign. The exponent after the largest stands for infinity and, with a
/// fraction, for NaN. `None` where it is no hexadecimal float, `Some(None)` where it is too large.
fn hex_float(text: &str, fraction_bits: u32, exponent_bits: u32) -> Option<Option<u64>> {
    let (mantissa, power) = text.split_once(['p', 'P']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || digits.len() > 28 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let power: i32 = power.parse().ok()?;
    let value = u128::from_str_radix(&digits, 16).ok()?;
    if value == 0 {
        return Some(Some(0));
    }
    // value = 1.xxx * 2^top, counted from the lowest digit.
    let top = 127 - value.leading_zeros() as i32;
    let exponent = power.checked_add(top)?.checked_sub(4 * fraction.len() as i32)?;
    let bias = (1 << (exponent_bits - 1)) - 1;
    // The bits after the leading one, at the top of a word.
    let rest = if top == 0 { 0 } else { value << (128 - top) };
    if exponent > bias + 1 {
        return Some(None);
    }
    let kept = (rest >> (128 - fraction_bits)) as u64;
    if exponent >= 1 - bias {
        return Some(Some(((exponent + bias) as u64) << fraction_bits | kept));
    }
    // Below the smallest normal number the leading one moves into the fraction.
    let shift = (1 - bias - exponent) as u32;
    let with_one = 1 << fraction_bits | kept;
    Some(Some(with_one.checked_shr(shift).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
