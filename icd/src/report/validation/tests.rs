//! Messages of the validation layer, old and new.

use super::*;

#[test]
fn handles_become_names_and_the_rule_a_note() {
    let text = "Validation Error: [ VUID-vkCmdFillBuffer-size-00028 ] Object 0: handle = 0x55d5c8a5c0c0, \
        type = VK_OBJECT_TYPE_COMMAND_BUFFER; | MessageID = 0xb0a0e0a5 | vkCmdFillBuffer(): size 0x3 of \
        VkBuffer 0xcb3ee80000000007[data] in VkCommandBuffer 0x55d5c8a5c0c0[] (0xfab64d0000000002[]) is no \
        multiple of 4. The Vulkan spec states: size must be a multiple of 4 (https://example.org/#a)";
    let objects = vec![("COMMAND_BUFFER".to_owned(), String::new()), ("BUFFER".into(), "data".into())];
    let report = ValidationReport::new("VUID-vkCmdFillBuffer-size-00028", text, objects, false);
    assert_eq!(
        report.title,
        "vkCmdFillBuffer(): size 0x3 of VkBuffer \"data\" in VkCommandBuffer (0x...) is no multiple of 4."
    );
    assert_eq!(
        report.notes,
        [
            Note::new(
                NoteKind::Rule,
                "the Vulkan specification: size must be a multiple of 4 (https://example.org/#a)"
            ),
            Note::new(NoteKind::Objects, "about VkBuffer \"data\"")
        ]
    );
}

#[test]
fn newer_messages_have_no_head() {
    let report = ValidationReport::new("", "vkCmdDispatch(): groupCountX (0)\n  is zero.", vec![], true);
    assert_eq!(
        (report.id.as_str(), report.title.as_str()),
        (FAMILY, "vkCmdDispatch(): groupCountX (0) is zero.")
    );
    assert_eq!(type_name("SHADER_MODULE"), "VkShaderModule");
}
