// A command that can put a link in the place of its own workspace, or of a folder of the config, chooses what the next command is given.
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { movablePath, type SandboxPaths } from "../src/sandbox/movable-path.ts";

/** What is judged, with names below a folder of its own. */
async function judged(
  make: (at: (...names: string[]) => string) => Partial<SandboxPaths>,
): Promise<string | undefined> {
  using folder = temporaryHome();
  const root = realpathSync(folder.path);
  const at = (...names: string[]): string => join(root, ...names);
  mkdirSync(at("given/deep/work"), { recursive: true });
  mkdirSync(at("home/workspace/sub"), { recursive: true });
  const workspace = at("home/workspace");
  const paths = make(at);
  const whole = { workspace, readable: [], writable: [], hidden: [], ...paths };
  return await movablePath({ workspaces: [whole.workspace], ...whole });
}

describe("is refused", () => {
  test.each<[string, (at: (...names: string[]) => string) => Partial<SandboxPaths>]>([
    ["a workspace in a writable folder", (at) => ({ workspace: at("given/deep/work"), writable: [at("given")] })],
    ["a readable folder in a writable one", (at) => ({ readable: [at("given/deep")], writable: [at("given")] })],
    ["a hidden folder in a writable one", (at) => ({ hidden: [at("given/deep/work")], writable: [at("given")] })],
    ["a writable folder in another one", (at) => ({ writable: [at("given"), at("given/deep")] })],
    ["a readable folder in the workspace", (at) => ({ readable: [at("home/workspace/sub")] })],
    ["a writable one that is not there yet", (at) => ({ writable: [at("home/workspace/later")] })],
    [
      "a workspace in that of another agent",
      (at) => ({ workspace: at("home/workspace/sub"), workspaces: [at("home/workspace/sub"), at("home/workspace")] }),
    ],
    [
      "one that a link in a writable folder leads to",
      (at) => (
        symlinkSync(at("home"), at("given/link")),
        { readable: [at("given/link/workspace")], writable: [at("given")] }
      ),
    ],
    [
      "one whose way leads through a writable folder, and out of it again",
      (at) => {
        symlinkSync(at("given/out"), at("in"));
        symlinkSync("../home", at("given/out"));
        return { workspace: at("other"), readable: [at("in/workspace")], writable: [at("given")] };
      },
    ],
    [
      "one in what a link that is writable leads to",
      (at) => (symlinkSync(at("given"), at("alias")), { readable: [at("given/deep")], writable: [at("alias")] }),
    ],
  ])("%s", async (_name, make) => {
    expect(await judged(make)).toContain("could put a link in its place");
  });
});

describe("is taken", () => {
  test.each<[string, (at: (...names: string[]) => string) => Partial<SandboxPaths>]>([
    ["folders beside each other", (at) => ({ readable: [at("given/deep")], writable: [at("givenmore")] })],
    ["a hidden folder around the workspace", (at) => ({ hidden: [at("home")] })],
    ["the same folder twice", (at) => ({ readable: [at("given")], writable: [at("given")] })],
    ["a workspace in a readable folder", (at) => ({ readable: [at("home"), "/"] })],
    ["links that lead in a circle", (at) => (symlinkSync(at("round"), at("round")), { readable: [at("round")] })],
  ])("%s", async (_name, make) => {
    expect(await judged(make)).toBeUndefined();
  });
});
