import { readFileSync } from "node:fs";
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
import { killMarked, onlyMark } from "./marks.ts";
import type { PathRule, Restriction } from "./request.ts";
import { DEVICES, SYSTEM, UNREAD_SETTINGS } from "./system-paths.ts";
import type { Started, Starter } from "./starter.ts";
import { type GroupWish, endReady } from "./waiting-child.ts";
import { NotBegun, judge, reportsIn } from "./verdict.ts";
import { realpath } from "node:fs/promises";

export interface SessionOptions {
  readonly starter: Starter;
  readonly clock: Pick<Clock, "after">;
  /** Where limits are held by control groups. */
  readonly groups: GroupMaker | undefined;
}

/** Throws SANDBOX_UNAVAILABLE. */
export async function openSession(
  confinement: Confinement,
  { starter, clock, groups }: SessionOptions,
): Promise<SandboxSession> {
  const temporary = await makeTemporary(confinement);
  const wish = groupWish(confinement, groups);
  let ready = wish?.ahead ? await starter.take(wish.key) : undefined;
  let group = ready?.group;
  const end = async (): Promise<void> => {
    await Promise.all([temporary.dispose(), ready ? endReady(ready) : group?.close()]);
  };
  try {
    group ??= await wish?.make();
    const restriction = await restrictionOf(confinement, temporary.path, group);
    const unread = variablesOfUnread(restriction);
    const all = new WeakMap<ChildProcess, Started & Leftovers>();
    const session = confinedSession(
      confinement,
      {
        start({ words, folder, env, hasInput }) {
          const variables = { ...unread, ...env, TMPDIR: temporary.path };
          const run = { kind: "command", words, folder, env: variables, hasInput } as const;
          const child = ready?.child;
          ready = undefined;
          const joined = child ? { ...restriction, joins: [] } : restriction;
          const started = starter.start({ restriction: joined, run, child, nextGroup: wish?.ahead ? wish : undefined });
          all.set(started.child, { ...started, ...endLeftovers(started, env) });
          return started.child;
        },
        async judge(result, child) {
          const started = all.get(child)!;
          if (started.mayBeLeft()) killMarked(onlyMark(started.mark));
          const judged = judge(result, reportsIn(await started.reported), confinement.limits);
          const limit = (await group?.reached()) ?? judged.limit;
          return limit ? { ...judged, limit } : judged;
        },
        close: end,
      },
      { clock },
    );
    const exec = (request: ExecRequest): Promise<ExecResult> =>
      session.exec(request).catch((error: unknown) => {
        if (error instanceof NotBegun) return session.exec(request);
        throw error;
      });
    return { exec, close: () => session.close() };
  } catch (error) {
    await end();
    throw error;
  }
}

/** For what the config does not make readable. */
const variablesOfUnread = ({ rules }: Restriction): Record<string, string> =>
  Object.assign(
    {},
    ...UNREAD_SETTINGS.filter(
      ({ path }) => !rules.some((rule) => path === rule.path || path.startsWith(`${rule.path}/`)),
    ).map(({ env }) => env),
  ) as Record<string, string>;

/** One that waits has the threads and the memory of its runtime, for which there has to be room. */
const ROOM = { memoryMb: 256, pids: 64 };

function groupWish(
  { limits }: Confinement,
  groups: GroupMaker | undefined,
): (GroupWish & { readonly ahead: boolean }) | undefined {
  const { memoryMb, pids } = limits;
  if (!groups || (memoryMb === undefined && pids === undefined)) return undefined;
  const ahead = (memoryMb ?? Infinity) >= ROOM.memoryMb && (pids ?? Infinity) >= ROOM.pids;
  return { key: JSON.stringify([memoryMb, pids]), ahead, make: () => groups.make(limits, 0) };
}

/** Control groups hold limits of a session together; what they don't hold is held of each process. */
export async function restrictionOf(
  confinement: Confinement,
  temporary: string,
  group: SessionGroup | undefined,
): Promise<Restriction> {
  const { network, user, limits } = confinement;
  const joins = group?.joins ?? [];
  const own = group ? { cpuSecs: limits.cpuSecs } : limits;
  return { rules: await rulesOf(confinement, temporary), network, user, joins, limits: own };
}

/** TMPDIR of one session, removed with it; there is no `/tmp`. */
export const makeTemporary = ({ user }: Confinement): Promise<Scratch> =>
  makeScratch({ prefix: "svc-session-", owner: user });

/**
 * When the command itself has ended: what left its group and cleared its environment would be missed, and waited for as long as
 * it holds the output. Whoever did not is given its time by those who ended the command.
 */
function endLeftovers({ child, mark }: Started, env: Readonly<Record<string, string>>): Leftovers {
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
    mayBeLeft = killMarked(onlyMark(mark), isKnown);
  });
  return { mayBeLeft: () => mayBeLeft };
}

interface Leftovers {
  /** Whether a process of the command may live on. */
  mayBeLeft(): boolean;
}

// What the file system allows to the commands of a confinement.

/** `temporary`: a folder for the session's own files. Throws SANDBOX_UNAVAILABLE. */
async function rulesOf(confinement: Confinement, temporary: string): Promise<PathRule[]> {
  const [readable, writable] = await Promise.all([there(confinement.readable), there(confinement.writable)]);
  const rules: PathRule[] = [
    { path: await realpath(confinement.workspace), access: "write" },
    { path: temporary, access: "write" },
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
