// Messages lost on restart and duplicate replies: what users of such systems complain of most.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { homeWith, post, startPaired, UNGUARDED } from "./daemon.ts";

const shell = (command: string): string => `/tool shell ${JSON.stringify({ command })}`;
const KEY = { "X-Idempotency-Key": "delivery-1" };

describe("idempotency keys", () => {
  test("a replay is answered with the duplicate body, also after a restart, and runs no second turn", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    const message = shell("echo ran >> log");
    expect((await post(daemon, token, message, KEY)).status).toBe(200);
    const replay = await post(daemon, token, message, KEY);
    expect(replay).toEqual({
      status: 200,
      body: { status: "duplicate", idempotent: true, message: expect.any(String) },
    });
    await daemon.stop();
    await using again = await startBinary({ home: home.path });
    expect((await post(again, token, message, KEY)).body.status).toBe("duplicate");
    expect(readFileSync(join(home.path, "workspace/log"), "utf8")).toBe("ran\n");
  });

  test("two hundred requests at once with one key are one turn", async () => {
    using home = homeWith(`${UNGUARDED}\n[gateway]\nwebhook_rate_limit_per_minute = 0\n`);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => post(daemon, token, shell("echo ran >> log"), KEY)),
    );
    expect(answers.filter((answer) => answer.body.status === "duplicate")).toHaveLength(199);
    expect(readFileSync(join(home.path, "workspace/log"), "utf8")).toBe("ran\n");
  });

  test("killed while a command runs: the key stays, the command is not run again", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    const lost = post(daemon, token, shell("echo ran >> log; sleep 60"), KEY).catch(() => "lost");
    await until(() => existsSync(join(home.path, "workspace/log")));
    await daemon.kill9();
    expect(await lost).toBe("lost");
    await using again = await startBinary({ home: home.path });
    expect((await post(again, token, shell("echo ran >> log"), KEY)).body.status).toBe("duplicate");
    expect(readFileSync(join(home.path, "workspace/log"), "utf8")).toBe("ran\n");
    expect(callStates(home.path)).toEqual(["interrupted"]);
  });
});

describe("sessions", () => {
  test("survive kill -9 with every answered turn, and belong to one device", async () => {
    using home = homeWith("");
    const { daemon, token } = await startPaired({ home: home.path });
    for (const words of ["one", "two"]) {
      expect((await post(daemon, token, words, { "X-Session-Id": "diary" })).body.session_id).toBe("diary");
    }
    await daemon.kill9();
    await using again = await startBinary({ home: home.path });
    await post(again, token, "three", { "X-Session-Id": "diary" });
    const listed = await again.request("/api/sessions", { token });
    expect(await listed.json()).toMatchObject({ sessions: [{ session_id: "diary", turns: 3 }] });
  });

  test("a message without a session opens one, under a name that continues it", async () => {
    const { daemon, token } = await startPaired();
    await using _ = daemon;
    const first = (await post(daemon, token, "hello")).body;
    const next = (await post(daemon, token, "again", { "X-Session-Id": first.session_id })).body;
    expect(next.session_id).toBe(first.session_id);
  });
});

describe("one daemon per home", () => {
  test("a second one exits 75; kill -9 leaves nothing that stops the next", async () => {
    using home = homeWith("");
    const first = await startBinary({ home: home.path });
    const second = await runBinary(["daemon"], { home: home.path, env: { SVC__GATEWAY__PORT: "0" } });
    expect(second.code).toBe(75);
    expect(second.stderr).toContain("ALREADY_RUNNING");
    await first.kill9();
    await using third = await startBinary({ home: home.path });
    expect((await third.request("/health")).status).toBe(200);
    expect((await runBinary(["status"], { home: home.path })).code).toBe(0);
  });
});

test("of several first starts at once one runs, and the others say why they do not", async () => {
  using home = temporaryHome();
  const starts = await Promise.allSettled(Array.from({ length: 4 }, () => startBinary({ home: home.path })));
  for (const start of starts) if (start.status === "fulfilled") await start.value.stop();
  const lost = starts.flatMap((start) => (start.status === "rejected" ? [String(start.reason)] : []));
  expect(lost).toHaveLength(3);
  for (const reason of lost) expect(reason).toContain("ALREADY_RUNNING");
});

describe("stopping", () => {
  test("SIGTERM lets a running turn answer, refuses new work, exits 0", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    const running = post(daemon, token, shell("touch begun; while [ ! -e go ]; do sleep 0.05; done; echo finished"));
    await until(() => existsSync(join(home.path, "workspace/begun")));
    const stopped = daemon.stop("SIGTERM");
    await daemon.waitFor(/stopping/);
    const refused = await daemon.request("/health").then(
      (response) => response.status,
      () => "closed",
    );
    expect([503, "closed"]).toContain(refused);
    expect(
      (await runBinary(["tools", "run", "file_write", "--input", '{"path":"go","content":""}'], { home: home.path }))
        .code,
    ).toBe(0);
    expect((await running).body.response).toContain("finished");
    expect(await stopped).toEqual({ code: 0, signal: null });
  });

  test("a second signal does not wait", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    const running = post(daemon, token, shell("touch begun; sleep 300"));
    await until(() => existsSync(join(home.path, "workspace/begun")));
    void daemon.stop("SIGTERM");
    await daemon.waitFor(/stopping/);
    expect(await daemon.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    expect((await running).body.code).toBe("TURN_CANCELLED");
  });
});

/** Looks again until it holds; the test's own time limit is the only clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function callStates(home: string): string[] {
  const db = new DatabaseSync(join(home, "state/svc.db"), { readOnly: true });
  const rows = db.prepare("SELECT state FROM tool_calls").all() as { state: string }[];
  db.close();
  return rows.map((row) => row.state);
}
