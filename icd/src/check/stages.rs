//! Stage and access masks of the API in the tracker's terms: the stages and accesses that this device has.

use crate::caps::later::COPY_INDIRECT;
use ash::vk;
use pellucid_memory::commands::{Accesses, Stages};

type Stage2 = vk::PipelineStageFlags2;
type Access2 = vk::AccessFlags2;

/// The stages of a mask, apart from the pseudo stages.
pub fn stages(mask: Stage2) -> Stages {
    const TABLE: [(Stage2, Stages); 13] = [
        (Stage2::DRAW_INDIRECT, Stages::DRAW_INDIRECT),
        (COPY_INDIRECT, Stages::COPY_INDIRECT),
        (Stage2::COMPUTE_SHADER, Stages::COMPUTE_SHADER),
        (Stage2::COPY, Stages::COPY),
        (Stage2::CLEAR, Stages::CLEAR),
        (Stage2::BLIT, Stages::BLIT),
        (Stage2::RESOLVE, Stages::RESOLVE),
        (Stage2::ALL_TRANSFER, Stages::ALL_TRANSFER),
        (Stage2::HOST, Stages::HOST),
        (Stage2::EARLY_FRAGMENT_TESTS, Stages::EARLY_FRAGMENT_TESTS),
        (Stage2::LATE_FRAGMENT_TESTS, Stages::LATE_FRAGMENT_TESTS),
        (Stage2::COLOR_ATTACHMENT_OUTPUT, Stages::COLOR_ATTACHMENT_OUTPUT),
        (Stage2::ALL_GRAPHICS, Stages::ALL_GRAPHICS),
    ];
    let all = if mask.contains(Stage2::ALL_COMMANDS) { Stages::DEVICE } else { Stages::empty() };
    let graphics = if mask.intersects(graphics_stages()) { Stages::GRAPHICS } else { Stages::empty() };
    TABLE.iter().filter(|(bit, _)| mask.contains(*bit)).fold(all | graphics, |s, (_, stages)| s | *stages)
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
    const TABLE: [(Access2, Accesses); 18] = [
        (Access2::INDIRECT_COMMAND_READ, Accesses::INDIRECT_COMMAND_READ),
        (Access2::UNIFORM_READ, Accesses::UNIFORM_READ),
        (Access2::SHADER_SAMPLED_READ, Accesses::SHADER_SAMPLED_READ),
        (Access2::SHADER_STORAGE_READ, Accesses::SHADER_STORAGE_READ),
        (Access2::SHADER_READ, Accesses::SHADER_READ),
        (Access2::SHADER_STORAGE_WRITE, Accesses::SHADER_STORAGE_WRITE),
        (Access2::SHADER_WRITE, Accesses::SHADER_STORAGE_WRITE),
        (Access2::TRANSFER_READ, Accesses::TRANSFER_READ),
        (Access2::TRANSFER_WRITE, Accesses::TRANSFER_WRITE),
        (Access2::HOST_READ, Accesses::HOST_READ),
        (Access2::HOST_WRITE, Accesses::HOST_WRITE),
        (Access2::COLOR_ATTACHMENT_READ, Accesses::COLOR_ATTACHMENT_READ),
        (Access2::COLOR_ATTACHMENT_WRITE, Accesses::COLOR_ATTACHMENT_WRITE),
        (Access2::DEPTH_STENCIL_ATTACHMENT_READ, Accesses::DEPTH_STENCIL_ATTACHMENT_READ),
        (Access2::DEPTH_STENCIL_ATTACHMENT_WRITE, Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE),
        (Access2::DESCRIPTOR_BUFFER_READ_EXT, Accesses::DESCRIPTOR_BUFFER_READ),
        (Access2::MEMORY_READ, Accesses::MEMORY_READ),
        (Access2::MEMORY_WRITE, Accesses::MEMORY_WRITE),
    ];
    TABLE
        .iter()
        .filter(|(bit, _)| mask.contains(*bit))
        .fold(Accesses::empty(), |a, (_, accesses)| a | *accesses)
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
