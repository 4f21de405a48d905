//! Buffers and values as they are given, and as they are printed.

use super::*;

#[test]
fn buffers_are_filled_as_told() {
    assert_eq!(parse("u32x2").unwrap(), (Element::U32, vec![0; 8]));
    assert_eq!(parse("u16x3=iota").unwrap().1, [0, 0, 1, 0, 2, 0]);
    assert_eq!(parse("i8x4=-1,2").unwrap().1, [255, 2, 0, 0]);
    assert_eq!(parse("f32x1=1.5").unwrap().1, 1.5f32.to_le_bytes());
    assert_eq!(parse("f16x1=-2").unwrap().1, [0, 0xc0]);
    assert_eq!(parse("u64x1=0xffffffffffffffff").unwrap().1, [255; 8]);
}

#[test]
fn what_does_not_fit_is_refused() {
    for bad in [
        "u32",
        "u32x0",
        "u32x1073741824",
        "u32x99999999999999",
        "u64x18446744073709551615",
        "u32xmany",
        "u33x1",
        "u32x1=1,2",
        "u8x1=256",
        "i32x1=1.5",
        "u32x1=file:/nonexistent",
        "u32x4=file:/dev/urandom",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn values_print_as_they_are_written() {
    let (kind, bytes) = parse("i16x9=-3,7").unwrap();
    let mut lines = Vec::new();
    dump(kind, &bytes, &mut lines).unwrap();
    assert_eq!(lines, b"     0: -3 7 0 0 0 0 0 0\n     8: 0\n");
    for (text, value) in [("f64x1=0.1", "0.1"), ("f16x1=0.5", "0.5"), ("i64x1=-9", "-9"), ("u8x1=0x1f", "31")]
    {
        let (kind, bytes) = parse(text).unwrap();
        assert_eq!(kind.decode(&bytes), value);
    }
}
