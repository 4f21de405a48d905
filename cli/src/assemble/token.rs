//! The text cut into tokens. Line ends are white space: an instruction ends where the next begins.

use super::AssembleError;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lexeme {
    /// `%name`; the text is without the `%`.
    Id,
    /// `=`, before what gives a result.
    Equals,
    /// `"..."`, its escapes undone.
    String(String),
    /// `!word`; the text is without the `!`.
    Raw,
    /// An opcode, an enumerant, a mask or a number.
    Word,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub struct Token<'a> {
    /// Whether it is an id, a string, a word or a sign.
    pub kind: Lexeme,
    /// What it says; a string as it is written.
    pub text: &'a str,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl Token<'_> {
    /// An error here.
    pub fn error(&self, message: String) -> AssembleError {
        AssembleError { line: self.line, column: self.column, message }
    }

    /// An error behind this token.
    pub fn error_after(&self, message: String) -> AssembleError {
        let lines = self.text.matches('\n').count() as u32;
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let width = last.chars().count() as u32 + u32::from(matches!(self.kind, Lexeme::Id | Lexeme::Raw));
        let start = if lines == 0 { self.column } else { 1 };
        AssembleError { line: self.line + lines, column: start + width, message }
    }

    /// The token as a message shows it.
    pub fn shown(&self) -> String {
        match self.kind {
            Lexeme::Id => format!("%{}", self.text),
            Lexeme::Raw => format!("!{}", self.text),
            Lexeme::String(_) => "a string".to_owned(),
            _ => format!("`{}`", self.text),
        }
    }
}

/// Cuts a text.
///
/// # Errors
/// A string that does not end, or an id without a name.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, AssembleError> {
    let mut cursor = Cursor { text, at: 0, line: 1, column: 1 };
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        let (line, column, start) = (cursor.line, cursor.column, cursor.at);
        let error = |message: &str| AssembleError { line, column, message: message.to_owned() };
        let word = |c: char| !c.is_whitespace() && !matches!(c, ';' | '"' | '=' | '%');
        let (kind, text) = match c {
            _ if c.is_whitespace() => {
                cursor.next();
                continue;
            }
            ';' => {
                cursor.skip(|c| c != '\n');
                continue;
            }
            '=' => {
                cursor.next();
                (Lexeme::Equals, "=")
            }
            '"' => {
                let value = string(&mut cursor).ok_or_else(|| error("this string does not end"))?;
                (Lexeme::String(value), &text[start..cursor.at])
            }
            '%' | '!' => {
                cursor.next();
                let raw = c == '!';
                let name = cursor.skip(|c| if raw { word(c) } else { c.is_ascii_alphanumeric() || c == '_' });
                if name.is_empty() {
                    return Err(error(if c == '%' {
                        "expected a name after %"
                    } else {
                        "expected a number after !"
                    }));
                }
                (if c == '%' { Lexeme::Id } else { Lexeme::Raw }, name)
            }
            _ => (Lexeme::Word, cursor.skip(word)),
        };
        tokens.push(Token { kind, text, line, column });
    }
    Ok(tokens)
}

/// A string: a backslash takes the next character as it is.
fn string(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut value = String::new();
    cursor.next();
    loop {
        match cursor.next()? {
            '"' => return Some(value),
            '\\' => value.push(cursor.next()?),
            c => value.push(c),
        }
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        Some(c)
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
        &self.text[start..self.at]
    }
}
