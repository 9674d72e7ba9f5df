// The window with all of its parts loaded: tests of what a part does do not wait for its script.

import App from '../App.svelte';
import * as windows from '../later';
import * as dialogs from '../lib/session/conversation/later';
import * as parts from '../lib/window/desk/later';

await Promise.all(Object.values({ ...windows, ...dialogs, ...parts }).map((part) => part.load()));

export { App };
