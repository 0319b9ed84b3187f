// A panel beside the notebooks: it shows the panel of the active one, and says which one that is.

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { PanelLayout, Widget } from '@lumino/widgets';
import { standsBeside } from './beside';
import { panelOf } from './finding';
import { LiveOrStored } from './stored';

const STYLE = `
.wb-following { overflow: auto; display: flex; flex-direction: column; background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); }
#jp-main-content-panel #tensor-workbench-side { min-width: 420px; }
.wb-following-head { padding: 6px 10px; font-size: var(--jp-ui-font-size1); border-bottom: 1px solid var(--jp-border-color2); flex: none; }
.wb-following .wb-live-or-stored { padding: 6px; }
.wb-live-or-stored > img { max-width: 100%; background: #fff; }
.wb-stored-note { margin: 4px 0; font-weight: 600; color: var(--jp-error-color0, #b00); }
.wb-elsewhere > :not(.wb-where) { display: none !important; }
.wb-where { margin: 4px 0; padding: 2px 10px; font: inherit; cursor: pointer; color: inherit; background: none; border: 1px dashed var(--jp-border-color1); border-radius: 4px; }`;

/** The few rules that no widget brings with it. */
export function style(): void {
  const rules = document.createElement('style');
  rules.textContent = STYLE;
  document.head.append(rules);
}

export class Following extends Widget {
  private readonly head = document.createElement('div');
  private readonly body = new PanelLayout();
  private view: LiveOrStored | null = null;
  private notebook: NotebookPanel | null = null;
  private drawn = '';
  private waiting = 0;

  constructor(
    private readonly tracker: INotebookTracker,
    private readonly instead = false, // of the panel in the cell
  ) {
    super();
    this.addClass('wb-following');
    this.head.className = 'wb-following-head';
    this.head.setAttribute('role', 'status');
    this.head.setAttribute('aria-live', 'polite');
    const head = new Widget({ node: this.head });
    this.layout = this.body;
    this.body.addWidget(head);
    tracker.currentChanged.connect(this.follow, this);
    tracker.activeCellChanged.connect(this.soon, this);
    this.follow();
  }

  dispose(): void {
    window.clearTimeout(this.waiting);
    this.stand('');
    this.tracker.currentChanged.disconnect(this.follow, this);
    this.tracker.activeCellChanged.disconnect(this.soon, this);
    this.notebook?.content.modelContentChanged.disconnect(this.soon, this);
    super.dispose();
  }

  protected onAfterShow(): void {
    this.soon();
  }

  protected onAfterAttach(): void {
    this.soon();
  }

  protected onBeforeDetach(): void {
    this.stand('');
  }

  protected onAfterHide(): void {
    this.stand('');
  }

  private stand(view: string): void {
    if (this.instead) standsBeside(this, view);
  }

  private follow(): void {
    this.notebook?.content.modelContentChanged.disconnect(this.soon, this);
    this.notebook = this.tracker.currentWidget;
    this.notebook?.content.modelContentChanged.connect(this.soon, this);
    this.soon();
  }

  private soon(): void {
    window.clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => this.draw(), 30);
  }

  /** What is hidden is not drawn, and what stands is not drawn again. */
  private draw(): void {
    if (this.isDisposed || !this.isVisible) return;
    const notebook = this.notebook?.isDisposed ? null : this.notebook;
    const found = notebook && panelOf(notebook);
    const name = notebook?.title.label ?? '';
    const now = [name, found?.title, found?.view, found?.model.trusted].join('\n');
    this.stand(found?.view ?? '');
    if (now === this.drawn) return;
    this.drawn = now;
    this.view?.dispose();
    this.view = null;
    this.words(name, found?.title);
    if (!notebook || !found) return;
    this.view = new LiveOrStored(() => notebook);
    this.body.addWidget(this.view);
    void this.view.renderModel(found.model);
  }

  private words(name: string, title?: string): void {
    const shown = document.createElement('b');
    shown.textContent = name || 'no notebook is open';
    const more = document.createElement('span');
    if (title) more.textContent = ` · ${title}`;
    else if (name) more.textContent = ' has no panel yet: run a cell that ends with wb.panel(operator)';
    this.head.replaceChildren(shown, more);
    this.title.caption = name ? `Tensor Workbench: ${name}` : 'Tensor Workbench';
  }
}
