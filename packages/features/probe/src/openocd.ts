/** OpenOCD as a child process, for one session: started on a free port of loopback, waited for, ended. */
import { type Clock, SvcError } from "@svc/contract";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "./line.ts";

/** How long an adapter may take to find its chip. */
const START_MS = 10_000;
/** Between the request to end and the kill. */
const GRACE_MS = 2000;
/** Bytes kept of its log: the last lines say why it ended. */
const MOST_LOG_CHARS = 16_384;

export interface OpenOcdOptions {
  /** Absolute path of the program. */
  readonly program: string;
  /** Script for the adapter and the board, as `openocd -f` takes it. */
  readonly script: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface OpenOcd extends AsyncDisposable {
  /** Of its GDB server, as `hardware.gdb_server` has it. */
  readonly address: string;
}

/** Resolves once the GDB server listens. Rejects with REMOTE_UNREACHABLE, REMOTE_TIMEOUT, and the signal's reason; nothing runs then. */
export async function startOpenOcd({ program, script, clock, signal }: OpenOcdOptions): Promise<OpenOcd> {
  signal.throwIfAborted();
  const port = await freePort();
  // Its other servers take commands of every program on this machine.
  const servers = ["bindto 127.0.0.1", `gdb_port ${port}`, "tcl_port disabled", "telnet_port disabled"];
  const child = spawn(program, [...servers.flatMap((command) => ["-c", command]), "-f", script], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-MOST_LOG_CHARS);
      if (log.includes(`Listening on port ${port} for gdb connections`)) resolve();
    });
  }
  child.once("error", (error: NodeJS.ErrnoException) =>
    reject(unusable(`could not be started (${error.code})`, script)),
  );
  child.once("close", (code, end) =>
    reject(unusable(`ended (${end ?? `exit code ${code}`})${lastError(log)}`, script)),
  );
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const cancel = clock.after(START_MS, () => reject(tooLate(lastError(log), script)));
  const close = (): Promise<void> => end(child, clock);
  try {
    await listening;
    return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}

/** Nothing of the daemon's environment but what OpenOCD finds its files by. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "HOME", "OPENOCD_SCRIPTS", "SystemRoot"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );

async function end(child: ChildProcess, clock: Clock): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const cancel = clock.after(GRACE_MS, () => child.kill("SIGKILL"));
  await ended;
  cancel();
}

/** OpenOCD's own reason, as a part of a sentence: printable, and short. */
function lastError(log: string): string {
  const said = [...log.matchAll(/^(?:.*: )?Error: (.*)$/gm)].at(-1)?.[1];
  const text = said
    ?.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 200);
  return text === undefined || text === "" ? "" : `: ${text}`;
}

const hint = (script: string): { readonly hint: string } => ({
  hint: `Connect the board by USB, and run: openocd -f ${script}. Another adapter needs hardware.openocd_script.`,
});

const unusable = (what: string, script: string): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", `openocd ${what}.`, hint(script));

const tooLate = (said: string, script: string): SvcError =>
  new SvcError("REMOTE_TIMEOUT", `openocd found no chip within ${START_MS / 1000} s${said}.`, hint(script));
