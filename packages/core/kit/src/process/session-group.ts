/** Limits of a session as a whole, by control groups: https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxLimit, SandboxLimits } from "@svc/contract";

/** A control group for one session. It holds only processes that joined it. */
export interface SessionGroup {
  /** Files that a process joins by: it writes `0` into each, before it starts anything. */
  readonly joins: readonly string[];
  /** The limit that it ran into since this was asked last. */
  reached(): Promise<SandboxLimit | undefined>;
  /** After its last process has ended. */
  close(): Promise<void>;
}

/** Where groups can be made. */
export interface GroupMaker {
  /** What they can limit. */
  readonly limits: readonly SandboxLimit[];
  /** `spare`: processes of the sandbox itself, beyond `limits.pids`. */
  make(limits: SandboxLimits, spare: number): Promise<SessionGroup>;
}

/**
 * Root's way to hold `memoryMb` and `pids` of a session together. undefined where no groups can be made: not root, or a
 * container that gives none away. Tried, not guessed.
 */
export async function findGroupMaker(root = "/sys/fs/cgroup"): Promise<GroupMaker | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const versions = existsSync(join(root, "cgroup.controllers")) ? [unified(root)] : [await split(root)];
  for (const folders of versions) {
    const maker = makerOf(folders);
    if (!(await isUsable(maker))) continue;
    await sweep(folders);
    return maker;
  }
  return undefined;
}

/** The folder that groups for a limit are made in, and the files that set it and tell of it. */
interface Controller {
  readonly parent: string;
  readonly set: (
    value: SandboxLimits,
    spare: number,
  ) => readonly (readonly [file: string, value: string, needed: boolean])[];
  /** A file with a line `<word> <count>`: how often it was reached. */
  readonly counter: readonly [file: string, word: string];
}

type Controllers = Readonly<Record<"memoryMb" | "pids", Controller>>;

const bytes = ({ memoryMb = 0 }: SandboxLimits): string => String(memoryMb * 1_048_576);
const count = ({ pids = 0 }: SandboxLimits, spare: number): string => String(pids + spare);

const unified = (root: string): Controllers => ({
  memoryMb: {
    parent: root,
    set: (limits) => [
      ["memory.max", bytes(limits), true],
      ["memory.swap.max", "0", false],
      ["memory.oom.group", "1", false],
    ],
    counter: ["memory.events", "oom_kill"],
  },
  pids: {
    parent: root,
    set: (limits, spare) => [["pids.max", count(limits, spare), true]],
    counter: ["pids.events", "max"],
  },
});

/** Version 1 has a tree for each controller; groups are made below the one the daemon is in, whose limits hold as well. */
async function split(root: string): Promise<Controllers> {
  const own = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  const parent = (name: string): string => {
    const line = own.split("\n").find((each) => each.split(":")[1]?.split(",").includes(name));
    const below = join(root, name, line?.split(":").slice(2).join(":") ?? "");
    return existsSync(below) ? below : join(root, name);
  };
  return {
    memoryMb: {
      parent: parent("memory"),
      set: (limits) => [
        ["memory.limit_in_bytes", bytes(limits), true],
        ["memory.memsw.limit_in_bytes", bytes(limits), false],
      ],
      counter: ["memory.oom_control", "oom_kill"],
    },
    pids: {
      parent: parent("pids"),
      set: (limits, spare) => [["pids.max", count(limits, spare), true]],
      counter: ["pids.events", "max"],
    },
  };
}

const makerOf = (controllers: Controllers): GroupMaker => ({
  limits: ["memoryMb", "pids"],
  async make(limits, spare) {
    const name = `${PREFIX}${process.pid}-${randomUUID()}`;
    const made: { limit: SandboxLimit; folder: string; controller: Controller }[] = [];
    const folders = new Set<string>();
    const close = async (): Promise<void> => {
      for (const folder of folders) await removed(folder);
    };
    try {
      for (const limit of ["memoryMb", "pids"] as const) {
        const controller = controllers[limit];
        if (limits[limit] === undefined) continue;
        const folder = join(controller.parent, name);
        await mkdir(folder, { recursive: true });
        folders.add(folder);
        // In a folder outside a cgroup file system, these writes would create plain files that limit nothing.
        if (!existsSync(join(folder, "cgroup.procs"))) throw new Error("no control group");
        for (const [file, value, needed] of controller.set(limits, spare)) {
          await writeFile(join(folder, file), value).catch((error: unknown) => {
            if (needed) throw error;
          });
        }
        made.push({ limit, folder, controller });
      }
    } catch (error) {
      await close();
      throw error;
    }
    const seen = new Map<SandboxLimit, number>();
    return {
      joins: [...folders].map((folder) => join(folder, "cgroup.procs")),
      async reached() {
        let reached: SandboxLimit | undefined;
        for (const { limit, folder, controller } of made) {
          const now = await countIn(join(folder, controller.counter[0]), controller.counter[1]);
          if (now > (seen.get(limit) ?? 0)) reached ??= limit;
          seen.set(limit, now);
        }
        return reached;
      },
      close,
    };
  },
});

/** Then the number of the process that made it. */
const PREFIX = "svc-sandbox-";

/** Removes groups left by killed daemons. The kernel refuses to remove a group that has processes. */
async function sweep({ memoryMb, pids }: Controllers): Promise<void> {
  for (const parent of new Set([memoryMb.parent, pids.parent])) {
    const names = await readdir(parent).catch(() => []);
    const left = names.filter((name) => name.startsWith(PREFIX) && !isAlive(name.slice(PREFIX.length).split("-")[0]!));
    await Promise.all(left.map((name) => rmdir(join(parent, name)).catch(() => undefined)));
  }
}

const isAlive = (pid: string): boolean => existsSync(`/proc/${pid}`);

async function isUsable(maker: GroupMaker): Promise<boolean> {
  try {
    const group = await maker.make({ memoryMb: 64, pids: 8 }, 0);
    await group.close();
    return true;
  } catch {
    return false;
  }
}

async function countIn(file: string, word: string): Promise<number> {
  const text = await readFile(file, "utf8").catch(() => "");
  return Number(new RegExp(`^${word} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

/** What was killed leaves its group a moment later than it ends. */
async function removed(folder: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EBUSY") return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
