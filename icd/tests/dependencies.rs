//! What dependencies leave out, and what is said of them.

mod common;

use ash::vk;
use common::{Vulkan, alone};
use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};

const WHOLE: [vk::BufferCopy; 1] = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 256 }];
const WRITE: (Stage, Access) = (Stage::CLEAR, Access::TRANSFER_WRITE);
const READ: (Stage, Access) = (Stage::COPY, Access::TRANSFER_READ);

/// Runs each case of a test in a process of its own in check mode: what it wrote to standard error.
fn each<const N: usize>(name: &str, case: impl Fn(usize)) -> Option<[String; N]> {
    let mut texts = std::array::from_fn(|_| String::new());
    for (index, text) in texts.iter_mut().enumerate() {
        let number = index.to_string();
        match alone(name, &[("PELLUCID_MODE", "check"), ("TEST_CASE", &number)]) {
            Some(told) => *text = told,
            None => {
                case(std::env::var("TEST_CASE").unwrap().parse().unwrap());
                return None;
            }
        }
    }
    Some(texts)
}

fn memory(from: (Stage, Access), to: (Stage, Access)) -> vk::MemoryBarrier2<'static> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)
}

/// Two fills, each followed by an event of its own; a wait for both whose dependencies are given in this
/// order; a copy of what the first has filled.
fn two_events(dependencies: [vk::MemoryBarrier2<'static>; 2]) {
    let v = Vulkan::new();
    let [(first, ..), (second, ..), (copied, ..)] = std::array::from_fn(|_| v.buffer(256, 1));
    let [one, two] = [&dependencies[..1], &dependencies[1..]]
        .map(|barriers| vk::DependencyInfo::default().memory_barriers(barriers));
    // SAFETY: valid usage, but for what the dependencies leave out.
    unsafe {
        let [a, b] = [(); 2].map(|()| v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap());
        v.run(v.record(|c| {
            v.device.cmd_fill_buffer(c, second, 0, 256, 8);
            v.device.cmd_set_event2(c, b, &two);
            v.device.cmd_fill_buffer(c, first, 0, 256, 7);
            v.device.cmd_set_event2(c, a, &one);
            v.device.cmd_wait_events2(c, &[a, b], &[one, two]);
            v.device.cmd_copy_buffer(c, first, copied, &WHOLE);
        }));
    }
}

#[test]
fn each_event_has_its_own_dependency() {
    let full = memory(WRITE, READ);
    let execution = memory((WRITE.0, Access::NONE), (READ.0, Access::NONE));
    let cases = [[full, execution], [execution, full], [full, full]];
    let Some(texts) = each::<3>("each_event_has_its_own_dependency", |case| two_events(cases[case])) else {
        return;
    };
    let found = texts.each_ref().map(|text| text.contains("error[hazard-read-after-write]"));
    assert_eq!(found, [false, true, false], "{texts:#?}");
}

/// A fill that an event orders before a copy, twice; the host resets the event in between, or does not.
fn one_event_twice(reset: bool) {
    let v = Vulkan::new();
    let [(filled, ..), (copied, ..)] = std::array::from_fn(|_| v.buffer(256, 1));
    let barriers = [memory(WRITE, READ)];
    let order = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: valid usage.
    unsafe {
        let event = v.device.create_event(&vk::EventCreateInfo::default(), None).unwrap();
        for _ in 0..2 {
            v.run(v.record(|c| {
                v.device.cmd_fill_buffer(c, filled, 0, 256, 7);
                v.device.cmd_set_event2(c, event, &order);
                v.device.cmd_wait_events2(c, &[event], std::slice::from_ref(&order));
                v.device.cmd_copy_buffer(c, filled, copied, &WHOLE);
            }));
            if reset {
                v.device.reset_event(event).unwrap();
            }
        }
    }
}

#[test]
fn an_event_that_is_set_is_not_signaled_again() {
    let run = |case: usize| one_event_twice(case == 0);
    let Some([reset, set]) = each("an_event_that_is_set_is_not_signaled_again", run) else { return };
    let found = [&reset, &set].map(|text| text.contains("error[hazard-read-after-write]"));
    assert_eq!(found, [false, true], "{reset}\n{set}");
}

/// A fill and a copy of a buffer, and between them a barrier of so many bytes of it, or of another one.
fn barrier_of(size: u64, other: bool, wrote: Access) {
    let v = Vulkan::new();
    let [(filled, ..), (copied, ..), (third, ..)] = std::array::from_fn(|_| v.buffer(256, 1));
    let barrier = [vk::BufferMemoryBarrier2::default()
        .src_stage_mask(WRITE.0)
        .src_access_mask(wrote)
        .dst_stage_mask(READ.0)
        .dst_access_mask(READ.1)
        .buffer(if other { third } else { filled })
        .size(size)];
    // SAFETY: valid usage, but for the range.
    unsafe {
        v.run(v.record(|c| {
            v.device.cmd_fill_buffer(c, filled, 0, 256, 7);
            v.device
                .cmd_pipeline_barrier2(c, &vk::DependencyInfo::default().buffer_memory_barriers(&barrier));
            v.device.cmd_copy_buffer(c, filled, copied, &WHOLE);
        }));
    }
}

#[test]
fn a_barrier_of_too_few_bytes_is_to_be_extended() {
    let cases =
        [(256, false, WRITE.1), (128, false, WRITE.1), (128, false, Access::NONE), (256, true, WRITE.1)];
    let run = |case: usize| {
        let (size, other, wrote) = cases[case];
        barrier_of(size, other, wrote);
    };
    let Some([right, half, masks, other]) = each("a_barrier_of_too_few_bytes_is_to_be_extended", run) else {
        return;
    };
    let barrier = "vkCmdPipelineBarrier (command 2 of submission 1 on queue 0)";
    assert!(!right.contains("error["), "{right}");
    assert!(half.contains(&format!("help: extend the range of {barrier} to these bytes")), "{half}");
    assert!(half.contains("both on bytes 128..256 of buffer"), "{half}");
    let help =
        format!("add TRANSFER_WRITE to srcAccessMask of {barrier}, and extend its range to these bytes");
    assert!(masks.contains(&help), "{masks}");
    assert!(other.contains("help: insert a barrier between them"), "{other}");
}
