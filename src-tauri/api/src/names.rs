//! Names in a sentence.

/// Maximum number of names in a sentence.
pub const MOST_NAMED: usize = 5;

/// The first names, and the number of the others: those of the list, and `n_more` that are not in it.
pub fn named(names: &[String], n_more: usize) -> String {
    let first = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMED) + n_more {
        0 => first,
        n => format!("{first} and {n} more"),
    }
}
