// The mouse and the keys on a plot: hover, select, walk, pan, and drags that become steps.

import { s, zooms } from '../tools/dom';
import type { XY } from '../tools/geometry';
import type { Frame } from './frame';
import type { Plot } from './plot';
import type { Mark } from './scene';
import type { Selection } from '../state/messages';

/** The first instance of a mark. */
export function selectionOf({ data }: Frame, mark: Mark): Selection {
  const own = data.domain.statements[mark.statement];
  return { statement: own.name, instance: data.row(own.points, mark.rows[0]) };
}

export function listen(plot: Plot): void {
  const { svg, state } = plot;
  let start: XY | null = null;
  let axis: Element | null = null;
  let from = { x: 0, y: 0, view: plot.view };
  svg.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    axis = (event.target as Element).classList.contains('axis') ? (event.target as Element) : null;
    start = axis ? null : plot.cell(event);
    from = { x: event.clientX, y: event.clientY, view: plot.view };
    svg.setPointerCapture(event.pointerId);
    svg.focus({ preventScroll: true });
  });
  svg.addEventListener('pointermove', (event) => {
    if (axis) axis.classList.add('held');
    else if (!start) hover(plot, plot.near(plot.cell(event)));
    else if (state.mode !== 'select') ghost(plot, start, plot.cell(event));
    else if (plot.view.k > 1) {
      plot.move({ ...from.view, x: from.view.x + event.clientX - from.x, y: from.view.y + event.clientY - from.y });
    }
  });
  svg.addEventListener('pointerup', (event) => {
    const [begin, end] = [start, plot.cell(event)];
    start = null;
    plot.ghost.replaceChildren();
    if (axis) dropAxis(plot, axis, event);
    axis = null;
    if (!begin) return;
    const still = Math.hypot(event.clientX - from.x, event.clientY - from.y) < 4;
    if (still) click(plot, plot.near(end));
    else if (state.mode === 'tile') tile(plot, begin, end);
    else if (state.mode === 'skew') skew(plot, begin, end);
  });
  svg.addEventListener('pointercancel', () => {
    start = null;
    plot.ghost.replaceChildren();
  });
  svg.addEventListener('pointerleave', () => {
    if (!start) state.hover(null);
  });
  zooms(svg, (factor, at) => plot.zoom(factor, at));
  svg.addEventListener('keydown', (event) => keys(plot, event));
}

function hover(plot: Plot, mark: Mark | null): void {
  plot.state.hover(mark ? selectionOf(plot, mark) : null);
}

function click(plot: Plot, mark: Mark | null): void {
  plot.state.select(mark ? selectionOf(plot, mark) : {});
}

// -- keys ----------------------------------------------------------------------------------------------------------------

const MOVES: Record<string, XY> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function keys(plot: Plot, event: KeyboardEvent): void {
  const now = current(plot);
  let next: Mark | null | undefined;
  if (event.key in MOVES && !event.ctrlKey && !event.metaKey) next = beside(plot, now, MOVES[event.key]);
  else if (event.key === 'n') next = inTime(plot, now, 1);
  else if (event.key === 'p') next = inTime(plot, now, -1);
  else if (event.key === '+') plot.zoom(1.25);
  else if (event.key === '-') plot.zoom(0.8);
  else if (event.key === 'Escape' && !plot.state.refusal.step && !plot.state.compared) plot.state.select({});
  else return;
  event.preventDefault();
  event.stopPropagation();
  if (next && next !== now) plot.state.select(selectionOf(plot, next));
}

function current(plot: Plot): Mark | null {
  const { data, selection } = plot.state;
  if (!selection.statement || !selection.instance) return null;
  const number = data.statement(selection.statement);
  return (number < 0 ? null : plot.scene.byRow[number].get(data.find(number, selection.instance))) ?? null;
}

/** The next mark in a direction: what lies straight ahead is nearer than what lies aside. */
export function beside({ scene: { marks } }: Frame, now: Mark | null, [dx, dy]: XY): Mark | null {
  if (!now) return marks[0] ?? null;
  let best: Mark | null = null;
  let least = Infinity;
  for (const m of marks) {
    const [ax, ay] = [m.x + m.shift[0] - now.x - now.shift[0], m.y + m.shift[1] - now.y - now.shift[1]];
    const along = ax * dx + ay * dy;
    const across = Math.abs(ax * dy) + Math.abs(ay * dx);
    const cost = along + 3 * across;
    if (m !== now && along > 1e-6 && cost < least) [best, least] = [m, cost];
  }
  return best;
}

/** The mark that runs next, or ran before. */
export function inTime({ data, scene: { marks } }: Frame, now: Mark | null, direction: 1 | -1): Mark | null {
  const when = (m: Mark) => data.at(data.domain.statements[m.statement].when, m.rows[0], 0);
  const order = [...marks].sort((a, b) => when(a) - when(b));
  return now ? (order[order.indexOf(now) + direction] ?? null) : (order[0] ?? null);
}

