// The commit in a binary must name its sources: equal in two clones, marked when the sources differ from it, and never
// the commit of some other repository that the sources happen to lie in.
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sourceOf } from "../src/source.ts";

describe("sourceOf", () => {
  let root: string;
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
      encoding: "utf8",
    }).trim();

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "svc-source-"));
    git("init", "-q");
    mkdirSync(join(root, "packages"));
    writeFileSync(join(root, "packages/a.ts"), "1");
    git("add", ".");
    git("commit", "-q", "-m", "first", "--no-gpg-sign");
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("seven characters of the commit while the sources are those of the commit", async () => {
    const revision = git("rev-parse", "HEAD");
    writeFileSync(join(root, "notes.md"), "what is no source changes nothing");
    expect(await sourceOf(root)).toEqual({ commit: revision.slice(0, 7), revision, dirty: false });
  });

  test("-dirty when a source was changed or added", async () => {
    writeFileSync(join(root, "packages/b.ts"), "2");
    expect(await sourceOf(root)).toMatchObject({ commit: expect.stringMatching(/^[0-9a-f]{7}-dirty$/), dirty: true });
  });

  test("unknown inside of another repository, and without one", async () => {
    const unknown = { commit: "unknown", revision: null, dirty: null };
    expect(await sourceOf(join(root, "packages"))).toEqual(unknown);
    expect(await sourceOf(join(root, "nowhere"))).toEqual(unknown);
  });
});
