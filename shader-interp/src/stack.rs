//! The stack that compiling a module takes.
//!
//! A module chooses how deep its constructs and types lie inside of each other, and the walks over them
//! recurse. So its text bounds the stack that it may need; where that is more than any thread can be expected
//! to have left, the work is done on a thread with a stack of its own. What lies deeper than the limits here
//! is refused by name.

use crate::CompileError;
use spirv::Op;

/// Regions inside of each other that are accepted: a switch nests one for each of its targets.
pub(crate) const MAX_REGIONS: usize = 1 << 15;
/// Blocks of the control flow graph inside of each other, calls included, that are accepted.
pub(crate) const MAX_BLOCKS: u32 = 1 << 12;
/// Arrays and structures inside of each other that are accepted.
pub(crate) const MAX_TYPES: u32 = 1 << 9;

/// Bytes of stack that any thread has left.
const LEFT: usize = 96 << 10;

/// Bytes of stack for a module without nesting, for each region that may lie in another one and for each
/// type: more than was measured.
const BASE: usize = 32 << 10;
const REGION: usize = if cfg!(debug_assertions) { 16 << 10 } else { 2 << 10 };
const TYPE: usize = if cfg!(debug_assertions) { 4 << 10 } else { 512 };

/// An upper bound of the stack in bytes that compiling `words` takes: functions are inlined, but none within
/// itself.
fn needed(words: &[u32]) -> usize {
    let (mut regions, mut types) = (0, 0);
    let mut rest = words.get(5..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        match Op::from_u32(first & 0xffff) {
            Some(Op::Label) => regions += 1,
            // A selector and a default, then a literal of a word or two and a label for each case.
            Some(Op::Switch) => regions += (first >> 16) as usize / 2,
            Some(Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray) => types += 1,
            _ => {}
        }
        rest = rest.get((first >> 16).max(1) as usize..).unwrap_or_default();
    }
    BASE + regions.min(MAX_REGIONS) * REGION + types.min(MAX_TYPES as usize) * TYPE
}

/// Does work that takes as much stack as compiling `words`.
///
/// # Errors
/// Those of the work, and [`CompileError::Limit`] if the host has no room for the stack.
pub(crate) fn with_room<T: Send>(
    words: &[u32],
    work: impl FnOnce() -> Result<T, CompileError> + Send,
) -> Result<T, CompileError> {
    let needed = needed(words);
    if needed <= LEFT {
        return work();
    }
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("pellucid compile".into()).stack_size(needed);
        match builder.spawn_scoped(scope, work) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Err(CompileError::Limit(format!("no room for a stack of {needed} bytes"))),
        }
    })
}
