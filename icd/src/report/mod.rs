//! Findings become text, JSON lines, debug-utils messages, totals and an exit status here, and nowhere else.
//!
//! - [`words`]: what accesses, facts and gaps are called, in GLSL's terms where the shader was written in
//!   GLSL and in SPIR-V's otherwise;
//! - [`fixes`]: what edits are called, likewise;
//! - [`note`]: what each line beneath a finding is about;
//! - [`groups`]: which findings one change mends;
//! - [`misuse`]: messages about the use of the API, as findings;
//! - [`text`]: the diagnostic that people read, in the shape of rustc's;
//! - [`around`]: the execution around a race, for its picture;
//! - [`timeline`]: what was executed between the commands of a hazard, likewise;
//! - [`json`]: one object a line, the schema of docs/report.md;
//! - [`texel`]: which texel of an image lies at an offset, and how texels are named;
//! - [`explored`]: the outcomes of a dispatch that was explored, with elements shown by their type
//!   ([`element`]);
//! - [`validation`]: what the Khronos validation layer says, with `pellucid run --validation`;
//! - [`caller`]: the application's thread and call stack at a call;
//! - [`clients`]: who uses the driver, and what is said to those who create no device;
//! - [`suppress`]: rules for what is not to be reported;
//! - [`replay`]: how a run is repeated;
//! - [`verdict`]: what becomes of a report;
//! - [`printed`]: which diagnostics are printed;
//! - [`session`]: what a process counts, deduplicates and writes, and [`total`] its last line.
//!
//! Guarantee: equal findings in equal order give equal bytes. Nothing here depends on addresses, threads,
//! time or the working directory, except that a source file that a module names without embedding it is
//! looked for on disk.

pub mod api;
pub mod around;
pub mod caller;
pub mod clients;
pub mod context;
pub mod element;
pub mod exit;
pub mod explored;
pub mod fixes;
pub mod freed;
pub mod groups;
pub mod hazard;
pub mod host;
mod identity;
pub mod json;
pub mod layout;
pub mod misuse;
pub mod note;
pub mod ownership;
mod printed;
pub mod replay;
pub mod session;
pub mod source;
pub mod suppress;
#[cfg(test)]
mod tests;
pub mod texel;
pub mod text;
pub mod timeline;
pub mod total;
pub mod validation;
pub mod verdict;
pub mod words;

pub use caller::Caller;
pub use context::{Context, DispatchContext, Object};
pub use freed::FreedReport;
pub use groups::{CommandPlace, FixPlace};
pub use hazard::{HazardReport, Side};
pub use host::{HostReport, InCache};
pub use session::{ReportError, Session, misuse, say, session};
pub use validation::ValidationReport;
pub use verdict::{ReportMessage, Verdict};
