/** How long work of a command is coming along: on standard error, so that standard output stays what scripts read. */
import type { CommandProgress } from "@svc/contract";

const WIDTH = 24;

/** Draws nothing where nobody looks. */
export function commandProgress(what: string): CommandProgress {
  if (!process.stderr.isTTY) return { at: () => {}, done: () => {} };
  let shown = "";
  const draw = (text: string): void => {
    if (text === shown) return;
    shown = text;
    process.stderr.write(`\r\x1b[K${text}`);
  };
  draw(what);
  return {
    at: (share) => draw(share === undefined ? what : `${what} ${bar(share)}`),
    done: () => draw(""),
  };
}

function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share));
  const full = Math.round(within * WIDTH);
  return `[${"=".repeat(full)}${" ".repeat(WIDTH - full)}] ${String(Math.round(within * 100)).padStart(3)} %`;
}
