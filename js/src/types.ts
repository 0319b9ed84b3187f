// What the kernel sends: docs/panel.md says it in words.

export type Table = [offset: number, rows: number, columns: number];

export interface Access {
  array: string;
  kind: 'read' | 'write';
  cells?: Table;
}

export interface Statement {
  name: string;
  dims: string[];
  does: string;
  loops: string[];
  kinds: string[];
  plain: boolean[];
  tiled: number;
  points: Table;
  times: Table;
  when: Table;
  accesses: Access[];
}

export interface Nest {
  statements: number[];
  x: string;
  y: string;
  axes: string[];
}

export interface Arrows {
  kind: Kind;
  array: string;
  source: number;
  target: number;
  pairs: Table;
}

export type Kind = 'flow' | 'anti' | 'output' | 'reduction';

export interface Domain {
  notes: string[];
  sizes: Record<string, number>;
  statements: Statement[];
  nests: Nest[];
  arrows: Arrows[];
}

export interface TreeNode {
  id: string;
  type: 'loop' | 'statement' | 'mark';
  name: string;
  detail: string;
  statements: string[];
  children: TreeNode[];
  kind?: string;
  step?: string;
  number?: number;
}

export interface Line {
  number: number;
  runs: [text: string, role: string, bold: boolean][];
  statements: string[];
  loop: string;
}

export interface Code {
  lines: Line[];
  start: number;
  notes: string[];
  language: string;
  reason: string;
}

export interface Past {
  script: string;
  steps: string[];
  place: number;
  undo: boolean;
  redo: boolean;
  moments: { text: string; parent: number | null; depth: number }[];
}

export type Step = Record<string, unknown>;

export interface Offer {
  text: string;
  kind: string;
  step: Step;
  legal: boolean;
  reason: string;
}

export interface Offers {
  steps?: Offer[];
  complete?: boolean;
}

export interface Wrong {
  source: string;
  target: string;
  reason: 'order' | 'race';
  loop: string;
  kind: Kind;
  array: string;
  pairs: [number[], number[]][];
  words: [string, string];
}

export interface Refusal {
  step?: string;
  reason?: string;
  repairs?: { text: string; step: Step }[];
  pairs?: Wrong[];
}

export interface Selection {
  statement?: string;
  instance?: number[];
  loop?: string;
  line?: number;
  array?: string;
  cell?: number[];
}

// The part of anywidget's model that is used: nothing else, so that every front end has it.
export interface Model {
  get(name: string): any;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: (...args: any[]) => void): void;
  off(event: string, callback: (...args: any[]) => void): void;
  send(content: unknown): void;
}
