// Svelte contexts that pass a session's pane and its project down the component tree.

import { createContext } from 'svelte';

import { setCopyPart } from '../kit/surroundings';
import { setNamedFiles } from '../document/namedFiles';
import type { Pane } from './pane.svelte';
import { PaneFiles } from './paneFiles';
import type { SessionProject } from './sessionProject';

const [getPane, providePane] = createContext<Pane>();

/** The pane that a component is in; outside of all panes, the pane of the open session. */
export { getPane };

export function setPane(pane: Pane): Pane {
  setCopyPart((part) => pane.copyOf(part));
  setNamedFiles(new PaneFiles(pane));
  return providePane(pane);
}

export const [getSessionProject, setSessionProject] = createContext<SessionProject>();
