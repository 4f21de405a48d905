//! The dotted parts of an instruction's name in the herd-style format.

use super::program::Arithmetic;
use super::syntax::{SyntaxError, Tokens};
use crate::scope::{Scope, Semantics, StorageClasses};

/// The dotted parts of an instruction's name.
#[derive(Default)]
pub(super) struct Flags {
    pub atomic: bool,
    pub acquire: bool,
    pub release: bool,
    pub non_private: bool,
    pub available: bool,
    pub visible: bool,
    pub semantics_available: bool,
    pub semantics_visible: bool,
    pub scope: Option<Scope>,
    pub class: Option<StorageClasses>,
    pub classes: StorageClasses,
    pub operation: Option<Arithmetic>,
}

impl Flags {
    pub fn semantics(&self) -> Semantics {
        Semantics {
            acquire: self.acquire,
            release: self.release,
            classes: self.classes,
            make_available: self.semantics_available,
            make_visible: self.semantics_visible,
            volatile: false,
        }
    }

    pub fn read(tokens: &mut Tokens<'_>) -> Result<Flags, SyntaxError> {
        let mut flags = Flags::default();
        while tokens.eat(".") {
            let token = tokens.word("a qualifier")?;
            let mut scope = |scope| match flags.scope.replace(scope) {
                None => Ok(()),
                Some(_) => Err(tokens.error_at(&token, "one scope")),
            };
            match token.text.as_str() {
                "atom" => flags.atomic = true,
                "acq" => flags.acquire = true,
                "rel" => flags.release = true,
                "acq_rel" => (flags.acquire, flags.release) = (true, true),
                "nonpriv" => flags.non_private = true,
                "av" => flags.available = true,
                "vis" => flags.visible = true,
                "semav" => flags.semantics_available = true,
                "semvis" => flags.semantics_visible = true,
                "sg" => scope(Scope::Subgroup)?,
                "wg" => scope(Scope::Workgroup)?,
                "qf" => scope(Scope::QueueFamily)?,
                "dv" => scope(Scope::Device)?,
                word => {
                    if let Some(class) = word.strip_prefix("semsc").and_then(class) {
                        flags.classes |= class;
                    } else if let Some(class) = word.strip_prefix("sc").and_then(class) {
                        if flags.class.replace(class).is_some() {
                            return Err(tokens.error_at(&token, "one storage class"));
                        }
                    } else if let Some(operation) = arithmetic(word) {
                        if flags.operation.replace(operation).is_some() {
                            return Err(tokens.error_at(&token, "one operation"));
                        }
                    } else {
                        return Err(tokens.error_at(
                            &token,
                            "a qualifier: atom, acq, rel, acq_rel, nonpriv, av, vis, semav, semvis, sg, wg, qf, dv, sc0 to sc3, \
                             semsc0 to semsc3 or an operation",
                        ));
                    }
                }
            }
        }
        Ok(flags)
    }
}

/// The storage class that a digit names.
pub(super) fn class(digit: &str) -> Option<StorageClasses> {
    match digit {
        "0" => Some(StorageClasses::UNIFORM),
        "1" => Some(StorageClasses::WORKGROUP),
        "2" => Some(StorageClasses::IMAGE),
        "3" => Some(StorageClasses::OUTPUT),
        _ => None,
    }
}

/// The integer operation of this name.
pub(super) fn arithmetic(word: &str) -> Option<Arithmetic> {
    Some(match word {
        "add" => Arithmetic::Add,
        "sub" => Arithmetic::Sub,
        "mul" => Arithmetic::Mul,
        "div" => Arithmetic::Div,
        "and" => Arithmetic::And,
        "or" => Arithmetic::Or,
        "xor" => Arithmetic::Xor,
        _ => return None,
    })
}
