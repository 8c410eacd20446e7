// A link that leads a procedure's files out of the workspace: whoever may write there would have the service read what he may not.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import fsp from "node:fs/promises";
import { join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import {
  at,
  config,
  home,
  library,
  libraryForEachTest,
  names,
  patched,
  STEPS,
  toml,
  write,
} from "./library-fixture.ts";

libraryForEachTest();

describe("links", () => {
  test("within the workspace lead to a procedure", async () => {
    write("../elsewhere/a");
    write("real");
    symlinkSync(join(home.path, "elsewhere/a"), at("linked"));
    writeFileSync(join(home.path, "steps.md"), STEPS);
    rmSync(at("real/SOP.md"));
    symlinkSync("../../steps.md", at("real/SOP.md"));
    await library.reload();
    expect(names()).toEqual(["linked", "real"]);
  });

  test("out of it are refused, whichever part of the way is one", async () => {
    using outside = temporaryHome();
    mkdirSync(join(outside.path, "sop"));
    writeFileSync(join(outside.path, "sop/SOP.toml"), toml());
    writeFileSync(join(outside.path, "sop/SOP.md"), STEPS);
    write("file");
    rmSync(at("file/SOP.toml"));
    symlinkSync(join(outside.path, "sop/SOP.toml"), at("file/SOP.toml"));
    symlinkSync(join(outside.path, "sop"), at("dir"));
    await library.reload();
    expect(names()).toEqual([]);
    expect(library.broken().map(({ problem }) => problem)).toEqual([
      expect.stringContaining("out of the workspace"),
      expect.stringContaining("out of the workspace"),
    ]);
    rmSync(config.folder, { recursive: true });
    symlinkSync(outside.path, config.folder);
    await library.reload();
    expect(names()).toEqual([]);
    expect(library.broken()).toEqual([{ name: "sop", problem: expect.stringContaining("out of the workspace") }]);
  });
});

test("a link that leads out only at the moment of the opening is found out", async () => {
  using outside = temporaryHome();
  writeFileSync(join(outside.path, "SOP.toml"), toml("/stolen"));
  write("a");
  const file = at("a/SOP.toml");
  rmSync(file);
  symlinkSync(join(outside.path, "SOP.toml"), file);
  const { realpath } = fsp;
  let swaps = 0;
  const swap: typeof realpath = ((path: string) => {
    if (path === file) {
      swaps += 1;
      rmSync(file);
      writeFileSync(file, toml("/good"));
    }
    return realpath(path);
  }) as typeof realpath;
  {
    using _patch = patched({ realpath: swap });
    await library.reload();
  }
  expect(library.hasPath("/stolen")).toBe(false);
  // Nor is it looked at for ever, when it is another one each time.
  expect(swaps).toBeLessThan(2_000);
  await library.reload();
  expect(library.hasPath("/good")).toBe(true);
});
