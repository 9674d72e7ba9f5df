//! The jump list itself, by the interfaces of the shell (`ICustomDestinationList`, since Windows 7).

use super::{JumpList, Link};
use std::collections::HashSet;
use std::path::Path;
use windows::Win32::Foundation::E_ACCESSDENIED;
use windows::Win32::Storage::EnhancedStorage::PKEY_Title;
use windows::Win32::System::Com::StructuredStorage::PROPVARIANT;
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_APARTMENTTHREADED, CoCreateInstance, CoInitializeEx, CoUninitialize,
};
use windows::Win32::UI::Shell::Common::{IObjectArray, IObjectCollection};
use windows::Win32::UI::Shell::PropertiesSystem::IPropertyStore;
use windows::Win32::UI::Shell::{
    DestinationList, EnumerableObjectCollection, ICustomDestinationList, IShellLinkW, ShellLink,
};
use windows::core::{GUID, HSTRING, Interface, Result};

/// The longest arguments of a program, in UTF-16 units.
const ARGUMENTS: usize = 32_768;

/// Replaces the jump list of this program. Call it on a thread that uses COM for nothing else.
pub fn show(program: &Path, wanted: &JumpList) -> Result<()> {
    let _apartment = Apartment::enter()?;
    let list: ICustomDestinationList = create(&DestinationList)?;
    let mut room = 0;
    // SAFETY: the number is written before the call returns.
    let removed: IObjectArray = unsafe { list.BeginList(&mut room)? };
    let projects = wanted.projects_in(room as usize, &arguments_of(&removed)?);
    if !projects.is_empty() {
        let links = collection(program, projects)?;
        // SAFETY: the name lives as long as the call.
        let added = unsafe { list.AppendCategory(&HSTRING::from("Projects"), &links) };
        // The user does not want recent things to be listed; the tasks are none.
        added.or_else(|error| if error.code() == E_ACCESSDENIED { Ok(()) } else { Err(error) })?;
    }
    let tasks = collection(program, wanted.tasks.iter().collect())?;
    // SAFETY: calls of a list that was begun.
    unsafe {
        list.AddUserTasks(&tasks)?;
        list.CommitList()
    }
}

fn create<T: Interface>(class: &GUID) -> Result<T> {
    // SAFETY: the thread has an apartment, and the class lives as long as the call.
    unsafe { CoCreateInstance(class, None, CLSCTX_INPROC_SERVER) }
}

/// The arguments of the links that the user removed from the list.
fn arguments_of(removed: &IObjectArray) -> Result<HashSet<String>> {
    let mut all = HashSet::new();
    // SAFETY: a call of a live object.
    for at in 0..unsafe { removed.GetCount()? } {
        // SAFETY: as above. What is no link is none of ours.
        let Ok(link) = (unsafe { removed.GetAt::<IShellLinkW>(at) }) else { continue };
        let mut arguments = vec![0; ARGUMENTS];
        // SAFETY: the call writes at most as much as the buffer holds, with its end.
        unsafe { link.GetArguments(&mut arguments)? };
        let end = arguments.iter().position(|unit| *unit == 0).unwrap_or(arguments.len());
        all.insert(String::from_utf16_lossy(&arguments[..end]));
    }
    Ok(all)
}

fn collection(program: &Path, links: Vec<&Link>) -> Result<IObjectArray> {
    let all: IObjectCollection = create(&EnumerableObjectCollection)?;
    for link in links {
        // SAFETY: the collection keeps the link.
        unsafe { all.AddObject(&shell_link(program, link)?)? };
    }
    all.cast()
}

fn shell_link(program: &Path, link: &Link) -> Result<IShellLinkW> {
    let program = HSTRING::from(program);
    let made: IShellLinkW = create(&ShellLink)?;
    // SAFETY: the link copies each text before the call returns.
    unsafe {
        made.SetPath(&program)?;
        made.SetArguments(&HSTRING::from(&*link.arguments))?;
        made.SetDescription(&HSTRING::from(&*link.tooltip))?;
        made.SetIconLocation(&program, 0)?;
    }
    // A link has its title only among its properties.
    let properties: IPropertyStore = made.cast()?;
    // SAFETY: the store copies the value before the call returns.
    unsafe {
        properties.SetValue(&PKEY_Title, &PROPVARIANT::from(&*link.title))?;
        properties.Commit()?;
    }
    Ok(made)
}

/// COM on this thread, until it is dropped: declared first, it outlives every object.
struct Apartment;

impl Apartment {
    fn enter() -> Result<Self> {
        // SAFETY: each success is paired with an end, on the same thread.
        unsafe { CoInitializeEx(None, COINIT_APARTMENTTHREADED) }.ok()?;
        Ok(Self)
    }
}

impl Drop for Apartment {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { CoUninitialize() };
    }
}
