// A disk with errors becomes read-only under a running service: what can't be kept must be refused, and nothing must need a
// restart once the disk is well again.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { ERRNO, type FaultyWrites, faultyWrites, NO_FAULTY_WRITES } from "@svc/testkit/real/faulty-writes";
import { requireReal } from "@svc/testkit/require-real";
import { homeWith, post, startPaired } from "./daemon.ts";
import { doctor, of } from "./doctor-report.ts";

let faults: FaultyWrites | undefined;
beforeAll(() => void (faults = faultyWrites()));
afterAll(() => faults?.[Symbol.dispose]());
beforeEach((context) => {
  if (!faults) requireReal(context, NO_FAULTY_WRITES);
  faults.fail(0);
});

const question = (run_id: string): { method: string; body: object } => ({
  method: "POST",
  body: { type: "human_approval_request", run_id, step_id: "1", content: { title: "?" }, channels: [] },
});

test.each(["EROFS", "EIO"] as const)(
  "%s: 503 and nothing taken, reading goes on, /health and svc doctor say so; the next write that works ends it",
  async (name) => {
    using home = homeWith("");
    const env = faults!.env(home.path);
    const { daemon, token } = await startPaired({ home: home.path, env });
    await using _ = daemon;
    const health = async (): Promise<string> =>
      ((await (await daemon.request("/health")).json()) as { status: string }).status;
    const waiting = async (): Promise<string[]> => {
      const response = await daemon.request("/api/approvals", { token });
      return ((await response.json()) as { approvals: { run_id: string }[] }).approvals.map(({ run_id }) => run_id);
    };
    expect(await post(daemon, token, "before", { "X-Session-Id": "kept" })).toMatchObject({ status: 200 });

    faults!.fail(ERRNO[name]);
    const key = { "X-Idempotency-Key": "once", "X-Session-Id": "kept" };
    for (let tries = 0; tries < 3; tries += 1) {
      expect(await post(daemon, token, "meanwhile", key)).toMatchObject({
        status: 503,
        body: { code: "STORE_FAILED" },
      });
    }
    expect((await daemon.request("/api/channel-events", question("refused"))).status).toBe(503);
    expect([await health(), await waiting()]).toEqual(["degraded", []]);
    const report = await doctor(home.path, [], env);
    expect(of(report, "database-writable")).toMatchObject([{ level: "error" }]);
    const isReadOnly = of(report, "disk").some(({ message }) => message.includes("read-only"));
    expect(isReadOnly).toBe(name === "EROFS");

    faults!.fail(0);
    expect(await post(daemon, token, "meanwhile", key)).toMatchObject({
      status: 200,
      body: { session_id: expect.anything() },
    });
    expect(await post(daemon, token, "meanwhile", key)).toMatchObject({ status: 200, body: { status: "duplicate" } });
    expect((await daemon.request("/api/channel-events", question("taken"))).status).toBe(200);
    expect([await health(), await waiting()]).toEqual(["ok", ["taken"]]);
    expect((await daemon.stop()).code).toBe(0);
  },
);

// A kill leaves what the kernel holds, and a power cut does not: only this tells them apart.
test("a turn is on the disk before it is answered, and a delivery before it is taken", async () => {
  using home = homeWith("");
  const { daemon, token } = await startPaired({ home: home.path, env: faults!.env(home.path) });
  await using _ = daemon;
  const synced = async (act: () => Promise<unknown>): Promise<number> => {
    const before = faults!.syncs(home.path);
    await act();
    return faults!.syncs(home.path) - before;
  };
  for (let n = 0; n < 5; n += 1) {
    expect(await synced(() => post(daemon, token, "hi", { "X-Idempotency-Key": `${n}` }))).toBeGreaterThan(0);
    expect(await synced(() => daemon.request("/api/channel-events", question(`${n}`)))).toBeGreaterThan(0);
  }
});

test("a start on a read-only disk says so and changes nothing; the next one goes on", async () => {
  using home = homeWith("");
  const env = faults!.env(home.path);
  const { daemon, token } = await startPaired({ home: home.path, env });
  await post(daemon, token, "before", { "X-Idempotency-Key": "once" });
  await daemon.kill9();

  faults!.fail(ERRNO.EROFS);
  const refused = await runBinary(["daemon"], { home: home.path, env });
  expect([refused.code, refused.stderr]).toEqual([73, expect.stringContaining("[HOME_UNWRITABLE]")]);

  faults!.fail(0);
  await using again = await startBinary({ home: home.path, env });
  expect(await post(again, token, "before", { "X-Idempotency-Key": "once" })).toMatchObject({
    body: { status: "duplicate" },
  });
});
