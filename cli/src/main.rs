//! The `pellucid` command; see the library of this package.

// The driver, in a section that is not loaded with the executable and that `driver::library` finds by name.
#[cfg(carries_driver)]
std::arch::global_asm!(
    ".pushsection .pellucid_driver, \"\", @progbits",
    concat!(".incbin \"", env!("DRIVER_TO_CARRY"), "\""),
    ".popsection",
    options(raw)
);

fn main() -> std::process::ExitCode {
    pellucid::main()
}
