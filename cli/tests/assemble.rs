//! Our assembler against SPIRV-Tools' on every SPIR-V file of the repository, and shaders as text through
//! `pellucid exec`.
#![allow(clippy::print_stderr)]

mod common;

use pellucid::assemble::{NumericIds, assemble_with};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

/// All files of an extension below the folders that hold shaders.
fn files(extension: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["cli/src", "cli/tests", "shader-interp/tests", "tests"]
        .iter()
        .map(|f| repository().join(f))
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Whether a tool of SPIRV-Tools is there; says so where it is not.
fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        pellucid_test_host::skipped(&format!("{tool} (Debian: spirv-tools)"));
    }
    there
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

#[test]
fn what_spirv_dis_writes_becomes_the_words_that_it_read() {
    if !has("spirv-dis") {
        return;
    }
    let files = files("spv");
    assert!(files.len() > 200, "{} files", files.len());
    for path in files {
        let name = path.display();
        let output = Command::new("spirv-dis").arg("--raw-id").arg(&path).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let ours =
            assemble_with(&text, NumericIds::Preserved).unwrap_or_else(|error| panic!("{name}:{error}"));
        let original = words(&std::fs::read(&path).unwrap());
        assert_eq!(ours[1], original[1], "{name}: the version");
        assert!(ours[3] <= original[3], "{name}: the bound");
        let differs = ours[5..].iter().zip(&original[5..]).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}: first difference");
        assert_eq!(ours.len(), original.len(), "{name}");
    }
}

/// Holds the words of a text against those of spirv-as, with numeric ids as names and as they are.
fn compare(folder: &Path, path: &Path, text: &str) {
    for numeric in [NumericIds::Named, NumericIds::Preserved] {
        let binary = folder.join("a.spv");
        let mut tool = Command::new("spirv-as");
        if numeric == NumericIds::Preserved {
            tool.arg("--preserve-numeric-ids");
        }
        let output = tool.args(["--target-env", "spv1.6", "-o"]).args([&binary, path]).output().unwrap();
        assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        let theirs = words(&std::fs::read(&binary).unwrap());
        let ours = assemble_with(text, numeric).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
        assert_eq!((&ours[3..], ours[0]), (&theirs[3..], theirs[0]), "{} {numeric:?}", path.display());
    }
}

