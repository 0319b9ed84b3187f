// The extension adds to JupyterLab what a widget cannot: launcher, commands, a place beside the notebooks, stored
// pictures, highlighting, errors while one types.  Without it everything else works, in the cells.

import { ILabShell, ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { IEditorExtensionRegistry, IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { LabIcon } from '@jupyterlab/ui-components';
import { ACTIONS, chords, perform, possible, remember } from './actions';
import { underlineErrors } from './checking';
import { colourOperators } from './embedded';
import { PANEL } from './finding';
import { showWhatWasRun } from './first_look';
import { Following, style } from './following';
import { insertBelow } from './inserting';
import { highlight } from './language';
import { readyNotebook } from './notebook';
import { LiveOrStored, notebookAround } from './stored';

const ID = 'tensor-workbench';
const CATEGORY = 'Tensor Workbench';
const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22" width="16"><g class="jp-icon3" fill="#616161">
    <circle cx="5" cy="17" r="2.2"/><circle cx="11" cy="17" r="2.2"/><circle cx="17" cy="17" r="2.2"/>
    <circle cx="11" cy="11" r="2.2"/><circle cx="17" cy="11" r="2.2"/><circle cx="17" cy="5" r="2.2"/></g></svg>`;
const icon = new LabIcon({ name: `${ID}:icon`, svgstr: PICTURE });

const places: JupyterFrontEndPlugin<void> = {
  id: `${ID}:places`,
  description: 'A panel beside the notebooks, on the right and in the main area, and the recommended layout.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ILayoutRestorer, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    lab: ILabShell | null,
  ) => {
    style();
    const side = new Following(tracker);
    side.id = `${ID}-side`;
    side.title.icon = icon;
    app.shell.add(side, 'right', { rank: 900 });
    restorer?.add(side, side.id);
    const mains = new WidgetTracker<MainAreaWidget<Following>>({ namespace: ID });

    const beside = async (): Promise<void> => {
      const known = mains.find((widget) => !widget.isDisposed);
      const widget = known ?? new MainAreaWidget({ content: new Following(tracker, true) });
      if (!known) {
        widget.id = `${ID}-main`;
        widget.title.label = 'Workbench';
        widget.title.icon = icon;
        await mains.add(widget);
      }
      const ref = tracker.currentWidget?.id;
      if (!widget.isAttached) app.shell.add(widget, 'main', { mode: 'split-right', activate: false, ...(ref ? { ref } : {}) });
      app.shell.activateById(widget.id);
    };
    const commands: [string, string, string, () => unknown][] = [
      [
        'show',
        'Show the Panel on the Right',
        'Shows the panel of the active notebook in the right sidebar',
        () => app.shell.activateById(side.id),
      ],
      ['beside', 'Open the Panel beside the Notebook', 'Shows the panel of the active notebook in the main area', beside],
      [
        'layout',
        'Recommended Layout',
        'The notebook on the left, its panel beside it, sidebars away',
        async () => {
          lab?.collapseLeft();
          lab?.collapseRight();
          await beside();
          const notebook = tracker.currentWidget;
          if (notebook) app.shell.activateById(notebook.id);
        },
      ],
    ];
    for (const [name, label, caption, execute] of commands) {
      app.commands.addCommand(`${ID}:${name}`, { label, caption, icon, execute });
      palette?.addItem({ command: `${ID}:${name}`, category: CATEGORY });
    }
    void restorer?.restore(mains, { command: `${ID}:beside`, name: () => 'main' });
  },
};

const actions: JupyterFrontEndPlugin<void> = {
  id: `${ID}:actions`,
  description: 'Every action of a panel as a command with a shortcut.',
  autoStart: true,
  optional: [ICommandPalette],
  activate: (app: JupyterFrontEnd, palette: ICommandPalette | null) => {
    remember();
    chords((event) => app.commands.processKeydownEvent(event));
    for (const action of ACTIONS) {
      const command = `${ID}:${action.name}`;
      app.commands.addCommand(command, { label: action.label, isEnabled: () => possible(action), execute: () => perform(action) });
      palette?.addItem({ command, category: CATEGORY });
    }
    // The palette asks when it opens what can be done; what stands in a panel changes without Lab's knowing.
    document.addEventListener('focusin', () => app.commands.notifyCommandChanged(), true);
  },
};

const launcher: JupyterFrontEndPlugin<void> = {
  id: `${ID}:launcher`,
  description: 'A tile that opens a ready notebook.',
  autoStart: true,
  optional: [ILauncher, ICommandPalette],
  activate: (app: JupyterFrontEnd, tiles: ILauncher | null, palette: ICommandPalette | null) => {
    const command = `${ID}:new`;
    app.commands.addCommand(command, {
      label: (args) => (args.isPalette ? 'New Notebook with an Operator' : 'Tensor Workbench'),
      caption: 'A notebook with an operator, ready to be run',
      icon,
      execute: async (args) => {
        const { contents, kernelspecs } = app.serviceManager;
        await kernelspecs.ready;
        const spec = kernelspecs.specs?.kernelspecs[kernelspecs.specs.default];
        const name = spec?.name ?? 'python3';
        const made = await contents.newUntitled({ type: 'notebook', path: String(args.cwd ?? '') });
        const content = readyNotebook({ name, display_name: spec?.display_name ?? name, language: spec?.language ?? 'python' });
        await contents.save(made.path, { type: 'notebook', format: 'json', content });
        return app.commands.execute('docmanager:open', { path: made.path, factory: 'Notebook', kernel: { name } });
      },
    });
    // Tiles of this category show pictures by address, not icons.
    const address = `data:image/svg+xml,${encodeURIComponent(PICTURE.replace('#616161', '#0067a9'))}`;
    tiles?.add({ command, category: 'Notebook', rank: 1, kernelIconUrl: address });
    palette?.addItem({ command, category: CATEGORY, args: { isPalette: true } });
  },
};

const pictures: JupyterFrontEndPlugin<void> = {
  id: `${ID}:pictures`,
  description: 'A panel where its kernel lives, in view once its cell was run, and its stored picture where it does not.',
  autoStart: true,
  requires: [IRenderMimeRegistry, INotebookTracker],
  activate: (_: JupyterFrontEnd, rendermime: IRenderMimeRegistry, tracker: INotebookTracker) => {
    showWhatWasRun();
    const around = notebookAround(tracker);
    // Safe: until the notebook is trusted it draws a PNG and nothing else.
    rendermime.addFactory({ safe: true, mimeTypes: [PANEL], createRenderer: () => new LiveOrStored(around) }, -100);
  },
};

const cells: JupyterFrontEndPlugin<void> = {
  id: `${ID}:cells`,
  description: 'The Python of a panel as a cell of its notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_: JupyterFrontEnd, tracker: INotebookTracker) => {
    document.addEventListener('workbench:insert-cell', (event) => {
      if (insertBelow(tracker, event.target as Element, String((event as CustomEvent).detail?.source ?? ''))) event.preventDefault();
    });
  },
};

const highlighting: JupyterFrontEndPlugin<void> = {
  id: `${ID}:highlighting`,
  description: 'Highlights cells that begin with %%operator.',
  autoStart: true,
  requires: [IEditorLanguageRegistry, INotebookTracker],
  activate: (_: JupyterFrontEnd, languages: IEditorLanguageRegistry, tracker: INotebookTracker) => highlight(languages, tracker),
};

const checking: JupyterFrontEndPlugin<void> = {
  id: `${ID}:checking`,
  description: 'Underlines errors in cells that begin with %%operator while one types; colours operators in strings of Python.',
  autoStart: true,
  requires: [IEditorExtensionRegistry, INotebookTracker],
  activate: (_: JupyterFrontEnd, extensions: IEditorExtensionRegistry, tracker: INotebookTracker) => {
    underlineErrors(extensions, tracker);
    colourOperators(extensions);
  },
};

export default [places, actions, launcher, pictures, cells, highlighting, checking];
