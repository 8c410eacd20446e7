// The webhook secret is kept as a hash and never as text: it is in no live object of a daemon that checks it, and is taken out of
// the log all the same. The sources run on plain Node here, which writes down its heap when it is asked; the binary does not.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith } from "./daemon.ts";

const ENTRY = join(import.meta.dirname, "../.gen/minimal/entry.ts");
// Put together here, so that no file of the sources has them.
const SECRET = ["hook", "planted", "81x"].join("-");
const SIGNING_KEY = ["key", "planted", "92w"].join("-");

const section = (secret: string, more = ""): string =>
  `[gateway]\nrequire_pairing = false\n[log]\nlevel = "debug"\n[channels_config.webhook]\nsecret = "${secret}"\n${more}`;

/** Everything that is reachable in the daemon's heap, as Node writes it down. */
async function heapOf(home: string, pid: number): Promise<string> {
  const written = (): string[] => readdirSync(home).filter((name) => name.endsWith(".heapsnapshot"));
  const before = new Set(written());
  process.kill(pid, "SIGUSR2");
  return await eventually(
    () => {
      const file = written().find((name) => !before.has(name));
      return file === undefined ? "" : readFileSync(join(home, file), "latin1");
    },
    // Complete once the list of its strings is closed.
    (text) => /\]\s*\}\s*$/.test(text),
  );
}

test("the webhook secret is in no live object of the daemon, at the start, after requests and after a reload", async () => {
  expect(existsSync(ENTRY)).toBe(true);
  using home = homeWith(section(SECRET));
  const flags = ["--heapsnapshot-signal=SIGUSR2", `--diagnostic-dir=${home.path}`];
  const child = spawn(process.execPath, [...flags, ENTRY, "daemon"], {
    env: { PATH: process.env["PATH"], SVC_HOME: home.path, SVC__GATEWAY__PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => void (output += String(data)));
    const [, url] = await eventually(
      () => /listening on (\S+)/.exec(output) ?? [],
      (found) => found.length > 0,
    );
    const statusWith = async (secret: string): Promise<number> => {
      // An open connection still has its last request, as the caller sent it.
      const headers = { "content-type": "application/json", "x-webhook-secret": secret, connection: "close" };
      return (await fetch(`${url}/webhook`, { method: "POST", headers, body: '{"message":"hello"}' })).status;
    };
    const hidden = async (text: string): Promise<void> => {
      const heap = await heapOf(home.path, child.pid!);
      expect(heap.includes("X-Webhook-Secret") || heap.includes("x-webhook-secret")).toBe(true);
      expect(heap.includes(text)).toBe(false);
    };
    await hidden(SECRET);
    expect([await statusWith(SECRET), await statusWith(`${SECRET}!`)]).toEqual([200, 401]);
    await hidden(SECRET);

    const config = section(`new-${SECRET.slice(5)}`, `signing_secret = "${SIGNING_KEY}"\n`);
    writeFileSync(join(home.path, "config.toml"), config, { mode: 0o600 });
    expect(await runBinary(["reload"], { home: home.path })).toMatchObject({ code: 0 });
    expect(await statusWith(SECRET)).toBe(401);
    const heap = await heapOf(home.path, child.pid!);
    // A key that signatures are made with has to be there: were it not found, nothing would have been looked at.
    expect([heap.includes(SIGNING_KEY), heap.includes(SECRET.slice(5))]).toEqual([true, false]);
    expect(output).not.toContain(SECRET);
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
});
