/** bubblewrap's program on this machine, and why it can't be used: https://github.com/containers/bubblewrap */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { SvcError } from "@svc/contract";
import { findProgram } from "@svc/kit/process";

export interface Bubblewrap {
  /** Absolute path. */
  readonly bwrap: string;
  /** setpriv(1), for root's commands, which become somebody else's. */
  readonly setpriv: string | undefined;
  /** `--disable-userns`, from 0.8 on. */
  readonly disableUserns: boolean;
}

/** Throws SANDBOX_UNAVAILABLE with a sentence. */
export async function findBubblewrap(path?: string): Promise<Bubblewrap> {
  if (process.platform !== "linux") throw unavailable("bubblewrap needs Linux.");
  const [bwrap, setpriv] = await Promise.all([findProgram("bwrap", path), findProgram("setpriv", path)]);
  if (bwrap === undefined) throw unavailable("bwrap is not installed: install the package bubblewrap.");
  const version = await versionOf(bwrap);
  if (version < OLDEST) throw unavailable("bubblewrap is too old: 0.7 or newer is needed.");
  return { bwrap, setpriv, disableUserns: version >= DISABLES_USERNS };
}

/** `--perms` and `--size` came with these. Major times a thousand, plus minor. */
const OLDEST = 7;
const DISABLES_USERNS = 8;

async function versionOf(bwrap: string): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)(bwrap, ["--version"], { env: {}, timeout: 5000 });
    const [, major, minor] = /(\d{1,6})\.(\d{1,6})/.exec(stdout) ?? [];
    return Number(major) * 1000 + Number(minor);
  } catch {
    throw unavailable("bwrap does not start.");
  }
}

/** What is in the way when bwrap could not make its namespaces. */
export async function whyNoNamespaces(said: string): Promise<SvcError> {
  const forbids = async (file: string, value: string): Promise<boolean> =>
    (await readFile(file, "utf8").catch(() => "")).trim() === value;
  if (await forbids("/proc/sys/kernel/unprivileged_userns_clone", "0")) {
    return unavailable("User namespaces are forbidden here: sysctl kernel.unprivileged_userns_clone is 0.");
  }
  if (await forbids("/proc/sys/user/max_user_namespaces", "0")) {
    return unavailable("User namespaces are forbidden here: sysctl user.max_user_namespaces is 0.");
  }
  if (await forbids("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")) {
    return unavailable(
      "AppArmor forbids user namespaces here: give bwrap a profile with userns, or set sysctl kernel.apparmor_restrict_unprivileged_userns to 0.",
    );
  }
  if (/source path/.test(said))
    return unavailable("bubblewrap can't reach the workspace or another folder of the config.");
  return unavailable("bubblewrap could not make its namespaces here; a container often forbids them.");
}

export const unavailable = (message: string): SvcError => new SvcError("SANDBOX_UNAVAILABLE", message);
