//! Links the driver so that it is never unloaded: its threads, and the process-exit hook of the reports, must
//! not outlive its code.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
