// A change that nobody notices until the next start: of files, of folders, of the folder of all, where the system tells of it
// and where it does not.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { at, clock, config, home, library, libraryForEachTest, names, toml, write } from "./library-fixture.ts";

libraryForEachTest();

describe("watching sees", () => {
  /** The system tells of a change when it likes. All of the test's time together is less than the 30 s to the next look. */
  let leftMs = 29_000;
  const until = (holds: () => boolean): Promise<void> =>
    vi.waitFor(
      async () => {
        leftMs -= 100;
        if (leftMs > 0) await clock.advance(100);
        expect(holds()).toBe(true);
      },
      { timeout: 120_000, interval: 50 },
    );

  test("a folder that comes, one that is replaced, one that goes", async () => {
    library.watch();
    await library.reload();
    write("a");
    await until(() => names().length === 1);
    writeFileSync(at("a/.SOP.toml.tmp"), toml("/renamed"));
    renameSync(at("a/.SOP.toml.tmp"), at("a/SOP.toml"));
    await until(() => library.hasPath("/renamed"));
    renameSync(at("a"), join(home.path, "old-a"));
    write("a", { toml: toml("/new-folder") });
    await until(() => library.hasPath("/new-folder"));
    write("a", { toml: toml("/in-it") });
    await until(() => library.hasPath("/in-it"));
    renameSync(config.folder, join(home.path, "old"));
    write("b", { toml: toml("/b") });
    await until(() => library.hasPath("/b") && !library.hasPath("/in-it"));
    write("b", { toml: toml("/c") });
    await until(() => library.hasPath("/c"));
    rmSync(at("b"), { recursive: true });
    await until(() => names().length === 0);
    expect(library.broken()).toEqual([]);
  });

  test("every 30 seconds what nobody told of, and nothing once stopped", async () => {
    library.watch();
    await library.reload();
    const outside = join(home.path, "elsewhere");
    // Behind a link no change is told.
    config.folder = join(home.path, "far/sops");
    await library.reload();
    mkdirSync(outside);
    mkdirSync(join(home.path, "far"));
    write("a");
    await clock.advance(30_000);
    await vi.waitFor(() => expect(names()).toEqual(["a"]), { timeout: 120_000 });
    library.stop();
    expect(clock.waiting).toBe(0);
  });
});
