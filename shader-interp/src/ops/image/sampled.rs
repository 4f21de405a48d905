//! Which texels a sampling instruction is about to read: the instruction itself, over a memory that notes
//! what is loaded and holds nothing. Where texels lie depends on coordinates, sampler and image alone, not on
//! what they hold.

use super::{Operation, entry};
use crate::code::ImageEntry;
use crate::exec::context::Context;
use pellucid_memory::access::{Access, AtomicOp, Site};
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, Pointers, Trap};

/// A texel that a lane reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledTexel {
    /// Its number in the subgroup.
    pub lane: usize,
    /// Device address of its first byte, or of that of its block.
    pub address: u64,
    /// Bytes of the texel, or of the block.
    pub bytes: u64,
}

/// A memory that notes loads.
struct Noted(Vec<SampledTexel>);

impl ImageEntry {
    /// The texels that a sampling instruction reads for the lanes of `mask`; none for other instructions, and
    /// where it would trap.
    pub(crate) fn sampled_texels(
        &self,
        context: &Context<'_>,
        vectors: &[Lanes],
        mask: Mask,
    ) -> Vec<SampledTexel> {
        let mut noted = Noted(Vec::new());
        if self.instruction.operation != Operation::Sample {
            return noted.0;
        }
        let mut registers = vectors.to_vec();
        match entry::general(context, self, &mut registers, mask, &mut noted) {
            Ok(_) => noted.0,
            Err(_) => Vec::new(),
        }
    }
}

impl LaneAccesses for Noted {
    const MODELLED: bool = true;

    fn load(
        &mut self,
        _: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        out.fill(Lanes::ZERO);
        let Pointers::View { view, offset, immediate } = from else { return Ok(()) };
        let bytes = u64::from(access.size) * u64::from(access.components);
        let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
        self.0.extend(lanes.map(|lane| {
            let offset = u64::from(offset.0[lane].wrapping_add(immediate));
            SampledTexel { lane, address: view.address.wrapping_add(offset), bytes }
        }));
        Ok(())
    }

    // Sampling does none of these.
    fn store(&mut self, _: Site, _: Pointers<'_>, _: Mask, _: &Access, _: &[Lanes]) -> Result<(), Trap> {
        Ok(())
    }

    fn read_modify_write(
        &mut self,
        _: Site,
        _: AtomicOp,
        _: Pointers<'_>,
        _: Mask,
        _: &Access,
        _: &[Lanes],
        _: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        out.fill(Lanes::ZERO);
        Ok(())
    }
}