// -- drags ---------------------------------------------------------------------------------------------------------------

/** The name of an axis dropped on the other's name: their loops change places. */
function dropAxis(plot: Plot, held: Element, event: PointerEvent): void {
  held.classList.remove('held');
  const other = [...plot.svg.querySelectorAll('.axis')].find((e) => e !== held);
  if (!other) return;
  const box = other.getBoundingClientRect();
  const away = Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
  if (away > 45) return plot.state.say('drop the name of an axis on the name of the other to interchange their loops');
  void plot.state.gesture('interchange', { statement: plot.largest.name, first: plot.look.x, second: plot.look.y });
}

/** The statement a drag is about: the one below it, else the one with the most dims. */
export function meant(frame: Frame, begin: XY): string {
  const { data, look } = frame;
  const own = (n: number) => data.domain.statements[n];
  const below = frame.near(begin);
  const whole = (n: number) => [look.x, look.y].every((axis) => !axis || data.along(own(n), axis));
  return below && whole(below.statement) ? own(below.statement).name : frame.largest.name;
}

/** Places from one to another, both counted. */
export const extent = (a: number, b: number): number => Math.abs(Math.round(b) - Math.round(a)) + 1;

function tile(plot: Plot, begin: XY, end: XY): void {
  const [width, height] = [extent(begin[0], end[0]), extent(begin[1], end[1])];
  if (width < 2 && height < 2) return plot.state.say('a tile of one point changes nothing');
  const { x, y } = plot.look;
  void plot.state.gesture('tile', { statement: meant(plot, begin), x, y, width, height });
}

/** How a drag skews: along which axis, and by how many places. */
export function lean(begin: XY, end: XY): { across: boolean; factor: number } {
  const [dx, dy] = [Math.round(end[0] - begin[0]), Math.round(end[1] - begin[1])];
  return Math.abs(dx) >= Math.abs(dy) ? { across: true, factor: dx } : { across: false, factor: dy };
}

function skew(plot: Plot, begin: XY, end: XY): void {
  const { across, factor } = lean(begin, end);
  const { x, y } = plot.look;
  if (!factor || !x || !y) return plot.state.say('drag by at least one cell to skew');
  void plot.state.gesture('skew', { statement: meant(plot, begin), loop: across ? x : y, by: across ? y : x, factor });
}

function ghost(plot: Plot, begin: XY, end: XY): void {
  if (plot.state.mode === 'tile') ghostTiles(plot, begin, end);
  else ghostSkew(plot, begin, end);
}

/** What is dragged is red as soon as the kernel says that it would be refused. */
function judge(plot: Plot, name: string, given: Record<string, unknown>): void {
  const legal = plot.state.lazy.judge(name, given, () => judge(plot, name, given));
  plot.ghost.classList.toggle('bad', legal === false);
}

function ghostTiles(plot: Plot, begin: XY, end: XY): void {
  const [width, height] = [extent(begin[0], end[0]), extent(begin[1], end[1])];
  const { low, high } = plot.scene;
  const shapes: SVGElement[] = [];
  for (let x = Math.floor(low[0] / width) * width; x <= high[0]; x += width) {
    for (let y = Math.floor(low[1] / height) * height; y <= high[1]; y += height) {
      const [left, top] = plot.at(Math.max(x, low[0]) - 0.45, Math.max(y, low[1]) - 0.45);
      const [right, bottom] = plot.at(Math.min(x + width - 1, high[0]) + 0.45, Math.min(y + height - 1, high[1]) + 0.45);
      shapes.push(s('rect', { x: left, y: top, width: right - left, height: bottom - top, rx: 4 }));
    }
  }
  const [tx, ty] = plot.at(Math.max(begin[0], end[0]), Math.max(begin[1], end[1]) + 0.6);
  judge(plot, 'tile', { statement: meant(plot, begin), x: plot.look.x, y: plot.look.y, width, height });
  plot.ghost.replaceChildren(...shapes.slice(0, 400), s('text', { x: tx, y: ty }, `${width} × ${height}`));
}

function ghostSkew(plot: Plot, begin: XY, end: XY): void {
  const { across, factor } = lean(begin, end);
  const { low } = plot.scene;
  const shapes = plot.scene.marks.slice(0, 2000).map((m) => {
    const [x, y] = across ? [m.x + factor * (m.y - low[1]), m.y] : [m.x, m.y + factor * (m.x - low[0])];
    const [cx, cy] = plot.at(x, y);
    return s('circle', { cx, cy, r: 3 });
  });
  const { x: ax, y: ay } = plot.look;
  if (factor && ax && ay) judge(plot, 'skew', { statement: meant(plot, begin), loop: across ? ax : ay, by: across ? ay : ax, factor });
  const [tx, ty] = plot.at(end[0], end[1] + 0.5);
  plot.ghost.replaceChildren(...shapes, s('text', { x: tx, y: ty }, `factor ${factor}`));
}
