//! Settings of WebKitGTK: reload a page whose process died, restrict its menu, and avoid an emulated GPU and real-time
//! threads.

mod real_time;
mod wheel;

use deskbell_engine::disk;
use std::fs::File;
use std::path::Path;
use std::sync::LazyLock;
use tauri::WebviewWindow;
use webkit2gtk::{
    ContextMenu, ContextMenuAction, ContextMenuExt, ContextMenuItemExt, HardwareAccelerationPolicy,
    InputMethodContextExt, LoadEvent, Settings, SettingsExt, WebViewExt,
};

/// Checked once, because opening a sleeping GPU's device wakes it.
static HAS_GPU: LazyLock<bool> = LazyLock::new(|| has_gpu(Path::new("/dev")));

/// Returns whether windows are drawn with a GPU.
pub fn draws_with_gpu() -> bool {
    *HAS_GPU
}

/// WebKit reads this variable when a process makes its first settings object (2.50, `HardwareAccelerationManager`).
const DRAW_INTO_MEMORY: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// The variable that WebKit is to read, if it is set here.
///
/// Without a GPU, the processor computes OpenGL, and WebKit (2.50) still draws through it: a frame of a growing
/// conversation took three times as long as one that is drawn into memory, and the page used twice as much memory.
/// The choice is made for the whole process, before the first page: when the settings of a page change it (2.50.6), the
/// page's process, which is already starting, ends with a segmentation fault, and its window stays white. It happened to
/// all windows but one of a start with several.
#[must_use = "the variable is for WebKit in this process, not for the programs that it starts"]
pub struct DrawingChoice {
    is_set_here: bool,
}

impl DrawingChoice {
    /// Chooses how all pages are drawn. Call it before GTK is initialized. The user's own choice stays.
    pub fn make() -> Self {
        let is_set_here = !*HAS_GPU && std::env::var_os(DRAW_INTO_MEMORY).is_none();
        if is_set_here {
            // SAFETY: the only other thread writes log files and reads no variable.
            unsafe { std::env::set_var(DRAW_INTO_MEMORY, "1") };
        }
        Self { is_set_here }
    }

    /// Makes WebKit read the choice. Call it on the main thread, after GTK is initialized and before the first page.
    pub fn apply(self) {
        drop(Settings::new());
        if self.is_set_here {
            // SAFETY: Rust's own readers are locked out. Removing a variable moves pointers and frees nothing (glibc 2.36),
            // so a reader in C finds each other variable.
            unsafe { std::env::remove_var(DRAW_INTO_MEMORY) };
        }
    }
}

/// Prepares a new window's page.
pub fn settle(window: &WebviewWindow) -> tauri::Result<()> {
    let own = window.clone();
    window.with_webview(move |webview| {
        let page = webview.inner();
        let policy = WebViewExt::settings(&page).map(|settings| settings.hardware_acceleration_policy());
        if policy == Some(HardwareAccelerationPolicy::Never) {
            wheel::carry_out(&page, own);
        }
        // wry (0.57) turns it off: an input method would show what it composes in a window of its own, away from the text.
        if let Some(method) = page.input_method_context() {
            method.set_enable_preedit(true);
        }
        page.connect_context_menu(|_, menu, _, _| is_left_empty(menu));
        // Each process of a page has its own threads in the app.
        page.connect_load_changed(|_, event| {
            if event == LoadEvent::Finished {
                real_time::demote_threads();
            }
        });
        // The page then requests a snapshot like any other page.
        page.connect_web_process_terminated(|page, reason| {
            tracing::warn!(?reason, "a page's process ended; reloading the page");
            page.reload();
        });
    })
}

/// Removes from a page's menu the items that leave the page, reload it or inspect it. Returns whether the menu is empty
/// then. The page itself opens the browser's menu only in its fields.
fn is_left_empty(menu: &ContextMenu) -> bool {
    for item in menu.items() {
        if leads_away(item.stock_action()) {
            menu.remove(&item);
        }
    }
    menu.items().iter().all(ContextMenuItemExt::is_separator)
}

fn leads_away(action: ContextMenuAction) -> bool {
    matches!(
        action,
        ContextMenuAction::OpenLink
            | ContextMenuAction::OpenLinkInNewWindow
            | ContextMenuAction::DownloadLinkToDisk
            | ContextMenuAction::OpenImageInNewWindow
            | ContextMenuAction::DownloadImageToDisk
            | ContextMenuAction::OpenFrameInNewWindow
            | ContextMenuAction::GoBack
            | ContextMenuAction::GoForward
            | ContextMenuAction::Stop
            | ContextMenuAction::Reload
            | ContextMenuAction::InspectElement
    )
}

/// Returns whether this user may draw with a GPU: through a render node of the kernel, or the device of NVIDIA's
/// driver.
#[allow(
    clippy::disallowed_methods,
    reason = "devices of the kernel's are opened, to see whether they may be"
)]
fn has_gpu(dev: &Path) -> bool {
    let may_open = |path: &Path| File::options().read(true).write(true).open(path).is_ok();
    let nodes = disk::list(&dev.join("dri"), 100).unwrap_or_default().paths;
    nodes.into_iter().any(|node| {
        node.file_name().is_some_and(|name| name.to_string_lossy().starts_with("renderD")) && may_open(&node)
    }) || may_open(&dev.join("nvidiactl"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
