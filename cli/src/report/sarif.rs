//! SARIF 2.1.0, which code hosts and editors show beside the source.

use super::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A command of a queue: where its shader accesses the memory, else where it was recorded.
fn command(command: &Value) -> Value {
    let mut place = location(command).unwrap_or_else(|| json!({}));
    if let Some(position) = command["position"].as_str() {
        place["logicalLocations"] = json!([{ "fullyQualifiedName": position, "kind": "function" }]);
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let host = || command["host"]["after"].as_str().map(|call| format!("the host, after {call}"));
    let text = text(&command["title"]).or_else(|| text(&command["command"])).or_else(host);
    place["message"] = json!({ "text": text.unwrap_or_default() });
    place
}

/// The path of a file as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            // A colon would end a scheme.
            b if b.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&b) => uri.push(char::from(b)),
            b => uri.push_str(&format!("%{b:02X}")),
        }
    }
    uri
}

/// The source line of an access.
fn location(access: &Value) -> Option<Value> {
    let source = access.get("source").filter(|s| s.is_object())?;
    let mut region = json!({ "startLine": source["line"] });
    if source["column"].as_u64().is_some_and(|column| column > 0) {
        region["startColumn"] = source["column"].clone();
    }
    Some(json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(source["file"].as_str().unwrap_or_default()) },
            "region": region,
        },
        "message": { "text": access["label"] },
    }))
}

/// The log.
pub fn render(report: &Report) -> Value {
    let mut rules: BTreeMap<&str, &str> = BTreeMap::new();
    let mut results = Vec::new();
    for finding in report.of_type("finding").chain(report.of_type("trap")) {
        let text = |key: &str| match finding[key].as_str() {
            Some(text) => text,
            None if finding["type"] == "trap" && key == "id" => "device-lost",
            None if key == "title" => finding["message"].as_str().unwrap_or_default(),
            None => "",
        };
        let title = if finding["type"] == "trap" { "the device was lost" } else { text("title") };
        rules.insert(text("id"), title);
        let list = |key: &str| finding[key].as_array().into_iter().flatten();
        let mut locations: Vec<Value> =
            list("accesses").filter_map(location).chain(list("commands").map(command)).collect();
        let stack = finding["host"]["caller"]["stack"].as_array().into_iter().flatten();
        let host = stack.filter(|frame| frame["file"].is_string()).map(|frame| {
            let label = format!("{} was called here", finding["host"]["after"].as_str().unwrap_or_default());
            json!({ "source": frame, "label": label })
        });
        locations.extend(host.take(1).filter_map(|access| location(&access)));
        let primary: Vec<Value> = locations.pop().into_iter().collect();
        let help: Vec<&str> =
            finding["help"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let message = if help.is_empty() {
            text("title").to_owned()
        } else {
            format!("{}. Fix: {}.", text("title"), help.join("; "))
        };
        results.push(json!({
            "ruleId": text("id"),
            "level": finding["level"].as_str().unwrap_or("error"),
            "message": { "text": message },
            "locations": primary,
            "relatedLocations": locations,
            "properties": { "replay": finding["replay"], "notes": finding["notes"] },
        }));
    }
    let rules: Vec<Value> = rules
        .into_iter()
        .map(|(id, title)| json!({ "id": id, "shortDescription": { "text": title } }))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "Pellucid", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}
