//! Editors that open a window of their own, as data, with their arguments for a line.

/// An editor, by the name of its program.
pub struct KnownEditor {
    pub program: &'static str,
    /// The arguments for a file and a line. Without a line the only argument is the file.
    pub at_line: &'static [&'static str],
    /// How it opens a file of another machine, if it can.
    pub connects: Option<ConnectsBy>,
}

/// How an editor opens a file of another machine: it connects there itself, by ssh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectsBy {
    /// `--remote ssh-remote+HOST`, or an address of its own scheme.
    Remote,
    /// `ssh://HOST/PATH`.
    Address,
}

/// The arguments of the editors with `ssh-remote`.
pub struct RemoteArguments {
    pub at_line: &'static [&'static str],
    pub file: &'static [&'static str],
}

/// Visual Studio Code and its descendants. With `--goto` a path without an extension is a file too.
pub const CODE: RemoteArguments = RemoteArguments {
    at_line: &["--remote", "ssh-remote+{host}", "--goto", "{file}:{line}"],
    file: &["--file-uri", "vscode-remote://ssh-remote+{authority}{path}"],
};

/// Zed takes no line in such an address.
pub const ZED: &[&str] = &["ssh://{host}{path}"];

const fn editor(program: &'static str, at_line: &'static [&'static str]) -> KnownEditor {
    KnownEditor { program, at_line, connects: None }
}

const fn code(program: &'static str) -> KnownEditor {
    KnownEditor { program, at_line: GO_TO, connects: Some(ConnectsBy::Remote) }
}

const fn zed(program: &'static str) -> KnownEditor {
    KnownEditor { program, at_line: JOINED, connects: Some(ConnectsBy::Address) }
}

const GO_TO: &[&str] = &["--goto", "{file}:{line}"];
const JOINED: &[&str] = &["{file}:{line}"];
const LINE_FIRST: &[&str] = &["--line", "{line}", "{file}"];
const PLUS: &[&str] = &["+{line}", "{file}"];

/// In the order in which they are tried: editors that a developer installed before those of a desktop.
pub const KNOWN: &[KnownEditor] = &[
    code("code"),
    code("codium"),
    code("code-insiders"),
    code("cursor"),
    code("windsurf"),
    zed("zed"),
    // The program of Linux packages, where another one is called zed.
    zed("zeditor"),
    editor("subl", JOINED),
    editor("idea", LINE_FIRST),
    editor("rustrover", LINE_FIRST),
    editor("pycharm", LINE_FIRST),
    editor("webstorm", LINE_FIRST),
    editor("clion", LINE_FIRST),
    editor("goland", LINE_FIRST),
    editor("phpstorm", LINE_FIRST),
    editor("rubymine", LINE_FIRST),
    editor("kate", LINE_FIRST),
    editor("geany", LINE_FIRST),
    editor("gedit", PLUS),
    editor("xed", PLUS),
    editor("pluma", PLUS),
    editor("mousepad", LINE_FIRST),
    editor("mate", LINE_FIRST),
    editor("bbedit", PLUS),
];
