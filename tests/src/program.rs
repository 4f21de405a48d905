//! Programs: a GLSL compute shader that is compiled twice, as it stands (the bug) and with `FIXED` defined (its twin), with directives in
//! its comments:
//!
//! ```text
//! // exec: --groups 2 --buffer 0:0=u32x2      arguments of pellucid exec
//! // finds: race-not-visible                  the id of the first finding of the bug
//! // names: text                              something that its report has to contain; may be repeated
//! // options: subgroup-size=8                 options of the driver; may be repeated
//! // ignored: reason                          a known gap: the test is listed and not run
//! ```
//!
//! Beside `NAME.comp` lie `NAME.bug.spv`, `NAME.fixed.spv` (made by `build.sh`) and `NAME.expected`, the report of the bug under seed 0.

use std::path::{Path, PathBuf};

/// A program and its directives.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file's name without its extension.
    pub name: String,
    /// The folder that it lies in.
    pub folder: PathBuf,
    /// Arguments of `exec`.
    pub exec: Vec<String>,
    /// The id of the bug.
    pub finds: String,
    /// What the report contains.
    pub names: Vec<String>,
    /// Options of the driver: variable and value.
    pub options: Vec<(String, String)>,
    /// Why it is not run.
    pub ignored: Option<String>,
}

impl Program {
    /// Reads a shader's directives.
    ///
    /// # Errors
    /// The file cannot be read, or a directive is missing or unknown.
    pub fn read(path: &Path) -> anyhow::Result<Program> {
        let text = std::fs::read_to_string(path)?;
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let (mut exec, mut finds, mut names, mut options, mut ignored) = (None, None, Vec::new(), Vec::new(), None);
        for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
            match line.split_once(": ").map(|(key, value)| (key, value.trim())) {
                Some(("exec", value)) => exec = Some(value.split_whitespace().map(str::to_owned).collect()),
                Some(("finds", value)) => finds = Some(value.to_owned()),
                Some(("names", value)) => names.push(value.to_owned()),
                Some(("ignored", value)) => ignored = Some(value.to_owned()),
                Some(("options", value)) => {
                    let (option, value) = value.split_once('=').ok_or_else(|| anyhow::anyhow!("{name}: {line}"))?;
                    let variable = format!("PELLUCID_{}", option.replace('-', "_").to_uppercase());
                    options.push((variable, value.to_owned()));
                }
                _ => {}
            }
        }
        let (Some(exec), Some(finds)) = (exec, finds) else {
            anyhow::bail!("{}: needs the directives exec and finds", path.display());
        };
        Ok(Program { name, folder, exec, finds, names, options, ignored })
    }

    /// Every program of a folder, by name.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn all(folder: &Path) -> anyhow::Result<Vec<Program>> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|e| e == "comp"))
            .collect();
        paths.sort();
        paths.iter().map(|path| Program::read(path)).collect()
    }

    /// The SPIR-V of the bug or of its twin.
    pub fn binary(&self, fixed: bool) -> PathBuf {
        self.folder.join(format!("{}.{}.spv", self.name, if fixed { "fixed" } else { "bug" }))
    }

    /// Where the expected report is.
    pub fn expected(&self) -> PathBuf {
        self.folder.join(format!("{}.expected", self.name))
    }
}
