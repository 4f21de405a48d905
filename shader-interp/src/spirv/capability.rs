//! What a module may declare. A capability here means that its instructions and types are lowered, or, for
//! those of other shader stages that a module with several entry points may carry, that they are refused by
//! name where they are used.

use crate::CompileError;
use spirv::Capability;

/// LongVectorEXT.
pub(crate) const LONG_VECTOR: u32 = 5425;
/// UntypedPointersKHR.
pub(crate) const UNTYPED_POINTERS: u32 = 4473;
/// Capabilities that the enumeration of the `spirv` crate does not name yet.
const NEWER: &[u32] = &[
    6029, /* FloatControls2 */
    LONG_VECTOR,
    6024, /* ReplicatedCompositesEXT */
    UNTYPED_POINTERS,
    5116, /* BFloat16TypeKHR */
    5117, /* BFloat16DotProductKHR */
    5118, /* BFloat16CooperativeMatrixKHR */
    4212, /* Float8EXT */
    4213, /* Float8CooperativeMatrixEXT */
];

/// Accepts or refuses OpCapability.
pub(crate) fn check_capability(number: u32) -> Result<(), CompileError> {
    use Capability::*;
    if NEWER.contains(&number) {
        return Ok(());
    }
    let capability = Capability::from_u32(number)
        .ok_or_else(|| CompileError::NotImplemented(format!("capability {number}")))?;
    match capability {
        Matrix | Shader | Float16 | Float64 | Int64 | Int64Atomics | Int16 | Int8 | ImageQuery
        | StorageImageExtendedFormats | StorageImageReadWithoutFormat | StorageImageWriteWithoutFormat
        | StorageImageMultisample | ImageMSArray | Sampled1D | Image1D | SampledCubeArray | ImageCubeArray
        | SampledBuffer | ImageBuffer | ImageGatherExtended | MinLod | SparseResidency | Int64ImageEXT
        | UniformBufferArrayDynamicIndexing | SampledImageArrayDynamicIndexing
        | StorageBufferArrayDynamicIndexing | StorageImageArrayDynamicIndexing | GroupNonUniform
        | GroupNonUniformVote | GroupNonUniformArithmetic | GroupNonUniformBallot | GroupNonUniformShuffle
        | GroupNonUniformShuffleRelative | GroupNonUniformClustered | GroupNonUniformQuad
        | GroupNonUniformRotateKHR | GroupNonUniformPartitionedNV | SubgroupBallotKHR | SubgroupVoteKHR | StorageBuffer16BitAccess
        | UniformAndStorageBuffer16BitAccess | StoragePushConstant16 | StorageInputOutput16
        | StorageBuffer8BitAccess | UniformAndStorageBuffer8BitAccess | StoragePushConstant8
        | VariablePointersStorageBuffer | VariablePointers | WorkgroupMemoryExplicitLayoutKHR
        | WorkgroupMemoryExplicitLayout8BitAccessKHR | WorkgroupMemoryExplicitLayout16BitAccessKHR
        | DenormPreserve | DenormFlushToZero | SignedZeroInfNanPreserve | RoundingModeRTE | RoundingModeRTZ
        | ShaderClockKHR | ShaderNonUniform | RuntimeDescriptorArray | InputAttachmentArrayDynamicIndexing
        | UniformTexelBufferArrayDynamicIndexing | StorageTexelBufferArrayDynamicIndexing
        | UniformBufferArrayNonUniformIndexing | SampledImageArrayNonUniformIndexing
        | StorageBufferArrayNonUniformIndexing | StorageImageArrayNonUniformIndexing
        | InputAttachmentArrayNonUniformIndexing | UniformTexelBufferArrayNonUniformIndexing
        | StorageTexelBufferArrayNonUniformIndexing | VulkanMemoryModel | VulkanMemoryModelDeviceScope
        | PhysicalStorageBufferAddresses | DeviceGroup | AtomicFloat16AddEXT | AtomicFloat32AddEXT
        | AtomicFloat64AddEXT | AtomicFloat16MinMaxEXT | AtomicFloat32MinMaxEXT | AtomicFloat64MinMaxEXT
        | ExpectAssumeKHR | CooperativeMatrixKHR | DotProductInputAll | DotProductInput4x8Bit | DotProductInput4x8BitPacked
        | DotProduct | BitInstructions | IntegerFunctions2INTEL | DemoteToHelperInvocation
        | ComputeDerivativeGroupQuadsNV | ComputeDerivativeGroupLinearNV | DerivativeControl
        // Of other stages:
        | InterpolationFunction | SampleRateShading | InputAttachment | DrawParameters
        | MultiView => Ok(()),
        other => Err(CompileError::NotImplemented(format!("capability {other:?}"))),
    }
}

/// Accepts or refuses OpExtension.
pub(crate) fn check_extension(name: &str) -> Result<(), CompileError> {
    const KNOWN: &[&str] = &[
        "SPV_KHR_16bit_storage",
        "SPV_KHR_8bit_storage",
        "SPV_KHR_bfloat16",
        "SPV_KHR_bit_instructions",
        "SPV_KHR_compute_shader_derivatives",
        "SPV_KHR_cooperative_matrix",
        "SPV_KHR_device_group",
        "SPV_KHR_expect_assume",
        "SPV_KHR_float_controls",
        "SPV_KHR_float_controls2",
        "SPV_KHR_integer_dot_product",
        "SPV_KHR_maximal_reconvergence",
        "SPV_KHR_multiview",
        "SPV_KHR_no_integer_wrap_decoration",
        "SPV_KHR_non_semantic_info",
        "SPV_KHR_physical_storage_buffer",
        "SPV_KHR_relaxed_extended_instruction",
        "SPV_KHR_shader_ballot",
        "SPV_KHR_shader_clock",
        "SPV_KHR_shader_draw_parameters",
        "SPV_KHR_storage_buffer_storage_class",
        "SPV_KHR_subgroup_rotate",
        "SPV_KHR_subgroup_uniform_control_flow",
        "SPV_KHR_subgroup_vote",
        "SPV_KHR_terminate_invocation",
        "SPV_KHR_untyped_pointers",
        "SPV_KHR_variable_pointers",
        "SPV_KHR_vulkan_memory_model",
        "SPV_KHR_workgroup_memory_explicit_layout",
        "SPV_EXT_demote_to_helper_invocation",
        "SPV_EXT_descriptor_indexing",
        "SPV_EXT_float8",
        "SPV_EXT_long_vector",
        "SPV_EXT_physical_storage_buffer",
        "SPV_EXT_replicated_composites",
        "SPV_EXT_shader_atomic_float16_add",
        "SPV_EXT_shader_atomic_float_add",
        "SPV_EXT_shader_atomic_float_min_max",
        "SPV_EXT_shader_image_int64",
        "SPV_GOOGLE_decorate_string",
        "SPV_GOOGLE_hlsl_functionality1",
        "SPV_GOOGLE_user_type",
        "SPV_INTEL_shader_integer_functions2",
        "SPV_NV_compute_shader_derivatives",
        "SPV_NV_shader_subgroup_partitioned",
    ];
    if KNOWN.contains(&name) {
        Ok(())
    } else {
        Err(CompileError::NotImplemented(format!("extension {name}")))
    }
}
