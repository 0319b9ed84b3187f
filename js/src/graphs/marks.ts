// Marks of a drawing that Python made, as SVG: see workbench/viz/panels/models/pointing.py.

import { s } from '../tools/dom';

export type Mark = unknown[];
/** Where an x of the drawing stands now, and whether it is still inside. */
export type Across = (x: number) => number;

const paint = (what: string, role: string | null): string => (role ? `${what}:var(--wb-${role});` : `${what}:none;`);
const OUTLINES: Record<string, (r: number) => string> = {
  square: (r) => `M${-r},${-r}H${r}V${r}H${-r}Z`,
  diamond: (r) => `M0,${-1.35 * r}L${1.35 * r},0L0,${1.35 * r}L${-1.35 * r},0Z`,
  triangle: (r) => `M0,${-1.15 * r}L${1.15 * r},${0.85 * r}H${-1.15 * r}Z`,
  cross: (r) =>
    `M${-0.4 * r},${-1.1 * r}H${0.4 * r}V${-0.4 * r}H${1.1 * r}V${0.4 * r}H${0.4 * r}V${1.1 * r}H${-0.4 * r}V${0.4 * r}H${-1.1 * r}V${-0.4 * r}H${-0.4 * r}Z`,
};

/** A marker of some shape around the origin. */
export function marker(role: string, shape: string, size: number): SVGElement {
  const style = paint(shape === 'ring' ? 'stroke' : 'fill', role);
  if (shape in OUTLINES) return s('path', { d: OUTLINES[shape](size), style });
  if (shape === 'ring') return s('circle', { r: size * 0.8, 'stroke-width': size * 0.45, style: `fill:none;${style}` });
  return s('circle', { r: size, style });
}

/** One mark; null where a stretched axis has moved it out. */
export function drawn(mark: Mark, across: Across | null): SVGElement | null {
  const at = across ?? ((x: number) => x);
  const [kind, ...rest] = mark;
  if (kind === 'box') return box(rest as BoxRow, at);
  if (kind === 'path') {
    const [points, role, width, opacity] = rest as [number[], string, number, number];
    const pairs = points.map((value, i) => (i % 2 ? value : at(value))).join(' ');
    return s('polyline', { points: pairs, 'stroke-width': width, opacity, style: `fill:none;${paint('stroke', role)}` });
  }
  if (kind === 'line') return line(rest as LineRow, at);
  if (kind === 'marker') {
    const [x, y, role, shape, size] = rest as [number, number, string, string, number];
    return s('g', { transform: `translate(${at(x)},${y})` }, marker(role, shape, size));
  }
  const [x, y, text, size, role, anchor, look] = rest as [number, number, string, number, string, string, string];
  return s(
    'text',
    {
      x: at(x),
      y,
      'font-size': size,
      'text-anchor': anchor === 'start' ? undefined : anchor,
      'font-weight': look.includes('b') ? 600 : undefined,
      'font-style': look.includes('i') ? 'italic' : undefined,
      class: look.includes('m') ? 'mono' : undefined,
      style: paint('fill', role),
    },
    text,
  );
}

type BoxRow = [number, number, number, number, string | null, string | null, number, number];

function box([x, y, width, height, fill, edge, radius, opacity]: BoxRow, at: Across): SVGElement | null {
  const [left, right] = [at(x), at(x + width)];
  if (right <= left && width > 0) return null;
  const style = paint('fill', fill) + paint('stroke', edge);
  return s('rect', { x: left, y, width: right - left, height, rx: radius, opacity: opacity < 1 ? opacity : undefined, style });
}

type LineRow = [number, number, number, number, string, number, boolean, number];

function line([x0, y0, x1, y1, role, width, head, opacity]: LineRow, at: Across): SVGElement {
  const stroke = s('path', { d: `M${at(x0)},${y0}L${at(x1)},${y1}`, 'stroke-width': width, opacity, style: paint('stroke', role) });
  if (!head) return stroke;
  const length = Math.hypot(at(x1) - at(x0), y1 - y0) || 1;
  const [dx, dy] = [(at(x1) - at(x0)) / length, (y1 - y0) / length];
  const [bx, by] = [at(x1) - dx * 6, y1 - dy * 6];
  const tip = `${at(x1)},${y1} ${bx - dy * 2.6},${by + dx * 2.6} ${bx + dy * 2.6},${by - dx * 2.6}`;
  return s('g', {}, stroke, s('polygon', { points: tip, style: paint('fill', role) }));
}
