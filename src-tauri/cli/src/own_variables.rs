//! Variables of the environment that a program of the user must not inherit.

/// Returns whether a variable says that Deskbell, its AppImage or an agent started the program.
pub fn is_ours(variable: &str) -> bool {
    variable.starts_with("DESKBELL_")
        || variable.starts_with("CLAUDECODE")
        || ["APPIMAGE", "APPDIR", "ARGV0", "OWD"].contains(&variable)
}
