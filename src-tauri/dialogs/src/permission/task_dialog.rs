//! The dialog on Windows: a task dialog, on its own thread, because it runs its own loop until it is closed.
//!
//! Its owner is the project's window. A task dialog disables its owner, so the window is enabled again: the card in it
//! shows the same request. A task dialog has no field for a reason; *Deny* gives none, and the card has a field.
//! `TaskDialogIndirect` is looked up at run time: a program whose manifest does not request version 6 of the common
//! controls, such as a test, would not start if it were linked to it. Such a program shows the message box.

use super::wording::{Arming, Button, DialogText, Subject, wrapped};
use super::{Backend, Respond, rfd};
use anyhow::Context;
use deskbell_engine::permission::{DialogId, DialogRequest, DialogResponse};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, Manager};
use windows::Win32::Foundation::{ERROR_INVALID_WINDOW_HANDLE, HWND, LPARAM, LRESULT, S_FALSE, S_OK, WPARAM};
use windows::Win32::System::LibraryLoader::{GetProcAddress, LoadLibraryW};
use windows::Win32::System::Threading::{GetCurrentProcessId, GetCurrentThreadId};
use windows::Win32::UI::Controls::*;
use windows::Win32::UI::Input::KeyboardAndMouse::{EnableWindow, IsWindowEnabled};
use windows::Win32::UI::WindowsAndMessaging::*;
use windows::core::{BOOL, HRESULT, PCWSTR, s, w};

/// Characters in a line, and a width for as many of the widest characters, in quarters of an average one: a task dialog
/// cuts off longer lines.
const LINE: usize = 40;
const WIDTH: u32 = 360;
/// More lines than this may not fit on a small screen with large text; the subject is then shown only in the card.
const MOST_LINES: usize = 10;

/// Shows task dialogs.
pub struct TaskDialog {
    app: AppHandle,
    shown: Arc<Mutex<Shown>>,
}

/// The dialogs that are shown or about to be shown. An agent may reuse a request id, so each dialog has a number too.
#[derive(Default)]
struct Shown {
    n_shown: u64,
    by_id: HashMap<DialogId, Slot>,
    /// Receives the window of each dialog that appears.
    #[cfg(test)]
    appeared: Option<std::sync::mpsc::Sender<Window>>,
}

struct Slot {
    number: u64,
    /// `None` until the window exists.
    window: Option<Window>,
}

/// A window's handle as a number, so that it can be sent between threads.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Window(isize);

impl Window {
    fn of(handle: HWND) -> Self {
        Self(handle.0 as isize)
    }

    fn handle(self) -> HWND {
        HWND(self.0 as *mut _)
    }

    /// Closes a dialog as if it had been cancelled. A dialog that was destroyed with its owner counts as closed.
    fn close(self) -> windows::core::Result<()> {
        let cancel = WPARAM(IDCANCEL.0 as usize);
        // SAFETY: a message to a window; one that is gone is an error.
        let posted =
            unsafe { PostMessageW(Some(self.handle()), TDM_CLICK_BUTTON.0 as u32, cancel, LPARAM(0)) };
        posted.or_else(|error| {
            if error.code() == ERROR_INVALID_WINDOW_HANDLE.to_hresult() { Ok(()) } else { Err(error) }
        })
    }
}

