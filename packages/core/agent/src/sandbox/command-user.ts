/**
 * Whom commands run as. Where the daemon is root, nobody's limits bind root and a slip of a sandbox would cost the machine: its
 * commands are the workspace's owner's. Files that belong to root can't be written by that user, so the workspace must not be root's.
 */
import { lstat } from "node:fs/promises";
import { relative, isAbsolute } from "node:path";
import type { Confinement } from "@svc/contract";
import { hasSandboxUser, SANDBOX_USER, shellWord } from "@svc/kit/process";

export interface CommandUser {
  /** undefined: the daemon's own. */
  readonly user: Confinement["user"];
  /** The workspace is still root's, and ours to give to `user`. */
  readonly handsOver: boolean;
  /** Why no sandbox can run commands in this workspace, with the way out of it. */
  readonly obstacle?: string;
}

/** `home`: `$SVC_HOME`, whose workspaces are the service's own. A workspace that is not there yet will be root's. */
export async function commandUser(workspace: string, home: string, uid = process.getuid?.()): Promise<CommandUser> {
  if (uid !== 0) return { user: undefined, handsOver: false };
  const owner = await lstat(workspace).catch(() => ({ uid: 0, gid: 0 }));
  if (owner.uid !== 0) {
    // Nobody's primary group is root's but root's own.
    return { user: { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid }, handsOver: false };
  }
  const { uid: sandboxUid, gid } = SANDBOX_USER;
  if (!hasSandboxUser()) {
    return {
      user: undefined,
      handsOver: false,
      obstacle: `commands of root run as user ${sandboxUid}, which this container does not map; start svc as an ordinary user, or map more ids`,
    };
  }
  if (isBelow(workspace, home)) return { user: SANDBOX_USER, handsOver: true };
  return {
    user: undefined,
    handsOver: false,
    obstacle: `the workspace ${workspace} belongs to root, and commands run as its owner; give it to another user: chown -R ${sandboxUid}:${gid} ${shellWord(workspace)}`,
  };
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && !way.startsWith("..") && !isAbsolute(way);
}
