//! The accessibility tree (AT-SPI) of the programs on a desktop, as a screen reader reads it.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use zbus::zvariant::DynamicType;
use zbus::{OwnedObjectPath, OwnedVariant};

use super::bus::accessibility_address;
use super::desktop::Desktop;

const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
/// Bits of the first word of a state set.
const SENSITIVE: u32 = 1 << 24;
const SHOWING: u32 = 1 << 25;
/// Coordinates of the whole screen.
const SCREEN: u32 = 0;
/// A tree deeper than this is a loop.
const DEEPEST: usize = 60;

/// An object by its bus name and path.
type Reference = (String, OwnedObjectPath);

/// The accessibility bus of one desktop.
#[derive(Clone, Debug)]
pub struct Accessibility {
    connection: zbus::Connection,
}

impl Accessibility {
    /// Connects to the accessibility bus of `desktop`.
    pub async fn on(desktop: &Desktop) -> Result<Self> {
        let session = desktop.bus().connect().await?;
        let address = accessibility_address(&session).await?;
        let connection = zbus::connection::Builder::address(address.as_str())
            .method_timeout(crate::wait::SHORT)
            .build()
            .await?;
        Ok(Self { connection })
    }

    /// The bus itself, and its registry of event listeners.
    pub(super) fn connection(&self) -> &zbus::Connection {
        &self.connection
    }

    /// The object with this name and path from an event.
    pub(super) fn object(&self, bus_name: &str, path: OwnedObjectPath) -> Accessible {
        Accessible { connection: self.connection.clone(), bus_name: bus_name.to_owned(), path }
    }

    /// The programs on the bus, each the root of a tree.
    pub async fn programs(&self) -> Result<Vec<Accessible>> {
        let root = Accessible {
            connection: self.connection.clone(),
            bus_name: "org.a11y.atspi.Registry".into(),
            path: OwnedObjectPath::try_from("/org/a11y/atspi/accessible/root")?,
        };
        root.children().await
    }

    /// The first displayed object of this role in any program, whose name `is_wanted`.
    pub async fn displayed(
        &self,
        role: Role,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Accessible>> {
        for program in self.programs().await? {
            for object in program.tree().await {
                // An object that disappears meanwhile is none.
                if object.role().await.is_ok_and(|found| found == role)
                    && object.name().await.is_ok_and(|name| is_wanted(&name))
                    && object.showing().await.unwrap_or(false)
                {
                    return Ok(Some(object));
                }
            }
        }
        Ok(None)
    }
}

/// One object of the accessibility tree.
#[derive(Clone, Debug)]
pub struct Accessible {
    connection: zbus::Connection,
    bus_name: String,
    path: OwnedObjectPath,
}

/// A role, by AT-SPI's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role(pub u32);

impl Role {
    pub const ALERT: Self = Self(2);
    pub const DIALOG: Self = Self(16);
    pub const LABEL: Self = Self(29);
    pub const MENU: Self = Self(33);
    pub const MENU_ITEM: Self = Self(35);
    pub const BUTTON: Self = Self(43);
    pub const TEXT: Self = Self(61);
    pub const ENTRY: Self = Self(79);
    pub const PANEL: Self = Self(39);
    pub const LANDMARK: Self = Self(110);
    pub const LOG: Self = Self(111);
}

/// A rectangle of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

impl Extents {
    /// Its centre.
    pub fn middle(self) -> (i32, i32) {
        (self.x + self.width / 2, self.y + self.height / 2)
    }
}

impl Accessible {
    /// The direct children of this object.
    pub async fn children(&self) -> Result<Vec<Accessible>> {
        let mut children: Vec<Reference> = self.call(ACCESSIBLE, "GetChildren", &()).await?;
        if children.is_empty() {
            // A webview's page is another program's tree, which `GetChildren` leaves out.
            for index in 0..self.child_count().await? {
                children.push(self.call(ACCESSIBLE, "GetChildAtIndex", &(index,)).await?);
            }
        }
        Ok(children
            .into_iter()
            .filter(|(_, path)| path.as_str() != "/org/a11y/atspi/null")
            .map(|(bus_name, path)| Accessible { connection: self.connection.clone(), bus_name, path })
            .collect())
    }

