//! The processors that the program without windows is built for, and what building and running it for another one takes.

use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::command::{command, find, read};
use crate::toolchain::Toolchain;

/// A processor of Linux that the program can be built for elsewhere.
struct Known {
    /// As `uname -m` says it.
    processor: &'static str,
    /// As Debian names it.
    debian: &'static str,
    /// As the header of a program for it says it.
    machine: u8,
}

const KNOWN: [Known; 2] = [
    Known { processor: "aarch64", debian: "arm64", machine: 183 },
    Known { processor: "x86_64", debian: "amd64", machine: 62 },
];

/// A system that the program is built for: Linux, and this processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    processor: String,
}

impl Target {
    /// The processor of this machine.
    pub fn own() -> Self {
        Self { processor: ARCH.to_owned() }
    }

    /// The target that Rust names so. The own one can always be built for, the others if they are known.
    pub fn named(triple: &str) -> Outcome<Self> {
        let known = KNOWN.iter().map(|known| Self { processor: known.processor.to_owned() });
        let mut all: Vec<Self> = known.collect();
        if !all.contains(&Self::own()) {
            all.push(Self::own());
        }
        let names = all.iter().map(Self::triple).collect::<Vec<_>>().join(", ");
        all.into_iter().find(|target| target.triple() == triple).ok_or_else(|| {
            format!("the program for other machines is not built for {triple}, but for: {names}")
        })
    }

    pub fn is_own(&self) -> bool {
        self.processor == ARCH
    }

    /// The processor, as `uname -m` says it.
    pub fn processor(&self) -> &str {
        &self.processor
    }

    /// The name of the target for Rust.
    pub fn triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.processor)
    }

    /// The name of the system as files have it: `linux-aarch64`.
    pub fn name(&self) -> String {
        format!("linux-{}", self.processor)
    }

    /// The place of the program for machines of this kind, next to the folder of programs.
    pub fn far_program(&self) -> String {
        format!("lib/deskbell/relay/{}", self.name())
    }

    /// A tool of the compiler: of this machine, or for another processor.
    pub fn tool(&self, name: &str) -> String {
        if self.is_own() { name.to_owned() } else { format!("{}-linux-gnu-{name}", self.processor) }
    }

    /// The variable by which cargo is given a linker.
    pub fn linker_variable(&self) -> String {
        format!("CARGO_TARGET_{}_LINKER", self.triple().to_uppercase().replace('-', "_"))
    }

    /// A toolchain that builds for it. Fails if a part is missing, with the packages that have it.
    pub fn toolchain(&self) -> Outcome<Toolchain> {
        let toolchain = Toolchain::find(|toolchain| self.is_own() || has_library(toolchain, &self.triple()));
        let linker = self.tool("gcc");
        // A file that gcc does not have is printed without a folder.
        let has_c_library = || {
            let library = read(command(&linker).arg("-print-file-name=libc.a"));
            library.is_ok_and(|library| Path::new(&library).is_absolute())
        };
        let has_linker = self.is_own() || std::env::var_os(self.linker_variable()).is_some();
        let has_linker = has_linker || (find(&linker).is_some() && has_c_library());
        match toolchain {
            Some(toolchain) if has_linker => Ok(toolchain),
            found => Err(self.missing(found.is_some(), has_linker)),
        }
    }

    /// Says which part is missing, and where it comes from.
    fn missing(&self, has_library: bool, has_linker: bool) -> String {
        let triple = self.triple();
        let mut what = Vec::new();
        if !has_library {
            what.push(format!("a Rust compiler with the standard library of {triple}"));
        }
        if !has_linker {
            what.push(format!("{} with a static C library", self.tool("gcc")));
        }
        let (debian, compiler) = (self.debian(), self.processor.replace('_', "-"));
        format!(
            "{} is missing. On Debian 12, as root:\n\n    dpkg --add-architecture {debian} && apt-get update\n    \
             apt-get install --no-install-recommends cargo-web rustc-web libstd-rust-web-dev:{debian} \
             gcc-{compiler}-linux-gnu libc6-dev-{debian}-cross\n\n\
             With rustup, `rustup target add {triple}` has the library. RUSTC names another compiler, and \
             {} another linker.",
            what.join(", and "),
            self.linker_variable(),
        )
    }

    fn debian(&self) -> &str {
        self.known().map_or(self.processor.as_str(), |known| known.debian)
    }

    fn known(&self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.processor == self.processor)
    }

    /// The program that runs its programs here; `None` where nothing does.
    pub fn emulator(&self) -> Option<PathBuf> {
        ["-static", ""].iter().find_map(|end| find(&format!("qemu-{}{end}", self.processor)))
    }

    /// The rule by which Linux gives its programs to the emulator, which is opened at once: as binfmt_misc reads it.
    pub fn rule(&self, emulator: &Path) -> Option<String> {
        // Class, order of bytes, version; a program with or without a fixed place, for the processor.
        let machine = self.known()?.machine;
        let magic = [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine, 0];
        let mask = [
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xfe, 0xff, 0xff, 0xff,
        ];
        let shown = |bytes: [u8; 20]| bytes.map(|byte| format!("\\x{byte:02x}")).concat();
        Some(format!(
            ":deskbell-{}:M::{}:{}:{}:F",
            self.processor,
            shown(magic),
            shown(mask),
            emulator.display()
        ))
    }
}

