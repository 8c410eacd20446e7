// Everything at the same moment: one key from two hundred connections, one pairing code from fifty clients, wrong codes
// against the lockout, two starts on one home. Of what must happen once, the second was always a duplicate answer or damage.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { describe, expect, test } from "vitest";
import { homeWith, post, startPaired, UNGUARDED } from "./daemon.ts";

const MANY_CLIENTS = "[gateway]\ntrust_forwarded_headers = true\nwebhook_rate_limit_per_minute = 0\n";
const shell = (command: string): string => `/tool shell ${JSON.stringify({ command })}`;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

async function codeFor(daemon: RunningBinary, scope = "operator"): Promise<string> {
  const { stdout } = await runBinary(["pair", "--scope", scope, "--json"], { home: daemon.home });
  return (JSON.parse(stdout) as { code: string }).code;
}

interface Tried {
  readonly status: number;
  readonly code?: string;
  readonly token?: string;
}

/** As a client with an address of its own. */
async function tryCode(daemon: RunningBinary, code: string, from: string): Promise<Tried> {
  const headers = { "X-Pairing-Code": code, "X-Forwarded-For": from, Connection: "close" };
  const response = await daemon.request("/pair", { method: "POST", headers });
  return { status: response.status, ...((await response.json()) as object) };
}

/** Never the right one. */
const wrong = (code: string, index = 0): string => String((Number(code) + 1 + index) % 1_000_000).padStart(6, "0");

describe("one idempotency key", () => {
  test("two hundred requests at once, each on a connection of its own: one turn, 199 duplicates; another device's is another", async () => {
    using home = homeWith(MANY_CLIENTS + UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const other = await daemon.pair(await codeFor(daemon));
    const headers = { "X-Idempotency-Key": "once", Connection: "close" };
    const all = await Promise.all([
      ...times(200, () => post(daemon, token, shell("echo mine >> log"), headers)),
      ...times(20, () => post(daemon, other, shell("echo other >> log"), headers)),
    ]);
    expect(all.map(({ status }) => status)).toEqual(times(220, () => 200));
    const duplicates = (from: number, to: number): number =>
      all.slice(from, to).filter(({ body }) => body.status === "duplicate").length;
    expect([duplicates(0, 200), duplicates(200, 220)]).toEqual([199, 19]);
    expect(readFileSync(join(home.path, "workspace/log"), "utf8").split("\n").toSorted()).toEqual([
      "",
      "mine",
      "other",
    ]);
  });

  test("in one session, with messages between: each has its own turn, in one order", async () => {
    using home = homeWith(MANY_CLIENTS);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const session = { "X-Session-Id": "busy", Connection: "close" };
    const keyed = (index: number) => ({ ...session, "X-Idempotency-Key": `key-${index % 10}` });
    const all = await Promise.all(times(100, (index) => post(daemon, token, `message ${index}`, keyed(index))));
    expect(all.filter(({ body }) => body.status === "duplicate")).toHaveLength(90);
    const listed = (await (await daemon.request("/api/sessions", { token })).json()) as {
      sessions: { turns: number }[];
    };
    expect(listed.sessions).toMatchObject([{ session_id: "busy", turns: 10 }]);
  });
});

describe("pairing", () => {
  test("fifty clients with one code: one of them has a token, and it works", async () => {
    using home = homeWith(MANY_CLIENTS);
    const { daemon } = await startPaired({ home: home.path });
    await using _ = daemon;
    const code = await codeFor(daemon);
    const all = await Promise.all(times(50, (index) => tryCode(daemon, code, `198.51.100.${index}`)));
    const paired = all.filter(({ status }) => status === 200);
    expect(paired).toHaveLength(1);
    expect(new Set(all.map((one) => one.code))).toEqual(new Set([undefined, "BAD_PAIRING_CODE"]));
    expect((await post(daemon, paired[0]!.token!, "hello")).status).toBe(200);
    const { stdout } = await runBinary(["devices", "list", "--json"], { home: home.path });
    expect((JSON.parse(stdout) as { devices: unknown[] }).devices).toHaveLength(2);
  });

  test("a client's wrong codes at once: five are judged, then it is locked out, for the right one too; nobody else is", async () => {
    using home = homeWith(MANY_CLIENTS);
    const { daemon } = await startPaired({ home: home.path });
    await using _ = daemon;
    const code = await codeFor(daemon);
    const all = await Promise.all(times(60, (index) => tryCode(daemon, wrong(code, index), "203.0.113.5")));
    const count = (of: string): number => all.filter((one) => one.code === of).length;
    expect([count("BAD_PAIRING_CODE"), count("LOCKED_OUT"), count("RATE_LIMITED")]).toEqual([5, 5, 50]);
    expect((await tryCode(daemon, code, "203.0.113.5")).status).toBe(429);
    expect((await tryCode(daemon, code, "203.0.113.6")).status).toBe(200);
  });

  test("wrong codes of many clients at once burn the code after thirty, whoever has it", async () => {
    using home = homeWith(MANY_CLIENTS);
    const { daemon } = await startPaired({ home: home.path });
    await using _ = daemon;
    const code = await codeFor(daemon);
    await Promise.all(times(30, (index) => tryCode(daemon, wrong(code, index), `198.51.100.${index}`)));
    expect(await tryCode(daemon, code, "203.0.113.7")).toMatchObject({ status: 403, code: "BAD_PAIRING_CODE" });
    expect((await tryCode(daemon, await codeFor(daemon), "203.0.113.7")).status).toBe(200);
  });
});

test("two starts at once on the home of a daemon that was just killed: one runs, the other says why it does not", async () => {
  using home = homeWith("");
  let { daemon, token } = await startPaired({ home: home.path });
  for (let round = 0; round < 3; round += 1) {
    expect((await post(daemon, token, `round ${round}`)).status).toBe(200);
    const killed = daemon.kill9();
    await killed;
    const starts = await Promise.allSettled(times(2, () => startBinary({ home: home.path })));
    const up = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    const down = starts.flatMap((start) => (start.status === "rejected" ? [String(start.reason)] : []));
    expect([up.length, down.length]).toEqual([1, 1]);
    expect(down[0]).toContain("ALREADY_RUNNING");
    daemon = up[0]!;
  }
  await using _ = daemon;
  const listed = (await (await daemon.request("/api/sessions", { token })).json()) as { sessions: unknown[] };
  expect(listed.sessions).toHaveLength(3);
});
