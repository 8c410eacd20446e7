/**
 * A process of ours beside the browsers, which ends them when svc is killed: the program's own process belongs to nobody and
 * would go on for minutes, with a browser that is signed in somewhere. It holds the other end of a pipe, which the system closes
 * however svc ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Logger } from "@svc/contract";
import { ownPrefix } from "./left-overs.ts";

export interface BrowserKeeper {
  /** What names of the folders begin with that it looks after. Of a feature that was made anew they are others. */
  readonly prefix: string;
  /** From now on. Idempotent. */
  watch(): void;
  /** Not any more. */
  end(): void;
}

export function browserKeeper(
  folders: string,
  child: (name: string) => readonly [string, ...string[]],
  log: Logger,
): BrowserKeeper {
  let keeper: ChildProcess | undefined;
  // A keeper ends after its feature: what the next one has started by then is not its to end.
  const prefix = `${ownPrefix()}${randomBytes(3).toString("hex")}-`;
  return {
    prefix,
    watch() {
      if (keeper !== undefined && keeper.exitCode === null && keeper.signalCode === null) return;
      const [file, ...args] = child("browser-keeper");
      const started = spawn(file, [...args, folders, prefix], {
        env: {},
        stdio: ["pipe", "ignore", "ignore"],
        // A signal to svc's group is not for it: it has to be there afterwards.
        detached: true,
        windowsHide: true,
      });
      started.on("error", () => log.warn("nobody watches over the browsers: the process for it could not be started"));
      started.stdin?.on("error", () => undefined);
      // It is no reason for svc to stay.
      started.unref();
      (started.stdin as unknown as { unref?(): void } | null)?.unref?.();
      keeper = started;
    },
    end() {
      keeper?.stdin?.end();
      keeper = undefined;
    },
  };
}
