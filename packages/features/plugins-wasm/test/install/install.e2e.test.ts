// What is installed is what somebody agreed to: shown, asked, and checked before a byte of it is kept. Here a person says yes and no,
// a script says it all by options, and plugins come again as upgrades, downgrades, from elsewhere, wanting more.
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
import { SvcError } from "@svc/contract";
import { captureLogger, type TemporaryHome, temporaryHome } from "@svc/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOf } from "../../src/manifest/approval.ts";
import { readPlugins } from "../../src/manifest/read-plugins.ts";
import { plugin, type Surroundings } from "./house.ts";
import { sampleWasm, type Sample, wasmOf, writeSample } from "./sample.ts";

let home: TemporaryHome;
let source = "";
beforeEach(() => {
  home = temporaryHome();
  source = join(home.path, "source");
});
afterEach(() => home.remove());

const HASH = hashOf(sampleWasm());
const install = (surroundings: Omit<Surroundings, "home"> = {}, from = source) =>
  plugin(["install", from], { home: home.path, ...surroundings });
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
  const again = (sample: Sample, surroundings: Omit<Surroundings, "home">, from = source) =>
    install(surroundings, writeSample(from, sample));

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

describe("a module that may not run here is not asked about", () => {
  const memory = (wat: string): string => `(module ${wat} (func (export "run")))`;
  test.each<[string, Uint8Array, string]>([
    ["no module", Buffer.from("hello"), "no WebAssembly module"],
    ["no run", wasmOf("(module)"), "exports no function run"],
    ["WASI", wasmOf('(module (import "wasi_snapshot_preview1" "fd_write" (func)) (func (export "run")))'), "WASI"],
    ["more memory than it may have", wasmOf(memory("(memory 2000)")), "more memory"],
    ["code that the engine does not take", Buffer.from(broken()), "The engine does not take"],
  ])("%s", async (_, wasm, text) => {
    writeSample(source, { wasm });
    const { end, error, asked } = await install({ answers: [] });
    expect({ end, asked }).toEqual({ end: "PLUGIN_INVALID", asked: [] });
    expect(error?.message).toContain(text);
    expect(left()).toEqual([]);
  });

  /** Right from outside, and an addition without anything to add within. */
  function broken(): Uint8Array {
    const bytes = Buffer.from(wasmOf('(module (func (export "run") (drop (i32.add (i32.const 77) (i32.const 77)))))'));
    bytes[bytes.indexOf(Buffer.from([0x41, 77 | 0x80]))] = 0x01;
    return bytes;
  }

  test("one that keeps the engine busy is given up", async () => {
    // It would take seconds to minutes; the time that it may take is over at once.
    const clock = {
      now: Date.now,
      monotonic: () => 0,
      sleep: async () => {},
      after: (_: number, run: () => void) => (run(), () => {}),
    };
    writeSample(source, { wasm: busyModule(200_000) });
    const { end, error, asked } = await install({ answers: [], clock });
    expect({ end, asked }).toEqual({ end: "PLUGIN_INVALID", asked: [] });
    expect(error?.message).toContain("takes more than 10 s");
  });

  test("whoever gives up waiting for the check ends it", async () => {
    const interrupted = new AbortController();
    const reason = new SvcError("CANCELLED");
    const clock = {
      now: Date.now,
      monotonic: () => 0,
      sleep: async () => {},
      after: () => (interrupted.abort(reason), () => {}),
    };
    writeSample(source, { wasm: busyModule(200_000) });
    expect((await install({ answers: [], clock, signal: interrupted.signal })).end).toBe("CANCELLED");
    expect(left()).toEqual([]);
  });

  function busyModule(functions: number): Uint8Array {
    const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)]);
    const section = (id: number, body: Uint8Array): Uint8Array =>
      Buffer.concat([Buffer.from([id, ...leb(body.length)]), body]);
    const one = Buffer.from([6, 1, ...leb(50_000), 0x7f, 0x0b]);
    return Buffer.concat([
      Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
      section(1, Buffer.from([1, 0x60, 0, 0])),
      section(3, Buffer.concat([Buffer.from(leb(functions)), Buffer.alloc(functions)])),
      section(7, Buffer.from([1, 3, 0x72, 0x75, 0x6e, 0, 0])),
      section(10, Buffer.concat([Buffer.from(leb(functions)), ...Array.from({ length: functions }, () => one)])),
    ]);
  }
});

describe("remove", () => {
  beforeEach(async () => {
    writeSample(source);
    await install({ answers: [true] });
  });
  const remove = (name: string, surroundings: Omit<Surroundings, "home"> = {}) =>
    plugin(["remove", name], { home: home.path, ...surroundings });

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
    const running = async (surroundings: Omit<Surroundings, "home">): Promise<unknown> => {
      const info = await plugin(["info", "weather"], { home: home.path, ...surroundings, options: { json: true } });
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
