//! Queue families: what each can do, and how their queues are numbered.
//!
//! The first family does all that the device does; it is the one that shows GRAPHICS to those who ask for
//! that. The second computes beside it, and the third transfers alone. The queues of a device have numbers of
//! their own, family after family: the first family's are those that the application knows.

use super::later::COPY_INDIRECT;
use ash::vk;
use vk::QueueFlags as Flags;

/// How many families there are.
pub const FAMILIES: usize = 3;
/// Queues of each family.
const COUNTS: [u32; FAMILIES] = [4, 2, 2];
/// Queues of all families.
pub const QUEUE_COUNT: u32 = COUNTS[0] + COUNTS[1] + COUNTS[2];

/// The one global priority of queues (VK_KHR_global_priority): the host's threads have one, too.
pub const PRIORITY: vk::QueueGlobalPriorityKHR = vk::QueueGlobalPriorityKHR::MEDIUM;

/// Queues of a family; 0 where there is no such family.
pub fn count(family: u32) -> u32 {
    COUNTS.get(family as usize).copied().unwrap_or(0)
}

/// The number of the device's queue that is the `index`th of a family.
pub fn number(family: u32, index: u32) -> Option<u32> {
    (index < count(family)).then(|| COUNTS[..family as usize].iter().sum::<u32>() + index)
}

/// The family of a queue, and which queue of it that is, by its number.
pub fn place(number: u32) -> (u32, u32) {
    let mut index = number;
    for (family, count) in (0..).zip(COUNTS) {
        if index < count {
            return (family, index);
        }
        index -= count;
    }
    (FAMILIES as u32, index)
}

/// The families outside of the device's instance.
pub fn is_external(family: u32) -> bool {
    [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT].contains(&family)
}

/// What a sentence calls a family.
pub fn family_called(family: u32) -> String {
    match family {
        vk::QUEUE_FAMILY_EXTERNAL => "VK_QUEUE_FAMILY_EXTERNAL".to_owned(),
        vk::QUEUE_FAMILY_FOREIGN_EXT => "VK_QUEUE_FAMILY_FOREIGN_EXT".to_owned(),
        family => format!("queue family {family}"),
    }
}

/// What a report calls a queue without a debug name, by its number: families but the first are named.
pub fn called(number: u32) -> String {
    match place(number) {
        (0, index) => format!("queue {index}"),
        (family, index) => format!("queue {index} of family {family}"),
    }
}

/// What a family can do; `graphics`: the first shows GRAPHICS.
pub fn flags(family: u32, graphics: bool) -> Flags {
    match family {
        0 if graphics => Flags::GRAPHICS | Flags::COMPUTE | Flags::TRANSFER | Flags::SPARSE_BINDING,
        0 | 1 => Flags::COMPUTE | Flags::TRANSFER | Flags::SPARSE_BINDING,
        2 => Flags::TRANSFER | Flags::SPARSE_BINDING,
        _ => Flags::empty(),
    }
}

/// What a message calls these flags: `COMPUTE | TRANSFER`.
pub fn flags_text(flags: Flags) -> String {
    format!("{flags:?}")
}

/// The families, as the application sees them.
pub fn properties(graphics: bool) -> [vk::QueueFamilyProperties; FAMILIES] {
    std::array::from_fn(|family| vk::QueueFamilyProperties {
        queue_flags: flags(family as u32, graphics),
        queue_count: COUNTS[family],
        timestamp_valid_bits: 64,
        min_image_transfer_granularity: vk::Extent3D { width: 1, height: 1, depth: 1 },
    })
}

/// Those of some pipeline stages that no queue with these flags has (Vulkan 1.3, table *Supported Pipeline
/// Stage Flags*).
pub fn unsupported_stages(flags: Flags, stages: vk::PipelineStageFlags2) -> vk::PipelineStageFlags2 {
    use vk::PipelineStageFlags2 as Stage;
    let everywhere = Stage::TOP_OF_PIPE
        | Stage::BOTTOM_OF_PIPE
        | Stage::HOST
        | Stage::ALL_COMMANDS
        | Stage::ALL_TRANSFER
        | Stage::COPY
        | COPY_INDIRECT
        | Stage::RESOLVE
        | Stage::BLIT
        | Stage::CLEAR;
    let mut there = everywhere;
    if flags.intersects(Flags::GRAPHICS | Flags::COMPUTE) {
        there |= Stage::DRAW_INDIRECT | Stage::CONDITIONAL_RENDERING_EXT;
    }
    if flags.contains(Flags::COMPUTE) {
        there |= Stage::COMPUTE_SHADER;
    }
    if flags.contains(Flags::GRAPHICS) {
        return Stage::empty();
    }
    stages & !there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_numbered_family_after_family() {
        let all = (0..FAMILIES as u32).flat_map(|f| (0..count(f)).map(move |i| (f, i)));
        let numbers: Vec<u32> = all.clone().map(|(f, i)| number(f, i).unwrap()).collect();
        assert_eq!(numbers, (0..QUEUE_COUNT).collect::<Vec<_>>());
        assert!(all.zip(numbers).all(|(place, number)| super::place(number) == place));
        assert_eq!([number(0, 4), number(2, 2), number(3, 0)], [None; 3]);
        assert_eq!([called(3), called(5)], ["queue 3", "queue 1 of family 1"]);
    }
}
