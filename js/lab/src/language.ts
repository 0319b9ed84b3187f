// Highlighting of cells that begin with %%operator.

import { LanguageSupport, StreamLanguage } from '@codemirror/language';
import type { StringStream } from '@codemirror/language';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

const MIME = 'text/x-workbench-operator';
const WORDS = /^(?:def|monoid|identity|combine|where|in|for|and|or|not|exists)\b/;
const TYPES = /^(?:u?int(?:8|16|32|64)?|b?float(?:8|16|32|64)?|double|half|bool)\b/;
const RULES: [RegExp, string][] = [
  [/^(?:#|\/\/).*/, 'comment'],
  [/^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/, 'number'],
  [WORDS, 'keyword'],
  [TYPES, 'typeName'],
  [/^[A-Za-z_]\w*(?=\s*\()/, 'variableName.special'],
  [/^[A-Za-z_]\w*/, 'variableName'],
  [/^(?:[-+*/<>=]|min|max|any|all)*=!?|^[-+*/<>?:|&!]+|^->/, 'operator'],
];

function token(stream: StringStream, state: { first: boolean }): string | null {
  if (state.first) {
    state.first = false;
    if (stream.match(/^%%operator.*/)) return 'meta';
  }
  if (stream.eatSpace()) return null;
  for (const [rule, name] of RULES) if (stream.match(rule)) return name;
  stream.next();
  return null;
}

/** The tokens of a line, each with where it begins and ends; blanks are none. */
export function tokensOf(line: string): [from: number, to: number, name: string][] {
  const found: [number, number, string][] = [];
  for (let at = 0; at < line.length;) {
    const rest = line.slice(at);
    const blank = /^\s+/.exec(rest);
    const [rule, name] = RULES.find(([known]) => known.test(rest)) ?? [/^[^]/, 'other'];
    const { length } = (blank ?? rule.exec(rest))![0];
    if (!blank) found.push([at, at + length, name]);
    at += length;
  }
  return found;
}

const parser = StreamLanguage.define<{ first: boolean }>({
  name: 'operator',
  startState: () => ({ first: true }),
  token,
  languageData: { commentTokens: { line: '#' } },
});

export function highlight(languages: IEditorLanguageRegistry, tracker: INotebookTracker): void {
  languages.addLanguage({ name: 'operator', displayName: 'Tensor operator', mime: MIME, load: async () => new LanguageSupport(parser) });
  // Editors take languages in the order in which their loads end: have all in memory before the first cell changes.
  const loaded = Promise.all([MIME, 'text/x-ipython', 'text/x-python'].map((mime) => languages.getLanguage(mime)));
  tracker.widgetAdded.connect((_, notebook) => void Promise.all([notebook.revealed, loaded]).then(() => watch(notebook)));
}

function watch(notebook: NotebookPanel): void {
  const known = new WeakSet<object>();
  const sweep = () => {
    for (const { model } of notebook.content.widgets) {
      if (model.type !== 'code') continue;
      const apply = () => {
        const wanted = /^%%operator\b/.test(model.sharedModel.getSource()) ? MIME : notebook.content.codeMimetype;
        if (model.mimeType !== wanted) model.mimeType = wanted;
      };
      if (!known.has(model)) {
        known.add(model);
        model.contentChanged.connect(apply);
        model.mimeTypeChanged.connect(apply); // a kernel that tells its language resets all cells
      }
      apply();
    }
  };
  notebook.content.modelContentChanged.connect(sweep);
  sweep();
}
