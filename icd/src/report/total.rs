//! The totals of a process, or of all that `pellucid run` started, as a line.

use serde_json::Value;

/// `2 findings (1 race, 1 hazard), 5 suppressed, seed 0, 118 dispatches checked`, of a JSON object of totals.
pub fn total_line(total: &Value) -> String {
    let number = |key: &str| total.get(key).and_then(Value::as_u64).unwrap_or(0);
    let plural = |n: u64, noun: &str| if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") };
    let families: Vec<String> = total
        .get("families")
        .and_then(Value::as_object)
        .map(|f| f.iter().map(|(name, n)| format!("{n} {name}")).collect())
        .unwrap_or_default();
    let mut line = plural(number("findings"), "finding");
    if !families.is_empty() {
        line.push_str(&format!(" ({})", families.join(", ")));
    }
    if number("notes") > 0 {
        line.push_str(&format!(", {}", plural(number("notes"), "note")));
    }
    line.push_str(&format!(", {} suppressed, seed {}, ", number("suppressed"), number("seed")));
    line.push_str(&match number("dispatches") {
        1 => "1 dispatch checked".to_owned(),
        many => format!("{many} dispatches checked"),
    });
    match number("unexplored") {
        0 => {}
        1 => line.push_str(", 1 not explored completely"),
        many => line.push_str(&format!(", {many} not explored completely")),
    }
    if number("traps") > 0 {
        line.push_str(", device lost");
    }
    line
}
