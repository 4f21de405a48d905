//! Dispatches that a word in memory discards.

mod common;

use ash::vk;
use common::{Spin, Vulkan, alone};
use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};

const PREDICATE: (Stage, Access) = (Stage::CONDITIONAL_RENDERING_EXT, Access::CONDITIONAL_RENDERING_READ_EXT);
const PARAMETERS: (Stage, Access) = (Stage::DRAW_INDIRECT, Access::INDIRECT_COMMAND_READ);

/// A device with conditional rendering, its functions, and a buffer that may have predicates.
struct Program {
    v: Vulkan,
    conditional: ash::ext::conditional_rendering::Device,
    predicates: vk::Buffer,
}

impl Program {
    fn new() -> Program {
        let mut features = vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default()
            .conditional_rendering(true)
            .inherited_conditional_rendering(true);
        let mut two = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        two.p_next = std::ptr::from_mut(&mut features).cast();
        let v = Vulkan::with(&[ash::ext::conditional_rendering::NAME], &mut two);
        let conditional = ash::ext::conditional_rendering::Device::new(&v.instance, &v.device);
        let usage = vk::BufferUsageFlags::CONDITIONAL_RENDERING_EXT | vk::BufferUsageFlags::TRANSFER_DST;
        // SAFETY: valid usage.
        let predicates = unsafe {
            let info = vk::BufferCreateInfo::default().size(64).usage(usage);
            let buffer = v.device.create_buffer(&info, None).unwrap();
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(v.device.get_buffer_memory_requirements(buffer).size);
            let memory = v.device.allocate_memory(&info, None).unwrap();
            v.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            buffer
        };
        Program { v, conditional, predicates }
    }

    /// Records the start with the predicate at byte 8.
    fn begin(&self, c: vk::CommandBuffer, flags: vk::ConditionalRenderingFlagsEXT) {
        let info =
            vk::ConditionalRenderingBeginInfoEXT::default().buffer(self.predicates).offset(8).flags(flags);
        // SAFETY: valid usage.
        unsafe { (self.conditional.fp().cmd_begin_conditional_rendering_ext)(c, &raw const info) };
    }

    fn end(&self, c: vk::CommandBuffer) {
        // SAFETY: valid usage.
        unsafe { (self.conditional.fp().cmd_end_conditional_rendering_ext)(c) };
    }

    /// Records a write of the predicate and a barrier from it.
    fn set(&self, c: vk::CommandBuffer, predicate: u32, to: (Stage, Access)) {
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(Stage::CLEAR)
            .src_access_mask(Access::TRANSFER_WRITE)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        // SAFETY: valid usage, but for barriers that lead elsewhere.
        unsafe {
            self.v.device.cmd_update_buffer(c, self.predicates, 8, &predicate.to_le_bytes());
            let info = vk::DependencyInfo::default().memory_barriers(&barrier);
            self.v.device.cmd_pipeline_barrier2(c, &info);
        }
    }

    fn to_host(&self, c: vk::CommandBuffer) {
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(Stage::COMPUTE_SHADER)
            .src_access_mask(Access::SHADER_WRITE)
            .dst_stage_mask(Stage::HOST)
            .dst_access_mask(Access::HOST_READ)];
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DependencyInfo::default().memory_barriers(&barrier);
            self.v.device.cmd_pipeline_barrier2(c, &info);
        }
    }
}

