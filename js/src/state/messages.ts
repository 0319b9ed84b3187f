// What the kernel says and is asked. Written by tools/panel_messages.py from workbench/viz/messages.

export type Table = [offset: number, rows: number, columns: number];

export type Run = [text: string, role: string, bold: boolean];

export type Step = Record<string, unknown>;

export type Kind = 'flow' | 'anti' | 'output' | 'reduction';

/** An access of a statement; its cells are missing where data decide them. */
export interface Access {
  array: string;
  kind: 'read' | 'write';
  cells?: Table;
}

/** The instances of a statement, one a row of its tables. */
export interface Instances {
  dims: string[];
  does: string;
  loops: string[];
  numbers: number[]; // of the loops: one around several statements has the same number for all of them
  kinds: string[];
  counts: string[]; // what the axis of a loop is called that counts something else than the dim of its name
  plain: boolean[];
  tiled: number; // so many of the outer loops make a tile
  points: Table;
  times: Table;
  when: Table;
  accesses: Access[];
}

/** A statement with its instances. */
export interface Statement {
  dims: string[];
  does: string;
  loops: string[];
  numbers: number[];
  kinds: string[];
  counts: string[];
  plain: boolean[];
  tiled: number;
  points: Table;
  times: Table;
  when: Table;
  accesses: Access[];
  name: string;
  number: number; // fixes its colour and mark, through all steps
  cost: number; // operations and touches of all its instances
}

/** Statements that are drawn together, by their places in the program. */
export interface Nest {
  statements: number[];
  x: string;
  y: string;
  axes: string[];
  counts: Record<string, string>; // such an axis → its loop
}

/** Dependences of one kind, as rows of the one statement and of the other. */
export interface Arrows {
  kind: Kind;
  array: string;
  source: number;
  target: number;
  pairs: Table;
}

/** What is drawn of the tensors against what is meant, at most 1: their bytes, and the longest row of elements. */
export interface Scale {
  data: number;
  row: number;
}

/** The instances of a schedule at small sizes. */
export interface Domain {
  scale: Scale;
  arrays: Record<string, number>; // bytes of an element
  marks: Record<string, number>; // the numbers that fix the colours and marks of arrays
  notes: string[];
  sizes: Record<string, number>;
  statements: Statement[];
  nests: Nest[];
  arrows: Arrows[];
}

/** A node of the schedule; its id is the way to it. */
export interface TreeNode {
  id: string;
  type: 'loop' | 'statement' | 'mark';
  name: string;
  detail: string;
  statements: string[];
  children: TreeNode[];
  kind?: string;
  step?: string; // what steps call a loop
  once?: boolean; // a loop of one iteration wherever it stands
  number?: number; // of a statement: fixes its colour and mark
}

/** A line of a text, counted from 1, with what it belongs to. */
export interface Line {
  number: number;
  of?: number; // the line of the text that this one was made from
  runs: Run[];
  statements: string[];
  loop: string;
}

/** A step that may be taken instead. */
export interface Repair {
  text: string;
  step: Step;
}

/** A text of the schedule; the reason where there is none, and steps after which there might be one. */
export interface Code {
  lines: Line[];
  start: number;
  notes: string[];
  language: string;
  reason: string;
  instead?: Repair[];
}

/** A schedule of the history, by its last step. */
export interface Moment {
  text: string;
  parent: number | null;
  depth: number;
}

/** What is worth knowing of a legal step, or an empty text; `warns`: whether one should think before taking it. */
export interface Remark {
  text: string;
  warns: boolean;
}

/** The history, and where in it the schedule is; `remarks` has one for each step, most of them empty. */
export interface Past {
  script: string;
  steps: string[];
  remarks: Remark[];
  place: number;
  undo: boolean;
  redo: boolean;
  moments: Moment[];
}

/** The operator's text. */
export interface Source {
  text: string;
  editable: boolean;
}

/** What is lit. */
export interface Selection {
  statement?: string;
  instance?: number[];
  loop?: string;
  line?: number;
  array?: string;
  cell?: number[];
}

/** What a column of the code pane shows; what is missing is as everywhere in the panel. */
export interface Chosen {
  language?: string;
  compiler?: string;
  flags?: string;
  target?: string;
}

/** What such a column may choose from: compilers by name, machines C and CUDA are written for, whether llvm-mca. */
export interface Tools {
  compilers: string[];
  cpus: string[];
  gpus: string[];
  mca: boolean;
}

export type LoopTraffic = [parent: number, held: number, moved: number, statements: number[]];

