//! The `pellucid` command; see the library of this package.

fn main() -> std::process::ExitCode {
    pellucid::main()
}
