//! Modules by hand, and what is said of those that are none.

use super::NumericIds::{Named, Preserved};
use super::*;
use rspirv::binary::Disassemble as _;

fn body(text: &str) -> Vec<u32> {
    assemble_with(text, Preserved).unwrap_or_else(|error| panic!("{error}\n{text}"))[5..].to_vec()
}

fn error(text: &str) -> String {
    assemble_with(text, Preserved).unwrap_err().to_string()
}

/// The last instruction of a text, without its first word.
fn last(text: &str) -> Vec<u32> {
    let words = body(text);
    let mut rest = words.as_slice();
    loop {
        let length = (rest[0] >> 16) as usize;
        if length == rest.len() {
            return rest[1..].to_vec();
        }
        rest = &rest[length..];
    }
}

#[test]
fn a_module_has_a_header_and_its_instructions() {
    let words =
        assemble_with("; Version: 1.3\nOpCapability Shader\nOpMemoryModel Logical GLSL450 ; the end", Named)
            .unwrap();
    assert_eq!(words, [0x0723_0203, 0x0001_0300, 0, 1, 0, 2 << 16 | 17, 1, 3 << 16 | 14, 0, 1]);
    assert_eq!(assemble_with("OpNop", Named).unwrap()[1], 0x0001_0600);
    assert_eq!(assemble_with("", Named).unwrap().len(), 5);
}

#[test]
fn numbers_are_names_or_stay_and_names_get_what_is_free() {
    let text = "%a = OpTypeVoid %2 = OpTypeVoid %b=OpTypeVoid\n%1 = OpTypeVoid %a_1 = OpTypeVoid";
    let results = |words: &[u32]| words[5..].chunks(2).map(|i| i[1]).collect::<Vec<u32>>();
    let words = assemble_with(text, Preserved).unwrap();
    assert_eq!((results(&words), words[3]), (vec![3, 2, 4, 1, 5], 6));
    let words = assemble_with(text, Named).unwrap();
    assert_eq!((results(&words), words[3]), (vec![1, 2, 3, 4, 5], 6));
    // Any number will do as a name, and different spellings are different names.
    let words =
        assemble_with("%0 = OpTypeVoid %99999999999 = OpTypeVoid %01 = OpTypeVoid %1 = OpTypeVoid", Named);
    assert_eq!(results(&words.unwrap()), [1, 2, 3, 4]);
    let words = assemble_with("%7 = OpUndef %4", Named).unwrap();
    assert_eq!(words[5..], [3 << 16 | 1, 1, 2], "the type comes before the result");
}

#[test]
fn masks_take_their_operands_in_the_order_of_their_bits() {
    assert_eq!(
        last("%5 = OpLoad %1 %2 MakePointerVisible|Aligned|NonPrivatePointer 4 %3"),
        [1, 5, 2, 0x32, 4, 3]
    );
    assert_eq!(last("%5 = OpLoad %1 %2 Volatile"), [1, 5, 2, 1]);
    assert_eq!(last("%5 = OpLoad %1 %2 None"), [1, 5, 2, 0]);
    assert_eq!(last("%5 = OpLoad %1 %2 MakePointerVisibleKHR|NonPrivatePointerKHR %3"), [1, 5, 2, 0x30, 3]);
    assert_eq!(last("OpCopyMemory %1 %2 Aligned 4 Aligned|Volatile 8"), [1, 2, 2, 4, 3, 8]);
    assert_eq!(
        last("%9 = OpImageSampleExplicitLod %1 %2 %3 Grad|ConstOffset %4 %5 %6"),
        [1, 9, 2, 3, 12, 4, 5, 6]
    );
    assert_eq!(last("OpLoopMerge %1 %2 DontUnroll"), [1, 2, 2]);
}

#[test]
fn enumerants_take_their_operands() {
    assert_eq!(last("OpExecutionMode %1 LocalSize 64 1 1"), [1, 17, 64, 1, 1]);
    assert_eq!(last("OpDecorate %1 BuiltIn GlobalInvocationId"), [1, 11, 28]);
    assert_eq!(last("OpMemberDecorate %1 0 Offset 16"), [1, 0, 35, 16]);
    assert_eq!(last("OpDecorate %1 LinkageAttributes \"f\" Export"), [1, 41, 0x66, 0]);
    assert_eq!(last("OpEntryPoint GLCompute %1 \"main\" %2 %3"), [5, 1, 0x6e69_616d, 0, 2, 3]);
    assert_eq!(last("%1 = OpTypePointer StorageBuffer %2"), [1, 12, 2]);
    assert_eq!(last("%1 = OpTypeImage %2 2D 0 0 0 2 R32ui"), [1, 2, 1, 0, 0, 0, 2, 33]);
    assert_eq!(last("%1 = OpTypeImage %2 Buffer 0 0 0 1 Unknown ReadOnly"), [1, 2, 5, 0, 0, 0, 1, 0, 0]);
}

