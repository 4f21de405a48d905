//! Positions, syntax errors and the scanner that the readers share.

use std::fmt;

/// A place in a file: line and column, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A file that is not in its format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{position}: expected {expected}, found {found}")]
pub struct SyntaxError {
    /// The file, as the reader was told its name.
    pub file: String,
    /// The first character that is wrong.
    pub position: Position,
    /// What the grammar allows there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

/// The error for a file that stops being UTF-8 text at a byte.
pub(super) fn not_text(file: String, bytes: &[u8], at: usize) -> SyntaxError {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
    let found = bytes.get(at).map_or_else(String::new, |byte| format!("the byte {byte:#04x}"));
    SyntaxError { file, position: Position { line, column }, expected: "text in UTF-8".to_owned(), found }
}

/// Reads characters with their positions.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    file: &'a str,
    rest: std::str::Chars<'a>,
    position: Position,
}

impl<'a> Scanner<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Scanner<'a> {
        Scanner { file, rest: text.chars(), position: Position { line: 1, column: 1 } }
    }

    /// A scanner of a part of a file that starts at `position`.
    pub fn at(file: &'a str, text: &'a str, position: Position) -> Scanner<'a> {
        Scanner { file, rest: text.chars(), position }
    }

    pub fn position(&self) -> Position {
        self.position
    }

    pub fn rest(&self) -> &'a str {
        self.rest.as_str()
    }

    pub fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    pub fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.position.line += 1;
            self.position.column = 1;
        } else {
            self.position.column += 1;
        }
        Some(c)
    }

    pub fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.bump();
        }
    }

    /// The longest prefix of characters that `belongs` accepts.
    pub fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let start = self.rest();
        let mut length = 0;
        while let Some(c) = self.peek().filter(|c| belongs(*c)) {
            length += c.len_utf8();
            self.bump();
        }
        &start[..length]
    }

    /// Skips one `(* *)` comment or `<< >>` configuration, if it starts here.
    pub fn enclosed(&mut self) -> Result<bool, SyntaxError> {
        let here = self.rest();
        let Some((open, close)) =
            [("(*", "*)"), ("<<", ">>")].into_iter().find(|(open, _)| here.starts_with(open))
        else {
            return Ok(false);
        };
        let Some(length) = here[2..].find(close) else {
            let expected = format!("`{close}` to close `{open}`");
            return Err(self.error(self.position, expected, "the end of the file"));
        };
        self.skip(here[..length + 4].chars().count());
        Ok(true)
    }

    pub fn error(
        &self,
        position: Position,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> SyntaxError {
        SyntaxError { file: self.file.to_owned(), position, expected: expected.into(), found: found.into() }
    }
}

/// One token of the herd-style format or of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub text: String,
    pub kind: TokenKind,
    pub position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Letters, digits and underscores, not starting with a digit.
    Word,
    /// Digits, or `0x` and hexadecimal digits.
    Number,
    /// An operator or punctuation mark.
    Mark,
    /// The end of the text.
    End,
}

impl Token {
    /// How an error message names the token.
    pub fn found(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text.escape_debug()),
        }
    }
}

/// A stream of tokens with one error style.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    file: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    operators: usize,
}

/// How deeply parentheses, negations and implications may nest: formulas are read and evaluated recursively.
const MAX_NESTING: usize = 100;

/// How many operators the sets and relations of one predicate may have, for the same reason.
const MAX_OPERATORS: usize = 500;

const MARKS: [&str; 18] = [
    "/\\", "\\/", "<=>", "<:", ":>", "==", "!=", "<=", ">=", "=<", "=>", "->", "&&", "||", "(", ")", "{", "}",
];

