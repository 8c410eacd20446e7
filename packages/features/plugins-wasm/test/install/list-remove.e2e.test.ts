// What is installed is listed as it is, and removed as a whole; a name that no plugin has is no path either.
import { captureLogger } from "@svc/testkit/capture-logger";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOf, readPlugins } from "../../src/installed.ts";
import { plugin, type CommandSetup } from "./fixture.ts";
import { sampleWasm, writeSample } from "./sample.ts";

let home: TemporaryHome;
let source = "";
beforeEach(() => {
  home = temporaryHome();
  source = join(home.path, "source");
});
afterEach(() => home.remove());

const HASH = hashOf(sampleWasm());
const install = (setup: Omit<CommandSetup, "home"> = {}, from = source) =>
  plugin(["install", from], { home: home.path, ...setup });
const installed = async (): Promise<string[]> => {
  const { plugins, problems } = await readPlugins(join(home.path, "plugins"), captureLogger());
  return [...plugins.map(({ name, version }) => `${name} ${version}`), ...problems.map(({ code }) => code)];
};
/** What is in the folder of the plugins, whatever it is. */
const left = (): string[] =>
  existsSync(join(home.path, "plugins"))
    ? readdirSync(join(home.path, "plugins"), { recursive: true, encoding: "utf8" }).toSorted()
    : [];

describe("remove", () => {
  beforeEach(async () => {
    writeSample(source);
    await install({ answers: [true] });
  });
  const remove = (name: string, setup: Omit<CommandSetup, "home"> = {}) =>
    plugin(["remove", name], { home: home.path, ...setup });

  test("asks, and yes removes all of it", async () => {
    expect(await remove("weather", { answers: [false] })).toMatchObject({
      end: 1,
      printed: "nothing was changed",
      reloads: 0,
    });
    expect(await installed()).toEqual(["weather 1.0.0"]);
    expect(await remove("weather", { answers: [true] })).toMatchObject({ end: 0, reloads: 1 });
    expect(left()).toEqual([".lock"]);
  });

  test("of a link removes the link", async () => {
    mkdirSync(join(home.path, "outside"));
    writeFileSync(join(home.path, "outside/precious"), "");
    symlinkSync(join(home.path, "outside"), join(home.path, "plugins/linked"));
    expect((await remove("linked", { options: { yes: true } })).end).toBe(0);
    expect(readdirSync(join(home.path, "outside"))).toEqual(["precious"]);
    expect(await installed()).toEqual(["weather 1.0.0"]);
  });

  test.each(["", "sunshine", ".", "..", "../source", "weather/", "/etc", ".lock", "WEATHER"])(
    "of %j there is none",
    async (name) => {
      expect((await remove(name, { options: { yes: true } })).end).toBe("PLUGIN_UNKNOWN");
      expect((await plugin(["info", name], { home: home.path })).end).toBe("PLUGIN_UNKNOWN");
      expect(await installed()).toEqual(["weather 1.0.0"]);
    },
  );
});

describe("list and info", () => {
  test("without a plugin it says how to get one, and makes no folder", async () => {
    const { end, printed } = await plugin(["list"], { home: home.path });
    expect({ end, printed }).toEqual({ end: 0, printed: expect.stringContaining("svc plugin install") });
    expect(existsSync(join(home.path, "plugins"))).toBe(false);
  });

  test("tell what there is, what is wrong, and what runs", async () => {
    writeSample(source, { hosts: ["a.example"] });
    await install({ answers: [true] });
    mkdirSync(join(home.path, "plugins/stray"));
    const { printed } = await plugin(["list"], { home: home.path });
    expect(printed).toContain("weather 1.0.0  Tells the weather.");
    expect(printed).toContain("reaches a.example");
    expect(printed).toContain("stray  LEFT OUT (PLUGIN_CHANGED)");
    expect(JSON.parse((await plugin(["list"], { home: home.path, options: { json: true } })).printed)).toMatchObject({
      enabled: true,
      plugins: [{ name: "weather", tool: "plugin_weather", sha256: HASH, allowed_hosts: ["a.example"] }],
      problems: [{ folder: join(home.path, "plugins/stray"), code: "PLUGIN_CHANGED" }],
    });
    const running = async (setup: Omit<CommandSetup, "home">): Promise<unknown> => {
      const info = await plugin(["info", "weather"], { home: home.path, ...setup, options: { json: true } });
      return (JSON.parse(info.printed) as { running: unknown }).running;
    };
    expect(await running({ runningTools: ["plugin_weather"] })).toBe("yes");
    expect(await running({ runningTools: [] })).toBe("waiting");
    expect(await running({})).toBe("stopped");
    expect(await running({ isEnabled: false })).toBe("off");
    const { printed: info } = await plugin(["info", "weather"], { home: home.path, runningTools: [] });
    for (const text of ["plugin_weather", "see: svc reload", source, HASH, "a.example", "2026-01-01T00:00:00.000Z"])
      expect(info).toContain(text);
    expect((await plugin(["info", "stray"], { home: home.path })).end).toBe("PLUGIN_CHANGED");
  });
});
