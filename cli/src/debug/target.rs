//! A dispatch as the debugger knows it before anything runs: where instructions come from, and what lines
//! say.

use super::types::Types;
use pellucid_memory::access::Site;
use pellucid_memory::agent::Invocation;
use pellucid_memory::input;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::interface::{Grid, Resources};
use std::path::Path;
use vulkan_pellucid::report::DispatchContext;
use vulkan_pellucid::report::context::base_name;

/// A line of a source file, or an instruction of a module without lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Index into the shader's files; [`LISTING`] for the module itself.
    pub file: u32,
    /// 1-based; of the module: the word where the instruction begins.
    pub line: u32,
}

/// The file that stands for a module without source lines.
pub const LISTING: u32 = u32::MAX;

/// Where an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The source line that it comes from.
    pub line: Line,
    /// Number of the function call that it belongs to.
    pub call: u32,
}

/// An invocation of the dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// Linear number of its workgroup.
    pub workgroup: u32,
    /// `LocalInvocationIndex`.
    pub local_index: u32,
}

/// What is debugged.
pub struct Target<'a> {
    /// What runs.
    pub program: &'a Program,
    /// Its workgroups.
    pub grid: &'a Grid,
    /// What it is bound to.
    pub resources: &'a Resources,
    /// What names it in messages.
    pub context: DispatchContext<'a>,
    /// The module's types and names.
    pub types: &'a Types,
    spots: Vec<Option<Spot>>,
    texts: Vec<Option<String>>,
    whole: bool,
}

