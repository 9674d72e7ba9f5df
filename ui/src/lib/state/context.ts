// Svelte contexts that pass the window's state down the component tree.

import { createContext } from 'svelte';

import type { Attention, Clock } from './attention.svelte';
import type { ProjectState } from './project.svelte';

export const [getProject, setProject] = createContext<ProjectState>();
export const [getAttention, setAttention] = createContext<Attention>();
export const [getClock, setClock] = createContext<Clock>();
