import type { Confinement } from "@svc/contract";

/** /etc/passwd and /etc/group as they are inside: whom commands run as, root and nobody. passwd(5), group(5). */
export function accounts({ user, workspace }: Confinement): [passwd: string, group: string] {
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const gid = user?.gid ?? process.getgid?.() ?? 0;
  // A colon or a line's end would begin another field or entry.
  const home = /[:\n]/.test(workspace) ? "/" : workspace;
  const own = uid === 0 ? [] : [`user:x:${uid}:${gid}::${home}:/bin/sh`];
  const ownGroup = gid === 0 ? [] : [`user:x:${gid}:`];
  const passwd = [
    "root:x:0:0::/:/bin/sh",
    ...own,
    ...(uid === NOBODY ? [] : [`nobody:x:${NOBODY}:${NOBODY}::/:/bin/false`]),
  ];
  const group = ["root:x:0:", ...ownGroup, ...(gid === NOBODY ? [] : [`nogroup:x:${NOBODY}:`])];
  return [`${passwd.join("\n")}\n`, `${group.join("\n")}\n`];
}

const NOBODY = 65_534;
