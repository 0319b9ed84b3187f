// A drawing of Python's that one can zoom, move, and walk through: what can be pointed at lies over it.

import { s, zooms } from '../tools/dom';
import { drawn } from './marks';
import type { Mark } from './marks';
import type { ModelPicture, Place } from '../state/messages';

export interface Actions {
  say: (place: Place | null) => void;
  enter: (place: Place) => void;
  fold: (place: Place) => void;
}

const TALLEST = 640;
const LEAST = 0.55; // smaller than this a picture is not made to be seen whole at first
const MOVES: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const middle = ({ box: [x, y, width, height] }: Place): [number, number] => [x + width / 2, y + height / 2];

/** The next place in a direction: what lies straight ahead is nearer than what lies aside. */
export function beside(places: Place[], now: Place | null, [dx, dy]: [number, number]): Place | null {
  if (!now) return places[0] ?? null;
  const [x, y] = middle(now);
  let best: Place | null = null;
  let least = Infinity;
  for (const place of places) {
    const [px, py] = middle(place);
    const along = (px - x) * dx + (py - y) * dy;
    const away = along + 2 * Math.abs((px - x) * dy + (py - y) * dx);
    if (along > 1 && away < least) [best, least] = [place, away];
  }
  return best;
}

export class Figure {
  readonly element: SVGSVGElement;
  private readonly stage = s('g', {});
  private shown: ModelPicture | null = null;
  private view = { k: 1, x: 0, y: 0 };
  private size = { width: 0, height: 0 };
  private now: string | null = null;
  private drag: { x: number; y: number; moved: boolean } | null = null;

  constructor(
    label: string,
    private readonly actions: Actions,
  ) {
    this.element = s('svg', { class: 'drawing', role: 'group', 'aria-label': label }, this.stage);
    this.listen();
  }

  /** Draw a picture in so many pixels; the view stays if `keep`, as long as the picture does. */
  show(picture: ModelPicture, width: number, keep: boolean): void {
    const same = this.shown !== null && JSON.stringify(this.shown) === JSON.stringify(picture) && this.size.width === width;
    if (same) return;
    this.shown = picture;
    if (!picture.places.some((place) => place.id === this.now)) this.now = null;
    const { width: own, height } = picture.picture;
    const fitting = Math.min(1, width / own);
    this.size = { width, height: Math.min(TALLEST, Math.max(120, height * fitting + 4)) };
    this.element.setAttribute('width', String(width));
    this.element.setAttribute('height', String(this.size.height));
    if (!keep || !this.view.k) this.fit(true);
    else this.draw();
  }

  /** All of it, or at first what can still be read. */
  fit(first = false): void {
    if (!this.shown) return;
    const { width, height, stretch } = this.shown.picture;
    const whole = Math.min(1, this.size.width / width, this.size.height / height);
    const k = stretch ? 1 : first && whole < LEAST ? Math.min(1, Math.max(LEAST, this.size.width / width)) : whole;
    this.view = { k, x: stretch ? 0 : Math.max(0, (this.size.width - width * k) / 2), y: 0 };
    if (first) this.draw();
    else this.move();
  }

  zoom(factor: number, at: [number, number] = [this.size.width / 2, this.size.height / 2]): void {
    const stretch = this.shown?.picture.stretch;
    const k = Math.min(stretch ? 400 : 8, Math.max(stretch ? 1 : 0.1, this.view.k * factor));
    const grown = k / this.view.k;
    const begin = stretch ? stretch[0] * this.scale : 0;
    const x = at[0] - begin - (at[0] - begin - this.view.x) * grown;
    this.view = { k, x, y: stretch ? 0 : at[1] - (at[1] - this.view.y) * grown };
    this.move();
  }

  // -- drawing -----------------------------------------------------------------------------------------------------------

  /** How large a stretched picture is drawn. */
  private get scale(): number {
    return Math.min(1, this.size.width / (this.shown?.picture.width ?? 1));
  }

  private get transform(): string {
    const { k, x, y } = this.view;
    return this.shown?.picture.stretch ? `scale(${this.scale})` : `translate(${x},${y}) scale(${k})`;
  }

  /** Of a stretched picture: where an x stands, held between the ends of the axis. */
  private across(): ((x: number) => number) | null {
    const stretch = this.shown?.picture.stretch;
    if (!stretch) return null;
    const [left, right] = stretch;
    const { k } = this.view;
    const least = (right - left) * this.scale * (1 - k);
    this.view.x = Math.min(0, Math.max(least, this.view.x));
    const shift = this.view.x / this.scale;
    return (x) => (x < left || x > right ? x : Math.min(right, Math.max(left, left + (x - left) * k + shift)));
  }

