// What is installed is what somebody agreed to: shown, asked, and checked before a byte of it is kept. Here a person says yes and no,
// a script says it all by options, and plugins come again as upgrades, downgrades, from elsewhere, wanting more.
import { captureLogger } from "@svc/testkit/capture-logger";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOf, readPlugins } from "../../src/installed.ts";
import { plugin, type CommandSetup } from "./fixture.ts";
import { type Sample, sampleWasm, writeSample } from "./sample.ts";

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

describe("at a terminal", () => {
  test("a person sees what it is before they are asked, and yes installs it", async () => {
    writeSample(source, { hosts: ["api.example.org"] });
    const { end, printed, asked, reloads } = await install({ answers: [true] });
    expect({ end, asked, reloads }).toEqual({ end: 0, asked: ["Install weather?"], reloads: 1 });
    for (const text of ["weather 1.0.0", "Tells the weather.", source, HASH, "api.example.org", "64 MiB of memory"]) {
      expect(printed).toContain(text);
    }
    expect(printed.split("\n").slice(-2)).toEqual(["weather 1.0.0 is installed", "started anew: plugins-wasm"]);
    expect(await installed()).toEqual(["weather 1.0.0"]);
  });

  test("no leaves nothing", async () => {
    writeSample(source);
    expect(await install({ answers: [false] })).toMatchObject({ end: "PLUGIN_REFUSED", reloads: 0 });
    expect(left()).toEqual([]);
  });

  test("plugins that are off are turned on if the person wants it", async () => {
    writeSample(source);
    expect(await install({ answers: [true, false], isEnabled: false })).toMatchObject({
      end: 0,
      enabled: false,
      reloads: 0,
    });
    const again = await install({ answers: [true], isEnabled: false });
    expect(again).toMatchObject({
      end: 0,
      enabled: true,
      reloads: 1,
      asked: ["Plugins are off in the config. Turn them on?"],
    });
  });
});

describe("without a terminal", () => {
  test("nobody agreed, nothing is installed, and how to agree is said", async () => {
    writeSample(source, { hosts: ["a.example"] });
    for (const options of [{}, { yes: true }, { sha256: HASH }, { "allow-host": ["a.example"] }, { json: true }]) {
      const { end, error } = await install({ options });
      expect(end).toBe("PLUGIN_REFUSED");
      expect(error?.hint).toContain("--sha256 <hash>");
    }
    expect(left()).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    ["too few", ["a.example"]],
    ["too many", ["a.example", "b.example", "c.example"]],
    ["others", ["a.example", "c.example"]],
    ["one twice", ["a.example", "a.example"]],
  ])("%s hosts are not those that it wants", async (_, hosts) => {
    writeSample(source, { hosts: ["a.example", "b.example"] });
    expect((await install({ options: { sha256: HASH, "allow-host": hosts } })).end).toBe("PLUGIN_REFUSED");
    expect(left()).toEqual([]);
  });

  test("the hash and exactly the hosts are an agreement", async () => {
    writeSample(source, { hosts: ["a.example", "b.example:8443"] });
    const options = { sha256: HASH.toUpperCase(), "allow-host": ["B.example:8443", "a.example"] };
    expect((await install({ options })).end).toBe(0);
    expect(await installed()).toEqual(["weather 1.0.0"]);
  });

  test("a script gets one JSON, and turns plugins on only with --yes", async () => {
    writeSample(source);
    const first = await install({ options: { sha256: HASH, json: true }, isEnabled: false });
    expect(JSON.parse(first.printed)).toMatchObject({
      installed: { name: "weather", tool: "plugin_weather", source },
      changed: true,
      enabled: false,
    });
    const second = await install({ options: { sha256: HASH, json: true, yes: true }, isEnabled: false });
    expect(JSON.parse(second.printed)).toMatchObject({ changed: false, enabled: true });
    expect(second.enabled).toBe(true);
  });
});

test("another file than the hash says is not even asked about", async () => {
  writeSample(source);
  expect(await install({ answers: [], options: { sha256: "0".repeat(64) } })).toMatchObject({
    end: "PLUGIN_CHANGED",
    asked: [],
  });
  writeSample(source, { sha256: "0".repeat(64) });
  expect(await install({ answers: [] })).toMatchObject({ end: "PLUGIN_CHANGED", asked: [] });
  expect(left()).toEqual([]);
});

