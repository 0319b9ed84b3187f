// The schedule tree: nested boxes; dragging a loop onto another interchanges them, onto another nest merges.

import { keepsNode } from '../state/kept_colours';
import { button, h } from '../tools/dom';
import { loopFor } from '../tools/glossary';
import { glyph, role } from '../tools/palette';
import { walk } from '../state/lighting';
import type { State } from '../state/state';
import type { Selection, TreeNode } from '../state/messages';

export class TreePane {
  readonly element = h('section', { class: 'pane tree', 'aria-label': 'Schedule tree' });

  constructor(private readonly state: State) {}

  draw(): void {
    const list = h('ul', { role: 'tree', 'aria-label': 'Loops and statements' }, ...this.state.tree.map((node) => this.node(node, null)));
    this.element.replaceChildren(list);
    this.element.querySelector('[role=treeitem]')?.setAttribute('tabindex', '0');
  }

  light(): void {
    const {
      lit: { nodes },
      colours,
      tree,
    } = this.state;
    const known = new Map([...walk(tree)].map((node) => [node.id, node]));
    this.element.querySelectorAll<HTMLElement>('.node').forEach((e) => {
      const node = known.get(e.dataset.node ?? '');
      const kept = colours.kept.find((k) => node && keepsNode(k, node));
      e.classList.toggle('active', nodes.has(e.dataset.node ?? ''));
      const row = e.firstElementChild as HTMLElement;
      row.classList.toggle('kept', Boolean(kept));
      row.dataset.kept = kept ? String(kept.colour + 1) : '';
      row.style.setProperty('--kept', kept ? `var(--wb-s${kept.colour})` : '');
    });
  }

  private node(node: TreeNode, parent: TreeNode | null): HTMLElement {
    const own: Selection = node.type === 'loop' ? { loop: node.name, statement: node.statements[0] } : { statement: node.statements[0] };
    const row = h(
      'div',
      {
        class: `row ${node.type} ${node.kind ?? ''}`,
        draggable: node.type === 'mark' ? undefined : 'true',
        mouseenter: () => this.state.hover(own),
        mouseleave: () => this.state.hover(null),
        click: (event: MouseEvent) => (event.shiftKey ? this.state.colour(own) : this.state.select(own)),
        dragstart: (event: DragEvent) => {
          event.stopPropagation();
          event.dataTransfer?.setData('text/plain', node.type === 'loop' ? `loop:${node.step}` : `nest:${node.name}`);
        },
        dragover: (event: DragEvent) => {
          event.preventDefault();
          this.mark(row, where(event, row));
        },
        dragleave: () => this.mark(row, null),
        contextmenu: (event: MouseEvent) => this.menu(event, node, row),
        drop: (event: DragEvent) => this.drop(event, node, row, parent),
      },
      ...this.words(node),
      node.type === 'mark'
        ? ''
        : button('⋯', (event) => this.menu(event, node, row.parentElement!), {
            class: 'more-of',
            tabindex: -1,
            'aria-label': `what may be done at ${node.name}`,
            title: 'what may be done here (right click, or . on the keyboard)',
          }),
    );
    return h(
      'li',
      {
        role: 'treeitem',
        class: 'node',
        'data-node': node.id,
        'data-name': node.name,
        tabindex: -1,
        'aria-expanded': node.children.length ? 'true' : undefined,
        'aria-selected': 'false',
        keydown: (event: KeyboardEvent) => this.keys(event, node, parent),
        focus: () => this.state.hover(own),
        blur: () => this.state.hover(null),
      },
      row,
      node.children.length ? h('ul', { role: 'group' }, ...node.children.map((child) => this.node(child, node))) : null,
    );
  }

