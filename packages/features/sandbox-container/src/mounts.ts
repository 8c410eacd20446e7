/** What of this machine's files a container shows: the workspace and the paths of the config, each at its own path. */
import { randomUUID } from "node:crypto";
import { mkdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Confinement } from "@svc/contract";

/**
 * Options `--mount`. What is not there is not mounted. `scratch`: a folder for what covers something hidden, for as long as
 * containers with these mounts run.
 */
export async function mountsOf(
  { workspace, readable, writable, hidden }: Confinement,
  scratch: string,
): Promise<string[]> {
  const secret = await existing(hidden);
  // The workspace may lie in something hidden; nothing else may.
  const isOpen = (path: string): boolean =>
    path !== workspace && !secret.some((each) => path === each || isBelow(path, each));
  const write = [workspace, ...(await existing(writable)).filter(isOpen)];
  const read = (await existing(readable)).filter((path) => isOpen(path) && !write.includes(path));
  const shown = [...write, ...read];
  const covered = secret.filter((path) => path !== workspace && shown.some((each) => isBelow(path, each)));
  return [
    ...write.map((path) => bind(path, path)),
    ...read.map((path) => bind(path, path, "readonly")),
    ...(await Promise.all(covered.map((path) => cover(path, workspace, scratch)))),
  ];
}

/** An option of podman and docker: comma-separated values (RFC 4180), so that a path may have every character in it. */
export const bind = (source: string, destination: string, ...more: string[]): string =>
  `--mount=${["type=bind", `source=${source}`, `destination=${destination}`, ...more].map(field).join(",")}`;

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** With nothing. Not with a tmpfs: podman copies into one what lies below it. */
async function cover(path: string, workspace: string, scratch: string): Promise<string> {
  if (!(await stat(path)).isDirectory()) return bind("/dev/null", path, "readonly");
  const nothing = join(scratch, `nothing-${randomUUID()}`);
  // A place for the workspace that lies in it.
  await mkdir(isBelow(workspace, path) ? join(nothing, relative(path, workspace)) : nothing, { recursive: true });
  return bind(nothing, path, "readonly");
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(folder === sep ? sep : folder + sep);

async function existing(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(real.filter((path) => path !== undefined))];
}
