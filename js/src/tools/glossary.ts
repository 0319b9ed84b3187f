// What words of the panel mean, for who rests on them; docs/glossary.md says the same at length.

const WORDS: [RegExp, string][] = [
  [/\blanes?\b/, 'lanes: elements of a vector, which are computed at once'],
  [/neighbours in memory/, 'elements that do not lie side by side are loaded and stored one by one'],
  [/\bthreads?\b.*\bbegun\b/, 'begun: so often all threads are started and waited for, which takes time each time'],
  [/through L\d/, 'through L2, for example: bytes that pass between this cache and the memory behind it, estimated by boxes'],
];

export const DEPENDENCES: Record<string, string> = {
  flow: 'flow: a value is written, and read later (read after write)',
  anti: 'anti: a value is read, and overwritten later (write after read)',
  output: 'output: a cell is written twice (write after write)',
  reduction: 'reduction: two contributions to one cell, which may change places but not meet',
};

// What steps add to the name of an array, as the default recipes have it.
const PARTS: [string, (of: string) => string][] = [
  ['own', (of) => `what one thread keeps of ${of}, in registers`],
  ['tile', (of) => `what a block of threads shares of ${of}`],
  ['local', (of) => `a buffer for a part of ${of}`],
  ['rf', (of) => `partial results of ${of}, added up at the end`],
];

/** What the words of a text mean, a line each; nothing where all are plain. */
export function explained(text: string): string {
  return WORDS.flatMap(([word, meaning]) => (word.test(text) ? [meaning] : [])).join('\n');
}

/** What an array is that a step made of another: `A_own` is what one thread keeps of A. */
export function madeOf(name: string, known: string[]): string {
  const found = PARTS.find(([part]) => new RegExp(`_${part}\\d*$`).test(name));
  const of = found && name.replace(new RegExp(`_${found[0]}\\d*$`), '');
  return found && of && (known.includes(of) || known.some((other) => other.startsWith(`${of}_`) && other !== name)) ? found[1](of) : '';
}

/** What a loop is for that a step made for something else than instances of the operator. */
export function loopFor(name: string): string {
  return /^piece\d*$/.test(name) ? 'pieces of a copy that the threads of a block make together, one element a thread at a time' : '';
}
