//! The shaders of the corpus: SPIR-V beside its source, made by the reference compilers and checked in.
//!
//! `planted/shaders.lock` holds, for each SPIR-V file, a hash of the source and the definitions that it was
//! made of, so that a source that was changed and not built anew fails the tests where no compiler is
//! installed.

use super::{Test, root};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::path::PathBuf;
use std::process::Command;

/// One SPIR-V file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shader {
    /// Its source, within the corpus.
    pub source: String,
    /// Preprocessor definitions.
    pub defines: Vec<String>,
    /// The SPIR-V file, within the corpus.
    pub output: String,
}

impl Shader {
    /// The shader that a case calls `name`.
    pub fn of(test: &Test, case: &super::Case, name: &str) -> Option<Shader> {
        if let Some((file, defines)) = case.shaders.get(name) {
            let stem = file.rsplit_once('.')?.0;
            let tag: Vec<String> = defines.iter().map(|d| d.to_lowercase()).collect();
            let output = if tag.is_empty() { stem.to_owned() } else { format!("{stem}.{}", tag.join("-")) };
            return Some(Shader {
                source: file.clone(),
                defines: defines.clone(),
                output: format!("{output}.spv"),
            });
        }
        // Cases with equal definitions share the shader of the first of them.
        let first = test.cases.iter().find(|c| c.defines == case.defines).unwrap_or(case);
        (name == "main" && !test.file.ends_with(".test")).then(|| Shader {
            source: test.file.clone(),
            defines: case.defines.clone(),
            output: format!("{}.{}.spv", test.name, first.name),
        })
    }

    /// A hash of what it is made of.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn hash(&self) -> Result<String> {
        let text = std::fs::read(root().join(&self.source)).with_context(|| self.source.clone())?;
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(&text);
        self.defines.iter().for_each(|d| hasher.write(d.as_bytes()));
        Ok(format!("{:016x}", hasher.finish()))
    }

    /// Where the SPIR-V is.
    pub fn path(&self) -> PathBuf {
        root().join(&self.output)
    }

    fn build(&self) -> Result<()> {
        if self.source.ends_with(".spvasm") {
            let chosen = tempfile::NamedTempFile::new()?;
            std::fs::write(chosen.path(), self.choose(&std::fs::read_to_string(root().join(&self.source))?))?;
            let mut command = Command::new("spirv-as");
            command.args(["--target-env", "vulkan1.3", "-o", &self.output]).arg(chosen.path());
            return self.finish(run(command.current_dir(root())));
        }
        let mut command = Command::new("glslangValidator");
        command.args(["-V", "--target-env", "vulkan1.3", "-g", "--quiet", "-o", &self.output]);
        command.args(self.defines.iter().map(|d| format!("-D{d}"))).arg(&self.source);
        self.finish(run(command.current_dir(root())))
    }

    /// The lines of an assembly file that hold with the definitions: `#ifdef NAME...` (any of them),
    /// `#ifndef NAME...` (none of them), `#else`, `#endif`, not nested.
    fn choose(&self, text: &str) -> String {
        let mut out = String::new();
        let mut holds = true;
        for line in text.lines() {
            let defined = |names: &str| names.split_whitespace().any(|n| self.defines.iter().any(|d| d == n));
            match line.trim_start() {
                l if l.starts_with("#ifdef") => holds = defined(&l[6..]),
                l if l.starts_with("#ifndef") => holds = !defined(&l[7..]),
                l if l.starts_with("#else") => holds = !holds,
                l if l.starts_with("#endif") => holds = true,
                _ if holds => out.push_str(&format!("{line}\n")),
                _ => {}
            }
        }
        out
    }

    fn finish(&self, built: Result<()>) -> Result<()> {
        built?;
        run(Command::new("spirv-val")
            .current_dir(root())
            .args(["--target-env", "vulkan1.3", "--scalar-block-layout", "--workgroup-scalar-block-layout"])
            .arg(&self.output))
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{:?}", command.get_program()))?;
    ensure!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// All shaders of these tests, once each, by output.
pub fn of(tests: &[Test]) -> BTreeMap<String, Shader> {
    let mut all = BTreeMap::new();
    for test in tests {
        for case in &test.cases {
            let names = case.shaders.keys().map(String::as_str).chain(["main"]);
            for shader in names.filter_map(|name| Shader::of(test, case, name)) {
                all.insert(shader.output.clone(), shader);
            }
        }
    }
    all
}

fn lock_path() -> PathBuf {
    root().join("shaders.lock")
}

/// The hashes of `shaders.lock` by SPIR-V file.
///
/// # Errors
/// It cannot be read.
pub fn lock() -> Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(lock_path()).context("planted/shaders.lock")?;
    Ok(text.lines().filter_map(|l| l.split_once(' ')).map(|(h, f)| (f.to_owned(), h.to_owned())).collect())
}

/// Builds the shaders whose sources changed (all of them with `force`), removes SPIR-V that no test names,
/// and writes the lock.
///
/// # Errors
/// A compiler is missing or refuses a shader.
pub fn build(tests: &[Test], force: bool) -> Result<usize> {
    let known = if force { BTreeMap::new() } else { lock().unwrap_or_default() };
    let wanted = of(tests);
    let mut built = 0;
    let mut lines = String::new();
    for (output, shader) in &wanted {
        let hash = shader.hash()?;
        if known.get(output) != Some(&hash) || !shader.path().exists() {
            shader.build()?;
            built += 1;
        }
        lines.push_str(&format!("{hash} {output}\n"));
    }
    for family in std::fs::read_dir(root())?.filter_map(Result::ok).filter(|f| f.path().is_dir()) {
        for file in std::fs::read_dir(family.path())?.filter_map(Result::ok) {
            let path = file.path();
            let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
            if name.ends_with(".spv") && !wanted.contains_key(&name) {
                std::fs::remove_file(&path)?;
            }
        }
    }
    std::fs::write(lock_path(), lines)?;
    Ok(built)
}
