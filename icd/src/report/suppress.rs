//! Suppressions: typed rules with wildcards for findings that are not to be reported.
//!
//! One rule a line, `#` begins a comment:
//!
//! ```text
//! race:partial*            # race-* findings on a variable, function, file, file:line or object of that
//!                          # name, or with that id
//! hazard:copy.comp:12      # hazard-* findings
//! host:*                   # host-* findings
//! api:queue_submit*        # messages about the use of the API that match, or with that id
//! validation:VUID-vkCmd*   # messages of the validation layer with that id or about an object of that name
//! uninitialised-read:*     # findings with exactly this id
//! shader:warmup*           # any finding in a shader whose entry point, file or pipeline has that name
//! ```

use super::{misuse, validation};
use pellucid_memory::finding::FindingId;
use strum::VariantNames as _;

/// What rules are matched against.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// Variables, functions, files, `file:line`s and objects of the accesses.
    pub names: Vec<String>,
    /// Entry points, files and pipelines.
    pub shaders: Vec<String>,
}

impl Subject {
    /// Without what has no name.
    pub fn named(mut self) -> Subject {
        self.names.retain(|name| !name.is_empty());
        self.shaders.retain(|name| !name.is_empty());
        self
    }
}

/// A line of a file of suppressions: which findings it leaves out, and whether it has left out any.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    line: usize,
    kind: String,
    pattern: String,
    used: bool,
}

/// A file of rules.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

const KINDS: [&str; 6] = ["race", "hazard", "host", misuse::FAMILY, validation::FAMILY, "shader"];

/// # Errors
/// The name is none of [`KINDS`] and no id of findings.
fn known(name: &str) -> Result<(), String> {
    if KINDS.contains(&name) || FindingId::VARIANTS.contains(&name) {
        return Ok(());
    }
    Err(format!("unknown kind \"{name}\"; valid: {}, {}", KINDS.join(", "), FindingId::VARIANTS.join(", ")))
}

impl Suppressions {
    /// Reads rules.
    ///
    /// # Errors
    /// The first line that is not a rule, with what is valid.
    pub fn parse(text: &str) -> Result<Suppressions, String> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let rule = line.split('#').next().unwrap_or("").trim();
            if rule.is_empty() {
                continue;
            }
            let Some((kind, pattern)) = rule.split_once(':') else {
                return Err(format!(
                    "line {line_number}: \"{rule}\" is not a rule; a rule is `kind:pattern`"
                ));
            };
            known(kind).map_err(|message| format!("line {line_number}: {message}"))?;
            let (kind, pattern) = (kind.to_owned(), pattern.trim().to_owned());
            rules.push(Rule { line: line_number, kind, pattern, used: false });
        }
        Ok(Suppressions { rules })
    }

    /// Whether a rule covers the finding of that family and id; all rules that do count as used.
    pub fn covers(&mut self, (family, id): (&str, &str), subject: &Subject) -> bool {
        let mut covered = false;
        for rule in &mut self.rules {
            let names: &[String] = match rule.kind.as_str() {
                "shader" => &subject.shaders,
                kind if kind == family || kind == id => &subject.names,
                _ => continue,
            };
            let by_id = rule.kind != "shader" && matches(&rule.pattern, id);
            if by_id || names.iter().any(|name| matches(&rule.pattern, name)) {
                rule.used = true;
                covered = true;
            }
        }
        covered
    }

    /// All rules, as `race:partial*`.
    pub fn rules(&self) -> Vec<String> {
        self.rules.iter().map(|rule| format!("{}:{}", rule.kind, rule.pattern)).collect()
    }

    /// Rules that covered nothing, as `race:old* (line 3)`.
    pub fn unused(&self) -> Vec<String> {
        let unused = self.rules.iter().filter(|rule| !rule.used);
        unused.map(|rule| format!("{}:{} (line {})", rule.kind, rule.pattern, rule.line)).collect()
    }
}

/// Whether `text` is `pattern`, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
