// A notebook with an operator, ready to be run: whatever it is called, the panel shows it.

const CELLS: [string, string][] = [
  ['code', '# Run the cells one after another with Shift+Enter.\nimport workbench as wb'],
  ['code', '%%operator op\ndef matmul(float(M,K) A, float(K,N) B) -> (C) {\n    C(m,n) +=! A(m,k) * B(k,n)\n}'],
  ['code', 'panel = wb.panel(op)\npanel'],
  [
    'markdown',
    'The operator is text: write your own below `%%operator op`, and run both cells again. ' +
      'What the mouse did is Python: `print(panel.history)`, and `panel.schedule` is the schedule.',
  ],
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
