//! Which tier runs a program, and what programs have executed so far.

use crate::code::{Inst, Opcode, Program};
use crate::exec::context::Context;
use crate::exec::level::Level;
use crate::native::{self, NativeCode};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Which tier runs programs; in modelled mode what lies between accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// The interpreter from the first instruction to the last.
    Interpreter,
    /// Machine code from the first instruction on, where the host and the program allow it.
    Compiled,
    /// Machine code for programs that have executed much.
    #[default]
    Auto,
}

/// Instructions executed for each that there is, at which machine code is worth what it costs to make.
const WORTH: u64 = 256;
/// And as many more for memory and the like.
const WORTH_AT_LEAST: u64 = 1 << 16;

/// What a program has executed, and its machine code.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Instructions, about, of all strands.
    executed: AtomicU64,
    claimed: AtomicBool,
    code: OnceLock<Option<NativeCode>>,
    /// Instructions of the shortest loop; those that take long are several.
    turn: u64,
    /// Instructions of a strand that takes no loop, about.
    straight: u64,
}

impl Progress {
    /// That of a program, which is the only thing kept with it.
    pub fn of(program: &Program) -> &Progress {
        program.kept(Progress::new).expect("programs keep nothing else")
    }

    fn new(code: &Program) -> Progress {
        let weight = |inst: &Inst| match inst.op {
            Opcode::Image => code.images.get(inst.imm as usize).map_or(1, |entry| entry.instruction.weight()),
            _ => 1,
        };
        let turns = code.back_edges.iter().map(|(edge, _)| {
            let to = code.code.get(*edge as usize).map_or(*edge, |inst| inst.imm);
            let rows = code.code.get(to as usize..=*edge as usize).unwrap_or(&[]);
            rows.iter().map(weight).sum::<u64>().max(1)
        });
        Progress {
            executed: AtomicU64::new(0),
            claimed: AtomicBool::new(false),
            code: OnceLock::new(),
            turn: turns.min().unwrap_or(1),
            straight: code.code.iter().map(weight).sum::<u64>() / 2 + 1,
        }
    }

    /// The machine code, if there is any.
    #[inline(always)]
    pub fn code(&self) -> Option<&NativeCode> {
        self.code.get()?.as_ref()
    }

    /// Instructions, about, of `strands` from their beginnings and of `turns` of loops.
    pub fn estimate(&self, strands: u64, turns: u64) -> u64 {
        strands * self.straight + turns * self.turn
    }

    /// So many more instructions of the program have been executed: the thread that finds them enough
    /// compiles it, for images of the kinds that it has now, while others go on.
    pub fn add(&self, context: &Context<'_>, executed: u64) {
        let (code, tier) = (context.program, context.tier);
        let before = self.executed.fetch_add(executed, Ordering::Relaxed);
        let enough = WORTH * code.code.len() as u64 + WORTH_AT_LEAST;
        let worth = tier == Tier::Compiled || tier == Tier::Auto && before + executed >= enough;
        if worth && !self.claimed.load(Ordering::Relaxed) && !self.claimed.swap(true, Ordering::Relaxed) {
            self.compile(context, Level::detect(), tier);
        }
    }

    /// Compiles the program, if nobody has.
    pub fn compile(&self, context: &Context<'_>, level: Level, tier: Tier) {
        let of_slots = context.rasters.iter().take(context.program.images.len());
        let images = of_slots.map(|raster| raster.kind).collect();
        self.code.get_or_init(|| NativeCode::new(context.program, images, level, tier));
    }
}

/// Whether machine code has been made of a program.
pub fn is_compiled(program: &Program) -> bool {
    Progress::of(program).code().is_some()
}

/// Why the host refuses executable memory, if it does so, so that all programs stay in the interpreter: to
/// the first who asks.
pub fn refusal() -> Option<&'static str> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    native::refused().filter(|_| !TOLD.swap(true, Ordering::Relaxed))
}
