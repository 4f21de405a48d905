//! Elements of every type, as text.

use super::*;

#[test]
fn values_are_shown_by_their_type() {
    assert_eq!(Element::I16.decode(&[0xff, 0xff]), "-1");
    assert_eq!(Element::F16.decode(&[0, 0x3c]), "1");
    assert_eq!(Element::F32.values(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0]), ["1", "0"]);
    assert_eq!(Element::parse("u64").map(Element::name), Ok("u64"));
    assert!(Element::parse("u65").is_err());
}

#[test]
fn findings_show_what_a_variable_holds() {
    assert_eq!(Element::F32.show(0x43e0_0000), "448.0");
    assert_eq!(Element::F32.show(0x7fc0_0000), "NaN (0x7fc00000)");
    assert_eq!(Element::F16.show(0x3c00), "1.0");
    assert_eq!(Element::F64.show(0x4059_0000_0000_0000), "100.0");
    assert_eq!(Element::I16.show(0xfffe), "-2");
    assert_eq!((Element::U32.show(17), Element::U32.show(0xdead_beef)), ("17".into(), "0xdeadbeef".into()));
    for (element, bits) in [(Element::U32, 0xdead_beef_u64), (Element::F32, 0x3f8c_cccd)] {
        let bytes = element.encode(&element.show(bits)).unwrap();
        assert_eq!(bytes, bits.to_le_bytes()[..4]);
    }
}
