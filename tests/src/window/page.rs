//! One window of the app, found and used by roles and accessible names, as a screen reader does.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use fantoccini::Client;
use fantoccini::elements::{Element, ElementRef};
use fantoccini::wd::WindowHandle;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::desktop::artefacts;
use super::pointer::{Pointer, XWindow};
use crate::wait::{SHORT, eventually};

const PAGE: &str = include_str!("page.js");
/// An upper bound for the tab stops of a window.
const MOST_TABS: usize = 120;
/// The time that a busy machine may take to deliver a key to the page.
const EACH_KEY: Duration = Duration::from_millis(50);
const WEB_ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A window of the app: its page through the driver, its frame through the window manager.
#[derive(Clone, Debug)]
pub struct Window {
    client: Client,
    handle: WindowHandle,
    frame: XWindow,
    pointer: Pointer,
}

impl Window {
    pub(super) fn new(client: Client, handle: WindowHandle, frame: XWindow, pointer: Pointer) -> Self {
        Self { client, handle, frame, pointer }
    }

    /// The window as the window manager knows it.
    pub fn frame(&self) -> XWindow {
        self.frame
    }

    /// Its title bar's text.
    pub async fn title(&self) -> Result<String> {
        self.pointer.title(self.frame).await
    }

    /// Waits for the element with this role and name.
    pub async fn find(&self, role: &str, name: &str) -> Result<Element> {
        self.element("find", role, name).await
    }

    /// Waits until no element has this role and name.
    pub async fn gone(&self, role: &str, name: &str) -> Result<()> {
        self.settle("absent", &[role, name], SHORT)
            .await
            .with_context(|| format!("{role} “{name}” is still there"))
            .map(drop)
    }

    /// Whether an element has this role and name now.
    pub async fn has(&self, role: &str, name: &str) -> Result<bool> {
        Ok(!self.now("find", &[role, name]).await?.is_null())
    }

    /// The names of all elements of a role, in the page's order.
    pub async fn names(&self, role: &str) -> Result<Vec<String>> {
        Ok(serde_json::from_value(self.now("names", &[role]).await?)?)
    }

    /// Clicks the element with this role and name, once it is enabled.
    pub async fn click(&self, role: &str, name: &str) -> Result<()> {
        let end = Instant::now() + SHORT;
        loop {
            let clicked = match self.element("enabled", role, name).await {
                Ok(element) => element.click().await,
                Err(error) => return Err(error),
            };
            match clicked {
                Ok(()) => return Ok(()),
                // The page drew it again between finding and clicking.
                Err(error) if error.is_stale_element_reference() && Instant::now() < end => {}
                Err(error) => return Err(error).with_context(|| format!("clicking {role} “{name}”")),
            }
        }
    }

    /// Clicks the element of that role and name with the real pointer.
    pub async fn point_at(&self, role: &str, name: &str) -> Result<()> {
        let (x, y) = self.place_of(role, name).await?;
        self.pointer.click(x, y).await
    }

    /// Presses the right button of the real pointer on the element of that role and name.
    pub async fn right_click_at(&self, role: &str, name: &str) -> Result<()> {
        let (x, y) = self.place_of(role, name).await?;
        self.pointer.right_click(x, y).await
    }

    /// Drags the element of that role and name to the side with the real pointer, in two moves.
    pub async fn drag(&self, role: &str, name: &str, by: i32) -> Result<()> {
        let (x, y) = self.place_of(role, name).await?;
        let [start, half, end] = [x, x + by / 2, x + by].map(|x| x.to_string());
        let y = y.to_string();
        let path = ["mousemove", &start, &y, "mousedown", "1", "mousemove", &half, &y, "mousemove", &end, &y];
        self.pointer.many(&path).await?;
        self.pointer.many(&["mouseup", "1"]).await
    }

    /// Turns the wheel up by some notches over the element of that role and name.
    pub async fn wheel_up(&self, role: &str, name: &str, notches: usize) -> Result<()> {
        let (x, y) = self.place_of(role, name).await?;
        self.pointer.wheel_up(x, y, notches).await
    }

