//! Random programs of structured control flow, as SPIR-V, against what each invocation alone computes:
//! branches, loops with tests at either end, break, continue, switches that fall through, with and without
//! default, early returns, calls within calls. In run mode for several subgroup sizes, and in check mode,
//! which must find nothing.

pub mod emit;
mod program;

use crate::support::{checked, options, run, tier, with_resources};
use pellucid_memory::random::Random;
use pellucid_shader_interp::compile;
use pellucid_shader_interp::exec::modelled::{
    self, BarrierDivergence, ModelledOptions, Scheduler, SeededScheduler, Unit,
};
use pellucid_shader_interp::interface::{CompileOptions, Grid};
use program::{
    Binary, Case, Expr, Function, GLOBALS, INPUTS, Invocation, Program, Statement, TestAt, Var, generate,
};

/// Notes barriers that not all invocations reached.
struct Watching {
    inner: SeededScheduler,
    diverged: Vec<BarrierDivergence>,
}

impl Scheduler for Watching {
    fn pick(&mut self, runnable: &[Unit]) -> usize {
        self.inner.pick(runnable)
    }

    fn priority(&self, unit: &Unit) -> u64 {
        self.inner.priority(unit)
    }

    fn barrier_divergence(&mut self, divergence: &BarrierDivergence) {
        self.diverged.push(divergence.clone());
    }
}

const GROUPS: u32 = 2;
const INVOCATIONS: u32 = GROUPS * emit::LOCAL_SIZE;

/// What is wrong with what a program does on the input and the schedule of a seed.
fn wrong(program: &Program, seed: u64) -> Result<(), String> {
    let words = emit::module(program);
    let mut random = Random::new(!seed);
    let input: Vec<u32> = (0..INPUTS).map(|_| random.below(4)).collect();
    let (mut expected, mut cells) = (Vec::new(), Vec::new());
    for id in 0..INVOCATIONS {
        let globals = std::array::from_fn(|k| input[(id as usize + k) % INPUTS]);
        let mut invocation = Invocation { program, input: &input, id, globals, trace: 0, cell: id };
        invocation.run(0, 0);
        expected.extend(invocation.globals);
        expected.push(invocation.trace);
        cells.push(invocation.cell);
    }
    let buffers = || [vec![0; expected.len()], input.clone(), (0..INVOCATIONS).collect()];
    let compare = |how: &str, buffers: [Vec<u32>; 3]| {
        let first = (0..expected.len()).find(|k| buffers[0][*k] != expected[*k]);
        match first {
            Some(k) => {
                let (invocation, word) = (k / (GLOBALS + 1), k % (GLOBALS + 1));
                let (got, want) = (buffers[0][k], expected[k]);
                Err(format!("{how}: invocation {invocation} word {word}: {got}, not {want}"))
            }
            None if buffers[2] != cells => Err(format!("{how}: {:?}, not {cells:?}", buffers[2])),
            None => Ok(()),
        }
    };
    for size in [32, 8] {
        let code = compile(&words, &options(size)).map_err(|error| error.to_string())?;
        let mut buffers = buffers();
        run(&code, &mut buffers, &[], [GROUPS, 1, 1])
            .map_err(|trap| format!("subgroups of {size}: {trap}"))?;
        compare(&format!("subgroups of {size}"), buffers)?;
    }

    let check = CompileOptions { modelled: true, notes: true, ..options(32) };
    let code = compile(&words, &check).map_err(|error| error.to_string())?;
    let mut buffers = buffers();
    let grid = Grid { base: [0; 3], groups: [GROUPS, 1, 1] };
    let mut memory = checked(&code, grid.groups);
    let mut scheduler = Watching { inner: SeededScheduler::new(seed), diverged: Vec::new() };
    let options = ModelledOptions { watchdog: Some(1 << 20), tier: tier(), ..ModelledOptions::default() };
    with_resources(&code, &mut buffers, &[], |resources| {
        modelled::dispatch(&code, &grid, resources, &mut memory, &mut scheduler, &options)
    })
    .map_err(|trap| format!("check mode: {trap}"))?;
    memory.footprint();
    let findings = memory.end_dispatch();
    if !findings.is_empty() || !scheduler.diverged.is_empty() {
        return Err(format!("check mode finds {findings:?} {:?}", scheduler.diverged));
    }
    compare("check mode", buffers)
}

/// Programs that were refused once: a loop that turns out to have no back-edge.
const REFUSED: [u64; 2] = [688, 1608];

/// `PELLUCID_PROGRAMS` is how many programs are made.
#[test]
fn random_programs_leave_what_each_invocation_computes() {
    let count = std::env::var("PELLUCID_PROGRAMS").map_or(250, |count| count.parse().expect("a number"));
    let failed: Vec<(u64, String)> = (0..count)
        .chain(REFUSED)
        .filter_map(|seed| Some((seed, wrong(&generate(seed), seed).err()?)))
        .take(20)
        .collect();
    let shortest = failed.iter().min_by_key(|(seed, _)| emit::module(&generate(*seed)).len());
    if let Some((seed, _)) = shortest {
        panic!("{failed:#?}\nthe shortest of these, {seed}: {:?}", generate(*seed));
    }
}

/// No lane takes the default, which only their values tell.
#[test]
fn a_default_that_no_lane_takes_does_not_run() {
    let zero = Expr::Binary(Binary::ShiftRight, Box::new(Expr::Id), Box::new(Expr::Constant(7)));
    let turn = |statement| Statement::Loop {
        at: TestAt::BackEdge,
        number: 0,
        limit: Expr::Input(Box::new(Expr::Id)),
        body: vec![statement],
        next: Vec::new(),
    };
    for inside in [Statement::Barrier, Statement::Trace(Expr::Read(Var::Global(0)))] {
        let case = |literals: &[u32], default, body| Case {
            literals: literals.to_vec(),
            default,
            body: vec![body],
            falls: false,
        };
        let cases = vec![case(&[0], false, Statement::Break), case(&[], true, turn(inside))];
        let body = vec![Statement::Switch { selector: zero.clone(), cases }];
        let program = vec![Function { body, loops: 1 }];
        assert_eq!(wrong(&program, 0), Ok(()));
    }
}
