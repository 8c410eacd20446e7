// Construction does no I/O, starts no timer and reads no environment: whatever way a feature tries, the guard names it.
import { defineFeature } from "@svc/contract";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failures } from "../src/check.ts";
import { featureChecks } from "../src/conformance/feature-conformance.ts";
import { constructGuarded } from "../src/io-guard/construct-guarded.ts";
import { temporaryHome, type TemporaryHome } from "../src/temporary-home.ts";
import { writePackage, type PackageText } from "./feature-package.ts";

let home: TemporaryHome;
let folders = 0;
beforeAll(() => {
  home = temporaryHome();
});
afterAll(() => home.remove());

function construct(text: Partial<PackageText>) {
  folders += 1;
  const root = writePackage(`${home.path}/${folders}`, { id: "fake-feature", ...text });
  return constructGuarded({ entry: pathToFileURL(`${root}/src/index.ts`).href, config: undefined });
}

const FS = 'import * as fs from "node:fs";';

const FORBIDDEN: [what: string, Partial<PackageText>][] = [
  ["fs.readFileSync", { imports: FS, create: 'fs.readFileSync("/etc/hostname"); return {};' }],
  ["fs.existsSync", { imports: 'import { existsSync } from "fs";', create: 'existsSync("/"); return {};' }],
  ["fs.readFileSync", { imports: `${FS} fs.readFileSync("/etc/hostname");` }],
  ["fs.readFileSync", { entry: `${FS} fs.readFileSync("/etc/hostname");` }],
  [
    "fs/promises.readFile",
    { imports: 'import { readFile } from "node:fs/promises";', create: 'readFile("/x").catch(() => 0); return {};' },
  ],
  ["fs/promises.readFile", { imports: FS, create: 'fs.promises.readFile("/x").catch(() => 0); return {};' }],
  ["fs.createWriteStream", { imports: FS, create: 'fs.createWriteStream("/tmp/x"); return {};' }],
  ["fs.readFileSync", { create: 'process.getBuiltinModule("fs").readFileSync("/etc/hostname"); return {};' }],
  [
    "fs.readFileSync",
    {
      imports: 'import { createRequire } from "node:module";',
      create: 'createRequire(import.meta.url)("fs").readFileSync("/x"); return {};',
    },
  ],
  ["net.connect", { imports: 'import net from "node:net";', create: "net.connect(9); return {};" }],
  [
    "new net.Socket",
    { imports: 'import net from "node:net";', create: "class Own extends net.Socket {} new Own(); return {};" },
  ],
  [
    "http.request",
    { imports: 'import http from "node:http";', create: 'http.request("http://127.0.0.1:9"); return {};' },
  ],
  ["https.get", { imports: 'import { get } from "node:https";', create: 'get("https://127.0.0.1:9"); return {};' }],
  [
    "http2.connect",
    { imports: 'import http2 from "node:http2";', create: 'http2.connect("http://127.0.0.1:9"); return {};' },
  ],
  ["dns.lookup", { imports: 'import dns from "node:dns";', create: 'dns.lookup("localhost", () => 0); return {};' }],
  [
    "dns/promises.lookup",
    { imports: 'import dns from "node:dns/promises";', create: 'dns.lookup("localhost").catch(() => 0); return {};' },
  ],
  ["tls.connect", { imports: 'import tls from "node:tls";', create: "tls.connect(9); return {};" }],
  [
    "dgram.createSocket",
    { imports: 'import dgram from "node:dgram";', create: 'dgram.createSocket("udp4"); return {};' },
  ],
  [
    "child_process.spawn",
    { imports: 'import { spawn } from "node:child_process";', create: 'spawn("true"); return {};' },
  ],
  [
    "child_process.execFileSync",
    { imports: 'import cp from "node:child_process";', create: 'cp.execFileSync("true"); return {};' },
  ],
  [
    "new worker_threads.Worker",
    { imports: 'import { Worker } from "node:worker_threads";', create: 'new Worker("0", { eval: true }); return {};' },
  ],
  [
    "new sqlite.DatabaseSync",
    { imports: 'import { DatabaseSync } from "node:sqlite";', create: 'new DatabaseSync(":memory:"); return {};' },
  ],
  ["os.homedir", { imports: 'import os from "node:os";', create: "os.homedir(); return {};" }],
  ["globalThis.fetch", { create: 'fetch("http://127.0.0.1:9").catch(() => 0); return {};' }],
  ["new globalThis.WebSocket", { create: 'new WebSocket("ws://127.0.0.1:9"); return {};' }],
  ["globalThis.setTimeout", { create: "setTimeout(() => 0, 1); return {};" }],
  ["globalThis.setInterval", { create: "setInterval(() => 0, 1).unref(); return {};" }],
  ["globalThis.setImmediate", { create: "setImmediate(() => 0); return {};" }],
  [
    "timers.setTimeout",
    { imports: 'import { setTimeout as later } from "node:timers";', create: "later(() => 0, 1); return {};" },
  ],
  [
    "timers/promises.setTimeout",
    { imports: 'import { setTimeout as wait } from "node:timers/promises";', create: "wait(1); return {};" },
  ],
  ["AbortSignal.timeout", { create: "AbortSignal.timeout(5); return {};" }],
  ["process.env.HOME", { create: "return { home: process.env.HOME };" }],
  ["process.env.HOME", { create: 'return { home: "HOME" in process.env };' }],
  ["process.env.*", { create: "return { ...process.env };" }],
  ["process.env.HOME", { imports: 'import { env } from "node:process";', create: "return { home: env.HOME };" }],
  [
    "process.stderr.write",
    { imports: 'import { stderr } from "node:process";', create: 'stderr.write("x"); return {};' },
  ],
  ["console.log", { create: 'console.log("hello"); return {};' }],
  ["process.stdout.write", { create: 'process.stdout.write("hello"); return {};' }],
  ["context.clock.sleep", { create: "context.clock.sleep(5); return {};" }],
  ["context.clock.after", { create: "context.clock.after(5, () => 0); return {};" }],
  ["context.fetch", { create: 'context.fetch("http://127.0.0.1:9"); return {};' }],
];

