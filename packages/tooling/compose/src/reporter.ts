/** How far a build is: a line that fills in on a terminal, plain lines elsewhere. */
export interface Reporter {
  step<Result>(name: string, run: () => Promise<Result>): Promise<Result>;
  note(text: string): void;
}

/** For callers that show nothing. */
export const quiet: Reporter = { step: (_name, run) => run(), note: () => {} };

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** @param nowMs Monotonic milliseconds. */
export function lines(output: Output, nowMs: () => number): Reporter {
  const tty = output.isTTY === true;
  return {
    async step(name, run) {
      if (tty) output.write(`  ${name} …`);
      const startMs = nowMs();
      try {
        const result = await run();
        const took = `${((nowMs() - startMs) / 1000).toFixed(1)} s`;
        output.write(tty ? `\r\u001B[K  ${name} ${took}\n` : `${name}: ${took}\n`);
        return result;
      } catch (error) {
        output.write(tty ? `\r\u001B[K  ${name} failed\n` : `${name}: failed\n`);
        throw error;
      }
    },
    note(text) {
      output.write(tty ? `\r\u001B[K  ${text}\n` : `${text}\n`);
    },
  };
}
