import { fireEvent, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import type { Attachment, Delivery, FoundFiles } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { FakeHost } from '../../../fake/host';
import { emptySession } from '../../../fake/facts';
import { drafted } from '../attachments';
import { Draft } from '../drafts.svelte';
import Composer from './Composer.svelte';

beforeEach(() => localStorage.clear());

async function composer({
  running = false,
  takes = { images: true, documents: true },
  takesIntoTurn = false,
  accepted = true,
  prompts = [] as string[],
  commands = emptySession('s', '').commands,
} = {}) {
  const sent: { text: string; attachments: Attachment[]; delivery: Delivery }[] = [];
  const draft = new Draft('s1', localStorage);
  const host = new FakeHost();
  const props = {
    draft,
    commands,
    running,
    accepted: takes,
    takesIntoTurn,
    prompts: () => prompts,
    onsend: vi.fn((text: string, attachments: Attachment[], delivery: Delivery) => {
      sent.push({ text, attachments, delivery });
      return Promise.resolve(accepted);
    }),
    onstop: vi.fn(),
    oncyclemode: vi.fn(),
    onfind: vi.fn((query: string): Promise<FoundFiles | string> => host.findFiles(query)),
    oncheck: (name: string, data: string) => host.checkAttachment(name, data),
    onclipboard: () => host.clipboardImage(),
    oncopiedfiles: () => host.clipboardFiles(),
    onwrite: vi.fn(),
    onrefuse: vi.fn(),
  };
  const drawn = await draw(Composer, props);
  const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
  box.focus();
  return { ...drawn, ...props, host, sent, box, user: userEvent.setup() };
}

/** What WebKitGTK gives of a clipboard with an image. */
const NO_TYPES = { files: [], types: [], getData: () => '' };

/** A clipboard with a text. */
const copied = (text: string) => ({ files: [], types: ['text/plain'], getData: () => text });

const button = (name: string) => screen.getByRole('button', { name });
const texts = (sent: { text: string }[]) => sent.map(({ text }) => text);

describe('sending', () => {
  it('sends with Enter and breaks the line with Shift+Enter', async () => {
    const { user, sent, box } = await composer();
    await user.keyboard('one{Shift>}{Enter}{/Shift}two{Enter}');
    expect(texts(sent)).toEqual(['one\ntwo']);
    expect(box.value).toBe('');
  });

  it('sends nothing that is empty', async () => {
    const { user, sent } = await composer();
    await user.keyboard('  {Enter}');
    expect(sent).toEqual([]);
    expect((button('Send') as HTMLButtonElement).disabled).toBe(true);
  });

  it('puts a refused prompt back, before what was typed since', async () => {
    const { user, box, onsend } = await composer();
    let refuse: (accepted: boolean) => void = () => {};
    onsend.mockImplementation(() => new Promise((resolve) => (refuse = resolve)));
    await user.keyboard('first{Enter}second');
    expect(box.value).toBe('second');
    refuse(false);
    await vi.waitFor(() => expect(box.value).toBe('first\nsecond'));
  });
});

describe('while a turn runs', () => {
  it('sends after the turn, into it, or in its place, by the keyboard', async () => {
    const { user, sent } = await composer({ running: true, takesIntoTurn: true });
    await user.keyboard('a{Enter}b{Control>}{Enter}{/Control}c{Control>}{Shift>}{Enter}{/Shift}{/Control}');
    expect(sent.map(({ text, delivery }) => [text, delivery])).toEqual([
      ['a', 'afterTurn'],
      ['b', 'intoTurn'],
      ['c', 'now'],
    ]);
  });

  it('offers the same in a menu', async () => {
    const { user, sent } = await composer({ running: true, takesIntoTurn: true });
    await user.keyboard('stop that');
    await user.click(button('When to send'));
    await user.click(screen.getByRole('menuitem', { name: /^Now/ }));
    expect(sent).toEqual([{ text: 'stop that', attachments: [], delivery: 'now' }]);
  });

  it('does not offer to send into a turn that cannot take it', async () => {
    const { user } = await composer({ running: true });
    await user.keyboard('x');
    await user.click(button('When to send'));
    const choice = screen.getByRole('menuitem', { name: /^Into this turn/ });
    expect(choice.getAttribute('aria-disabled')).toBe('true');
  });
});

describe('the buttons', () => {
  it('is Send while nothing runs', async () => {
    await composer();
    button('Send');
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull();
  });

  it('is Stop while a turn runs and the box is empty', async () => {
    const { user, onstop } = await composer({ running: true });
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    await user.click(button('Stop'));
    expect(onstop).toHaveBeenCalledOnce();
  });

  it('is both while a turn runs and something is typed', async () => {
    const { user, sent } = await composer({ running: true });
    await user.keyboard('next');
    button('Stop');
    await user.click(button('Send'));
    expect(texts(sent)).toEqual(['next']);
  });
});

describe('keys', () => {
  it('interrupts with Esc only while a turn runs', async () => {
    const idle = await composer();
    await idle.user.keyboard('{Escape}');
    expect(idle.onstop).not.toHaveBeenCalled();
    idle.unmount();
    const busy = await composer({ running: true });
    await busy.user.keyboard('{Escape}');
    expect(busy.onstop).toHaveBeenCalledOnce();
  });

  it('recalls prompts with Up from an empty box, and comes back with Down', async () => {
    const { user, box } = await composer({ prompts: ['one', 'two'] });
    await user.keyboard('{ArrowUp}');
    expect(box.value).toBe('two');
    await user.keyboard('{ArrowUp}');
    expect(box.value).toBe('one');
    await user.keyboard('{ArrowDown}{ArrowDown}');
    expect(box.value).toBe('');
  });

  it('leaves Up alone in a box with words of its own', async () => {
    const { user, box } = await composer({ prompts: ['one'] });
    await user.keyboard('typed{ArrowUp}');
    expect(box.value).toBe('typed');
  });

  it.each(['Alt', 'Shift', 'Control'])('leaves Up with %s to others', async (modifier) => {
    const { user, box } = await composer({ prompts: ['one'] });
    await user.keyboard(`{${modifier}>}{ArrowUp}{/${modifier}}`);
    expect(box.value).toBe('');
  });

  it('recalls and completes as an edit that the field can undo', async () => {
    const edits: [string, string | undefined][] = [];
    const inserts = (command: string, _: boolean, text?: string) => {
      edits.push([command, text]);
      const field = document.activeElement as HTMLTextAreaElement;
      field.setRangeText(text ?? '', field.selectionStart, field.selectionEnd, 'end');
      return field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    };
    // jsdom has no edits of its own.
    Object.assign(document, { execCommand: inserts });
    onTestFinished(() => void Reflect.deleteProperty(document, 'execCommand'));
    const { user, box, onwrite } = await composer({ prompts: ['one\ntwo'] });
    await user.keyboard('{ArrowUp}');
    expect(box.value).toBe('one\ntwo');
    // The program wrote it, not the user.
    expect(onwrite).not.toHaveBeenCalled();
    await user.keyboard('{ArrowDown}/co{Enter}');
    expect(box.value).toBe('/compact ');
    expect(edits).toEqual([
      ['insertText', 'one\ntwo'],
      ['delete', undefined],
      ['insertText', 'mpact '],
    ]);
  });

  it('gives a long text that cannot be undone to a new field, with the focus', async () => {
    Object.assign(document, { execCommand: () => true });
    onTestFinished(() => void Reflect.deleteProperty(document, 'execCommand'));
    const long = 'line\n'.repeat(100);
    const { user, box } = await composer({ prompts: [long] });
    await user.keyboard('{ArrowUp}');
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
    expect(field).not.toBe(box);
    expect(field.value).toBe(long);
    expect(document.activeElement).toBe(field);
  });

  it('cycles the permission mode with Shift+Tab', async () => {
    const { user, oncyclemode } = await composer();
    await user.keyboard('{Shift>}{Tab}{/Shift}');
    expect(oncyclemode).toHaveBeenCalledOnce();
  });

  it('knows Shift+Tab where the webview has no name for it', async () => {
    const { box, oncyclemode } = await composer();
    await fireEvent.keyDown(box, { key: 'Unidentified', code: 'Tab', shiftKey: true });
    expect(oncyclemode).toHaveBeenCalledOnce();
  });
});

describe('commands', () => {
  it('are offered after a slash and completed with Enter', async () => {
    const { user, box, sent } = await composer();
    await user.keyboard('/co');
    expect(screen.getAllByRole('option').map((option) => option.textContent.trim().split(' ')[0])).toEqual([
      '/compact',
      '/cost',
    ]);
    expect(box.getAttribute('aria-activedescendant')).toBe(screen.getAllByRole('option')[0]?.id);
    await user.keyboard('{ArrowDown}{Enter}');
    expect(box.value).toBe('/cost ');
    expect(sent).toEqual([]);
    expect(screen.queryByRole('listbox')).toBeNull();
  });

  it('are sent with Enter when typed in full', async () => {
    const { user, sent } = await composer();
    await user.keyboard('/clear{Enter}');
    expect(texts(sent)).toEqual(['/clear']);
  });

  it('close with Esc, which then does not interrupt', async () => {
    const { user, onstop } = await composer({ running: true });
    await user.keyboard('/{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    expect(onstop).not.toHaveBeenCalled();
  });
});

describe('files', () => {
  const options = () => screen.queryAllByRole('option').map((option) => option.textContent.replaceAll(/\s+/g, ''));

  it('are offered after an @, and named with Enter', async () => {
    const { user, box, sent } = await composer();
    await user.keyboard('see @mon');
    await vi.waitFor(() => expect(options()).toEqual(['money.rssrc/']));
    await user.keyboard('{Enter}');
    expect(box.value).toBe('see @src/money.rs ');
    expect(sent).toEqual([]);
    expect(options()).toEqual([]);
  });

  it('are looked for in a folder that was chosen', async () => {
    const { user, box } = await composer();
    await user.keyboard('@sr');
    await vi.waitFor(() => expect(options().length).toBeGreaterThan(1));
    await user.keyboard('{Tab}');
    expect(box.value).toBe('@src/');
    await vi.waitFor(() => expect(options()).toContain('lib.rssrc/'));
  });

  it('are asked for one question at a time, the last one always', async () => {
    const { user, onfind } = await composer();
    const answers: (() => void)[] = [];
    onfind.mockImplementation(
      (query) =>
        new Promise((resolve) => {
          answers.push(() => resolve({ files: [{ path: query, matched: [] }], isCut: false }));
        }),
    );
    await user.keyboard('@abcd');
    expect(onfind.mock.calls).toEqual([['']]);
    answers[0]?.();
    await vi.waitFor(() => expect(onfind.mock.calls).toEqual([[''], ['abcd']]));
    answers[1]?.();
    await vi.waitFor(() => expect(options()).toEqual(['abcd']));
  });

  it('say why there is no list, and typing goes on', async () => {
    const { user, box, sent, onfind, onstop } = await composer({ running: true });
    onfind.mockImplementation(() => Promise.resolve('The machine is gone.'));
    await user.keyboard('look at @src');
    await screen.findByText('The machine is gone.');
    await user.keyboard('{Escape}');
    expect(screen.queryByText('The machine is gone.')).toBeNull();
    expect(onstop).not.toHaveBeenCalled();
    await user.keyboard('/a b{Enter}');
    expect(texts(sent)).toEqual(['look at @src/a b']);
    expect(box.value).toBe('');
  });

  it('have names of which each character is visible', async () => {
    const { user, onfind } = await composer();
    const path = `src/\u202excod.exe${'x'.repeat(200)}\u200b`;
    onfind.mockImplementation(() => Promise.resolve({ files: [{ path, matched: [4, 5] }], isCut: false }));
    await user.keyboard('@x');
    await vi.waitFor(() => expect(options()).toHaveLength(1));
    expect(options()[0]).toContain('\\u{202E}xcod.exe');
    expect(options()[0]).not.toMatch(/[\u202e\u200b]/);
  });

  it('are commands whose characters are all visible', async () => {
    const odd = { name: 'ship\u202e\u001b', description: 'does\u200b it', argumentHint: '[\u2066what]' };
    const { user } = await composer({ commands: [odd] });
    await user.keyboard('/ship');
    await vi.waitFor(() => expect(options()).toHaveLength(1));
    expect(options()[0]).toContain('ship\\u{202E}\\u{001B}');
    for (const char of ['\u001b', '\u200b', '\u202e', '\u2066']) expect(options()[0]).not.toContain(char);
  });

  it('are left alone after Esc', async () => {
    const { user } = await composer();
    await user.keyboard('@');
    await vi.waitFor(() => expect(options().length).toBeGreaterThan(1));
    await user.keyboard('{Escape}');
    expect(options()).toEqual([]);
  });
});

describe('drafts', () => {
  it('survive the window', async () => {
    const { user } = await composer();
    await user.keyboard('half a thought');
    expect(new Draft('s1', localStorage).text).toBe('half a thought');
    expect(new Draft('s2', localStorage).text).toBe('');
  });

  it('are kept until the prompt is accepted', async () => {
    const { user, onsend } = await composer();
    let answer: (accepted: boolean) => void = () => {};
    onsend.mockImplementation(() => new Promise((resolve) => (answer = resolve)));
    await user.keyboard('important{Enter}');
    expect(new Draft('s1', localStorage).text).toBe('important');
    answer(true);
    await vi.waitFor(() => expect(new Draft('s1', localStorage).text).toBe(''));
  });
});

describe('attachments', () => {
  const png = () =>
    new File([Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])], 'shot.png', { type: 'image/jpeg' });

  it('are pasted, shown, and sent', async () => {
    const { box, user, sent } = await composer();
    await fireEvent.paste(box, { clipboardData: { files: [png()] } });
    await screen.findByText('shot.png');
    await user.keyboard('{Enter}');
    const attachments = [{ name: 'shot.png', mediaType: 'image/png', data: 'iVBORw0KGgo=' }];
    expect(sent).toEqual([{ text: '', attachments, delivery: 'afterTurn' }]);
    expect(screen.queryByText('shot.png')).toBeNull();
  });

  it('are read by the host where the page is given an empty clipboard', async () => {
    const { box, host, onwrite } = await composer();
    host.clipboard = { mediaType: 'image/png', data: 'iVBORw0KGgo=' };
    await fireEvent.paste(box, { clipboardData: copied('a word') });
    expect(onwrite).not.toHaveBeenCalled();
    await fireEvent.paste(box, { clipboardData: NO_TYPES });
    await screen.findByText('Pasted image');
    expect(screen.getAllByText('Pasted image')).toHaveLength(1);
    expect(onwrite).toHaveBeenCalled();
  });

  it('are files of a file manager: attached, or named in the text', async () => {
    const { box, host, draft, onrefuse, onwrite } = await composer();
    host.copiedFiles = [
      { type: 'attachment', attachment: { name: 'a.pdf', mediaType: 'application/pdf', data: '' } },
      { type: 'file', path: 'src/a b.rs' },
      { type: 'refused', why: 'pipe is a pipe.' },
    ];
    const list = (addresses: string) => ({ files: [], types: ['text/uri-list'], getData: () => addresses });
    expect(await fireEvent.paste(box, { clipboardData: list('https://example.org/') })).toBe(true);
    expect(draft.attachments).toEqual([]);
    expect(await fireEvent.paste(box, { clipboardData: list('') })).toBe(false);
    await screen.findByText('a.pdf');
    expect(draft.text).toBe('@"src/a b.rs" ');
    expect(onrefuse.mock.calls).toEqual([['pipe is a pipe.']]);
    expect(onwrite).toHaveBeenCalled();
  });

  it('that the host cannot read are told', async () => {
    const { box, host, onrefuse } = await composer();
    host.clipboardImage = () => Promise.reject({ code: 'badCommand', message: 'It does not answer.', detail: null });
    await fireEvent.paste(box, { clipboardData: NO_TYPES });
    await vi.waitFor(() => expect(onrefuse).toHaveBeenCalledWith('It does not answer.'));
  });

  it('can be taken off again', async () => {
    const { box, user } = await composer();
    await fireEvent.paste(box, { clipboardData: { files: [png()] } });
    await user.click(await screen.findByRole('button', { name: 'Remove shot.png' }));
    expect(screen.queryByText('shot.png')).toBeNull();
  });

  it('are refused in words when they are too large or something else', async () => {
    const { box, onrefuse } = await composer();
    const large = png();
    Object.defineProperty(large, 'size', { value: 21 * 1024 * 1024 });
    const program = new File(['\0'], 'a.out');
    await fireEvent.paste(box, { clipboardData: { files: [large, program] } });
    await vi.waitFor(() => expect(onrefuse).toHaveBeenCalledTimes(2));
    expect(onrefuse.mock.calls.flat()).toEqual(['shot.png is larger than 20 MB.', 'a.out cannot be attached.']);
  });

  it('are refused where the agent accepts none, and are not offered', async () => {
    const { box, host, onrefuse } = await composer({ takes: { images: false, documents: false } });
    expect(screen.queryByRole('button', { name: /Attach/ })).toBeNull();
    await fireEvent.paste(box, { clipboardData: { files: [png()] } });
    await vi.waitFor(() => expect(onrefuse).toHaveBeenCalledTimes(1));
    host.clipboard = { mediaType: 'image/png', data: 'iVBORw0KGgo=' };
    await fireEvent.paste(box, { clipboardData: NO_TYPES });
    await vi.waitFor(() => expect(onrefuse).toHaveBeenCalledTimes(2));
    expect(onrefuse.mock.calls.flat()).toEqual([
      'This agent accepts text only, so shot.png was not attached.',
      'This agent accepts text only, so Pasted image was not attached.',
    ]);
    expect(screen.queryByText('Pasted image')).toBeNull();
  });

  it('can be documents: PDF files and texts, sent with their names', async () => {
    const { box, user, sent } = await composer();
    const files = [new File(['%PDF-1.7'], 'a.pdf'), new File(['one'], 'notes')];
    await fireEvent.paste(box, { clipboardData: { files } });
    await screen.findByText('3 characters · “one”');
    await user.keyboard('{Enter}');
    expect(sent[0]?.attachments).toEqual([
      { name: 'a.pdf', mediaType: 'application/pdf', data: btoa('%PDF-1.7') },
      { name: 'notes', mediaType: 'text/plain', data: 'one' },
    ]);
  });

  it('are refused by kind, and together at the limit of a request', async () => {
    const { box, onrefuse, draft } = await composer({ takes: { images: true, documents: false } });
    await fireEvent.paste(box, { clipboardData: { files: [new File(['one'], 'notes')] } });
    await vi.waitFor(() => expect(onrefuse).toHaveBeenCalledTimes(1));
    draft.attachments = [{ id: 0, name: 'large', mediaType: 'image/png', data: 'A'.repeat(28 * 1024 * 1024) }];
    await fireEvent.paste(box, { clipboardData: { files: [png()] } });
    await vi.waitFor(() => expect(onrefuse).toHaveBeenCalledTimes(2));
    expect(onrefuse.mock.calls.flat()).toEqual([
      'This agent accepts no documents, so notes was not attached. Write its path into the prompt instead.',
      'shot.png was not attached: with one prompt the agent takes about 21 MB of files.',
    ]);
  });

  it('come back with a refused prompt', async () => {
    const { box, user } = await composer({ accepted: false });
    await fireEvent.paste(box, { clipboardData: { files: [png()] } });
    await screen.findByText('shot.png');
    await user.keyboard('look{Enter}');
    await tick();
    expect(box.value).toBe('look');
    screen.getByText('shot.png');
  });
});

