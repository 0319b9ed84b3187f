// The ways out: what each would write or register is shown first; nothing is done before somebody says so.

import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { atHome, look, textOf } from './cm';
import { numberOf, bytes } from '../tools/quantities';
import { button, h } from '../tools/dom';
import { copyText, insertCell } from '../tools/scripts';
import type { State } from '../state/state';
import type { ExportData, Export } from '../state/messages';

const DOING: Record<string, string> = {
  building: 'building it, to see what it would write …',
  writing: 'writing …',
  registering: 'registering …',
};

export class ExportPane {
  readonly element = h('section', { class: 'pane export', 'aria-label': 'Export' });
  private drawn: ExportData | null = null;
  private asked = false;
  private readonly directories = new Map<string, string>(); // what was typed, by what is usual
  private job: Export | null = null;
  private file = ''; // whose text is shown
  private said = '';
  private view: EditorView | null = null;
  private readonly text = h('div', { class: 'text' });
  private readonly line = h('pre', { class: 'script', tabindex: 0, 'aria-label': 'the Python of this export' });

  constructor(private readonly state: State) {}

  private get directory(): string {
    return this.directories.get(this.job!.usual) ?? this.job!.usual;
  }

  private get data(): Partial<ExportData> {
    return this.state.model.get('export');
  }

  draw(): void {
    const { data } = this;
    if (!data.ways && !this.asked) {
      this.asked = true;
      void this.act('begin');
    }
    if (data === this.drawn) return;
    this.drawn = data as ExportData;
    const job = data.job ?? null;
    this.told(job);
    if (job?.state === 'building' || job?.usual !== this.job?.usual) this.close();
    this.job = job;
    const focused = alike(document.activeElement as HTMLElement | null);
    this.element.replaceChildren(
      h('h3', {}, 'Export', h('span', { class: 'soft' }, 'what it would do is shown first')),
      this.buttons(data),
      ...(job ? this.whole(job) : []),
    );
    if (!this.element.contains(document.activeElement))
      [...this.element.querySelectorAll<HTMLElement>('button, input')].find((one) => alike(one) === focused)?.focus();
  }

  private buttons(data: Partial<ExportData>): HTMLElement {
    return h(
      'div',
      { class: 'ways', role: 'group', 'aria-label': 'ways out' },
      ...(data.ways ?? []).map(({ name, title, missing }) =>
        button(title, () => void this.act('choose', { way: name }), {
          class: 'way',
          'data-way': name,
          'aria-pressed': String(name === data.chosen),
          disabled: missing !== '',
          title: missing || `show what it would do: ${title}`,
        }),
      ),
    );
  }

  private whole(job: Export): HTMLElement[] {
    const doing = DOING[job.state];
    this.write();
    return [
      h('p', { class: 'note' }, `${job.of}: `, h('code', {}, job.steps), '; a kernel for all other sizes is always in it'),
      this.python(),
      ...(job.kernels.length
        ? [this.kernels(job), job.signature ? this.registration(job.signature) : this.files(job), job.signature ? null : this.form(job)]
        : []),
      doing ? h('p', { class: 'note doing' }, doing) : null,
      job.error
        ? h('div', { class: 'refusal', role: 'alert' }, h('b', {}, '✕ '), h('span', { class: 'why' }, job.error), this.dismiss())
        : null,
      job.asks ? this.asking(job.asks) : null,
      job.done ? h('p', { class: 'note done' }, `✓ ${job.done}`) : null,
    ].filter((part) => part !== null);
  }

  // -- the Python of it

  private python(): HTMLElement {
    return h(
      'div',
      { class: 'python' },
      this.line,
      h(
        'span',
        { class: 'pair' },
        button('insert as cell', () => insertCell(this.state, this.element, this.script), {
          class: 'insert-export',
          title: 'a new cell of the notebook with operator, sizes, steps and this line',
        }),
        button('copy', () => void copyText(this.state, this.element, this.script), {
          class: 'copy-export',
          title: 'copy operator, sizes, steps and this line',
        }),
      ),
    );
  }

  private get called(): string {
    const { call, file } = this.job!;
    const path = file ? `${this.directory.replace(/\/*$/, '')}/${file}` : this.directory;
    return call.replace('{}', () => JSON.stringify(path));
  }

  private get script(): string {
    return `${this.job!.script}${this.called}\n`;
  }

  private write(): void {
    this.line.textContent = this.called;
  }

  // -- what it would do