impl TaskDialog {
    pub fn new(app: AppHandle) -> Self {
        Self { app, shown: Arc::default() }
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for TaskDialog {
    fn show(&self, window: &str, ask: DialogRequest, respond: Respond) -> anyhow::Result<()> {
        let window = self.app.get_webview_window(window).context("the window is gone")?;
        let number = {
            let mut shown = lock(&self.shown);
            shown.n_shown += 1;
            let number = shown.n_shown;
            shown.by_id.insert(ask.id.clone(), Slot { number, window: None });
            number
        };
        let dialog = OneDialog { shown: self.shown.clone(), id: ask.id.clone(), number };
        let wording = DialogText::of(&ask);
        // Only the main thread can get the handle of a window without waiting for another thread.
        self.app.run_on_main_thread(move || {
            let parent = match window.hwnd() {
                Ok(parent) => Window::of(parent),
                // A dialog that was to be shown on it is dropped too.
                Err(error) => return tracing::warn!(%error, "the window is gone"),
            };
            let thread = std::thread::Builder::new().name("dialog".to_owned());
            let started = thread.spawn(move || {
                let reaction = dialog.run(parent, &wording).unwrap_or_else(|error| {
                    tracing::warn!(%error, "no task dialog; a message box has to do");
                    rfd::ask(&window, &wording)
                });
                // Responds only if the dialog was not withdrawn first.
                if dialog.take() {
                    respond(reaction);
                }
            });
            if let Err(error) = started {
                tracing::error!(%error, "could not start a thread for a dialog");
            }
        })?;
        Ok(())
    }

    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()> {
        Ok(withdraw(&self.shown, id)?)
    }

    fn is_in_front(&self, id: &DialogId) -> bool {
        let window = lock(&self.shown).by_id.get(id).and_then(|slot| slot.window);
        // SAFETY: it takes nothing and gives a handle.
        window.is_some_and(|window| Window::of(unsafe { GetForegroundWindow() }) == window)
    }
}

fn withdraw(shown: &Mutex<Shown>, id: &DialogId) -> windows::core::Result<()> {
    let slot = lock(shown).by_id.remove(id);
    match slot.and_then(|slot| slot.window) {
        // A dialog that is being created closes itself.
        None => Ok(()),
        Some(window) => window.close(),
    }
}

type TaskDialogIndirect =
    unsafe extern "system" fn(*const TASKDIALOGCONFIG, *mut i32, *mut i32, *mut BOOL) -> HRESULT;

/// `None` if the common controls are older than version 6.
fn task_dialog_indirect() -> Option<TaskDialogIndirect> {
    static FOUND: OnceLock<Option<TaskDialogIndirect>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: the name of a library of the system.
        let library = unsafe { LoadLibraryW(w!("comctl32.dll")) }.ok()?;
        // SAFETY: the library is never unloaded.
        let function = unsafe { GetProcAddress(library, s!("TaskDialogIndirect")) }?;
        // SAFETY: this is its signature.
        Some(unsafe {
            std::mem::transmute::<unsafe extern "system" fn() -> isize, TaskDialogIndirect>(function)
        })
    })
}

fn number_of(button: Button) -> i32 {
    // Outside the range of the system's own button numbers.
    match button {
        Button::Deny => 101,
        Button::AllowOnce => 102,
        Button::Review => 103,
        Button::AlwaysAllow => 104,
    }
}

