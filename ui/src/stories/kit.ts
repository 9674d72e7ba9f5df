// Stories of the basic components.

import { createRawSnippet } from 'svelte';

import type { Status } from '../lib/bindings/api';
import Alarm from '../lib/kit/Alarm.svelte';
import Banner from '../lib/kit/Banner.svelte';
import Button from '../lib/kit/Button.svelte';
import Guard from '../lib/kit/Guard.svelte';
import CopyButton from '../lib/kit/CopyButton.svelte';
import IconButton from '../lib/kit/IconButton.svelte';
import LongList from '../lib/kit/LongList.svelte';
import Menu from '../lib/kit/Menu.svelte';
import MenuList from '../lib/kit/MenuList.svelte';
import SearchField from '../lib/kit/SearchField.svelte';
import Splitter from '../lib/kit/Splitter.svelte';
import StatusMark from '../lib/session/StatusMark.svelte';
import { ignore, press, states, write, type Page } from './story';

const says = (words: string) => createRawSnippet(() => ({ render: () => `<span>${words}</span>` }));

export const choices = [
  { id: 'one', label: 'Ask', description: 'Asks before it acts', checked: true },
  { id: 'two', label: 'A mode with a longer name than others', description: 'Plans', checked: false },
  { id: 'three', label: 'Stop the agent', disabled: true },
  { id: 'four', label: 'Rename', key: 'F2' },
  { id: 'five', label: 'Remove session', danger: true, separated: true },
];

const withSubmenu = [
  { id: 'a', label: 'File', items: [{ id: 'n', label: 'New session', key: 'Ctrl+N' }] },
  { id: 'b', label: 'Fork this session', disabled: true, title: 'The session has no conversation yet.' },
];

const inMenu = { onpick: ignore, onclose: ignore, ontab: ignore };

const search = {
  label: 'Search in sessions',
  value: '',
  listId: 'results',
  expanded: false,
  markedId: undefined,
  onkeydown: ignore,
};

const STATUSES: Status[] = [
  { type: 'idle' },
  { type: 'starting' },
  { type: 'working', activity: '' },
  { type: 'needsInput', what: 'Has a question' },
  { type: 'completed' },
  { type: 'interrupted' },
  { type: 'background' },
  { type: 'failed', message: 'The API answered 529' },
  { type: 'stopped' },
];

const breaks = createRawSnippet(() => ({
  render: () => {
    throw new Error('a part that cannot be drawn');
  },
}));

export const kit: Page = () => [
  ...states('Guard', Guard, {
    'nothing to show': { part: 'The session list', children: breaks },
    'plain text': { part: 'This entry', text: () => 'cargo test -p ledger totals', children: breaks },
  }),
  ...states('Button', Button, {
    plain: { children: says('Deny') },
    main: { look: 'main', children: says('Start') },
    quiet: { look: 'quiet', children: says('Cancel') },
    disabled: { disabled: true, children: says('Allow once') },
    'main, disabled': { look: 'main', disabled: true, children: says('Start') },
    busy: { busy: true, children: says('Checking…') },
    'main, busy': { look: 'main', busy: true, children: says('Creating…') },
    'quiet, busy': { look: 'quiet', busy: true, children: says('Waiting…') },
  }),
  ...states('IconButton', IconButton, {
    plain: { label: 'More', children: says('⋯') },
    disabled: { label: 'Less', disabled: true, children: says('⋯') },
  }),
  ...states('CopyButton', CopyButton, { copied: [{ text: () => 'Money::round' }, (root) => press(root, 'Copy')] }),
  ...states(
    'StatusMark',
    StatusMark,
    Object.fromEntries(STATUSES.map((status) => [status.type, { status, unread: true }])),
  ),
  ...states('Alarm', Alarm, {
    'a surface': { icon: says('!'), children: says('The prompt was not sent.'), action: says('Dismiss') },
  }),
  ...states('Banner', Banner, {
    waiting: { label: 'A', icon: says('!'), children: says('The settings changed.'), actions: says('Review…') },
    failed: { look: 'failed', label: 'B', icon: says('!'), children: says('The agent does not ask.') },
  }),
  ...states('LongList', LongList, {
    'more to show': {
      entries: Array.from({ length: 1_240 }, () => 'src/money.rs'),
      step: 2,
      as: 'div',
      entry: says('src/money.rs'),
    },
  }),
  ...states('SearchField', SearchField, {
    empty: search,
    'with words and a control': [{ ...search, children: says('All projects') }, (root) => write(root, 'round')],
  }),
  ...states('Splitter', Splitter, {
    'at its usual place': {
      label: 'Width of the session list',
      width: 236,
      least: 180,
      most: 480,
      usual: 236,
      edge: 'right',
      onresize: ignore,
      ondone: ignore,
    },
  }),
  ...states('MenuList', MenuList, {
    'the reason of an entry': { label: 'Session', items: withSubmenu.slice(1), ...inMenu },
    'a submenu': [{ label: 'Menu', items: withSubmenu, ...inMenu }, (root) => press(root, 'File')],
  }),
  ...states('Menu', Menu, {
    closed: { label: 'Mode', items: choices, onpick: ignore, children: says('Ask') },
    disabled: { label: 'Model', items: [], disabled: true, onpick: ignore, children: says('Opus') },
    open: [{ label: 'Mode', items: choices, onpick: ignore, children: says('Ask') }, (root) => press(root, 'Mode')],
  }),
];