export type Cost = [nodes: LoopTraffic[], touches: number[]];

export type Action = 'pause' | 'resume' | 'stop';

/** A step that may come next, or may not, or of which that is not known: the question took too long. */
export interface Offer {
  text: string;
  kind: string;
  step: Step;
  legal: boolean;
  known: boolean;
  reason: string;
}

/** The next steps, kinds not all looked at (`left`), and loops too short for any block; empty until asked for. */
export interface Offers {
  steps?: Offer[];
  complete?: boolean;
  left?: string[];
  short?: string[];
}

/** A dependence that a refused step violates, with pairs of its instances; `data`: under which data it is one. */
export interface Wrong {
  source: string;
  target: string;
  reason: 'order' | 'race';
  loop: string;
  kind: Kind;
  array: string;
  pairs: [number[], number[]][];
  words: [string, string];
  data: string;
}

/** Why a step was not taken, and what may stand in its place, or why nothing; empty when none was refused. */
export interface Refusal {
  step?: string;
  reason?: string;
  repairs?: Repair[];
  without?: string;
  pairs?: Wrong[];
}

/** What a step would make of everything; its tables are in base64. */
export interface Preview {
  lines: string[];
  verdict: string;
  domain: Domain;
  tables: string;
  tree: TreeNode[];
}

/** What the default mapping to a GPU would make of everything, in so many steps; `note`: what one thread must do. */
export interface Mapped {
  text: string;
  count: number;
  note: string;
  preview: Preview;
}

/** The step of a gesture that is not finished. */
export interface Judged {
  text: string;
  legal: boolean;
}

/** A step of a menu; `gain` is how many times faster by the model, `why` in words (bytes, lanes, threads), which
    `warns` or not. */
export interface Choice {
  text: string;
  kind: string;
  step: Step;
  legal: boolean;
  reason: string;
  gain: number;
  why: string[];
  warns: boolean;
}

/** A loop around what a menu is of, and sizes of blocks that fit, each with why. */
export interface BlockSizes {
  loop: string;
  iterations: number;
  sizes: [number, string][];
}

/** What may be done at a loop or a statement, as far as it was looked at; `unmodelled` says why no gain is known,
    `complete` whether every step was looked at. */
export interface MenuData {
  steps: Choice[];
  blocks: BlockSizes[];
  more: boolean;
  complete: boolean;
  unmodelled: string;
}

/** A cell of a map: a step, or the schedule as it is. */
export interface Spot {
  text: string;
  step?: Step;
  legal: boolean;
  reason: string;
  nodes: LoopTraffic[];
}

/** Steps of one kind in rows and columns, and those of them that were judged so far, by their places. */
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

/** The traffic now, and after some steps, with what else is worth knowing of each of them. */
export interface Costs {
  now: Cost;
  after: Cost[];
  remarks: Remark[];
  note: string;
}

/** Whether there is more to be looked at. */
export interface More {
  more: boolean;
}

/** What another operator's text made impossible, in words. */
export interface Left {
  left: string;
}

/** The picture that readers without a kernel see, by MIME type: words, and a PNG in base64. */
export interface Still {
  data: Record<string, string>;
}

/** A panel as a file and as a link: schedule, way, panes, what is lit. */
export interface Kept {
  name: string;
  text: string;
  link: string;
}

/** What is wrong at a token, counted from 1. */
export interface Problem {
  line: number;
  column: number;
  length: number;
  message: string;
  fix: string;
}

/** A name that completes what is typed. */
export interface Name {
  label: string;
  kind: string;
}

/** What is said of an operator's text. */
export interface Checked {
  problems: Problem[];
  names: Name[];
}

/** A file, in base64. */
export interface Film {
  name: string;
  type: string;
  data: string;
}

/** What can be changed of the machine. */
export interface Machine {
  vector_bits: number;
  cache_bytes: number[];
  line_bytes: number;
}

/** Why nothing is counted. */
export interface Unknown {
  reason: string;
}

/** What an iteration holds of an array, and what all move. */
export interface Held {
  name: string;
  held: number;
  moved: number;
  reuse: number;
}

/** A loop, or first everything. */
export interface LoopRow {
  loop: string;
  kind: string;
  depth: number;
  parent: number;
  held: number;
  moved: number;
  iterations: number; // 0 of an estimate
  statements: number[];
  arrays: Held[];
}

/** What loops hold and move. */
export interface Footprints {
  note: string;
  exact: boolean;
  flops: number;
  touches: number[];
  rows: LoopRow[];
}

