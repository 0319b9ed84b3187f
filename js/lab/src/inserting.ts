// A panel's Python becomes a cell of the notebook that the panel belongs to.

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { panelOf } from './finding';

/** Below the cell that shows the panel; false where no notebook is meant. */
export function insertBelow(tracker: INotebookTracker, from: Element, source: string): boolean {
  const notebook = tracker.find((one) => one.node.contains(from)) ?? tracker.currentWidget;
  const cells = notebook?.content.model?.sharedModel;
  if (!notebook || !cells || !source) return false;
  const at = cellAround(notebook, from) + 1;
  cells.insertCell(at, { cell_type: 'code', source, metadata: {} });
  notebook.content.activeCellIndex = at;
  void notebook.content.scrollToItem(at);
  return true;
}

/** The number of the cell around an element; beside the notebook, of the cell whose panel is shown there. */
function cellAround(notebook: NotebookPanel, from: Element): number {
  const { widgets } = notebook.content;
  const inside = widgets.findIndex((cell) => cell.node.contains(from));
  if (inside >= 0) return inside;
  const shown = panelOf(notebook)?.cell;
  return shown ? widgets.indexOf(shown) : widgets.length - 1;
}
