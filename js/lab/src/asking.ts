// What the kernel's parser says about the text of a cell, over a comm: it answers while another cell runs.

import type { Kernel, KernelMessage } from '@jupyterlab/services';

const TARGET = 'workbench.operator';

export interface Problem {
  line: number;
  column: number;
  length: number;
  message: string;
  fix: string;
}

type Told = (problems: Problem[] | null) => void;

/** The parser of one kernel.  Only the newest question of a view waits; there is no answer (null) without `workbench`. */
export class Parser {
  private opened: Promise<Kernel.IComm> | null = null;
  private deaf = false; // the kernel has not imported workbench, as far as is known
  private number = 0;
  private readonly waiting = new Map<number, Told>();

  constructor(private readonly kernel: Kernel.IKernelConnection) {
    kernel.statusChanged.connect((_, status) => {
      if (['restarting', 'autorestarting', 'dead', 'terminating'].includes(status)) this.lost();
    });
    kernel.disposed.connect(() => this.lost());
  }

  /** After a cell has run the kernel may know more. */
  again(): void {
    this.deaf = false;
  }

  async ask(text: string): Promise<Problem[] | null> {
    if (this.deaf || this.kernel.isDisposed) return null;
    const comm = await (this.opened ??= this.open());
    if (comm.isDisposed) return null;
    this.number += 1;
    const own = this.number;
    return new Promise((told) => {
      this.waiting.set(own, told);
      comm.send({ ask: own, text });
    });
  }

  private async open(): Promise<Kernel.IComm> {
    const comm = this.kernel.createComm(TARGET);
    comm.onClose = () => this.lost();
    comm.onMsg = (message) => this.heard(message);
    // Without its subshell the question would wait until the running cell has ended.
    const { subshellStarted } = comm as Kernel.IComm & { subshellStarted?: Promise<void> };
    if (this.kernel.supportsSubshells) await subshellStarted;
    if (!comm.isDisposed) comm.open();
    return comm;
  }

  private lost(): void {
    this.opened = null;
    this.deaf = true;
    for (const told of this.waiting.values()) told(null);
    this.waiting.clear();
  }

  private heard(message: KernelMessage.ICommMsgMsg): void {
    const { answer, problems } = message.content.data as unknown as { answer: number; problems: Problem[] };
    this.waiting.get(answer)?.(problems);
    this.waiting.delete(answer);
  }
}
