//! Runs one property of one test and reports what was found.

use std::fmt;
use std::str::FromStr;

use crate::model::{ModelOptions, ReadModifyWrite};

use super::assertion::{self, AssertionError};
use super::axioms::{self, Found, Goal, Limits};
use super::machine;
use super::progress::{self, Bounds, Termination};
use super::witness::Witness;
use super::{Test, herd, khronos};
use crate::progress::{ProgressModel, UnknownProgressModel};
use strum::{IntoStaticStr, VariantArray};

/// How a test is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum By {
    /// Enumerated by the axioms.
    #[default]
    Axioms,
    /// Explored on the machine: schedules and reads-from choices over store histories.
    Machine,
    /// Lowered to SPIR-V and explored on the memory of check mode: every execution of one dispatch.
    Explore,
    /// Lowered to SPIR-V and dispatched through Vulkan.
    Vulkan,
}

impl By {
    /// How the command line spells it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(name: &str) -> Result<By, String> {
        let found = By::VARIANTS.iter().copied().find(|by| by.name() == name);
        found.ok_or_else(|| {
            format!("a test is not run by `{name}`; the ways are axioms, machine, explore, vulkan")
        })
    }
}

/// What is asked of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// The test's own question: `exists`, `~exists` or `forall`.
    Outcome,
    /// No execution has a data race.
    RaceFree,
    /// Every execution terminates.
    Terminates(ProgressModel),
    /// An assertion of a `.test` file, by its index.
    Assertion(usize),
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Outcome => f.write_str("outcome"),
            Property::RaceFree => f.write_str("race-free"),
            Property::Terminates(model) => write!(f, "terminates-{model}"),
            Property::Assertion(index) => write!(f, "assertion-{}", index + 1),
        }
    }
}

impl FromStr for Property {
    type Err = String;

    fn from_str(name: &str) -> Result<Property, String> {
        match name {
            "outcome" => Ok(Property::Outcome),
            "race-free" => Ok(Property::RaceFree),
            _ => match name.strip_prefix("terminates-") {
                Some(model) => model
                    .parse()
                    .map(Property::Terminates)
                    .map_err(|error: UnknownProgressModel| error.to_string()),
                None => Err(format!(
                    "no property is called `{name}`; the properties are outcome, race-free and terminates-<progress model>"
                )),
            },
        }
    }
}

/// How properties are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// Which variant of the model decides.
    pub options: ModelOptions,
    /// How a read-modify-write is ordered; by default literally in `.test` files, as the Alloy model has it,
    /// and by halves in `.litmus` files.
    pub read_modify_write: Option<ReadModifyWrite>,
    /// Bounds of the search.
    pub limits: Limits,
    /// The axioms, the machine, shaders on check mode's memory, or shaders on a Vulkan device.
    pub by: By,
}

impl Settings {
    /// The model options for a test.
    pub fn options(&self, test: &Test) -> ModelOptions {
        let usual = match test {
            Test::Khronos(_) => ReadModifyWrite::Literal,
            Test::Herd(_) => ReadModifyWrite::ByHalves,
        };
        ModelOptions { read_modify_write: self.read_modify_write.unwrap_or(usual), ..self.options }
    }
}

/// An answer and what it rests on.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The answer; `None` where the search hit a bound before it had one.
    pub holds: Option<bool>,
    /// What was found on the way.
    pub evidence: Evidence,
}

/// What an answer rests on.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A search of executions.
    Executions(Box<Found>),
    /// A `.test` assertion.
    Assertion(Option<Box<Witness>>),
    /// A search of states.
    Termination(Termination),
}

impl Answer {
    /// The execution that decides the answer, if one does.
    pub fn witness(&self) -> Option<&Witness> {
        match &self.evidence {
            Evidence::Executions(found) => found.witness.as_ref(),
            Evidence::Assertion(witness) => witness.as_deref(),
            Evidence::Termination(_) => None,
        }
    }
}

/// Why a property cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The property is not one of this format.
    #[error("{0} is not a property of this format")]
    NotOfThisFormat(Property),
    /// The test asks no question.
    #[error("the test has neither `exists` nor `forall`: it has no outcome to check")]
    NoQuestion,
    /// An assertion that means nothing.
    #[error(transparent)]
    Assertion(#[from] AssertionError),
    /// A gap of ours.
    #[error("not implemented in Pellucid: {0}")]
    NotImplemented(String),
}

