// Elements with text, never markup: what was typed by somebody is shown, not obeyed.

type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;
type Child = Node | string | number | null | undefined | false;

const SVG = 'http://www.w3.org/2000/svg';

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

export function button(text: string, action: (event: MouseEvent) => void, more: Attributes = {}): HTMLButtonElement {
  return h('button', { type: 'button', click: action, ...more }, text);
}

/** Where the mouse is, in pixels of the window from an element's upper left corner. */
export function placeIn(element: Element, event: MouseEvent): [x: number, y: number] {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** One notch of the wheel with Ctrl or Alt zooms where the mouse is; without them the page scrolls. */
export function zooms(element: Element, zoom: (factor: number, at: [x: number, y: number]) => void): void {
  const turned = (event: Event) => {
    const wheel = event as WheelEvent;
    if (!wheel.ctrlKey && !wheel.altKey) return;
    wheel.preventDefault();
    zoom(wheel.deltaY < 0 ? 1.25 : 0.8, placeIn(element, wheel));
  };
  element.addEventListener('wheel', turned, { passive: false });
}

/** A file of the browser, saved where it saves files. */
export function download(name: string, content: BlobPart, type: string): void {
  const link = h('a', { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
