//! The profiles of packages: Cargo's release profile for users, its debug profile for the tests.

use std::path::PathBuf;

use crate::project;

/// The profile of the packaged programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What users install, as small as it can be.
    Release,
    /// The debug build that all tests share. It is three times as large (84 MB), and compressed only lightly: xz with its
    /// usual options takes over a minute for it.
    Debug,
}

impl Profile {
    /// The folder with the packages. Packages of the tests have their own, so that they are never released by mistake.
    pub fn folder(self) -> PathBuf {
        let name = match self {
            Self::Release => "release",
            Self::Debug => "debug",
        };
        project::target().join(name).join("bundle")
    }

    /// The folder with the packaged programs and their debug symbols.
    pub fn symbols(self) -> PathBuf {
        self.folder().join("symbols")
    }

    /// The options of xz for the .deb.
    pub fn xz(self) -> &'static str {
        match self {
            Self::Release => "--lzma2=preset=9e,lc=4",
            Self::Debug => "--lzma2=preset=0",
        }
    }

    /// The payload of the .rpm, as rpm names a compression.
    pub fn rpm_payload(self) -> &'static str {
        match self {
            Self::Release => "w19.zstdio",
            Self::Debug => "w1.zstdio",
        }
    }

    /// The compression of the AppImage. The runtime cannot read newer formats.
    pub fn squashfs(self) -> &'static [&'static str] {
        match self {
            Self::Release => &["-comp", "xz", "-Xbcj", "x86", "-b", "1M"],
            Self::Debug => &["-comp", "gzip", "-Xcompression-level", "1"],
        }
    }
}