#[test]
fn literals_have_the_width_of_their_type() {
    let types = "%1 = OpTypeInt 64 0 %2 = OpTypeInt 16 1 %3 = OpTypeFloat 16 %4 = OpTypeFloat 32 %5 = OpTypeFloat 64\n";
    assert_eq!(last(&format!("{types}%9 = OpConstant %1 0x100000002")), [1, 9, 2, 1]);
    assert_eq!(last(&format!("{types}%9 = OpConstant %2 -1")), [2, 9, u32::MAX]);
    assert_eq!(last(&format!("{types}%9 = OpConstant %3 0x1.8p+0")), [3, 9, 0x3e00]);
    assert_eq!(last(&format!("{types}%9 = OpSpecConstant %4 -2.5")), [4, 9, (-2.5f32).to_bits()]);
    assert_eq!(last(&format!("{types}%9 = OpConstant %5 1")), [5, 9, 0, 0x3ff0_0000]);
    let constant = format!("{types}%8 = OpConstant %1 5\n");
    assert_eq!(last(&format!("{constant}OpSwitch %8 %20 7 %21 8 %22")), [8, 20, 7, 0, 21, 8, 0, 22]);
    assert_eq!(last("OpSwitch %8 %20 7 %21 -1 %22"), [8, 20, 7, 21, u32::MAX, 22]);
    assert_eq!(last("OpSwitch %8 %20"), [8, 20]);
}

#[test]
fn extended_instructions_go_by_name_or_number() {
    let import = "%1 = OpExtInstImport \"GLSL.std.450\"\n";
    assert_eq!(last(&format!("{import}%9 = OpExtInst %2 %1 Fma %3 %4 %5")), [2, 9, 1, 50, 3, 4, 5]);
    assert_eq!(last(&format!("{import}%9 = OpExtInst %2 %1 50 %3 %4 %5")), [2, 9, 1, 50, 3, 4, 5]);
    let debug = "%1 = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\n";
    assert_eq!(
        last(&format!("{debug}%9 = OpExtInst %2 %1 DebugLine %3 %4 %5 %6 %7")),
        [2, 9, 1, 103, 3, 4, 5, 6, 7]
    );
    let clspv = "%1 = OpExtInstImport \"NonSemantic.ClspvReflection.5\"\n";
    assert_eq!(
        last(&format!("{clspv}%9 = OpExtInst %2 %1 Kernel %3 %4 %5 %6 %7")),
        [2, 9, 1, 1, 3, 4, 5, 6, 7]
    );
    assert_eq!(last(&format!("{clspv}%9 = OpExtInst %2 %1 PrintfInfo %3 %4 %5")), [2, 9, 1, 38, 3, 4, 5]);
    assert_eq!(last(&format!("{clspv}%9 = OpExtInst %2 %1 99 %3")), [2, 9, 1, 99, 3]);
    let vksp = "%1 = OpExtInstImport \"NonSemantic.VkspReflection.2\"\n";
    assert_eq!(
        last(&format!("{vksp}%9 = OpExtInst %2 %1 PushConstants %3 %4 %5 %6")),
        [2, 9, 1, 4, 3, 4, 5, 6]
    );
    assert_eq!(last("%1 = OpExtInstImport \"Foreign\" %9 = OpExtInst %2 %1 7 %3"), [2, 9, 1, 7, 3]);
    assert_eq!(last("%9 = OpSpecConstantOp %1 IAdd %2 %3"), [1, 9, 128, 2, 3]);
    assert_eq!(last("%9 = OpSpecConstantOp %1 CompositeExtract %2 0 1"), [1, 9, 81, 2, 0, 1]);
}

#[test]
fn strings_have_escapes_and_lines() {
    let words = last("OpSourceExtension \"a\\\"b\\\\\n\u{e9}\" ; \"no\n");
    assert_eq!(words, [u32::from_le_bytes(*b"a\"b\\"), u32::from_le_bytes([b'\n', 0xc3, 0xa9, 0])]);
    assert_eq!(last("OpSourceExtension \"\""), [0]);
    assert_eq!(last("OpSourceExtension \"1234\""), [u32::from_le_bytes(*b"1234"), 0]);
}

#[test]
fn words_can_be_given_as_they_are() {
    assert_eq!(last("OpDecorate %1 !11 28"), [1, 11, 28]);
    assert_eq!(last("OpNop OpStore %1 !0x20 \"ab\" %7 1.0"), [1, 0x20, 0x6261, 7, 1f32.to_bits()]);
}

