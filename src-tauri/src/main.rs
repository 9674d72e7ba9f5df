// Without an extra console window on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    deskbell::main(std::env::args_os().skip(1))
}
