//! The dialog on a window of its own thread, with everything of Windows and nothing of Tauri. `cargo xtask wine` runs them.

use super::*;
use crate::permission::tests::ask;
use crate::permission::wording::ARMED_AFTER;
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;
use windows::Win32::System::ApplicationInstallationAndServicing::{ACTCTXW, ActivateActCtx, CreateActCtxW};
use windows::core::HSTRING;

/// Timeout of a dialog that should appear, or end.
const LIMIT: Duration = Duration::from_secs(20);
const PRESSES_AGAIN: Duration = Duration::from_millis(20);

/// What the app's manifest requests, and the manifest of a test does not.
const MANIFEST: &str = r#"<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0"><dependency><dependentAssembly>
<assemblyIdentity type="win32" name="Microsoft.Windows.Common-Controls" version="6.0.0.0" processorArchitecture="*"
 publicKeyToken="6595b64144ccf1df" language="*"/></dependentAssembly></dependency></assembly>"#;

/// A dialog on its thread.
struct Running {
    shown: Arc<Mutex<Shown>>,
    id: DialogId,
    appeared: Receiver<Window>,
    response: Receiver<(DialogResponse, Instant)>,
}

impl Running {
    fn begin() -> Self {
        let ask = ask(1);
        let (id, shown) = (ask.id.clone(), Arc::<Mutex<Shown>>::default());
        lock(&shown).by_id.insert(id.clone(), Slot { number: 1, window: None });
        let (sender, appeared) = mpsc::channel();
        lock(&shown).appeared = Some(sender);
        let dialog = OneDialog { shown: shown.clone(), id: id.clone(), number: 1 };
        let (sender, response) = mpsc::channel();
        std::thread::spawn(move || {
            use_version_6();
            // The class of a label, as a window with a frame.
            // SAFETY: both texts are terminated, and no handle is passed.
            let parent = unsafe {
                CreateWindowExW(
                    WINDOW_EX_STYLE::default(),
                    w!("STATIC"),
                    w!("lighthouse"),
                    WS_OVERLAPPEDWINDOW | WS_VISIBLE,
                    100,
                    100,
                    800,
                    600,
                    None,
                    None,
                    None,
                    None,
                )
            };
            let parent = Window::of(parent.expect("there is a display"));
            let response = dialog.run(parent, &DialogText::of(&ask)).expect("there is a task dialog");
            sender.send((response, Instant::now())).expect("the test waits");
        });
        Self { shown, id, appeared, response }
    }

    /// Its window, once it is there.
    fn window(&self) -> Window {
        self.appeared.recv_timeout(LIMIT).expect("a dialog appears")
    }

    fn response(&self) -> (DialogResponse, Instant) {
        self.response.recv_timeout(LIMIT).expect("the dialog is closed")
    }
}

/// Lets this thread use version 6 of the common controls.
fn use_version_6() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("manifest");
    std::fs::write(&manifest, MANIFEST).unwrap();
    let path = HSTRING::from(manifest.as_path());
    let context = ACTCTXW {
        cbSize: size_of::<ACTCTXW>() as u32,
        lpSource: PCWSTR(path.as_ptr()),
        ..ACTCTXW::default()
    };
    let mut cookie = 0;
    // SAFETY: the structure and the path in it live until the call has returned; the context is never released.
    unsafe { ActivateActCtx(Some(CreateActCtxW(&raw const context).unwrap()), &raw mut cookie).unwrap() };
}

/// Presses a button of the dialog, as the mouse or a key does.
fn press(window: Window, button: Button) {
    let number = WPARAM(number_of(button) as usize);
    // SAFETY: a message to a window; one that is gone is an error.
    let posted = unsafe { PostMessageW(Some(window.handle()), TDM_CLICK_BUTTON.0 as u32, number, LPARAM(0)) };
    if let Err(error) = posted {
        assert_eq!(
            error.code(),
            ERROR_INVALID_WINDOW_HANDLE.to_hresult(),
            "it was closed by an earlier press"
        );
    }
}

#[test]
fn allowing_counts_only_once_it_was_in_sight_for_a_while() {
    let dialog = Running::begin();
    let window = dialog.window();
    let appeared_at = Instant::now();
    let deadline = appeared_at + LIMIT;
    let (response, at) = loop {
        press(window, Button::AllowOnce);
        if let Ok(response) = dialog.response.recv_timeout(PRESSES_AGAIN) {
            break response;
        }
        assert!(Instant::now() < deadline, "it is never armed");
    };
    assert_eq!(response, DialogResponse::AllowOnce);
    // The window was recorded when it was made, so it can have been in sight for this much longer.
    let earlier = Duration::from_millis(100);
    assert!(at - appeared_at + earlier >= ARMED_AFTER, "allowed after {:?}", at - appeared_at);
}

#[test]
fn denying_needs_no_time() {
    let dialog = Running::begin();
    press(dialog.window(), Button::Deny);
    assert_eq!(dialog.response().0, DialogResponse::Deny { reason: String::new() });
}

#[test]
fn closing_it_answers_nothing() {
    let dialog = Running::begin();
    dialog.window().close().unwrap();
    assert_eq!(dialog.response().0, DialogResponse::Dismissed);
}

#[test]
fn a_withdrawn_dialog_is_closed_whether_it_was_there_already_or_not() {
    let dialog = Running::begin();
    withdraw(&dialog.shown, &dialog.id).unwrap();
    assert_eq!(dialog.response().0, DialogResponse::Dismissed);
    let dialog = Running::begin();
    dialog.window();
    withdraw(&dialog.shown, &dialog.id).unwrap();
    assert_eq!(dialog.response().0, DialogResponse::Dismissed);
}
