//! Whether windows are drawn with a GPU.

/// `None` if the system decides.
pub fn draws() -> Option<bool> {
    #[cfg(target_os = "linux")]
    return Some(crate::webkit::draws_with_gpu());
    #[cfg(not(target_os = "linux"))]
    None
}
