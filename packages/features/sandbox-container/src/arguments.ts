/**
 * The command line of `podman run` and `docker run` for one command. Their options mean the same:
 * https://docs.podman.io/en/latest/markdown/podman-run.1.html, https://docs.docker.com/reference/cli/docker/container/run/
 */
import type { Confinement } from "@svc/contract";
import type { ConfinedCommand } from "@svc/kit/process";
import { ENTRY, REPORT } from "./inside.ts";
import type { Settled } from "./settle.ts";
import { randomUUID } from "node:crypto";
import { mkdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export interface Run {
  readonly settled: Pick<Settled, "engine" | "image" | "workarounds" | "isRootless">;
  readonly confinement: Confinement;
  /** Options `--mount`. */
  readonly mounts: readonly string[];
  readonly name: string;
  /** `key=value`. */
  readonly labels: readonly string[];
  /** Path of a file of this machine. */
  readonly report: string;
  /** Path of the profile of system calls. Default: the engine's own. */
  readonly seccomp: string | undefined;
}

export function runArguments(run: Run, { words, folder, env, hasInput }: ConfinedCommand): string[] {
  const { settled, confinement, mounts, name, labels, report, seccomp } = run;
  return [
    ...settled.workarounds.globals,
    "run",
    "--rm",
    `--name=${name}`,
    ...labels.map((label) => `--label=${label}`),
    "--pull=never",
    "--log-driver=none", // else all output is kept on disk as well
    "--stop-timeout=0",
    ...(hasInput ? ["--interactive"] : []),
    "--read-only",
    "--tmpfs=/tmp:rw,exec,mode=1777",
    "--cap-drop=ALL",
    "--ulimit=core=0:0",
    "--security-opt=no-new-privileges",
    ...(seccomp === undefined ? [] : [`--security-opt=seccomp=${seccomp}`]),
    // SELinux would keep the workspace from being read; relabelling a person's files would be worse.
    "--security-opt=label=disable",
    `--network=${confinement.network ? "host" : "none"}`,
    ...(confinement.network ? [] : ["--hostname=sandbox"]),
    ...userOf(settled, confinement),
    ...limits(settled, confinement),
    ...mounts,
    bind(report, REPORT),
    `--workdir=${folder}`,
    ...Object.entries({ ...noProxies(settled), ...env }).map(([key, value]) => `--env=${key}=${value}`),
    "--entrypoint=/bin/sh",
    settled.image,
    "-c",
    ENTRY,
    "sh",
    ...words,
  ];
}

/** Files of the workspace belong to whom they should: uids inside are those outside, but in an engine of an ordinary user. */
function userOf({ engine, isRootless }: Run["settled"], { user }: Confinement): string[] {
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const gid = user?.gid ?? process.getgid?.() ?? 0;
  if (engine.name === "podman")
    return [...(isRootless ? ["--userns=keep-id"] : []), `--user=${uid}:${gid}`, "--http-proxy=false"];
  return [isRootless ? "--user=0:0" : `--user=${uid}:${gid}`];
}

function limits({ workarounds }: Run["settled"], { limits: { memoryMb, cpuSecs, pids } }: Confinement): string[] {
  const { options, noGroups: ungrouped, noSwapLimit } = workarounds;
  return [
    ...(memoryMb === undefined || ungrouped ? [] : [`--memory=${memoryMb}m`]),
    ...(memoryMb === undefined || ungrouped || noSwapLimit ? [] : [`--memory-swap=${memoryMb}m`]),
    // One more for process 1.
    ...(pids === undefined || ungrouped ? [] : [`--pids-limit=${pids + 1}`]),
    ...(cpuSecs === undefined ? [] : [`--ulimit=cpu=${cpuSecs}:${cpuSecs + 1}`]),
    ...options,
  ];
}

/** docker puts the proxies of ~/.docker/config.json into every container, passwords included, but for those that are set. */
const noProxies = ({ engine }: Run["settled"]): Record<string, string> =>
  engine.name === "podman"
    ? {}
    : Object.fromEntries(
        ["http", "https", "ftp", "no", "all"].flatMap((kind) => [
          [`${kind}_proxy`, ""],
          [`${kind}_proxy`.toUpperCase(), ""],
        ]),
      );

// What of this machine's files a container shows: the workspace and the paths of the config, each at its own path.

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
const bind = (source: string, destination: string, ...more: string[]): string =>
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
