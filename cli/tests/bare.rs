//! `pellucid exec` with as little as a shader: entry points, workgroups and buffers that are not given, and
//! languages that an installed compiler knows.

mod common;

use common::errors;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

fn demo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo").join(name)
}

fn pellucid(path: &str, arguments: &[&str]) -> Output {
    let mut command = common::pellucid();
    command.env("PATH", path).args(arguments).output().expect("it starts")
}

/// The path of a file with this text.
fn file_in(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

#[test]
fn a_shader_is_enough() {
    let output = pellucid("", &["exec", demo("reduce.spv").to_str().unwrap(), "--dump", "0:2"]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(66), "{text}");
    // Runtime-sized arrays get an element for each of the 64 invocations.
    for (buffer, bytes) in [("0:0", 256), ("0:1", 256)] {
        let told = format!("pellucid: buffer {buffer} (");
        let line = text.lines().find(|line| line.starts_with(&told)).expect("it is told");
        assert!(line.contains(&format!("is not given: {bytes} bytes of zero")), "{line}");
    }
    assert_eq!(text.matches("is not given").count(), 3, "{text}");
    assert!(text.contains("error[race-not-available]") && !text.contains("out-of-bounds"), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("0:2\n"));

    let two = pellucid("", &["exec", demo("reduce.spv").to_str().unwrap(), "--groups", "2"]);
    assert!(errors(&two).contains("buffer 0:0 (Input) is not given: 512 bytes of zero"), "{}", errors(&two));
}

#[test]
fn the_only_entry_point_need_not_be_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = |entries: &[&str]| {
        let list: String = entries.iter().map(|e| format!("OpEntryPoint GLCompute %{e} \"{e}\"\n")).collect();
        let modes: String =
            entries.iter().map(|e| format!("OpExecutionMode %{e} LocalSize 1 1 1\n")).collect();
        let body = |e: &&str| {
            format!("%{e} = OpFunction %void None %fn\n%l{e} = OpLabel\nOpReturn\nOpFunctionEnd\n")
        };
        let bodies: String = entries.iter().map(body).collect();
        let types = "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n";
        let head = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n";
        let text = format!("{head}{list}{modes}{types}{bodies}");
        file_in(folder.path(), &format!("{}.spvasm", entries.len()), &text)
    };
    let one = pellucid("", &["exec", &module(&["step"])]);
    assert_eq!(one.status.code(), Some(0), "{}", errors(&one));
    let two = module(&["first", "second"]);
    let refused = pellucid("", &["exec", &two]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("several entry points, choose one by --entry: first, second"));
    assert_eq!(pellucid("", &["exec", &two, "--entry", "second"]).status.code(), Some(0));
}

#[test]
fn sources_are_compiled_by_whoever_is_installed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| file_in(folder.path(), name, text);
    let shader = file("a.wgsl", "whatever\n");
    let path = folder.path().display().to_string();
    let missing = pellucid(&path, &["exec", &shader]);
    assert_eq!(missing.status.code(), Some(2), "{}", errors(&missing));
    let text = errors(&missing);
    assert!(text.contains("no compiler for this language is installed; looked for naga, tint"), "{text}");

    // The second of the compilers, as if it were installed.
    let tint = |script: &str| {
        let script = file("tint", script);
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).expect("a script");
    };
    let spirv = demo("reduce.spv").display().to_string();
    tint(&format!("#!/bin/sh\n[ \"$5\" = {shader} ] && exec /bin/cp {spirv} \"$4\"\n"));
    let found = pellucid(&path, &["exec", &shader]);
    assert_eq!(found.status.code(), Some(66), "{}", errors(&found));
    tint("#!/bin/sh\necho a.wgsl:1 no shader >&2; exit 1\n");
    let refused = pellucid(&path, &["exec", &shader]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("tint does not compile"), "{}", errors(&refused));
    assert!(errors(&refused).contains("a.wgsl:1 no shader"), "{}", errors(&refused));
    let nothing = pellucid(&path, &["exec", "/nonexistent.hlsl"]);
    assert!(errors(&nothing).contains("/nonexistent.hlsl"), "{}", errors(&nothing));
}

