// Svelte contexts that pass the window's state down the component tree.

import { createContext } from 'svelte';

import type { Attention, Clock } from '../kit/attention.svelte';
import type { Pane } from '../session/pane.svelte';
import type { ProjectState } from './project.svelte';

export const [getProject, setProject] = createContext<ProjectState>();
/** The pane that a component is in; outside of both, the pane of the open session. */
export const [getPane, setPane] = createContext<Pane>();
export const [getAttention, setAttention] = createContext<Attention>();
export const [getClock, setClock] = createContext<Clock>();
