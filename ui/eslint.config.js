import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

// Style attributes are blocked by the content security policy; `style:` directives are not.
const NO_STYLE = {
  selector: 'SvelteAttribute[key.name="style"]',
  message: 'Use a class, or a style: directive.',
};

const NO_DISABLED_WORK = {
  selector:
    'SvelteAttribute[key.name=/^(aria-)?disabled$/] Identifier[name=/^(is)?(busy|changing|checking|creating|loading|pending|reloading|restoring|saving|sending|starting|stopping)$/i]',
  message: 'An element that is disabled while it works loses the focus: use busy of Button, or src/lib/kit/busy.ts.',
};

const NO_HTML = 'No HTML string is ever drawn: documents are typed data.';

const TAURI = { group: ['@tauri-apps/*'], message: 'Only src/lib/host/tauri.ts knows Tauri.' };

/**
 * The folders of `src/lib` in import order: each may import the folders before it. Folder names are unique, so an import
 * path identifies its folder.
 */
const FOLDERS = [
  'bindings',
  'kit',
  'text',
  'document',
  'host',
  'session',
  ...[
    'usage',
    'asking',
    'changes',
    'rules',
    'options',
    'rewind',
    'lines',
    'viewer',
    'composer',
    'side',
    'configuration',
  ],
  'conversation',
  'project',
  ...['worktrees', 'pages', 'trust', 'search', 'machines', 'sessions'],
  'window',
  ...['settings', 'actions', 'palette', 'start', 'board', 'desk'],
];

/** Folders with subfolders. */
const ZONES = ['session', 'project', 'window'];

/** The sources of a folder; for a zone, only the files directly in it. */
const sourcesOf = (folder) => {
  const zone = ZONES.findLast((one) => FOLDERS.indexOf(one) < FOLDERS.indexOf(folder));
  if (ZONES.includes(folder)) return `src/lib/${folder}/*.{ts,svelte}`;
  return `src/lib/${zone === undefined ? '' : `${zone}/`}${folder}/**/*.{ts,svelte}`;
};

/** The rules for a folder: no static or dynamic import of a later folder, or of tests, stories and the fake host. */
const ordered = (folder, files = [sourcesOf(folder)], patterns = [TAURI]) => {
  const after = FOLDERS.slice(FOLDERS.indexOf(folder) + 1);
  const later = `(^|/)(${[...after, 'fake', 'stories', 'test'].join('|')})/`;
  const message = `src/lib/${folder} may use only the folders before it in FOLDERS (eslint.config.js).`;
  return {
    files,
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [...patterns, { regex: later, message }] }],
      'no-restricted-syntax': [
        'error',
        NO_STYLE,
        NO_DISABLED_WORK,
        { selector: `ImportExpression[source.value=/${later.replaceAll('/', '\\/')}/]`, message },
      ],
    },
  };
};

/** Everything that turns a string into elements. */
const htmlSinks = [
  ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment', 'srcdoc'].map(
    (property) => ({ property, message: NO_HTML }),
  ),
  ...['write', 'writeln'].map((property) => ({ object: 'document', property, message: NO_HTML })),
];

export default ts.config(
  { ignores: ['dist/'] },
  js.configs.recommended,
  ts.configs.strict,
  svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      'no-restricted-properties': [
        'error',
        ...htmlSinks,
        { property: 'isComposing', message: 'src/lib/kit/composing.ts keeps these keys from all handlers.' },
      ],
      'no-restricted-globals': ['error', { name: 'DOMParser', message: NO_HTML }],
      'no-eval': 'error',
      'no-restricted-imports': ['error', { patterns: [TAURI] }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // Template literals show numbers on purpose.
      '@typescript-eslint/restrict-template-expressions': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    rules: {
      'svelte/no-at-html-tags': 'error',
      'no-restricted-syntax': ['error', NO_STYLE, NO_DISABLED_WORK],
      'svelte/no-useless-mustaches': ['error', { ignoreStringEscape: true }],
      // Plain maps hold what no component reads by itself.
      'svelte/prefer-svelte-reactivity': 'off',
      'svelte/require-each-key': 'error',
      'svelte/button-has-type': 'error',
      // Documents are links to elsewhere: there are no routes to resolve.
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['src/lib/kit/composing.ts', 'src/lib/kit/keys.ts'],
    rules: { 'no-restricted-properties': ['error', ...htmlSinks] },
  },
  ...FOLDERS.map((folder) => ordered(folder)),
  ordered('host', ['src/lib/host/tauri.ts'], []),
  { files: ['*.js', '*.ts', 'shots/*.js'], languageOptions: { globals: { ...globals.node } } },
);
