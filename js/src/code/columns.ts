// Which texts stand side by side in the code pane, each with its compiler, flags and machine; how their lines are coloured.

import { h } from '../tools/dom';
import type { Chosen, Code, Line, Tools } from '../state/messages';

export const LANGUAGES = ['C', 'CUDA', 'assembly', 'PTX', 'SASS', 'llvm-mca'] as const;
export const TINTS = 8;
const COMPILED = ['assembly', 'llvm-mca'];
const ON_GPU = ['CUDA', 'PTX', 'SASS'];

/** Whether a compiler makes the text of a column from the generated C. */
export function compiled({ language }: Chosen): boolean {
  return COMPILED.includes(language ?? 'C');
}

/** The columns after a language was switched on or off, in the order of the languages. */
export function toggled(columns: Chosen[], language: string): Chosen[] {
  const without = columns.filter((one) => one.language !== language);
  const now = without.length < columns.length ? without : [...columns, { language }];
  const at = ({ language: name }: Chosen) => (LANGUAGES as readonly string[]).indexOf(name ?? 'C');
  return now.sort((a, b) => at(a) - at(b));
}

/** A column more beside one, of which something may be changed. */
export function doubled(columns: Chosen[], nth: number): Chosen[] {
  return columns.flatMap((one, i) => (i === nth ? [one, { ...one }] : [one]));
}

/** The tint of every line: those that were made from one line of the source share it with that line. */
export function tints(lines: Line[], source: boolean): Map<number, number> {
  const found = new Map<number, number>();
  for (const line of lines) {
    const of = source ? (line.statements.length ? line.number : 0) : (line.of ?? 0);
    if (of) found.set(line.number, of % TINTS);
  }
  return found;
}

/** The choices above a column; of what cannot be chosen there is none. */
export function choices(chosen: Chosen, tools: Tools | undefined, change: (now: Chosen) => void): HTMLElement | null {
  const { language = 'C' } = chosen;
  const machines = ON_GPU.includes(language) ? tools?.gpus : tools?.cpus;
  const select = (name: 'compiler' | 'target', first: string, values: string[]) =>
    h(
      'select',
      {
        'data-choice': name,
        'aria-label': `${name} of this text`,
        change: (event: Event) => change({ ...chosen, [name]: (event.target as HTMLSelectElement).value }),
      },
      h('option', { value: '' }, first),
      ...values.map((value) => h('option', { value, selected: chosen[name] === value }, value)),
    );
  const flags = h('input', {
    type: 'text',
    value: chosen.flags ?? '',
    placeholder: 'flags: -O2 -mavx2 …',
    'data-choice': 'flags',
    'aria-label': 'flags of this text, taken with Enter',
    change: () => change({ ...chosen, flags: flags.value.trim() }),
  });
  const byCompiler = compiled(chosen);
  return h(
    'div',
    { class: 'column-choices' },
    byCompiler ? select('compiler', 'usual compiler', tools?.compilers ?? []) : null,
    select('target', ON_GPU.includes(language) ? 'any GPU' : 'this machine', machines ?? []),
    byCompiler ? flags : null,
  );
}

const STOPS = 'WB_STOPS'; // by which somebody ends a kernel that takes long
// `float C_r;`, `__shared__ float A_tile[1728];`: a name without a value.
const BARE = /^\s*(?!return\b|goto\b)(?:__align__\(\d+\) |\w+ )+\**\w+(?:\[[^\]]*\])*;$/;
// `const bool wb_wide = …;`, `(void)workspace;`: what is set up for all of a kernel, where no statement runs.
const SET_UP = /^\s*(?:\(void\)\w+|(?:\w+ )+\**(?:\w+ )?\w+ = .*);$/;

const textOf = (line: Line): string => line.runs.map(([part]) => part).join('');

/** Whether a line only names something, or asks whether to stop: nothing that one looks for in a loop nest. */
function plumbing(line: Line): boolean {
  const text = textOf(line);
  return text.includes(STOPS) || BARE.test(text) || (!line.statements.length && SET_UP.test(text));
}

/** The lines of a function from its first loop or statement on, without plumbing. */
export function computing({ lines, start }: Code): Line[] {
  const body = lines.slice(start);
  const first = body.findIndex((line) => line.statements.length > 0);
  return body.slice(Math.max(0, first)).filter((line) => !plumbing(line));
}

/** Where the loops around some statements begin, by place among lines; the first line where none is of them. */
export function beginning(lines: Line[], statements: string[]): number {
  return Math.max(
    0,
    lines.findIndex((line) => line.statements.some((name) => statements.includes(name))),
  );
}
