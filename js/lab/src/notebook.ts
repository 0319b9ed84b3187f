// A notebook with an operator, ready to be run.

const CELLS: [string, string][] = [
  ['markdown', '# A tensor operator\n\nRun the cells with Shift+Enter. The operator is text: write your own.'],
  ['code', 'import workbench as wb'],
  ['code', '%%operator\ndef matmul(float(M,K) A, float(K,N) B) -> (C) {\n    C(m,n) +=! A(m,k) * B(k,n)\n}'],
  ['code', 'panel = wb.panel(wb.schedule(matmul, M=96, N=80, K=64))\npanel'],
  ['markdown', 'What the mouse did is Python: `print(panel.history)`, and `panel.schedule` is the schedule.'],
  ['code', 'print(panel.history)'],
];

export function readyNotebook(kernel: { name: string; display_name: string; language: string }): object {
  const cells = CELLS.map(([type, source], i) => ({
    cell_type: type,
    id: `wb-${i}`,
    metadata: {},
    source,
    ...(type === 'code' ? { outputs: [], execution_count: null } : {}),
  }));
  return { cells, metadata: { kernelspec: kernel }, nbformat: 4, nbformat_minor: 5 };
}
