//! The compiled tier where there is none: other hosts, and Miri.

use crate::code::{Code, Marked};
use crate::exec::level::Level;
use crate::ops::image::kind::Kind;
use crate::tier::Tier;

/// Machine code of a program: there is none.
#[derive(Debug)]
pub(crate) enum NativeCode {}

impl NativeCode {
    pub fn new(_: &Code, _: Vec<Kind>, _: Level, _: Tier) -> Option<NativeCode> {
        None
    }

    pub fn marked(&self) -> Option<&Marked> {
        match *self {}
    }
}

/// Why the host refused executable memory: nobody asked it.
pub(crate) fn refused() -> Option<&'static str> {
    None
}

/// Nothing was stored past the caches.
pub(crate) fn fence() {}

pub(crate) mod enter {
    use super::NativeCode;
    use crate::exec::context::Context;
    use crate::exec::entry::Ran;
    use crate::exec::launch::Workgroup;
    use crate::exec::level::Level;
    use crate::exec::run::Control;
    use crate::exec::strand::{Step, Strand};
    use pellucid_memory::system::{MemorySystem, Trap};
    use std::ops::Range;

    pub(crate) fn run<M: MemorySystem>(
        _: Level,
        code: &NativeCode,
        _: &Context<'_>,
        _: &mut Strand,
        _: &mut M,
        _: &Control,
    ) -> Result<Step, Trap> {
        match *code {}
    }

    pub(crate) fn run_on(code: &NativeCode, _: &Context<'_>, _: &mut Strand) -> Option<Step> {
        match *code {}
    }

    pub(crate) fn run_each<M: MemorySystem>(
        _: Level,
        code: &NativeCode,
        _: &Context<'_>,
        _: &mut Strand,
        _: &mut M,
        _: &Control,
        _: (Workgroup, Range<u32>, u32),
    ) -> Ran {
        match *code {}
    }
}