/** A schedule on the way to this one. */
export interface Spent {
  name: string;
  place: number; // in the history
  flops: number;
  touches: number[];
  nodes: LoopTraffic[];
}

/** What the machine does in a second at most. */
export interface Ceilings {
  flops: number;
  bytes: Record<string, number>; // of a memory
  origin: string;
}

/** The way below the ceilings, where these were measured. */
export interface Roofline {
  note: string;
  points: Spent[];
  ceilings: Ceilings | null;
}

/** What an access is to a warp, of its costliest request. */
export interface WarpTouch {
  statement: string;
  array: string;
  kind: string;
  memory: string; // global or shared
  text: string;
  bytes: number;
  requests: number;
  average: number;
  worst: number;
  efficiency: number;
  complete: boolean;
  lanes: (number | null)[];
}

/** Accesses of warps. */
export interface Warps {
  note: string;
  accesses: WarpTouch[];
}

export type TrialRow = [number: number, outcome: number, seconds: number | null, predicted: number | null, round: number, confirmed: number, places: number[], bytes: number[] | null, twin: number | null];

export type Importance = [name: string, part: number];

export type Ranking = [round: number, tau: number, recall: number, regret: number];

export type Baseline = [name: string, seconds: number];

/** What a trial decides. */
export interface Decision {
  name: string;
  options: string[];
  ordered: boolean;
}

