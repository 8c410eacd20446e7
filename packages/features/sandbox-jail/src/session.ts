import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { Clock, Confinement, SandboxSession } from "@svc/contract";
import { type ConfinedCommand, confinedSession, type GroupMaker, limitBySigns } from "@svc/kit/process";
import { BEGAN, entryOf, lineOf } from "./inside.ts";
import { unavailable } from "./view.ts";

export interface JailSession {
  readonly confinement: Confinement;
  /** firejail, by its absolute path. */
  readonly firejail: string;
  readonly options: readonly string[];
  /** For the limits of the session as a whole, where it can make groups. */
  readonly maker: GroupMaker | undefined;
  readonly clock: Pick<Clock, "after">;
}

/** A jail for each command. Its processes are in a pid namespace that ends with firejail. */
export async function jailSession(parts: JailSession): Promise<SandboxSession> {
  const { confinement, firejail, options, maker, clock } = parts;
  const group = await maker?.make(confinement.limits, OF_FIREJAIL);
  const told = new WeakMap<ChildProcess, () => string>();
  return confinedSession(
    confinement,
    {
      start(command) {
        const line = lineOf(command, confinement);
        const words = [JOIN, "sh", ...(group?.joins ?? []), "--", firejail, ...options, "--", ...entryOf(confinement)];
        const child = spawn("/bin/sh", ["-c", ...words], surroundings(command));
        told.set(child, talk(child.stdio[3] as Duplex, line));
        return child;
      },
      async judge(result, child) {
        const reached = await group?.reached();
        if (told.get(child)?.() !== BEGAN && !result.timedOut) throw notBegun(result.stderr);
        const limit = result.exitCode === 0 ? undefined : (reached ?? limitBySigns(result, confinement.limits));
        return limit ? { ...result, limit } : result;
      },
      ...(group && { close: () => group.close() }),
    },
    { clock },
  );
}

/** firejail, process 1 of the jail, and a shell that it may have around the command. */
const OF_FIREJAIL = 3;

/** For `sh -c`: joins the groups that come before `--`, and becomes what comes after it. */
const JOIN = `while [ "$1" != -- ]; do echo 0 >"$1" || exit 1; shift; done; shift; exec "$@"`;

/** For firejail itself; what the command is to see comes with its line. SVC_EXEC_ID is how what it leaves behind is found. */
const surroundings = ({ folder, env: { PATH, SVC_EXEC_ID }, hasInput }: ConfinedCommand) => ({
  cwd: folder,
  env: { PATH, SVC_EXEC_ID },
  stdio: [hasInput ? ("pipe" as const) : ("ignore" as const), "pipe" as const, "pipe" as const, "pipe" as const],
  detached: true,
});

/** Hands over the line, and returns what was told back so far. */
function talk(way: Duplex, line: string): () => string {
  let back = "";
  way.on("error", () => undefined); // it ended before it read
  way.on("data", (chunk: Buffer) => (back = (back + chunk.toString("latin1")).slice(0, 100)));
  way.end(line);
  return () => back;
}

function notBegun(stderr: string): Error {
  if (/not allowed to use firejail/i.test(stderr)) {
    return unavailable("firejail does not serve this user: add it with firecfg --add-users.");
  }
  if (/invalid \S+ command line option/i.test(stderr)) {
    return unavailable("firejail is too old: 0.9.72 or newer is needed.");
  }
  if (/disabled in Firejail configuration/i.test(stderr)) {
    return unavailable("/etc/firejail/firejail.config turns off what a jail needs.");
  }
  if (/not owned by the current user/i.test(stderr)) {
    return unavailable(
      "firejail serves only a user whose home folder is that user's own: run the daemon as another user.",
    );
  }
  return unavailable(
    "firejail confines no command here. It can't in a container, nor in another sandbox: use another backend there.",
  );
}
