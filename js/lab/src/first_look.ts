// After a cell was run by hand its panel is brought into view: the first look shows all of it.

import type { Cell, CodeCell } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Notebook } from '@jupyterlab/notebook';
import { panelsIn } from './finding';

const PATIENCE = 20_000; // milliseconds until a panel that did not come is waited for no more
const LOOK = 120; // milliseconds between two looks
const GAP = 6; // pixels that stay free above and below
const GONE_ON = ['wheel', 'pointerdown', 'keydown']; // what somebody does who is elsewhere by now

/** Follow the cells that are run; stored outputs, and cells far from the one in use (run all), move nothing. */
export function showWhatWasRun(): void {
  NotebookActions.executed.connect((_, { notebook, cell, success }) => {
    const away = Math.abs(notebook.widgets.indexOf(cell) - notebook.activeCellIndex);
    if (success && away <= 1 && panelsIn(cell).length) new FirstLook(notebook, cell as CodeCell);
  });
}

class FirstLook {
  private readonly began = performance.now();
  private timer = 0;
  private before = -1;

  constructor(
    private readonly notebook: Notebook,
    private readonly cell: Cell,
  ) {
    GONE_ON.forEach((kind) => document.addEventListener(kind, this.end, true));
    this.later();
  }

  private readonly end = (): void => {
    window.clearTimeout(this.timer);
    GONE_ON.forEach((kind) => document.removeEventListener(kind, this.end, true));
  };

  private later(): void {
    this.timer = window.setTimeout(() => this.look(), LOOK);
  }

  /** Wait until the panel stands and has its height. */
  private look(): void {
    if (this.notebook.isDisposed || this.cell.isDisposed || performance.now() - this.began > PATIENCE) return this.end();
    const panel = this.cell.node.querySelector<HTMLElement>('.wbp.fitted');
    const height = panel?.offsetHeight ?? 0;
    if (!panel || !height || height !== this.before) {
      this.before = height;
      return this.later();
    }
    this.end();
    bring(panel, scrolling(panel, this.notebook.node));
  }
}

/** What scrolls around an element. */
function scrolling(element: HTMLElement, outermost: HTMLElement): HTMLElement {
  for (let around = element.parentElement; around && around !== outermost; around = around.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(around).overflowY) && around.scrollHeight > around.clientHeight + 1) return around;
  }
  return outermost;
}

/** By as little as needed; not at all where all of it is seen. */
function bring(panel: HTMLElement, around: HTMLElement): void {
  const [box, view] = [panel.getBoundingClientRect(), around.getBoundingClientRect()];
  const [above, below] = [box.top - view.top - GAP, box.bottom - view.bottom + GAP];
  const by = above < 0 ? above : below > 0 ? Math.min(above, below) : 0;
  const gently = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (by) around.scrollBy({ top: by, behavior: gently ? 'smooth' : 'auto' });
}
