/** A server process of a test: started in a group of its own, ended by its id, waited for. */
import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";

export interface Daemon {
  /** Ends it and waits until it has. Idempotent. */
  stop(): Promise<void>;
}

/** Resolves once all of these ports of loopback are listening. Throws what `logs` says when it ends before that. */
export async function startDaemon(
  command: string,
  args: readonly string[],
  { ports, logs }: { readonly ports: readonly number[]; readonly logs: () => string },
): Promise<Daemon> {
  const child = spawn(command, args, { stdio: "ignore", detached: true });
  // A test run that ends without its `afterAll` leaves no server behind.
  const end = (): void => void child.kill("SIGTERM");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  for (const port of ports) {
    while (!(await isListening(port))) {
      if (failure !== undefined || child.exitCode !== null) {
        throw new Error(`${command} did not start: ${failure?.message ?? ""}\n${logs()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= stop(child)) };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const tell = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", () => tell(true)).once("error", () => tell(false));
  });
}

/** What does not end when it is asked to. */
const GRACE_MS = 10_000;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  await ended;
  clearTimeout(timer);
}
