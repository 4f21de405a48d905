//! Shaders in a language that an installed compiler turns into SPIR-V, with debug information.

use crate::status::{self, usage};
use anyhow::{Context as _, anyhow, bail};
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

/// A language of sources.
struct Language {
    compilers: &'static [Compiler],
    /// It has macros, which all of these compilers define by `-DNAME=VALUE`.
    has_macros: bool,
}

/// The language of a file, by its extension; nothing for SPIR-V.
fn language(path: &Path) -> Option<Language> {
    let (compilers, has_macros) = match path.extension()?.to_str()? {
        "comp" | "glsl" => (GLSL, true),
        "hlsl" => (HLSL, true),
        "slang" => (SLANG, true),
        "wgsl" => (WGSL, false),
        _ => return None,
    };
    Some(Language { compilers, has_macros })
}

/// Checks what `-D` was given: `NAME=VALUE`, or `NAME` alone.
///
/// # Errors
/// It is neither.
pub fn definition(text: &str) -> Result<String, String> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match first && rest && !text.contains(['\n', '\r']) {
        true => Ok(text.to_owned()),
        false => Err(format!("\"{text}\" is not NAME=VALUE, or NAME alone")),
    }
}

/// Whether `pellucid exec` takes a file of this name.
pub fn is_shader(name: &str) -> bool {
    let path = Path::new(name);
    language(path).is_some() || path.extension().is_some_and(|e| e == "spv" || e == "spvasm")
}

/// The SPIR-V of a source file with macros as [`definition`] takes them, in a folder that goes with the first
/// part; nothing where the file is no source.
///
/// # Errors
/// The file has no macros; no compiler of the language is installed, or it refuses the file: with what it
/// says.
pub fn compiled(path: &Path, macros: &[String]) -> anyhow::Result<Option<(tempfile::TempDir, PathBuf)>> {
    let shown = path.display();
    let language = language(path);
    status::readable(path, std::fs::metadata(path))?;
    if let Some(first) = macros.first().filter(|_| !language.as_ref().is_some_and(|of| of.has_macros)) {
        let what = language.map_or("SPIR-V, which is compiled already", |_| "WGSL, which has no macros");
        return usage(Err(anyhow!(
            "-D {first}: {shown} is {what}: macros are for .comp, .glsl, .hlsl and .slang files; --spec \
             ID=VALUE sets a specialization constant"
        )));
    }
    let Some(Language { compilers, .. }) = language else { return Ok(None) };
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let out = folder.path().join("shader.spv");
    for Compiler { name, arguments } in compilers {
        let mut command = Command::new(name);
        command.stdin(Stdio::null());
        // What it says goes into a message.
        command.env("NO_COLOR", "1");
        command.args(macros.iter().map(|definition| format!("-D{definition}")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_have_names() {
        for good in ["N", "N=", "N=4", "_a1=x y", "T=vec2(1, 2)", "N=a=b"] {
            assert_eq!(definition(good).as_deref(), Ok(good));
        }
        for bad in ["", "=4", "4=N", "a b=1", "-N", "f(x)=x", "N=1\nvoid"] {
            assert!(definition(bad).unwrap_err().contains("is not NAME=VALUE"), "{bad}");
        }
    }
}