  private words(node: TreeNode): (HTMLElement | string)[] {
    if (node.type === 'mark') return [h('span', { class: 'mark' }, `@${node.name}`)];
    if (node.type === 'statement') {
      const number = node.number ?? 0;
      return [
        h('b', { class: role(number) }, `${glyph(number)} ${node.name}`),
        h('span', { class: 'soft detail', title: node.detail }, node.detail),
      ];
    }
    const kind = node.kind && node.kind !== 'serial' ? h('span', { class: `badge ${node.kind.split('.')[0]}` }, node.kind) : '';
    return [
      h('span', { class: 'soft' }, 'for '),
      h('b', { class: node.once ? 'once' : undefined, title: loopFor(node.name) || undefined }, node.name),
      node.detail ? h('span', { class: 'soft detail of-loop', title: node.detail }, node.detail) : '',
      kind,
    ];
  }

  private drop(event: DragEvent, node: TreeNode, row: HTMLElement, parent: TreeNode | null): void {
    event.preventDefault();
    event.stopPropagation();
    const place = where(event, row);
    this.mark(row, null);
    const [what, dragged] = split(event.dataTransfer?.getData('text/plain') ?? '');
    if (what === 'loop' && node.type === 'loop' && dragged !== node.step) {
      if (place === 'on') this.interchange(dragged, node.step!);
      else void this.state.gesture('move', { loop: dragged, target: node.step!, place });
    }
    // Below the innermost loop stands a statement: a loop that falls there goes inside.
    if (what === 'loop' && node.type === 'statement' && parent?.type === 'loop' && dragged !== parent.step)
      void this.state.gesture('move', { loop: dragged, target: parent.step!, place: 'after' });
    if (what === 'nest') void this.state.gesture('merge', { first: dragged, second: node.statements[0] });
  }

  /** What may be done at a loop or a statement. */
  private menu(event: MouseEvent | KeyboardEvent, node: TreeNode, from: HTMLElement): void {
    if (node.type === 'mark') return;
    this.state.openMenu(node.type === 'loop' ? { loop: node.step! } : { statement: node.name }, event, from);
  }

  /** Where what is dragged would go: onto a row, or between it and the next. */
  private mark(row: HTMLElement, place: Where | null): void {
    for (const name of ['on', 'before', 'after'] as const) row.classList.toggle(`target-${name}`, place === name);
  }

  private interchange(first: string, second: string): void {
    void this.state.gesture('swap', { first, second });
  }

  /** Arrow keys walk; with Alt they move the loop itself one place out or in. */
  private keys(event: KeyboardEvent, node: TreeNode, parent: TreeNode | null): void {
    const item = event.currentTarget as HTMLElement;
    const all = [...this.element.querySelectorAll<HTMLElement>('[role=treeitem]')];
    const at = all.indexOf(item);
    const child = node.children.length === 1 ? node.children[0] : null;
    if (event.key === 'ArrowDown' && event.altKey && node.type === 'loop' && child?.type === 'loop')
      this.interchange(child.step!, node.step!);
    else if (event.key === 'ArrowUp' && event.altKey && node.type === 'loop' && parent?.type === 'loop')
      this.interchange(node.step!, parent.step!);
    else if (event.key === '.' || event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) this.menu(event, node, item);
    else if (event.key === 'c' && !event.ctrlKey && !event.metaKey)
      this.state.colour(node.type === 'loop' ? { loop: node.name, statement: node.statements[0] } : { statement: node.statements[0] });
    else if (event.key === 'ArrowDown') all[at + 1]?.focus();
    else if (event.key === 'ArrowUp') all[at - 1]?.focus();
    else if (event.key === 'Enter' || event.key === ' ') item.querySelector<HTMLElement>('.row')?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

type Where = 'on' | 'before' | 'after';

/** The upper and lower quarter of a row are the gaps between rows. */
export function between(y: number, top: number, height: number): Where {
  return y < top + height / 4 ? 'before' : y > top + (3 * height) / 4 ? 'after' : 'on';
}

function where(event: DragEvent, row: HTMLElement): Where {
  const { top, height } = row.getBoundingClientRect();
  return event.clientY ? between(event.clientY, top, height) : 'on'; // a drop by a program has no place
}

function split(text: string): [string, string] {
  const at = text.indexOf(':');
  return [text.slice(0, at), text.slice(at + 1)];
}
