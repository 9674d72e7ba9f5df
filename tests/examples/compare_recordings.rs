//! `compare_recordings OLD NEW`: what differs between two folders of recordings. `cargo xtask claude` calls it.

use std::path::Path;

use anyhow::{Result, bail};
use deskbell_tests::line_kinds::compared;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [old, new] = arguments.as_slice() else { bail!("usage: compare_recordings OLD NEW") };
    print!("{}", compared(Path::new(old), Path::new(new))?);
    Ok(())
}
