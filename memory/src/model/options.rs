//! The choices that the specification leaves open, and the implementation features that change the model.

/// On what a link of an availability or visibility chain is conditioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ChainRule {
    /// The specification's text: every element must include the write's agent, reference and location (or its
    /// storage class).
    #[default]
    Specification,
    /// The Khronos Alloy model: consecutive elements must include one another.
    Alloy,
}

/// How a read-modify-write is ordered after a write and before another access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ReadModifyWrite {
    /// Only if both its halves are: as the target of a write it also needs visibility, as the source it also
    /// needs availability.
    #[default]
    ByHalves,
    /// One event to which each rule applies literally.
    Literal,
}

/// How to judge an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelOptions {
    /// `vulkanMemoryModelAvailabilityVisibilityChains`: chains may have more than one element.
    pub chains: bool,
    /// On what a link of a chain is conditioned.
    pub chain_rule: ChainRule,
    /// How a read-modify-write is ordered.
    pub read_modify_write: ReadModifyWrite,
}

impl Default for ModelOptions {
    fn default() -> ModelOptions {
        ModelOptions {
            chains: true,
            chain_rule: ChainRule::default(),
            read_modify_write: ReadModifyWrite::default(),
        }
    }
}