describe("a feature that is found out", () => {
  test.concurrent.each(FORBIDDEN)("%s", async (what, text) => {
    const { violations } = await construct(text);
    expect(violations.map((violation) => violation.what)).toContain(what);
    expect(violations[0]?.at).toMatch(/fake-feature\/src\/(?:feature|index)\.ts:\d+:\d+/);
  });

  test("also when it catches what the guard throws", async () => {
    const { violations } = await construct({ imports: FS, create: 'try { fs.statSync("/"); } catch {} return {};' });
    expect(violations).toMatchObject([{ what: "fs.statSync" }]);
  });

  test("also when it does it a little later", async () => {
    const later = [
      'Promise.resolve().then(() => fs.statSync("/")).catch(() => 0);',
      'process.nextTick(fs.lstatSync, "/");',
      "queueMicrotask(() => fs.mkdtempSync.call(fs));",
    ];
    const { violations } = await construct({ imports: FS, create: `${later.join("\n")} return {};` });
    expect(violations.map(({ what }) => what).sort()).toEqual(["fs.lstatSync", "fs.mkdtempSync", "fs.statSync"]);
  });

  test("also when the way is one that the guard doesn't know", async () => {
    const { violations } = await construct({ create: "new BroadcastChannel('x'); return {};" });
    expect(violations).toMatchObject([{ what: expect.stringMatching(/^an open /) }]);
  });

  test("a module that throws, or never comes back from its import, is told", async () => {
    expect(await construct({ imports: 'throw new Error("broken module");' })).toMatchObject({
      violations: [],
      error: "Error: broken module",
    });
    await expect(construct({ imports: "await new Promise(() => {});" })).rejects.toThrow("gave no report");
  });
});

describe("a feature that keeps to it", () => {
  test("may import anything, read files by the module loader and make objects that do nothing yet", async () => {
    const { violations, error } = await construct({
      imports: `${FS}
        import http from "node:http";
        import net from "node:net";
        import { createRequire } from "node:module";
        const own = createRequire(import.meta.url)("../package.json");`,
      create: `
        const agent = new http.Agent({ keepAlive: true });
        const flags = [net.isIP("127.0.0.1"), fs.constants.R_OK, context.clock.now(), process.platform, own.name];
        context.log.info("made");
        return { agent, flags, controller: new AbortController() };`,
    });
    expect({ violations, error }).toEqual({ violations: [], error: undefined });
  });
});

test("featureConformance runs it: a definition that is sound in this process fails by its entry", async () => {
  const root = writePackage(home.path, { id: "fake-feature", imports: FS, create: 'fs.statSync("/"); return {};' });
  const definition = defineFeature({ id: "fake-feature", load: () => Promise.resolve({ create: () => ({}) }) });
  const failed = await failures(featureChecks(definition, { root }));
  expect(failed).toMatchObject([{ name: expect.stringContaining("does no I/O") }]);
  expect(String(failed[0]?.error)).toMatch(/fs\.statSync[^]*feature\.ts:/);
});
