// The keyboard: what keys do in all of the panel, and where it is after a redraw.

import type { Deck } from '../layout/deck';
import type { MeasureButton } from '../schedule/measuring';
import type { State } from '../state/state';

/** What keys do where no pane takes them. */
export function keys(event: KeyboardEvent, state: State, measure: MeasureButton, deck: Deck, enlarge: (name: string) => void): void {
  const control = event.ctrlKey || event.metaKey;
  const { gone } = state;
  const typing = (event.target as HTMLElement).closest?.('.cm-content[contenteditable=true], input:not([type=range]), select, textarea');
  if (control && event.key.toLowerCase() === 'z' && !typing && !gone) {
    void state.ask(event.shiftKey ? 'redo' : 'undo', {});
    event.preventDefault();
  }
  if (event.key === 'm' && !typing && !control && !event.altKey && !gone) void measure.go();
  if (event.key === 'Escape' && state.compared) state.closePreview();
  else if (event.key === 'Escape' && state.refusal.step) void state.ask('dismiss', {});
  else if (event.key === 'Escape' && deck.enlarged) enlarge(deck.enlarged);
  event.stopPropagation(); // or the notebook's shortcuts fire
}

/** A redraw makes elements anew: afterwards the keyboard is where it was, or at least in the same pane. */
export function held(root: HTMLElement): () => void {
  const now = document.activeElement as HTMLElement | null;
  const pane = now && root.contains(now) ? now.closest<HTMLElement>('.pane, .head') : null;
  if (!now || !pane) return () => undefined;
  const alike = `${now.tagName}${[...now.classList]
    .filter((name) => !['active', 'has-lit', 'replaying', 'zoomed', 'lit'].includes(name))
    .map((name) => `.${CSS.escape(name)}`)
    .join('')}`;
  const nth = [...pane.querySelectorAll(alike)].indexOf(now);
  return () => {
    if (now.isConnected && document.activeElement === now) return;
    const found = [...pane.querySelectorAll<HTMLElement>(alike)];
    (found[nth] ?? found[0] ?? pane.querySelector<HTMLElement>('[tabindex="0"], button, input'))?.focus({ preventScroll: true });
  };
}
