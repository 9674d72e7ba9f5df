//! What WebKitGTK has to be told: what to do when a page's process dies, and not to imitate a GPU.

mod wheel;

use std::fs::{self, File};
use std::path::Path;
use std::sync::LazyLock;
use tauri::WebviewWindow;
use webkit2gtk::{HardwareAccelerationPolicy, SettingsExt, WebViewExt};

/// Asked once: to open a sleeping GPU's device wakes it.
static HAS_GPU: LazyLock<bool> = LazyLock::new(|| has_gpu(Path::new("/dev")));

/// Prepares a new window's page.
///
/// Without a GPU, OpenGL is computed by the processor, and WebKit (2.50) still draws through it: a frame of a
/// conversation that grows took three times as long as one that is drawn into memory, and the page held twice as much.
pub fn settle(window: &WebviewWindow) -> tauri::Result<()> {
    let own = window.clone();
    window.with_webview(move |webview| {
        let page = webview.inner();
        if !*HAS_GPU && let Some(settings) = page.settings() {
            settings.set_hardware_acceleration_policy(HardwareAccelerationPolicy::Never);
            wheel::carry_out(&page, own);
        }
        // It then asks for a snapshot like any other.
        page.connect_web_process_terminated(|page, reason| {
            tracing::warn!(?reason, "a page's process ended; it is loaded again");
            page.reload();
        });
    })
}

/// Whether this user may draw with a GPU: through a render node of the kernel's, or the device of NVIDIA's own driver.
fn has_gpu(dev: &Path) -> bool {
    let may_open = |path: &Path| File::options().read(true).write(true).open(path).is_ok();
    let nodes = fs::read_dir(dev.join("dri")).into_iter().flatten().flatten();
    nodes.map(|node| node.path()).any(|node| {
        node.file_name().is_some_and(|name| name.to_string_lossy().starts_with("renderD")) && may_open(&node)
    }) || may_open(&dev.join("nvidiactl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_a_device_that_may_be_opened() {
        let dev = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let file = dev.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            file
        };
        assert!(!has_gpu(dev.path()), "no device at all");
        made("dri/card0");
        assert!(!has_gpu(dev.path()), "a display that draws nothing by itself");
        let node = made("dri/renderD128");
        assert!(has_gpu(dev.path()));
        fs::remove_file(&node).unwrap();
        fs::create_dir(&node).unwrap();
        assert!(!has_gpu(dev.path()), "what cannot be opened for writing");
        made("nvidiactl");
        assert!(has_gpu(dev.path()));
    }
}
