//! Formats against what printf of C prints.

use super::*;

fn print(format: &str, arguments: &[(Argument, &[u64])]) -> String {
    let types: Vec<Argument> = arguments.iter().map(|(argument, _)| *argument).collect();
    let words = arguments.iter().flat_map(|(argument, bits)| {
        let each = argument.words() / bits.len().max(1);
        bits.iter().flat_map(move |bits| [*bits as u32, (*bits >> 32) as u32].into_iter().take(each))
    });
    let words: Vec<u32> = words.collect();
    match PrintFormat::parse(format, &types) {
        Ok(format) => format.print(|k| words[k]),
        Err(error) => format!("error: {error}"),
    }
}

/// `floats.txt` has a format, the bits of a double and what glibc prints, a line each.
#[test]
fn floats_as_c_prints_them() {
    for line in include_str!("floats.txt").lines() {
        let (format, rest) = line.split_once(' ').expect("a format");
        let (bits, expected) = rest.split_once(' ').expect("a value");
        let bits = u64::from_str_radix(bits, 16).expect("bits");
        assert_eq!(print(format, &[(Argument::Scalar(Scalar::F64), &[bits])]), expected, "{format} {bits:x}");
    }
}

#[test]
fn integers_of_all_widths() {
    for (format, scalar, bits, expected) in [
        ("%d", Scalar::I32, 0xffff_fffe, "-2"),
        ("%i", Scalar::I8, 0xfd, "-3"),
        ("%u", Scalar::I8, 0xfd, "253"),
        ("%d", Scalar::I16, 0x8000, "-32768"),
        ("%u", Scalar::I32, 0xffff_fffe, "4294967294"),
        ("%x", Scalar::I32, 0xbeef, "beef"),
        ("%X", Scalar::I32, 0xbeef, "BEEF"),
        ("%o", Scalar::I32, 8, "10"),
        ("%8u|", Scalar::I32, 42, "      42|"),
        ("%08x", Scalar::I32, 42, "0000002a"),
        ("%05d", Scalar::I32, 0xffff_fffe, "-0002"),
        ("%5.3d", Scalar::I32, 7, "  007"),
        ("%05.3d", Scalar::I32, 7, "  007"),
        ("%.0d|", Scalar::I32, 0, "|"),
        ("%ld", Scalar::I64, u64::MAX, "-1"),
        ("%d", Scalar::I64, 1 << 40, "1099511627776"),
        ("%lu", Scalar::I64, 0x2000_0000_0000_0001, "2305843009213693953"),
        ("%lx", Scalar::I64, 0x2000_0000_0000_0001, "2000000000000001"),
        ("%ul", Scalar::I64, 0x2000_0000_0000_0001, "2000000000000001"),
        ("%ul", Scalar::I32, 17, "17l"),
        ("%llu", Scalar::I64, 5, "5"),
        ("%x", Scalar::F32, 0x3f80_0000, "3f800000"),
        ("%lx", Scalar::F64, 0x3ff0 << 48, "3ff0000000000000"),
        ("%x", Scalar::F16, 0x3c00, "3c00"),
        ("%f", Scalar::F16, 0x3c00, "1.000000"),
        ("%1.2f", Scalar::F32, 0x4048_f5c3, "3.14"),
    ] {
        assert_eq!(print(format, &[(Argument::Scalar(scalar), &[bits])]), expected, "{format} {scalar:?}");
    }
}

#[test]
fn vectors_pointers_and_text() {
    let one = f64::from(1.25f32).to_bits();
    let floats = [1.2f32, 2.2, 3.2, 4.2].map(|x| u64::from(x.to_bits()));
    let float4 = (Argument::Vector(Scalar::F32, 4), &floats[..]);
    assert_eq!(print("at %1.2v4f.", &[float4]), "at 1.20, 2.20, 3.20, 4.20.");
    assert_eq!(print("%v2f", &[float4]), "1.200000, 2.200000");
    assert_eq!(print("%v2f %d", &[float4, (Argument::Scalar(Scalar::I32), &[9])]), "1.200000, 2.200000 9");
    assert_eq!(print("%v3lu", &[(Argument::Vector(Scalar::I64, 3), &[1, 2, 3])]), "1, 2, 3");
    assert_eq!(print("%04v2d", &[(Argument::Vector(Scalar::I8, 2), &[0xff, 1])]), "-001, 0001");
    assert_eq!(print("%p", &[(Argument::Pointer, &[0x1000])]), "0x1000");
    assert_eq!(print("100%%", &[]), "100%");
    assert_eq!(print("%%%g%%", &[(Argument::Scalar(Scalar::F64), &[one])]), "%1.25%");
    assert_eq!(print("no specifier", &[(Argument::Other, &[])]), "no specifier");
    assert_eq!(print("", &[]), "");
    assert_eq!(print("ü %d é", &[(Argument::Scalar(Scalar::I32), &[3])]), "ü 3 é");
}

#[test]
fn formats_that_do_not_fit_are_named() {
    let int = (Argument::Scalar(Scalar::I32), &[0u64][..]);
    let float = (Argument::Scalar(Scalar::F32), &[0u64][..]);
    let vector = (Argument::Vector(Scalar::F32, 3), &[0u64, 0, 0][..]);
    for (format, argument, expected) in [
        ("%", int, "it ends within the specifier \"%\"; a percent sign is written %%"),
        ("%v", int, "it ends within the specifier \"%v\"; a percent sign is written %%"),
        ("a %08.3l", int, "it ends within the specifier \"%08.3l\"; a percent sign is written %%"),
        ("100% sure", int, "\"% \" is no specifier; a percent sign is written %%"),
        ("%s", int, "\"%s\" is no specifier; a percent sign is written %%"),
        ("%-5d", int, "\"%-\" is no specifier; a percent sign is written %%"),
        ("%*d", int, "\"%*\" is no specifier; a percent sign is written %%"),
        ("%hd", int, "\"%h\" is no specifier; a percent sign is written %%"),
        ("%v5f", vector, "\"%v5\" is no specifier; a percent sign is written %%"),
        ("%vü", vector, "\"%vü\" is no specifier; a percent sign is written %%"),
        ("%é", int, "\"%é\" is no specifier; a percent sign is written %%"),
        ("%1.2.3f", float, "\"%1.2.\" is no specifier; a percent sign is written %%"),
        ("%99999999999999999999d", int, "\"%9999\" has a width or precision of more than 1024"),
        ("%.2000f", float, "\"%.2000\" has a width or precision of more than 1024"),
        ("%d %d", int, "\"%d\" has no argument: there are 1"),
        ("%d", float, "\"%d\" does not print argument 1, a scalar (floating-point)"),
        ("%f", int, "\"%f\" does not print argument 1, a scalar (integer)"),
        ("%f", vector, "\"%f\" does not print argument 1, a vector of 3 components (floating-point)"),
        ("%v4f", vector, "\"%v4f\" does not print argument 1, a vector of 3 components (floating-point)"),
        ("%v2d", int, "\"%v2d\" does not print argument 1, a scalar (integer)"),
        ("%p", int, "\"%p\" does not print argument 1, a scalar (integer)"),
        ("%d", (Argument::Other, &[][..]), "\"%d\" does not print argument 1, no scalar and no vector"),
    ] {
        assert_eq!(print(format, &[argument]), format!("error: {expected}"), "{format}");
    }
}
