// A panel where its model lives, and its stored picture where it does not: never an error box.

import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { Elsewhere } from './beside';
import { VIEW, panelsOf, viewOf } from './finding';

const ATTEMPTS = 40;
const LONGEST = 4000; // milliseconds between two attempts

const GONE = 'kernel gone: this picture is what the panel showed last; run the cell again';
const STORED = 'stored picture: run the cell to make it live';

const pause = (turn: number): Promise<void> => new Promise((done) => window.setTimeout(done, Math.min(LONGEST, 200 * 1.5 ** turn)));

/** What a panel says a while after a step. */
interface Shown {
  still: () => Promise<{ data: Record<string, string> } | undefined>;
}

export class LiveOrStored extends Widget implements IRenderMime.IRenderer {
  private shown: IRenderMime.IMimeModel | null = null;
  private session: ISessionContext | null = null;
  private turn = 0;
  private begun = false; // a live view is being looked for
  private live: Widget | null = null; // after a restart it shows what it showed last, and says so
  private readonly note = document.createElement('p');
  private readonly elsewhere: Elsewhere;

  constructor(private readonly notebook: (own: Widget, model: IRenderMime.IMimeModel) => NotebookPanel | null) {
    super();
    this.addClass('wb-live-or-stored');
    this.elsewhere = new Elsewhere(this.node, () => (this.shown ? viewOf(this.shown) : ''));
    this.node.addEventListener('workbench:shown', (event) => void this.keep((event as CustomEvent<Shown>).detail));
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const same = this.shown !== null && viewOf(this.shown) === viewOf(model) && this.shown.trusted === model.trusted;
    this.shown = model;
    if (same && (this.live || this.begun)) return; // only the stored picture is another one
    this.picture(model);
    // Not awaited: a cell is done when its picture stands, the live view replaces it.
    void this.enliven(model);
  }

  dispose(): void {
    this.session?.statusChanged.disconnect(this.again, this);
    this.elsewhere.dispose();
    super.dispose();
  }

  private picture(model: IRenderMime.IMimeModel): void {
    const picture = document.createElement('img');
    picture.src = `data:image/png;base64,${String(model.data['image/png'] ?? '')}`;
    picture.alt = String(model.data['text/plain'] ?? 'stored picture of a panel');
    picture.title = STORED;
    this.live = null;
    this.note.textContent = model.trusted ? GONE : STORED;
    this.note.className = 'wb-stored-note';
    this.note.hidden = true;
    this.node.replaceChildren(picture, this.note);
  }

  /** What readers without a kernel will see is what is shown now. */
  private async keep({ still }: Shown): Promise<void> {
    const found = await still();
    const model = this.shown;
    if (!found || this.isDisposed || !model || found.data['image/png'] === model.data['image/png']) return;
    model.setData({ data: { ...model.data, ...found.data } });
  }

  /** After a restart the model is gone: a panel that stands asks for it, else the picture stands there and says so. */
  private again(_: ISessionContext, status: string): void {
    if (!this.shown || !['restarting', 'autorestarting', 'dead'].includes(status)) return;
    if (this.live) {
      this.node.querySelector('.wbp')?.dispatchEvent(new CustomEvent('workbench:kernel')); // ipywidgets tells of some only
      return;
    }
    this.turn += 1;
    this.picture(this.shown);
    this.note.hidden = false;
  }

  private async enliven(model: IRenderMime.IMimeModel): Promise<void> {
    const turn = (this.turn += 1);
    this.begun = true;
    await this.seek(model, () => this.isDisposed || turn !== this.turn);
    if (turn !== this.turn) return;
    this.begun = false;
    this.elsewhere.follow();
    this.note.hidden = this.live !== null;
  }

  /** The live view in the place of the picture, if its model is found. */
  private async seek(model: IRenderMime.IMimeModel, gone: () => boolean): Promise<void> {
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
        this.note.remove();
        this.live = inner;
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
