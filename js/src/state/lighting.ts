// One selection, and what it lights in every view.

import type { Data } from './data';
import type { Code, Selection, TreeNode } from './messages';

export interface Lit {
  statements: Set<string>;
  rows: Map<number, Set<number>>; // statement → rows; a statement that is lit as a whole is in `whole`
  whole: Set<number>;
  lines: Set<number>;
  nodes: Set<string>;
  reads: Set<string>;
  writes: Set<string>;
}

export function nothing(): Lit {
  return {
    statements: new Set(),
    rows: new Map(),
    whole: new Set(),
    lines: new Set(),
    nodes: new Set(),
    reads: new Set(),
    writes: new Set(),
  };
}

export const cellName = (array: string, cell: number[]): string => `${array}(${cell.join(', ')})`;

export function lit(selection: Selection, data: Data, tree: TreeNode[], code: Code): Lit {
  const found = nothing();
  const { statement, instance, loop, line, array, cell } = selection;
  if (array !== undefined && cell !== undefined) lightTouching(found, data, array, cell);
  if (line !== undefined) lightLine(found, code, tree, line);
  else if (loop !== undefined) lightLoop(found, tree, code, loop, statement);
  else if (statement !== undefined) found.statements.add(statement);
  if (line === undefined && loop === undefined) lightAround(found, tree, code);
  if (statement !== undefined && instance !== undefined) lightInstance(found, data, statement, instance);
  else if (array === undefined) for (const name of found.statements) found.whole.add(data.statement(name));
  return found;
}

function lightInstance(found: Lit, data: Data, statement: string, instance: number[]): void {
  const number = data.statement(statement);
  const row = number < 0 ? -1 : data.find(number, instance);
  if (row < 0) return;
  found.rows.set(number, new Set([row]));
  for (const access of data.domain.statements[number].accesses) {
    if (access.cells) {
      const name = cellName(access.array, data.row(access.cells, row));
      (access.kind === 'read' ? found.reads : found.writes).add(name);
    }
  }
}

/** Every instance that reads or writes a cell. */
function lightTouching(found: Lit, data: Data, array: string, cell: number[]): void {
  data.domain.statements.forEach((own, number) => {
    const rows = new Set<number>();
    for (const access of own.accesses) {
      if (access.array !== array || !access.cells) continue;
      for (let row = 0; row < access.cells[1]; row += 1) {
        if (cell.every((value, i) => data.at(access.cells!, row, i) === value)) rows.add(row);
      }
    }
    if (rows.size) {
      found.rows.set(number, rows);
      found.statements.add(own.name);
    }
  });
}

function lightLine(found: Lit, code: Code, tree: TreeNode[], line: number): void {
  const own = code.lines[line - 1];
  if (!own) return;
  found.lines.add(line);
  own.statements.forEach((name) => found.statements.add(name));
  for (const node of walk(tree)) {
    const wanted = own.loop ? node.type === 'loop' && node.name === own.loop : node.type === 'statement';
    if (wanted && node.statements.some((name) => found.statements.has(name))) found.nodes.add(node.id);
  }
}

function lightLoop(found: Lit, tree: TreeNode[], code: Code, loop: string, statement?: string): void {
  for (const node of walk(tree)) {
    if (node.type !== 'loop' || node.name !== loop || (statement && !node.statements.includes(statement))) continue;
    found.nodes.add(node.id);
    node.statements.forEach((name) => found.statements.add(name));
  }
  for (const line of code.lines) {
    if (line.loop === loop && line.statements.some((name) => found.statements.has(name))) found.lines.add(line.number);
  }
}

/** The lines and nodes that the lit statements run through. */
function lightAround(found: Lit, tree: TreeNode[], code: Code): void {
  for (const node of walk(tree)) if (node.statements.some((name) => found.statements.has(name))) found.nodes.add(node.id);
  for (const line of code.lines) {
    if (line.statements.some((name) => found.statements.has(name))) found.lines.add(line.number);
  }
}

export function* walk(nodes: TreeNode[]): Generator<TreeNode> {
  for (const node of nodes) {
    yield node;
    yield* walk(node.children);
  }
}
