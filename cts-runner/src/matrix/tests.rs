//! Axes, their product, and what is no axis.

use super::*;

fn names(settings: &[&str], axes: &[&str]) -> Result<Vec<String>, String> {
    let own = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    let variants = variants(&own(settings), &own(axes)).map_err(|error| error.to_string())?;
    Ok(variants.iter().map(Variant::name).collect())
}

#[test]
fn the_product_of_the_axes() {
    assert_eq!(names(&[], &[]).unwrap(), [""]);
    assert_eq!(
        names(&["threads=2"], &["mode=run,check seed=0..2"]).unwrap(),
        [
            "threads=2,mode=run,seed=0",
            "threads=2,mode=run,seed=1",
            "threads=2,mode=check,seed=0",
            "threads=2,mode=check,seed=1"
        ]
    );
    assert_eq!(names(&[], &["seed=0..=2,9"]).unwrap(), ["seed=0", "seed=1", "seed=2", "seed=9"]);
}

#[test]
fn options_become_variables() {
    let variants = variants(&["max-workgroup-invocations=256".into()], &[]).unwrap();
    assert_eq!(
        variants[0].environment(),
        [("PELLUCID_MAX_WORKGROUP_INVOCATIONS".to_string(), "256".to_string())]
    );
}

#[test]
fn mistakes_are_named() {
    for (settings, axes, text) in [
        (&["mode"][..], &[][..], "NAME=VALUE"),
        (&["mode=run"], &["mode=check"], "twice"),
        (&[], &["seed=4..4"], "empty"),
        (&[], &["seed=a..b"], "integers"),
    ] {
        let error = names(settings, axes).unwrap_err();
        assert!(error.contains(text), "{error}");
    }
}
