//! What explore mode tells whoever watches it.

use crate::support::{Builder, buffer, options, resources, shader, store};
use pellucid_memory::agent::Placement;
use pellucid_memory::checked::{CheckOptions, CheckedMemory, DispatchInfo};
use pellucid_shader_interp::code::generate;
use pellucid_shader_interp::exec::explore::{Execution, ExploreOptions, explore};
use pellucid_shader_interp::exec::modelled::{Scheduler, Unit};
use pellucid_shader_interp::interface::{CompileOptions, Grid};
use pellucid_shader_interp::ir::{Region, Scalar};
use std::ops::ControlFlow;

/// Executions that began.
#[derive(Default)]
struct Begun(u64);

impl Scheduler for Begun {
    fn pick(&mut self, _: &[Unit]) -> usize {
        0
    }

    fn begin(&mut self) {
        self.0 += 1;
    }
}

/// The execution whose memory stays is made twice, and begins once.
#[test]
fn every_execution_is_told_once() {
    let mut builder = Builder::default();
    let mut body = Region::default();
    let one = builder.constant(&mut body, 1, Scalar::I32);
    store(&mut body, buffer(0, None, 0), &[one]);
    let compiled = CompileOptions { modelled: true, ..options(1) };
    let program = generate(shader(builder.values, body, 1, 1), &compiled).expect("code for the shader");
    let resources = resources(&program, &[vec![0]], &[]);
    let grid = Grid { base: [0; 3], groups: [2, 1, 1] };
    let info = DispatchInfo {
        groups: grid.groups,
        workgroup_size: 1,
        placement: Placement::in_order(1),
        ..DispatchInfo::default()
    };
    let mut memory = CheckedMemory::new(CheckOptions::default());
    let mut begun = Begun::default();
    let mut each = |_: Execution, _: &mut Begun| ControlFlow::Continue(());
    let how = ExploreOptions::default();
    let totals = explore(&program, &grid, &resources, &mut memory, &info, &mut begun, &how, &mut each);
    let totals = totals.expect("an exploration");
    assert!(totals.executions >= 2, "{totals:?}");
    assert_eq!(begun.0, totals.executions + totals.repeated);
}
