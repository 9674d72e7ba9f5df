//! The dialog on Windows: a task dialog, on a thread of its own, since it runs its own loop until it is closed.
//!
//! Its owner is the project's window, which it would disable for as long as it is there: the card in it is the other face
//! of the same request, so the window is enabled again. A task dialog has no field for a reason: *Deny* gives none, and
//! the card has one. `TaskDialogIndirect` is looked up at run time: a program without the manifest that asks for version
//! 6 of the common controls, such as a test, would not even start if it were linked to it. There the message box remains.

use super::face::{Arming, Button, Face, Subject, broken, shortened};
use super::{Backend, React, rfd};
use anyhow::Context;
use deskbell_engine::permission::{Ask, DialogId, Reaction};
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

/// Characters in a line, and room for as many of the widest, in quarters of an average one: a task dialog cuts off what is
/// too long.
const LINE: usize = 40;
const WIDTH: u32 = 360;
/// Characters of a session's title.
const TITLE: usize = 60;

/// Shows task dialogs.
pub struct TaskDialog {
    app: AppHandle,
    shown: Arc<Mutex<Shown>>,
}

/// The dialogs that are there or about to be. An agent may give a name again, so each has a number, too.
#[derive(Default)]
struct Shown {
    n_shown: u64,
    by_id: HashMap<DialogId, Slot>,
}

struct Slot {
    number: u64,
    /// Once there is one.
    window: Option<Window>,
}

/// A window's handle: to whatever thread, it is only a number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Window(isize);

impl Window {
    fn of(handle: HWND) -> Self {
        Self(handle.0 as isize)
    }

    fn handle(self) -> HWND {
        HWND(self.0 as *mut _)
    }

    /// Closes a dialog as if it had been cancelled; one that went with its owner is closed.
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
    fn show(&self, window: &str, ask: Ask, react: React) -> anyhow::Result<()> {
        let window = self.app.get_webview_window(window).context("the window is gone")?;
        let number = {
            let mut shown = lock(&self.shown);
            shown.n_shown += 1;
            let number = shown.n_shown;
            shown.by_id.insert(ask.id.clone(), Slot { number, window: None });
            number
        };
        let dialog = OneDialog { shown: self.shown.clone(), id: ask.id.clone(), number };
        let face = Face::of(&ask);
        // The main thread alone knows the handle of a window without waiting for another.
        self.app.run_on_main_thread(move || {
            let parent = match window.hwnd() {
                Ok(parent) => Window::of(parent),
                // Whatever was to be shown on it goes with it.
                Err(error) => return tracing::warn!(%error, "the window is gone"),
            };
            let thread = std::thread::Builder::new().name("dialog".to_owned());
            let started = thread.spawn(move || {
                let reaction = dialog.run(parent, &face).unwrap_or_else(|error| {
                    tracing::warn!(%error, "no task dialog; a message box has to do");
                    rfd::ask(&window, &face)
                });
                // Withdrawn or answered: one of the two was first.
                if dialog.take() {
                    react(reaction);
                }
            });
            if let Err(error) = started {
                tracing::error!(%error, "no thread for a dialog");
            }
        })?;
        Ok(())
    }

    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()> {
        let slot = lock(&self.shown).by_id.remove(id);
        match slot.and_then(|slot| slot.window) {
            // One that is just being made closes itself.
            None => Ok(()),
            Some(window) => Ok(window.close()?),
        }
    }

    fn is_in_front(&self, id: &DialogId) -> bool {
        let window = lock(&self.shown).by_id.get(id).and_then(|slot| slot.window);
        // SAFETY: it takes nothing and gives a handle.
        window.is_some_and(|window| Window::of(unsafe { GetForegroundWindow() }) == window)
    }
}

type TaskDialogIndirect =
    unsafe extern "system" fn(*const TASKDIALOGCONFIG, *mut i32, *mut i32, *mut BOOL) -> HRESULT;

