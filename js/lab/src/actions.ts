// Every action of a panel as a command: what a button does, or where the keyboard goes.

export interface Action {
  name: string;
  label: string;
  key: string; // after the first stroke, Accel Alt W
  target: string; // within the panel
}

export const ACTIONS: Action[] = [
  { name: 'undo', label: 'Undo the Last Step', key: 'U', target: '.undo' },
  { name: 'redo', label: 'Redo a Step', key: 'R', target: '.redo' },
  { name: 'select', label: 'Drag Selects', key: 'S', target: '.mode:nth-child(1)' },
  { name: 'tile', label: 'Drag Tiles', key: 'T', target: '.mode:nth-child(2)' },
  { name: 'skew', label: 'Drag Skews', key: 'K', target: '.mode:nth-child(3)' },
  { name: 'tile-by-numbers', label: 'Tile by Numbers', key: 'N', target: '.numbers input' },
  { name: 'interchange', label: 'Interchange the Loops of the Axes', key: 'I', target: '.interchange' },
  { name: 'steps', label: 'Filter the Next Steps', key: 'F', target: '.steps input' },
  { name: 'domain', label: 'Go to the Iteration Domain', key: 'D', target: 'svg.plot' },
  { name: 'loops', label: 'Go to the Loops', key: 'L', target: '[role=treeitem][tabindex="0"]' },
  { name: 'code', label: 'Go to the Code', key: 'C', target: '.listing' },
  { name: 'replay', label: 'Replay or Pause', key: 'P', target: '.play' },
  { name: 'time', label: 'Go to the Time Slider', key: 'M', target: '.replay input' },
  { name: 'zoom-in', label: 'Zoom In', key: '=', target: '[aria-label="zoom in"]' },
  { name: 'zoom-out', label: 'Zoom Out', key: '-', target: '[aria-label="zoom out"]' },
  { name: 'copy', label: 'Copy the Python of the Schedule', key: 'Y', target: '.copy' },
  { name: 'repair', label: 'Take the First Repair of a Refusal', key: 'E', target: '.refusal .repair' },
  { name: 'dismiss', label: 'Dismiss a Refusal', key: 'X', target: '.refusal .close' },
];

let last: Element | null = null;

/** Remember in which panel the mouse or the keyboard was: the palette takes the focus away from it. */
export function remember(): void {
  for (const kind of ['focusin', 'pointerdown']) {
    document.addEventListener(kind, (event) => {
      const panel = (event.target as Element | null)?.closest?.('.wbp');
      if (panel) last = panel;
    }, true);
  }
}

const seen = (element: Element): boolean => element.isConnected && element.getClientRects().length > 0;

/** The panel that is meant: the last one used, else the first one seen. */
export function panel(): Element | null {
  if (last && seen(last)) return last;
  return [...document.querySelectorAll('.wbp')].find(seen) ?? null;
}

function target(action: Action): HTMLElement | null {
  const found = panel()?.querySelector<HTMLElement>(action.target);
  return found && seen(found) && !(found as HTMLButtonElement).disabled ? found : null;
}

export function possible(action: Action): boolean {
  return target(action) !== null;
}

/** A button is pressed; anything else gets the focus. */
export function perform(action: Action): void {
  const found = target(action);
  if (!found) return;
  if (found instanceof HTMLButtonElement) found.click();
  else found.focus();
  if (found instanceof HTMLInputElement && found.type !== 'range') found.select();
}
