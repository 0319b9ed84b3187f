// The generated code: each line knows its statements and its loop.

import { changes, folded } from './comparing';
import { button, h } from './dom';
import type { Compared, State } from './state';
import type { Line } from './types';

export class CodePane {
  readonly element = h('section', { class: 'pane code', 'aria-label': 'Generated code' });
  private rows: HTMLElement[] = [];

  constructor(private readonly state: State) {}

  draw(): void {
    const { code, compared } = this.state;
    if (compared) return this.drawChanges(compared);
    const numbers = new Map(this.state.data.domain.statements.map((s, i) => [s.name, i]));
    this.rows = code.lines.map((line) => this.line(line, numbers));
    const before = this.rows.slice(0, code.start);
    const body = this.rows.slice(code.start);
    this.element.replaceChildren(
      h('h3', {}, code.language, h('span', { class: 'soft' }, code.notes.length ? ` ${code.notes.join(' · ')}` : '')),
      code.reason ? h('p', { class: 'reason' }, code.reason) : h('div', { class: 'listing', tabindex: 0, role: 'region', 'aria-label': 'text of the kernel' },
        before.length ? h('details', {}, h('summary', {}, `${before.length} lines before the function`), ...before) : null, ...body));
  }

  private drawChanges({ text, step, after, verdict }: Compared): void {
    this.rows = [];
    const { lines, start } = this.state.code;
    const before = lines.slice(start).map((line) => line.runs.map(([run]) => run).join(''));
    const rows = folded(changes(before, after)).map(([kind, line]) =>
      h('div', { class: `line ${kind}` }, h('span', { class: 'number' }, MARKS[kind]), line));
    this.element.replaceChildren(
      h('h3', {}, 'before → after', h('code', {}, text), h('span', { class: 'soft' }, verdict), h('span', { class: 'space' }),
        button('apply', () => { this.state.closePreview(); void this.state.apply(step, text); }, { class: 'apply' }),
        button('close', () => this.state.closePreview(), { class: 'close' })),
      h('div', { class: 'listing', tabindex: 0, role: 'region', 'aria-label': 'what the step changes in the code' }, ...rows));
  }

  private line(line: Line, numbers: Map<string, number>): HTMLElement {
    const number = line.statements.length === 1 ? numbers.get(line.statements[0]) : undefined;
    return h('div', {
      class: `line${number === undefined ? '' : ` s${number % 6}`}${line.statements.length ? ' ours' : ''}`, 'data-line': line.number,
      mouseenter: () => this.state.hover(line.statements.length ? { line: line.number } : null),
      mouseleave: () => this.state.hover(null),
      click: () => { if (line.statements.length) this.state.select({ line: line.number }); },
    }, h('span', { class: 'number' }, line.number), ...line.runs.map(([text, role, bold]) =>
      role || bold ? h('span', { class: `${role ? `r-${role}` : ''}${bold ? ' bold' : ''}` }, text) : text));
  }

  light(): void {
    const { lines } = this.state.lit;
    const some = lines.size > 0;
    for (const row of this.rows) row.classList.toggle('active', some && lines.has(Number(row.dataset.line)));
  }
}

const MARKS = { same: ' ', gone: '−', new: '+', fold: '⋯' };
