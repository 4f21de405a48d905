//! Names of extended instructions, by the set that they belong to.

use rspirv::grammar::{
    ExtendedInstruction, GlslStd450InstructionTable, LogicalOperand, OpenCLStd100InstructionTable,
};

/// NonSemantic.Shader.DebugInfo.100, numbered from 0; the last ones from 101.
const DEBUG_INFO: [&str; 36] = [
    "DebugInfoNone",
    "DebugCompilationUnit",
    "DebugTypeBasic",
    "DebugTypePointer",
    "DebugTypeQualifier",
    "DebugTypeArray",
    "DebugTypeVector",
    "DebugTypedef",
    "DebugTypeFunction",
    "DebugTypeEnum",
    "DebugTypeComposite",
    "DebugTypeMember",
    "DebugTypeInheritance",
    "DebugTypePtrToMember",
    "DebugTypeTemplate",
    "DebugTypeTemplateParameter",
    "DebugTypeTemplateTemplateParameter",
    "DebugTypeTemplateParameterPack",
    "DebugGlobalVariable",
    "DebugFunctionDeclaration",
    "DebugFunction",
    "DebugLexicalBlock",
    "DebugLexicalBlockDiscriminator",
    "DebugScope",
    "DebugNoScope",
    "DebugInlinedAt",
    "DebugLocalVariable",
    "DebugInlinedVariable",
    "DebugDeclare",
    "DebugValue",
    "DebugOperation",
    "DebugExpression",
    "DebugMacroDef",
    "DebugMacroUndef",
    "DebugImportedEntity",
    "DebugSource",
];

const DEBUG_INFO_101: [&str; 8] = [
    "DebugFunctionDefinition",
    "DebugSourceContinued",
    "DebugLine",
    "DebugNoLine",
    "DebugBuildIdentifier",
    "DebugStoragePath",
    "DebugEntryPoint",
    "DebugTypeMatrix",
];

/// NonSemantic.ClspvReflection.N, numbered from 1; each revision added to the one before it.
const CLSPV_REFLECTION: [&str; 42] = [
    "Kernel",
    "ArgumentInfo",
    "ArgumentStorageBuffer",
    "ArgumentUniform",
    "ArgumentPodStorageBuffer",
    "ArgumentPodUniform",
    "ArgumentPodPushConstant",
    "ArgumentSampledImage",
    "ArgumentStorageImage",
    "ArgumentSampler",
    "ArgumentWorkgroup",
    "SpecConstantWorkgroupSize",
    "SpecConstantGlobalOffset",
    "SpecConstantWorkDim",
    "PushConstantGlobalOffset",
    "PushConstantEnqueuedLocalSize",
    "PushConstantGlobalSize",
    "PushConstantRegionOffset",
    "PushConstantNumWorkgroups",
    "PushConstantRegionGroupOffset",
    "ConstantDataStorageBuffer",
    "ConstantDataUniform",
    "LiteralSampler",
    "PropertyRequiredWorkgroupSize",
    "SpecConstantSubgroupMaxSize",
    "ArgumentPointerPushConstant",
    "ArgumentPointerUniform",
    "ProgramScopeVariablesStorageBuffer",
    "ProgramScopeVariablePointerRelocation",
    "ImageArgumentInfoChannelOrderPushConstant",
    "ImageArgumentInfoChannelDataTypePushConstant",
    "ImageArgumentInfoChannelOrderUniform",
    "ImageArgumentInfoChannelDataTypeUniform",
    "ArgumentStorageTexelBuffer",
    "ArgumentUniformTexelBuffer",
    "ConstantDataPointerPushConstant",
    "ProgramScopeVariablePointerPushConstant",
    "PrintfInfo",
    "PrintfBufferStorageBuffer",
    "PrintfBufferPointerPushConstant",
    "NormalizedSamplerMaskPushConstant",
    "WorkgroupVariableSize",
];

/// NonSemantic.VkspReflection.N, numbered from 1.
const VKSP_REFLECTION: [&str; 8] = [
    "Configuration",
    "StartCounter",
    "StopCounter",
    "PushConstants",
    "SpecializationMapEntry",
    "DescriptorSetBuffer",
    "DescriptorSetImage",
    "DescriptorSetSampler",
];

/// The number of an instruction and its operands, where they are not all ids. A number stands for itself in
/// any set.
pub fn instruction(set: &str, name: &str) -> Option<(u32, Option<&'static [LogicalOperand]>)> {
    let number = name.parse::<u32>().ok();
    let known = |i: &'static ExtendedInstruction<'static>| (i.opcode, Some(i.operands));
    let from_1 = |names: &[&str]| names.iter().position(|known| *known == name).map(|k| (k as u32 + 1, None));
    let wanted = |i: &&ExtendedInstruction<'_>| i.opname == name || Some(i.opcode) == number;
    let found = match set {
        "GLSL.std.450" => GlslStd450InstructionTable::iter().find(wanted).map(known),
        "OpenCL.std" => OpenCLStd100InstructionTable::iter().find(wanted).map(known),
        "NonSemantic.DebugPrintf" if name == "DebugPrintf" => Some((1, None)),
        "NonSemantic.Shader.DebugInfo.100" => {
            let at = |names: &[&str]| names.iter().position(|known| *known == name).map(|k| k as u32);
            at(&DEBUG_INFO).or_else(|| at(&DEBUG_INFO_101).map(|k| k + 101)).map(|number| (number, None))
        }
        set if set.starts_with("NonSemantic.ClspvReflection.") => from_1(&CLSPV_REFLECTION),
        set if set.starts_with("NonSemantic.VkspReflection.") => from_1(&VKSP_REFLECTION),
        _ => None,
    };
    found.or_else(|| number.map(|number| (number, None)))
}