  /** After a zoom or a move: only a stretched axis is drawn anew. */
  private move(): void {
    if (this.shown?.picture.stretch) this.draw();
    else this.stage.setAttribute('transform', this.transform);
  }

  private draw(): void {
    if (!this.shown) return;
    const { picture, places } = this.shown;
    const held = this.stage.contains(document.activeElement);
    const across = this.across();
    const marks = picture.marks.map((mark) => (this.hidden(mark) ? null : drawn(mark, across)));
    this.stage.setAttribute('transform', this.transform);
    this.stage.replaceChildren(...marks.filter((mark) => mark !== null), ...places.map((place) => this.place(place, across)));
    const first = this.stage.querySelector('[aria-current=true]') ?? this.stage.querySelector('.place');
    first?.setAttribute('tabindex', '0');
    if (held) (first as SVGElement | null)?.focus({ preventScroll: true });
  }

  /** Ticks that a stretched axis has moved out. */
  private hidden(mark: Mark): boolean {
    const stretch = this.shown?.picture.stretch;
    if (!stretch || this.view.k === 1 || !['text', 'line'].includes(String(mark[0]))) return false;
    const [left, right] = stretch;
    const x = mark[1] as number;
    const moved = left + (x - left) * this.view.k + this.view.x / this.scale;
    return x >= left && x <= right && (moved < left - 1 || moved > right + 1);
  }

  private place(place: Place, across: ((x: number) => number) | null): SVGElement {
    const [x, y, width, height] = place.box;
    const [left, right] = across ? [across(x), across(x + width)] : [x, x + width];
    return s(
      'rect',
      {
        class: 'place',
        'data-id': place.id,
        x: left,
        y,
        width: Math.max(right - left, 0.5),
        height,
        rx: 4,
        role: 'button',
        tabindex: -1,
        'aria-label': [place.words, ...place.details].join('; '),
        'aria-current': place.id === this.now ? 'true' : undefined,
        mouseenter: () => this.actions.say(place),
        focus: () => this.point(place),
        click: () => this.click(place),
      },
      s('title', {}, [place.words, ...place.details].join('\n')),
    );
  }

  private point(place: Place): void {
    this.now = place.id;
    this.stage.querySelectorAll('.place').forEach((e) => {
      const own = e.getAttribute('data-id') === place.id;
      if (own) e.setAttribute('aria-current', 'true');
      else e.removeAttribute('aria-current');
      e.setAttribute('tabindex', own ? '0' : '-1');
    });
    this.actions.say(place);
  }

  /** Move the picture so that a place can be seen. */
  private bring(place: Place): void {
    if (this.shown?.picture.stretch) return;
    const { k, x, y } = this.view;
    const [px, py] = middle(place);
    const [sx, sy] = [px * k + x, py * k + y];
    const room = 40;
    const into = (value: number, size: number) => (value < room ? room - value : value > size - room ? size - room - value : 0);
    const [dx, dy] = [into(sx, this.size.width), into(sy, this.size.height)];
    if (!dx && !dy) return;
    this.view = { k, x: x + dx, y: y + dy };
    this.move();
  }

  // -- mouse and keys ----------------------------------------------------------------------------------------------------

  private click(place: Place): void {
    if (this.drag?.moved) return;
    this.point(place);
    this.actions.enter(place);
  }

  private listen(): void {
    const svg = this.element;
    svg.addEventListener('pointerdown', (event) => {
      this.drag = { x: event.clientX, y: event.clientY, moved: false };
    });
    svg.addEventListener('pointermove', (event) => {
      if (!this.drag || !(event.buttons & 1)) return;
      const [dx, dy] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
      if (!this.drag.moved && Math.hypot(dx, dy) < 4) return;
      this.drag = { x: event.clientX, y: event.clientY, moved: true };
      this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
      this.move();
    });
    svg.addEventListener('mouseleave', () => this.actions.say(null));
    zooms(svg, (factor, at) => this.zoom(factor, at));
    svg.addEventListener('keydown', (event) => this.keys(event));
  }

  private keys(event: KeyboardEvent): void {
    const places = this.shown?.places ?? [];
    const now = places.find((place) => place.id === this.now) ?? null;
    if (event.key in MOVES && !event.ctrlKey && !event.metaKey) {
      const next = beside(places, now, MOVES[event.key]);
      if (next) {
        this.bring(next);
        this.stage.querySelector<SVGElement>(`[data-id="${CSS.escape(next.id)}"]`)?.focus({ preventScroll: true });
      }
    } else if (event.key === '+') this.zoom(1.25);
    else if (event.key === '-') this.zoom(0.8);
    else if (event.key === '0') this.fit();
    else if ((event.key === 'Enter' || event.key === ' ') && now) this.actions.enter(now);
    else if (event.key === 'f' && now && !event.ctrlKey && !event.metaKey) this.actions.fold(now);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
