//! The SPIR-V front end: a module's words become a [`Shader`], specialized and inlined.
//!
//! **Guarantees**: whatever the words are, [`lower`] returns; a shader that it returns satisfies
//! [`crate::pass`]'s verifier. Opcodes, capabilities and operands that are not handled are refused by name.
//! Memory operations come out in program order, one for each run of scalars of one type that lie side by
//! side.
//!
//! **Order of work**: [`module`] scans the words once and finds ids, decorations and functions; types,
//! constants and variables are taken up in order ([`types`], [`constant`]); the entry point's function is
//! written as a tree ([`cfg`], [`structure`]), calls inlined ([`function`]), instructions by family; then the
//! passes promote private variables to values and clean up.

mod arithmetic;
mod capability;
mod cfg;
mod choose;
mod composite;
mod constant;
mod convert;
mod cooperative_matrix;
mod decorate;
mod derivative;
mod function;
mod glsl;
mod image;
mod lowerer;
mod memory;
mod module;
mod note;
mod pointer;
mod print;
mod sample;
mod scope;
mod shape;
mod site;
mod small_float;
mod structure;
mod subgroup;
mod synchronise;
mod types;
mod untyped_pointer;
mod variable_pointer;
mod words;

use crate::CompileError;
use crate::interface::CompileOptions;
use crate::ir::{Convergence, Label, Origins, PrivateObject, Region, Shader};
use crate::pass;
use crate::pass::builder::Builder;
use lowerer::{Def, Lowerer};
use module::Module;
use rustc_hash::FxHashMap;
use site::Sites;
pub use types::MAX_VECTOR;
use types::Types;
pub use words::{NEWER, UNTYPED, UNTYPED_VARIABLE};

/// Lowers the compute entry point that `options` name.
///
/// # Errors
/// [`CompileError::Invalid`] for words that break a rule that execution depends on,
/// [`CompileError::NoEntryPoint`], [`CompileError::NotImplemented`] with the name of what is not handled,
/// [`CompileError::Limit`] for shaders that grow too large.
pub fn lower(words: &[u32], options: &CompileOptions) -> Result<Shader, CompileError> {
    let module = Module::read(words, &options.entry_point)?;
    let bound = module.stream.bound;
    let functions = module.functions.len();
    let sites = Sites::new(&module);
    let mut lowerer = Lowerer {
        types: Types::new(bound, module.long_vectors, options.subgroup_size.max(1)),
        b: Builder::default(),
        names: Vec::new(),
        defs: vec![Def::None; bound as usize],
        arena: Vec::new(),
        pointers: Vec::new(),
        choices: Vec::new(),
        origins: None,
        handles: Vec::new(),
        texels: Vec::new(),
        bindings: Vec::new(),
        binding_of: FxHashMap::default(),
        workgroup: Vec::new(),
        workgroup_bytes: 0,
        objects: Vec::new(),
        private_bytes: 0,
        push_constant_bytes: 0,
        sites,
        cfgs: vec![None; functions],
        calls: Vec::new(),
        functions: Vec::new(),
        inlined: Vec::new(),
        instance_call: 0,
        scopes: FxHashMap::default(),
        call: 0,
        expected_returns: Vec::new(),
        depth: 0,
        local_size: [1, 1, 1],
        derivative_group: None,
        convergence: Convergence::default(),
        float_controls: Default::default(),
        workgroup_size: None,
        prints: Vec::new(),
        matrix_accesses: 0,
        malformed_prints: Vec::new(),
        module,
        options,
    };
    lowerer.globals()?;
    lowerer.execution_modes()?;
    lowerer.check_matrix_workgroup()?;
    let mut body = lowerer.entry()?;
    lowerer.zeroed_blocks()?;
    if lowerer.notes() {
        body = lowerer.note_elements(body);
    }
    finish(lowerer, body)
}

fn finish(mut lowerer: Lowerer<'_>, body: Region) -> Result<Shader, CompileError> {
    let name_of = |variable| site::variable_name(&lowerer.module, variable);
    let inlined = &lowerer.inlined;
    let owner =
        |owner: Option<Label>| Some(inlined.iter().position(|(label, _)| Some(*label) == owner)? as u32);
    let objects: Vec<_> = lowerer
        .objects
        .iter()
        .map(|object| PrivateObject {
            offset: object.offset,
            size: object.size,
            name: name_of(object.variable),
            variable: object.variable,
            call: owner(object.owner),
        })
        .collect();
    let kept = if lowerer.options.keep_variables { objects.len() } else { 0 };
    let named = lowerer.named_variables();
    let owners: Vec<_> = lowerer.objects.iter().map(|object| object.owner).collect();
    let shader = Shader {
        name: lowerer.options.entry_point.clone(),
        stage: lowerer.module.stage,
        values: Vec::new(),
        names: lowerer.names,
        calls: lowerer.inlined.into_iter().map(|(_, call)| call).collect(),
        body,
        functions: lowerer.functions,
        bindings: lowerer.bindings,
        workgroup: lowerer.workgroup,
        workgroup_bytes: lowerer.workgroup_bytes,
        private: objects,
        private_bytes: lowerer.private_bytes,
        variables: named.variables,
        shared: named.shared,
        blocks: named.blocks,
        push_variable: named.push,
        origins: Origins::default(),
        followed_loads: Vec::new(),
        written_out: Vec::new(),
        rolled: None,
        push_constant_bytes: lowerer.push_constant_bytes,
        local_size: lowerer.local_size,
        derivative_group: lowerer.derivative_group,
        convergence: lowerer.convergence,
        vulkan_memory_model: lowerer.module.vulkan_memory_model,
        private_workgroup: 0,
        private_storage: 0,
        sites: Vec::new(),
        files: Vec::new(),
        language: lowerer.module.language,
        float_controls: lowerer.float_controls,
        prints: lowerer.prints,
        malformed_prints: lowerer.malformed_prints,
    };
    let check = lowerer.options.modelled.then_some(lowerer.options.follow_loads);
    let mut shader = pass::run(shader, std::mem::take(&mut lowerer.b), owners, check, kept)?;
    let mut used = vec![false; lowerer.sites.len()];
    shader.origins.sites().for_each(|site| used[site.0 as usize] = true);
    shader.calls.iter().for_each(|call| used[call.site.0 as usize] = true);
    shader.malformed_prints.iter().for_each(|(site, ..)| used[site.0 as usize] = true);
    site::mark(&shader.body, &mut used);
    (shader.sites, shader.files) = lowerer.sites.finish(&lowerer.module, &lowerer.types, &used);
    Ok(shader)
}
