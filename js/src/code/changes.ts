// Two texts and what is different between them: in one column or side by side.

import { unifiedMergeView, MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { bodyOf } from '../state/comparing';
import { button, h } from '../tools/dom';
import { atHome, c, look } from './cm';
import type { Compared, Pinned } from '../state/comparing';
import type { State } from '../state/state';

const FOLDED = { margin: 3, minSize: 4 };

/** What a step would change in the code, and what is different from the pinned schedule. */
export class Changes {
  beside = false; // before and after in two columns
  private end: () => void = () => undefined;

  constructor(
    private readonly state: State,
    private readonly again: () => void,
  ) {}

  /** From what is pinned to what is shown; `close` where somebody has seen enough. */
  ofPinned({ name, code }: Pinned, close: () => void): HTMLElement[] {
    const host = h('div', { class: 'changes' });
    const now = bodyOf(this.state.code);
    this.compare(host, code, now);
    return [
      h(
        'h3',
        {},
        'pinned → now',
        h('code', {}, name),
        h('span', { class: 'soft' }, code === now ? 'the same code' : ''),
        h('span', { class: 'space' }),
        this.columns(),
        button('close', close, { class: 'close' }),
      ),
      host,
    ];
  }

  /** From what is shown to what a step would make of it, which may be taken then. */
  ofStep({ text, take, language, after, verdict }: Compared): HTMLElement[] {
    const now = language === 'C' ? this.state.code : this.state.model.get('views')[language];
    const before = now?.lines.length ? bodyOf(now) : after.join('\n'); // where there is none nothing is new
    const host = h('div', { class: 'changes' });
    this.compare(host, before, after.join('\n'));
    const legal = verdict === 'legal';
    return [
      h(
        'h3',
        {},
        language === 'C' ? 'before → after' : `as ${language}`,
        h('code', { title: text }, text),
        h('span', { class: legal ? 'soft' : 'bad' }, legal ? verdict : `✕ ${verdict}`),
        h('span', { class: 'space' }),
        this.columns(),
        button(
          legal ? 'apply' : 'why not',
          () => {
            this.state.closePreview();
            void take();
          },
          { class: 'apply' },
        ),
        button('close', () => this.state.closePreview(), { class: 'close' }),
      ),
      host,
    ];
  }

  private columns(): HTMLElement {
    return button(
      this.beside ? 'one column' : 'side by side',
      () => {
        this.beside = !this.beside;
        this.again();
      },
      { class: 'beside' },
    );
  }

  private compare(host: HTMLElement, before: string, after: string): void {
    this.end = this.beside ? sideBySide(host, before, after) : unified(host, before, after);
  }

  close(): void {
    this.end();
  }
}

const still = [look, c, EditorState.readOnly.of(true), EditorView.editable.of(false)];
const spoken = (label: string) => EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' });

export function unified(host: HTMLElement, before: string, after: string): () => void {
  const view = new EditorView({
    doc: after,
    parent: host,
    extensions: [
      still,
      spoken('what the step changes in the code'),
      before === after ? [] : unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: FOLDED, gutter: true }),
    ],
  });
  queueMicrotask(() => atHome(view));
  return () => view.destroy();
}

function sideBySide(host: HTMLElement, before: string, after: string): () => void {
  const view = new MergeView({
    a: { doc: before, extensions: [still, spoken('the code before')] },
    b: { doc: after, extensions: [still, spoken('the code after')] },
    parent: host,
    collapseUnchanged: before === after ? undefined : FOLDED,
    gutter: true,
  });
  queueMicrotask(() => [view.a, view.b].forEach(atHome));
  return () => view.destroy();
}
