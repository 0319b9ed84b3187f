// How much room a panel has in the window that it is seen in, and how it gets more.

import { h } from '../tools/dom';
import { fitted } from './layout';

const KEYS: Record<string, number> = { ArrowUp: -24, ArrowDown: 24 };
const LOWEST = 300;
const SCROLLED = '.jp-Notebook'; // where the extension scrolls to the panel of a cell that was run
const AROUND = 80; // pixels of margins between a panel and what grows with it

/** What is seen of an element, from the top of the window. */
export function visible(element: HTMLElement): { top: number; bottom: number } {
  const box = element.getBoundingClientRect();
  const { top, bottom } = windowOf(element);
  return { top: Math.max(top, box.top), bottom: Math.min(bottom, box.bottom) };
}

/** What can be seen at once of whatever scrolls around an element. */
export function windowOf(element: HTMLElement): { top: number; bottom: number } {
  let [top, bottom] = [0, window.innerHeight];
  for (let around = element.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible' || around === document.body || grows(around, element)) continue;
    const box = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  return { top, bottom };
}

/** Whether something is only as high as what it holds, as the output of a cell is: then it bounds nothing. */
function grows(around: HTMLElement, element: HTMLElement): boolean {
  return around.scrollHeight <= around.clientHeight + 1 && around.clientHeight <= element.offsetHeight + AROUND;
}

export class Room {
  readonly grip: HTMLElement;
  private height: number | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly chosen: (height: number) => void,
  ) {
    this.grip = h('div', {
      class: 'border grip',
      role: 'separator',
      tabindex: 0,
      'aria-orientation': 'horizontal',
      'aria-label': 'height of the panel',
      'aria-valuenow': 100,
      title: 'drag, or use the arrow keys: the height of the panel',
      pointerdown: (event: PointerEvent) => this.drag(event),
      keydown: (event: KeyboardEvent) => {
        if (!(event.key in KEYS)) return;
        event.preventDefault();
        this.chosen(Math.max(LOWEST, this.root.offsetHeight + KEYS[event.key]));
      },
    });
    window.addEventListener('resize', this.again);
    document.addEventListener('fullscreenchange', this.again);
  }

  /** So high as one chose, or as the window leaves room for. */
  fit(height?: number): void {
    this.height = height;
    const { root } = this;
    if (this.full) return root.style.setProperty('--panel-height', '100vh');
    const room = height ?? fitted(windowOf(root), root.getBoundingClientRect().top, root.closest(SCROLLED) !== null);
    root.style.setProperty('--panel-height', `${room}px`);
  }

  private get full(): boolean {
    return this.root.matches(':fullscreen');
  }

  /** The whole screen; where a page may not have it, all of the window. */
  fill(): void {
    if (this.full) void document.exitFullscreen();
    else void this.root.requestFullscreen().catch(() => this.root.scrollIntoView());
  }

  private readonly again = (): void => {
    if (this.root.isConnected && this.root.clientWidth) this.fit(this.height);
  };

  private drag(event: PointerEvent): void {
    event.preventDefault();
    const [start, from] = [event.clientY, this.root.offsetHeight];
    const height = (now: PointerEvent) => Math.max(LOWEST, from + now.clientY - start);
    const move = (now: PointerEvent) => this.root.style.setProperty('--panel-height', `${height(now)}px`);
    const drop = (now: PointerEvent) => {
      this.grip.removeEventListener('pointermove', move);
      this.grip.removeEventListener('pointerup', drop);
      if (Math.abs(now.clientY - start) > 2) this.chosen(height(now));
    };
    this.grip.setPointerCapture(event.pointerId);
    this.grip.addEventListener('pointermove', move);
    this.grip.addEventListener('pointerup', drop);
  }

  close(): void {
    window.removeEventListener('resize', this.again);
    document.removeEventListener('fullscreenchange', this.again);
  }
}
