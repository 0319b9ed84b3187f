// The panels of a notebook, found in the outputs of its cells: no code runs in its kernel for that.

import type { Cell, CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

export const PANEL = 'application/vnd.tensor-workbench.panel+json';
export const VIEW = 'application/vnd.jupyter.widget-view+json';

export interface Found {
  cell: CodeCell;
  model: IRenderMime.IMimeModel;
  title: string;
  view: string; // the id of the widget's model, another one whenever the cell is run again
}

/** The id of the widget's model that an output shows. */
export function viewOf(model: IRenderMime.IMimeModel): string {
  const view = model.data[VIEW] as { model_id?: string } | undefined;
  return String(view?.model_id ?? '');
}

/** The panels among the outputs of a cell. */
export function panelsIn(cell: Cell): Found[] {
  if (cell.model.type !== 'code') return [];
  const found: Found[] = [];
  const { outputs } = (cell as CodeCell).model;
  for (let i = 0; i < outputs.length; i += 1) {
    const model = outputs.get(i);
    const own = model.data[PANEL] as { title?: string } | undefined;
    if (own) found.push({ cell: cell as CodeCell, model, title: String(own.title ?? ''), view: viewOf(model) });
  }
  return found;
}

/** All panels among the outputs of a notebook. */
export function panelsOf(notebook: NotebookPanel): Found[] {
  return notebook.content.widgets.flatMap(panelsIn);
}

/** The panel of the active cell; else the one whose cell ran last. */
export function panelOf(notebook: NotebookPanel): Found | null {
  const active = notebook.content.activeCell;
  const own = active ? panelsIn(active) : [];
  if (own.length) return own[own.length - 1];
  const ran = (found: Found) => found.cell.model.executionCount ?? 0;
  return panelsOf(notebook).reduce<Found | null>((best, found) => (best && ran(best) > ran(found) ? best : found), null);
}
