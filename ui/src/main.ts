// Entry point of the interface: selects the host, applies the theme and mounts the window.

import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import './app.css';

import { mount } from 'svelte';

import App from './App.svelte';
import { connectHost } from './lib/host/connect';
import { applyStoredTheme } from './lib/settings/theme.svelte';

applyStoredTheme();

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
const host = await connectHost();
mount(App, { target, props: { host } });
