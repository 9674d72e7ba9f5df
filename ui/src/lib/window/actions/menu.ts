// The menu of a window: the actions of the table in its order, with their keys, and only those that apply.

import type { MenuEntry } from '../../bindings/api';
import { isMac } from '../../kit/keys';
import type { MenuItem } from '../../kit/MenuList.svelte';
import type { Action, Choice, Desk } from './action';
import { chordShown, labelOf, ownTarget, perform } from './perform';
import { ACTIONS, actionOf, chordsOf } from './table';

/** The place of each action by its id, in sections. A test finds an action that is missing. */
export const MENUS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  File: [
    ['new', 'new-with', 'new-with-profile', 'new-in-worktree', 'demo'],
    ['open-folder', 'open-far', 'recent', 'worktrees'],
    ['export-markdown', 'export-html', 'export-json'],
    ['settings', 'keys', 'settings-file'],
    ['quit'],
  ],
  Edit: [
    ['find', 'search'],
    ['paste'],
    ['copy-message', 'copy-input', 'copy-output', 'copy-call'],
    ['copy', 'resume', 'link'],
    ['edit-file', 'reveal', 'copy-path'],
  ],
  View: [
    ['sessions', 'side', 'changes', 'commit', 'fold'],
    ['side-by-side', 'swap-sides', 'close-second', 'own-window'],
    ['context', 'usage', 'lines'],
    ['larger', 'smaller', 'usual', 'theme'],
  ],
  Session: [
    ['rename', 'generate-title', 'pin', 'archive'],
    ['fork', 'fork-before', 'ask-another', 'terminal', 'record'],
    ['side-question'],
    ['rewind', 'undo-rewind'],
    ['reconnect'],
    ['remove', 'restore'],
  ],
  Agent: [
    ['interrupt', 'to-background', 'stop-all', 'stop-next', 'continue', 'continue-at-reset'],
    ['mode', 'next-mode', 'model', 'effort', 'agent-setting', 'thinking', 'preset'],
    ['rules', 'configuration', 'options', 'trust', 'keep-running'],
    ['without-asking', 'stop'],
  ],
  Go: [
    ['palette'],
    ['request', 'prompt', 'queue', 'read'],
    ['next', 'previous', 'next-part', 'previous-part'],
    ['board', 'start-page'],
  ],
  Help: [['help', 'doctor', 'diagnostics', 'login']],
};

/** Largest number of choices in a submenu. The palette has all of them. */
const MOST = 20;

/** Between the ids of an action and of its choice. No action has it in its id. */
const OF = '/';
const ALL = `${OF}all`;

function choiceItems({ id, label }: Action, choices: readonly Choice[]): MenuItem[] {
  const items = choices.slice(0, MOST).map((choice) => ({
    id: `${id}${OF}choice${OF}${choice.id}`,
    label: choice.label,
    ...(choice.isCurrent === undefined ? {} : { checked: choice.isCurrent }),
    ...(choice.detail === undefined ? {} : { description: choice.detail }),
  }));
  return choices.length <= MOST ? items : [...items, { id: id + ALL, label: `${label}: all…`, separated: true }];
}

function itemOf(desk: Desk, action: Action): MenuItem[] {
  const on = ownTarget(desk, action);
  if (action.isAbsent?.(desk, on) === true) return [];
  const why = action.off?.(desk, on) ?? null;
  const key = chordShown(action);
  const { id, does, isDanger: danger = false } = action;
  const item = { id, label: labelOf(desk, action, on), danger, ...(key === undefined ? {} : { key }) };
  if (why !== null) return [{ ...item, disabled: true, title: why }];
  return ['run' in does ? item : { ...item, items: choiceItems(action, does.choices(desk, on)) }];
}

/** A menu of menus: each section is separated from the one before, and what is empty is left out. */
function menusOf(itemsOf: (action: Action) => MenuItem[]): MenuItem[] {
  return Object.entries(MENUS).flatMap(([name, sections]) => {
    const items = sections.flatMap((section) =>
      section.flatMap((id) => itemsOf(actionOf(id))).map((item, i) => (i === 0 ? { ...item, separated: true } : item)),
    );
    return items.length === 0 ? [] : [{ id: name, label: name, items }];
  });
}

/** The menu of a project's window. */
export const projectMenu = (desk: Desk): MenuItem[] => menusOf((action) => itemOf(desk, action));

/** Does what an item of that menu says. */
export function pickInMenu(desk: Desk, id: string): void {
  const [actionId = '', ...rest] = id.split(OF);
  const action = ACTIONS.find((one) => one.id === actionId);
  if (action === undefined) return;
  const wanted = id.slice(`${actionId}${OF}choice${OF}`.length);
  const isChoice = rest[0] === 'choice' && 'choices' in action.does;
  const choices = isChoice && 'choices' in action.does ? action.does.choices(desk, ownTarget(desk, action)) : [];
  const choice = choices.find((one) => one.id === wanted);
  if (choice === undefined) perform(desk, action);
  else choice.run();
}

/** What the start page or the board can do, by the ids of actions. */
export type PageActs = Readonly<Record<string, () => void>>;

/** The menu of the start page or of the board. */
export const pageMenu = (acts: PageActs): MenuItem[] =>
  menusOf((action) => {
    const key = chordShown(action);
    return action.id in acts ? [{ id: action.id, label: action.label, ...(key === undefined ? {} : { key }) }] : [];
  });

/** The chord of an entry that the menu bar may have; the element with the focus handles the keys of the others. */
function chordInBar(id: string, mac: boolean): string | null {
  const action = ACTIONS.find((one) => one.id === id);
  if (action === undefined || action.isLocal === true || action.isKeyOnly === true) return null;
  return chordsOf(action, mac)[0] ?? null;
}

/** A menu for the menu bar of the system. */
export const barOf = (items: readonly MenuItem[], mac = isMac): MenuEntry[] =>
  items.map(({ id, label, disabled = false, checked = null, separated = false, items: inside }) => ({
    id,
    label,
    chord: chordInBar(id, mac),
    enabled: !disabled,
    checked,
    separated,
    items: inside === undefined ? null : barOf(inside, mac),
  }));