impl<'a> Target<'a> {
    /// A dispatch.
    pub fn new(
        program: &'a Program,
        grid: &'a Grid,
        resources: &'a Resources,
        context: DispatchContext<'a>,
        types: &'a Types,
    ) -> Target<'a> {
        let shader = &program.shader;
        let whole = shader.sites.iter().any(|site| site.source.is_some());
        let mut spots = Vec::with_capacity(program.code.len());
        let mut last = None;
        for pc in 0..program.code.len() as u32 {
            let site = program.debug.as_ref().map_or(Site(0), |debug| debug.site(pc));
            let info = shader.sites.get(site.0 as usize).filter(|info| info.word != 0);
            let spot = info.and_then(|info| {
                let line = match info.source {
                    Some(at) => Line { file: at.file, line: at.line },
                    None if whole => return None,
                    None => Line { file: LISTING, line: info.word },
                };
                Some(Spot { line, call: info.call })
            });
            last = spot.or(last);
            spots.push(last);
        }
        // What compilers put in front of the first line is at that line.
        let first = spots.iter().flatten().find(|spot| spot.call == 0).copied();
        spots.iter_mut().take_while(|spot| spot.is_none()).for_each(|spot| *spot = first);
        let text = |file: &pellucid_shader_interp::ir::SourceFile| {
            file.text.clone().or_else(|| input::text(Path::new(&file.name)).ok())
        };
        let texts = shader.files.iter().map(text).collect();
        Target { program, grid, resources, context, types, spots, texts, whole }
    }

    /// Where the instruction at `pc` is.
    pub fn spot(&self, pc: u32) -> Option<Spot> {
        self.spots.get(pc as usize).copied().flatten()
    }

    /// Whether a line begins at `pc`.
    pub fn begins(&self, pc: u32) -> bool {
        let here = self.spot(pc);
        here.is_some() && (pc == 0 || self.spot(pc - 1) != here)
    }

    /// The instructions at which a line begins; of any file where none is named.
    pub fn beginnings(&self, file: Option<&str>, line: u32) -> Vec<u32> {
        let named = |at: &Line| match file {
            None => true,
            Some(name) => base_name(self.file(at.file)) == base_name(name),
        };
        let begins = |pc: &u32| {
            self.begins(*pc) && self.spot(*pc).is_some_and(|spot| spot.line.line == line && named(&spot.line))
        };
        (0..self.program.code.len() as u32).filter(begins).collect()
    }

    /// The first line of a function that runs.
    pub fn first_line(&self, function: &str) -> Option<Line> {
        let calls = &self.program.shader.calls;
        let of = |spot: &&Spot| calls.get(spot.call as usize).is_some_and(|call| call.function == function);
        self.spots.iter().flatten().filter(of).map(|spot| spot.line).min_by_key(|line| line.line)
    }

    /// The nearest line at or after this one at which something begins.
    pub fn next_line(&self, file: Option<&str>, line: u32) -> Option<u32> {
        let lines = self.spots.iter().flatten().map(|spot| spot.line);
        let after = lines.filter(|at| {
            at.line >= line && file.is_none_or(|name| base_name(self.file(at.file)) == base_name(name))
        });
        after.map(|at| at.line).min()
    }

    /// The name of a file as the module says it.
    pub fn file(&self, file: u32) -> &str {
        self.program.shader.files.get(file as usize).map_or("SPIR-V", |file| &file.name)
    }

    /// The text of a file, if it is embedded or on disk.
    pub fn text(&self, file: u32) -> Option<&str> {
        self.texts.get(file as usize)?.as_deref()
    }

    /// Whether the module has source lines.
    pub fn has_lines(&self) -> bool {
        self.whole
    }

    /// What a line says, trimmed.
    pub fn line_text(&self, line: Line) -> String {
        if line.file == LISTING {
            let site = self.program.shader.sites.iter().find(|site| site.word == line.line);
            return site.map(|site| site.instruction.clone()).unwrap_or_default();
        }
        let text = self.text(line.file).and_then(|text| text.lines().nth(line.line as usize - 1));
        text.unwrap_or_default().trim().to_owned()
    }

    /// "reduce.comp:41".
    pub fn place(&self, line: Line) -> String {
        match line.file {
            LISTING => format!("SPIR-V word {}", line.line),
            file => format!("{}:{}", base_name(self.file(file)), line.line),
        }
    }

    /// The line of a static instruction.
    pub fn line_of(&self, site: Site) -> Option<Line> {
        let info = self.program.shader.sites.get(site.0 as usize).filter(|info| info.word != 0)?;
        Some(match info.source {
            Some(at) => Line { file: at.file, line: at.line },
            None => Line { file: LISTING, line: info.word },
        })
    }

    /// A call and those that it is in, innermost first: the call, and where in it one is, given the spot in
    /// the innermost one.
    pub fn frames(&self, spot: Spot) -> Vec<(u32, Line)> {
        let calls = &self.program.shader.calls;
        let (mut call, mut line) = (spot.call, spot.line);
        let mut frames = vec![(call, line)];
        while let Some(of) = calls.get(call as usize).filter(|of| of.caller != call) {
            line = self.line_of(of.site).unwrap_or(line);
            call = of.caller;
            frames.push((call, line));
        }
        frames
    }

    /// Whether a call is another one, or made in it.
    pub fn is_within(&self, call: u32, outer: u32) -> bool {
        let calls = &self.program.shader.calls;
        let mut call = call;
        loop {
            if call == outer {
                return true;
            }
            match calls.get(call as usize).filter(|of| of.caller != call) {
                Some(of) => call = of.caller,
                None => return false,
            }
        }
    }

    /// Invocations of a workgroup.
    pub fn workgroup_size(&self) -> u32 {
        self.program.shader.local_size.iter().product()
    }

    /// `WorkgroupId`, without the base of the dispatch.
    pub fn workgroup_id(&self, workgroup: u32) -> [u32; 3] {
        let [x, y, _] = self.grid.groups.map(|n| n.max(1));
        let base = self.grid.base;
        [workgroup % x + base[0], workgroup / x % y + base[1], workgroup / x / y + base[2]]
    }

    /// The linear number of a workgroup.
    pub fn workgroup(&self, id: [u32; 3]) -> Option<u32> {
        let at: Vec<u32> = (0..3).filter_map(|k| id[k].checked_sub(self.grid.base[k])).collect();
        let inside = at.len() == 3 && (0..3).all(|k| at[k] < self.grid.groups[k]);
        let [x, y, _] = self.grid.groups;
        inside.then(|| at[0] + x * (at[1] + y * at[2]))
    }

    /// `LocalInvocationId`.
    pub fn local_id(&self, local_index: u32) -> [u32; 3] {
        let [x, y, _] = self.program.shader.local_size.map(|n| n.max(1));
        [local_index % x, local_index / x % y, local_index / x / y]
    }

    /// "invocation 3 of workgroup (0,0,0)".
    pub fn name(&self, who: Who) -> String {
        let [x, y, z] = self.workgroup_id(who.workgroup);
        format!("invocation {} of workgroup ({x},{y},{z})", who.local_index)
    }

    /// The same of an invocation of a finding.
    pub fn name_of(&self, by: &Invocation) -> String {
        let [x, y, z] = by.workgroup;
        format!("invocation {} of workgroup ({x},{y},{z})", by.local_index)
    }
}