/// Decides one property of one test.
pub fn run(test: &Test, property: Property, settings: &Settings) -> Result<Answer, RunError> {
    let options = settings.options(test);
    if let By::Explore | By::Vulkan = settings.by {
        return Err(RunError::NotImplemented(format!("litmus --by {}", settings.by.name())));
    }
    let machine = settings.by == By::Machine;
    let program = match test {
        Test::Khronos(test) => {
            let Property::Assertion(index) = property else {
                return Err(RunError::NotOfThisFormat(property));
            };
            let Some(asserted) = test.assertions.get(index) else {
                return Err(RunError::NotOfThisFormat(property));
            };
            if machine {
                let what = "litmus --by machine of a .test file (it asserts executions, not programs)";
                return Err(RunError::NotImplemented(what.to_owned()));
            }
            let answer = assertion::decide(test, asserted, &options, &settings.limits)?;
            let holds = answer.complete.then_some(answer.witness.is_some() == asserted.satisfiable);
            return Ok(Answer { holds, evidence: Evidence::Assertion(answer.witness.map(Box::new)) });
        }
        Test::Herd(program) => program,
    };
    let search = |goal: &Goal<'_>| match settings.by {
        By::Machine => machine::search(program, &options, &settings.limits, goal),
        _ => axioms::search(program, &options, &settings.limits, goal),
    };
    match property {
        Property::Outcome => {
            let question = program.question.as_ref().ok_or(RunError::NoQuestion)?;
            let (condition, wanted) = question.witness();
            let found = search(&Goal::State(condition, wanted));
            let decided = found.witness.is_some() || found.complete;
            let holds = decided.then(|| question.answer(found.witness.is_some()));
            Ok(Answer { holds, evidence: Evidence::Executions(Box::new(found)) })
        }
        Property::RaceFree => {
            let found = search(&Goal::Race);
            let decided = found.witness.is_some() || found.complete;
            let holds = decided.then_some(found.witness.is_none());
            Ok(Answer { holds, evidence: Evidence::Executions(Box::new(found)) })
        }
        Property::Terminates(model) => {
            let found = progress::terminates(program, model, &options, &Bounds::default());
            let decided = found.stuck.is_some() || found.complete;
            let holds = decided.then_some(found.stuck.is_none());
            Ok(Answer { holds, evidence: Evidence::Termination(found) })
        }
        Property::Assertion(_) => Err(RunError::NotOfThisFormat(property)),
    }
}

/// All final states of terminated executions, as values of [`super::program::LitmusProgram::observables`].
pub fn outcomes(program: &super::program::LitmusProgram, settings: &Settings) -> Found {
    let options = settings.options(&Test::Herd(program.clone()));
    match settings.by {
        By::Machine => machine::search(program, &options, &settings.limits, &Goal::Outcomes),
        _ => axioms::search(program, &options, &settings.limits, &Goal::Outcomes),
    }
}

/// Some consistent execution of a test (of a program: a terminated one), if there is one.
pub fn example(test: &Test, settings: &Settings) -> Result<Option<Witness>, RunError> {
    let options = settings.options(test);
    match test {
        Test::Khronos(khronos) => {
            let assertion = khronos::Assertion {
                line: 0,
                text: String::new(),
                satisfiable: true,
                chains: options.chains,
                predicate: super::predicate::Predicate::Consistent,
            };
            Ok(assertion::decide(khronos, &assertion, &options, &settings.limits)?.witness)
        }
        Test::Herd(program) => {
            let (zero, equal) = (super::program::Term::Constant(0), super::program::Comparison::Equal);
            let always = super::program::Condition::Compare(equal, zero, zero);
            Ok(axioms::search(program, &options, &settings.limits, &Goal::State(&always, true)).witness)
        }
    }
}

/// Why a test cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{file}: {error}")]
    Read {
        /// Path of the test.
        file: String,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// The file is not in its format.
    #[error(transparent)]
    Syntax(#[from] super::SyntaxError),
    /// The name tells no format.
    #[error("{0}: a litmus test's name ends in .test (Khronos) or .litmus (herd style)")]
    Format(String),
}

/// Parses a test by the format that the end of its name tells.
pub fn parse(file: &str, text: &str) -> Result<Test, LoadError> {
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if file.ends_with(".test") {
        Ok(Test::Khronos(khronos::read(file, text)?))
    } else if file.ends_with(".litmus") {
        Ok(Test::Herd(herd::read(file, text)?))
    } else {
        Err(LoadError::Format(file.to_owned()))
    }
}

/// Reads a test from a file.
pub fn load(path: &std::path::Path) -> Result<Test, LoadError> {
    let file = path.display().to_string();
    let bytes = crate::input::bytes(path, crate::input::MOST_BYTES)
        .map_err(|error| LoadError::Read { file: file.clone(), error })?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(&file, text),
        Err(error) => Err(super::syntax::not_text(file, &bytes, error.valid_up_to()).into()),
    }
}
