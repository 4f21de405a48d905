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
