//! The machines that come along, and descriptions that are wrong.

use super::*;

#[test]
fn the_machines_are_described() {
    let all: Vec<Machine> =
        MACHINES.iter().map(|(_, text)| Machine::parse(text).expect("a machine")).collect();
    assert_eq!(Machine::named("tiled"), Some(Machine::default()));
    assert_eq!(all.iter().map(|machine| machine.units).collect::<Vec<u32>>(), [16, 4, 8]);
    assert_eq!(Machine::named("other"), None);
    // Memory that the host caches and that is not coherent is what mobile shapes have.
    let host = |machine: &Machine| machine.host.map(|host| (host.writes, host.line));
    let coherent = Some((WritePolicy::Coherent, 64));
    assert_eq!(all.iter().map(host).collect::<Vec<_>>(), [coherent, Some((WritePolicy::Back, 64)), coherent]);
}

#[test]
fn what_is_wrong_is_named() {
    let first = "units 4\nfirst write-back line 64 lines 2\n";
    for (text, wrong) in [
        (String::new(), "units is missing"),
        ("units 3".to_owned(), "first is missing"),
        (
            format!("{first}third write-back line 4"),
            "line 3: not implemented in Pellucid: the third cache of a machine",
        ),
        ("units 0".to_owned(), "line 1: 0 is not in the range from 1 to 1048576"),
        (
            "units many".to_owned(),
            "line 1: \"units many\" is none of units N, first|second POLICY line BYTES lines N [units N], \
                 texture|constant line BYTES lines N [units N], host POLICY line BYTES, traffic N",
        ),
        (format!("{first}\nunits 4"), "line 4: units is given twice"),
        (format!("{first}first coherent line 64 lines 2"), "line 3: first is given twice"),
    ] {
        assert_eq!(Machine::parse(&text).expect_err("wrong").to_string(), wrong);
    }
    for (wrong, why) in [
        ("line 48 lines 2", "a line of 48 bytes is no power of two from 4 to 1024"),
        ("line 2 lines 2", "a line of 2 bytes is no power of two from 4 to 1024"),
        ("line 64 lines 0", "0 is not in the range from 1 to 1048576"),
        ("line 64 lines 5000000000", "5000000000 is not in the range from 1 to 1048576"),
        ("line 64 lines 2 units 0", "0 is not in the range from 1 to 1048576"),
        ("line 64 lines 2 units", " is none of units N, "),
    ] {
        for (line, text) in
            [(2, format!("units 4\nfirst write-back {wrong}")), (3, format!("{first}constant {wrong}"))]
        {
            let error = Machine::parse(&text).expect_err("wrong").to_string();
            assert!(error.starts_with(&format!("line {line}: ")) && error.contains(why), "{error}");
        }
    }
    for (wrong, why) in [
        ("line 64", " is none of "),
        ("write-back line 48", "a line of 48 bytes is no power of two from 4 to 1024"),
        ("write-back line 64 lines 2", " is none of "),
        ("write-around line 64", " is none of "),
    ] {
        let error = Machine::parse(&format!("{first}host {wrong}")).expect_err("wrong").to_string();
        assert!(error.starts_with("line 3: ") && error.contains(why), "{error}");
    }
    assert_eq!(Machine::parse(first).expect("a machine").host, None);
    let through = Machine::parse(&format!("{first}host write-through line 32")).expect("a machine");
    assert_eq!(through.host, Some(HostCache { writes: WritePolicy::Through, line: 32 }));
    let apart = Machine::parse(&format!("{first}texture line 32 lines 4\nconstant line 16 lines 8 units 2"))
        .expect("a machine");
    let shape = |kind| apart.level(kind).map(|level| (level.line, level.lines, level.units));
    assert_eq!(shape(CacheKind::Texture), Some((32, 4, 1)));
    assert_eq!(shape(CacheKind::Constant), Some((16, 8, 2)));
    assert_eq!(Machine::parse(first).expect("a machine").level(CacheKind::Texture), None);
    let shared = format!("{first}second write-back line 64 lines 8");
    assert_eq!(Machine::parse(&shared).expect("a machine").levels[1], None);
    let parts = Machine::parse(&format!("{shared} units 2 # two partitions")).expect("a machine");
    assert_eq!(parts.levels[1].map(|level| level.units), Some(2));
}
