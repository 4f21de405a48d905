//! The renderings: sound, complete, and the same for the same results.

mod common;

use common::Bench;
use std::fs;

const CASES: [&str; 7] =
    ["pass.1", "fail.1", "not_supported.1", "noise.1", "crash.1", "flaky.1", "quality_warning.1"];

#[test]
fn junit_is_well_formed_and_counts() {
    let bench = Bench::new(&CASES);
    bench.write("baseline.csv", "# known\ndEQP-VK.stand_in.fail.1,Fail\n");
    bench.run(&["--retries", "1", "--baseline", "baseline.csv"]).expect(1);
    let xml = bench.read("results/junit.xml");
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    let count = |name: &str| root.attribute(name).unwrap().parse::<usize>().unwrap();
    assert_eq!((count("tests"), count("failures"), count("errors"), count("skipped")), (7, 0, 1, 2));
    let cases: Vec<_> = root.descendants().filter(|node| node.has_tag_name("testcase")).collect();
    assert_eq!(cases.len(), 7);
    let case = |name: &str| {
        let class = format!("dEQP-VK.stand_in.{name}");
        *cases.iter().find(|case| case.attribute("classname") == Some(&class)).unwrap()
    };
    let skipped = case("fail").first_element_child().unwrap();
    assert!(skipped.has_tag_name("skipped") && skipped.attribute("message") == Some("expected Fail: known"));
    // The message came through its escapes.
    assert_eq!(skipped.text(), Some("pixels <differ> & \"more\""));
    assert!(case("crash").first_element_child().unwrap().has_tag_name("error"));
    assert!(case("pass").first_element_child().is_none());
    assert!(case("flaky").first_element_child().unwrap().has_tag_name("system-out"));
}

#[test]
fn the_page_stands_alone() {
    let bench = Bench::new(&CASES);
    bench.run(&["--title", "all <kinds>"]).expect(1);
    let html = bench.read("results/index.html");
    for outside in ["http:", "https:", "src=", "href=", "url(", "@import"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("all &lt;kinds&gt;") && html.contains("pixels &lt;differ&gt;"));
    let data = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["cases"].as_array().unwrap().len(), 7);
    assert_eq!(html.matches("<script").count(), 2);
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let bench = Bench::new(&CASES);
    bench.run(&[]).expect(1);
    let names = ["results.csv", "results.json", "junit.xml", "index.html", "summary.txt"];
    let read = || names.map(|name| bench.read(&format!("results/{name}")));
    let before = read();
    // The journal's order is the order in which cases ended, and does not show.
    let journal = bench.read("results/journal.jsonl");
    let mut lines: Vec<&str> = journal.lines().collect();
    lines.reverse();
    fs::write(bench.path("results/journal.jsonl"), lines.join("\n") + "\n").unwrap();
    bench.call(&["report", "results"]).expect(1);
    assert_eq!(before, read());
    let json = bench.json("results");
    assert_eq!(json["statuses"]["Pass"], 2);
    assert_eq!(json["verdicts"]["Regression"], 3);
    assert_eq!(json["run"]["selected"], 7);
}

#[test]
fn the_conformance_page_is_kept_true() {
    let bench = Bench::new(&["pass.1", "fail.1", "fail.2", "not_supported.1"]);
    let begin = "<!-- conformance: begin, written by pellucid-cts-runner page -->";
    bench.write(
        "page.md",
        &format!("# Page\n\n{begin}\n\nNo results are recorded yet.\n\n<!-- conformance: end -->\n\nMore.\n"),
    );
    bench.write("expect.csv", "# no fragments\ndEQP-VK.stand_in.fail.1,Fail\n");
    bench.run(&["--title", "b"]).expect(1);
    let page = ["page", "results", "--page", "page.md", "--baseline", "expect.csv"];
    bench.call(&[&page[..], &["--check"]].concat()).expect(1);
    bench.call(&page).expect(0);
    let text = bench.read("page.md");
    assert!(text.starts_with("# Page\n") && text.ends_with("\nMore.\n"));
    assert!(!text.contains("No results are recorded"));
    assert!(text.contains("| `dEQP-VK.stand_in.fail` | 2 | 0 | 0 | 0 | 0 | 0 | 2 | 0 |"), "{text}");
    assert!(text.contains("| all | 4 | 1 | 0 | 1 | 0 | 0 | 2 | 0 |"), "{text}");
    assert!(text.contains("| `dEQP-VK.stand_in.fail.1` | Fail | no fragments |"), "{text}");
    assert!(text.contains("| `dEQP-VK.stand_in.fail.2` | Fail | **not expected** |"), "{text}");
    bench.call(&[&page[..], &["--check"]].concat()).expect(0);

    // Another run's record comes beside the first, in the order of their titles; the same run's takes its
    // place.
    bench.run(&["--overwrite", "--title", "a", "-n", "*.pass.*"]).expect(0);
    bench.call(&page).expect(0);
    let text = bench.read("page.md");
    assert!(text.find("### a").unwrap() < text.find("### b").unwrap());
    bench.run(&["--overwrite", "--title", "b", "-n", "*.pass.*"]).expect(0);
    bench.call(&page).expect(0);
    let text = bench.read("page.md");
    assert_eq!(text.matches("### b").count(), 1);
    assert!(!text.contains("fail.2"));
    bench.write("bare.md", "nothing\n");
    bench.call(&["page", "results", "--page", "bare.md"]).expect(2);
}

/// The repository's own page has the markers that the runner needs.
#[test]
fn the_repositorys_page_can_be_written() {
    let text = fs::read_to_string(common::repository().join("docs/conformance.md")).unwrap();
    let bench = Bench::new(&["pass.1"]);
    bench.run(&["--title", "zz stand-in"]).expect(0);
    bench.write("page.md", &text);
    bench.call(&["page", "results", "--page", "page.md"]).expect(0);
    assert!(bench.read("page.md").contains("### zz stand-in"));
}
