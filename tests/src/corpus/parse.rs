//! Test files to tests.

use super::directive::{Binding, Case, Contents, Descriptor, Expected, Final, Resource, Shape, Test, Value};
use super::step::step;
use anyhow::{Context, Result, bail, ensure};

/// The name of the bytes of one value: `None` where the type or the value is none.
pub fn value_bytes(ty: &str, text: &str) -> Option<Vec<u8>> {
    let integer = || -> Option<i128> {
        match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    };
    Some(match ty {
        "u8" => (integer()? as u8).to_le_bytes().to_vec(),
        "u16" => (integer()? as u16).to_le_bytes().to_vec(),
        "u32" | "i32" | "r32ui" => (integer()? as u32).to_le_bytes().to_vec(),
        "u64" => (integer()? as u64).to_le_bytes().to_vec(),
        "f32" | "r32f" => text.parse::<f32>().ok()?.to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// Reads a test file; `file` is its path within the corpus.
///
/// # Errors
/// The first line with a directive that is not one.
pub fn parse(file: &str, text: &str) -> Result<Test> {
    let (name, extension) = file.rsplit_once('.').context("no extension")?;
    let prefix = match extension {
        "comp" => "//#",
        "spvasm" => ";#",
        _ => "",
    };
    let mut test =
        Test { name: name.to_owned(), file: file.to_owned(), markers: Default::default(), cases: Vec::new() };
    let mut common = Case::default();
    for (line, number) in text.lines().zip(1u32..) {
        let directive = line.trim_start().strip_prefix(prefix).map(str::trim);
        match directive {
            Some(d) if !d.is_empty() && (!prefix.is_empty() || !d.starts_with("//")) => {
                let case = test.cases.last_mut().unwrap_or(&mut common);
                if let Some(next) = apply(d, case).with_context(|| format!("{file}:{number}: {d}"))? {
                    let mut fresh = common.clone();
                    fresh.name = next.0;
                    fresh.defines.extend(next.1);
                    ensure!(test.case(&fresh.name).is_none(), "{file}:{number}: two cases {}", fresh.name);
                    test.cases.push(fresh);
                }
            }
            Some(_) => {}
            None => markers(line, number, &mut test),
        }
    }
    ensure!(!test.cases.is_empty(), "{file}: no case");
    for case in &test.cases {
        ensure!(!case.steps.is_empty(), "{file}: case {} does nothing", case.name);
        for expected in case.expected.iter().chain(&case.allowed) {
            for access in expected.accesses.iter().filter_map(|a| a.parse::<u32>().ok()) {
                ensure!(test.markers.contains_key(&access), "{file}: no marker @{access}");
            }
        }
    }
    Ok(test)
}

fn markers(line: &str, number: u32, test: &mut Test) {
    for part in line.split('@').skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        if let Ok(marker) = digits.parse() {
            test.markers.entry(marker).or_default().insert(number);
        }
    }
}

fn apply(directive: &str, case: &mut Case) -> Result<Option<(String, Vec<String>)>> {
    let (word, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let words: Vec<&str> = rest.split_whitespace().collect();
    let at = |i: usize| words.get(i).copied().with_context(|| format!("{word}: too short"));
    match word {
        "case" => {
            let defines = words.iter().skip(1).map(|w| (*w).to_owned()).collect();
            return Ok(Some((at(0)?.to_owned(), defines)));
        }
        "shader" => {
            let defines = words.iter().skip(2).map(|w| (*w).to_owned()).collect();
            case.shaders.insert(at(0)?.to_owned(), (at(1)?.to_owned(), defines));
        }
        "buffer" => {
            let shape = Shape::Buffer { count: at(1)?.parse()?, ty: at(2)?.to_owned() };
            case.resources.push(Resource { name: at(0)?.to_owned(), shape, contents: contents(&words[3..]) });
        }
        "image" => {
            let (width, height) = (at(2)?.parse()?, at(3)?.parse()?);
            let (depth, rest) = match &words[4..] {
                ["deep", depth, rest @ ..] => (Some(depth.parse()?), rest),
                rest => (None, rest),
            };
            let shape = Shape::Image { format: at(1)?.to_owned(), width, height, depth };
            case.resources.push(Resource { name: at(0)?.to_owned(), shape, contents: contents(rest) });
        }
        "bind" | "uniform" | "texel" => case.bindings.push(binding(word, &words, case)?),
        "push" => match at(0)? {
            "address" => case.push.push(Value::Address(at(1)?.to_owned())),
            _ => {
                for w in &words {
                    case.push.push(Value::Word(w.parse()?));
                }
            }
        },
        "spec" => case.specialization.push((at(0)?.parse()?, at(1)?.parse()?)),
        "subgroup" => case.subgroup = Some(at(0)?.parse()?),
        "notes" => case.notes = true,
        "expect" => case.expected.push(expected(&words)?),
        "allow" => case.allowed.push(expected(&words)?),
        "says" => case.says.push(rest.trim().to_owned()),
        "final" => {
            let (resource, first) = match at(0)?.split_once('[') {
                Some((name, index)) => (name, index.trim_end_matches(']').parse()?),
                None => (at(0)?, 0),
            };
            let values = words[1..].iter().map(|w| (*w).to_owned()).collect();
            case.finals.push(Final { resource: resource.to_owned(), first, values });
        }
        "lost" => case.lost = true,
        "some-seeds" => case.some_seeds = true,
        // Words about the case, for people.
        "note" => {}
        _ => match step(word, rest)? {
            Some(step) => case.steps.push(step),
            None => bail!("no directive {word}"),
        },
    }
    Ok(None)
}

fn contents(words: &[&str]) -> Contents {
    match words {
        [] | ["zero"] => Contents::Zero,
        ["undefined"] => Contents::Undefined,
        ["iota"] => Contents::Iota,
        values => Contents::Values(values.iter().map(|v| (*v).to_owned()).collect()),
    }
}

/// `bind BINDING[.ELEMENT] NAME [OFFSET [SIZE]]`
fn binding(word: &str, words: &[&str], case: &Case) -> Result<Binding> {
    let [place, resource, rest @ ..] = words else { bail!("bind BINDING NAME [OFFSET [SIZE]]") };
    let (binding, element) = place.split_once('.').unwrap_or((place, "0"));
    let shape = &case.resource(resource).with_context(|| format!("no resource {resource}"))?.shape;
    let descriptor = match (word, shape) {
        ("bind", Shape::Image { .. }) => Descriptor::Image,
        ("bind", _) => Descriptor::Storage,
        ("uniform", _) => Descriptor::Uniform,
        _ => Descriptor::Texel,
    };
    Ok(Binding {
        binding: binding.parse()?,
        element: element.parse()?,
        resource: (*resource).to_owned(),
        descriptor,
        offset: rest.first().map_or(Ok(0), |w| w.parse())?,
        size: rest.get(1).map(|w| w.parse()).transpose()?,
    })
}

/// `expect ID ACCESS... [missing NAME...] [fix NAME...]`
fn expected(words: &[&str]) -> Result<Expected> {
    let mut out = Expected { id: (*words.first().context("expect ID")?).to_owned(), ..Default::default() };
    let mut list = &mut out.accesses;
    for word in &words[1..] {
        match *word {
            "missing" => list = &mut out.missing,
            "fix" => list = &mut out.fix,
            other => list.push(other.to_owned()),
        }
    }
    Ok(out)
}
