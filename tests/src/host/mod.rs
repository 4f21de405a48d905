//! A Vulkan program that does what a case says: creates its resources, records and submits its commands, and
//! compares what is in memory at the end. It loads the driver without a loader and asks for every feature
//! that the driver has.

mod barriers;
mod device;
mod record;
mod resource;

pub use device::driver;
pub use pellucid_test_host::Vulkan as Device;

use crate::corpus::{Case, Test, value_bytes};
use anyhow::{Context, Result, bail};

/// Does what a case says.
///
/// # Errors
/// A Vulkan call failed (a lost device among them), or memory does not hold what the case says at the end.
pub fn run(device: &Device, test: &Test, case: &Case) -> Result<()> {
    let mut resources = resource::Resources::create(device, case)?;
    let mut recorder = record::Recorder::create(device, test, case, &resources)?;
    recorder.run(&mut resources)?;
    for expected in &case.finals {
        let (ty, bytes) = resources.read(device, &expected.resource)?;
        for (index, value) in expected.values.iter().enumerate().filter(|(_, v)| *v != "_") {
            let wanted = value_bytes(&ty, value).with_context(|| format!("{value} is no {ty}"))?;
            let at = (expected.first + index) * wanted.len();
            let got = bytes.get(at..at + wanted.len()).context("final: past the end")?;
            if got != wanted {
                bail!("{}[{}] is {got:?}, not {value}", expected.resource, expected.first + index);
            }
        }
    }
    Ok(())
}
