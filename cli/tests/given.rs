//! What is given to a shader of `pellucid exec`, and what is not.

mod common;

use common::{dumped, errors, exec};

#[test]
fn a_constant_that_the_shader_cannot_have_is_named() {
    let local = "workgroup of 5000 invocations";
    for (given, named, why) in [
        ("--spec 7=0", "--spec 7=0: ", "a workgroup without invocations"),
        ("--spec 2=3 --spec 7=5000", "--spec 7=5000: ", local),
        ("--spec 7=5000 --spec 2=3 --buffer 0:0=u32x4", "--spec 7=5000: ", local),
        ("--spec 1=0", "--spec 1=0: ", "has no elements"),
        ("--spec 1=-5", "--spec 1=-5: ", "more than 16 MiB of workgroup memory"),
        ("--spec 1=0 --spec 7=0", "--spec 1=0 --spec 7=0: ", "has no elements"),
    ] {
        let output = exec("given.spv", &[], given);
        let text = errors(&output);
        assert!(text.starts_with(&format!("pellucid: {named}")) && text.contains(why), "{given}: {text}");
        assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{given}: {text}");
    }
    let right = exec("given.spv", &[], "--spec 7=3 --spec 2=3 --push 0=u32:0,0");
    assert_eq!(right.status.code(), Some(0), "{}", errors(&right));
}

#[test]
fn push_constants_that_are_not_given_are_zero() {
    let told = "pellucid: push constants are not given: bytes ";
    for (given, zero, values) in [
        ("", "0 to 7 are zero; --push 0=u32:v0,v1,... has others", [0, 0]),
        ("--push 4=f32:5", "0 to 3 are zero; --push 0=u32:v0,v1,... has others", [5, 5]),
        ("--push 0=u32:6", "4 to 7 are zero; --push 4=u32:v0,v1,... has others", [6, 6]),
        ("--push 0=u32:6 --push 4=f32:5", "", [11, 11]),
    ] {
        let output = exec("given.spv", &[], &format!("--groups 1 --spec 7=2 --dump 0:0 {given}"));
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(0), "{given}: {text}");
        assert_eq!(dumped::<u32>(&output), values, "{given}");
        assert_eq!(text.contains(&format!("{told}{zero}\n")), !zero.is_empty(), "{given}: {text}");
        assert_eq!(text.contains(told), !zero.is_empty(), "{given}: {text}");
    }
}

#[test]
fn push_constants_beyond_the_block_are_refused() {
    let output = exec("given.spv", &[], "--push 0=u32:1 --push 4=f32:1,2");
    let told = "pellucid: --push 4=f32:1,2: ends at byte 12; the shader has 8 bytes of push constants\n";
    assert_eq!((errors(&output).as_str(), output.status.code()), (told, Some(2)));
}
