// A panel where its model lives, and its stored picture where it does not: never an error box.

import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { VIEW, panelsOf, viewOf } from './finding';

const ATTEMPTS = 40;
const LONGEST = 4000; // milliseconds between two attempts

const pause = (turn: number): Promise<void> => new Promise((done) => window.setTimeout(done, Math.min(LONGEST, 200 * 1.5 ** turn)));

export class LiveOrStored extends Widget implements IRenderMime.IRenderer {
  private shown: IRenderMime.IMimeModel | null = null;
  private session: ISessionContext | null = null;
  private turn = 0;

  constructor(private readonly notebook: (own: Widget, model: IRenderMime.IMimeModel) => NotebookPanel | null) {
    super();
    this.addClass('wb-live-or-stored');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.shown = model;
    this.picture(model);
    // Not awaited: a cell is done when its picture stands, the live view replaces it.
    void this.live(model);
  }

  dispose(): void {
    this.session?.statusChanged.disconnect(this.again, this);
    super.dispose();
  }

  private picture(model: IRenderMime.IMimeModel): void {
    const picture = document.createElement('img');
    picture.src = `data:image/png;base64,${String(model.data['image/png'] ?? '')}`;
    picture.alt = String(model.data['text/plain'] ?? 'stored picture of a panel');
    picture.title = 'stored picture: run the cell to make it live';
    this.node.replaceChildren(picture);
  }

  /** After a restart the model is gone: the picture comes back. */
  private again(_: ISessionContext, status: string): void {
    if (this.shown && (status === 'restarting' || status === 'autorestarting' || status === 'dead')) this.picture(this.shown);
  }

  private async live(model: IRenderMime.IMimeModel): Promise<void> {
    const turn = (this.turn += 1);
    const gone = () => this.isDisposed || turn !== this.turn;
    if (!model.trusted || !model.data[VIEW]) return;
    await new Promise((done) => requestAnimationFrame(done)); // until it stands in the page
    const notebook = this.notebook(this, model);
    if (!notebook || gone()) return;
    await notebook.sessionContext.ready; // without a kernel the picture stays
    this.session ??= notebook.sessionContext;
    this.session.statusChanged.disconnect(this.again, this);
    this.session.statusChanged.connect(this.again, this);
    // Renderers get the manager of the notebook's widgets once that is there: ask anew until one has it.
    for (let k = 0; k < ATTEMPTS && !gone(); k += 1) {
      const inner = notebook.content.rendermime.createRenderer(VIEW);
      inner.hide();
      Widget.attach(inner, this.node);
      await Promise.race([inner.renderModel(model), pause(k)]);
      const text = inner.node.textContent ?? '';
      if (gone() || text.startsWith('Error displaying widget')) return inner.dispose();
      if (inner.node.childElementCount && !text.startsWith('Loading widget')) {
        this.node.querySelector(':scope > img')?.remove();
        return inner.show();
      }
      inner.dispose();
    }
  }
}

/** The notebook in which a widget stands, or from which its output was taken to another place. */
export function notebookAround(tracker: INotebookTracker): (own: Widget, model: IRenderMime.IMimeModel) => NotebookPanel | null {
  return (own, model) =>
    tracker.find((notebook) => notebook.node.contains(own.node)) ??
    tracker.find((notebook) => panelsOf(notebook).some((found) => found.view === viewOf(model))) ??
    null;
}
