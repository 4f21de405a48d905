//! Tells the executable where cargo puts the driver, which it carries (`src/driver.rs`).
//!
//! The driver is a dependency of this package, so it is built before the executable, in `deps` of the
//! profile's folder; this script runs in `build/PACKAGE-HASH/out` of the same folder. Should cargo lay its
//! folders out otherwise, the executable carries nothing.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(carries_driver)");
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let Some(build) = out.ancestors().nth(2).filter(|folder| folder.ends_with("build")) else { return };
    let driver = build.with_file_name("deps").join("libvulkan_pellucid.so");
    // The path becomes a string of the assembler.
    if let Some(path) = driver.to_str().filter(|path| linux && !path.contains(['"', '\\', '\n'])) {
        println!("cargo::rustc-cfg=carries_driver");
        println!("cargo::rustc-env=DRIVER_TO_CARRY={path}");
    }
}
