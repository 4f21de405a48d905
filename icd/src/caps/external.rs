//! External memory: the handle types that there are, and what can be done with each.

use crate::error::{Error, Outcome};
use ash::vk;
use vk::ExternalMemoryHandleTypeFlags as Types;

/// Memory of the application itself.
pub const APPLICATION: Types =
    Types::from_raw(Types::HOST_ALLOCATION_EXT.as_raw() | Types::HOST_MAPPED_FOREIGN_MEMORY_EXT.as_raw());

/// What can be done with memory by a handle of this type; `None`: nothing.
pub fn memory_of(handle_type: Types) -> Option<vk::ExternalMemoryProperties> {
    use vk::ExternalMemoryFeatureFlags as Features;
    let (features, exports) = match handle_type {
        Types::OPAQUE_FD => (Features::EXPORTABLE | Features::IMPORTABLE, Types::OPAQUE_FD),
        Types::HOST_ALLOCATION_EXT | Types::HOST_MAPPED_FOREIGN_MEMORY_EXT => {
            (Features::IMPORTABLE, Types::empty())
        }
        _ => return None,
    };
    Some(vk::ExternalMemoryProperties {
        external_memory_features: features,
        export_from_imported_handle_types: exports,
        compatible_handle_types: handle_type,
    })
}

/// Checks the handle types of memory that a buffer or image is to be bound to.
///
/// # Errors
/// There is no memory of such a type.
pub fn check_types(what: &str, types: Types) -> Outcome<()> {
    let unknown = types & !(Types::OPAQUE_FD | APPLICATION);
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Error::not_implemented(&format!("{what} in external memory of type {unknown:?}")))
}