impl<'a> Tokens<'a> {
    /// Divides what is left of the scanner into tokens. Blanks, `(* *)` and `//` comments and `<< >>`
    /// configurations separate tokens.
    pub fn scan(file: &'a str, mut scanner: Scanner<'a>) -> Result<Tokens<'a>, SyntaxError> {
        let mut tokens = Vec::new();
        loop {
            scanner.take(char::is_whitespace);
            let position = scanner.position();
            if scanner.rest().starts_with("//") {
                scanner.take(|c| c != '\n');
                continue;
            }
            if scanner.enclosed()? {
                continue;
            }
            let Some(c) = scanner.peek() else {
                tokens.push(Token { text: String::new(), kind: TokenKind::End, position });
                return Ok(Tokens { file, tokens, next: 0, depth: 0, operators: 0 });
            };
            let (text, kind) = if c.is_ascii_digit() {
                let text = if scanner.rest().starts_with("0x") || scanner.rest().starts_with("0X") {
                    scanner.take(|c| c.is_ascii_alphanumeric())
                } else {
                    scanner.take(|c| c.is_ascii_digit())
                };
                (text, TokenKind::Number)
            } else if c.is_ascii_alphabetic() || c == '_' {
                (scanner.take(|c| c.is_ascii_alphanumeric() || c == '_'), TokenKind::Word)
            } else {
                let rest = scanner.rest();
                let length =
                    MARKS.iter().find(|mark| rest.starts_with(**mark)).map_or(c.len_utf8(), |m| m.len());
                let text = &rest[..length];
                scanner.skip(text.chars().count());
                (text, TokenKind::Mark)
            };
            tokens.push(Token { text: text.to_owned(), kind, position });
        }
    }

    /// Where the stream stands, for [`Tokens::reset`].
    pub fn mark(&self) -> (usize, usize) {
        (self.next, self.operators)
    }

    /// Goes back to a mark.
    pub fn reset(&mut self, mark: (usize, usize)) {
        (self.next, self.operators) = mark;
    }

    /// One level of nesting more, until [`Tokens::leave`]; an error where there are too many. A reader that
    /// enters leaves, whether it succeeds or not.
    pub fn enter(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth <= MAX_NESTING {
            return Ok(());
        }
        self.depth -= 1;
        Err(self.error(format!("at most {MAX_NESTING} levels of nesting")))
    }

    /// Takes an operator between sets or relations; an error where there are too many.
    pub fn operator(&mut self) -> Result<Token, SyntaxError> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(self.error(format!("at most {MAX_OPERATORS} operators between sets and relations")));
        }
        Ok(self.advance())
    }

    /// The end of a level of nesting.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    pub fn peek_at(&self, ahead: usize) -> &Token {
        &self.tokens[(self.next + ahead).min(self.tokens.len() - 1)]
    }

    pub fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// Whether the next token is this one.
    pub fn is(&self, text: &str) -> bool {
        let token = self.peek();
        token.kind != TokenKind::End && token.text == text
    }

    /// Takes the next token if it is this one.
    pub fn eat(&mut self, text: &str) -> bool {
        let here = self.is(text);
        if here {
            self.next += 1;
        }
        here
    }

    pub fn expect(&mut self, text: &str) -> Result<Token, SyntaxError> {
        if self.is(text) { Ok(self.advance()) } else { Err(self.error(format!("`{text}`"))) }
    }

    pub fn word(&mut self, expected: &str) -> Result<Token, SyntaxError> {
        if self.peek().kind == TokenKind::Word { Ok(self.advance()) } else { Err(self.error(expected)) }
    }

    pub fn end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// An error at the next token.
    pub fn error(&self, expected: impl Into<String>) -> SyntaxError {
        self.error_at(self.peek(), expected)
    }

    pub fn error_at(&self, token: &Token, expected: impl Into<String>) -> SyntaxError {
        SyntaxError {
            file: self.file.to_owned(),
            position: token.position,
            expected: expected.into(),
            found: token.found(),
        }
    }

    /// An unsigned decimal number.
    pub fn number(&mut self, expected: &str) -> Result<u32, SyntaxError> {
        match self.peek().text.parse() {
            Ok(number) if self.peek().kind == TokenKind::Number => {
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.error(expected)),
        }
    }

    /// `-5`, `42`, `0x1f`.
    pub fn constant(&mut self) -> Result<i64, SyntaxError> {
        let negative = self.eat("-");
        let token = self.peek().clone();
        let value = match token.kind {
            TokenKind::Number => match token.text.strip_prefix("0x").or(token.text.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as i64),
                None => token
                    .text
                    .parse::<i64>()
                    .ok()
                    .or_else(|| token.text.parse::<u64>().ok().map(|v| v as i64)),
            },
            _ => None,
        };
        let Some(value) = value else { return Err(self.error("an integer constant of at most 64 bits")) };
        self.next += 1;
        Ok(if negative { value.wrapping_neg() } else { value })
    }
}

/// Joins operands of an associative operator. Long chains are joined as a balanced tree, so that its height
/// stays small.
pub(super) fn join_all<T>(first: T, mut rest: Vec<T>, join: fn(T, T) -> T) -> T {
    if rest.len() < 64 {
        return rest.into_iter().fold(first, join);
    }
    let mut right = rest.split_off(rest.len() / 2);
    let middle = right.remove(0);
    join(join_all(first, rest, join), join_all(middle, right, join))
}
