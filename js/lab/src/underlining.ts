// What an editor shows of errors: a line below each token, its words where the mouse rests on it.

import { StateEffect, StateField } from '@codemirror/state';
import type { EditorState, Extension, Text, TransactionSpec } from '@codemirror/state';
import { Decoration, EditorView, hoverTooltip } from '@codemirror/view';
import type { DecorationSet, Tooltip } from '@codemirror/view';
import type { Problem } from './asking';

const told = StateEffect.define<DecorationSet>();

const errors = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, transaction) =>
    transaction.effects.reduce((now, effect) => (effect.is(told) ? effect.value : now), before.map(transaction.changes)),
  provide: (field) => EditorView.decorations.from(field),
});

const look = EditorView.baseTheme({
  '.wb-error': {
    textDecoration: 'underline wavy var(--jp-error-color1, #b3261e)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '3px',
  },
  '.wb-error-words': {
    whiteSpace: 'pre-wrap',
    maxWidth: '60em',
    padding: '4px 8px',
    borderLeft: '4px solid var(--jp-error-color1, #b3261e)',
    background: 'var(--jp-layout-color1)',
    color: 'var(--jp-ui-font-color1)',
    fontFamily: 'var(--jp-ui-font-family)',
    fontSize: 'var(--jp-ui-font-size1)',
  },
});

/** The places of one problem, at least one character wide where the line has one. */
function place(doc: Text, { line, column, length }: Problem): [number, number] {
  const own = doc.line(Math.min(Math.max(1, line), doc.lines));
  const from = Math.min(own.to, own.from + column - 1);
  const to = Math.min(own.to, from + Math.max(1, length));
  return [from === to ? Math.max(own.from, from - 1) : from, to];
}

/** What shows these problems instead of those that are shown. */
export function shown(doc: Text, problems: Problem[]): TransactionSpec {
  const marks = problems.flatMap((problem) => {
    const [from, to] = place(doc, problem);
    const words = problem.fix ? `${problem.message}\nfix: ${problem.fix}` : problem.message;
    const mark = Decoration.mark({ class: 'wb-error', attributes: { 'aria-invalid': 'true', 'aria-description': words }, words });
    return from < to ? [mark.range(from, to)] : [];
  });
  return { effects: told.of(Decoration.set(marks, true)) };
}

function wordsAt(state: EditorState, at: number): Tooltip | null {
  let found: Tooltip | null = null;
  state.field(errors).between(at, at, (pos, end, mark) => {
    const dom = document.createElement('div');
    dom.className = 'wb-error-words';
    dom.textContent = String(mark.spec.words);
    found = { pos, end, above: true, create: () => ({ dom }) };
    return false;
  });
  return found;
}

export const underlines: Extension = [errors, look, hoverTooltip((view, at) => wordsAt(view.state, at), { hoverTime: 200 })];
