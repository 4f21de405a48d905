//! Shaders in a language that an installed compiler turns into SPIR-V, with debug information.

use crate::status::{self, usage};
use anyhow::{Context as _, anyhow, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A compiler by its usual name, and its arguments; `{in}` and `{out}` stand for the files, `{entry}` for the
/// entry point.
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
    compiler("dxc", "-spirv -T cs_6_6 -E {entry} -fspv-target-env=vulkan1.3 -fspv-debug=line -Fo {out} {in}"),
    compiler("glslangValidator", "-D -V -g --target-env vulkan1.3 -S comp -e {entry} -o {out} {in}"),
];
const SLANG: &[Compiler] =
    &[compiler("slangc", "{in} -target spirv -g -entry {entry} -stage compute -o {out}")];
const WGSL: &[Compiler] =
    &[compiler("naga", "-g {in} {out}"), compiler("tint", "--format spirv -o {out} {in}")];

/// A language of sources.
struct Language {
    compilers: &'static [Compiler],
    /// It has macros, which all of these compilers define by `-DNAME=VALUE`.
    has_macros: bool,
    /// Its compilers take one entry point alone, by its name.
    names_entry: bool,
}

/// The language of a file, by its extension; nothing for SPIR-V.
fn language(path: &Path) -> Option<Language> {
    let (compilers, has_macros, names_entry) = match path.extension()?.to_str()? {
        "comp" | "glsl" => (GLSL, true, false),
        "hlsl" => (HLSL, true, true),
        "slang" => (SLANG, true, true),
        "wgsl" => (WGSL, false, false),
        _ => return None,
    };
    Some(Language { compilers, has_macros, names_entry })
}

/// Whether the compiler of a file is told which entry point is meant: the module has no other, by whatever
/// name.
pub fn names_entry(path: &Path) -> bool {
    language(path).is_some_and(|language| language.names_entry)
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

/// How a program that is this file is named where it is started: a name without a slash is looked for where
/// PATH says.
pub fn started(name: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("./{name}") }
}

/// What a source is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// As [`definition`] takes them.
    pub macros: &'a [String],
    /// The entry point, `main` where none is named.
    pub entry: Option<&'a str>,
}

/// The SPIR-V of a source file, in a folder that goes with the first part; nothing where the file is no
/// source.
///
/// # Errors
/// The file has no macros; no compiler of the language is installed, or it refuses the file: with what it
/// says.
pub fn compiled(path: &Path, given: Given<'_>) -> anyhow::Result<Option<(tempfile::TempDir, PathBuf)>> {
    let Given { macros, entry } = given;
    let entry = entry.unwrap_or("main");
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
    let Some(language) = language else { return Ok(None) };
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let out = folder.path().join("shader.spv");
    for Compiler { name, arguments } in language.compilers {
        let mut command = Command::new(name);
        command.stdin(Stdio::null());
        // What it says goes into a message.
        command.env("NO_COLOR", "1");
        command.args(macros.iter().map(|definition| format!("-D{definition}")));
        for argument in arguments.split(' ') {
            match argument {
                "{in}" => command.arg(path),
                "{out}" => command.arg(&out),
                "{entry}" => command.arg(entry),
                other => command.arg(other),
            };
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error).context(*name),
        };
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        if !output.status.success() || !out.is_file() {
            bail!("{name} does not compile {shown}:\n{}", said.trim_end());
        }
        // glslangValidator makes a module of it that does nothing.
        if language.names_entry && said.contains("Entry point not found") {
            bail!("{shown} has no entry point \"{entry}\"; --entry names another one");
        }
        return Ok(Some((folder, out)));
    }
    let names: Vec<&str> = language.compilers.iter().map(|compiler| compiler.name).collect();
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
