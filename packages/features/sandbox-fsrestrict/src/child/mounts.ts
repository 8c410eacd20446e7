/**
 * What Landlock does not see: modes, owners, times and attributes of files. In a mount namespace of the child's own everything
 * is read-only but what the command may write. And root's workspace often lies in a folder that no other user can pass
 * (`/root`): an empty one is put over that, and what the command may use is put back at its own path.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { PathRule, Restriction } from "../request.ts";
import { attempt, call } from "./libc.ts";
import { enterUserNamespace } from "./user-namespace.ts";

/** True: in a user namespace, too. Throws SystemError `mount-namespace`, `user-namespace` where that is not permitted. */
export function makeView({ rules, user }: Restriction): boolean {
  const covers = user ? coversFor(rules, user) : [];
  const isRoot = process.getuid!() === 0;
  if (!isRoot) enterUserNamespace();
  else if (attempt("unshare", CLONE_NEWNS) < 0) {
    // Without one the other user's lack of rights keeps those files as they are.
    if (user && covers.length === 0) return false;
    call("mount-namespace", "unshare", CLONE_NEWNS);
  }
  // Else the machine would see it all.
  mount("none", "/", null, MS_REC | MS_SLAVE, null);
  for (const cover of covers) coverFolder(cover, rules);
  const writable = rules.filter(({ path, access }) => access === "write" && isThere(path)).map(({ path }) => path);
  for (const path of writable) mount(path, path, null, MS_BIND | MS_REC, null);
  setReadOnly("/", true);
  for (const path of writable) setReadOnly(path, false);
  return !isRoot;
}

/** Topmost folders above a rule's path that the user can't pass, each once. */
function coversFor(rules: readonly PathRule[], user: NonNullable<Restriction["user"]>): string[] {
  const covers = rules.map(({ path }) => ancestors(path).find((folder) => !canPass(folder, user)));
  return [...new Set(covers.filter((cover) => cover !== undefined))];
}

/** From the top, without `/` and without itself. */
function ancestors(path: string): string[] {
  const above = dirname(path);
  return above === "/" ? [] : [...ancestors(above), above];
}

function canPass(folder: string, { uid, gid }: NonNullable<Restriction["user"]>): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) return true;
  if (stats.uid === uid) return (stats.mode & constants.S_IXUSR) !== 0;
  if (stats.gid === gid) return (stats.mode & constants.S_IXGRP) !== 0;
  return (stats.mode & constants.S_IXOTH) !== 0;
}

function coverFolder(cover: string, rules: readonly PathRule[]): void {
  // Held open: by its path it can't be reached once it is covered.
  const kept = rules
    .filter(({ path }) => path.startsWith(`${cover}/`) && isThere(path))
    .map(({ path }) => ({ path, fd: openSync(path, O_PATH) }));
  mount("tmpfs", cover, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711,size=64k");
  // The folders on the way are to be passed by the user, whatever the daemon's files are made with.
  const mask = process.umask(0);
  for (const { path, fd } of kept) putBack(path, fd);
  process.umask(mask);
}

function putBack(path: string, fd: number): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
    if (fstatSync(fd).isDirectory()) mkdirSync(path, { recursive: true, mode: 0o711 });
    else writeFileSync(path, "", { mode: 0o400 });
    mount(`/proc/self/fd/${fd}`, path, null, MS_BIND | MS_REC, null);
  } finally {
    closeSync(fd);
  }
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

const mount = (from: string, to: string, type: string | null, flags: number, data: string | null): number =>
  call("mount", "mount", from, to, type, flags, data);

/** mount_setattr(2), of Linux 5.12: a folder with all that is mounted below it. */
function setReadOnly(path: string, on: boolean): void {
  // struct mount_attr: what to set, what to clear
  const attributes = Buffer.alloc(32);
  attributes.writeBigUInt64LE(MOUNT_ATTR_RDONLY, on ? 0 : 8);
  call("mount-read-only", "mount_setattr", AT_FDCWD, path, AT_RECURSIVE, attributes, attributes.byteLength);
}

const O_PATH = 0o10000000 | constants.O_NONBLOCK;
const AT_FDCWD = -100;
const AT_RECURSIVE = 0x8000;
const MOUNT_ATTR_RDONLY = 1n;
const CLONE_NEWNS = 0x2_0000;
const MS_NOSUID = 2;
const MS_NODEV = 4;
const MS_NOEXEC = 8;
const MS_BIND = 4096;
const MS_REC = 16_384;
const MS_SLAVE = 524_288;
