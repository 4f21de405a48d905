//! Tests of the whole driver: shaders and Vulkan programs through its real entry points, in processes of their own.
//!
//! - [`program`]: a shader with directives, its bug and its fixed twin;
//! - [`process`]: a program on the driver, with chosen options;
//! - `tests/programs.rs`: every program of `programs/`: the bug found and explained as expected, the twin silent, the same bytes for the
//!   same seed;
//! - `tests/compute.rs`: ordinary compute whose results are checked against the host's.
//!
//! `UPDATE_EXPECT=1 cargo test -p pellucid-tests --test programs` writes the expected reports anew.

pub mod process;
pub mod program;
