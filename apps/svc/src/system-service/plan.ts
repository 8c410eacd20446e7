/** What a service is made of, whoever manages it, and the mark by which svc knows a file that it wrote. */
import { createHash } from "node:crypto";
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

/** The line by which svc knows a file it wrote, and that nobody has changed it since. */
const MARKER = /Made by svc service install, sha256 ([0-9a-f]{64})/;

/** `ours`: as svc wrote it. `edited`: svc wrote it, somebody changed it. `foreign`: svc did not write it. */
export type Origin = "ours" | "edited" | "foreign";

/** `body` with the marker as a comment before it. */
export function sealed(open: string, close: string, body: string, before = ""): string {
  const comment = [open, `Made by svc service install, sha256 ${digest(before + body)}`, close].join(" ").trim();
  return `${before}${comment}\n${body}`;
}

export function originOf(text: string): Origin {
  const lines = text.split("\n");
  const index = lines.findIndex((line) => MARKER.test(line));
  const written = MARKER.exec(lines[index] ?? "")?.[1];
  if (written === undefined) return "foreign";
  const rest = [...lines.slice(0, index), ...lines.slice(index + 1)].join("\n");
  return digest(rest) === written ? "ours" : "edited";
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
