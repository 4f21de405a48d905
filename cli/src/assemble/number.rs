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
mod tests {
    use super::*;

    fn int(text: &str, width: u32, signed: bool) -> Result<Vec<u32>, String> {
        encode(text, Scalar::Int { width, signed })
    }

    fn float(text: &str, width: u32) -> Vec<u32> {
        encode(text, Scalar::Float { width }).unwrap()
    }

    #[test]
    fn integers_of_every_width() {
        for (text, width, signed, words) in [
            ("5", 32, false, vec![5]),
            ("-5", 32, true, vec![0xffff_fffb]),
            ("0xffffffff", 32, true, vec![u32::MAX]),
            ("-1", 8, true, vec![u32::MAX]),
            ("0xff", 8, true, vec![u32::MAX]),
            ("255", 8, false, vec![255]),
            ("-32768", 16, true, vec![0xffff_8000]),
            ("65535", 16, false, vec![65535]),
            ("-2", 64, true, vec![0xffff_fffe, u32::MAX]),
            ("0x123456789abcdef0", 64, false, vec![0x9abc_def0, 0x1234_5678]),
            ("18446744073709551615", 64, false, vec![u32::MAX, u32::MAX]),
        ] {
            assert_eq!(int(text, width, signed).unwrap(), words, "{text} of {width} bits");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, width, signed, message) in [
            ("256", 8, false, "256 does not fit an unsigned integer of 8 bits"),
            ("128", 8, true, "128 does not fit a signed integer of 8 bits"),
            ("-1", 32, false, "-1 does not fit an unsigned integer of 32 bits"),
            ("1.5", 32, false, "expected an unsigned integer of 32 bits, found `1.5`"),
            ("-", 32, true, "expected a signed integer of 32 bits, found `-`"),
            ("0x", 32, true, "expected a signed integer of 32 bits, found `0x`"),
            (
                "18446744073709551616",
                64,
                false,
                "18446744073709551616 does not fit an unsigned integer of 64 bits",
            ),
        ] {
            assert_eq!(int(text, width, signed).unwrap_err(), message);
        }
        assert!(encode("1e39", Scalar::Float { width: 32 }).is_err());
        assert!(encode("inf", Scalar::Float { width: 32 }).is_err());
        assert!(encode("0x1p+129", Scalar::Float { width: 32 }).is_err());
        assert!(encode("1.0", Scalar::Float { width: 24 }).is_err());
    }

    #[test]
    fn decimal_floats() {
        assert_eq!(float("1", 32), [1f32.to_bits()]);
        assert_eq!(float("-0.100000001", 32), [(-0.1f32).to_bits()]);
        assert_eq!(float("1.5e-3", 64), [1.5e-3f64.to_bits() as u32, (1.5e-3f64.to_bits() >> 32) as u32]);
        assert_eq!(float("1.5", 16), [0x3e00]);
        assert_eq!(float("-2", 16), [0xc000]);
        assert_eq!(float("-0", 32), [0x8000_0000]);
    }

    #[test]
    fn hexadecimal_floats_say_every_bit() {
        assert_eq!(float("0x1p+0", 32), [1f32.to_bits()]);
        assert_eq!(float("0x1.8p+1", 32), [3f32.to_bits()]);
        assert_eq!(float("-0x0p+0", 32), [0x8000_0000]);
        assert_eq!(float("0x1p+128", 32), [f32::INFINITY.to_bits()]);
        assert_eq!(float("-0x1p+128", 32), [f32::NEG_INFINITY.to_bits()]);
        assert_eq!(float("0x1.8p+128", 32), [0x7fc0_0000]);
        assert_eq!(float("0x1.000002p+128", 32), [0x7f80_0001]);
        assert_eq!(float("0x1p-149", 32), [1]);
        assert_eq!(float("0x1.fffffcp-127", 32), [0x007f_ffff]);
        assert_eq!(float("0x1p-126", 32), [0x0080_0000]);
        assert_eq!(float("0x1.8p+16", 16), [0x7e00]);
        assert_eq!(float("0x1p-24", 16), [1]);
        assert_eq!(
            float("0x1.999999999999ap-4", 64),
            [0.1f64.to_bits() as u32, (0.1f64.to_bits() >> 32) as u32]
        );
        assert_eq!(float("0x10", 32), [16f32.to_bits()]);
        assert_eq!(float("0x.8p+0", 32), [0.5f32.to_bits()]);
        for value in [f32::MAX, f32::MIN_POSITIVE, 1.234e-40, 7.25, 1e-45] {
            let (bits, exponent) = (value.to_bits() & 0x7f_ffff, (value.to_bits() >> 23) as i32);
            let text = if exponent == 0 {
                format!("0x0.{:06x}p-126", bits << 1)
            } else {
                format!("0x1.{:06x}p{}", bits << 1, exponent - 127)
            };
            assert_eq!(float(&text, 32), [value.to_bits()], "{text}");
        }
    }
}
