//! The names of the needed packages in each Linux family.

/// A task that needs packages of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Compiling the app.
    Build,
    /// Running a window where there is no display.
    Display,
    /// The tests of the engine and of the user interface.
    Tests,
    /// A server of ssh for the tests. Its package starts a service that listens, so only CI installs it.
    Ssh,
    /// The login shells that the tests ask for their environments.
    Shells,
    /// Driving the real window: a browser driver, keys, notifications, accessibility.
    Window,
    /// libFuzzer, which is C++.
    Fuzz,
    /// Viewing the interface in a browser.
    Browser,
    /// Counting instructions.
    Count,
    /// A search to compare ours with.
    Search,
    /// A Python that can make virtual environments.
    Python,
    /// Assembling packages, and checking them.
    Package,
    /// Walking through the README: a new system, a clone in it, and keys that are pressed.
    Walk,
    /// Reading the recipe for Arch Linux. Older releases of Ubuntu do not have it, so only the tests need it.
    Recipe,
    /// Checking the code for Windows and macOS: a compiler with the source of its standard library, and a compiler for
    /// Windows resources.
    OtherSystems,
    /// Running a program for Windows, which a compiler for its libraries has to complete.
    Wine,
}

/// A family of Linux distributions with one package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Debian,
    Fedora,
    Arch,
}

impl Family {
    /// The family named by the text of `/etc/os-release`, if it is a known one.
    pub fn of(os_release: &str) -> Option<Self> {
        let value = |key: &str| {
            let line = os_release.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
        };
        // ID_LIKE names the relatives, closest first: Linux Mint is `ubuntu debian`.
        let names = format!("{} {}", value("ID"), value("ID_LIKE"));
        names.split_whitespace().find_map(|name| match name {
            "debian" | "ubuntu" => Some(Self::Debian),
            "fedora" | "rhel" => Some(Self::Fedora),
            "arch" => Some(Self::Arch),
            _ => None,
        })
    }

