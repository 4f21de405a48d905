//! Which characters of a source line an access is: debug information of common compilers names lines, seldom
//! columns.

use pellucid_memory::input;
use pellucid_shader_interp::ir::{Shader, SiteInfo};
use std::ops::Range;
use std::path::Path;

/// A stretch of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The file's name as the module says it.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Bytes of `text` that the access is.
    pub span: Range<usize>,
    /// 1-based.
    pub line: u32,
    /// 1-based, of the span.
    pub column: u32,
}

/// The source of a static instruction, if its module names one and its text is embedded or on disk.
pub fn excerpt(shader: &Shader, site: &SiteInfo, write: bool) -> Option<Excerpt> {
    let position = site.source?;
    let file = shader.files.get(position.file as usize)?;
    let text = match &file.text {
        Some(text) => text.clone(),
        None => input::text(Path::new(&file.name)).ok()?,
    };
    let start = line_start(&text, position.line)?;
    let line = text[start..].split(['\n', '\r']).next().unwrap_or("");
    let local = span_in_line(line, position.column, &site.variable, write);
    let column = line[..local.start].chars().count() as u32 + 1;
    Some(Excerpt {
        name: file.name.clone(),
        span: start + local.start..start + local.end,
        line: position.line,
        column,
        text,
    })
}

fn line_start(text: &str, line: u32) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    (line > 0).then_some(start)
}

/// The bytes of `line` to underline: from the column if there is one, else the one place that names the
/// variable, else the statement.
fn span_in_line(line: &str, column: u32, variable: &str, write: bool) -> Range<usize> {
    let trimmed = line.len() - line.trim_start().len()..line.trim_end().len();
    if trimmed.is_empty() {
        return 0..line.len();
    }
    let at = line.char_indices().nth(column.saturating_sub(1) as usize).map(|(i, _)| i);
    let start = match at {
        Some(at) if column > 0 && is_word(line, at) => Some(at),
        _ => single_word(line, variable),
    };
    match start {
        Some(start) if !write => start..postfix_end(line, start),
        _ => trimmed.start..code_end(line, trimmed.clone()),
    }
}

/// Where the code of a line ends: before a `//` comment.
fn code_end(line: &str, trimmed: Range<usize>) -> usize {
    match line[trimmed.clone()].find("//") {
        Some(comment) if comment > 0 => line[..trimmed.start + comment].trim_end().len(),
        _ => trimmed.end,
    }
}

fn word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word(line: &str, at: usize) -> bool {
    line.as_bytes().get(at).is_some_and(|b| word_byte(*b))
}

/// The only occurrence of `word` in `line` as a whole word.
fn single_word(line: &str, word: &str) -> Option<usize> {
    if word.is_empty() {
        return None;
    }
    let bytes = line.as_bytes();
    let joined = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|b| word_byte(*b));
    let mut found = line
        .match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| !joined(at.checked_sub(1)) && !joined(Some(at + word.len())));
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// The end of a postfix expression that begins at `start`: a word, then subscripts and members.
fn postfix_end(line: &str, start: usize) -> usize {
    let bytes = line.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b if word_byte(b) || b == b'.' => at += 1,
            b'[' => {
                let mut depth = 0usize;
                let close = bytes[at..].iter().position(|b| {
                    depth += usize::from(*b == b'[');
                    depth -= usize::from(*b == b']');
                    depth == 0
                });
                match close {
                    Some(length) => at += length + 1,
                    None => return at,
                }
            }
            _ => break,
        }
    }
    at.max(start + 1)
}

#[cfg(test)]
mod tests;
