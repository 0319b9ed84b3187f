// Questions to the kernel: a message with a number, and the answer that bears it.

import type { Model } from './types';

let last = 0;

export function ask(model: Model, name: string, given: Record<string, unknown> = {}): Promise<unknown> {
  const number = `${name}-${(last += 1)}-${performance.now()}`;
  return new Promise((resolve, reject) => {
    const hear = (message: any) => {
      if (message?.answer !== number) return;
      model.off('msg:custom', hear);
      if (message.error) reject(new Error(message.error));
      else resolve(message.result);
    };
    model.on('msg:custom', hear);
    model.send({ ask: number, name, with: given });
  });
}
