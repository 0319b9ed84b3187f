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
  { name: 'insert', label: 'Insert the Python of the Schedule as a Cell', key: 'V', target: '.insert' },
  { name: 'map-shift', label: 'Legality Map of Shifts', key: 'Shift S', target: '[data-map=shift]' },
  { name: 'map-reverse', label: 'Legality Map of Reversals', key: 'Shift R', target: '[data-map=reverse]' },
  { name: 'map-interchange', label: 'Legality Map of Interchanges', key: 'Shift I', target: '[data-map=interchange]' },
  { name: 'film-gif', label: 'Save the Execution as GIF', key: 'Shift G', target: '.film[data-film=gif]' },
  { name: 'film-html', label: 'Save the Execution as HTML', key: 'Shift H', target: '.film[data-film=html]' },
  { name: 'take', label: 'Take the Operator Text', key: 'Enter', target: '.operator .take' },
  { name: 'show-c', label: 'Show or Hide C', key: 'Shift C', target: '.language:nth-child(1)' },
  { name: 'show-cuda', label: 'Show or Hide CUDA', key: 'Shift U', target: '.language:nth-child(2)' },
  { name: 'show-assembly', label: 'Show or Hide Assembly', key: 'Shift A', target: '.language:nth-child(3)' },
  { name: 'show-ptx', label: 'Show or Hide PTX', key: 'Shift P', target: '.language:nth-child(4)' },
  { name: 'show-sass', label: 'Show or Hide SASS', key: 'Shift M', target: '.language:nth-child(5)' },
  { name: 'pane-operator', label: 'Show or Hide the Operator', key: '1', target: '[data-pane=operator]' },
  { name: 'pane-domain', label: 'Show or Hide the Domain', key: '2', target: '[data-pane=domain]' },
  { name: 'pane-code', label: 'Show or Hide the Code', key: '3', target: '[data-pane=code]' },
  { name: 'pane-tree', label: 'Show or Hide the Loops', key: '4', target: '[data-pane=tree]' },
  { name: 'pane-steps', label: 'Show or Hide the Next Steps', key: '5', target: '[data-pane=steps]' },
  { name: 'pane-history', label: 'Show or Hide the History', key: '6', target: '[data-pane=history]' },
  { name: 'pane-footprint', label: 'Show or Hide Memory', key: '7', target: '[data-pane=footprint]' },
  { name: 'pane-cache', label: 'Show or Hide Cache Lines', key: '8', target: '[data-pane=cache]' },
  { name: 'pane-roofline', label: 'Show or Hide the Roofline', key: '9', target: '[data-pane=roofline]' },
  { name: 'pane-lanes', label: 'Show or Hide Threads', key: 'Shift T', target: '[data-pane=lanes]' },
  { name: 'pin', label: 'Pin the Schedule to Compare With', key: 'Shift N', target: '.history .pin' },
  { name: 'pane-warps', label: 'Show or Hide Warps', key: '0', target: '[data-pane=warps]' },
  { name: 'menu', label: 'Menu of the First Loop', key: '.', target: '.tree .more-of' },
  { name: 'talk', label: 'Layout for a Talk', key: 'Shift B', target: '.talk-layout' },
  { name: 'full-screen', label: 'Full Screen', key: 'Shift F', target: '.full-screen' },
  { name: 'show-mca', label: 'Show or Hide llvm-mca', key: 'Shift L', target: '.language:nth-child(6)' },
  { name: 'save-state', label: 'Save the Panel as a File', key: 'Shift V', target: '.save-state' },
  { name: 'repair', label: 'Take the First Repair of a Refusal', key: 'E', target: '.refusal .repair' },
  { name: 'dismiss', label: 'Dismiss a Refusal', key: 'X', target: '.refusal .close' },
];

let last: Element | null = null;

/** Remember in which panel the mouse or the keyboard was: the palette takes the focus away from it. */
export function remember(): void {
  for (const kind of ['focusin', 'pointerdown']) {
    document.addEventListener(
      kind,
      (event) => {
        const panel = (event.target as Element | null)?.closest?.('.wbp');
        if (panel) last = panel;
      },
      true,
    );
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
  const pressed = found && seen(found) && !(found as HTMLButtonElement).disabled && !found.closest('[inert]');
  return pressed ? found : null;
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

/** A panel keeps keys to itself, or the notebook's shortcuts would fire: ours are told of before it does. */
export function chords(process: (event: KeyboardEvent) => void): void {
  let since = -Infinity; // when the first stroke was
  document.addEventListener(
    'keydown',
    (event) => {
      if (!(event.target as Element | null)?.closest?.('.wbp') || MODIFIERS.has(event.key)) return;
      const first = event.altKey && (event.ctrlKey || event.metaKey) && event.code === 'KeyW';
      const second = performance.now() - since < 1000;
      since = first ? performance.now() : -Infinity;
      if (first || second) process(event);
    },
    true,
  );
}

const MODIFIERS = new Set(['Shift', 'Control', 'Alt', 'Meta']);
