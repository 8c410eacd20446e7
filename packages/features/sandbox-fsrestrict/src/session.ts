import { readFileSync, statSync } from "node:fs";
import type { ChildProcess } from "node:child_process";
import {
  type Clock,
  type Confinement,
  type ExecRequest,
  type ExecResult,
  type SandboxSession,
  SvcError,
} from "@svc/contract";
import { type Scratch, makeScratch } from "@svc/kit/files";
import { type GroupMaker, type SessionGroup, confinedSession } from "@svc/kit/process";
import { endMarked, killMarked, onlyMark } from "./marks.ts";
import type { PathRule, Restriction } from "./request.ts";
import { DEVICES, SYSTEM, UNREAD_SETTINGS } from "./system-paths.ts";
import type { Started, Starter } from "./starter.ts";
import { hasEnded, type SandboxPlan, type Spare } from "./spare.ts";
import { NotBegun, judge, reportsIn } from "./verdict.ts";
import { realpath } from "node:fs/promises";

export interface SessionDeps {
  readonly starter: Starter;
  readonly spare: Spare;
  readonly clock: Pick<Clock, "after">;
  /** As in `FsrestrictDeps`. */
  readonly mounts: () => string;
  /** Where limits are held by control groups. */
  readonly groups: GroupMaker | undefined;
}

/** Throws SANDBOX_UNAVAILABLE. */
export async function openSession(confinement: Confinement, deps: SessionDeps): Promise<SandboxSession> {
  const { starter, spare, clock } = deps;
  const planned = () => planOf(confinement, deps);
  const plan = await planned();
  const sandbox = spare.take(plan.key) ?? (await plan.make());
  const { temporary, group, restriction } = sandbox;
  let { waiting } = sandbox;
  const unread = variablesOfUnread(restriction);
  const all = new WeakMap<ChildProcess, Started & Leftovers & { readonly hadWaited: boolean }>();
  const session = confinedSession(
    confinement,
    {
      start({ words, folder, env, hasInput }) {
        // The end of one that was killed while it waited is no news any more: its command would be waited for for ever.
        const waited = waiting && hasEnded(waiting) ? undefined : waiting;
        const started = waited ?? starter.start({ kind: "command", restriction, folder });
        waiting = undefined;
        started.begin({ words, folder, env: { ...unread, ...env, TMPDIR: temporary.path }, hasInput });
        all.set(started.child, { ...started, ...endLeftovers(started, env, group), hadWaited: waited !== undefined });
        spare.keep(planned);
        return started.child;
      },
      async judge(result, child) {
        const { mayBeLeft, mark, reported, hadWaited } = all.get(child)!;
        spare.keep(planned);
        if (mayBeLeft()) await endMarked(onlyMark(mark));
        const judged = judge(result, { reports: reportsIn(await reported), limits: confinement.limits, hadWaited });
        const limit = (await group?.reached()) ?? judged.limit;
        return limit ? { ...judged, limit } : judged;
      },
      async close() {
        const ended = spare.end({ ...sandbox, waiting });
        // The kernel takes up to 10 ms to remove a group: no command waits for that.
        await (waiting ? ended : temporary.dispose());
      },
    },
    { clock },
  );
  const exec = (request: ExecRequest): Promise<ExecResult> =>
    session.exec(request).catch((error: unknown) => {
      if (error instanceof NotBegun) return session.exec(request);
      throw error;
    });
  return { exec, close: () => session.close() };
}

/** What a sandbox of this confinement is made of now. Throws SANDBOX_UNAVAILABLE. */
async function planOf(
  confinement: Confinement,
  { groups, mounts }: Pick<SessionDeps, "groups" | "mounts">,
): Promise<SandboxPlan> {
  const { network, user, limits } = confinement;
  const rules = await rulesOf(confinement);
  const needsGroup = limits.memoryMb !== undefined || limits.pids !== undefined;
  return {
    key: JSON.stringify([rules, network, user, limits, identitiesOf(rules), mounts()]),
    async make() {
      const temporary = await makeTemporary(confinement);
      try {
        const group = needsGroup ? await groups?.make(limits, 0) : undefined;
        return {
          temporary,
          group,
          restriction: restrictionOf(confinement, withTemporary(rules, temporary.path), group),
        };
      } catch (error) {
        await temporary.dispose();
        throw error;
      }
    },
  };
}

