// The fakes that other tests stand on: a clock that only moves by hand, a home that goes away, a skip that is seen.
import { existsSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeClock, settled } from "../src/fake-clock.ts";
import { fakeToolContext } from "../src/fake-tool-context.ts";
import { fakeWorkspace } from "../src/fake-workspace.ts";
import { requireReal } from "../src/require-real.ts";
import { temporaryHome } from "../src/temporary-home.ts";

describe("fakeClock", () => {
  test("fires what is due in order of time, each at its own time, and nothing else", async () => {
    const clock = fakeClock();
    const seen: [string, number][] = [];
    const note = (name: string) => () => seen.push([name, clock.monotonic()]);
    clock.after(20, note("b"));
    clock.after(10, () => {
      note("a")();
      clock.after(5, note("made on the way"));
    });
    clock.after(21, note("too late"));
    clock.after(1, note("cancelled"))();
    await clock.advance(20);
    expect(seen).toEqual([
      ["a", 10],
      ["made on the way", 15],
      ["b", 20],
    ]);
    expect([clock.monotonic(), clock.waiting]).toEqual([20, 1]);
  });

  test("wakes sleepers, and rejects with the signal's reason when they are called off", async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const [long, off] = [clock.sleep(1000), clock.sleep(1000, controller.signal)];
    controller.abort("enough");
    await expect(off).rejects.toBe("enough");
    await expect(clock.sleep(1, controller.signal)).rejects.toBe("enough");
    await clock.advance(1000);
    await expect(long).resolves.toBeUndefined();
    expect(clock.waiting).toBe(0);
  });

  test("the wall clock jumps without the monotonic one", async () => {
    const clock = fakeClock(1000);
    clock.setWallClock(50);
    await clock.advance(5);
    expect([clock.now(), clock.monotonic()]).toEqual([55, 5]);
  });
});

describe("temporaryHome", () => {
  test("is private, and gone afterwards with all that is in it", () => {
    let path = "";
    {
      using home = temporaryHome();
      path = home.path;
      writeFileSync(`${path}/file`, "x");
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }
    expect(existsSync(path)).toBe(false);
  });
});

describe("requireReal", () => {
  const part = { name: "bubblewrap", reason: "bwrap is not on PATH" };
  const skipping = {
    skip: (note?: unknown): never => {
      throw new Error(`skipped: ${String(note)}`);
    },
  };

  test("skips with the reason where it is not required", () => {
    expect(() => requireReal(skipping, part, {})).toThrow(
      "skipped: real part missing (tier A): bubblewrap: bwrap is not on PATH",
    );
  });

  test("fails where it is required, for tier A only", () => {
    const env = { SVC_REQUIRE_REAL: "1" };
    expect(() => requireReal(skipping, part, env)).toThrow(/^bubblewrap is required here/);
    expect(() => requireReal(skipping, { ...part, tier: "B" }, env)).toThrow(/^skipped: .*tier B/);
  });
});

describe("fakeWorkspace", () => {
  const workspace = () => fakeWorkspace({ "a.txt": "hello", "sub/b.txt": "b" });
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

  test("reads, from an offset, and says when there is more", async () => {
    const { bytes, truncated } = await workspace().read("a.txt", 2, 1);
    expect([text(bytes), truncated]).toEqual(["el", true]);
    expect((await workspace().read("/workspace/a.txt", 99)).truncated).toBe(false);
  });

  test("writes, appends, lists and removes", async () => {
    const files = workspace();
    await files.write("sub/c.txt", new TextEncoder().encode("1"), "replace");
    await files.write("sub/c.txt", new TextEncoder().encode("2"), "append");
    expect(text((await files.read("sub/c.txt", 9)).bytes)).toBe("12");
    expect(await files.list(".", 9)).toEqual({
      entries: [
        { name: "a.txt", kind: "file", size: 5 },
        { name: "sub", kind: "directory", size: 0 },
      ],
      truncated: false,
    });
    expect((await files.list(".", 1)).truncated).toBe(true);
    expect([await files.remove("a.txt"), await files.remove("a.txt")]).toEqual([true, false]);
  });

  test.each(["../x", "/etc/passwd", "sub/../../x", "/workspace2/x"])("refuses %s", async (path) => {
    await expect(workspace().read(path, 1)).rejects.toMatchObject({ code: "PATH_OUTSIDE_WORKSPACE" });
  });
});

test("fakeToolContext: calls answer what the test says, and honour their own signal and the turn's", async () => {
  const context = fakeToolContext({
    exec: () => ({ stdout: "hi" }),
    fetch: (url) => ({ status: 404, url: `${url}!` }),
  });
  expect(await context.exec({ command: "x" })).toMatchObject({ exitCode: 0, stdout: "hi" });
  expect(await context.fetch("u")).toMatchObject({ status: 404, url: "u!" });
  const own = new AbortController();
  const hanging = fakeToolContext({ hang: true }).exec({ command: "x", signal: own.signal });
  await settled();
  own.abort("enough");
  await expect(hanging).rejects.toBe("enough");
});
