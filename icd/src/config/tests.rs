//! Every option, from flags and from the environment.

use super::*;

fn parse(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::from_variables(pairs.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))))
}

#[test]
fn every_option_is_read_from_its_variable() {
    let config = parse(&[
        ("PELLUCID_MODE", "check"),
        ("PELLUCID_SEED", "18446744073709551615"),
        ("PELLUCID_VALUES", "seeded"),
        ("PELLUCID_REPORT", "r.json"),
        ("PELLUCID_EXITCODE", "7"),
        ("PELLUCID_HALT_ON_ERROR", "1"),
        ("PELLUCID_SHADERS", "reduce.*"),
        ("PELLUCID_SUBGROUP_SIZE", "8"),
        ("PELLUCID_NO_CHAINS", "1"),
        ("PELLUCID_DEVICE_TYPE", "discrete"),
        ("PELLUCID_QUEUES", "pretend-graphics"),
        ("PELLUCID_OUTCOMES", "0:1,1:0=f32"),
        ("PELLUCID_REPLAY", "3:012"),
        ("HOME", "/"),
    ])
    .unwrap();
    assert_eq!(config.mode, Mode::Check);
    assert_eq!(config.seed, u64::MAX);
    assert_eq!(config.values, ValuePolicy::Seeded);
    assert_eq!(config.report, Some(PathBuf::from("r.json")));
    assert_eq!(config.exitcode, Some(7));
    assert!(config.halt_on_error && !config.chains);
    assert!(config.shaders.unwrap().is_match("reduce.comp"));
    assert_eq!(config.subgroup_size, 8);
    assert_eq!(config.device_type.vk(), 2);
    assert_eq!(config.queues, Queues::PretendGraphics);
    assert_eq!(config.outcomes[1].element, Element::F32);
    assert_eq!(config.replay.map(|r| (r.dispatch, r.choices.to_string())), Some((3, "012".to_owned())));
}

#[test]
fn an_unknown_variable_names_the_valid_ones() {
    let error = parse(&[("PELLUCID_SEEED", "1")]).unwrap_err().to_string();
    assert!(
        error.starts_with("unknown variable PELLUCID_SEEED; the variables of Pellucid are: PELLUCID_MODE, "),
        "{error}"
    );
    assert!(error.contains("PELLUCID_MAX_WORKGROUP_INVOCATIONS"));
    assert!(!error.contains("PELLUCID_SUMMARY"), "internal variables are not advertised: {error}");
}

#[test]
fn a_bad_value_names_what_is_valid() {
    let bad = |name: &str, value: &str| parse(&[(name, value)]).unwrap_err().to_string();
    assert_eq!(bad("PELLUCID_MODE", "fast"), "PELLUCID_MODE: bad value \"fast\"; valid: run, check, explore");
    for (name, value) in [
        ("PELLUCID_SEED", "-1"),
        ("PELLUCID_EXITCODE", "256"),
        ("PELLUCID_SUBGROUP_SIZE", "12"),
        ("PELLUCID_SUBGROUP_SIZE", "64"),
        ("PELLUCID_MAX_WORKGROUP_INVOCATIONS", "64"),
        ("PELLUCID_SHADERS", "("),
        ("PELLUCID_HALT_ON_ERROR", "yes"),
        ("PELLUCID_EXECUTIONS", "0"),
        ("PELLUCID_OUTCOMES", "0:0=u33"),
        ("PELLUCID_REPLAY", "01"),
        ("PELLUCID_REPORT", ""),
    ] {
        assert!(bad(name, value).starts_with(&format!("{name}: bad value")));
    }
}

#[test]
fn defaults_are_what_the_table_says() {
    let default = Config::default();
    let mut from_table = Config::default();
    for spec in OPTIONS.iter().filter(|o| {
        !matches!(o.default, "none" | "all" | "all storage buffers") && !o.default.contains("under")
    }) {
        from_table.set(spec, spec.name, spec.default).unwrap();
    }
    from_table.given.clear();
    assert_eq!(format!("{default:?}"), format!("{from_table:?}"));
}

#[test]
fn a_machine_is_a_name_or_a_file() {
    let config = parse(&[("PELLUCID_MACHINE", "desktop")]).unwrap();
    assert_eq!((config.values, config.machine.units), (ValuePolicy::Caches, 16));
    let apart = |name: &str, value: &str| {
        parse(&[("PELLUCID_MACHINE", "desktop"), (name, value)]).map_err(|error| error.to_string())
    };
    assert!(apart("PELLUCID_VALUES", "stale").unwrap_err().starts_with("values come either from the caches"));
    assert!(
        apart("PELLUCID_MODE", "run").unwrap_err().starts_with("run mode has one value for each location")
    );
    assert!(apart("PELLUCID_VALUES", "caches").is_ok() && apart("PELLUCID_MODE", "check").is_ok());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "units 3\nthird line 4").unwrap();
    let name = file.path().to_string_lossy().into_owned();
    let error = parse(&[("PELLUCID_MACHINE", &name)]).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "PELLUCID_MACHINE: {name}: line 2: not implemented in Pellucid: the third cache of a machine"
        )
    );
    assert!(parse(&[("PELLUCID_MACHINE", "/nowhere")]).is_err());
}
