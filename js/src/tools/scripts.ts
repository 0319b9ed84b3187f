// Python that leaves the panel: into the clipboard, or into a cell of whoever hosts the notebook.

import { h } from './dom';

/** Whoever says what was done: the state of the panel. */
export interface Speaker {
  say(text: string): void;
}

/** Whoever hosts the notebook hears of it and says so by preventing the default; where nobody does, it is copied. */
export function insertCell(speaker: Speaker, from: HTMLElement, source: string): void {
  const heard = new CustomEvent('workbench:insert-cell', { detail: { source }, bubbles: true, cancelable: true, composed: true });
  if (!from.dispatchEvent(heard)) speaker.say('the script is in a cell of its own');
  else void copyText(speaker, from, source).then(() => speaker.say('the script is in the clipboard: paste it into a cell'));
}

export async function copyText(speaker: Speaker, from: HTMLElement, text: string, what = 'the script'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    speaker.say(`${what} is in the clipboard`);
  } catch {
    const area = h('textarea', { readonly: true }, text);
    from.append(area);
    area.select();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else copies where the clipboard is refused
    speaker.say(document.execCommand('copy') ? `${what} is in the clipboard` : `press Ctrl+C: ${what} is selected`);
    area.remove();
  }
}
