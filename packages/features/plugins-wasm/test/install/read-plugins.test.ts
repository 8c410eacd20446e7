// A plugin runs as it was approved or not at all. Whatever changed since in its folder, by hand, by another program or by an attack,
// it is left out, and why is told; the others run on.
import { captureLogger } from "@svc/testkit/capture-logger";
import { type TemporaryHome, temporaryHome } from "@svc/testkit/temporary-home";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { putPlugin } from "../../src/install/place.ts";
import { hashOf, pluginsFolderOf, readPlugins } from "../../src/installed.ts";
import { readManifest } from "../../src/manifest.ts";
import { type Sample, sampleToml, sampleWasm } from "./sample.ts";

let home: TemporaryHome;
let plugins = "";
beforeEach(async () => {
  home = temporaryHome();
  plugins = join(home.path, "plugins");
  mkdirSync(plugins);
  await put({ name: "weather", hosts: ["api.example.org"], extra: "[limits]\nmax_output_kb = 2" });
});
afterEach(() => home.remove());

async function put(sample: Sample): Promise<void> {
  const toml = Buffer.from(sampleToml(sample));
  const manifest = readManifest(toml);
  const approval = {
    format: 1,
    release: RELEASE,
    manifest,
    manifest_sha256: hashOf(toml),
    source: "/x",
    approved_at: "2026-01-01T00:00:00.000Z",
  } as const;
  await putPlugin(plugins, { manifest, toml, wasm: sample.wasm ?? sampleWasm(), source: "/x" }, approval);
}

const RELEASE = "0123456789ab";
const at = (...path: string[]): string => join(plugins, "weather", ...path);
const wasmFile = (): string => at(RELEASE, "plugin.wasm");
const approvalFile = (): string => at("approved.json");

async function found(): Promise<{ names: string[]; problems: string[] }> {
  const log = captureLogger();
  const { plugins: read, problems } = await readPlugins(plugins, log);
  expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(problems.length);
  return {
    names: read.map(({ name }) => name),
    problems: problems.map(({ code, problem }) => `${code} ${problem}`),
  };
}

test("what is installed is there with everything that was approved", async () => {
  const { plugins: read, problems } = await readPlugins(plugins, captureLogger());
  expect(problems).toEqual([]);
  expect(read).toEqual([
    {
      name: "weather",
      version: "1.0.0",
      description: "Tells the weather. The input is a place.",
      wasmFile: wasmFile(),
      sha256: hashOf(sampleWasm()),
      allowedHosts: ["api.example.org"],
      limits: { memoryMb: 64, timeoutMs: 10_000, maxOutputBytes: 2048 },
      folder: at(),
    },
  ]);
});

test("no folder, no plugins, and nothing is made", async () => {
  rmSync(plugins, { recursive: true });
  expect(await found()).toEqual({ names: [], problems: [] });
  expect(readdirSync(home.path)).toEqual([]);
});

test("folders and files are this user's alone", () => {
  const modes = ["", ...readdirSync(at(), { recursive: true, encoding: "utf8" })]
    .map((path) => `${path} ${(statSync(at(path)).mode & 0o777).toString(8)}`)
    .toSorted();
  expect(modes).toEqual([
    " 700",
    "0123456789ab 700",
    "0123456789ab/plugin.toml 600",
    "0123456789ab/plugin.wasm 600",
    "approved.json 600",
  ]);
});

