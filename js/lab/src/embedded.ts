// The text of an operator in a cell of Python, `wb.operator("""def f(…) -> (…) { … }""")`, in the colours of its language:
// in that of strings, which dark themes have in red, it reads as one error.

import { syntaxTree } from '@codemirror/language';
import { Prec, RangeSetBuilder } from '@codemirror/state';
import type { EditorState, Extension } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin } from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';
import { EditorExtensionRegistry } from '@jupyterlab/codemirror';
import type { IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { tokensOf } from './language';

const STRING = /^\w{0,2}("""|'''|"|')([^]*)\1$/;
const OPERATOR = /^(?:\s|#.*\n)*(?:def|monoid)\s+\w+\s*(?:<[^>]*>)?\s*\([^]*->[^]*\{[^]*\}\s*$/;

const COLOURS: Record<string, string> = {
  comment: 'var(--jp-mirror-editor-comment-color)',
  keyword: 'var(--jp-mirror-editor-keyword-color)',
  number: 'var(--jp-mirror-editor-number-color)',
  operator: 'var(--jp-mirror-editor-operator-color)',
  typeName: 'var(--jp-mirror-editor-builtin-color)',
  name: 'var(--jp-content-font-color1)',
};
const MARKS = Object.fromEntries(Object.keys(COLOURS).map((kind) => [kind, Decoration.mark({ class: `wb-text-${kind}` })]));

// The editor's own span for the string stands inside of ours.
const look = EditorView.baseTheme(
  Object.fromEntries(Object.entries(COLOURS).map(([kind, color]) => [`.wb-text-${kind}, .wb-text-${kind} > *`, { color }])),
);

/** Marks for all tokens of the operators that stand in strings of Python. */
function marked(state: EditorState): DecorationSet {
  const found = new RangeSetBuilder<Decoration>();
  syntaxTree(state).iterate({
    enter: ({ name, from, to }) => {
      if (name !== 'String') return;
      const whole = state.doc.sliceString(from, to);
      const [, quotes, body] = STRING.exec(whole) ?? ['', '', ''];
      if (!OPERATOR.test(body)) return;
      let at = to - quotes.length - body.length;
      for (const line of body.split('\n')) {
        for (const [begin, end, kind] of tokensOf(line)) found.add(at + begin, at + end, MARKS[kind] ?? MARKS.name);
        at += line.length + 1;
      }
    },
  });
  return found.finish();
}

const plugin = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = marked(view.state);
    }

    update({ state, startState }: ViewUpdate): void {
      if (syntaxTree(state) !== syntaxTree(startState)) this.decorations = marked(state);
    }
  },
  { decorations: (own) => own.decorations },
);

export function colourOperators(extensions: IEditorExtensionRegistry): void {
  const extension: Extension = [look, Prec.highest(plugin)];
  extensions.addExtension(
    Object.freeze({ name: 'tensor-workbench:operators', factory: () => EditorExtensionRegistry.createImmutableExtension(extension) }),
  );
}
