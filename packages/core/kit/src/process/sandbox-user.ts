import { readFileSync } from "node:fs";

/**
 * The user for root's commands in a workspace without another owner. Above every range that distributions and service managers
 * assign (below 65536) and below those of containers (524288 and up), so that no other account has this id:
 * https://systemd.io/UIDS-GIDS/. It needs no line in /etc/passwd.
 */
export const SANDBOX_USER = Object.freeze({ uid: 242_617, gid: 242_617 });

/**
 * False in a user namespace that does not map this user, as in a container without root: there no file can be given to it. The maps are
 * those of user_namespaces(7): first id inside, first id outside, number of ids.
 */
export function hasSandboxUser(read: (file: string) => string = (file) => readFileSync(file, "utf8")): boolean {
  try {
    return (
      isMapped(read("/proc/self/uid_map"), SANDBOX_USER.uid) && isMapped(read("/proc/self/gid_map"), SANDBOX_USER.gid)
    );
  } catch {
    // A system without user namespaces.
    return true;
  }
}

const isMapped = (map: string, id: number): boolean =>
  map.split("\n").some((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number);
    return first !== undefined && count !== undefined && id >= first && id < first + count;
  });
