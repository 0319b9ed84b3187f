// Errors in cells that begin with %%operator are underlined at their token while one types.

import type { Extension, Text } from '@codemirror/state';
import { ViewPlugin } from '@codemirror/view';
import type { EditorView, PluginValue, ViewUpdate } from '@codemirror/view';
import { EditorExtensionRegistry } from '@jupyterlab/codemirror';
import type { IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { NotebookActions } from '@jupyterlab/notebook';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Parser } from './asking';
import type { Problem } from './asking';
import { shown, underlines } from './underlining';

const PAUSE = 120; // ms after the last key

/** The cells that are shown, and the parser of each kernel. */
class Checks {
  readonly cells = new Set<Cell>();
  private readonly parsers = new WeakMap<Kernel.IKernelConnection, Parser>();

  constructor(private readonly tracker: INotebookTracker) {
    NotebookActions.executed.connect((_, { notebook }) => {
      for (const cell of this.cells) {
        if (!notebook.node.contains(cell.view.dom)) continue;
        this.parser(cell.view)?.again();
        cell.soon(0);
      }
    });
  }

  parser(view: EditorView): Parser | null {
    const kernel = this.tracker.find((panel) => panel.node.contains(view.dom))?.sessionContext.session?.kernel;
    if (!kernel) return null;
    const known = this.parsers.get(kernel) ?? new Parser(kernel);
    this.parsers.set(kernel, known);
    return known;
  }
}

class Cell implements PluginValue {
  private timer = 0;
  private asking = false;
  private underlined = false;
  private gone = false;

  constructor(
    readonly view: EditorView,
    private readonly checks: Checks,
  ) {
    checks.cells.add(this);
    this.soon(PAUSE);
  }

  update(update: ViewUpdate): void {
    if (update.docChanged) this.soon(PAUSE);
  }

  destroy(): void {
    this.gone = true;
    window.clearTimeout(this.timer);
    this.checks.cells.delete(this);
  }

  soon(pause: number): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), pause);
  }

  /** One question at a time: where the kernel cannot answer now, the text as it is then is asked about. */
  private async check(): Promise<void> {
    if (this.asking || this.gone) return;
    const { doc } = this.view.state;
    this.asking = true;
    const found = /^\s*%%operator\b/.test(doc.sliceString(0, 200)) ? await this.checks.parser(this.view)?.ask(doc.toString()) : [];
    this.asking = false;
    if (this.gone) return;
    if (this.view.state.doc !== doc) this.soon(0);
    else this.underline(doc, found ?? []);
  }

  private underline(doc: Text, found: Problem[]): void {
    if (!found.length && !this.underlined) return;
    this.underlined = found.length > 0;
    this.view.dispatch(shown(doc, found));
  }
}

export function underlineErrors(extensions: IEditorExtensionRegistry, tracker: INotebookTracker): void {
  const checks = new Checks(tracker);
  const extension: Extension = [underlines, ViewPlugin.define((view) => new Cell(view, checks))];
  extensions.addExtension(
    Object.freeze({ name: 'tensor-workbench:errors', factory: () => EditorExtensionRegistry.createImmutableExtension(extension) }),
  );
}
