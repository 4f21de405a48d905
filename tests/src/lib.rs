//! Tests of the whole driver: shaders and Vulkan programs through its real entry points, each run in a
//! process of its own.
//!
//! - [`corpus`]: the planted bugs of `tests/planted`: what a test file says (shader, directives, expected
//!   findings) and its shaders;
//! - [`host`]: a small Vulkan program that does what a test file says, on the driver, without a loader;
//! - [`judge`]: runs a case in a child process, reads the report back and compares it with what is expected.
//!
//! What a case must show: the finding with the id, the source lines and the missing element that its file
//! names, and nothing else; or, for a fixed twin, silence. For one seed the bytes of the report are the same
//! whatever the number of host threads and the working directory.
//!
//! ```text
//! cargo test -p pellucid-tests --test planted                      seeds 0..4
//! PELLUCID_SEEDS=0..64 cargo test -p pellucid-tests --test planted  a longer run
//! PELLUCID_BLESS=1 cargo test -p pellucid-tests --test planted      writes the .expected files anew
//! cargo run -p pellucid-tests --bin planted -- build                compiles the shaders anew
//! cargo run -p pellucid-tests --bin planted -- check [FILTER]       shows what each case gives
//! ```
//!
//! `tests/planted/README.md` describes the directives.

pub mod corpus;
pub mod host;
pub mod judge;
