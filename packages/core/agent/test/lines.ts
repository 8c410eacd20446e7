/** The judge of command lines on a workspace of its own, with a folder `sub` and a symlink `link` that leads out. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { judgeLine, type LineRules } from "../src/policy/command-line.ts";

export interface Lines {
  readonly workspace: string;
  readonly line: (command: string, allowedCommands: string[], more?: Partial<LineRules>) => "allow" | "ask";
}

/** The workspace is gone when the file's tests are over. */
export function openLines(): Lines {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "svc-lines-")));
  mkdirSync(join(workspace, "sub"));
  symlinkSync("/etc", join(workspace, "link"));
  afterAll(() => rmSync(workspace, { recursive: true }));
  const line: Lines["line"] = (command, allowedCommands, more = {}) =>
    judgeLine(command, { allowedCommands, forbiddenPaths: [], workspace, folder: ".", ...more }) === undefined
      ? "allow"
      : "ask";
  return { workspace, line };
}