fn is_armed_late(number: usize) -> bool {
    Button::ALL.into_iter().any(|button| button.is_armed_late() && number_of(button) as usize == number)
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// The dialog of one request, on its thread.
struct OneDialog {
    shown: Arc<Mutex<Shown>>,
    id: DialogId,
    number: u64,
}

impl OneDialog {
    /// Removes the dialog from the shown dialogs. `false`: it was withdrawn.
    fn take(&self) -> bool {
        let mut shown = lock(&self.shown);
        let is_there = shown.by_id.get(&self.id).is_some_and(|slot| slot.number == self.number);
        is_there && shown.by_id.remove(&self.id).is_some()
    }

    /// Records the dialog's window. `false`: it was withdrawn in the meantime.
    fn appeared(&self, window: Window) -> bool {
        let mut shown = lock(&self.shown);
        let slot = shown.by_id.get_mut(&self.id).filter(|slot| slot.number == self.number);
        let is_there = slot.map(|slot| slot.window = Some(window)).is_some();
        #[cfg(test)]
        if let Some(appeared) = &shown.appeared {
            appeared.send(window).expect("the test has not ended");
        }
        is_there
    }

    /// Shows it until it is closed.
    fn run(&self, parent: Window, wording: &DialogText) -> anyhow::Result<DialogResponse> {
        let show = task_dialog_indirect().context("the common controls are older than version 6")?;
        let wording = plainly(wording.clone());
        // The first button gets the keyboard focus when a dialog that was not activated is clicked.
        let labels: Vec<(i32, Vec<u16>)> = wording
            .buttons_default_first()
            .into_iter()
            .map(|button| (number_of(button), wide(button.label())))
            .collect();
        let buttons: Vec<TASKDIALOG_BUTTON> = labels
            .iter()
            .map(|(number, label)| TASKDIALOG_BUTTON {
                nButtonID: *number,
                pszButtonText: PCWSTR(label.as_ptr()),
            })
            .collect();
        let [title, question, content, footer] =
            [&wording.title, &wording.heading, &content(&wording), "To deny with a reason, choose Review."]
                .map(wide);
        let life = Life {
            dialog: self,
            parent: parent.handle(),
            was_created: Cell::new(false),
            arming: Cell::default(),
            is_armed: Cell::new(false),
            quiet: Quiet::begin()?,
        };
        let config = TASKDIALOGCONFIG {
            cbSize: size_of::<TASKDIALOGCONFIG>() as u32,
            hwndParent: parent.handle(),
            // Esc and the close button close the dialog, which answers nothing; and it does not raise itself.
            dwFlags: TDF_ALLOW_DIALOG_CANCELLATION
                | TDF_POSITION_RELATIVE_TO_WINDOW
                | TDF_CALLBACK_TIMER
                | TDF_NO_SET_FOREGROUND,
            pszWindowTitle: PCWSTR(title.as_ptr()),
            pszMainInstruction: PCWSTR(question.as_ptr()),
            pszContent: PCWSTR(content.as_ptr()),
            pszFooter: PCWSTR(footer.as_ptr()),
            cButtons: buttons.len() as u32,
            pButtons: buttons.as_ptr(),
            nDefaultButton: number_of(Button::DEFAULT),
            pfCallback: Some(notified),
            lpCallbackData: (&raw const life) as isize,
            cxWidth: WIDTH,
            ..TASKDIALOGCONFIG::default()
        };
        let mut pressed = 0;
        // SAFETY: everything that the configuration points to lives until the function returns.
        let ended = unsafe { show(&config, &mut pressed, std::ptr::null_mut(), std::ptr::null_mut()) };
        if ended.is_err() && life.was_created.get() {
            // It was destroyed with its window.
            return Ok(DialogResponse::Dismissed);
        }
        ended.ok()?;
        let pressed = wording.buttons().find(|button| number_of(*button) == pressed);
        Ok(pressed.map_or(DialogResponse::Dismissed, |button| button.reaction("")))
    }
}

/// Breaks the subject into lines that are all visible; removes the subject if there are too many lines.
///
/// It is not documented whether a task dialog takes an ampersand in its text for a mnemonic and hides it. So a subject
/// that contains one is shown only in the card.
fn plainly(wording: DialogText) -> DialogText {
    match &wording.subject {
        Subject::Whole(text) if text.contains('&') => wording.without_subject(),
        Subject::Whole(text) => match wrapped(text, LINE, MOST_LINES) {
            Some(lines) => DialogText { subject: Subject::Whole(lines), ..wording },
            None => wording.without_subject(),
        },
        Subject::NotHere(_) => wording,
    }
}

fn content(wording: &DialogText) -> String {
    let subject = match &wording.subject {
        Subject::Whole(text) => text.clone(),
        Subject::NotHere(lines) => lines.join("\n"),
    };
    format!("{}\n\n{subject}", wording.text())
}

/// The state of a dialog while it is open, for its callback.
struct Life<'a> {
    dialog: &'a OneDialog,
    parent: HWND,
    was_created: Cell<bool>,
    arming: Cell<Arming>,
    is_armed: Cell<bool>,
    quiet: Quiet,
}

