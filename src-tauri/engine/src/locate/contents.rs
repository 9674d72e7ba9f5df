//! Check of a program's first bytes: can this system run the file?
//!
//! If the system cannot execute a file, some starters pass it to `/bin/sh` and others refuse it; the resulting error
//! does not help the user. This check reports the problem before anything is started.

use crate::disk::{ReadError, read_start};
use std::path::Path;

/// Minimum length of an ELF header in bytes.
const ELF_HEADER: usize = 52;

/// The reason why a file with this content cannot be run here; `None` if it can, or if that is unknown.
pub fn problem(program: &Path) -> Option<String> {
    match read_start(program, 512) {
        // A program can be executable without being readable.
        Err(ReadError::Io(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => None,
        Err(error) => Some(error.to_string()),
        Ok(start) => problem_of(&start, |interpreter| interpreter.exists()),
    }
}

fn problem_of(start: &[u8], is_there: impl Fn(&Path) -> bool) -> Option<String> {
    let words = match kind(start) {
        Kind::Script => return problem_of_script(start, is_there),
        Kind::Elf if cfg!(any(windows, target_os = "macos")) => "is a program for Linux",
        Kind::MachO if !cfg!(target_os = "macos") => "is a program for macOS",
        Kind::Windows if !cfg!(windows) => "is a program for Windows",
        Kind::Elf => return problem_of_elf(start).map(str::to_owned),
        Kind::MachO | Kind::Windows => return None,
        Kind::Other if cfg!(windows) => "is not a program",
        Kind::Other => "is not a program, nor a script whose first line says what runs it",
    };
    Some(words.to_owned())
}

enum Kind {
    Script,
    Elf,
    MachO,
    Windows,
    Other,
}

fn kind(start: &[u8]) -> Kind {
    const MACH_O: [[u8; 4]; 4] = [
        [0xcf, 0xfa, 0xed, 0xfe],
        [0xce, 0xfa, 0xed, 0xfe],
        [0xca, 0xfe, 0xba, 0xbe],
        [0xca, 0xfe, 0xba, 0xbf],
    ];
    match start {
        [b'#', b'!', ..] => Kind::Script,
        [0x7f, b'E', b'L', b'F', ..] => Kind::Elf,
        [b'M', b'Z', ..] => Kind::Windows,
        [a, b, c, d, ..] if MACH_O.contains(&[*a, *b, *c, *d]) => Kind::MachO,
        _ => Kind::Other,
    }
}

fn problem_of_script(start: &[u8], is_there: impl Fn(&Path) -> bool) -> Option<String> {
    if cfg!(windows) {
        return Some("is a script, which Windows cannot run".to_owned());
    }
    let line = start[2..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let interpreter = line.split_whitespace().next().unwrap_or_default();
    if interpreter.is_empty() {
        return Some("is a script whose first line does not say what runs it".to_owned());
    }
    (!is_there(Path::new(interpreter))).then(|| format!("is a script for {interpreter}, which is not there"))
}

fn problem_of_elf(start: &[u8]) -> Option<&'static str> {
    if start.len() < ELF_HEADER {
        return Some("is cut short");
    }
    let machine = match start[5] {
        1 => u16::from_le_bytes([start[18], start[19]]),
        2 => u16::from_be_bytes([start[18], start[19]]),
        _ => return Some("is a damaged program"),
    };
    // The machine types that other processors can run are not known here.
    let runs: &[u16] = match std::env::consts::ARCH {
        "x86_64" => &[62, 3],
        "aarch64" => &[183, 40],
        _ => return None,
    };
    (!runs.contains(&machine)).then_some("is a program for another kind of processor")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(start: &[u8]) -> Option<String> {
        problem_of(start, |interpreter| interpreter == Path::new("/bin/sh"))
    }

    /// An ELF header with this byte order and machine type.
    fn elf(order: u8, machine: u16) -> Vec<u8> {
        let mut header = vec![0; 64];
        header[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, order]);
        let machine = if order == 1 { machine.to_le_bytes() } else { machine.to_be_bytes() };
        header[18..20].copy_from_slice(&machine);
        header
    }

    #[cfg(unix)]
    #[test]
    fn a_script_names_what_runs_it() {
        assert_eq!(said(b"#!/bin/sh\nexit"), None);
        assert_eq!(said(b"#! /bin/sh -e\r\n"), None);
        assert!(said(b"#!\n").unwrap().contains("does not say"));
        assert!(said(b"#!/opt/node\n").unwrap().contains("/opt/node, which is not there"));
        assert!(said(b"exec node cli.js\n").unwrap().contains("nor a script"));
        assert!(said(b"\xff\xfe\0\0").unwrap().contains("not a program"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_is_one_for_this_computer() {
        let (ours, foreign) = match std::env::consts::ARCH {
            "x86_64" => (62, 183),
            "aarch64" => (183, 62),
            _ => return,
        };
        assert_eq!(said(&elf(1, ours)), None);
        assert!(said(&elf(1, foreign)).unwrap().contains("processor"));
        assert_eq!(said(&elf(2, ours)), None, "the number is read in the file's own order");
        assert!(said(&elf(7, ours)).unwrap().contains("damaged"));
        assert!(said(&elf(1, ours)[..20]).unwrap().contains("cut short"));
        assert!(said(b"MZ\x90\0").unwrap().contains("Windows"));
        assert!(said(&[0xcf, 0xfa, 0xed, 0xfe, 7]).unwrap().contains("macOS"));
    }

    #[cfg(unix)]
    #[test]
    fn what_runs_this_test_can_be_run() {
        assert_eq!(problem(&std::env::current_exe().unwrap()), None);
        assert_eq!(problem(Path::new("/bin/sh")), None);
    }
}
