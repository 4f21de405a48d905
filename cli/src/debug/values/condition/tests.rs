//! Conditions that hold, do not hold, and are none.

use super::*;

#[test]
fn what_is_no_condition_is_refused_with_the_reason() {
    for text in [
        "l == 5",
        "t[0]",
        "a.b[i].c!=-1.5e-3&&done",
        "x >= 0xffu && y == true",
        "img[3,p].x < 2.0f",
        ".5 < a",
    ] {
        assert_eq!(Condition::parse(text).map(|of| of.text), Ok(text.to_owned()));
    }
    for (text, why) in [
        ("l ==", "a number or a variable is missing at its end"),
        ("", "a number or a variable is missing at its end"),
        ("a == 1 || b", "what follows a comparison is &&, and no other operator: \"|| b\""),
        ("a == 1 &&", "a number or a variable is missing at its end"),
        ("a = 1", "what follows a comparison is &&, and no other operator: \"= 1\""),
        ("a < b < c", "what follows a comparison is &&, and no other operator: \"< c\""),
        ("a + 1 == b", "what follows a comparison is &&, and no other operator: \"+ 1 == b\""),
        ("!a", "\"!a\" begins with no number and no variable"),
        ("(a)", "\"(a)\" begins with no number and no variable"),
        ("-a == 1", "\"-a == 1\" begins with no number"),
        ("5x == 1", "\"5x == 1\" begins with no number"),
        ("t[0 == 1", "\"[0 == 1\" has no closing bracket"),
        ("t[i + 1] == 1", "\" + 1\" is neither .MEMBER nor [INDEX]"),
    ] {
        let told = Condition::parse(text).map(|of| of.text);
        assert_eq!(told, Err(format!("no condition: \"{text}\": {why}")));
    }
}

#[test]
fn numbers_are_compared_exactly_where_they_are_integers() {
    let number = |text| Number::parse(text);
    assert_eq!(number("0xff"), Some(Number::Integer(255)));
    assert_eq!((number("-3"), number("7u")), (Some(Number::Integer(-3)), Some(Number::Integer(7))));
    assert_eq!((number("-.5"), number("1e3")), (Some(Number::Float(-0.5)), Some(Number::Float(1000.0))));
    assert_eq!((number("inf"), number("0x"), number("1.2.3")), (None, None, None));
    let large = Number::of(u64::MAX, Element::U64).unwrap();
    assert_eq!(large.order(Number::of(u64::MAX - 1, Element::U64).unwrap()), Some(Ordering::Greater));
    assert_eq!(Number::of(0xffff_ffff, Element::I32), number("-1"));
    assert_eq!(Number::of(u64::from(0.1f32.to_bits()), Element::F32), number("0.1"));
    let nan = Number::of(u64::from(f32::NAN.to_bits()), Element::F32).unwrap();
    assert_eq!(nan.order(Number::Integer(0)), None);
}
