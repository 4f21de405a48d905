//! Stage and access masks of the API in the tracker's terms: the stages and accesses that this device has.

use crate::caps::later::COPY_INDIRECT;
use ash::vk;
use pellucid_memory::commands::{Accesses, Stages};

type Stage2 = vk::PipelineStageFlags2;
type Access2 = vk::AccessFlags2;

/// Bits of the API with those of the tracker that have the same names.
macro_rules! same {
    ($api:ident, $tracker:ident: $($name:ident),* $(,)?) => { [$(($api::$name, $tracker::$name)),*] };
}

/// The stages of a mask, apart from the pseudo stages.
pub fn stages(mask: Stage2) -> Stages {
    let same = same!(Stage2, Stages:
        DRAW_INDIRECT, COMPUTE_SHADER, COPY, CLEAR, BLIT, RESOLVE, ALL_TRANSFER, HOST, EARLY_FRAGMENT_TESTS,
        LATE_FRAGMENT_TESTS, COLOR_ATTACHMENT_OUTPUT, ALL_GRAPHICS);
    let others = [
        (COPY_INDIRECT, Stages::COPY_INDIRECT),
        (Stage2::CONDITIONAL_RENDERING_EXT, Stages::CONDITIONAL_RENDERING),
        (Stage2::ALL_COMMANDS, Stages::DEVICE),
    ];
    let graphics = if mask.intersects(graphics_stages()) { Stages::GRAPHICS } else { Stages::empty() };
    let named = same.into_iter().chain(others).filter(|(bit, _)| mask.contains(*bit));
    named.fold(graphics, |all, (_, stages)| all | stages)
}

/// Stages in which nothing executes, as nothing draws: dependencies chain through them.
fn graphics_stages() -> Stage2 {
    Stage2::VERTEX_INPUT
        | Stage2::INDEX_INPUT
        | Stage2::VERTEX_ATTRIBUTE_INPUT
        | Stage2::PRE_RASTERIZATION_SHADERS
        | Stage2::VERTEX_SHADER
        | Stage2::TESSELLATION_CONTROL_SHADER
        | Stage2::TESSELLATION_EVALUATION_SHADER
        | Stage2::GEOMETRY_SHADER
        | Stage2::FRAGMENT_SHADER
}

/// A first synchronization scope: BOTTOM_OF_PIPE is everything, TOP_OF_PIPE nothing.
pub fn source(mask: Stage2) -> Stages {
    let all = if mask.contains(Stage2::BOTTOM_OF_PIPE) { Stages::DEVICE } else { Stages::empty() };
    stages(mask) | all
}

/// A second synchronization scope: TOP_OF_PIPE is everything, BOTTOM_OF_PIPE nothing.
pub fn destination(mask: Stage2) -> Stages {
    let all = if mask.contains(Stage2::TOP_OF_PIPE) { Stages::DEVICE } else { Stages::empty() };
    stages(mask) | all
}

/// Accesses of a mask.
pub fn accesses(mask: Access2) -> Accesses {
    let same = same!(Access2, Accesses:
        INDIRECT_COMMAND_READ, UNIFORM_READ, SHADER_SAMPLED_READ, SHADER_STORAGE_READ, SHADER_READ,
        SHADER_STORAGE_WRITE, TRANSFER_READ, TRANSFER_WRITE, HOST_READ, HOST_WRITE, COLOR_ATTACHMENT_READ,
        COLOR_ATTACHMENT_WRITE, DEPTH_STENCIL_ATTACHMENT_READ, DEPTH_STENCIL_ATTACHMENT_WRITE, MEMORY_READ,
        MEMORY_WRITE);
    let others = [
        (Access2::SHADER_WRITE, Accesses::SHADER_STORAGE_WRITE),
        (Access2::DESCRIPTOR_BUFFER_READ_EXT, Accesses::DESCRIPTOR_BUFFER_READ),
        (Access2::CONDITIONAL_RENDERING_READ_EXT, Accesses::CONDITIONAL_RENDERING_READ),
    ];
    let named = same.into_iter().chain(others).filter(|(bit, _)| mask.contains(*bit));
    named.fold(Accesses::empty(), |all, (_, accesses)| all | accesses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_mean_what_the_specification_says() {
        assert_eq!(source(Stage2::TOP_OF_PIPE), Stages::empty());
        assert_eq!(source(Stage2::BOTTOM_OF_PIPE), Stages::DEVICE);
        assert_eq!(destination(Stage2::TOP_OF_PIPE), Stages::DEVICE);
        assert_eq!(destination(Stage2::BOTTOM_OF_PIPE), Stages::empty());
        assert_eq!(stages(Stage2::VERTEX_SHADER | Stage2::COPY), Stages::GRAPHICS | Stages::COPY);
        assert_eq!(stages(Stage2::ALL_GRAPHICS), Stages::ALL_GRAPHICS);
        assert_eq!(stages(Stage2::ALL_COMMANDS), Stages::DEVICE);
        assert_eq!(stages(Stage2::ALL_TRANSFER), Stages::ALL_TRANSFER);
        assert_eq!(accesses(Access2::SHADER_READ), Accesses::SHADER_READ);
        assert_eq!(accesses(Access2::SHADER_WRITE), Accesses::SHADER_STORAGE_WRITE);
        assert_eq!(accesses(Access2::MEMORY_WRITE), Accesses::MEMORY_WRITE);
    }
}
