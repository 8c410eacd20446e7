// Revoking a lost phone is the one command that must work on the worst day: by half an id, with the daemon up or down.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { openStore } from "@svc/store";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { post, startPaired } from "./daemon.ts";

interface Line {
  readonly id: string;
  readonly name: string;
  readonly [key: string]: unknown;
}

const run = (home: string, ...words: string[]) => runBinary(["devices", ...words], { home });

async function listed(home: string): Promise<Line[]> {
  const { stdout } = await run(home, "list", "--json");
  return (JSON.parse(stdout) as { devices: Line[] }).devices;
}

describe("with a daemon", () => {
  test("a device is listed without its token, renamed, and revoked so that its token stops working at once", async () => {
    const { daemon, token } = await startPaired();
    await using _ = daemon;
    const [device] = await listed(daemon.home);
    expect(Object.keys(device!).toSorted()).toEqual(["created_at", "id", "last_seen_at", "name", "scope"]);
    const prefix = device!.id.slice(0, 8);
    expect((await run(daemon.home, "rename", prefix, "kitchen tablet")).code).toBe(0);
    expect((await run(daemon.home, "list")).stdout).toContain("kitchen tablet");
    expect((await post(daemon, token, "still here")).status).toBe(200);
    expect((await run(daemon.home, "revoke", prefix)).stdout).toContain("kitchen tablet");
    expect((await post(daemon, token, "gone")).status).toBe(401);
    expect(await listed(daemon.home)).toEqual([]);
    const again = await run(daemon.home, "revoke", prefix, "--json");
    expect([again.code, again.stderr]).toEqual([64, expect.stringContaining("DEVICE_UNKNOWN")]);
  });
});

describe("without a daemon", () => {
  test("what is revoked stays revoked at the next start", async () => {
    using home = temporaryHome();
    const { daemon, token } = await startPaired({ home: home.path });
    await daemon.stop();
    const [device] = await listed(home.path);
    expect((await run(home.path, "rename", device!.id, "laptop")).code).toBe(0);
    expect((await listed(home.path))[0]!.name).toBe("laptop");
    expect((await run(home.path, "revoke", device!.id)).code).toBe(0);
    await using again = await startBinary({ home: home.path });
    expect((await post(again, token, "hello")).status).toBe(401);
  });

  test("half an id that means two devices means none; so does no id, and a name that drives the terminal", async () => {
    using home = homeWithDevices("aa11", "aa22", "bb33");
    for (const words of [
      ["revoke", "aa"],
      ["revoke", ""],
      ["revoke"],
      ["rename", "bb", "evil\u001b]0;x\u0007"],
      ["rename", "bb", " "],
    ]) {
      expect((await run(home.path, ...words)).code).toBe(64);
    }
    expect(await listed(home.path)).toHaveLength(3);
    expect((await run(home.path, "revoke", "bb")).code).toBe(0);
    expect((await listed(home.path)).map(({ id }) => id)).toEqual(["aa11", "aa22"]);
  });

  test("looking leaves no trace in an empty home", async () => {
    using home = temporaryHome();
    expect((await run(home.path, "list")).stdout).toContain("svc pair");
    expect(readdirSync(home.path)).toEqual([]);
    expect(existsSync(join(home.path, "state"))).toBe(false);
  });
});

test.for([
  ["\r", 1, 2],
  ["y", 0, 1],
] as const)("at a terminal revoking asks, and %j leaves with %i", async ([typed, code, left], context) => {
  needScript(context);
  using home = homeWithDevices("aa11", "bb33");
  const seen = await atTerminal(home.path, "devices revoke aa", [["Revoke device aa11", typed]]);
  expect(seen.code).toBe(code);
  expect(await listed(home.path)).toHaveLength(left);
});

function homeWithDevices(...ids: string[]): ReturnType<typeof temporaryHome> {
  const home = temporaryHome();
  const file = join(home.path, "state/svc.db");
  const store = openStore({ file, clock: systemClock, idempotency: { ttlMs: 1, maxKeys: 1 } });
  for (const id of ids) {
    const device = { id, tokenHash: id, clientId: id as ClientId, name: `device ${id}`, scope: "read" } as const;
    void store.devices.add({ ...device, createdAt: 0, lastSeenAt: undefined });
  }
  store.close();
  return home;
}
