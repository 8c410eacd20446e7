/** What a service is made of, whoever manages it. */
import { SvcError } from "@svc/contract";

export interface ServicePlan {
  /** Absolute path of the binary. */
  readonly binary: string;
  /** Absolute path of the home. */
  readonly home: string;
  /** Absolute folders outside of the home that the agents work in. */
  readonly workspaces: readonly string[];
  /** Seconds from being told to stop to being killed. */
  readonly stopSecs: number;
  /** For the whole machine, running as this user; undefined: one user's own. */
  readonly system: { readonly user: string; readonly userHome: string } | undefined;
  /** The build has features that talk to devices. */
  readonly devices: boolean;
}

/** Nothing that is written into a service file may end a line of it, nor be what no file can be called. */
export function assertPlain(what: string, path: string): void {
  if (!path.startsWith("/") && !/^[A-Za-z]:[\\/]/.test(path)) throw unusable(what, "is not absolute");
  if (/\p{Cc}|\p{Cs}|[\u2028\u2029\ufffe\uffff]/u.test(path))
    throw unusable(what, "has a line break or a control character");
}

export const unusable = (what: string, why: string): SvcError =>
  new SvcError("USAGE", `The path of ${what} ${why}: no service can use it.`, {
    hint: "Move it to another path.",
  });
