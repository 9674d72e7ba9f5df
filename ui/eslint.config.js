import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

const NO_HTML = 'No HTML string is ever drawn: documents are typed data.';

/** Everything that turns a string into elements. */
const htmlSinks = [
  ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment', 'srcdoc'].map(
    (property) => ({ property, message: NO_HTML }),
  ),
  ...['write', 'writeln'].map((property) => ({ object: 'document', property, message: NO_HTML })),
];

export default ts.config(
  { ignores: ['dist/', 'src/lib/bindings/'] },
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
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['@tauri-apps/*'], message: 'Only src/lib/host/tauri.ts knows Tauri.' }] },
      ],
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
      // Style attributes are blocked by the content security policy; `style:` directives are not.
      'no-restricted-syntax': [
        'error',
        { selector: 'SvelteAttribute[key.name="style"]', message: 'Use a class, or a style: directive.' },
      ],
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
  { files: ['src/lib/host/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
  { files: ['*.js', '*.ts', 'shots/*.js'], languageOptions: { globals: { ...globals.node } } },
);
