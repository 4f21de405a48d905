//! `docs/model.md` shows litmus tests and what `pellucid litmus` prints for them. Both are checked here.
//!
//! A block that opens with ```` ```litmus NAME [options] ```` must hold the test of that name from
//! `tests/litmus`, without its comment, and be followed by a text block with the report. `PELLUCID_BLESS=1
//! cargo test -p pellucid-memory --test model_page` writes both.

use std::path::{Path, PathBuf};

use pellucid_memory::litmus::report::{Report, Wanted};
use pellucid_memory::litmus::run::{By, Settings, parse};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A test as the page shows it: without its comment.
fn shown(source: &str) -> String {
    let start = source.find("(*").expect("a comment");
    let end = source[start..].find("*)").expect("the comment's end") + start + 3;
    format!("{}{}", &source[..start], &source[end..])
}

fn report(name: &str, source: &str, options: &[&str]) -> String {
    let test = parse(&format!("{name}.litmus"), source).unwrap_or_else(|error| panic!("{error}"));
    let mut settings = Settings::default();
    let mut wanted = Wanted::default();
    for option in options.chunks(2) {
        match option {
            ["--model", "no-chains"] => settings.options.chains = false,
            ["--by", by] => settings.by = by.parse::<By>().expect("a way to run"),
            ["--progress", model] => wanted.progress = Some(model.parse().expect("a progress model")),
            other => panic!("{other:?} is not an option that the page's test knows"),
        }
    }
    Report::new(&format!("{name}.litmus"), &test, &settings, &wanted).expect("a report").text()
}

/// The page with every block as it should be.
fn blessed(page: &str) -> String {
    let mut result = String::new();
    let mut lines = page.lines().peekable();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        let Some(header) = line.strip_prefix("```litmus ") else {
            result.push_str(line);
            result.push('\n');
            continue;
        };
        let words: Vec<&str> = header.split_whitespace().collect();
        let (name, options) = words.split_first().expect("the name of a test");
        let file = repository().join("tests/litmus").join(format!("{name}.litmus"));
        let source =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for line in lines.by_ref() {
            if line == "```" {
                break;
            }
        }
        // The report block, if there is one already.
        let mut ahead = lines.clone();
        if ahead.next() == Some("") && ahead.next() == Some("```text") {
            for line in ahead.by_ref() {
                if line == "```" {
                    break;
                }
            }
            lines = ahead;
        }
        result.push_str(&format!(
            "{line}\n{}```\n\n```text\n{}```\n",
            shown(&source),
            report(name, &source, options)
        ));
        blocks += 1;
    }
    assert!(blocks >= 20, "the page shows {blocks} tests");
    result
}

#[test]
fn the_page_shows_the_tests_and_what_is_printed() {
    let file = repository().join("docs/model.md");
    let page = std::fs::read_to_string(&file).expect("the page");
    let expected = blessed(&page);
    if std::env::var_os("PELLUCID_BLESS").is_some() {
        std::fs::write(&file, expected).expect("the page can be written");
        return;
    }
    for (number, (line, expected)) in page.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "docs/model.md:{}; see this test for how to refresh the page", number + 1);
    }
    assert_eq!(page, expected);
}