    /// The packages for the needs, without duplicates.
    pub fn packages(self, needs: &[Need]) -> Vec<&'static str> {
        let mut packages = Vec::new();
        for need in needs {
            for package in self.packages_for(*need) {
                if !packages.contains(package) {
                    packages.push(*package);
                }
            }
        }
        packages
    }

    #[rustfmt::skip]
    fn packages_for(self, need: Need) -> &'static [&'static str] {
        match (self, need) {
            (Self::Debian, Need::Build) => &["build-essential", "pkg-config", "libwebkit2gtk-4.1-dev"],
            (Self::Debian, Need::Display) => &["xvfb", "openbox", "dbus", "imagemagick", "fonts-dejavu-core"],
            (Self::Debian, Need::Tests) => &["git", "procps", "strace", "curl", "openssl", "python3"],
            (Self::Debian, Need::Ssh) => &["openssh-client", "openssh-server"],
            (Self::Debian, Need::Window) => &[
                "xvfb", "xauth", "openbox", "xdotool", "xclip", "wmctrl", "x11-utils", "webkit2gtk-driver", "dbus", "dunst",
                "xserver-xorg-core", "xserver-xorg-video-dummy", "x11-xserver-utils",
                "at-spi2-core", "imagemagick", "fonts-dejavu-core", "procps", "gjs", "mako-notifier",
                "sway", "grim", "wtype", "wl-clipboard", "mutter", "xfce4-panel", "xfce4-notifyd", "xdg-desktop-portal", "x11-xkb-utils",
                "ibus", "ibus-gtk3", "ibus-chewing", "fcitx5", "fcitx5-frontend-gtk3", "fcitx5-chewing",
            ],
            (Self::Debian, Need::Shells) => &["zsh", "fish", "tcsh"],
            (Self::Debian, Need::Fuzz) => &["build-essential"],
            (Self::Debian, Need::Browser) => &["chromium"],
            (Self::Debian, Need::Count) => &["valgrind"],
            (Self::Debian, Need::Search) => &["ripgrep"],
            (Self::Debian, Need::Python) => &["python3", "python3-venv"],
            (Self::Debian, Need::Package) => &[
                "dpkg-dev", "lintian", "rpm", "desktop-file-utils", "appstream", "man-db", "zsh", "fish", "debootstrap",
                "squashfs-tools",
            ],
            (Self::Debian, Need::Walk) => &["debootstrap", "debian-archive-keyring", "git", "xdotool"],
            (Self::Debian, Need::Recipe) => &["makepkg"],
            (Self::Debian, Need::OtherSystems) => {
                &["rustc-web", "cargo-web", "rust-web-src", "gcc-mingw-w64-x86-64"]
            }
            (Self::Debian, Need::Wine) => &["wine", "wine64"],

            (Self::Fedora, Need::Build) => &["gcc", "make", "pkgconf-pkg-config", "webkit2gtk4.1-devel"],
            (Self::Fedora, Need::Display) => {
                &["xorg-x11-server-Xvfb", "openbox", "dbus-daemon", "ImageMagick", "dejavu-sans-fonts"]
            }
            (Self::Fedora, Need::Tests) => &["git-core", "procps-ng", "strace", "curl", "openssl", "python3"],
            (Self::Fedora, Need::Ssh) => &["openssh-clients", "openssh-server"],
            (Self::Fedora, Need::Window) => &[
                "xorg-x11-server-Xvfb", "xorg-x11-xauth", "openbox", "xdotool", "xclip", "wmctrl", "xprop", "webkit2gtk-driver",
                "xorg-x11-server-Xorg", "xorg-x11-drv-dummy", "xrandr",
                "dbus-daemon", "dunst", "at-spi2-core", "ImageMagick", "dejavu-sans-fonts",
                "procps-ng", "gjs", "mako", "sway", "grim", "wtype", "wl-clipboard", "mutter", "xfce4-panel", "xfce4-notifyd", "xdg-desktop-portal", "setxkbmap",
                "ibus", "ibus-gtk3", "ibus-chewing", "fcitx5", "fcitx5-gtk3", "fcitx5-chewing",
            ],
            (Self::Fedora, Need::Shells) => &["zsh", "fish", "tcsh"],
            (Self::Fedora, Need::Fuzz) => &["gcc-c++"],
            (Self::Fedora, Need::Browser) => &["chromium"],
            (Self::Fedora, Need::Count) => &["valgrind"],
            (Self::Fedora, Need::Search) => &["ripgrep"],
            (Self::Fedora, Need::Python) => &["python3"],
            (Self::Fedora, Need::Package) => &["rpm-build", "desktop-file-utils", "appstream", "squashfs-tools"],
            (Self::Fedora, Need::Walk) => &["debootstrap", "git-core", "xdotool"],
            (Self::Fedora, Need::Recipe) => &[],
            (Self::Fedora, Need::OtherSystems) => &["rust", "cargo", "rust-src", "mingw64-gcc"],
            (Self::Fedora, Need::Wine) => &["wine-core"],

            (Self::Arch, Need::Build) => &["base-devel", "webkit2gtk-4.1"],
            (Self::Arch, Need::Display) => &["xorg-server-xvfb", "openbox", "dbus", "imagemagick", "ttf-dejavu"],
            (Self::Arch, Need::Tests) => &["git", "procps-ng", "strace", "curl", "openssl", "python"],
            (Self::Arch, Need::Ssh) => &["openssh"],
            (Self::Arch, Need::Window) => &[
                "xorg-server-xvfb", "xorg-xauth", "openbox", "xdotool", "xclip", "wmctrl", "xorg-xprop", "dbus", "dunst",
                "xorg-server", "xf86-video-dummy", "xorg-xrandr",
                "at-spi2-core", "imagemagick", "ttf-dejavu", "procps-ng", "gjs", "mako",
                "sway", "grim", "wtype", "wl-clipboard", "mutter", "xfce4-panel", "xfce4-notifyd", "xdg-desktop-portal", "xorg-setxkbmap",
                "ibus", "ibus-chewing", "fcitx5", "fcitx5-gtk", "fcitx5-chewing",
            ],
            (Self::Arch, Need::Shells) => &["zsh", "fish", "tcsh"],
            (Self::Arch, Need::Fuzz) => &["base-devel"],
            (Self::Arch, Need::Browser) => &["chromium"],
            (Self::Arch, Need::Count) => &["valgrind"],
            (Self::Arch, Need::Search) => &["ripgrep"],
            (Self::Arch, Need::Python) => &["python"],
            (Self::Arch, Need::Package) => &["rpm-tools", "desktop-file-utils", "appstream", "squashfs-tools"],
            (Self::Arch, Need::Walk) => &["debootstrap", "git", "xdotool"],
            (Self::Arch, Need::Recipe) => &[],
            (Self::Arch, Need::OtherSystems) => &["rust-src", "mingw-w64-gcc"],
            (Self::Arch, Need::Wine) => &["wine"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_by_id_and_by_relatives() {
        for (os_release, family) in [
            ("PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n", Some(Family::Debian)),
            ("NAME=Ubuntu\nID=ubuntu\nID_LIKE=debian", Some(Family::Debian)),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"", Some(Family::Debian)),
            ("ID=fedora\nVERSION_ID=43", Some(Family::Fedora)),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"", Some(Family::Fedora)),
            ("ID=endeavouros\nID_LIKE='arch'", Some(Family::Arch)),
            ("ID=nixos\nVERSION_ID=\"debian\"", None),
            ("", None),
        ] {
            assert_eq!(Family::of(os_release), family, "{os_release}");
        }
    }

    #[test]
    fn a_package_of_two_needs_is_named_once() {
        for family in [Family::Debian, Family::Fedora, Family::Arch] {
            let packages = family.packages(&[
                Need::Build,
                Need::Display,
                Need::Tests,
                Need::Ssh,
                Need::Window,
                Need::Browser,
                Need::Package,
            ]);
            let mut unique = packages.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(packages.len(), unique.len(), "{packages:?}");
        }
    }

    #[test]
    fn running_needs_nothing_that_only_tests_need() {
        let packages = Family::Debian.packages(&[Need::Build]);
        assert_eq!(packages, ["build-essential", "pkg-config", "libwebkit2gtk-4.1-dev"]);
    }
}