describe('a long pasted text', () => {
  const LONG = Array.from({ length: 10_000 }, (_, i) => `line ${i}\r\n`).join('');
  const chip = (name: string | RegExp = /^Pasted text [\d,]+ lines/) => screen.getByRole('button', { name });

  it('is attached, and sent exactly as it was copied', async () => {
    const { box, user, sent, onwrite } = await composer();
    await fireEvent.paste(box, { clipboardData: copied(LONG) });
    chip(/^Pasted text 10,000 lines · “/);
    expect(screen.getByText('Pasted text, 10,000 lines, is attached').closest('[role=status]')).not.toBeNull();
    expect(onwrite).toHaveBeenCalled();
    await user.keyboard('What is this?{Enter}');
    const attachments = [{ name: 'Pasted text', mediaType: 'text/plain', data: LONG }];
    expect(sent).toEqual([{ text: 'What is this?', attachments, delivery: 'afterTurn' }]);
  });

  it.each([
    ['40 lines', 'a\n'.repeat(40), 0],
    ['41 lines', 'a\n'.repeat(41), 1],
    ['4,000 characters', 'a'.repeat(4_000), 0],
    ['4,001 characters', 'a'.repeat(4_001), 1],
    ['only line breaks', '\n'.repeat(100), 0],
  ])('begins above a bound: %s', async (_, text, n) => {
    const { box, draft } = await composer();
    const left = await fireEvent.paste(box, { clipboardData: copied(text) });
    expect(draft.attachments).toHaveLength(n);
    // The browser pastes what is left to it.
    expect(left).toBe(n === 0);
  });

  it('goes into the box with Ctrl+Shift+V, as long as the box stays quick', async () => {
    const { box, draft, user } = await composer();
    await user.keyboard('{Control>}{Shift>}V{/Shift}{/Control}');
    expect(await fireEvent.paste(box, { clipboardData: copied('a\n'.repeat(1_000)) })).toBe(true);
    expect(draft.attachments).toEqual([]);
    await user.keyboard('{Control>}{Shift>}V{/Shift}{/Control}');
    expect(await fireEvent.paste(box, { clipboardData: copied(LONG) })).toBe(false);
    // The next paste is a usual one.
    await fireEvent.paste(box, { clipboardData: copied('a\n'.repeat(41)) });
    expect(draft.attachments.map(({ name }) => name)).toEqual(['Pasted text', 'Pasted text 2']);
  });

  it('is attached where the clipboard has it in an old format of X11', async () => {
    const { box, draft } = await composer();
    await fireEvent.paste(box, { clipboardData: { ...copied(LONG), types: [] } });
    expect(draft.attachments).toHaveLength(1);
  });

  it('is attached where the agent takes no documents: it gets the text', async () => {
    const { box, draft, onrefuse } = await composer({ takes: { images: false, documents: false } });
    await fireEvent.paste(box, { clipboardData: copied(LONG) });
    expect(draft.attachments).toHaveLength(1);
    expect(onrefuse).not.toHaveBeenCalled();
  });

  it('of more than a megabyte is refused, and says what to do', async () => {
    const { box, draft, onrefuse } = await composer();
    await fireEvent.paste(box, { clipboardData: copied('é'.repeat(600_000)) });
    expect(draft.attachments).toEqual([]);
    const why = 'The pasted text is larger than 1 MB. Save it as a file and write its path into the prompt.';
    expect(onrefuse.mock.calls).toEqual([[why]]);
  });

  it('is read in a dialog, part by part, and turned back into text where the cursor is', async () => {
    const { box, user, draft } = await composer();
    await user.keyboard('before after{ArrowLeft>5/}');
    const text = Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\r\n');
    await fireEvent.paste(box, { clipboardData: copied(text) });
    await user.click(chip());
    const dialog = screen.getByRole('dialog', { name: 'Pasted text · 300 lines' });
    expect(dialog.querySelectorAll('.line')).toHaveLength(300);
    await user.click(button('Put into the text'));
    await tick();
    expect(draft.text).toBe(`before ${text.replaceAll('\r', '')}after`);
    expect(draft.attachments).toEqual([]);
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
    expect(document.activeElement).toBe(field);
  });

  it('is closed when another session is opened, whose prompt it is not put into', async () => {
    const { box, user, draft, redraw } = await composer();
    await fireEvent.paste(box, { clipboardData: copied(LONG) });
    await user.click(chip());
    screen.getByRole('dialog');
    await redraw({ draft: new Draft('s2', localStorage) });
    expect(screen.queryByRole('dialog')).toBeNull();
    await redraw({ draft });
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(draft.attachments).toHaveLength(1);
  });

  it('has a name of which each character is visible', async () => {
    const { draft } = await composer();
    draft.attachments = [drafted('notes\u202egpj.txt', { mediaType: 'text/plain', data: 'a\u202etxt.exe' })];
    await tick();
    expect(chip(/^notes/).textContent).toContain('notes\\u{202E}gpj.txt');
    expect(chip(/^notes/).textContent).toContain('“a\\u{202E}txt.exe”');
    expect(chip(/^notes/).title).not.toContain('\u202e');
    expect(chip(/^notes/).getAttribute('aria-keyshortcuts')).toBe('Delete');
    button('Remove notes\\u{202E}gpj.txt');
  });

  it('stays an attachment if the box would become slow', async () => {
    const { box, user } = await composer();
    await fireEvent.paste(box, { clipboardData: copied(LONG) });
    await user.click(chip());
    expect(screen.getByRole('dialog').querySelectorAll('.line')).toHaveLength(1_000);
    await user.click(button('45 more: show 5'));
    expect(screen.getByRole('dialog').querySelectorAll('.line')).toHaveLength(2_000);
    expect((button('Put into the text') as HTMLButtonElement).disabled).toBe(true);
    screen.getByText('It is too long for the box, which would become slow.');
    await user.click(button('Remove'));
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(document.activeElement).toBe(box);
  });

  it('is reached, opened and removed by keys', async () => {
    const { box, user, draft } = await composer();
    for (const text of [LONG, LONG]) await fireEvent.paste(box, { clipboardData: copied(text) });
    await user.keyboard('word{Backspace}');
    expect(box.value).toBe('wor');
    await user.keyboard('{Home}{Backspace}');
    expect(document.activeElement).toBe(chip(/^Pasted text 2/));
    await user.keyboard('{ArrowLeft}');
    expect(document.activeElement).toBe(chip());
    await user.keyboard('{Enter}');
    screen.getByRole('dialog', { name: 'Pasted text · 10,000 lines' });
    screen.getByRole<HTMLDialogElement>('dialog').close();
    await tick();
    chip().focus();
    await user.keyboard('{Delete}');
    expect(screen.getByText('Pasted text was removed').closest('[role=status]')).not.toBeNull();
    expect(document.activeElement).toBe(chip(/^Pasted text 2/));
    await user.keyboard('{Escape}');
    expect(document.activeElement).toBe(box);
    await user.keyboard('{Home}{Backspace}{Delete}');
    expect(draft.attachments).toEqual([]);
    expect(document.activeElement).toBe(box);
    expect(box.value).toBe('wor');
  });
});

describe('commands with one name', () => {
  it('are all offered, and each can be picked', async () => {
    const named = (description: string) => ({ name: 'review', description, argumentHint: '' });
    const { user, box } = await composer({ commands: [named('of the user'), named('of the project')] });
    await user.keyboard('/re');
    expect(screen.getAllByRole('option').map((option) => option.getAttribute('aria-selected'))).toEqual([
      'true',
      'false',
    ]);
    await user.keyboard('{ArrowDown}{Enter}');
    expect(box.value).toBe('/review ');
  });
});
