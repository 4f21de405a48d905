//! Call stacks by hand, and the frames that are told.

use super::*;

fn frame(module: &str, function: &str) -> Frame {
    Frame { module: module.into(), function: Some(function.into()), source: Some(("/src/a.c".into(), 7)) }
}

#[test]
fn frames_are_the_applications() {
    let frames = vec![
        frame("app", "vulkan_pellucid::entry::queue::queue_submit"),
        frame("libVkLayer_khronos_validation.so", "vkQueueSubmit"),
        frame("libvulkan.so.1.3.239", "vkQueueSubmit"),
        frame("app", "fill"),
        frame("app", "main"),
        frame("libc.so.6", "__libc_start_call_main"),
        frame("app", "_start"),
    ];
    let kept = of_application(frames);
    assert_eq!(kept, [frame("app", "fill"), frame("app", "main")]);
    assert_eq!(kept[0].text(), "fill (a.c:7)");
}

#[test]
fn functions_without_names_are_told_once() {
    let unnamed = || Frame { module: "libengine.so".into(), function: None, source: None };
    let frames = vec![
        unnamed(),
        unnamed(),
        frame("app", "fill"),
        unnamed(),
        frame("app", "fill"),
        frame("app", "fill"),
    ];
    let told = ", in libengine.so, in fill (a.c:7), in libengine.so, in fill (a.c:7), ...";
    assert_eq!(text_of(frames), told, "and a function that calls itself as often as it does");
}

#[test]
fn names_are_written_as_in_their_language() {
    for (mangled, name) in [
        ("_ZNK2vk12DeviceDriver11queueSubmitEP9VkQueue_TjPK12VkSubmitInfo", "vk::DeviceDriver::queueSubmit"),
        ("_ZN4main4fill17h0123456789abcdefE", "main::fill"),
        ("hand_in", "hand_in"),
    ] {
        assert_eq!(written(&SymbolName::new(mangled.as_bytes())), name);
    }
}

#[test]
fn a_stack_names_its_functions() {
    let here = Caller::here();
    let frames = here.frames();
    assert!(here.text().starts_with("thread \""), "{}", here.text());
    assert!(frames.iter().all(|frame| !frame.module.contains('/')), "{frames:?}");
    assert_eq!(here, here.clone());
}
