/** A daemon that is killed beyond its memory limit, by its own control group if this process can make one. */
import { chmodSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface MemoryLimit {
  /** The command to start instead of the binary. */
  readonly binary: string;
  /** False: the limit is not enforced, so its memory must be watched. */
  readonly isEnforced: boolean;
  /** Call when the daemon has ended. */
  remove(): Promise<void>;
}

interface Hierarchy {
  readonly folder: string;
  /** Files and their new content; missing files are skipped. */
  readonly limits: (bytes: number) => readonly (readonly [string, string])[];
}

/** Of version 1, where swap is counted with memory, and of version 2. */
const HIERARCHIES: readonly Hierarchy[] = [
  {
    folder: "/sys/fs/cgroup/memory",
    limits: (bytes) => [
      ["memory.limit_in_bytes", String(bytes)],
      ["memory.memsw.limit_in_bytes", String(bytes)],
    ],
  },
  {
    folder: "/sys/fs/cgroup",
    limits: (bytes) => [
      ["memory.max", String(bytes)],
      ["memory.swap.max", "0"],
    ],
  },
];

/** `folder`: takes the script that starts it. */
export function limitMemory(binary: string, bytes: number, folder: string): MemoryLimit {
  for (const hierarchy of HIERARCHIES) {
    const group = join(hierarchy.folder, `svc-fuzz-${process.pid}-${Date.now().toString(36)}`);
    if (!isLimited(group, hierarchy.limits(bytes))) continue;
    const limited = join(folder, "limited");
    writeFileSync(limited, `#!/bin/sh\necho $$ > '${group}/cgroup.procs' || exit 1\nexec '${binary}' "$@"\n`);
    chmodSync(limited, 0o755);
    return { binary: limited, isEnforced: true, remove: () => removed(group) };
  }
  return { binary, isEnforced: false, remove: () => Promise.resolve() };
}

function isLimited(group: string, limits: readonly (readonly [string, string])[]): boolean {
  try {
    mkdirSync(group);
  } catch {
    return false;
  }
  const there = limits.filter(([file]) => existsSync(join(group, file)));
  try {
    for (const [file, value] of there) writeFileSync(join(group, file), value);
    if (there.length > 0) return true;
  } catch {
    // It may not be limited; it goes below.
  }
  rmdirSync(group);
  return false;
}

/** The kernel takes a moment to see that its last process is gone. */
async function removed(group: string): Promise<void> {
  for (let attempts = 0; attempts < 50; attempts += 1) {
    try {
      rmdirSync(group);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
