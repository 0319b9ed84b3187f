// The tables of the domain, and what follows from them without asking the kernel.

import type { Domain, Statement, Table } from './messages';

export class Data {
  readonly numbers: Int32Array;
  readonly domain: Domain;

  constructor(domain: Domain, tables: DataView | null) {
    this.domain = domain;
    const bytes = tables ? tables.buffer.slice(tables.byteOffset, tables.byteOffset + tables.byteLength) : new ArrayBuffer(0);
    this.numbers = new Int32Array(bytes);
  }

  at(table: Table, row: number, column: number): number {
    return this.numbers[table[0] + row * table[2] + column];
  }

  row(table: Table, row: number): number[] {
    return Array.from(this.numbers.subarray(table[0] + row * table[2], table[0] + (row + 1) * table[2]));
  }

  statement(name: string): number {
    return this.domain.statements.findIndex((s) => s.name === name);
  }

  /** What fixes a statement's colour and mark. */
  number(statement: number): number {
    return this.domain.statements[statement].number;
  }

  find(statement: number, instance: number[]): number {
    const table = this.domain.statements[statement].points;
    for (let row = 0; row < table[1]; row += 1) {
      if (instance.every((value, i) => this.at(table, row, i) === value)) return row;
    }
    return -1;
  }

  /** The function from a row to its place on an axis; null when the statement has no such dim or loop, or nothing is named. */
  along(statement: Statement, axis: string): ((row: number) => number) | null {
    if (!axis) return null;
    const dim = statement.dims.indexOf(axis);
    if (dim >= 0) return (row) => this.at(statement.points, row, dim);
    const [named, counted] = [statement.loops.indexOf(axis), statement.counts.indexOf(axis)];
    const loop = named >= 0 ? named : counted;
    return loop >= 0 ? (row) => this.at(statement.times, row, loop) : null;
  }

  /** `C(0, 1, 2)`. */
  named(statement: number, row: number): string {
    const own = this.domain.statements[statement];
    return `${own.name}(${this.row(own.points, row).join(', ')})`;
  }

  /** Least and greatest value of a dim over the statements that have it. */
  range(dim: string, statements: number[]): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (const number of statements) {
      const own = this.domain.statements[number];
      const value = own.dims.includes(dim) ? this.along(own, dim) : null;
      for (let row = 0; value && row < own.points[1]; row += 1) {
        low = Math.min(low, value(row));
        high = Math.max(high, value(row));
      }
    }
    return low > high ? [0, 0] : [low, high];
  }
}
