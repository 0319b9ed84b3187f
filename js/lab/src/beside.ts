// Panels that stand beside their notebook: the cell says so and does not show them a second time.

const WORDS = 'shown beside the notebook · show it here too';
const standing = new Map<object, string>(); // who shows a view in the main area
const cells = new Set<Elsewhere>(); // that follow it

/** Somebody shows a view (the id of its model) beside the notebooks from now on; "": no longer any. */
export function standsBeside(who: object, view: string): void {
  if ((standing.get(who) ?? '') === view) return;
  if (view) standing.set(who, view);
  else standing.delete(who);
  cells.forEach((cell) => cell.follow());
}

/** The line in the place of a panel in its cell, which is there while the panel is beside. */
export class Elsewhere {
  private wanted = false; // in the cell too

  constructor(
    private readonly node: HTMLElement,
    private readonly view: () => string,
  ) {
    cells.add(this);
  }

  dispose(): void {
    cells.delete(this);
  }

  follow(): void {
    const beside = this.node.closest('.jp-Notebook') !== null && [...standing.values()].includes(this.view());
    if (!beside) this.wanted = false;
    const away = beside && !this.wanted;
    this.node.classList.toggle('wb-elsewhere', away);
    const line = this.node.querySelector(':scope > .wb-where');
    if (!away) line?.remove();
    else if (!line) this.node.append(this.line());
  }

  private line(): HTMLElement {
    const line = document.createElement('button');
    line.className = 'wb-where';
    line.textContent = WORDS;
    line.addEventListener('click', () => {
      this.wanted = true;
      this.follow();
    });
    return line;
  }
}