    /// The centre of an element, on the screen.
    async fn place_of(&self, role: &str, name: &str) -> Result<(i32, i32)> {
        let element = self.element("enabled", role, name).await?;
        let (x, y, width, height) = element.rectangle().await?;
        let frame = self.pointer.extents(self.frame).await?;
        let place = |start: i32, offset: f64| start + offset.round() as i32;
        Ok((place(frame.x, x + width / 2.0), place(frame.y, y + height / 2.0)))
    }

    /// Focuses the text box of that name and types into it on the real keyboard.
    pub async fn type_into(&self, name: &str, text: &str) -> Result<()> {
        self.pointer.activate(self.frame).await?;
        self.click("textbox", name).await?;
        self.settle("focused", &[], SHORT).await.context("the page has no focus")?;
        self.pointer.type_text(text).await?;
        self.wait_typed(name, text).await
    }

    /// Waits until the text box of that name ends with what was typed.
    pub async fn wait_typed(&self, name: &str, text: &str) -> Result<()> {
        // The keys pass through display, toolkit and webview; once the last one has arrived, all have.
        let deadline = SHORT + EACH_KEY * text.chars().count() as u32;
        if let Err(error) = self.settle("ends", &["textbox", name, text], deadline).await {
            let found = self.value(name).await.unwrap_or_default();
            return Err(error.context(format!("{text:?} was typed, and the box has {found:?}")));
        }
        Ok(())
    }

    /// Types a prompt on the real keyboard and sends it with Enter.
    pub async fn prompt(&self, text: &str) -> Result<()> {
        self.type_into("Prompt", text).await?;
        self.pointer.key("Return").await
    }