/// `None` where the common controls are older than version 6.
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
    // Beyond the numbers of the system's own buttons.
    match button {
        Button::Deny => 101,
        Button::AllowOnce => 102,
        Button::Review => 103,
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
    /// Takes it out of what is shown. `false`: it was withdrawn.
    fn take(&self) -> bool {
        let mut shown = lock(&self.shown);
        let is_there = shown.by_id.get(&self.id).is_some_and(|slot| slot.number == self.number);
        is_there && shown.by_id.remove(&self.id).is_some()
    }

    /// It has a window now. `false`: it was withdrawn meanwhile.
    fn appeared(&self, window: Window) -> bool {
        let mut shown = lock(&self.shown);
        let slot = shown.by_id.get_mut(&self.id).filter(|slot| slot.number == self.number);
        slot.map(|slot| slot.window = Some(window)).is_some()
    }

    /// Shows it until it is closed.
    fn run(&self, parent: Window, face: &Face) -> anyhow::Result<Reaction> {
        let show = task_dialog_indirect().context("the common controls are older than version 6")?;
        let face = plainly(face.clone());
        // A dialog that was held back gives its first button the keyboard when it is clicked.
        let labels: Vec<(i32, Vec<u16>)> = face
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
            [&face.title, &face.question, &content(&face), "To give a reason for a denial, review it."]
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
            // Esc and the cross close it, which answers nothing; and it does not raise itself.
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
            // It went with its window.
            return Ok(Reaction::Dismissed);
        }
        ended.ok()?;
        let pressed = face.buttons().find(|button| number_of(*button) == pressed);
        Ok(pressed.map_or(Reaction::Dismissed, |button| button.reaction("")))
    }
}

/// Whether a task dialog takes an ampersand in its text for the mark of a key and hides it is documented nowhere: what
/// has one is for the card.
fn plainly(face: Face) -> Face {
    match &face.subject {
        Subject::Whole(text) if text.contains('&') => face.without_subject(),
        _ => face,
    }
}

fn content(face: &Face) -> String {
    let subject = match &face.subject {
        Subject::Whole(text) => broken(text, LINE),
        Subject::NotHere(lines) => lines.join("\n"),
    };
    format!("{}\n{}\n\n{subject}", face.place, shortened(&face.session, TITLE))
}

/// A dialog while it is there, for its callback.
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
            tracing::error!(%error, "a dialog could not be withdrawn");
        }
    }

    /// About five times a second.
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

    /// The window would be disabled as long as its dialog is there.
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
        // SAFETY: a message to a window of this thread, without pointers. Where there is no such button it does nothing.
        unsafe { SendMessageW(window, TDM_ENABLE_BUTTON.0 as u32, Some(number), Some(LPARAM(armed.into()))) };
    }
}

/// Lets no window of this thread be activated: a dialog asks for attention by being there, it takes the keyboard from
/// nobody. `TDF_NO_SET_FOREGROUND` alone keeps it only from raising the app.
struct Quiet {
    hook: Cell<Option<HHOOK>>,
    /// What had the keyboard before.
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

    /// The dialog is there. Where it was held back only after the keyboard was taken for it, nobody has it now: the window
    /// of ours that had it has it again.
    fn end(&self, dialog: HWND) {
        if !self.unhook() {
            return;
        }
        let mut process = 0;
        // SAFETY: all of them only look at windows and give handles, but the last, which a window of ours may be told.
        unsafe {
            GetWindowThreadProcessId(self.before, Some(&raw mut process));
            let now = GetForegroundWindow();
            let is_nobodys = now.is_invalid() || now == dialog || now == GetDesktopWindow();
            if process == GetCurrentProcessId() && is_nobodys && !SetForegroundWindow(self.before).as_bool() {
                tracing::warn!("the keyboard could not be given back");
            }
        }
    }

    /// `false`: it was done before.
    fn unhook(&self) -> bool {
        let Some(hook) = self.hook.take() else { return false };
        // SAFETY: the hook was set by `begin` and is taken away once.
        if let Err(error) = unsafe { UnhookWindowsHookEx(hook) } {
            tracing::warn!(%error, "a dialog's hook could not be taken away");
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
