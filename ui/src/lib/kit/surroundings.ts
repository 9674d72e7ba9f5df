// Svelte contexts with the functions that controls need from their window.

import { createContext } from 'svelte';

import type { CopyOf } from '../bindings/api';
import type { Attention, Clock } from './attention.svelte';

/** The window around a control. */
export interface Surroundings {
  /** Copies a text. Resolves to whether it was copied. */
  writeClipboard(text: string): Promise<boolean>;
  /** Opens a link in the desktop's browser. Resolves to whether it was opened. */
  openLink(url: string): Promise<boolean>;
  /** Writes an error of the page to the program's log. */
  reportPageError(place: string, error: unknown): void;
  /** An overlay hides the permission cards until the returned function is called. */
  coverCards(): () => void;
}

export const [getSurroundings, setSurroundings] = createContext<Surroundings>();
/** Copies a part of the session that a control is in, from the engine. Resolves to whether it was copied. */
export type CopyPart = (part: CopyOf) => Promise<boolean>;

export const [getCopyPart, setCopyPart] = createContext<CopyPart>();
export const [getAttention, setAttention] = createContext<Attention>();
export const [getClock, setClock] = createContext<Clock>();
