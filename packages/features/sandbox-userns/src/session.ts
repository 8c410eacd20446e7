import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock, Confinement, ExecResult, SandboxSession } from "@svc/contract";
import {
  type ConfinedCommand,
  confinedSession,
  type GroupMaker,
  limitBySigns,
  type SessionGroup,
} from "@svc/kit/process";
import { accounts } from "./accounts.ts";
import { type Bubblewrap, unavailable, whyNoNamespaces } from "./bubblewrap.ts";
import { filterHere } from "./filter.ts";
import { viewOf } from "./view.ts";

/** What is here to confine with. */
export interface Machine extends Bubblewrap {
  readonly groups: GroupMaker | undefined;
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/** A bubblewrap for each command, all of them in one group. */
export async function usernsSession(
  confinement: Confinement,
  machine: Machine,
  clock: Pick<Clock, "after">,
): Promise<SandboxSession> {
  const { limits, user } = confinement;
  if (isRoot() && user && machine.setpriv === undefined) {
    throw unavailable(
      "setpriv is not installed, with which root's commands become another user's: install util-linux.",
    );
  }
  const needsGroup = machine.groups !== undefined && (limits.memoryMb !== undefined || limits.pids !== undefined);
  const [view, group] = await Promise.all([
    viewOf(confinement),
    needsGroup ? machine.groups.make(limits, OWN_PROCESSES) : undefined,
  ]);
  const started = new WeakMap<ChildProcess, () => boolean>();
  return confinedSession(
    confinement,
    {
      holdsAll: true,
      start(command) {
        const options = [...namespaces(confinement, machine), ...view, ...INPUTS, "--chdir", "/"];
        const inside = [
          ...asUser(confinement, machine),
          ...limited(confinement, group),
          command.folder,
          ...command.words,
        ];
        const child = spawn(...joining(group, [machine.bwrap, ...options, "--", ...inside]), surroundings(command));
        for (const [index, data] of [filterHere(), ...accounts(confinement)].entries()) {
          // It ends without having read them when bwrap can't start.
          (child.stdio[FIRST_INPUT + index] as Writable).on("error", () => undefined).end(data);
        }
        started.set(child, began(child));
        return child;
      },
      judge: (result, child) => judged(result, { limits, group, began: started.get(child)!() }),
      close: async () => group?.close(),
    },
    { clock },
  );
}

/** Of bubblewrap in the group of a session: itself and process 1. */
const OWN_PROCESSES = 2;

/**
 * Root makes them without a user namespace, reaches the workspace wherever it is, and setpriv(1) drops the last two capabilities;
 * anybody else is nobody in a user namespace.
 */
const namespaces = ({ network, user }: Confinement, { disableUserns }: Machine): string[] => [
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  ...(network ? [] : ["--unshare-net"]),
  ...(isRoot() ? [] : ["--unshare-user", ...(disableUserns ? ["--disable-userns"] : [])]),
  "--hostname",
  "sandbox",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
  ...(isRoot() && user ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] : []),
];

/** Descriptors that bwrap reads: a filter, two files of /etc; and one that it tells on. It closes them before the command begins. */
const FIRST_INPUT = 3;
const INPUTS = ["--seccomp", "3", "--perms", "0444", "--ro-bind-data", "4", "/etc/passwd", "--perms", "0444"].concat([
  "--ro-bind-data",
  "5",
  "/etc/group",
  "--json-status-fd",
  "6",
]);
const STATUS = 6;

const asUser = ({ user }: Confinement, { setpriv }: Machine): string[] =>
  isRoot() && user
    ? [
        setpriv!,
        `--reuid=${user.uid}`,
        `--regid=${user.gid}`,
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--",
      ]
    : [];

/**
 * rlimits, set by the shell inside: there RLIMIT_NPROC counts the processes of the user namespace alone (Linux 5.14). Soft for
 * processor time, so that the kernel says what it was: SIGXCPU. RLIMIT_DATA and not RLIMIT_AS: Node, Go and Java reserve far more
 * addresses than they ever use. The shell also says of a program that is not there that it is not: 127.
 */
function limited({ limits: { memoryMb, cpuSecs, pids } }: Confinement, group: SessionGroup | undefined): string[] {
  const lines = [
    ...(cpuSecs === undefined ? [] : [`ulimit -S -t ${cpuSecs}; ulimit -H -t ${cpuSecs + 1}`]),
    ...(memoryMb === undefined || group ? [] : [`ulimit -d ${memoryMb * 1024}`]),
    // dash has -p where bash has -u
    ...(pids === undefined || group
      ? []
      : [`if [ -n "$BASH_VERSION" ]; then ulimit -u ${pids}; else ulimit -p ${pids}; fi`]),
    // Only now: root without capabilities can't enter a folder of whom commands run as.
    'cd -- "$1"',
    "shift",
    'exec "$@"',
  ];
  return ["/bin/sh", "-c", lines.join(" && "), "sh"];
}

/** Joins the group before bwrap makes its first process: the shell is that process then. */
function joining(group: SessionGroup | undefined, words: readonly string[]): [string, string[]] {
  if (!group) return [words[0]!, words.slice(1)];
  const line = [...group.joins.map((_file, index) => `echo 0 >"$${index + 1}"`), `shift ${group.joins.length}`];
  return ["/bin/sh", ["-c", [...line, 'exec "$@"'].join(" && "), "sh", ...group.joins, ...words]];
}

const surroundings = ({ env, hasInput }: ConfinedCommand) => {
  const stdio: StdioOptions = [hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe", "pipe", "pipe", "pipe"];
  return { cwd: "/", env, stdio, detached: true };
};

/** bwrap says `"child-pid"` when it made its first process, and `"exit-code"` only when that one got to its end. */
function began(child: ChildProcess): () => boolean {
  let told = "";
  const status = child.stdio[STATUS as 3] as Readable;
  status.on("error", () => undefined);
  status.on("data", (chunk: Buffer) => {
    if (told.length < 4096) told += chunk.toString("latin1");
  });
  return () => told.includes('"exit-code"');
}

interface Verdict {
  readonly limits: Confinement["limits"];
  readonly group: SessionGroup | undefined;
  readonly began: boolean;
}

async function judged(result: ExecResult, { limits, group, began: isBegun }: Verdict): Promise<ExecResult> {
  if (!isBegun && result.signal === null && !result.timedOut && /^bwrap: /m.test(result.stderr)) {
    throw await whyNoNamespaces(result.stderr);
  }
  const limit = (await group?.reached()) ?? limitBySigns(result, limits);
  return limit ? { ...result, limit } : result;
}