describe("one that is there already", () => {
  beforeEach(async () => {
    writeSample(source, { hosts: ["a.example"], version: "1.5.0" });
    await install({ answers: [true] });
  });
  const again = (sample: Sample, setup: Omit<CommandSetup, "home">, from = source) =>
    install(setup, writeSample(from, sample));

  test("the same again: nothing to agree to, nothing changes", async () => {
    const before = left();
    expect(await install({ answers: [] })).toMatchObject({
      end: 0,
      printed: expect.stringContaining("was installed already"),
    });
    expect(left()).toEqual(before);
  });

  test.each<[string, Sample, string]>([
    ["an upgrade", { version: "1.6.0", hosts: ["a.example"] }, "an upgrade from 1.5.0"],
    ["a downgrade", { version: "1.4.9", hosts: ["a.example"] }, "a DOWNGRADE from 1.5.0"],
    [
      "the same version of another file",
      { version: "1.5.0", hosts: ["a.example"], wasm: sampleWasm("x") },
      "but another file",
    ],
    [
      "more hosts",
      { version: "1.6.0", hosts: ["a.example", "b.example"] },
      "it could not reach these so far: b.example",
    ],
  ])("%s is said to be one, and asked about", async (_, sample, text) => {
    const { end, printed, asked } = await again(sample, { answers: [false] });
    expect({ end, asked }).toEqual({ end: "PLUGIN_REFUSED", asked: ["Replace weather, which is installed?"] });
    expect(printed).toContain(text);
    expect(await installed()).toEqual(["weather 1.5.0"]);
    expect((await again(sample, { answers: [true] })).end).toBe(0);
    expect(await installed()).toEqual([`weather ${sample.version}`]);
  });

  test("an upgrade leaves one release", async () => {
    await again({ version: "1.6.0" }, { answers: [true] });
    await again({ version: "1.7.0" }, { answers: [true] });
    await again({ name: "other" }, { answers: [true] });
    const releases = readdirSync(join(home.path, "plugins/weather")).filter((name) => name !== "approved.json");
    expect(releases).toHaveLength(1);
  });

  test("options that agreed to fewer hosts agree to no more", async () => {
    const options = { sha256: HASH, "allow-host": ["a.example"] };
    expect((await again({ version: "1.6.0", hosts: ["a.example", "b.example"] }, { options })).end).toBe(
      "PLUGIN_REFUSED",
    );
    expect(await installed()).toEqual(["weather 1.5.0"]);
  });

  test("from another place it takes --yes as well", async () => {
    const elsewhere = join(home.path, "elsewhere");
    const options = { sha256: HASH, "allow-host": ["a.example"] };
    const sample = { version: "1.6.0", hosts: ["a.example"] };
    const refused = await again(sample, { options }, elsewhere);
    expect(refused).toMatchObject({
      end: "PLUGIN_REFUSED",
      error: { message: expect.stringContaining("another place") },
    });
    expect(refused.printed).toContain(`it was installed from another place: ${source}`);
    expect((await again(sample, { options: { ...options, yes: true } }, elsewhere)).end).toBe(0);
  });

  test("what was changed by hand is told, and repaired by installing it again", async () => {
    const release = readdirSync(join(home.path, "plugins/weather")).find((name) => name !== "approved.json");
    writeFileSync(join(home.path, "plugins/weather", release!, "plugin.wasm"), "x");
    expect(await installed()).toEqual(["PLUGIN_CHANGED"]);
    const { end, asked, printed } = await install({ answers: [true] });
    expect({ end, asked }).toEqual({ end: 0, asked: ["Replace weather, which is broken?"] });
    expect(printed).toContain("is not what was approved");
    expect(await installed()).toEqual(["weather 1.5.0"]);
  });

  test("a folder that was never approved is replaced by one that is", async () => {
    rmSync(join(home.path, "plugins/weather/approved.json"));
    chmodSync(join(home.path, "plugins/weather"), 0o777);
    const { end, printed } = await install({ answers: [true] });
    expect(end).toBe(0);
    expect(printed).toContain("never approved");
    expect(await installed()).toEqual(["weather 1.5.0"]);
  });

  test("a link in its place is left alone", async () => {
    rmSync(join(home.path, "plugins/weather"), { recursive: true });
    mkdirSync(join(home.path, "outside"), { mode: 0o755 });
    symlinkSync(join(home.path, "outside"), join(home.path, "plugins/weather"));
    expect((await install({ answers: [true] })).end).toBe("PLUGIN_REFUSED");
    expect(readdirSync(join(home.path, "outside"))).toEqual([]);
    expect(statSync(join(home.path, "outside")).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(home.path, "plugins")).toSorted()).toEqual([".lock", "weather"]);
  });

  test("while the person thinks, another install is quicker: theirs is not put on top of it", async () => {
    const other = writeSample(join(home.path, "other"), { version: "9.0.0" });
    const overtaken = async (): Promise<boolean> => {
      expect((await install({ options: { sha256: HASH, yes: true } }, other)).end).toBe(0);
      return true;
    };
    expect((await again({ version: "1.6.0" }, { answers: [overtaken] })).end).toBe("PLUGIN_CHANGED");
    expect(await installed()).toEqual(["weather 9.0.0"]);
  });
});

describe("a folder that is no plugin", () => {
  test.each<[string, () => void]>([
    ["is missing", () => {}],
    ["is a file", () => writeFileSync(source, "")],
    ["is empty", () => mkdirSync(source)],
    ["has no wasm file", () => (writeSample(source), rmSync(join(source, "plugin.wasm")))],
    ["has a plugin.toml that is a link", () => (writeSample(source), linkAway("plugin.toml"))],
    ["has a wasm file that is a link", () => (writeSample(source), linkAway("plugin.wasm"))],
    [
      "has a plugin.toml without an end",
      () => (writeSample(source), writeFileSync(join(source, "plugin.toml"), "#".repeat(17_000))),
    ],
  ])("%s", async (_, make) => {
    make();
    expect(await install({ answers: [] })).toMatchObject({ end: "PLUGIN_INVALID", asked: [] });
    expect(left()).toEqual([]);
  });

  function linkAway(name: string): void {
    const aside = join(home.path, "aside");
    writeFileSync(aside, readFileSync(join(source, name)));
    rmSync(join(source, name));
    symlinkSync(aside, join(source, name));
  }
});
