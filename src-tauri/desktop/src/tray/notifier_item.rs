//! The tray icon as a StatusNotifierItem on the session bus, by ksni. Tauri's own tray needs libappindicator, and panics
//! where it is missing.

use super::Choice;
use super::menu::{Contents, Entry};
use anyhow::Context;
use ksni::menu::StandardItem;
use ksni::{Handle, MenuItem, OfflineReason, Status, ToolTip, TrayMethods};
use tauri::AppHandle;
use tokio::sync::mpsc;

/// An icon that is shown, or that will be as soon as the desktop has a tray.
pub struct Icon(Handle<Item>);

impl Icon {
    /// An error if there is no session bus.
    pub async fn new(
        app: &AppHandle,
        contents: Contents,
        choose: mpsc::UnboundedSender<Choice>,
    ) -> anyhow::Result<Self> {
        let icon = app.default_window_icon().context("the app has no icon")?;
        let item = Item { contents, pixels: pixels(icon), choose };
        let is_flatpak = std::env::var_os("FLATPAK_ID").is_some();
        // A sandbox may not own the name that the specification asks for. A tray that starts later is found, too.
        let item = item.disable_dbus_name(is_flatpak).assume_sni_available(true);
        Ok(Self(item.spawn().await?))
    }

    pub async fn set(&self, _: &AppHandle, contents: Contents) -> anyhow::Result<()> {
        self.0.update(|item| item.contents = contents).await.context("the session bus is gone")
    }

    pub async fn remove(self, _: &AppHandle) -> anyhow::Result<()> {
        self.0.shutdown().await;
        Ok(())
    }
}

struct Item {
    contents: Contents,
    pixels: ksni::Icon,
    choose: mpsc::UnboundedSender<Choice>,
}

impl Item {
    /// The picture of the present state, whichever the tray reads. ksni (0.3.7) emits `NewIcon` and `NewAttentionIcon` only
    /// for pictures that have changed, and xfce4-panel (4.18) redraws neither after `NewStatus` alone.
    fn picture(&self) -> ksni::Icon {
        let pixels = self.pixels.clone();
        if self.contents.needs_user { marked(pixels) } else { pixels }
    }

    fn choose(&self, choice: Choice) {
        if self.choose.send(choice).is_err() {
            tracing::debug!("something was chosen in the tray while the app was ending");
        }
    }
}

impl ksni::Tray for Item {
    fn id(&self) -> String {
        "deskbell".to_owned()
    }

    fn title(&self) -> String {
        "Deskbell".to_owned()
    }

    fn status(&self) -> Status {
        if self.contents.needs_user { Status::NeedsAttention } else { Status::Active }
    }

    fn icon_pixmap(&self) -> Vec<ksni::Icon> {
        vec![self.picture()]
    }

    fn attention_icon_pixmap(&self) -> Vec<ksni::Icon> {
        vec![self.picture()]
    }

    fn tool_tip(&self) -> ToolTip {
        ToolTip { title: self.contents.tooltip.clone(), ..ToolTip::default() }
    }

    fn activate(&mut self, _: i32, _: i32) {
        self.choose(Choice::Board);
    }

    fn menu(&self) -> Vec<MenuItem<Self>> {
        self.contents.entries.iter().map(item).collect()
    }

    /// The desktop may get a tray later.
    fn watcher_offline(&self, reason: OfflineReason) -> bool {
        tracing::info!(?reason, "the desktop shows no tray");
        true
    }
}

fn item(entry: &Entry) -> MenuItem<Item> {
    // One underline marks the key of an entry.
    let label = |label: &str| label.replace('_', "__");
    match entry {
        Entry::Separator => MenuItem::Separator,
        Entry::Text(text) => StandardItem { label: label(text), enabled: false, ..Default::default() }.into(),
        Entry::Choice(text, choice) => {
            let choice = choice.clone();
            let activate = Box::new(move |item: &mut Item| item.choose(choice.clone()));
            StandardItem { label: label(text), activate, ..Default::default() }.into()
        }
    }
}

/// The image as the specification has it: ARGB, in network byte order.
fn pixels(icon: &tauri::image::Image<'_>) -> ksni::Icon {
    let mut data = icon.rgba().to_vec();
    data.chunks_exact_mut(4).for_each(|pixel| pixel.rotate_right(1));
    let length = |length: u32| i32::try_from(length).unwrap_or(0);
    ksni::Icon { width: length(icon.width()), height: length(icon.height()), data }
}

/// The icon with a dot in its lower right corner.
fn marked(mut icon: ksni::Icon) -> ksni::Icon {
    const DOT: [u8; 4] = [255, 0xd9, 0x48, 0x0f];
    let radius = icon.width / 5;
    let (middle_x, middle_y) = (icon.width - radius - 1, icon.height - radius - 1);
    let width = usize::try_from(icon.width).unwrap_or(0).max(1);
    for (at, pixel) in icon.data.chunks_exact_mut(4).enumerate() {
        let (x, y) = ((at % width) as i32 - middle_x, (at / width) as i32 - middle_y);
        if x * x + y * y <= radius * radius {
            pixel.copy_from_slice(&DOT);
        }
    }
    icon
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pixels_are_argb() {
        let image = tauri::image::Image::new(&[1, 2, 3, 255, 5, 6, 7, 0], 2, 1);
        let icon = pixels(&image);
        assert_eq!((icon.width, icon.height, icon.data), (2, 1, vec![255, 1, 2, 3, 0, 5, 6, 7]));
    }

    #[test]
    fn both_pictures_change_with_the_state() {
        use ksni::Tray;
        let contents = |needs_user| Contents { tooltip: String::new(), needs_user, entries: Vec::new() };
        let pixels = ksni::Icon { width: 10, height: 10, data: vec![0; 400] };
        let (choose, _choices) = mpsc::unbounded_channel();
        let mut item = Item { contents: contents(false), pixels: pixels.clone(), choose };
        let pictures = |item: &Item| {
            [item.icon_pixmap(), item.attention_icon_pixmap()].map(|pictures| pictures[0].data.clone())
        };
        assert_eq!(pictures(&item), [pixels.data.clone(), pixels.data.clone()]);
        item.contents = contents(true);
        let marked = marked(pixels).data;
        assert_eq!(pictures(&item), [marked.clone(), marked]);
    }

    #[test]
    fn the_mark_is_in_the_corner() {
        let icon = ksni::Icon { width: 10, height: 10, data: vec![0; 400] };
        let icon = marked(icon);
        let is_set = |x: usize, y: usize| icon.data[(y * 10 + x) * 4] != 0;
        assert!(is_set(7, 7) && !is_set(0, 0) && !is_set(9, 9) && !is_set(3, 7));
    }
}
