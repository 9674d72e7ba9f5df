//! Earlier runs, as their files name them.

use super::RunKind;

/// Earlier runs that did not end normally.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Tokens of the runs that are over.
    pub over: Vec<(String, RunKind)>,
    /// The guard of a run is still ending that run's processes.
    pub some_end: bool,
}
