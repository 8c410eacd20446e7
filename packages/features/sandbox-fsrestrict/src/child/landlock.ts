/** Landlock, https://docs.kernel.org/userspace-api/landlock.html: what the file system allows to a process and its children. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { PathRule } from "../request.ts";
import { attempt, call } from "./libc.ts";

/** `LANDLOCK_ACCESS_FS_*` */
const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const MAKE_CHAR = 1n << 6n;
const MAKE_BLOCK = 1n << 11n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;
/** A rule for a file that carries more than these is refused. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const RIGHTS: Readonly<Record<PathRule["access"], bigint>> = {
  read: EXECUTE | READ_FILE | READ_DIR,
  write: 0xffffn & ~(MAKE_CHAR | MAKE_BLOCK),
  device: READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
};

/** How many rights each version knows, from 1 on: REFER came with 2, TRUNCATE with 3, IOCTL_DEV with 5. */
const KNOWN = [13n, 14n, 15n, 15n, 16n] as const;
/** `LANDLOCK_ACCESS_NET_BIND_TCP | CONNECT_TCP`, `LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | SIGNAL` */
const TCP = 3n;
const SCOPE = 3n;
const ABI_TCP = 4;
const ABI_SCOPE = 6;

/** The version of the kernel's Landlock, or `-errno`: ENOSYS where it was not built in, EOPNOTSUPP where it was not turned on. */
export const landlockAbi = (): number => attempt("landlock_create_ruleset", null, 0, CREATE_RULESET_VERSION);
const CREATE_RULESET_VERSION = 1;

export interface RulesetOptions {
  readonly abi: number;
  readonly network: boolean;
  readonly rules: readonly PathRule[];
}

/** A file descriptor for `restrictSelf`. Throws SystemError, and what opening a path throws. */
export function createRuleset({ abi, network, rules }: RulesetOptions): number {
  const all = allOf(abi);
  const attributes = Buffer.alloc(abi >= ABI_SCOPE ? 24 : abi >= ABI_TCP ? 16 : 8);
  attributes.writeBigUInt64LE(all, 0);
  if (abi >= ABI_TCP && !network) attributes.writeBigUInt64LE(TCP, 8);
  if (abi >= ABI_SCOPE) attributes.writeBigUInt64LE(SCOPE, 16);
  const ruleset = call("landlock_create_ruleset", "landlock_create_ruleset", attributes, attributes.byteLength, 0);
  for (const rule of rules) addRule(ruleset, rule, all);
  return ruleset;
}

/** Throws SystemError. From here on, and for good. */
export function restrictSelf(ruleset: number): void {
  call("landlock_restrict_self", "landlock_restrict_self", ruleset, 0);
}

const allOf = (abi: number): bigint => (1n << KNOWN[Math.min(abi, KNOWN.length) - 1]!) - 1n;

function addRule(ruleset: number, { path, access, optional }: PathRule, all: bigint): void {
  const fd = opened(path, optional);
  if (fd === undefined) return;
  try {
    // struct landlock_path_beneath_attr, packed
    const beneath = Buffer.alloc(12);
    beneath.writeBigUInt64LE(all & (fstatSync(fd).isDirectory() ? RIGHTS[access] : RIGHTS[access] & OF_FILES), 0);
    beneath.writeInt32LE(fd, 8);
    call("landlock_add_rule", "landlock_add_rule", ruleset, PATH_BENEATH, beneath, 0);
  } finally {
    closeSync(fd);
  }
}

const PATH_BENEATH = 1;
const O_PATH = 0o10000000;

function opened(path: string, optional: boolean | undefined): number | undefined {
  try {
    return openSync(path, O_PATH | constants.O_NONBLOCK);
  } catch (error) {
    if (optional) return undefined;
    throw error;
  }
}
