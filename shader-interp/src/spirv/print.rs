//! NonSemantic.DebugPrintf.

use super::lowerer::{Def, Lowerer};
use super::types::Type;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{BuiltIn, Conversion, OpKind, Scalar};
use crate::printf::{Argument, FormatError, PrintFormat};
use spirv::StorageClass;

impl Lowerer<'_> {
    /// An instruction of the set. A format that does not fit its arguments prints nothing; the shader says
    /// so.
    pub fn debug_printf(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        self.defs[i.id(2)? as usize] = Def::Void;
        if i.word(4)? != 1 {
            return Ok(());
        }
        let site = self.site(i, 0);
        let text = self.module.string(i.id(5)?);
        let arguments = i.rest(6).iter().map(|&id| self.printed(id)).collect::<Result<Vec<_>, _>>()?;
        let format = text.as_ref().ok_or(FormatError::NoString);
        let format = match format.and_then(|text| PrintFormat::parse(text, &arguments)) {
            Ok(format) => format,
            Err(error) => {
                if self.malformed_prints.iter().all(|(other, ..)| *other != site) {
                    self.malformed_prints.push((site, text.unwrap_or_default(), error));
                }
                return Ok(());
            }
        };
        let who =
            [BuiltIn::WorkgroupId(2), BuiltIn::WorkgroupId(1), BuiltIn::WorkgroupId(0), BuiltIn::SubgroupId];
        let mut values = who.map(|which| self.b.built_in(which)).to_vec();
        for (&id, argument) in i.rest(6).iter().zip(arguments) {
            if argument == Argument::Other {
                continue;
            }
            for value in self.values(id)? {
                let is_bool = self.b.scalar(value) == Scalar::Bool;
                let to_int = |this: &mut Self| this.b.convert(Conversion::BoolToInt, Scalar::I32, value);
                values.push(if is_bool { to_int(self) } else { value });
            }
        }
        self.prints.push(format);
        self.b.op(OpKind::Print(self.prints.len() as u32 - 1), &[], &values, site);
        Ok(())
    }

    /// The type of an argument.
    fn printed(&self, id: u32) -> Result<Argument, CompileError> {
        let ty = self.module.result_type.get(id as usize).copied().unwrap_or(0);
        let scalar = |scalar: Scalar| if scalar == Scalar::Bool { Scalar::I32 } else { scalar };
        let info = self.types.get(ty)?;
        Ok(match (&info.kind, info.scalar) {
            (Type::Scalar { .. }, Some(of)) => Argument::Scalar(scalar(of)),
            (Type::Vector { count, .. }, Some(of)) => Argument::Vector(scalar(of), *count),
            (Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. }, _) => Argument::Pointer,
            _ => Argument::Other,
        })
    }
}
