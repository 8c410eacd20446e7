import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { Clock, Confinement, SandboxSession } from "@svc/contract";
import { type ConfinedCommand, type GroupMaker, confinedSession, limitBySigns, shellWord } from "@svc/kit/process";
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
  const statusOf = new WeakMap<ChildProcess, () => string>();
  return confinedSession(
    confinement,
    {
      start(command) {
        const line = lineOf(command, confinement);
        const words = [JOIN, "sh", ...(group?.joins ?? []), "--", firejail, ...options, "--", ...entryOf(confinement)];
        const child = spawn("/bin/sh", ["-c", ...words], surroundings(command));
        statusOf.set(child, talk(child.stdio[3] as Duplex, line));
        return child;
      },
      async judge(result, child) {
        const reached = await group?.reached();
        if (statusOf.get(child)?.() !== BEGAN && !result.timedOut) throw notBegun(result.stderr);
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

// The first program inside a jail. firejail takes at most 128 arguments of 4 KiB, and parses some of its options anywhere among them. So
// the command does not go on its command line but through descriptor 3, which also reports that the command began.

/** Written to descriptor 3 right before the command begins. If it is missing, firejail did not get that far. */
const BEGAN = "began\n";

/**
 * For `/bin/sh -c`. In a container, or in another sandbox, firejail runs what it is given without confining it, and says it went
 * well. So before anything else: is process 1 firejail, can nothing gain privileges, is there a filter of system calls?
 */
const ENTRY = `
read -r first </proc/1/comm && [ "$first" = firejail ] || exit 1
while read -r name value; do
  case $name in
    NoNewPrivs:) [ "$value" = 1 ] || exit 1 ;;
    Seccomp:) [ "$value" = 2 ] || exit 1 ;;
  esac
done </proc/self/status
eval "$(cat <&3)"
`;

/** The command for firejail. To run as another user, root of the jail has the capabilities to switch and then drop them for good. */
const entryOf = ({ user }: Confinement): string[] => [
  ...(user && process.getuid?.() === 0
    ? [
        "setpriv",
        `--reuid=${user.uid}`,
        `--regid=${user.gid}`,
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--bounding-set=-all",
        "--",
      ]
    : []),
  "/bin/sh",
  "-c",
  ENTRY,
];

/** The content of descriptor 3: a shell line that becomes the command. */
function lineOf({ words, folder, env }: ConfinedCommand, { limits }: Confinement): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env(1) takes what has a "=" in it for one more variable.
  const program = words[0].includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", ...words] : words;
  const start = ["env", "-i", ...variables, ...program];
  return [
    `cd -- ${shellWord(folder)}`,
    "ulimit -c 0",
    // Below the hard limit, so that the kernel says what it was: SIGXCPU before SIGKILL.
    ...(limits.cpuSecs === undefined ? [] : [`ulimit -S -t ${limits.cpuSecs}`]),
    `printf '${BEGAN.trimEnd()}\\n' >&3`,
    "exec 3>&-",
    `exec ${start.map(shellWord).join(" ")}`,
  ].join(" && ");
}