describe("left out, while another one runs", () => {
  const asRoot = process.geteuid?.() === 0;
  const edit = (file: string, change: (text: string) => string): void =>
    writeFileSync(file, change(readFileSync(file, "utf8")));
  const approvedAs = (change: (approval: Record<string, any>) => void) => (): void =>
    edit(approvalFile(), (text) => {
      const approval = JSON.parse(text) as Record<string, any>;
      change(approval);
      return JSON.stringify(approval);
    });
  const elsewhere = (file: string): void => {
    const aside = join(home.path, "aside");
    renameSync(file, aside);
    symlinkSync(aside, file);
  };

  test.each<[string, () => void, string]>([
    [
      "another wasm file",
      () => writeFileSync(wasmFile(), sampleWasm("other")),
      "The wasm file is not what was approved",
    ],
    [
      "one more byte",
      () => writeFileSync(wasmFile(), Buffer.concat([sampleWasm(), Buffer.from([0])])),
      "The wasm file is not what",
    ],
    ["no wasm file", () => rmSync(wasmFile()), "The wasm file is missing"],
    [
      "a wasm file without an end",
      () => writeFileSync(wasmFile(), Buffer.alloc(20 * 1024 * 1024 + 1)),
      "is larger than 20480 KiB",
    ],
    [
      "more hosts in plugin.toml",
      () => edit(at(RELEASE, "plugin.toml"), (text) => text.replace("api.example.org", "evil.example.org")),
      "plugin.toml is not what was approved",
    ],
    ["no plugin.toml", () => rmSync(at(RELEASE, "plugin.toml")), "plugin.toml is missing"],
    ["no approval", () => rmSync(approvalFile()), "approved.json, is missing"],
    ["half an approval", () => edit(approvalFile(), (text) => text.slice(0, 200)), "is not what an install writes"],
    ["an approval with a key more", approvedAs((approval) => (approval["more"] = 1)), "is not what an install writes"],
    [
      "an approval of another form",
      approvedAs((approval) => (approval["format"] = 2)),
      "is not what an install writes",
    ],
    [
      "an approval that leads out",
      approvedAs((approval) => (approval["release"] = "../../x")),
      "is not what an install writes",
    ],
    [
      "an approval whose file leads out",
      approvedAs((approval) => (approval["manifest"]["wasm"] = "../x.wasm")),
      "is not what an install writes",
    ],
    [
      "an approval of another name",
      approvedAs((approval) => (approval["manifest"]["name"] = "sunshine")),
      "approved under another name",
    ],
    [
      "an approval of more than the module may have",
      approvedAs((approval) => (approval["manifest"]["limits"]["memory_mb"] = 4096)),
      "is not what an install writes",
    ],
    [
      "a release that is not there",
      approvedAs((approval) => (approval["release"] = "ffffffffffff")),
      "plugin.toml is missing",
    ],
    ["a wasm file that is a link", () => elsewhere(wasmFile()), "The wasm file is a symbolic link"],
    ["an approval that is a link", () => elsewhere(approvalFile()), "approved.json, is a symbolic link"],
    ["a release that is a link", () => elsewhere(at(RELEASE)), "The folder of its release is a symbolic link"],
    ["a plugin that is a link", () => elsewhere(at()), "The folder is a symbolic link"],
    ["a wasm file that is a folder", () => (rmSync(wasmFile()), mkdirSync(wasmFile())), "not a regular file"],
    [
      "a wasm file that is a pipe",
      () => (rmSync(wasmFile()), execFileSync("mkfifo", [wasmFile()])),
      "The wasm file is not a regular file",
    ],
    ["a folder that others may write into", () => chmodSync(at(), 0o777), "can be written by others"],
    ["a release that others may write into", () => chmodSync(at(RELEASE), 0o770), "can be written by others"],
    ...(asRoot
      ? [
          ["a folder of another user", () => chownSync(at(), 12_345, 12_345), "belongs to another user"] as [
            string,
            () => void,
            string,
          ],
        ]
      : []),
  ])("%s", async (_, harm, problem) => {
    await put({ name: "sunshine" });
    harm();
    const { names, problems } = await found();
    expect(names).toEqual(["sunshine"]);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).toMatch(/^PLUGIN_CHANGED /);
  });

  test("a folder that somebody copied here", async () => {
    mkdirSync(join(plugins, "copied"));
    writeFileSync(join(plugins, "copied", "plugin.toml"), sampleToml({ name: "copied" }));
    writeFileSync(join(plugins, "copied", "plugin.wasm"), sampleWasm());
    expect(await found()).toEqual({
      names: ["weather"],
      problems: [expect.stringContaining("approved.json, is missing")],
    });
  });

  test("a folder whose name no plugin has, and what an install left", async () => {
    mkdirSync(join(plugins, "Not A Name"));
    mkdirSync(join(plugins, ".staged-0123"));
    writeFileSync(join(plugins, ".lock"), "");
    writeFileSync(join(plugins, "README"), "");
    expect(await found()).toEqual({
      names: ["weather"],
      problems: ["PLUGIN_INVALID The folder's name is no plugin's."],
    });
  });
});

test.each(["workspace", "workspace/plugins", "./workspace/", "x/../workspace"])(
  "plugins are not kept in %s, where agents write",
  (dir) => {
    expect(() => pluginsFolderOf("/home/svc", dir)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  },
);
test.each([
  ["plugins", "/home/svc/plugins"],
  ["/opt/plugins", "/opt/plugins"],
  ["workspaces", "/home/svc/workspaces"],
])("plugins may be kept in %s", (dir, folder) => {
  expect(pluginsFolderOf("/home/svc", dir)).toBe(folder);
});
