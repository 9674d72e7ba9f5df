//! Editors that open a window of their own, as data, with their arguments for a line.

/// An editor, by the name of its program.
pub struct KnownEditor {
    pub program: &'static str,
    /// The arguments for a file and a line. Without a line the only argument is the file.
    pub at_line: &'static [&'static str],
}

const fn editor(program: &'static str, at_line: &'static [&'static str]) -> KnownEditor {
    KnownEditor { program, at_line }
}

const GO_TO: &[&str] = &["--goto", "{file}:{line}"];
const JOINED: &[&str] = &["{file}:{line}"];
const LINE_FIRST: &[&str] = &["--line", "{line}", "{file}"];
const PLUS: &[&str] = &["+{line}", "{file}"];

/// In the order in which they are tried: editors that a developer installed before those of a desktop.
pub const KNOWN: &[KnownEditor] = &[
    editor("code", GO_TO),
    editor("codium", GO_TO),
    editor("code-insiders", GO_TO),
    editor("cursor", GO_TO),
    editor("windsurf", GO_TO),
    editor("zed", JOINED),
    // The program of Linux packages, where another one is called zed.
    editor("zeditor", JOINED),
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
