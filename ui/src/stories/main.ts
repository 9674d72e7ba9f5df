// Entry point of the story pages. Not a part of the app.

import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '../app.css';

import { mount } from 'svelte';

import { FakeHost } from '../fake/host';
import { applyStoredTheme } from '../lib/window/settings/theme.svelte';
import * as cards from '../lib/session/asking/later';
import * as list from '../lib/project/sessions/later';
import * as box from '../lib/session/composer/later';
import { Attention, systemClock } from '../lib/kit/attention.svelte';
import { ProjectState } from '../lib/project/project.svelte';
import { pages } from './all';
import Gallery from './Gallery.svelte';

applyStoredTheme();
// As a modal, one dialog would hide all others.
HTMLDialogElement.prototype.showModal = HTMLDialogElement.prototype.show;

const target = document.getElementById('app');
if (!target) throw new Error('stories.html has no #app');
const name = new URLSearchParams(location.search).get('page') ?? 'kit';
const page = Object.entries(pages).find(([known]) => known === name)?.[1];
if (page === undefined) throw new Error(`there is no page “${name}”`);
// A story writes into a card at once.
await Promise.all(Object.values({ ...cards, ...box, ...list }).map((part) => part.load()));
const project = await ProjectState.start(new FakeHost('conversation'));
const gallery = mount(Gallery, {
  target,
  props: { stories: page(), project, attention: new Attention(), clock: systemClock },
});
await gallery.play();
document.documentElement.dataset['ready'] = 'true';
