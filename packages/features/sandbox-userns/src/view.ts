/** What of this machine's files is inside: what programs need to run, the paths of the config, the workspace. As bwrap's options. */
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import type { Confinement } from "@svc/contract";

/** In this order. Nothing else of the file system is there: no home folder, no /root, no /var, no /run. */
export async function viewOf(confinement: Confinement): Promise<string[]> {
  const size =
    confinement.limits.memoryMb === undefined ? [] : ["--size", String(confinement.limits.memoryMb * 1_048_576)];
  const empty = (path: string): string[] => [...around(path), "--perms", "1777", ...size, "--tmpfs", path];
  return [
    ...(await system()),
    ...(await settings(confinement.network)),
    "--dev",
    "/dev",
    ...["/dev/shm", "/tmp", "/var/tmp"].flatMap(empty),
    "--proc",
    "/proc",
    // sysctls are root's by their modes alone, and some of them start programs on this machine
    "--remount-ro",
    "/proc",
    ...(await asked(confinement)),
  ];
}

/** bwrap makes folders that are missing around a path for root alone; commands may be somebody else's. */
function around(path: string): string[] {
  const names = path.split(sep).slice(1, -1);
  return names.flatMap((_name, index) => ["--perms", "0755", "--dir", sep + names.slice(0, index + 1).join(sep)]);
}

const OF_PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/** On most systems all but /usr are links into it. */
async function system(): Promise<string[]> {
  const options = await Promise.all(
    OF_PROGRAMS.map(async (path) => {
      const found = await lstat(path).catch(() => undefined);
      if (!found) return [];
      const bound = found.isSymbolicLink() ? ["--symlink", await readlink(path)] : ["--ro-bind", path];
      return [...around(path), ...bound, path];
    }),
  );
  return options.flat();
}

/**
 * Of /etc: how libraries are found, what is trusted, what time it is. Nothing that says who has an account here. Each one is a
 * mount, which costs every command a fraction of a millisecond: what else a program misses, the config makes readable.
 */
const SETTINGS = [
  "alternatives",
  "ld.so.cache",
  "localtime",
  "nsswitch.conf",
  "pki/tls/certs",
  "pki/ca-trust/extracted",
  "pki/tls/openssl.cnf",
  "crypto-policies/back-ends",
  "ssl/certs",
  "ssl/openssl.cnf",
  // links from the folders of a Java lead here: without it there is no random number
  ...["8", "11", "17", "21", "25"].map((version) => `java-${version}-openjdk`),
];
const NETWORK_SETTINGS = ["gai.conf", "host.conf", "hosts", "protocols", "resolv.conf", "services"];

async function settings(network: boolean): Promise<string[]> {
  const names = network ? [...SETTINGS, ...NETWORK_SETTINGS] : SETTINGS;
  const found = await Promise.all(names.map((name) => kindOf(`/etc/${name}`)));
  return names
    .filter((_name, index) => found[index])
    .map((name) => `/etc/${name}`)
    .flatMap((path) => [...around(path), "--ro-bind", path, path]);
}

interface Place {
  readonly path: string;
  readonly access: "read" | "write" | "hidden";
}

/** From the outside in, so that what lies deeper holds: a hidden folder in a readable one, the workspace in a hidden one. */
async function asked({ workspace, readable, writable, hidden }: Confinement): Promise<string[]> {
  const covers = await existing(hidden);
  // The workspace alone may lie in something hidden.
  const isOpen = ({ path }: Place): boolean =>
    !covers.some((cover) => isIn(path, cover.path) && !(isIn(path, workspace) && isIn(workspace, cover.path)));
  const given = [...named(await existing(readable), "read"), ...named(await existing(writable), "write")].filter(
    isOpen,
  );
  const places = [...given, { path: workspace, access: "write" as const }];
  const shown = [...OF_PROGRAMS.map((path) => ({ path })), ...places];
  const kinds = new Map(covers.map(({ path, kind }) => [path, kind]));
  const covered = named(covers, "hidden").filter(({ path }) =>
    shown.some((place) => isIn(path, place.path) && !(place.path === workspace && path === workspace)),
  );
  return [...places, ...covered]
    .toSorted((a, b) => depth(a.path) - depth(b.path))
    .flatMap(({ path, access }) => {
      if (access === "read") return [...around(path), "--ro-bind", path, path];
      if (access === "write") return [...around(path), "--bind", path, path];
      return kinds.get(path) === "folder" ? ["--perms", "0555", "--tmpfs", path] : ["--ro-bind", "/dev/null", path];
    });
}

const named = (found: readonly Existing[], access: Place["access"]): Place[] =>
  found.map(({ path }) => ({ path, access }));
const depth = (path: string): number => path.split(sep).length;
const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === sep ? sep : folder + sep);

interface Existing {
  /** Without links in it. */
  readonly path: string;
  readonly kind: "folder" | "file";
}

async function existing(paths: readonly string[]): Promise<Existing[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const real = await realpath(path).catch(() => undefined);
      const kind = real === undefined ? undefined : await kindOf(real);
      return real !== undefined && kind ? [{ path: real, kind }] : [];
    }),
  );
  return found.flat();
}

async function kindOf(path: string): Promise<Existing["kind"] | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  return found.isDirectory() ? "folder" : "file";
}