#[test]
fn errors_say_where_and_what() {
    for (text, expected) in [
        ("OpCapability Shade", "1:14: expected a value of Capability, found `Shade`"),
        (
            "OpNop\n  %1 = OpLoad %2",
            "2:17: expected an id, such as %1 or %name for OpLoad, found the end of the text",
        ),
        ("OpFoo %1", "1:1: no instruction is called OpFoo"),
        ("%1 OpTypeVoid", "1:4: expected `=` after the result id, found `OpTypeVoid`"),
        ("OpTypeVoid", "1:1: OpTypeVoid has a result: expected `%id = OpTypeVoid`"),
        ("%1 = OpNop", "1:1: OpNop has no result"),
        ("OpNop %1", "1:7: expected the end of OpNop, found %1"),
        ("OpName %1 %2", "1:11: expected a string, found %2"),
        ("OpName %1 \"abc", "1:11: this string does not end"),
        ("OpName % \"abc\"", "1:8: expected a name after %"),
        ("%1 = OpTypeInt x 0", "1:16: expected an unsigned integer of 32 bits, found `x`"),
        (
            "%1 = OpTypeInt 32 0\n%2 = OpConstant %1 -5",
            "2:20: -5 does not fit an unsigned integer of 32 bits",
        ),
        ("%2 = OpConstant %1 5", "1:20: the type of this number is no OpTypeInt or OpTypeFloat before it"),
        (
            "%1 = OpExtInstImport \"GLSL.std.450\" %2 = OpExtInst %3 %1 Sine %4",
            "1:58: no instruction of GLSL.std.450 is called Sine; its number may stand for a name",
        ),
        (
            "%1 = OpExtInstImport \"NonSemantic.Ours\" %2 = OpExtInst %3 %1 Note %4",
            "1:62: no instruction of NonSemantic.Ours is called Note; its number may stand for a name",
        ),
        ("%2 = OpSpecConstantOp %1 Add %3 %4", "1:26: expected an operation, such as IAdd, found `Add`"),
        ("%0 = OpTypeVoid", "1:1: an id is a number from 1 to 4194303"),
        ("word", "1:1: expected an opcode, such as OpLoad, found `word`"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let mask = error("OpStore %1 %2 Aligned|Loud 4");
    assert!(mask.starts_with("1:15: expected MemoryAccess (None, Volatile, Aligned, "), "{mask}");
    assert!(mask.ends_with("), found `Aligned|Loud`"), "{mask}");
}

#[test]
fn lines_stand_before_instructions_of_blocks() {
    let text = "OpCapability Shader\nOpName %3 \"f\"\n%1 = OpTypeVoid\n%2 = OpTypeFunction %1\n%3 = OpFunction %1 None %2\n\
        %4 = OpLabel\n  OpSelectionMerge %5 None\n  OpBranchConditional %6 %5 %5\n%5 = OpLabel\n  OpReturn\nOpFunctionEnd\n";
    let words = assemble_with_lines(text, "a.spvasm", Preserved).unwrap();
    let module = rspirv::dr::load_words(&words).unwrap();
    let listing = module.disassemble();
    assert!(listing.contains("%7 = OpString \"a.spvasm\"\nOpName"), "{listing}");
    assert!(listing.contains("OpLine %7 7 3\nOpSelectionMerge"), "{listing}");
    assert!(listing.contains("None\nOpBranchConditional"), "{listing}");
    assert!(listing.contains("OpLine %7 10 3\nOpReturn"), "{listing}");
    assert_eq!(listing.matches("OpLine").count(), 2);
    let own = format!("%9 = OpString \"mine\"\n{text}").replace("  OpReturn", "OpLine %9 1 1 OpReturn");
    assert_eq!(assemble_with_lines(&own, "a.spvasm", Named).unwrap(), assemble_with(&own, Named).unwrap());
}

#[test]
fn younger_instructions_have_their_names() {
    let int = "%1 = OpTypeInt 32 0\n%2 = OpConstant %1 8\n";
    assert_eq!(body(&format!("{int}%3 = OpTypeVectorIdEXT %1 %2"))[8..], [4 << 16 | 5288, 3, 1, 2]);
    assert_eq!(last(&format!("{int}%3 = OpConstantCompositeReplicateEXT %4 %2")), [4, 3, 2]);
    for (name, number) in [("BFloat16KHR", 0), ("Float8E4M3EXT", 4214), ("Float8E5M2EXT", 4215), ("7", 7)] {
        assert_eq!(last(&format!("%1 = OpTypeFloat 16 {name}")), [1, 16, number]);
    }
    assert_eq!(last("%1 = OpTypeFloat 16"), [1, 16]);
    assert!(error("%1 = OpTypeInt 16 BFloat16KHR").contains("BFloat16KHR"));
}
