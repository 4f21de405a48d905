//! Source lines, and which of their characters an access is.

use super::*;

fn underlined<'a>(line: &'a str, column: u32, variable: &str, write: bool) -> &'a str {
    &line[span_in_line(line, column, variable, write)]
}

#[test]
fn a_read_is_its_expression_and_a_write_its_statement() {
    let read = "        total += partial[row[i] + 1].x;  // sum";
    assert_eq!(underlined(read, 0, "partial", false), "partial[row[i] + 1].x");
    assert_eq!(underlined(read, 18, "", false), "partial[row[i] + 1].x");
    assert_eq!(underlined(read, 0, "partial", true), "total += partial[row[i] + 1].x;");
}

#[test]
fn an_ambiguous_or_absent_name_underlines_the_statement() {
    assert_eq!(underlined("  a[i] = a[i + 1]; // next", 0, "a", false), "a[i] = a[i + 1];");
    assert_eq!(underlined("  if (ready == 1u)", 0, "", false), "if (ready == 1u)");
    assert_eq!(underlined("  x = partials[0];", 0, "partial", false), "x = partials[0];");
    assert_eq!(underlined("", 3, "partial", false), "");
    assert_eq!(underlined("  x = a[1", 0, "a", false), "a");
}

#[test]
fn lines_are_found_by_number() {
    let text = "one\ntwo\r\n\nfour";
    let line = |n| line_start(text, n).map(|s| text[s..].split(['\n', '\r']).next().unwrap());
    assert_eq!((line(1), line(2), line(3), line(4)), (Some("one"), Some("two"), Some(""), Some("four")));
    assert_eq!((line(0), line(5)), (None, None));
}
