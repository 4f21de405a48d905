//! Shaders in a language that an installed compiler turns into SPIR-V, with debug information.

use crate::status;
use anyhow::{Context as _, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiler by its usual name, and its arguments; `{in}` and `{out}` stand for the files.
struct Compiler {
    name: &'static str,
    arguments: &'static str,
}

const fn compiler(name: &'static str, arguments: &'static str) -> Compiler {
    Compiler { name, arguments }
}

const GLSL: &[Compiler] = &[
    compiler("glslangValidator", "-V -g --target-env vulkan1.3 -S comp -o {out} {in}"),
    compiler("glslc", "-g -fshader-stage=compute --target-env=vulkan1.3 -o {out} {in}"),
];
const HLSL: &[Compiler] = &[
    compiler("dxc", "-spirv -T cs_6_6 -E main -fspv-target-env=vulkan1.3 -fspv-debug=line -Fo {out} {in}"),
    compiler("glslangValidator", "-D -V -g --target-env vulkan1.3 -S comp -e main -o {out} {in}"),
];
const SLANG: &[Compiler] = &[compiler("slangc", "{in} -target spirv -g -entry main -stage compute -o {out}")];
const WGSL: &[Compiler] =
    &[compiler("naga", "-g {in} {out}"), compiler("tint", "--format spirv -o {out} {in}")];

/// The compilers for a file, by its extension; nothing for SPIR-V.
fn compilers(path: &Path) -> Option<&'static [Compiler]> {
    match path.extension()?.to_str()? {
        "comp" | "glsl" => Some(GLSL),
        "hlsl" => Some(HLSL),
        "slang" => Some(SLANG),
        "wgsl" => Some(WGSL),
        _ => None,
    }
}

/// Whether `pellucid exec` takes a file of this name.
pub fn is_shader(name: &str) -> bool {
    let path = Path::new(name);
    compilers(path).is_some() || path.extension().is_some_and(|e| e == "spv" || e == "spvasm")
}

/// The SPIR-V of a source file, in a folder that goes with the first part; nothing where the file is no
/// source.
///
/// # Errors
/// No compiler of the language is installed, or it refuses the file: with what it says.
pub fn compiled(path: &Path) -> anyhow::Result<Option<(tempfile::TempDir, PathBuf)>> {
    let Some(compilers) = compilers(path) else { return Ok(None) };
    let shown = path.display();
    status::readable(path, std::fs::metadata(path))?;
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let out = folder.path().join("shader.spv");
    for Compiler { name, arguments } in compilers {
        let mut command = Command::new(name);
        command.stdin(Stdio::null());
        // What it says goes into a message.
        command.env("NO_COLOR", "1");
        for argument in arguments.split(' ') {
            match argument {
                "{in}" => command.arg(path),
                "{out}" => command.arg(&out),
                other => command.arg(other),
            };
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error).context(*name),
        };
        if !output.status.success() || !out.is_file() {
            let said = [output.stdout, output.stderr].concat();
            bail!("{name} does not compile {shown}:\n{}", String::from_utf8_lossy(&said).trim_end());
        }
        return Ok(Some((folder, out)));
    }
    let names: Vec<&str> = compilers.iter().map(|compiler| compiler.name).collect();
    bail!("{shown}: no compiler for this language is installed; looked for {}", names.join(", "))
}
