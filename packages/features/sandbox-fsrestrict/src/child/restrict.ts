/** Turns this process into one that may do what a command may. There is no way back. */
import { closeSync, writeFileSync } from "node:fs";
import type { PathRule, Restriction, SandboxRequest } from "../request.ts";
import { DEVICES, SYSTEM } from "../system-paths.ts";
import { becomeUser, dropCapabilities, dropNewPrivileges, endWithDaemon } from "./credentials.ts";
import { createRuleset, landlockAbi, restrictSelf } from "./landlock.ts";
import { call, errnoName, SystemError } from "./libc.ts";
import { limitCores, limitCpu, limitPids, limitToMark } from "./limits.ts";
import { makeView } from "./mounts.ts";
import { canFilter, filterHere, installFilter } from "./seccomp/install.ts";

/** The filters, by whether there is a network, and every path gone once: what takes time before a request is there. */
export function prepare(): Filters {
  const abi = landlockAbi();
  if (abi < 1 || !canFilter()) return new Map();
  const rules = [...SYSTEM, ...DEVICES].map((path): PathRule => ({ path, access: "read", optional: true }));
  closeSync(createRuleset({ abi, network: false, rules }));
  return new Map([true, false].map((network) => [network, filterHere(network)]));
}

export type Filters = ReadonlyMap<boolean, Buffer>;

/** Everything but the limit of memory, which this runtime itself would run into. Throws SystemError. */
export function restrict(
  { restriction, daemon, mark, running }: SandboxRequest,
  filters: Filters,
  folder: string | undefined,
): void {
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
  if (limits.pids !== undefined) limitPids(limits.pids, { uid: uidOf(restriction), running, ownUsers });
  if (user) becomeUser(user);
  dropCapabilities();
  // Once more: with the change of ids the kernel forgot it.
  endWithDaemon(daemon);
  dropNewPrivileges();
  restrictSelf(ruleset);
  installFilter(filter);
}

/** Nothing but input, output and errors stays open in the command's own program, whatever this process was started with. */
function closeOnExec(): void {
  call("close_range", "close_range", 3, 0xffff_ffff, CLOSE_RANGE_CLOEXEC);
  for (const fd of [0, 1, 2]) call("fcntl", "fcntl", fd, F_SETFD, 0);
}

const CLOSE_RANGE_CLOEXEC = 4;
const F_SETFD = 2;

const uidOf = ({ user }: Restriction): number => user?.uid ?? process.getuid!();
