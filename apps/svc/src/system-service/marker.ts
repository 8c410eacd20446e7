/** The line by which svc knows a file it wrote, and that nobody has changed it since. */
import { createHash } from "node:crypto";

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
