// The panel: panes around one state.  anywidget calls `render` for every place in which the widget is shown.

import { CodePane } from './code';
import { button, h } from './dom';
import { CellsPane, DomainPane } from './domain';
import { HistoryPane } from './history';
import { RefusalBar } from './refusal';
import { State, same } from './state';
import { StepsPane } from './steps';
import { TreePane } from './tree';
import type { Model } from './types';

interface Pane {
  element: HTMLElement;
  draw(): void;
  light?(): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const state = new State(model);
  const panes: Record<string, Pane> = {
    domain: new DomainPane(state), code: new CodePane(state), tree: new TreePane(state),
    steps: new StepsPane(state), history: new HistoryPane(state),
  };
  const shown = (model.get('panes') as string[]).map((name) => panes[name]).filter(Boolean);
  const refusal = new RefusalBar(state);
  const cells = new CellsPane(state);
  const status = h('div', { class: 'status', role: 'status', 'aria-live': 'polite' });
  const undo = button('↶ undo', () => void state.ask('undo'), { class: 'undo', title: 'undo (Ctrl+Z)' });
  const redo = button('↷ redo', () => void state.ask('redo'), { class: 'redo', title: 'redo (Ctrl+Shift+Z)' });
  const head = h('div', { class: 'head' }, h('b', { class: 'title' }, model.get('title')), sizes(), h('span', { class: 'space' }), undo, redo);
  const root = h('div', { class: 'wb wbp', keydown: keys }, head, refusal.element, h('div', { class: 'panes' }, ...shown.map((p) => p.element)), cells.element, status);
  el.replaceChildren(root);

  state.onSay((text) => { status.textContent = text; });
  state.onBusy((now) => root.classList.toggle('busy', now));

  function sizes(): HTMLElement {
    return h('span', { class: 'soft sizes' });
  }

  function keys(event: KeyboardEvent): void {
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key.toLowerCase() === 'z') {
      void state.ask(event.shiftKey ? 'redo' : 'undo');
      event.preventDefault();
    }
    event.stopPropagation(); // or the notebook's shortcuts fire
  }

  state.onCompare(() => { panes.code.draw(); light(); });

  function drawAll(): void {
    state.compared = null;
    state.data = state.read();
    undo.disabled = !state.past.undo;
    redo.disabled = !state.past.redo;
    const count = state.past.steps.length;
    head.querySelector('.sizes')!.textContent = count ? `${count} step${count > 1 ? 's' : ''}, legal` : 'in the order of its text';
    refusal.draw();
    for (const pane of shown) pane.draw();
    light();
  }

  /** Which state is drawn, for whoever watches from outside. */
  function stamp(): void {
    root.dataset.place = String(state.past.place);
    root.dataset.offers = String(state.offers.steps?.length ?? 0);
  }

  function light(): void {
    stamp();
    for (const pane of shown) pane.light?.();
    cells.light();
  }

  // A step changes several traits with one message: one redraw for all of them.
  let before: unknown[] = [];
  let waiting = false;
  function changed(): void {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      const now = ['domain', 'tree', 'code', 'past', 'refusal', 'offers', 'selection'].map((name) => model.get(name));
      const drawn = now.slice(0, 4).some((value, i) => value !== before[i]);
      const refused = !same(now[4], before[4]);
      const offered = now[5] !== before[5];
      before = now;
      if (drawn) return drawAll();
      if (refused) {
        refusal.draw();
        panes.domain.draw();
      }
      if (offered && shown.includes(panes.steps)) panes.steps.draw();
      light();
    });
  }

  state.onLight(light);
  const names = ['domain', 'tables', 'tree', 'code', 'past', 'refusal', 'offers', 'selection'];
  names.forEach((name) => model.on(`change:${name}`, changed));
  drawAll();
  before = ['domain', 'tree', 'code', 'past', 'refusal', 'offers', 'selection'].map((name) => model.get(name));
  const watcher = new ResizeObserver(resized(() => { panes.domain.draw(); light(); }));
  watcher.observe(root);
  return () => {
    (panes.domain as DomainPane).close();
    names.forEach((name) => model.off(`change:${name}`, changed));
    watcher.disconnect();
  };
}

/** Called when the width really changed, not at the first observation. */
function resized(action: () => void): ResizeObserverCallback {
  let width = -1;
  return ([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (width >= 0 && Math.abs(now - width) > 8) action();
    if (width < 0 && now > 0) action(); // the first layout: now the panes know their width
    width = now;
  };
}

export default { render };
