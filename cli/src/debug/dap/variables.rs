//! Requests about variables: scopes, parts, values, and expressions.

use super::super::commands::{self, Answer};
use super::super::stop::Stop;
use super::super::target::Who;
use super::super::values::{Home, Item};
use super::Server;
use serde_json::{Value, json};

/// Elements of an array that are listed if nobody says how many.
const MOST_ELEMENTS: usize = 256;

/// The scopes of a frame, as the client shows them and as commands name them.
const SCOPES: [(&str, &str); 5] = [
    ("Locals", "locals"),
    ("Shared", "shared"),
    ("Buffers", "buffers"),
    ("Images", "images"),
    ("Invocation", "builtins"),
];

/// What a variables reference stands for.
#[derive(Clone, Debug)]
pub(super) enum Listed {
    Scope(&'static str, Who, usize),
    Item(Who, usize, Item, String),
}

impl Server {
    fn list(&mut self, listed: Listed) -> usize {
        self.listed.push(listed);
        self.listed.len()
    }

    pub(super) fn item(&self, reference: &Value) -> Option<Listed> {
        let k = (reference.as_u64()? as usize).checked_sub(1)?;
        self.listed.get(k).cloned()
    }

    pub(super) fn scopes(&mut self, arguments: &Value) -> Result<Value, String> {
        let frame = arguments["frameId"].as_u64().unwrap_or(0) as usize;
        let (who, frame) =
            *frame.checked_sub(1).and_then(|k| self.frames.get(k)).ok_or("there is no such frame")?;
        let scopes: Vec<Value> = SCOPES
            .into_iter()
            .map(|(name, scope)| {
                let reference = self.list(Listed::Scope(scope, who, frame));
                json!({ "name": name, "variablesReference": reference, "expensive": false })
            })
            .collect();
        Ok(json!({ "scopes": scopes }))
    }

    pub(super) fn variables(
        &mut self,
        stop: &mut Stop<'_, '_, '_, '_, '_>,
        arguments: &Value,
    ) -> Result<Value, String> {
        let listed = self.item(&arguments["variablesReference"]).ok_or("there are no such variables")?;
        let first = arguments["start"].as_u64().unwrap_or(0) as usize;
        let most = arguments["count"].as_u64().filter(|n| *n > 0).map_or(MOST_ELEMENTS, |n| n as usize);
        let (who, frame) = match listed {
            Listed::Scope(_, who, frame) | Listed::Item(who, frame, ..) => (who, frame),
        };
        let (own_focus, own_frame) = (stop.session.focus, stop.session.frame);
        (stop.session.focus, stop.session.frame) = (who, frame);
        let eyes = stop.eyes();
        let (items, path) = match &listed {
            Listed::Scope(scope, ..) => (eyes.scope(scope), None),
            Listed::Item(_, _, item, path) => (eyes.parts(item, first, most), Some(path.clone())),
        };
        let mut variables = Vec::new();
        for item in items {
            let path = path.as_ref().map_or_else(|| item.name.clone(), |path| join(path, &item.name));
            variables.push(self.variable(stop, item, path));
        }
        (stop.session.focus, stop.session.frame) = (own_focus, own_frame);
        Ok(json!({ "variables": variables }))
    }

    fn variable(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, item: Item, path: String) -> Value {
        let (who, frame) = (stop.session.focus, stop.session.frame);
        let mut eyes = stop.eyes();
        let value = eyes.show(&item);
        let (first, count) = (eyes.parts(&item, 0, 1), eyes.count(&item));
        let kind = eyes.target.types.describe(item.ty);
        let array = first.first().is_some_and(|part| part.name.starts_with('['));
        let scalar = eyes.element(&item).is_some();
        let settable = scalar && matches!(item.home, Home::Private(_));
        let name = item.name.clone();
        let reference =
            if first.is_empty() { 0 } else { self.list(Listed::Item(who, frame, item, path.clone())) };
        let mut variable = json!({
            "name": name,
            "value": value,
            "type": kind,
            "evaluateName": path,
            "variablesReference": reference,
        });
        if array {
            variable["indexedVariables"] = json!(count);
        }
        if !settable {
            variable["presentationHint"] = json!({ "attributes": ["readOnly"] });
        }
        variable
    }

    pub(super) fn set_variable(
        &mut self,
        stop: &mut Stop<'_, '_, '_, '_, '_>,
        arguments: &Value,
    ) -> Result<Value, String> {
        let listed = self.item(&arguments["variablesReference"]).ok_or("there are no such variables")?;
        let name = arguments["name"].as_str().unwrap_or_default();
        let value = arguments["value"].as_str().unwrap_or_default();
        let (who, frame, path) = match listed {
            Listed::Scope(_, who, frame) => (who, frame, name.to_owned()),
            Listed::Item(who, frame, _, path) => (who, frame, join(&path, name)),
        };
        (stop.session.focus, stop.session.frame) = (who, frame);
        commands::assign(stop, &path, value)?;
        let mut eyes = stop.eyes();
        let item = eyes.find(&path)?;
        Ok(json!({ "value": eyes.show(&item) }))
    }

    pub(super) fn evaluate(
        &mut self,
        stop: &mut Stop<'_, '_, '_, '_, '_>,
        arguments: &Value,
    ) -> Result<Answer, String> {
        let text = arguments["expression"].as_str().unwrap_or_default();
        self.look_at_frame(stop, arguments);
        let repl =
            !matches!(arguments["context"].as_str(), Some("hover" | "watch" | "variables" | "clipboard"));
        let mut eyes = stop.eyes();
        let value = match eyes.find(text) {
            Ok(item) => Ok(Answer::Text(eyes.show(&item))),
            Err(error) => Err(error),
        };
        if value.is_ok() || !repl {
            return value;
        }
        let one = text.split_whitespace().count() < 2;
        match commands::known(stop, text)? {
            Some(answer) => Ok(answer),
            None if one => value,
            None => Err(commands::unknown(text)),
        }
    }

    fn look_at_frame(&self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) {
        let frame = arguments["frameId"].as_u64().unwrap_or(0) as usize;
        if let Some((who, frame)) = frame.checked_sub(1).and_then(|k| self.frames.get(k)) {
            (stop.session.focus, stop.session.frame) = (*who, *frame);
        }
    }

    /// What an evaluated variable with parts is listed as; 0 for all else.
    pub(super) fn reference_of(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> usize {
        let text = arguments["expression"].as_str().unwrap_or_default();
        let (who, frame) = (stop.session.focus, stop.session.frame);
        let mut eyes = stop.eyes();
        match eyes.find(text) {
            Ok(item) if !eyes.parts(&item, 0, 1).is_empty() => {
                self.list(Listed::Item(who, frame, item, text.to_owned()))
            }
            _ => 0,
        }
    }
}

pub(super) fn join(path: &str, name: &str) -> String {
    let dot = if name.starts_with('[') { "" } else { "." };
    format!("{path}{dot}{name}")
}
