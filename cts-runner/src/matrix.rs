//! The driver's options for a run: `--set mode=check`, and `--matrix mode=run,check seed=0..4` for every
//! combination.
//!
//! An option `name` reaches the driver as the variable `PELLUCID_<NAME>`, dashes as underscores.

use crate::error::Error;

/// The options of one run, in the order given. An option's name is unique in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant(pub Vec<(String, String)>);

impl Variant {
    /// The name in reports and of the results folder: `mode=check,seed=0`; empty without options. What a file
    /// name cannot hold is replaced by `_`.
    pub fn name(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "=,.-_+".contains(c) { c } else { '_' };
        parts.join(",").chars().map(plain).collect()
    }

    /// The environment variables that hand the options to the driver.
    pub fn environment(&self) -> Vec<(String, String)> {
        self.0.iter().map(|(name, value)| (variable(name), value.clone())).collect()
    }

    fn set(&self, name: &str, value: &str) -> Variant {
        let mut options = self.0.clone();
        options.push((name.to_string(), value.to_string()));
        Variant(options)
    }
}

/// The variable of the option `name`.
pub fn variable(name: &str) -> String {
    format!("PELLUCID_{}", name.to_ascii_uppercase().replace('-', "_"))
}

fn split(text: &str, option: &str) -> Result<(String, String), Error> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Error::usage(format!("{option} '{text}': expected NAME=VALUE")))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(Error::usage(format!("{option} '{text}': '{name}' is no name of an option")));
    }
    Ok((name.trim_start_matches('-').to_string(), value.to_string()))
}

/// The values of one axis: parts separated by commas, of which `a..b` is the integers from `a` up to but
/// without `b`, and `a..=b` is with `b`.
fn values(text: &str) -> Result<Vec<String>, Error> {
    let mut values = Vec::new();
    for part in text.split(',') {
        let Some((first, last)) = part.split_once("..") else {
            values.push(part.to_string());
            continue;
        };
        let wrong = || Error::usage(format!("--matrix '{part}': expected integers, as in 0..4 or 0..=3"));
        let first: i64 = first.parse().map_err(|_| wrong())?;
        let end = match last.strip_prefix('=') {
            Some(last) => last.parse::<i64>().map_err(|_| wrong())?.checked_add(1).ok_or_else(wrong)?,
            None => last.parse().map_err(|_| wrong())?,
        };
        if first >= end {
            return Err(Error::usage(format!("--matrix '{part}': the range is empty")));
        }
        values.extend((first..end).map(|value| value.to_string()));
    }
    Ok(values)
}

/// The variants of a run: the product of the `axes` (each `name=value,value` or `name=a..b`, several to a
/// string, separated by spaces), each with the `settings` before it. The last axis varies fastest. One
/// variant where there is no axis.
///
/// # Errors
/// A text of another form, or an option given twice.
pub fn variants(settings: &[String], axes: &[String]) -> Result<Vec<Variant>, Error> {
    let mut names: Vec<String> = Vec::new();
    let mut once = |name: &str| {
        if names.iter().any(|known| variable(known) == variable(name)) {
            return Err(Error::usage(format!("the option '{name}' is set twice")));
        }
        names.push(name.to_string());
        Ok(())
    };
    let mut base = Variant::default();
    for setting in settings {
        let (name, value) = split(setting, "--set")?;
        once(&name)?;
        base = base.set(&name, &value);
    }
    let mut variants = vec![base];
    for axis in axes.iter().flat_map(|axes| axes.split_whitespace()) {
        let (name, text) = split(axis, "--matrix")?;
        once(&name)?;
        let values = values(&text)?;
        variants = variants
            .iter()
            .flat_map(|variant| values.iter().map(|value| variant.set(&name, value)))
            .collect();
    }
    Ok(variants)
}

#[cfg(test)]
mod tests;
