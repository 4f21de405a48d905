//! Generated code against a plain reading of the intermediate representation, one invocation at a time.

mod explored;
mod kernels;
mod nesting;
mod random;
mod reference;
mod small_programs;
mod spinning;
mod structured;
mod support;
mod unrolled;
