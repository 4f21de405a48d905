//! What the parts of the page are written with.

use super::specification::Said;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Text as HTML has it.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The texts of a list of a report's line.
pub(super) fn strings<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The texts of a list of a finding, `notes` or `help`, each with what it is about; `None` in reports that do
/// not say so, or name what this version does not know.
pub(super) fn lines<'a, K: DeserializeOwned>(
    finding: &'a Value,
    key: &str,
) -> impl Iterator<Item = (Option<K>, &'a str)> {
    let kinds = match key {
        "help" => &finding["help_kinds"],
        _ => &finding["note_kinds"],
    };
    let texts = finding[key].as_array().into_iter().flatten().enumerate();
    texts.filter_map(|(k, text)| Some((K::deserialize(&kinds[k]).ok(), text.as_str()?)))
}

/// A text of a report's line; empty where there is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What explains a part of the page when it is hovered.
pub(super) fn hover((said, section): Said) -> String {
    format!(" tabindex=\"0\" title=\"{}\n({})\"", escape(said), escape(section))
}
