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
  counts: string[]; // what the axis of a loop is called that counts something else than the dim of its name
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
  counts: Record<string, string>; // such an axis → its loop
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
  arrays: Record<string, number>; // bytes of an element
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
  of?: number; // the line of the text that this one was made from
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

export interface Machine {
  vector_bits: number;
  cache_bytes: [number, number, number];
  line_bytes: number;
}

// (parent, held bytes, moved bytes, statements by number) of a loop; the first one is everything.
export type Node4 = [number, number, number, number[]];

export interface Spot {
  text: string;
  step?: Step;
  legal: boolean;
  reason: string;
  nodes: Node4[];
}

export interface LegalityMap {
  title: string;
  rows: string[];
  columns: string[];
  down: string;
  across: string;
  cells: Record<string, Spot>;
  note: string;
  touches: number[];
}

export interface Footprints {
  reason?: string;
  note: string;
  exact: boolean;
  flops: number;
  touches: number[];
  rows: {
    loop: string; kind: string; depth: number; parent: number; held: number; moved: number; iterations: number; statements: number[];
    arrays: { name: string; held: number; moved: number; reuse: number }[];
  }[];
}

export interface Roofline {
  reason?: string;
  note: string;
  points: { name: string; flops: number; touches: number[]; nodes: Node4[] }[];
  ceilings: { flops: number; bytes: Record<string, number>; origin: string } | null;
}

export interface Warps {
  reason?: string;
  note: string;
  accesses: {
    statement: string; array: string; kind: string; memory: 'global' | 'shared'; text: string; bytes: number; requests: number;
    average: number; worst: number; efficiency: number; complete: boolean; lanes: (number | null)[];
  }[];
}

export interface Source {
  text: string;
  editable: boolean;
}

export interface Problem {
  line: number;
  column: number;
  length: number;
  message: string;
  fix: string;
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

/** number, outcome, seconds (estimates of a ranked study), predicted seconds, round, confirmed, places of its options, bytes from L2, L3 and memory, the number of the trial whose schedule it gives (0: the default recipe) */
export type TrialRow = [number, number, number | null, number | null, number, number, number[], number[] | null, number | null];

export interface StudyData {
  name: string;
  state: 'running' | 'paused' | 'finished' | 'stopped' | 'failed';
  done: number;
  budget: number;
  outcomes: string[]; // the first is that it was measured
  best: number | null;
  speedup: number | null;
  decisions: { name: string; options: string[]; ordered: boolean }[];
  trials: TrialRow[];
  importance: [name: string, part: number][];
  ranking: [round: number, tau: number, recall: number, regret: number][];
  baselines: [name: string, seconds: number][];
  flops: number;
  ceilings: { flops: number; bytes: Record<string, number> } | null;
  why: string; // it failed, or ended early
  ranked: boolean; // without a GPU: seconds are estimates of a model
  language: 'C' | 'CUDA'; // that its candidates are written in
}

/** What is said of the trial that is shown. */
export interface TrialTold {
  number: number;
  message: string;
  shown: boolean;
  best_code: string[];
}

/** The ways out, and what the one that is chosen would do. */
export interface ExportData {
  ways: { name: string; title: string; missing: string }[];
  chosen: string;
  job: ExportJob | Record<string, never>;
}

export interface ExportJob {
  title: string;
  takes: 'directory' | 'file' | 'process';
  state: 'building' | 'writing' | 'registering' | 'shown';
  of: string; // whose schedule it is
  steps: string;
  script: string; // Python that makes the schedule
  call: string; // and exports it, with {} for the place
  file: string; // below the directory, where one is named
  usual: string; // directory
  files: [name: string, bytes: number, isText: boolean][];
  kernels: [steps: string, sizes: string][];
  built: string[];
  notes: string[];
  signature: string;
  error: string;
  asks: { directory: string; files: string[] } | null;
  done: string;
}
