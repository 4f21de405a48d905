//! Products of cooperative matrices that are offered, as VkCooperativeMatrixPropertiesKHR.

use super::later::{BFLOAT16, E4M3, E5M2};
use ash::vk;
use pellucid_shader_interp::ir::{ComponentType, offered_products};
use vk::ComponentTypeKHR as C;

fn component(component: ComponentType) -> C {
    match component {
        ComponentType::Float(16) => C::FLOAT16,
        ComponentType::Float(32) => C::FLOAT32,
        ComponentType::Float(_) => C::FLOAT64,
        ComponentType::Bfloat16 => BFLOAT16,
        ComponentType::FloatE4m3 => E4M3,
        ComponentType::FloatE5m2 => E5M2,
        ComponentType::Sint(8) => C::SINT8,
        ComponentType::Sint(16) => C::SINT16,
        ComponentType::Sint(_) => C::SINT32,
        ComponentType::Uint(8) => C::UINT8,
        ComponentType::Uint(16) => C::UINT16,
        ComponentType::Uint(_) => C::UINT32,
    }
}

/// All products, in the order of the table.
pub fn products() -> Vec<vk::CooperativeMatrixPropertiesKHR<'static>> {
    let properties = offered_products().map(|product| {
        let [m, n, k] = product.size;
        vk::CooperativeMatrixPropertiesKHR::default()
            .m_size(m)
            .n_size(n)
            .k_size(k)
            .a_type(component(product.a))
            .b_type(component(product.b))
            .c_type(component(product.sum))
            .result_type(component(product.sum))
            .saturating_accumulation(product.saturating)
            .scope(vk::ScopeKHR::SUBGROUP)
    });
    properties.collect()
}
