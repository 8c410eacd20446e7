/** A process of ours that kills the child agents when svc is killed: the system closes its input however svc ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import type { FeatureContext } from "@svc/contract";

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
