//! Generated code against a plain reading of the intermediate representation, one invocation at a time.

mod kernels;
mod random;
mod reference;
mod structured;
mod support;
