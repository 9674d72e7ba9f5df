// The interface, once the page is drawn: selects the host, applies the theme and the accent colour, and mounts the window.

import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';

import { mount } from 'svelte';

import App from './App.svelte';
import { connectHost } from './connect';
import { applyStoredAccent } from './lib/window/settings/appearance.svelte';
import { applyStoredTheme } from './lib/window/settings/theme.svelte';

applyStoredTheme();
applyStoredAccent();

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
const host = await connectHost();
mount(App, { target, props: { host } });