#[test]
fn macros_are_for_the_compiler_of_a_source_in_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| file_in(folder.path(), name, text);
    let path = folder.path().display().to_string();
    let spirv = demo("reduce.spv").display().to_string();
    let (out, given) = ("${10}", "[ \"$1\" = -DN=4 ] && [ \"$2\" = '-DVALUE=3 + 4' ]");
    let script = format!("#!/bin/sh\n{given} && exec /bin/cp {spirv} \"{out}\"\n");
    std::fs::set_permissions(file("glslangValidator", &script), std::fs::Permissions::from_mode(0o755))
        .expect("a script");
    let glsl = file("a.comp", "whatever\n");
    let macros = ["-DN=4", "-D", "VALUE=3 + 4"];
    let report = folder.path().join("report.json").display().to_string();
    let commands: [&[&str]; 5] = [
        &["exec"],
        &["exec", "--report", &report],
        &["explore", "--executions", "2"],
        &["hunt", "--explore", "0", "--runs", "1"],
        &["debug"],
    ];
    for command in commands {
        let output = pellucid(&path, &[command, &[&glsl], &macros].concat());
        let status = if command == ["debug"] { 0 } else { 66 };
        assert_eq!(output.status.code(), Some(status), "{command:?}: {}", errors(&output));
        let others = pellucid(&path, &[command, &[&glsl, "-D", "N=5"]].concat());
        assert!(errors(&others).contains("glslangValidator does not compile"), "{}", errors(&others));
    }
    // Whoever runs it again gives them, too.
    for line in [&["replay", &report][..], &["debug", "--finding", &report]] {
        let output = pellucid(&path, line);
        assert!(!errors(&output).contains("does not compile"), "{line:?}: {}", errors(&output));
    }
    let again = std::fs::read_to_string(&report).expect("a report");
    assert!(again.contains("a.comp -DN=4 -D 'VALUE=3 + 4'"), "{again}");

    for name in ["b.wgsl", "b.spv", "b.spvasm"] {
        let shader = file(name, "whatever\n");
        for command in commands {
            let output = pellucid(&path, &[command, &[&shader, "-D", "N=4"]].concat());
            assert_eq!(output.status.code(), Some(2), "{command:?}: {}", errors(&output));
            let told = format!("-D N=4: {shader} is ");
            assert!(errors(&output).contains(&told), "{command:?}: {}", errors(&output));
        }
    }
    let bad = pellucid(&path, &["exec", &glsl, "-D", "4=N"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(errors(&bad).contains("\"4=N\" is not NAME=VALUE"), "{}", errors(&bad));
}

#[test]
fn an_entry_point_is_named_for_the_compilers_that_want_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| file_in(folder.path(), name, text);
    let path = folder.path().display().to_string();
    let spirv = demo("reduce.spv").display().to_string();
    // As glslangValidator does: it makes something of what is not there, and says so.
    let script = format!(
        "#!/bin/sh\n[ \"$9\" = there ] || echo 'WARNING: Linking compute stage: Entry point not found'\n\
         exec /bin/cp {spirv} \"${{11}}\"\n"
    );
    std::fs::set_permissions(file("glslangValidator", &script), std::fs::Permissions::from_mode(0o755))
        .expect("a script");
    let shader = file("a.hlsl", "whatever\n");
    let found = pellucid(&path, &["exec", &shader, "--entry", "there"]);
    assert_eq!(found.status.code(), Some(66), "{}", errors(&found));
    let missing = pellucid(&path, &["exec", &shader]);
    let told = format!("{shader} has no entry point \"main\"; --entry names another one\n");
    assert!(errors(&missing).ends_with(&told), "{}", errors(&missing));
    assert_eq!(missing.status.code(), Some(2));
    let other = pellucid(&path, &["exec", &spirv, "--entry", "step"]);
    let told = "--entry step: the shader has no such entry point; it has main\n";
    assert!(errors(&other).ends_with(told), "{}", errors(&other));
    assert_eq!(other.status.code(), Some(2));
}
