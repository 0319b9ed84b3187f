// What is said once to somebody who is here for the first time.

const KEY = 'tensor-workbench:hint';
let now = false; // where the page may keep nothing

/** Whether it was said before. */
export function told(): boolean {
  try {
    return now || localStorage.getItem(KEY) !== null;
  } catch {
    return now;
  }
}

/** It was said. */
export function tell(): void {
  now = true;
  try {
    localStorage.setItem(KEY, 'told');
  } catch {
    // then it is said again with the next page
  }
}