/** A study as it is. */
export interface StudyData {
  name: string;
  state: 'running' | 'paused' | 'finished' | 'stopped' | 'failed';
  done: number;
  budget: number;
  outcomes: string[]; // the first is that it was measured
  best: number | null;
  speedup: number | null;
  decisions: Decision[];
  trials: TrialRow[];
  importance: Importance[];
  ranking: Ranking[];
  baselines: Baseline[];
  flops: number;
  ceilings: Ceilings | null;
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

export type Takes = 'directory' | 'file' | 'process';

export type Doing = 'building' | 'writing' | 'registering' | 'shown';

export type ExportFile = [name: string, bytes: number, isText: boolean];

export type ExportKernel = [steps: string, sizes: string];

/** A button; what is missing for it, where something is. */
export interface WayOut {
  name: string;
  title: string;
  missing: string;
}

/** Files of others in a directory. */
export interface InTheWay {
  directory: string;
  files: string[];
}

/** What a way out would do, does, or did. */
export interface Export {
  title: string;
  takes: Takes;
  state: Doing;
  of: string; // whose schedule it is
  steps: string;
  script: string; // Python that makes the schedule
  call: string; // and exports it, with {} for the place
  file: string; // below the directory, where one is named
  usual: string; // directory
  files: ExportFile[];
  kernels: ExportKernel[];
  built: string[];
  notes: string[];
  signature: string;
  error: string;
  asks: InTheWay | null;
  done: string;
}

/** The ways, and the job of the one that is chosen. */
export interface ExportData {
  ways: WayOut[];
  chosen: string;
  job: Export | null;
}

/** The text of a file; null for one that is none. */
export interface FileText {
  text: string | null;
}

export type Came = 'measured' | 'illegal' | 'not built' | 'crashed' | 'timed out' | 'wrong' | 'estimated' | 'stopped' | 'not measured';

/** How many times faster than another that took so many threads (0 on a GPU), and between what by both spreads. */
export interface Faster {
  times: number;
  lower: number;
  upper: number;
  threads: number;
}

/** What came of a schedule on so many threads (0 on a GPU): seconds, and how many times faster it is than the naive
    one and than NumPy. */
export interface Timing {
  outcome: Came;
  seconds: number | null;
  lower: number | null;
  upper: number | null;
  threads: number;
  naive: Faster | null;
  numpy: Faster | null;
  words: string;
  hardware: string; // what the processor counted, or why it did not
}

/** How many times faster a line of the history is than the line before, or than the nearest before that has a time
    (`since`, its last step): `expected` by the model, or why that has nothing (`unmodelled`), and `measured`, where
    there is such a line. */
export interface Gained {
  expected: number | null;
  unmodelled: string;
  measured: Faster | null;
  since: string;
}

/** By the places of the history, `gained` where a time and a line before are; `doing` is empty while nothing is
    measured. */
export interface MeasuredData {
  about: string;
  doing: string;
  busy: number[];
  moments: (Timing | null)[];
  gained: (Gained | null)[];
  naive: Timing | null;
  numpy: Timing | null;
  said: string;
}

/** A drawing: marks in pixels, as `workbench.viz.panels.models.marks` writes them. */
export interface Picture {
  width: number;
  height: number;
  marks: unknown[][];
  stretch: number[] | null; // from where to where the axis reaches that a zoom stretches
}

/** What can be pointed at: a node, a cut, a bar, a buffer. */
export interface Place {
  id: string;
  box: number[]; // left, top, width, height
  words: string;
  details: string[];
  opens: string; // the id of the node whose operator a click shows, or nothing
  module: string; // the module that it stands in, or that it is
}

/** A module, function or branch that folds. */
export interface Module {
  name: string;
  depth: number;
  count: number;
  folded: boolean;
}

/** What a colour and a shape mean. */
export interface Colour {
  role: string;
  shape: string;
  words: string;
}

/** A picture with what can be pointed at in it. */
export interface ModelPicture {
  picture: Picture;
  places: Place[];
  words: string; // the same in words
}

/** A model in a panel. */
export interface NetworkData {
  title: string;
  facts: string[];
  stage: number;
  stages: string[];
  colours: '' | 'kinds' | 'changes'; // what is chosen, where there is a choice
  graph: ModelPicture;
  legend: string;
  meanings: Colour[];
  modules: Module[];
  opened: string; // the node whose operator the other panes show, or nothing
  time: ModelPicture | null;
  memory: ModelPicture | null;
  why_no_memory: string;
}

/** What a lazy view last answered. */
export interface Views {
  footprint?: Footprints | Unknown;
  roofline?: Roofline | Unknown;
  warps?: Warps | Unknown;
  dataflow?: ModelPicture | Unknown;
  CUDA?: Code;
  HIP?: Code;
  assembly?: Code;
  PTX?: Code;
  SASS?: Code;
  texts?: Record<string, Code>; // columns that chose something, by what they chose as JSON
  trial?: TrialTold;
}

/** How a panel stands on the screen; nothing of the schedule.

    `shares` is what a column or a pane has of the room against its neighbours, `height` the panel's in pixels, where
    somebody chose it; `pair` are the panes that were chosen last for a `talk`, which shows two in large type.
    `texts` are the columns of the code pane, `plain` without the colours of their lines, `long` without wrapping these. */
export interface Arrangement {
  shares?: Record<string, number>;
  height?: number;
  talk?: boolean;
  pair?: string[];
  texts?: Chosen[];
  plain?: boolean;
  long?: boolean;
}

/** The state that both sides hold. */
export interface Traits {
  title: string;
  panes: string[];
  domain: Domain;
  tables: DataView;
  tree: TreeNode[];
  code: Code;
  past: Past;
  offers: Offers;
  refusal: Refusal;
  selection: Selection;
  machine: Machine;
  views: Views;
  source: Source;
  study: Partial<StudyData>;
  export: Partial<ExportData>;
  measured: Partial<MeasuredData>;
  network: Partial<NetworkData>;
  arrangement: Arrangement;
}

/** What may be asked, with what, and what is answered. */
export interface Questions {
  apply: { with: { step: Step }; result: null };
  undo: { with: Record<string, never>; result: null };
  redo: { with: Record<string, never>; result: null };
  go: { with: { place: number }; result: null };
  offer: { with: { kinds?: string[]; seconds?: number; part?: number }; result: More };
  again: { with: { step: Step }; result: Offer | null };
  preview: { with: { step: Step }; result: Preview };
  gpu: { with: { do: string }; result: Mapped | null };
  gesture: { with: { name: string; given: Record<string, unknown> }; result: null };
  dismiss: { with: Record<string, never>; result: null };
  menu: { with: { loop?: string; statement?: string; part?: number }; result: MenuData };
  judge: { with: { name: string; given: Record<string, unknown> }; result: Judged };
  map: { with: { kind: string; statement: string; x: string; y: string; only?: number[] }; result: LegalityMap };
  costs: { with: { steps: Step[] }; result: Costs };
  view: { with: { name: string; given?: Record<string, unknown> }; result: null };
  tools: { with: Record<string, never>; result: Tools };
  keep: { with: Record<string, never>; result: Kept };
  still: { with: Record<string, never>; result: Still };
  restore: { with: { text: string }; result: null };
  check: { with: { text: string }; result: Checked };
  rewrite: { with: { text: string }; result: Left };
  film: { with: { kind: string }; result: Film };
  export: { with: { do: string; way?: string; file?: string; directory?: string; over?: string[] }; result: FileText | null };
  measure: { with: { do: string }; result: null };
  study: { with: { do: Action }; result: null };
  trial: { with: { number: number }; result: null };
  network: { with: { do: string; what?: string }; result: null };
}