/// Whether a dispatch ran, with this predicate.
fn ran(p: &Program, spin: &Spin, predicate: u32, inverted: bool, secondary: bool) -> bool {
    let v = &p.v;
    let (buffer, _, mapped) = v.buffer(128, 1);
    let (_, set) = spin.set(v);
    spin.update(v, set, buffer);
    let flags = match inverted {
        true => vk::ConditionalRenderingFlagsEXT::INVERTED,
        false => vk::ConditionalRenderingFlagsEXT::empty(),
    };
    let inside = v.commands(vk::CommandBufferLevel::SECONDARY);
    let mut inherited =
        vk::CommandBufferInheritanceConditionalRenderingInfoEXT::default().conditional_rendering_enable(true);
    let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut inherited);
    // SAFETY: valid usage; nothing runs while the host writes.
    unsafe {
        mapped.cast::<u32>().write_bytes(0, 32);
        let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        v.device.begin_command_buffer(inside, &info).unwrap();
        spin.record(v, inside, set, buffer, 2);
        v.device.end_command_buffer(inside).unwrap();
        v.run(v.record(|c| {
            p.set(c, predicate, PREDICATE);
            p.begin(c, flags);
            if secondary {
                v.device.cmd_execute_commands(c, &[inside]);
            } else {
                spin.record(v, c, set, buffer, 2);
            }
            p.end(c);
            p.to_host(c);
        }));
    }
    v.words(mapped, 32).iter().any(|word| *word != 0)
}

#[test]
fn a_predicate_discards_dispatches() {
    for mode in ["run", "check"] {
        let Some(text) = alone("a_predicate_discards_dispatches", &[("PELLUCID_MODE", mode)]) else {
            let p = Program::new();
            let spin = Spin::new(&p.v, false);
            for secondary in [false, true] {
                assert!(ran(&p, &spin, 1, false, secondary));
                assert!(ran(&p, &spin, 0x100, false, secondary), "a word is asked, not a byte");
                assert!(!ran(&p, &spin, 0, false, secondary));
                assert!(ran(&p, &spin, 0, true, secondary));
                assert!(!ran(&p, &spin, 0x8000_0000, true, secondary));
            }
            return;
        };
        assert!(!text.contains("error["), "{mode}: {text}");
    }
}

#[test]
fn a_predicate_is_read_by_its_stage() {
    let Some(text) = alone("a_predicate_is_read_by_its_stage", &[("PELLUCID_MODE", "check")]) else {
        let p = Program::new();
        p.v.run(p.v.record(|c| {
            p.set(c, 1, PARAMETERS);
            p.begin(c, vk::ConditionalRenderingFlagsEXT::empty());
            p.end(c);
        }));
        return;
    };
    assert_eq!(text.matches("error[hazard-read-after-write]").count(), 1, "{text}");
    assert!(text.contains("vkCmdBeginConditionalRenderingEXT"), "{text}");
    let help =
        "add CONDITIONAL_RENDERING_EXT to dstStageMask and CONDITIONAL_RENDERING_READ_EXT to dstAccessMask";
    assert!(text.contains(help), "{text}");
}

#[test]
fn what_is_not_valid_is_refused() {
    let Some(text) = alone("what_is_not_valid_is_refused", &[("PELLUCID_MODE", "run")]) else {
        let p = Program::new();
        let none = vk::ConditionalRenderingFlagsEXT::empty();
        let refused = |body: &dyn Fn(vk::CommandBuffer)| {
            let c = p.v.commands(vk::CommandBufferLevel::PRIMARY);
            // SAFETY: what is not valid here is refused.
            unsafe {
                p.v.device.begin_command_buffer(c, &vk::CommandBufferBeginInfo::default()).unwrap();
                body(c);
                assert!(p.v.device.end_command_buffer(c).is_err());
            }
        };
        refused(&|c| p.end(c));
        refused(&|c| p.begin(c, none));
        refused(&|c| {
            p.begin(c, none);
            p.begin(c, none);
            p.end(c);
        });
        let inside = p.v.commands(vk::CommandBufferLevel::SECONDARY);
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: valid usage.
        unsafe {
            p.v.device.begin_command_buffer(inside, &info).unwrap();
            p.v.device.end_command_buffer(inside).unwrap();
        }
        refused(&|c| {
            p.begin(c, none);
            // SAFETY: it is refused.
            unsafe { p.v.device.cmd_execute_commands(c, &[inside]) };
            p.end(c);
        });
        return;
    };
    for said in ["is not active", "is active at the end", "is active already", "that does not inherit it"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}
