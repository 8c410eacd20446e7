// What a person sees while a long step runs: a live line on a terminal, plain lines everywhere else.
const noteEveryMs = 60_000;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/**
 * @typedef {object} Step
 * @property {(detail: string) => void} note what the step is doing now; without a terminal a line a minute is printed
 */
/**
 * @typedef {object} Progress
 * @property {<T>(name: string, work: (step: Step) => Promise<T>, ended?: (result: T) => Ending) => Promise<T>} step
 * @property {(text: string) => void} line prints one line of its own
 */
/**
 * @typedef {object} Clock
 * @property {() => number} nowMs monotonic, in milliseconds
 * @property {(ms: number, work: () => void) => { stop(): void }} every
 */
/** @typedef {{ ok: boolean, text?: string }} Ending how a finished step is shown; text replaces "done" or "failed" */

/** @type {Clock} */
const realClock = {
  nowMs: () => performance.now(),
  every(ms, work) {
    const timer = setInterval(work, ms);
    return { stop: () => clearInterval(timer) };
  },
};

/**
 * @param {{ isTTY?: boolean, columns?: number, write(text: string): unknown }} [out]
 * @param {NodeJS.ProcessEnv} [env]
 * @param {Clock} [clock]
 * @returns {Progress}
 */
export function progressOn(out = process.stdout, env = process.env, { nowMs, every } = realClock) {
  const live = Boolean(out.isTTY) && !env["CI"] && env["TERM"] !== "dumb";
  const paint = live && !env["NO_COLOR"];
  return {
    line: (text) => void out.write(`${live ? "\r\u001b[2K" : ""}${text}\n`),
    async step(name, work, ended = () => ({ ok: true })) {
      const startedMs = nowMs();
      const elapsed = () => `${((nowMs() - startedMs) / 1000).toFixed(1)} s`;
      let detail = "";
      let frame = 0;
      const note = (/** @type {string} */ text) => void (detail = text.trim());
      const draw = () => {
        const text = `${frames[frame++ % frames.length]} ${name}  ${elapsed()}  ${detail}`;
        out.write(`\r\u001b[2K${text.slice(0, Math.max(20, (out.columns ?? 80) - 1))}`);
      };
      // Also when nothing happens: a log that ends with the last thing that did says nothing of what hangs.
      const timer = live ? every(100, draw) : every(noteEveryMs, () => out.write(`  ${elapsed()}: ${detail}\n`));
      if (!live) out.write(`${name} ...\n`);
      /** @type {Ending} */
      let ending = { ok: false };
      try {
        const result = await work({ note });
        ending = ended(result);
        return result;
      } finally {
        timer.stop();
        const text = ending.text ?? (ending.ok ? "done" : "failed");
        const mark = ending.ok ? "✓" : "✗";
        const painted = paint ? `\u001b[${ending.ok ? 32 : 31}m${mark}\u001b[0m` : mark;
        out.write(
          live ? `\r\u001b[2K${painted} ${name}: ${text}  ${elapsed()}\n` : `${name}: ${text} (${elapsed()})\n`,
        );
      }
    },
  };
}

/** Something the person must fix; shown as it is, without a stack. */
export class BootstrapError extends Error {
  /**
   * @param {string} message what is wrong and what to do now
   * @param {number} exitCode by sysexits.h
   */
  constructor(message, exitCode) {
    super(message);
    this.name = "BootstrapError";
    this.exitCode = exitCode;
  }
}

/**
 * Runs an entry point: a BootstrapError is a message and an exit code, anything else keeps its stack.
 * @param {() => Promise<number>} main resolves to the exit code
 */
export async function runMain(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    const known = error instanceof BootstrapError;
    process.stderr.write(`${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = known ? error.exitCode : 70;
  }
}
