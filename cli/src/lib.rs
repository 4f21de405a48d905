//! The `pellucid` command: runs programs on the driver, checks them, and shows what was found.
//!
//! - [`options`]: the options of the driver as flags, made of its one table;
//! - [`driver`]: where the driver's library is, and the manifest that leads the Vulkan loader to it;
//! - [`child`]: programs that are started, the signals they get and how they end;
//! - [`mod@run`]: a program on the driver, its totals and its exit status; many seeds;
//! - [`host`]: a small Vulkan program of our own, on the driver without a loader: one shader, its buffers,
//!   one dispatch;
//! - [`exec`]: that program from the command line;
//! - [`status`]: the exit status of what the caller got wrong;
//! - [`mistaken`]: where a word belongs that a command does not take;
//! - [`source`]: shaders in languages whose compilers are installed;
//! - [`mod@assemble`]: SPIR-V from text;
//! - [`debug`]: a debugger over check mode, forward and backward;
//! - [`demo`]: a bug, its finding, its fix, and the clean run after it;
//! - [`hunt`]: a program many times, under every kind of variation;
//! - [`merged`]: what many runs have shown, each distinct finding once;
//! - [`validation`]: the Khronos validation layer over the driver;
//! - [`report`]: report files as text, SARIF and HTML;
//! - [`page`]: what was found as a page, beside what else a command does;
//! - [`replay`]: a program again, as a report's findings were found;
//! - [`litmus`]: memory-model tests by the axioms, on the machine, and as samples through Vulkan;
//! - [`vulkan`]: litmus programs as SPIR-V, dispatched on a driver, and what was seen;
//! - [`install`]: the manifest where the loader looks for it.
//!
//! Exit statuses: a program's own; 66 where it ended well but there were findings; 67 where there were none,
//! but a dispatch was not explored completely; 2 for a usage error, or a file that is named and cannot be
//! read; 1 where a program does not start, or Pellucid itself failed.
//!
//! This crate is a command: it prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod assemble;
pub mod child;
pub mod command;
pub mod debug;
pub mod demo;
pub mod driver;
pub mod exec;
pub mod host;
pub mod hunt;
pub mod install;
pub mod litmus;
pub mod merged;
pub mod mistaken;
pub mod options;
pub mod page;
pub mod replay;
pub mod report;
pub mod run;
pub mod source;
pub mod status;
pub mod validation;
pub mod vulkan;

pub use command::main;
