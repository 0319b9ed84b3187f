// What every editor here shares: colours by the variables of the views, and two small languages for them.

import { HighlightStyle, StreamLanguage, StreamParser, syntaxHighlighting } from '@codemirror/language';
import { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { Tag, tags } from '@lezer/highlight';

const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

const theme = EditorView.theme({
  '&': { color: 'var(--wb-ink)', backgroundColor: 'transparent', fontSize: '11.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: MONO, lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--wb-ink)', padding: '2px 0' },
  '.cm-line': { padding: '0 2px' },
  '.cm-cursor': { borderLeftColor: 'var(--wb-ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--wb-s0) 26%, transparent)',
  },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--wb-soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--wb-panel)',
    color: 'var(--wb-ink)',
    border: '1px solid var(--wb-grid)',
    fontSize: '12px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--wb-s0)', color: 'var(--wb-ground)' },
  '.cm-panels input, .cm-panels button': {
    color: 'var(--wb-ink)',
    backgroundColor: 'var(--wb-ground)',
    backgroundImage: 'none',
    border: '1px solid var(--wb-grid)',
  },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--wb-s1) 40%, transparent)' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--wb-bad)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--wb-bad)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '3px',
  },
  '.cm-matchingBracket': { backgroundColor: 'color-mix(in srgb, var(--wb-s2) 25%, transparent) !important' },
});

const ROLES: [Tag, string][] = [
  [tags.keyword, 'keyword'],
  [tags.typeName, 'type'],
  [tags.comment, 'comment'],
  [tags.number, 'number'],
  [tags.string, 'number'],
  [tags.meta, 'directive'],
  [tags.definition(tags.variableName), 'loop'],
];
const colours = syntaxHighlighting(HighlightStyle.define(ROLES.map(([tag, role]) => ({ tag, color: `var(--wb-${role})` }))));

export const look: Extension = [theme, colours];

const WORDS = (text: string) => new RegExp(`^(?:${text.split(' ').join('|')})\\b`);

function language(keywords: RegExp, types: RegExp, comment: RegExp): StreamLanguage<{ inside: boolean }> {
  const parser: StreamParser<{ inside: boolean }> = {
    startState: () => ({ inside: false }),
    token(stream, state) {
      if (state.inside || stream.match('/*')) {
        state.inside = !stream.skipTo('*/');
        if (state.inside) stream.skipToEnd();
        else stream.match('*/');
        return 'comment';
      }
      if (stream.eatSpace()) return null;
      if (stream.match(comment)) return 'comment';
      if (stream.sol() && stream.peek() === '#') {
        stream.skipToEnd();
        return 'meta';
      }
      if (stream.match(keywords)) return 'keyword';
      if (stream.match(types)) return 'typeName';
      if (stream.match(/^(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*/)) return 'number';
      if (stream.match(/^[A-Za-z_]\w*/)) return null;
      stream.next();
      return null;
    },
  };
  return StreamLanguage.define(parser);
}

export const c = language(
  WORDS(
    'break case const continue default do else enum extern for goto if inline restrict return sizeof static struct switch typedef union volatile while __global__ __device__ __shared__ __restrict__',
  ),
  /^(?:void|char|short|int|long|float|double|size_t|bool|half|u?int\d+_t|wb_v\d+\w+)\b/,
  /^\/\/.*/,
);

export const operatorText = language(
  WORDS('def where in for monoid identity combine'),
  /^(?:float(?:16|32|64)?|double|half|bfloat16|bool|u?int(?:8|16|32|64)?)\b/,
  /^#.*/,
);

const python = language(
  WORDS(
    'and as assert break class continue def del elif else except finally for from global if import in is lambda None not or pass raise return True False try while with yield',
  ),
  /^(?:bool|bytes|dict|float|int|list|object|set|str|tuple)\b/,
  /^#.*/,
);
const LANGUAGES: [RegExp, Extension][] = [
  [/\.(?:c|h|cu|cpp)$/, c],
  [/\.py$/, python],
];

/** The language of a file, by its name; none where there is no colouring for it. */
export function textOf(file: string): Extension {
  return LANGUAGES.find(([names]) => names.test(file))?.[1] ?? [];
}

/** In a shadow tree (as marimo has) an editor needs its styles there; known only once it stands in the page. */
export function atHome(view: EditorView): void {
  const root = view.dom.getRootNode();
  if (root instanceof ShadowRoot && view.root !== root) view.setRoot(root);
}
