// The other side: the model that both sides hold, and questions, each a message with a number that its answer bears.

import type { Questions, Traits } from './messages';

/** The part of anywidget's model that is used: nothing else, so that every front end has it. */
export interface Model {
  get<N extends keyof Traits>(name: N): Traits[N];
  set<N extends keyof Traits>(name: N, value: Traits[N]): void;
  save_changes(): void;
  on(event: string, callback: (message?: unknown) => void): void;
  off(event: string, callback: (message?: unknown) => void): void;
  send(content: unknown): void;
}

/** A model that no longer tells the kernel what is chosen, once that is gone. */
export class Wire implements Model {
  quiet = false;

  constructor(private readonly model: Model) {}

  get<N extends keyof Traits>(name: N): Traits[N] {
    return this.model.get(name);
  }
  set<N extends keyof Traits>(name: N, value: Traits[N]): void {
    this.model.set(name, value);
  }
  save_changes(): void {
    if (!this.quiet) this.model.save_changes();
  }
  on(event: string, callback: (message?: unknown) => void): void {
    this.model.on(event, callback);
  }
  off(event: string, callback: (message?: unknown) => void): void {
    this.model.off(event, callback);
  }
  send(content: unknown): void {
    this.model.send(content);
  }
}

interface Answer {
  answer?: string;
  error?: string;
  result?: unknown;
}

export type Question = keyof Questions;
export type Given<N extends Question> = Questions[N]['with'];
export type Result<N extends Question> = Questions[N]['result'];

let last = 0;

/** What the kernel answers; an Error with its words where it refuses. */
export function ask<N extends Question>(model: Model, name: N, given: Given<N>): Promise<Result<N>> {
  const number = `${name}-${(last += 1)}-${performance.now()}`;
  return new Promise((resolve, reject) => {
    const hear = (message?: unknown) => {
      const { answer, error, result } = (message ?? {}) as Answer;
      if (answer !== number) return;
      model.off('msg:custom', hear);
      if (error) reject(new Error(error));
      else resolve((result ?? null) as Result<N>);
    };
    model.on('msg:custom', hear);
    model.send({ ask: number, name, with: given });
  });
}
