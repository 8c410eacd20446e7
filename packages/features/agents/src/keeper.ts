/** A process of ours that kills the child agents when svc is killed: the system closes its input however svc ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import type { FeatureContext } from "@svc/contract";
import { processScan } from "@svc/kit/process-tree";

type KeeperDeps = Pick<FeatureContext, "child" | "homeFolder" | "log">;

export class Keeper {
  /** What the marks of all child agents of this home begin with, whichever process of svc had them. */
  readonly homeMark: string;
  /** Of those of this process. */
  readonly mark: string;
  readonly #deps: KeeperDeps;
  readonly #groups = new Set<number>();
  #process: ChildProcess | undefined;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
    this.homeMark = `agents-${createHash("sha256").update(deps.homeFolder).digest("hex").slice(0, 12)}-`;
    this.mark = `${this.homeMark}${process.pid}-`;
  }

  /** Before a child agent is started. */
  watch(): void {
    const running = this.#process;
    if (running !== undefined && running.exitCode === null && running.signalCode === null) return;
    const [file, ...args] = this.#deps.child("agent-keeper");
    const started = spawn(file, [...args, this.mark], {
      env: {},
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
      // A signal to svc's group is not for it: it has to be there afterwards.
      detached: true,
      windowsHide: true,
    });
    started.on("error", () => this.#deps.log.warn("the process that ends child agents after a crash did not start"));
    started.stdin?.on("error", () => undefined);
    // It is no reason for svc to stay.
    started.unref();
    (started.stdin as unknown as { unref?(): void } | null)?.unref?.();
    this.#process = started;
    for (const pid of this.#groups) this.#tell(`+${pid}`);
  }

  add(pid: number): void {
    this.#groups.add(pid);
    this.#tell(`+${pid}`);
  }

  remove(pid: number): void {
    if (this.#groups.delete(pid)) this.#tell(`-${pid}`);
  }

  end(): void {
    this.#process?.stdin?.end();
    this.#process = undefined;
  }

  #tell(line: string): void {
    this.#process?.stdin?.write(`${line}\n`);
  }
}

// Processes of child agents, wherever they went: all of them carry a mark in their environment, which a new session does not remove.

/** Kills the processes whose mark begins with `prefix`, except those that `isSpared` accepts. Only on Linux. */
export async function killMarked(prefix: string, isSpared: (mark: string) => boolean = () => false): Promise<number> {
  let killed = 0;
  // Processes that fork while they are looked for are found in the next round.
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = (await markedProcesses(prefix)).filter(({ mark }) => !isSpared(mark));
    if (found.length === 0) break;
    killed += found.length;
    for (const { pid } of found) kill(pid);
  }
  return killed;
}

const MAX_ROUNDS = 50;

interface MarkedProcess {
  readonly pid: number;
  readonly mark: string;
}

export async function markedProcesses(prefix: string): Promise<MarkedProcess[]> {
  return (await processScan.next()).flatMap(({ pid, marks }) => {
    const mark = marks.find((one) => one.startsWith(prefix));
    return mark === undefined ? [] : [{ pid, mark }];
  });
}

export function killGroup(pid: number): void {
  kill(-pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
