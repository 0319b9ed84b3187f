// The operator's text: errors are underlined at their token while one types, names are completed, Ctrl+Enter takes it.

import { autocompletion, closeBrackets, completionKeymap, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { Diagnostic, lintKeymap, linter } from '@codemirror/lint';
import { EditorState, Text } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { atHome, look, operatorText } from './cm';
import { numberOf } from '../tools/quantities';
import { button, h } from '../tools/dom';
import type { State } from '../state/state';
import type { Problem } from '../state/messages';

interface Checked {
  problems: Problem[];
  names: { label: string; kind: string }[];
}

export class OperatorPane {
  readonly element = h('section', { class: 'pane operator', 'aria-label': 'Operator' });
  private view: EditorView | null = null;
  private names: Checked['names'] = [];
  private drawn = '';
  private readonly said = h('span', { class: 'said', role: 'status' });
  private readonly take = button('take it (Ctrl+Enter)', () => void this.rewrite(), { class: 'take', disabled: true });
  private readonly back = button('as it was', () => this.reset(), { class: 'back', disabled: true });

  constructor(private readonly state: State) {}

  draw(): void {
    const { text, editable } = this.state.source;
    if (this.view && text === this.drawn) return;
    this.drawn = text;
    this.close();
    this.view = new EditorView({ state: this.editor(text, editable) });
    this.said.textContent = editable ? '' : 'this text cannot be changed here';
    this.element.replaceChildren(
      h('h3', {}, 'Operator', h('span', { class: 'space' }), this.back, this.take),
      this.view.dom,
      h('p', { class: 'note' }, this.said),
    );
    atHome(this.view);
    this.changed();
  }

  private editor(doc: string, editable: boolean): EditorState {
    const take = {
      key: 'Mod-Enter',
      run: () => {
        void this.rewrite();
        return true;
      },
    };
    return EditorState.create({
      doc,
      extensions: [
        look,
        operatorText,
        lineNumbers(),
        history(),
        bracketMatching(),
        closeBrackets(),
        EditorState.readOnly.of(!editable),
        EditorView.lineWrapping,
        keymap.of([take, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        autocompletion({ override: [(context) => this.complete(context)] }),
        linter((view) => this.lint(view.state.doc), { delay: 250 }),
        EditorView.contentAttributes.of({ 'aria-label': 'text of the operator', spellcheck: 'false' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.changed();
        }),
      ],
    });
  }

  private async lint(doc: Text): Promise<Diagnostic[]> {
    const found = await this.state.answer('check', { text: doc.toString() }, true);
    if (!found) return [];
    this.names = found.names;
    const { problems } = found;
    this.said.textContent = problems.length
      ? `${problems.length === 1 ? 'one error' : numberOf(problems.length, 'error')}: ${problems[0].message}`
      : '';
    this.take.disabled = problems.length > 0 || doc.toString() === this.drawn;
    return problems.map((problem) => diagnostic(doc, problem));
  }

  private async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    if (!word && !context.explicit) return null;
    if (!this.names.length) await this.lint(context.state.doc);
    const own = word?.text ?? '';
    const options = this.names
      .filter(({ label }) => label !== own)
      .map(({ label, kind }) => ({ label, type: KINDS[kind] ?? 'variable', detail: kind }));
    return { from: word?.from ?? context.pos, options, validFor: /^\w*$/ };
  }

  private changed(): void {
    const text = this.view!.state.doc.toString();
    this.back.disabled = text === this.drawn;
    if (text === this.drawn) this.take.disabled = true;
  }

  private reset(): void {
    const view = this.view!;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: this.drawn } });
    view.focus();
  }

  private async rewrite(): Promise<void> {
    const text = this.view!.state.doc.toString();
    if (text === this.drawn || !this.state.source.editable) return;
    const found = await this.state.answer('rewrite', { text });
    if (found) this.state.say(found.left || 'the operator was changed; every step is still there');
  }

  close(): void {
    this.view?.destroy();
    this.view = null;
  }
}

const KINDS: Record<string, string> = {
  type: 'type',
  function: 'function',
  operator: 'class',
  keyword: 'keyword',
  size: 'constant',
  name: 'variable',
};

function diagnostic(doc: Text, { line, column, length, message, fix }: Problem): Diagnostic {
  const own = doc.line(Math.min(Math.max(1, line), doc.lines));
  const from = Math.min(own.to, own.from + column - 1);
  const to = Math.min(own.to, from + Math.max(1, length));
  return {
    from: from === to ? Math.max(own.from, from - 1) : from,
    to,
    severity: 'error',
    message: fix ? `${message}\nfix: ${fix}` : message,
  };
}