unsafe extern "system" fn notified(
    window: HWND,
    what: TASKDIALOG_NOTIFICATIONS,
    wparam: WPARAM,
    _lparam: LPARAM,
    life: isize,
) -> HRESULT {
    // SAFETY: the address was taken in `run`, which has not returned; only this thread uses it.
    let life = unsafe { &*(life as *const Life<'_>) };
    match what {
        TDN_CREATED => life.created(window),
        TDN_TIMER => life.look(window, Duration::from_millis(wparam.0 as u64)),
        TDN_BUTTON_CLICKED if is_armed_late(wparam.0) && !life.is_armed.get() => return S_FALSE,
        _ => {}
    }
    S_OK
}

impl Life<'_> {
    fn created(&self, window: HWND) {
        self.was_created.set(true);
        arm(window, false);
        self.enable_parent();
        if !self.dialog.appeared(Window::of(window))
            && let Err(error) = Window::of(window).close()
        {
            tracing::error!(%error, "could not withdraw a dialog");
        }
    }

    /// Called about five times a second.
    fn look(&self, window: HWND, now: Duration) {
        self.quiet.end(window);
        self.enable_parent();
        // SAFETY: both only look at a window; one that is gone is not in sight.
        let is_in_sight = unsafe { IsWindowVisible(window).as_bool() && !IsIconic(self.parent).as_bool() };
        let mut arming = self.arming.get();
        let armed = arming.look(now, is_in_sight);
        self.arming.set(arming);
        if self.is_armed.replace(armed) != armed {
            arm(window, armed);
        }
    }

    /// Enables the owner window, which the task dialog disables.
    fn enable_parent(&self) {
        // SAFETY: a window that is gone is left alone. The result says what it was before.
        unsafe {
            if !IsWindowEnabled(self.parent).as_bool() {
                let _was_disabled = EnableWindow(self.parent, true);
            }
        }
    }
}

fn arm(window: HWND, armed: bool) {
    for button in Button::ALL.into_iter().filter(|button| button.is_armed_late()) {
        let number = WPARAM(number_of(button) as usize);
        // SAFETY: a message without pointers to a window of this thread. If the button does not exist, it does nothing.
        unsafe { SendMessageW(window, TDM_ENABLE_BUTTON.0 as u32, Some(number), Some(LPARAM(armed.into()))) };
    }
}

/// Prevents windows of this thread from being activated: a dialog gets attention by appearing, and must not take the
/// keyboard focus. `TDF_NO_SET_FOREGROUND` alone only keeps it from raising the app.
struct Quiet {
    hook: Cell<Option<HHOOK>>,
    /// The window that had the keyboard focus before.
    before: HWND,
}

impl Quiet {
    fn begin() -> windows::core::Result<Self> {
        // SAFETY: it takes nothing and gives a handle.
        let before = unsafe { GetForegroundWindow() };
        // SAFETY: a hook for this thread alone, whose function lives as long as the program.
        let hook = unsafe { SetWindowsHookExW(WH_CBT, Some(hold_back), None, GetCurrentThreadId()) }?;
        Ok(Self { hook: Cell::new(Some(hook)), before })
    }

    /// Called when the dialog is shown. If the dialog had already taken the keyboard focus before the hook blocked it,
    /// no window has the focus now; this gives it back to the app's window that had it.
    fn end(&self, dialog: HWND) {
        if !self.unhook() {
            return;
        }
        let mut process = 0;
        // SAFETY: these functions only read windows and return handles, except the last, which acts on one of the app's
        // own windows.
        unsafe {
            GetWindowThreadProcessId(self.before, Some(&raw mut process));
            let now = GetForegroundWindow();
            let is_nobodys = now.is_invalid() || now == dialog || now == GetDesktopWindow();
            if process == GetCurrentProcessId() && is_nobodys && !SetForegroundWindow(self.before).as_bool() {
                tracing::warn!("could not give the keyboard focus back");
            }
        }
    }

    /// `false`: the hook was already removed.
    fn unhook(&self) -> bool {
        let Some(hook) = self.hook.take() else { return false };
        // SAFETY: the hook was set by `begin` and is taken away once.
        if let Err(error) = unsafe { UnhookWindowsHookEx(hook) } {
            tracing::warn!(%error, "could not remove a dialog's hook");
        }
        true
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.unhook();
    }
}

unsafe extern "system" fn hold_back(code: i32, wparam: WPARAM, lparam: LPARAM) -> LRESULT {
    if code == HCBT_ACTIVATE as i32 {
        return LRESULT(1);
    }
    // SAFETY: passes on what it was given.
    unsafe { CallNextHookEx(None, code, wparam, lparam) }
}

#[cfg(test)]
mod tests;
