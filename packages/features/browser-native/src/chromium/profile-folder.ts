/** The folder of one browser: new when it starts, gone when it ends. Below `$SVC_HOME/run/browser`, which only we may read. */
import { mkdir, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeProfile } from "@svc/kit/browser";
import { removePath } from "@svc/kit/files";

export interface ProfileFolder {
  /** What Chromium keeps of itself. */
  readonly profile: string;
  readonly downloads: string;
  /** Its HOME, and for whatever else is needed while it runs. */
  readonly root: string;
  remove(): Promise<void>;
}

export async function profileFolder(profiles: string): Promise<ProfileFolder> {
  await mkdir(profiles, { recursive: true, mode: 0o700 });
  const root = await mkdtemp(join(profiles, ownPrefix()));
  const [profile, downloads] = [join(root, "profile"), join(root, "downloads")];
  await Promise.all([makeProfile(profile), mkdir(downloads, { mode: 0o700 })]);
  return { root, profile, downloads, remove: async () => void (await removePath(root)) };
}

/** What a process that was killed has left. There is one daemon on a home: whatever is not this process's is nobody's. */
export async function removeLeftOvers(profiles: string): Promise<void> {
  const names = await readdir(profiles).catch(() => []);
  const old = names.filter((name) => !name.startsWith(ownPrefix()));
  await Promise.all(old.map((name) => removePath(join(profiles, name))));
}

/** A process number alone comes back; in a container it is always the same. */
const ownPrefix = (): string => `${process.pid}-${Math.round(performance.timeOrigin)}-`;
