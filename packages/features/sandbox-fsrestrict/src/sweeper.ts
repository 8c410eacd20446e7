/**
 * Kills what the commands left when the daemon is gone: a process that hid in a session of its own outlives its parent. It waits in a
 * process of its own, because the daemon may be killed; a shell, because that takes a megabyte and not forty.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { MarkRange } from "./marks.ts";

export interface Sweeper {
  /** From now on it waits, if it does not already. */
  begin(): void;
  /** Ends it without a sweep: where no command runs there is nothing to kill, and the next one's must not be. Idempotent. */
  end(): void;
}

export function createSweeper({ from, to }: MarkRange): Sweeper {
  let waiting: ChildProcess | undefined;
  return {
    begin() {
      if (waiting) return;
      const shell = spawn("/bin/sh", ["-c", SWEEP, "svc-sweeper", String(from), String(to)], {
        cwd: "/",
        env: {},
        stdio: ["pipe", "ignore", "ignore"],
        detached: true, // a signal to the daemon's group must not reach it
      });
      const gone = (): void => {
        if (waiting === shell) waiting = undefined;
      };
      shell.once("exit", gone).once("error", gone);
      shell.stdin.on("error", () => undefined);
      // It does not keep the daemon from ending.
      shell.unref();
      (shell.stdin as unknown as { unref(): void }).unref();
      waiting = shell;
    },
    end() {
      waiting?.kill("SIGKILL");
      waiting?.stdin?.destroy();
      waiting = undefined;
    },
  };
}

/**
 * As `killMarked` does it: all are stopped before one is killed, since a stopped process starts no other. Only words that every shell has
 * built in: with no processes left to the user, no program could be started.
 */
const SWEEP = `
while read -r line; do :; done
for signal in STOP KILL; do
  seen=" "
  round=0
  fresh=yes
  while [ "$fresh" ] && [ $round -lt 100 ]; do
    round=$((round + 1))
    fresh=
    for folder in /proc/[0-9]*; do
      pid=\${folder#/proc/}
      case $seen in *" $pid "*) continue ;; esac
      mark=
      while read -r a b c soft hard rest; do
        case "$a $b $c" in "Max file locks") mark=$hard ;; esac
      done <"$folder/limits"
      case $mark in "" | *[!0-9]*) continue ;; esac
      if [ "$mark" -ge "$1" ] && [ "$mark" -lt "$2" ]; then
        seen="$seen$pid "
        fresh=yes
        kill -$signal "$pid"
      fi
    done
  done
done 2>/dev/null
`;
