import { readlink } from "node:fs/promises";
import { userInfo } from "node:os";
import type { Clock, Confinement, SandboxBackend, SandboxLimit, SandboxSession } from "@svc/contract";
import { findGroupMaker, findProgram, type GroupMaker, proveConfinement, reasonOf } from "@svc/kit/process";
import { optionsOf } from "./options.ts";
import { jailSession } from "./session.ts";
import { unavailable, viewOf } from "./view.ts";

export interface JailOptions {
  readonly clock: Pick<Clock, "after">;
  /** Where programs are looked for. Default: the daemon's PATH. */
  readonly path?: string;
}

/** firejail around commands. Throws SANDBOX_UNAVAILABLE where it can't do what a confinement asks for. */
export function createJail({ clock, path }: JailOptions): SandboxBackend {
  let groups: Promise<GroupMaker | undefined> | undefined;
  const open = async (confinement: Confinement): Promise<SandboxSession> => {
    const firejail = await firejailFor(confinement, path);
    const view = await viewOf(confinement);
    const maker = await (groups ??= findGroupMaker());
    return jailSession({ confinement, firejail, options: optionsOf(confinement, view, maker?.limits), maker, clock });
  };
  return {
    id: "jail",
    open,
    async probe(confinement, signal) {
      try {
        const unenforced = await notHeld(open, confinement, await (groups ??= findGroupMaker()), signal);
        const kept = { ...confinement, limits: withoutLimits(confinement.limits, unenforced) };
        const objection = await proveConfinement({ open, confinement: kept, signal, offline: await offline() });
        return objection === undefined ? { available: true, unenforced } : { available: false, reason: objection };
      } catch (error) {
        signal.throwIfAborted();
        return { available: false, reason: reasonOf(error) };
      }
    },
  };
}

async function firejailFor({ user }: Confinement, path: string | undefined): Promise<string> {
  if (process.platform !== "linux") throw unavailable("firejail is not for this system.");
  const uid = process.getuid?.();
  if (user && uid !== 0 && user.uid !== uid) throw unavailable("Only root can run commands as another user.");
  if (!hasAccount()) throw unavailable("firejail needs an account: the daemon's user has no line in /etc/passwd.");
  const firejail = await findProgram("firejail", path);
  if (firejail === undefined) throw unavailable("firejail is not installed: install the package firejail.");
  if (user && uid === 0 && (await findProgram("setpriv", path)) === undefined) {
    throw unavailable("setpriv is not installed, which makes root's commands another user's: install util-linux.");
  }
  return firejail;
}

function hasAccount(): boolean {
  try {
    return userInfo().homedir !== "";
  } catch {
    return false;
  }
}

/**
 * Processes are counted by user: root's are not at all, and another's all together, unless the jail has a user namespace of its
 * own. The rest is held by control groups, or for each process by the kernel.
 */
async function notHeld(
  open: SandboxBackend["open"],
  { limits: { pids, ...limits }, ...confinement }: Confinement,
  groups: GroupMaker | undefined,
  signal: AbortSignal,
): Promise<SandboxLimit[]> {
  if (pids === undefined || groups?.limits.includes("pids")) return [];
  if (process.getuid?.() === 0) return confinement.user ? [] : ["pids"];
  const session = await open({ ...confinement, limits });
  try {
    const { stdout } = await session.exec({
      command: "read -r inside outside count </proc/self/uid_map; echo $count",
      signal,
    });
    return Number(stdout) === EVERYBODY ? ["pids"] : [];
  } finally {
    await session.close();
  }
}

/** In uid_map of a machine's own namespace: user_namespaces(7). */
const EVERYBODY = 4_294_967_295;

const withoutLimits = (limits: Confinement["limits"], left: readonly SandboxLimit[]): Confinement["limits"] =>
  Object.fromEntries(Object.entries(limits).filter(([name]) => !left.includes(name as SandboxLimit)));

/** It is in another network namespace than the daemon. */
async function offline(): Promise<string> {
  const own = await readlink("/proc/self/ns/net");
  return `[ "$(readlink /proc/self/ns/net)" != '${own}' ] && [ -n "$(readlink /proc/self/ns/net)" ] && echo offline`;
}
