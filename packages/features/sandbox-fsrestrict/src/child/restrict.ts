/** Turns this process into one that may do what a command may. There is no way back. */
import { closeSync, constants, fstatSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import type { PathRule, Restriction, SandboxRequest } from "../request.ts";
import { DEVICES, SYSTEM } from "../system-paths.ts";
import { createRuleset, landlockAbi, restrictSelf } from "./landlock.ts";
import { SystemError, attempt, call, errnoName } from "./libc.ts";
import { limitCores, limitCpu, limitPids, limitToMark } from "./limits.ts";
import { canFilter, filterHere, installFilter } from "./seccomp/install.ts";
import { dirname } from "node:path";
import { enterUserNamespace } from "./user-namespace.ts";

/** The filters, by whether there is a network, and every path gone once: what takes time and needs no request. */
export function prepare(): Filters {
  const abi = landlockAbi();
  if (abi < 1 || !canFilter()) return new Map();
  const rules = [...SYSTEM, ...DEVICES].map((path): PathRule => ({ path, access: "read", optional: true }));
  closeSync(createRuleset({ abi, network: false, rules }));
  return new Map([true, false].map((network) => [network, filterHere(network)]));
}

export type Filters = ReadonlyMap<boolean, Buffer>;

/**
 * Everything that does not depend on the command: the limit of memory comes last, because this runtime would run into it. Throws
 * SystemError. Returns whether the limit of processes is in force, or has to come with the command (see user-pids.ts).
 */
export function restrict({ restriction, daemon, mark, folder }: SandboxRequest, filters: Filters): boolean {
  const { rules, network, limits, joins, user } = restriction;
  if (!endWithDaemon(daemon)) throw new SystemError("daemon", "ESRCH");
  const abi = landlockAbi();
  if (abi < 1) throw new SystemError("landlock", errnoName(-abi));
  const filter = filters.get(network) ?? filterHere(network);
  for (const file of joins) writeFileSync(file, "0");
  // As root still. A rule is for what is at a path now: it goes along into the new view.
  const ruleset = createRuleset({ abi, network, rules });
  const ownUsers = makeView(restriction);
  if (folder !== undefined) process.chdir(folder);
  closeOnExec();
  limitToMark(mark);
  limitCores();
  if (limits.cpuSecs !== undefined) limitCpu(limits.cpuSecs);
  if (limits.pids !== undefined && ownUsers) limitPids(limits.pids);
  if (user) becomeUser(user);
  dropCapabilities();
  // Once more: with the change of ids the kernel forgot it.
  endWithDaemon(daemon);
  dropNewPrivileges();
  restrictSelf(ruleset);
  installFilter(filter);
  return limits.pids === undefined || ownUsers;
}

/** Nothing but input, output and errors stays open in the command's own program, whatever this process was started with. */
function closeOnExec(): void {
  call("close_range", "close_range", 3, 0xffff_ffff, CLOSE_RANGE_CLOEXEC);
  for (const fd of [0, 1, 2]) call("fcntl", "fcntl", fd, F_SETFD, 0);
}

const CLOSE_RANGE_CLOEXEC = 4;
const F_SETFD = 2;

// Who the command is, and what it may never become.

/** Gives up root for good. Throws SystemError. */
function becomeUser({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
  call("setgroups", "setgroups", 0, null);
  call("setresgid", "setresgid", gid, gid, gid);
  call("setresuid", "setresuid", uid, uid, uid);
}

/**
 * Every capability, also those that root has by being root and those that a service manager handed over. What can't be given up
 * because it was not there is no failure; that none is left in force is.
 */
function dropCapabilities(): void {
  attempt("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (let capability = 0; attempt("prctl", PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability += 1) {
    attempt("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  attempt("prctl", PR_SET_SECUREBITS, NO_ROOT_POWERS, 0, 0, 0);
  const header = Buffer.alloc(8);
  header.writeUInt32LE(LINUX_CAPABILITY_VERSION_3, 0);
  call("capset", "capset", header, Buffer.alloc(24));
}

/** Set-user-ID programs give nothing any more. Landlock and seccomp ask for it. */
const dropNewPrivileges = (): number => call("no_new_privs", "prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

/**
 * This process, and the command's own program that it becomes, end with the daemon. A change of ids turns it off. False: the
 * daemon has ended already.
 */
function endWithDaemon(daemon: number): boolean {
  call("pdeathsig", "prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return process.ppid === daemon;
}

const SIGKILL = 9;
const PR_SET_PDEATHSIG = 1;
const PR_CAPBSET_READ = 23;
const PR_CAPBSET_DROP = 24;
const PR_SET_SECUREBITS = 28;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
/** `SECBIT_NOROOT | NO_SETUID_FIXUP | KEEP_CAPS_LOCKED | NO_CAP_AMBIENT_RAISE`, each locked: capabilities(7). */
const NO_ROOT_POWERS = 0b1110_1111;
const LINUX_CAPABILITY_VERSION_3 = 0x2008_0522;

// What Landlock does not see: modes, owners, times and attributes of files. In a mount namespace of the child's own everything is read-only
// but what the command may write. And root's workspace often lies in a folder that no other user can pass (`/root`): an empty one is put
// over that, and what the command may use is put back at its own path.

/** True: in a user namespace, too. Throws SystemError `mount-namespace`, `user-namespace` where that is not permitted. */
function makeView({ rules, user }: Restriction): boolean {
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
  const opened = rules
    .filter(({ path }) => path.startsWith(`${cover}/`) && isThere(path))
    .map(({ path }) => ({ path, fd: openSync(path, O_PATH) }));
  mount("tmpfs", cover, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711,size=64k");
  // The folders on the way are to be passed by the user, whatever the daemon's files are made with.
  const mask = process.umask(0);
  for (const { path, fd } of opened) putBack(path, fd);
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
