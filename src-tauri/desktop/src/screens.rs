//! The screens: a window is never larger than all of them, and is never put or left where none is.

use tauri::{AppHandle, Monitor, PhysicalSize, WebviewWindow};

/// The part of a window that has to be on a screen, in physical pixels: enough of the title bar to drag it.
const LEAST_VISIBLE: (i32, i32) = (120, 24);

/// A rectangle on the desktop: its left, top, right and bottom edge, in physical pixels.
type Edges = (i32, i32, i32, i32);

/// The size for a window that does not exist yet, in logical pixels, from the size and place that it had. mutter (43)
/// maximises a window that covers most of its screen when it appears.
pub fn first_size(
    app: &AppHandle,
    size: (u32, u32),
    position: Option<(i32, i32)>,
) -> tauri::Result<(f64, f64)> {
    let monitors = app.available_monitors()?;
    let (width, height) = fitting(size, &monitors.iter().map(edges).collect::<Vec<_>>());
    let (x, y) = position.unwrap_or_default();
    let has_place = |screen: &&Monitor| {
        let (left, top, right, bottom) = edges(screen);
        (left..right).contains(&x) && (top..bottom).contains(&y)
    };
    let screen = monitors.iter().find(has_place).or(monitors.first());
    Ok(PhysicalSize::new(width, height).to_logical::<f64>(screen.map_or(1.0, Monitor::scale_factor)).into())
}

/// Gives a window the size and place that it had, as far as the screens have room: the one that it was on may be gone. Then
/// the system chooses the place.
pub fn place(
    window: &WebviewWindow,
    size: Option<(u32, u32)>,
    position: Option<(i32, i32)>,
) -> tauri::Result<()> {
    let screens = screens(window)?;
    let size = size.map(|size| fitting(size, &screens));
    if let Some((width, height)) = size {
        window.set_size(tauri::PhysicalSize::new(width, height))?;
    }
    if let Some((x, y)) = position {
        let width = size.map_or(LEAST_VISIBLE.0, |(width, _)| i32::try_from(width).unwrap_or(i32::MAX));
        if is_reachable((x, y), width, &screens) {
            window.set_position(tauri::PhysicalPosition::new(x, y))?;
        }
    }
    Ok(())
}

fn screens(window: &WebviewWindow) -> tauri::Result<Vec<Edges>> {
    Ok(window.available_monitors()?.iter().map(edges).collect())
}

fn edges(screen: &Monitor) -> Edges {
    let length = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let (at, size) = (screen.position(), screen.size());
    (at.x, at.y, at.x.saturating_add(length(size.width)), at.y.saturating_add(length(size.height)))
}

/// A remembered size, as far as a screen has room for it: the screen that it was on may be gone.
fn fitting((width, height): (u32, u32), screens: &[Edges]) -> (u32, u32) {
    let most = |extent: fn(&Edges) -> i32, wanted: u32| {
        let largest = screens.iter().filter_map(|edges| u32::try_from(extent(edges)).ok()).max();
        largest.map_or(wanted, |largest| wanted.min(largest))
    };
    let across = |(left, _, right, _): &Edges| right.saturating_sub(*left);
    let down = |(_, top, _, bottom): &Edges| bottom.saturating_sub(*top);
    (most(across, width), most(down, height))
}

/// Where a window of this width is on the first screen, as near as possible to where it was.
fn moved_on_screen((x, y): (i32, i32), width: i32, screens: &[Edges]) -> Option<(i32, i32)> {
    let (left, top, right, bottom) = *screens.first()?;
    let last = |far: i32, near: i32, length: i32| far.saturating_sub(length).max(near);
    Some((x.clamp(left, last(right, left, width)), y.clamp(top, last(bottom, top, LEAST_VISIBLE.1))))
}

/// Brings a window back that is on no screen any more.
pub fn bring_back(window: &WebviewWindow) -> tauri::Result<()> {
    let (at, size, screens) = (window.outer_position()?, window.outer_size()?, screens(window)?);
    let width = i32::try_from(size.width).unwrap_or(i32::MAX);
    if is_reachable((at.x, at.y), width, &screens) {
        return Ok(());
    }
    match moved_on_screen((at.x, at.y), width, &screens) {
        Some((x, y)) => window.set_position(tauri::PhysicalPosition::new(x, y)),
        None => Ok(()),
    }
}

/// Whether enough of the window's top edge is on a screen. Without a list of screens it is assumed to be.
fn is_reachable((x, y): (i32, i32), width: i32, screens: &[Edges]) -> bool {
    let on = |(left, top, right, bottom): &Edges| {
        let visible = x.saturating_add(width).min(*right).saturating_sub(x.max(*left));
        visible >= LEAST_VISIBLE.0.min(width) && y >= *top && y.saturating_add(LEAST_VISIBLE.1) <= *bottom
    };
    screens.is_empty() || screens.iter().any(on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_not_larger_than_every_screen() {
        let two = [(0, 0, 1280, 720), (1280, 0, 3200, 1080)];
        assert_eq!(fitting((1180, 700), &two), (1180, 700));
        assert_eq!(fitting((2560, 1400), &two), (1920, 1080));
        assert_eq!(fitting((2560, 1400), &two[..1]), (1280, 720));
        assert_eq!(fitting((2560, 1400), &[]), (2560, 1400), "the screens are not known");
    }

    #[test]
    fn a_window_is_not_put_where_no_screen_is() {
        let one = [(0, 0, 1920, 1080)];
        let two = [(0, 0, 1920, 1080), (1920, -200, 4480, 1240)];
        assert!(is_reachable((100, 50), 1180, &one));
        assert!(is_reachable((1920, -200), 1180, &two), "on the second screen");
        assert!(!is_reachable((1920, 0), 1180, &one), "that screen is gone");
        assert!(is_reachable((-1000, 0), 1180, &one), "half of it is on the screen");
        assert!(!is_reachable((-1100, 0), 1180, &one), "a strip is left");
        assert!(!is_reachable((100, -30), 1180, &one), "its title bar is above the screen");
        assert!(!is_reachable((100, 1070), 1180, &one), "its title bar is below the screen");
        assert!(!is_reachable((i32::MAX, i32::MAX), i32::MAX, &two));
        assert!(is_reachable((5_000, 5_000), 1180, &[]), "the screens are not known");
        for at in [(1920, 0), (-1100, 0), (100, -30), (100, 1070), (i32::MAX, i32::MIN)] {
            let moved = moved_on_screen(at, 1180, &one).unwrap();
            assert!(is_reachable(moved, 1180, &one), "{at:?} moved to {moved:?}");
        }
        assert_eq!(moved_on_screen((1421, 90), 900, &[(0, 0, 1280, 960)]), Some((380, 90)));
        assert_eq!(moved_on_screen((1421, 90), 1400, &[(0, 0, 1280, 960)]), Some((0, 90)), "it is wider");
        assert_eq!(moved_on_screen((5, 5), 900, &[]), None);
    }
}
