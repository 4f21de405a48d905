//! `pellucid litmus --format svg` in a browser: all text is inside its box and inside the picture, at the
//! widths of a phone and of a desk. `PELLUCID_PAGES=FOLDER` keeps the pictures.

use std::path::Path;
use std::process::Command;

/// The pictures of these tests, with these options.
const TESTS: [(&str, &[&str]); 5] = [
    ("message-passing-plain", &["--relation", "happens-before", "--relation", "synchronizes-with"]),
    ("independent-reads", &[]),
    ("two-plus-two-writes", &[]),
    ("load-buffering", &[]),
    ("message-passing", &[]),
];

const LOOK: &str = r#"
const told = [];
for (const frame of document.querySelectorAll('iframe')) {
  const page = frame.contentDocument, svg = page.querySelector('svg');
  const inside = (text, limits, of) => {
    const box = text.getBoundingClientRect();
    if (box.left < limits.left - 1 || box.right > limits.right + 1 || box.top < limits.top - 1 || box.bottom > limits.bottom + 1)
      told.push(`${frame.width}: outside of its ${of}: ${text.textContent}`);
  };
  for (const text of svg.querySelectorAll('text')) inside(text, svg.getBoundingClientRect(), 'picture');
  for (const text of svg.querySelectorAll('text.event')) inside(text, text.previousElementSibling.getBoundingClientRect(), 'box');
  if (page.documentElement.scrollWidth > frame.clientWidth) told.push(`${frame.width}: wider than the page`);
}
document.body.append(Object.assign(document.createElement('pre'), { id: 'verdict', textContent: JSON.stringify(told) }));
"#;

fn picture(name: &str, options: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .args(["litmus", &format!("tests/litmus/{name}.litmus"), "--format", "svg"])
        .args(options)
        .current_dir(root)
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_witness_is_drawn() {
    let drawn = picture("message-passing-plain", &[]);
    assert!(drawn.starts_with("<svg xmlns=") && drawn.ends_with("</svg>\n"), "{drawn}");
    for part in [">P0<", ">P1<", "class=\"race\"", "<title>reads-from: ", ">final state: "] {
        assert!(drawn.contains(part), "no {part} in {drawn}");
    }
    assert_eq!(drawn, picture("message-passing-plain", &[]));
    let none = picture("initial-value-forbidden", &[]);
    assert!(none.contains("no execution to draw"), "{none}");
}

#[test]
fn text_is_inside_its_box() {
    if Command::new("chromium").arg("--version").output().is_err() {
        return pellucid_test_host::skipped("chromium");
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, options) in TESTS {
        let svg = picture(name, options);
        if let Some(keep) = std::env::var_os("PELLUCID_PAGES") {
            std::fs::write(Path::new(&keep).join(format!("{name}.svg")), &svg).expect("the picture");
        }
        let inner = svg.replace('&', "&amp;").replace('"', "&quot;");
        let frames: String = [360, 1600]
            .map(|width| format!("<iframe width=\"{width}\" height=\"900\" srcdoc=\"{inner}\"></iframe>\n"))
            .concat();
        let page = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><body>{frames}<script>addEventListener('load', () => {{ {LOOK} }})</script>"
        );
        let file = folder.path().join(format!("{name}.html"));
        std::fs::write(&file, page).expect("the page");
        let shown = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
            .arg(format!("file://{}", file.display()))
            .output()
            .expect("the browser");
        let shown = String::from_utf8_lossy(&shown.stdout);
        assert!(shown.contains("<pre id=\"verdict\">[]</pre>"), "{name}: {}", &shown[shown.len() - 900..]);
    }
}