/// Whether the compiler has the standard library of a target.
fn has_library(toolchain: &Toolchain, triple: &str) -> bool {
    let Ok(folder) = toolchain.ask(&["--print", "target-libdir", "--target", triple]) else { return false };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .any(|name| name.starts_with("libstd-") && name.ends_with(".rlib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aarch64() -> Target {
        Target::named("aarch64-unknown-linux-gnu").unwrap()
    }

    #[test]
    fn files_are_named_for_the_processor() {
        let target = aarch64();
        assert_eq!(target.name(), "linux-aarch64");
        assert_eq!(target.far_program(), "lib/deskbell/relay/linux-aarch64");
        assert_eq!(target.linker_variable(), "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
        let own = Target::own();
        assert_eq!(Target::named(&own.triple()), Ok(own.clone()));
        assert_eq!((own.is_own(), own.tool("objcopy").as_str()), (true, "objcopy"));
    }

    #[test]
    fn a_target_that_cannot_be_built_for_is_refused() {
        for triple in ["aarch64-apple-darwin", "aarch64-unknown-linux-musl", "aarch64", ""] {
            let refused = Target::named(triple).unwrap_err();
            assert!(refused.contains("aarch64-unknown-linux-gnu, x86_64-unknown-linux-gnu"), "{refused}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        let target = aarch64();
        let both = target.missing(false, false);
        for part in [
            "a Rust compiler with the standard library of aarch64-unknown-linux-gnu, and ",
            "dpkg --add-architecture arm64 && apt-get update\n",
            " cargo-web rustc-web libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross\n",
            "rustup target add aarch64-unknown-linux-gnu",
        ] {
            assert!(both.contains(part), "{part} in {both}");
        }
        assert!(!target.missing(true, false).contains("Rust compiler with"));
        assert!(!target.missing(false, true).contains("static C library"));
        let other = Target::named("x86_64-unknown-linux-gnu").unwrap().missing(false, false);
        assert!(other.contains(":amd64 gcc-x86-64-linux-gnu libc6-dev-amd64-cross\n"), "{other}");
    }

    #[test]
    fn a_compiler_without_the_library_is_not_taken() {
        let own = Toolchain::find(|_| true).unwrap();
        assert!(has_library(&own, &Target::own().triple()));
        assert!(!has_library(&own, "aarch64-unknown-none"));
        assert!(!has_library(&own, "no-target"));
    }

    #[test]
    fn the_rule_of_the_emulator_has_the_processor() {
        let rule = aarch64().rule(Path::new("/usr/bin/qemu-aarch64-static")).unwrap();
        assert!(rule.starts_with(r":deskbell-aarch64:M::\x7f\x45\x4c\x46\x02\x01\x01\x00"), "{rule}");
        assert!(rule.contains(r"\x02\x00\xb7\x00:\xff"), "{rule}");
        assert!(rule.ends_with(":/usr/bin/qemu-aarch64-static:F"), "{rule}");
        assert!(rule.len() < 1920, "the kernel reads no more");
    }
}