    /// Puts a prompt into the box at once, as pasting does, and sends it before a line of it is laid out.
    pub async fn paste_prompt(&self, text: &str) -> Result<()> {
        self.find("textbox", "Prompt").await?;
        let script = "const box = document.querySelector('textarea[aria-label=Prompt]');
            box.focus();
            Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(box, arguments[0]);
            box.dispatchEvent(new InputEvent('input', { bubbles: true }));
            box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));";
        self.run(script, vec![json!(text)]).await.map(drop)
    }

    /// Presses a key in this window.
    pub async fn key(&self, key: &str) -> Result<()> {
        self.pointer.activate(self.frame).await?;
        self.pointer.key(key).await
    }

    /// Types a line in this window, a key each `pace`.
    pub async fn type_at(&self, line: &str, pace: Duration) -> Result<()> {
        self.pointer.activate(self.frame).await?;
        self.pointer.type_at(line, pace).await
    }

    /// The text of the element of that role and name, as it is drawn.
    pub async fn text(&self, role: &str, name: &str) -> Result<String> {
        let text = self.settle("text", &[role, name], SHORT).await?;
        text.as_str().map(str::to_owned).with_context(|| format!("{role} “{name}” has no text"))
    }

    /// The content of the text box with this name.
    pub async fn value(&self, name: &str) -> Result<String> {
        let value = self.settle("value", &["textbox", name], SHORT).await?;
        Ok(value.as_str().context("a text box has a value")?.to_owned())
    }

    /// An attribute of the element of that role and name.
    pub async fn attribute(&self, role: &str, name: &str, attribute: &str) -> Result<Option<String>> {
        Ok(self.now("attribute", &[role, name, attribute]).await?.as_str().map(str::to_owned))
    }

    /// Waits until the agent's answers contain `words`; returns all of them. White space counts as one blank.
    pub async fn wait_said(&self, words: &str, deadline: Duration) -> Result<String> {
        let said = self.settle("said", &[words], deadline).await;
        self.or_page(said, &format!("the agent does not say “{words}”")).await
    }

    /// Waits until the text of that element contains `words`, white space counted as one blank.
    pub async fn wait_text(&self, role: &str, name: &str, words: &str, deadline: Duration) -> Result<String> {
        let found = self.settle("has", &[role, name, words], deadline).await;
        self.or_page(found, &format!("{role} “{name}” does not say “{words}”")).await
    }

    /// Waits until the text of that element no longer contains `words`.
    pub async fn wait_without(&self, role: &str, name: &str, words: &str) -> Result<()> {
        self.settle("lacks", &[role, name, words], SHORT).await.map(drop)
    }

    /// Waits until the page contains `words` anywhere.
    pub async fn wait_shows(&self, words: &str, deadline: Duration) -> Result<String> {
        let found = self.settle("shows", &[words], deadline).await;
        self.or_page(found, &format!("the page does not say “{words}”")).await
    }

    /// Waits until no turn runs: the composer offers “Send” again.
    pub async fn wait_idle(&self, deadline: Duration) -> Result<()> {
        self.settle("absent", &["button", "Stop"], deadline).await.context("the turn does not end")?;
        self.settle("find", &["button", "Send"], deadline).await.map(drop)
    }

    /// All the text of the page.
    pub async fn all_text(&self) -> Result<String> {
        Ok(self.now("all_text", &[]).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Whether the page has the focus of the keyboard.
    pub async fn focused(&self) -> Result<bool> {
        Ok(!self.now("focused", &[]).await?.is_null())
    }

    /// Waits until the keyboard is with another window, by the page's own account.
    pub async fn wait_unfocused(&self) -> Result<()> {
        eventually("the page has no focus", SHORT, async || Ok((!self.focused().await?).then_some(()))).await
    }

    /// The focused element of the page: `button “Send”`.
    pub async fn focus(&self) -> Result<String> {
        Ok(self.now("focus", &[""]).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the focused element has this description, `button “Send”`, or a part of it.
    pub async fn wait_focus(&self, wanted: &str) -> Result<()> {
        if let Err(error) = self.settle("focus", &[wanted], SHORT).await {
            let found = self.focus().await.unwrap_or_default();
            return Err(error.context(format!("the focus is on {found}, not on {wanted}")));
        }
        Ok(())
    }

    /// Presses Tab until the focused element has this description.
    pub async fn tab_to(&self, wanted: &str) -> Result<()> {
        let mut passed = Vec::new();
        while passed.len() < MOST_TABS {
            let before = self.focus().await?;
            if before.contains(wanted) {
                return Ok(());
            }
            // Compared by element: two stops in a row can have the same description.
            let element = self.run("return document.activeElement;", Vec::new()).await?;
            self.pointer.key("Tab").await?;
            eventually("Tab moves the focus", SHORT, async || {
                let moved = "return document.activeElement !== arguments[0];";
                match self.client.execute(moved, vec![element.clone()]).await {
                    Ok(moved) => Ok((moved == Value::Bool(true)).then_some(())),
                    Err(error) if error.is_stale_element_reference() => Ok(Some(())),
                    Err(error) => Err(error.into()),
                }
            })
            .await?;
            passed.push(before);
        }
        bail!("no Tab leads to {wanted}, only to {passed:?}")
    }

    /// Loads the page again, as if the webview had lost it.
    pub async fn reload(&self) -> Result<()> {
        self.enter().await?;
        Ok(self.client.refresh().await?)
    }

    /// Runs a script in the page.
    pub async fn run(&self, script: &str, parameters: Vec<Value>) -> Result<Value> {
        self.enter().await?;
        Ok(self.client.execute(script, parameters).await?)
    }

    /// Runs a script in the page that returns its result through its last argument.
    pub async fn call(&self, script: &str, parameters: Vec<Value>) -> Result<Value> {
        self.enter().await?;
        Ok(self.client.execute_async(script, parameters).await?)
    }

    /// Calls a command of the app as the page's own code does: its result, or its refusal.
    pub async fn invoke(&self, name: &str, arguments: Value) -> Result<Result<Value, Value>> {
        let script = "const [name, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(name, args).then((ok) => done({ ok }), (error) => done({ error }));";
        let mut answer = self.call(script, vec![json!(name), arguments]).await?;
        Ok(match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["ok"].take()),
        })
    }

    /// Makes garbage until the page has collected what was garbage before. Its engine collects all of it only when there is
    /// much (WebKit 2.50: about 60 MB after 60 turns), so that its memory depends on the moment.
    pub async fn collect_garbage(&self) -> Result<()> {
        const N_COLLECTIONS: u32 = 3;
        let script = "const [n, done] = arguments;
            let collected = 0;
            const watch = () => registry.register(new Array(1000).fill(1), null);
            const registry = new FinalizationRegistry(() => (++collected === n ? done(null) : watch()));
            watch();
            const turns = new MessageChannel();
            turns.port1.onmessage = () => {
              for (let i = 0; i < 4; i++) new Array(100000).fill({});
              if (collected < n) turns.port2.postMessage(null);
              else turns.port1.close();
            };
            turns.port2.postMessage(null);";
        self.call(script, vec![json!(N_COLLECTIONS)]).await.map(drop)
    }

    /// Waits until the present state of the page has been drawn.
    pub async fn drawn(&self) -> Result<()> {
        // The first frame lays out and paints; the start of the second shows that the first was displayed.
        let script = "const done = arguments[0];
            requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(null))));";
        self.call(script, Vec::new()).await.map(drop)
    }

    /// Saves a screenshot of the window in the artefacts folder, as `name.png`. It is the display's: that of the WebDriver
    /// waits for the next frame, and a page that does not change draws none (WebKitGTK 2.50).
    pub async fn screenshot(&self, name: &str) -> Result<PathBuf> {
        self.drawn().await?;
        let file = artefacts()?.join(format!("{name}.png"));
        self.pointer.picture(self.frame, &file).await?;
        Ok(file)
    }

    /// The text that a probe returned; a failure gets the page's text as context.
    async fn or_page(&self, found: Result<Value>, problem: &str) -> Result<String> {
        match found {
            Ok(text) => Ok(text.as_str().unwrap_or_default().to_owned()),
            Err(error) => {
                let text = self.all_text().await.unwrap_or_default();
                Err(error.context(format!("{problem}; the page says:\n{text}")))
            }
        }
    }

    async fn enter(&self) -> Result<()> {
        Ok(self.client.switch_to_window(self.handle.clone()).await?)
    }

    async fn now(&self, probe: &str, parameters: &[&str]) -> Result<Value> {
        let script = format!("{PAGE}\nreturn probes[arguments[0]](...arguments[1]);");
        self.run(&script, vec![json!(probe), json!(parameters)]).await
    }

    async fn element(&self, probe: &str, role: &str, name: &str) -> Result<Element> {
        let found = match self.settle(probe, &[role, name], SHORT).await {
            Ok(found) => found,
            Err(error) => {
                let names = self.names(role).await.unwrap_or_default();
                return Err(error.context(format!("no {role} “{name}” ({probe}), only {names:?}")));
            }
        };
        let id = found.get(WEB_ELEMENT).and_then(Value::as_str).context("a probe gives an element")?;
        Ok(Element::from_element_id(self.client.clone(), ElementRef::from(id.to_owned())))
    }

    /// Runs a probe after every change of the page until it returns a value; survives a reload.
    async fn settle(&self, probe: &str, parameters: &[&str], deadline: Duration) -> Result<Value> {
        let script = format!(
            "{PAGE}\nconst [probe, parameters, limit, done] = arguments;\nsettle(probe, parameters, limit, done);"
        );
        let end = Instant::now() + deadline;
        let mut last = None;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let limit = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
            let arguments = vec![json!(probe), json!(parameters), json!(limit)];
            let answer = async {
                self.client.switch_to_window(self.handle.clone()).await?;
                self.client.execute_async(&script, arguments).await
            };
            // A page that is replaced loses its answer.
            match timeout(left + Duration::from_secs(2), answer).await {
                Ok(Ok(Value::Null)) => {}
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) => {
                    last = Some(anyhow!(error));
                    sleep(Duration::from_millis(50)).await;
                }
                Err(_) => break,
            }
        }
        let what = format!("not within {deadline:?}: {probe} {parameters:?}");
        match last {
            Some(error) => Err(error.context(what)),
            None => bail!(what),
        }
    }
}
