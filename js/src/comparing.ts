// Two texts line by line: what stays, what goes, what comes (longest common subsequence).

export type Change = ['same' | 'gone' | 'new', string];

const MOST = 1200;

export function changes(before: string[], after: string[]): Change[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const same = (lines: string[]): Change[] => lines.map((line) => ['same', line]);
  return [...same(before.slice(0, start)), ...middle(a, b), ...same(end ? before.slice(-end) : [])];
}

function middle(a: string[], b: string[]): Change[] {
  if (a.length > MOST || b.length > MOST) return [...a.map((l): Change => ['gone', l]), ...b.map((l): Change => ['new', l])];
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const found: Change[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push(['same', a[i]]);
      [i, j] = [i + 1, j + 1];
    } else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) found.push(['gone', a[i++]]);
    else found.push(['new', b[j++]]);
  }
  return found;
}

/** Stretches of equal lines that are far from any change, as one remark. */
export function folded(lines: Change[], around = 3): (Change | ['fold', string])[] {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some(([kind]) => kind !== 'same'));
  const found: (Change | ['fold', string])[] = [];
  let hidden = 0;
  lines.forEach((line, i) => {
    if (near[i]) {
      if (hidden) found.push(['fold', `${hidden} lines as before`]);
      hidden = 0;
      found.push(line);
    } else hidden += 1;
  });
  if (hidden) found.push(['fold', `${hidden} lines as before`]);
  return found;
}
