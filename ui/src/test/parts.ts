// The window with all its parts loaded, so that tests do not wait for a part's script.

import App from '../App.svelte';
import * as windows from '../later';
import * as cards from '../lib/session/asking/later';
import * as box from '../lib/session/composer/later';
import * as list from '../lib/project/sessions/later';
import * as dialogs from '../lib/session/conversation/later';
import * as parts from '../lib/window/desk/later';

await Promise.all(
  Object.values({ ...windows, ...cards, ...box, ...list, ...dialogs, ...parts }).map((part) => part.load()),
);

export { App };