  private kernels({ kernels, built, notes }: Export): HTMLElement {
    const rows = kernels.map(([steps, sizes], i) =>
      h('tr', {}, h('td', {}, `${i + 1}`), h('td', {}, sizes), h('td', {}, h('code', {}, steps))),
    );
    const table = h(
      'table',
      { class: 'levels' },
      h('thead', {}, h('tr', {}, ...['', 'runs for', 'kernel'].map((text) => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, ...rows),
    );
    const more = built.length
      ? h('details', {}, h('summary', {}, `${built.length} compiled kernels`), h('ul', {}, ...built.map((title) => h('li', {}, title))))
      : '';
    return h(
      'div',
      { class: 'kernels' },
      table,
      h('p', { class: 'note' }, 'The first that fits runs. Arrays that are not dense, or overlap, are copied.'),
      more,
      ...notes.map((note) => h('p', { class: 'note' }, note)),
    );
  }

  private registration(signature: string): HTMLElement {
    return h(
      'div',
      { class: 'registration' },
      h('code', { class: 'signature' }, signature),
      button('Register', () => void this.act('register'), { class: 'do', title: 'register it in this Python' }),
    );
  }

  private files({ files }: Export): HTMLElement {
    const rows = files.map(([name, size, isText]) =>
      h(
        'li',
        {},
        isText
          ? button(name, () => void this.open(name), { class: 'file', 'data-file': name, 'aria-pressed': String(name === this.file) })
          : h('span', { class: 'file binary' }, name),
        h('span', { class: 'soft' }, bytes(size)),
      ),
    );
    return h('div', { class: 'look' }, h('ul', { class: 'files', 'aria-label': 'files that would be written' }, ...rows), this.text);
  }

  private async open(file: string): Promise<void> {
    const found = await this.state.answer('export', { do: 'text', file });
    if (!found) return;
    this.close();
    this.file = file;
    const named = EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': `text of ${file}`, 'aria-readonly': 'true' });
    this.view = new EditorView({
      doc: found.text ?? '',
      parent: this.text,
      extensions: [look, textOf(file), EditorState.readOnly.of(true), EditorView.editable.of(false), named],
    });
    atHome(this.view);
    for (const one of this.element.querySelectorAll<HTMLElement>('.files button'))
      one.setAttribute('aria-pressed', String(one.dataset.file === file));
  }

  // -- doing it

  private form(job: Export): HTMLElement {
    const go = () => void this.act('write', { directory: this.directory });
    const place = h('input', {
      type: 'text',
      class: 'directory',
      'aria-label': 'directory',
      title: 'seen from the folder that Python runs in',
      spellcheck: 'false',
      value: this.directory,
      input: (event: Event) => {
        this.directories.set(job.usual, (event.target as HTMLInputElement).value);
        this.write();
      },
      keydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter') go();
      },
    });
    return h(
      'div',
      { class: 'into' },
      h('label', {}, 'into ', place),
      button('Write', go, { class: 'do', title: `write ${numberOf(job.files.length, 'file')}` }),
    );
  }

  private asking({ directory, files }: NonNullable<Export['asks']>): HTMLElement {
    const some = files.slice(0, 8).join(', ') + (files.length > 8 ? ` and ${files.length - 8} more` : '');
    return h(
      'div',
      { class: 'refusal asks', role: 'alert' },
      h('b', {}, 'not written: '),
      `${directory} has other files of these names: ${some} `,
      button(
        files.length === 1 ? 'replace it' : `replace ${numberOf(files.length, 'file')}`,
        () => void this.act('write', { directory, over: files }),
        { class: 'over' },
      ),
      this.dismiss(),
    );
  }

  private dismiss(): HTMLElement {
    return button('close', () => void this.act('dismiss'), { class: 'close' });
  }

  private act(name: string, given: Record<string, unknown> = {}): Promise<boolean> {
    return this.state.ask('export', { do: name, ...given });
  }

  /** What came of it, for who does not see it. */
  private told(job: Export | null): void {
    const now = job ? JSON.stringify([job.state, job.usual, job.error, job.asks, job.done]) : '';
    if (!job || now === this.said) return;
    this.said = now;
    const shown = job.files.length
      ? `${job.title}: ${numberOf(job.files.length, 'file')}, nothing is written yet`
      : `${job.title}: nothing is registered yet`;
    this.state.say(DOING[job.state] ?? (job.error || job.done || (job.asks ? 'not written: other files are in the way' : shown)));
  }

  close(): void {
    this.view?.destroy();
    this.view = null;
    this.file = '';
    this.text.replaceChildren();
  }
}

/** By what an element is known again after a redraw. */
function alike(element: HTMLElement | null): string {
  return element ? `${element.tagName} ${element.className} ${element.dataset.way ?? element.dataset.file ?? ''}` : '';
}