    /// Its accessible name.
    pub async fn name(&self) -> Result<String> {
        Ok(String::try_from(self.property("Name").await?)?)
    }

    /// Its role. By number: WebKit leaves the names of most roles empty.
    pub async fn role(&self) -> Result<Role> {
        Ok(Role(self.call(ACCESSIBLE, "GetRole", &()).await?))
    }

    /// Whether it is on the screen.
    pub async fn showing(&self) -> Result<bool> {
        Ok(self.states().await? & SHOWING != 0)
    }

    /// Whether it is enabled.
    pub async fn sensitive(&self) -> Result<bool> {
        Ok(self.states().await? & SENSITIVE != 0)
    }

    /// Its attributes: `container-live` says whether changes in it are read out.
    pub async fn attributes(&self) -> Result<HashMap<String, String>> {
        self.call(ACCESSIBLE, "GetAttributes", &()).await
    }

    /// Its text, if it holds one: a label's or a field's.
    pub async fn text(&self) -> Result<String> {
        self.call("org.a11y.atspi.Text", "GetText", &(0_i32, -1_i32)).await
    }

    /// Where a character of its text is on the screen, counted from 0.
    pub async fn character_extents(&self, index: usize) -> Result<Extents> {
        let place = (i32::try_from(index)?, SCREEN);
        let (x, y, width, height) = self.call("org.a11y.atspi.Text", "GetCharacterExtents", &place).await?;
        Ok(Extents { x, y, width, height })
    }

    /// Replaces the text of a field.
    pub async fn set_text(&self, text: &str) -> Result<bool> {
        self.call("org.a11y.atspi.EditableText", "SetTextContents", &(text,)).await
    }

    /// Performs its first action: presses a button.
    pub async fn press(&self) -> Result<bool> {
        self.call("org.a11y.atspi.Action", "DoAction", &(0_i32,)).await
    }

    /// Where it is on the screen.
    pub async fn extents(&self) -> Result<Extents> {
        let (x, y, width, height) = self.call("org.a11y.atspi.Component", "GetExtents", &(SCREEN,)).await?;
        Ok(Extents { x, y, width, height })
    }

    /// This object and all below it, in reading order. Objects that disappear during the walk are left out.
    pub async fn tree(&self) -> Vec<Accessible> {
        let mut found = Vec::new();
        let mut open = vec![(self.clone(), 0)];
        while let Some((object, depth)) = open.pop() {
            if depth < DEEPEST {
                let children = object.children().await.unwrap_or_default();
                open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
            }
            found.push(object);
        }
        found
    }

    /// The first object in this tree of that role and name.
    pub async fn find(&self, role: Role, name: &str) -> Option<Accessible> {
        for object in self.tree().await {
            let same_role = object.role().await.is_ok_and(|found| found == role);
            if same_role && object.name().await.is_ok_and(|found| found == name) {
                return Some(object);
            }
        }
        None
    }

    async fn child_count(&self) -> Result<i32> {
        Ok(i32::try_from(self.property("ChildCount").await?)?)
    }

    async fn property(&self, name: &str) -> Result<OwnedVariant> {
        self.call("org.freedesktop.DBus.Properties", "Get", &(ACCESSIBLE, name)).await
    }

    async fn states(&self) -> Result<u32> {
        let states: Vec<u32> = self.call(ACCESSIBLE, "GetState", &()).await?;
        Ok(states.first().copied().unwrap_or_default())
    }

    async fn call<B, T>(&self, interface: &str, method: &str, body: &B) -> Result<T>
    where
        B: serde::Serialize + DynamicType,
        T: DeserializeOwned + zbus::zvariant::Type,
    {
        let reply = self
            .connection
            .call_method(Some(self.bus_name.as_str()), &self.path, Some(interface), method, body)
            .await
            .with_context(|| format!("{interface}.{method}"))?;
        Ok(reply.body().deserialize()?)
    }
}