#[test]
fn numeric_ids_become_the_ids_that_spirv_as_gives_them() {
    if !has("spirv-as") || !has("spirv-dis") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Each is given its ids anew: in order of appearance they are others.
    for path in files("spv").iter().step_by(10) {
        let output = Command::new("spirv-dis").arg("--raw-id").arg(path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let listing = folder.path().join("a.spvasm");
        std::fs::write(&listing, &text).unwrap();
        compare(folder.path(), &listing, &text);
    }
}

#[test]
fn names_become_the_ids_that_spirv_as_gives_them() {
    if !has("spirv-as") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for path in files("spvasm") {
        let text = std::fs::read_to_string(&path).unwrap();
        // What spirv-as of 2023 does not know.
        if ["BFloat16TypeKHR", "CooperativeMatrixKHR", "UntypedPointersKHR"]
            .iter()
            .any(|name| text.contains(name))
        {
            continue;
        }
        // Planted programs have lines that a preprocessor chooses.
        if text.lines().any(|line| line.starts_with('#')) {
            continue;
        }
        compare(folder.path(), &path, &text);
        compared += 1;
    }
    assert!(compared > 5, "{compared} files");
}

const DOUBLE: &str = r#"; every invocation doubles its element
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main" %id %data
               OpExecutionMode %main LocalSize 4 1 1
               OpDecorate %id BuiltIn GlobalInvocationId
               OpDecorate %array ArrayStride 4
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %data DescriptorSet 0
               OpDecorate %data Binding 0
       %void = OpTypeVoid
   %function = OpTypeFunction %void
       %uint = OpTypeInt 32 0
       %int3 = OpTypeVector %uint 3
      %input = OpTypePointer Input %int3
      %array = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %array
     %buffer = OpTypePointer StorageBuffer %block
    %element = OpTypePointer StorageBuffer %uint
         %id = OpVariable %input Input
       %data = OpVariable %buffer StorageBuffer
          %0u = OpConstant %uint 0
       %main = OpFunction %void None %function
      %start = OpLabel
        %ids = OpLoad %int3 %id
          %x = OpCompositeExtract %uint %ids 0
         %at = OpAccessChain %element %data %0u INDEX
      %value = OpLoad %uint %at
      %twice = OpIAdd %uint %value %value
               OpStore %at %twice
               OpReturn
               OpFunctionEnd
"#;

fn exec(folder: &Path, name: &str, text: &str) -> Output {
    std::fs::write(folder.join(name), text).unwrap();
    let mut command = common::pellucid();
    command.current_dir(folder).args([
        "exec",
        name,
        "--groups",
        "2",
        "--buffer",
        "0:0=u32x8=iota",
        "--dump",
        "0:0",
    ]);
    command.output().expect("pellucid starts")
}

#[test]
fn a_shader_can_be_text() {
    let folder = tempfile::tempdir().unwrap();
    let output = exec(folder.path(), "double.spvasm", &DOUBLE.replace("INDEX", "%x"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0:0\n     0: 0 2 4 6 8 10 12 14\n");
}

/// The shader with what clspv tells of it, and a set that nobody knows.
fn reflected() -> String {
    let imports = "OpExtension \"SPV_KHR_non_semantic_info\"
        %reflection = OpExtInstImport \"NonSemantic.ClspvReflection.5\"
        %foreign = OpExtInstImport \"NonSemantic.Nobody.7\"\n";
    let reflection = "%kernel = OpExtInst %void %reflection Kernel %main %double %1u %0u %double
        %info = OpExtInst %void %reflection ArgumentInfo %double
        %argument = OpExtInst %void %reflection ArgumentStorageBuffer %kernel %0u %0u %0u %info
        %size = OpExtInst %void %reflection PropertyRequiredWorkgroupSize %kernel %1u %1u %1u
        %note = OpExtInst %void %foreign 77 %0u %1u\n";
    let text = DOUBLE.replace("INDEX", "%x").replacen("OpMemoryModel", &format!("{imports}OpMemoryModel"), 1);
    let text = text.replacen("OpDecorate", "%double = OpString \"double\"\nOpDecorate", 1);
    text.replacen("%main = OpFunction", "%1u = OpConstant %uint 1\n%main = OpFunction", 1) + reflection
}

#[test]
fn what_clspv_tells_of_a_shader_goes_by_its_names() {
    let (folder, text) = (tempfile::tempdir().unwrap(), reflected());
    let output = exec(folder.path(), "reflected.spvasm", &text);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0:0\n     0: 0 2 4 6 8 10 12 14\n");
    if has("spirv-as") {
        compare(folder.path(), &folder.path().join("reflected.spvasm"), &text);
    }
}

#[test]
fn findings_name_the_lines_of_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let output = exec(folder.path(), "race.spvasm", &DOUBLE.replace("INDEX", "%0u"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("error[race-private]"), "{errors}");
    let store = DOUBLE.lines().position(|line| line.contains("OpStore")).unwrap() + 1;
    assert!(errors.contains(&format!("race.spvasm:{store}:16")), "line {store}:\n{errors}");
    assert!(errors.contains(&format!("{store} |                OpStore %at %twice")), "{errors}");
}

#[test]
fn what_is_no_assembly_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let output = exec(folder.path(), "bad.spvasm", &DOUBLE.replace("INDEX", "7"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    let line = DOUBLE.lines().position(|line| line.contains("INDEX")).unwrap() + 1;
    let message = format!("bad.spvasm:{line}:49: expected an id, such as %1 or %name, found `7`");
    assert!(errors.contains(&message), "{errors}");
    let output = exec(folder.path(), "bad.spv", "neither text nor module");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("bad.spv: not a SPIR-V module"), "{errors}");
}
