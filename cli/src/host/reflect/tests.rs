//! Words that are no module, and constants by their type.

use super::*;

#[test]
fn what_is_no_module_is_refused() {
    assert!(bindings(&[]).unwrap_err().starts_with("not a SPIR-V module"));
    assert!(bindings(&[0x0723_0203, 0, 0, 0, 0, 0]).unwrap_err().contains("word 5 has a bad length"));
    assert!(bindings(&[0x0723_0203, 0, 0, 0, 0, 0x0009_0011]).unwrap_err().contains("bad length"));
}

#[test]
fn constants_are_encoded_by_their_type() {
    let module = [
        0x0723_0203,
        0x10000,
        0,
        9,
        0,
        // OpDecorate %5 SpecId 7, and %6 SpecId 8
        4 << 16 | 71,
        5,
        1,
        7,
        4 << 16 | 71,
        6,
        1,
        8,
        // OpTypeFloat %1 32, OpTypeInt %2 32 1
        3 << 16 | 22,
        1,
        32,
        4 << 16 | 21,
        2,
        32,
        1,
        // OpSpecConstant
        4 << 16 | 50,
        1,
        5,
        0,
        4 << 16 | 50,
        2,
        6,
        0,
    ];
    let constants = constants(&module).unwrap();
    assert_eq!(constants[&7].encode("3").unwrap(), 3f32.to_le_bytes());
    assert_eq!(constants[&7].encode("0x3f800000").unwrap(), 1f32.to_le_bytes());
    assert_eq!(constants[&8].encode("-3").unwrap(), (-3i32).to_le_bytes());
    assert_eq!(constants[&8].encode("0xffffffff").unwrap(), [255; 4]);
    assert!(constants[&8].encode("1.5").is_err() && !constants.contains_key(&9));
    assert_eq!(Constant::Bool.encode("true").unwrap(), 1u32.to_le_bytes());
    assert!(Constant::Bool.encode("2").is_err() && Constant::Number(Element::U32).encode("-1").is_err());
    assert!(!has_push_constants(&module).unwrap());
}
