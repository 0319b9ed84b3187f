// The generated code: each line knows its statements and its loop.

import { h } from './dom';
import type { State } from './state';
import type { Line } from './types';

export class CodePane {
  readonly element = h('section', { class: 'pane code', 'aria-label': 'Generated code' });
  private rows: HTMLElement[] = [];

  constructor(private readonly state: State) {}

  draw(): void {
    const { code } = this.state;
    const numbers = new Map(this.state.data.domain.statements.map((s, i) => [s.name, i]));
    this.rows = code.lines.map((line) => this.line(line, numbers));
    const before = this.rows.slice(0, code.start);
    const body = this.rows.slice(code.start);
    this.element.replaceChildren(
      h('h3', {}, code.language, h('span', { class: 'soft' }, code.notes.length ? ` ${code.notes.join(' · ')}` : '')),
      code.reason ? h('p', { class: 'reason' }, code.reason) : h('div', { class: 'listing', tabindex: 0, role: 'region', 'aria-label': 'text of the kernel' },
        before.length ? h('details', {}, h('summary', {}, `${before.length} lines before the function`), ...before) : null, ...body));
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
