//! A page that needs nothing else.

use super::Report;
use serde_json::Value;
use vulkan_pellucid::report::session::total_line;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
pre{background:#f6f6f4;border:1px solid #ddd;padding:.8rem;overflow-x:auto;font-size:13px;line-height:1.35}\
h2{font-size:1.05rem;margin-top:2rem}code{background:#f0f0ec;padding:0 .25em}.id{color:#a1260d}.help{color:#0b5c2c}";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn strings<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The page.
pub fn render(report: &Report) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Pellucid report</title><style>{STYLE}</style></head><body>\n<h1>Pellucid report</h1>\n"
    );
    for total in report.of_type("total") {
        page.push_str(&format!("<p>{}</p>\n", escape(&total_line(total))));
    }
    for finding in report.of_type("finding") {
        let text = |key: &str| escape(finding[key].as_str().unwrap_or_default());
        page.push_str(&format!(
            "<h2>{}. <span class=\"id\">{}</span>: {}</h2>\n<pre>{}</pre>\n",
            finding["number"],
            text("id"),
            text("title"),
            text("text")
        ));
        for help in strings(finding, "help") {
            page.push_str(&format!("<p class=\"help\">Fix: {}</p>\n", escape(help)));
        }
        page.push_str(&format!("<p>Replay: <code>{}</code></p>\n", text("replay")));
    }
    for other in report.of_type("trap").chain(report.of_type("not-implemented")) {
        page.push_str(&format!("<h2>{}</h2>\n", escape(other["message"].as_str().unwrap_or_default())));
    }
    page.push_str("</body></html>\n");
    page
}
