//! Clients by their names, and what they are advised to set.

use super::*;
use crate::config::OPTIONS;

#[test]
fn names_are_those_of_the_table_and_their_options_exist() {
    let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    assert_eq!(names.join("|"), NAMES);
    for (name, value) in PROFILES.iter().flat_map(|profile| profile.options) {
        let spec = OPTIONS.iter().find(|spec| spec.name == *name).unwrap();
        let mut config = Config::default();
        config.set(spec, name, value).unwrap();
        assert!(missing(&config, &[(name, value)]).is_empty(), "{name}");
        assert!(!missing(&Config::default(), &[(name, value)]).is_empty(), "{name}");
    }
}

#[test]
fn advice_names_what_is_missing_and_the_option() {
    let mut config = Config::default();
    let wgpu = advice(&config, &["", "wgpu-hal"]).unwrap();
    assert_eq!(
        wgpu,
        "wgpu looks for a conformanceVersion other than 0.0.0.0 and a queue family with graphics: try --for wgpu"
    );
    assert!(advice(&config, &["app"]).unwrap().starts_with("some programs look for "));
    config.set(super::super::find("for").unwrap(), "for", "wgpu").unwrap();
    assert_eq!(advice(&config, &["wgpu-hal"]), None);
    assert_eq!(
        advice(&config, &["app"]).unwrap(),
        "some programs look for a device type other than CPU or the extensions of windows: try --device-type discrete, --surfaces pretend"
    );
}
