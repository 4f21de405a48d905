//! What the user writes: names of variables and their parts, numbers, and conditions.

use super::super::types::Type;
use super::{Eyes, Home, Item};

impl Eyes<'_, '_, '_, '_, '_> {
    fn root(&self, name: &str) -> Option<Item> {
        // What its callers have is not in scope: the name may be another variable there.
        let mut places: Vec<Item> = self.locals();
        places.extend(self.shared());
        let buffers = self.buffers();
        places.extend(buffers.iter().cloned());
        for block in &buffers {
            places.extend(self.parts(block, 0, 0));
        }
        places.extend(self.images());
        places.extend(self.built_ins());
        let plain = |item: &Item| item.name.split('[').next() == Some(name);
        places.iter().find(|item| item.name == name).or_else(|| places.iter().find(|i| plain(i))).cloned()
    }

    /// What an expression such as `values[gl_LocalInvocationIndex].x` names.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn find(&mut self, text: &str) -> Result<Item, String> {
        let mut rest = text.trim();
        let name = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let length = name(rest);
        let mut item = self
            .root(&rest[..length])
            .ok_or_else(|| format!("there is no variable \"{}\" here", &rest[..length]))?;
        rest = &rest[length..];
        while !rest.is_empty() {
            let (wanted, after) = if let Some(inner) = rest.strip_prefix('[') {
                let mut depth = 1;
                let end = inner.find(|c: char| {
                    depth += i32::from(c == '[') - i32::from(c == ']');
                    depth == 0
                });
                let end = end.ok_or_else(|| format!("\"{rest}\" has no closing bracket"))?;
                if let Home::Image(texels) = &item.home {
                    let texels = texels.clone();
                    let texel = Self::texel(&texels, &self.numbers(&inner[..end])?)?;
                    item = Item { name: format!("{}{}", item.name, texel.name), ..texel };
                    rest = &inner[end + 1..];
                    continue;
                }
                (format!("[{}]", self.number(&inner[..end])?), &inner[end + 1..])
            } else if let Some(member) = rest.strip_prefix('.') {
                let length = name(member);
                (member[..length].to_owned(), &member[length..])
            } else {
                return Err(format!("\"{rest}\" is neither .MEMBER nor [INDEX]"));
            };
            let index = wanted.strip_prefix('[').and_then(|w| w.strip_suffix(']')?.parse::<usize>().ok());
            let (first, most) = index.map_or((0, usize::MAX), |k| (k, 1));
            let array = matches!(self.target.types.get(item.ty), Type::Array(_));
            let parts = if array { self.parts(&item, first, most) } else { self.parts(&item, 0, usize::MAX) };
            let found = parts
                .into_iter()
                .enumerate()
                .find(|(k, part)| part.name == wanted || (!array && index == Some(*k)));
            let (_, part) = found.ok_or_else(|| format!("{} has no part {wanted}", item.name))?;
            let dot = if wanted.starts_with('[') { "" } else { "." };
            item = Item { name: format!("{}{dot}{wanted}", item.name), ..part };
            rest = after;
        }
        Ok(item)
    }

    fn number(&mut self, text: &str) -> Result<u64, String> {
        let text = text.trim();
        if let Ok(number) = text.parse::<u64>() {
            return Ok(number);
        }
        let item = self.find(text)?;
        self.scalar(&item).map(|(bits, _)| bits).ok_or_else(|| format!("\"{text}\" is no integer"))
    }

    /// Numbers, commas between them; a vector is all of its components.
    fn numbers(&mut self, text: &str) -> Result<Vec<u64>, String> {
        let mut depth = 0;
        let separates = |c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ',' && depth == 0
        };
        let mut numbers = Vec::new();
        for part in text.split(separates) {
            match self.number(part) {
                Ok(number) => numbers.push(number),
                Err(error) => {
                    let item = self.find(part).map_err(|_| error.clone())?;
                    let parts = self.parts(&item, 0, 4);
                    let bits: Option<Vec<u64>> =
                        parts.iter().map(|part| self.scalar(part).map(|(bits, _)| bits)).collect();
                    numbers.extend(bits.filter(|bits| !bits.is_empty()).ok_or(error)?);
                }
            }
        }
        Ok(numbers)
    }

    /// A number or a scalar variable, as a float wide enough for all but the largest integers.
    fn operand(&mut self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        match text {
            "true" => return Ok(1.0),
            "false" => return Ok(0.0),
            _ => {}
        }
        let literal = text.trim_end_matches(['u', 'f']);
        let hex = literal.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if let Some(number) = hex.map(|n| n as f64).or_else(|| literal.parse().ok()) {
            return Ok(number);
        }
        let item = self.find(text)?;
        let (bits, element) = self.scalar(&item).ok_or_else(|| format!("\"{text}\" is no number"))?;
        element.decode(&bits.to_le_bytes()).parse().map_err(|_| format!("\"{text}\" is no number"))
    }

    /// Whether a condition holds: comparisons (`==`, `!=`, `<`, `<=`, `>`, `>=`), joined by `&&`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn holds(&mut self, condition: &str) -> Result<bool, String> {
        for part in condition.split("&&") {
            let operators = ["==", "!=", "<=", ">=", "<", ">"];
            let found = operators
                .iter()
                .filter_map(|op| Some((part.find(op)?, *op)))
                .min_by_key(|(at, op)| (*at, 2 - op.len()));
            let holds = match found {
                Some((at, op)) => {
                    let (a, b) = (self.operand(&part[..at])?, self.operand(&part[at + op.len()..])?);
                    match op {
                        "==" => a == b,
                        "!=" => a != b,
                        "<=" => a <= b,
                        ">=" => a >= b,
                        "<" => a < b,
                        _ => a > b,
                    }
                }
                None => self.operand(part)? != 0.0,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
