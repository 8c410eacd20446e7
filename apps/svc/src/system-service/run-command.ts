/** Tells the service manager something, by the command that an operator would type. */
import { execFile } from "node:child_process";
import { SvcError } from "@svc/contract";

export type Command = readonly [program: string, ...words: string[]];

export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Stopping waits until the daemon has drained. */
const LONGEST_MS = 180_000;

/** Never rejects: a program that is not there did not succeed. */
export function tryCommand(
  [program, ...words]: Command,
  env: Readonly<Record<string, string | undefined>>,
  timeout = LONGEST_MS,
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, words, { env, timeout, encoding: "utf8" }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: error === null ? stdout : stderr.trim() || stdout.trim() });
    });
  });
}

/** Throws SERVICE_FAILED. */
export async function runCommand(command: Command, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { ok, output } = await tryCommand(command, env);
  if (ok) return;
  throw new SvcError("SERVICE_FAILED", `\`${commandText(command)}\` failed${output === "" ? "." : `:\n${output}`}`, {
    hint: "The service file is in place. Correct what it says, then type this command again.",
  });
}

/** To be typed. */
export const commandText = (command: Command): string => command.map(quoted).join(" ");

const quoted = (text: string): string => (process.platform === "win32" ? quotedForCmd(text) : quotedForShell(text));

/** No file has a quote in its name there. */
const quotedForCmd = (text: string): string => (/^[\w./\\:@=+-]+$/.test(text) ? text : `"${text}"`);

const quotedForShell = (text: string): string =>
  /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
