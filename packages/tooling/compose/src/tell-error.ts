/** How a command of this package ends when something is wrong: code, message, hint; a stack only for the unexpected. */
import { EXIT, SvcError } from "@svc/contract";

/** Writes the error and sets the exit code of the process. */
export function tellError(error: unknown, json: boolean): void {
  const known = error instanceof SvcError ? error : undefined;
  process.exitCode = known?.exitCode ?? EXIT.software;
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const hint = known?.hint;
    process.stdout.write(
      `${JSON.stringify({ error: message, code: known?.code ?? "INTERNAL", ...(hint && { hint }) })}\n`,
    );
    return;
  }
  const lines = known
    ? [`${known.code}: ${message}`, ...(known.hint === undefined ? [] : [`→ ${known.hint}`])]
    : [error instanceof Error ? (error.stack ?? message) : message];
  process.stderr.write(`${lines.join("\n")}\n`);
}
