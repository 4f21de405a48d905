//! Functions that a compiler had inlined before, as calls: DebugScope and DebugInlinedAt of
//! NonSemantic.Shader.DebugInfo. Only for debug information.

use super::lowerer::Lowerer;
use super::module::ExtendedSet;
use super::words::Instruction;
use crate::error::CompileError;
use crate::ir::{Call, SourcePosition};
use spirv::Op;

/// Functions that are inlined into each other.
const DEEPEST: u32 = 256;
/// DebugFunction, DebugLexicalBlock, DebugLexicalBlockDiscriminator, DebugInlinedAt.
const FUNCTION: u32 = 20;
const BLOCK: u32 = 21;
const DISCRIMINATOR: u32 = 22;
const INLINED_AT: u32 = 25;

impl<'a> Lowerer<'a> {
    /// DebugScope: the instructions that follow are of this scope, inlined where its second operand says.
    pub fn debug_scope(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        if self.options.debug {
            let scope = i.id(5)?;
            let at = if i.len() > 6 { Some(i.id(6)?) } else { None };
            self.call = self.scope_call(scope, at, 0);
        }
        Ok(())
    }

    /// The call that a scope is, inlined at `at` into the OpFunctionCall that is being inlined. What says
    /// something else than it may is as if it were not there.
    fn scope_call(&mut self, scope: u32, at: Option<u32>, depth: u32) -> u32 {
        let Some(at) = at.filter(|_| depth < DEEPEST) else { return self.instance_call };
        let (Some(function), Some(i)) = (self.scope_function(scope), self.debug_instruction(at, INLINED_AT))
        else {
            return self.instance_call;
        };
        let key = (self.instance_call, at, function);
        if let Some(&known) = self.scopes.get(&key) {
            return known;
        }
        let (Ok(line), Ok(from)) = (i.id(5), i.id(6)) else { return self.instance_call };
        let caller = self.scope_call(from, i.id(7).ok().filter(|_| i.len() > 7), depth + 1);
        let line = self.constant_u32(line).ok();
        let file = self.scope_file(from);
        let source = file.zip(line).map(|(file, line)| SourcePosition { file, line, column: 0 });
        let site = self.sites.of_inlined(i.word, source, caller);
        let name = self.debug_instruction(function, FUNCTION).and_then(|i| i.id(5).ok());
        let name = name.and_then(|name| self.module.string(name)).unwrap_or_default();
        let call = self.inlined.len() as u32;
        let function = super::site::plain_name(&name);
        self.inlined
            .push((self.b.label(), Call { function, caller, site, before: true, parameters: Vec::new() }));
        self.scopes.insert(key, call);
        call
    }

    /// An instruction of the debug information by its id, if it is this one.
    fn debug_instruction(&self, id: u32, number: u32) -> Option<Instruction<'a>> {
        let word = self.module.defined.get(id as usize).copied().filter(|word| *word != 0)?;
        let i = self.module.stream.at(word).ok()?;
        let set = || self.module.sets.get(&i.id(3).ok()?);
        let found = i.op == Op::ExtInst && i.word(4) == Ok(number);
        (found && set() == Some(&ExtendedSet::ShaderDebugInfo)).then_some(i)
    }

    /// The DebugFunction that a scope is in.
    fn scope_function(&self, scope: u32) -> Option<u32> {
        let mut scope = scope;
        for _ in 0..DEEPEST {
            if self.debug_instruction(scope, FUNCTION).is_some() {
                return Some(scope);
            }
            let block = self.debug_instruction(scope, BLOCK).and_then(|i| i.id(8).ok());
            let parent = block.or_else(|| self.debug_instruction(scope, DISCRIMINATOR)?.id(7).ok());
            scope = parent?;
        }
        None
    }

    /// The DebugSource of a DebugFunction or DebugLexicalBlock.
    fn scope_file(&self, scope: u32) -> Option<u32> {
        let function = self.debug_instruction(scope, FUNCTION).and_then(|i| i.id(7).ok());
        let block = || {
            let of = |number| self.debug_instruction(scope, number).and_then(|i| i.id(5).ok());
            of(BLOCK).or_else(|| of(DISCRIMINATOR))
        };
        self.sites.debug_file(function.or_else(block)?)
    }
}