/** Which files the paths are: a rule is of what was there when it was made, as the view is of what was mounted. */
function identitiesOf(rules: readonly PathRule[]): string[] {
  return rules.map(({ path }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}:${found.uid}:${found.gid}:${found.mode}` : "";
  });
}

/** For what the config does not make readable. */
const variablesOfUnread = ({ rules }: Restriction): Record<string, string> =>
  Object.assign(
    {},
    ...UNREAD_SETTINGS.filter(
      ({ path }) => !rules.some((rule) => path === rule.path || path.startsWith(`${rule.path}/`)),
    ).map(({ env }) => env),
  ) as Record<string, string>;

/** Control groups hold limits of a session together; what they don't hold is held of each process. */
function restrictionOf(
  { network, user, limits }: Confinement,
  rules: readonly PathRule[],
  group: SessionGroup | undefined,
): Restriction {
  const own = group ? { cpuSecs: limits.cpuSecs } : limits;
  return { rules, network, user, joins: group?.joins ?? [], limits: own };
}

/** For a child that confines itself for nothing but a look at what it can still do. */
export async function trialRestriction(confinement: Confinement, temporary: string): Promise<Restriction> {
  return restrictionOf(confinement, withTemporary(await rulesOf(confinement), temporary), undefined);
}

const withTemporary = (rules: readonly PathRule[], temporary: string): PathRule[] => [
  ...rules,
  { path: temporary, access: "write" },
];

/** TMPDIR of one session, removed with it; there is no `/tmp`. */
export const makeTemporary = ({ user }: Confinement): Promise<Scratch> =>
  makeScratch({ prefix: "svc-session-", owner: user });

/**
 * When the command itself has ended: what left its group and cleared its environment would be missed, and waited for as long as
 * it holds the output. Whoever did not is given its time by those who ended the command.
 */
function endLeftovers(
  { child, mark }: Started,
  env: Readonly<Record<string, string>>,
  group: SessionGroup | undefined,
): Leftovers {
  const marks = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const isKnown = (pid: number): boolean => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      return marks.every((each) => variables.includes(each));
    } catch {
      return false;
    }
  };
  let mayBeLeft = true;
  child.once("exit", () => {
    mayBeLeft = !isEmptyGroup(group) && killMarked(onlyMark(mark), isKnown);
  });
  return { mayBeLeft: () => mayBeLeft };
}

/** A process never leaves its session's group, and one file is much less to read than all of /proc. */
function isEmptyGroup(group: SessionGroup | undefined): boolean {
  try {
    return group !== undefined && group.joins.every((file) => readFileSync(file, "latin1") === "");
  } catch {
    return false;
  }
}

interface Leftovers {
  /** Whether a process of the command may live on. */
  mayBeLeft(): boolean;
}

// What the file system allows to the commands of a confinement.

/** Without the session's temporary folder. Throws SANDBOX_UNAVAILABLE. */
async function rulesOf(confinement: Confinement): Promise<PathRule[]> {
  const [readable, writable] = await Promise.all([there(confinement.readable), there(confinement.writable)]);
  const rules: PathRule[] = [
    { path: await realpath(confinement.workspace), access: "write" },
    ...writable.map((path): PathRule => ({ path, access: "write" })),
    ...readable.map((path): PathRule => ({ path, access: "read" })),
    ...SYSTEM.map((path): PathRule => ({ path, access: "read", optional: true })),
    ...DEVICES.map((path): PathRule => ({ path, access: "device", optional: true })),
  ];
  await refuseHidden(rules, confinement.hidden);
  return rules;
}

/** The real paths of those that are there. */
async function there(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return real.filter((path) => path !== undefined);
}

/** A rule holds for all that is below its path, and nothing can be taken out of it. */
async function refuseHidden(rules: readonly PathRule[], hidden: readonly string[]): Promise<void> {
  const real = [...hidden, ...(await there(hidden))];
  const shows = rules.some(({ path }) =>
    real.some((each) => each === path || each.startsWith(path === "/" ? "/" : `${path}/`)),
  );
  if (!shows) return;
  throw new SvcError(
    "SANDBOX_UNAVAILABLE",
    "A folder that commands may use holds one that must stay hidden, and Landlock can't leave a part of a folder out.",
    {
      hint: "Take the folder out of security.sandbox.readable and writable, or move the workspace into one of its own.",
    },
  );
}
