// A platform that is dead, refuses us or hangs, and an operator who changes the config meanwhile: the others are served, nothing
// that was taken is lost, and the service ends when it is told to.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { describe, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { PERSON } from "./leak-fixture.ts";
import { type PlatformsFixture, startPlatforms } from "./platforms-fixture.ts";

interface Line {
  readonly id: string;
  readonly state: string;
}

const states = async (fixture: PlatformsFixture): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await fixture.json<{ channels: Line[] }>("channels", "list")).channels.map(({ id, state }) => [id, state]),
  );

const health = async ({ daemon }: PlatformsFixture): Promise<string> =>
  ((await (await daemon.request("/health")).json()) as { status: string }).status;

describe("at the start", () => {
  test("a dead platform's messages are taken; one that refuses our credentials is told to come again", async () => {
    await using fixture = await startPlatforms({ idle: true });
    await fixture.a.close();
    fixture.b.mood = { refuses: 401 };
    await fixture.start();
    await eventually(
      () => states(fixture),
      (now) => now["provider_a"] === "waiting" && now["provider_b"] === "failed",
    );
    expect(await states(fixture)).toEqual({
      provider_a: "waiting",
      provider_b: "failed",
      provider_c: "running",
      provider_d: "running",
    });
    expect(await health(fixture)).toBe("degraded");
    expect((await fixture.post("provider_a", fixture.from.a())).status).toBe(200);
    const refused = await fixture.post("provider_b", fixture.from.b());
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      503,
      expect.objectContaining({ code: "CHANNEL_DOWN", retry_after: 60 }),
    ]);
    expect((await fixture.post("provider_c", fixture.from.c())).status).toBe(200);
  });

  test("what went wrong last is told, by every way, also when the platform is back", async () => {
    await using fixture = await startPlatforms({ idle: true });
    fixture.a.mood = { refuses: 503 };
    await fixture.start();
    await eventually(
      () => states(fixture),
      (now) => now["provider_a"] === "waiting",
    );
    const failing = await fixture.svc("channels", "list");
    expect(failing.stdout).toMatch(/provider_a +waiting \(.*status 503/);
    expect(failing.stdout).not.toContain("last error");
    fixture.a.mood = "takes";
    await eventually(
      () => states(fixture),
      (now) => now["provider_a"] === "running",
    );
    const { channels } = await fixture.json<{ channels: Line[] }>("channels", "list");
    const wasDown = { reason: expect.stringContaining("status 503"), at: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(channels).toEqual([
      expect.objectContaining({ id: "provider_a", state: "running", reason: null, last_failure: wasDown }),
      expect.objectContaining({ id: "provider_b", last_failure: null }),
      expect.objectContaining({ id: "provider_c", last_failure: null }),
      expect.objectContaining({ id: "provider_d", last_failure: null }),
    ]);
    expect((await fixture.svc("channels", "list")).stdout).toMatch(
      /provider_a +running .*last error [-0-9]+ [:0-9]+: .*503/,
    );
    expect((await fixture.svc("status")).stdout).toMatch(/channel +provider_a +running .*last error .*503/);
    const token = await fixture.daemon.pair();
    const answered = await (await fixture.daemon.request("/api/channels", { token })).json();
    expect(answered).toEqual({ channels });
  });

  test("with require_signatures, a channel without a secret takes nothing from anybody", async () => {
    await using fixture = await startPlatforms({ more: "[gateway]\nrequire_signatures = true\n", idle: true });
    const file = join(fixture.home, "config.toml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^app_secret = .*$/m, 'app_secret = "  "'));
    await fixture.start();
    const { body } = fixture.from.a();
    expect((await fixture.post("provider_a", { method: "POST", query: "", headers: {}, body })).status).toBe(401);
    expect((await fixture.post("provider_d", fixture.from.d())).status).toBe(200);
    expect((await fixture.svc("channels", "list")).stdout).toMatch(/provider_a.*NOT SIGNED/);
  });
});

test("a notification to a channel that is down is queued, not skipped, and arrives when the channel is back", async () => {
  const target = (name: string) => `notification_target = "${name}"\n`;
  await using fixture = await startPlatforms({ idle: true });
  const file = join(fixture.home, "config.toml");
  const config = readFileSync(file, "utf8")
    .replace("[channels_config.provider_a]\n", `$&${target(PERSON)}`)
    .replace("[channels_config.provider_b]\n", `$&${target(PERSON)}`);
  writeFileSync(file, config);
  fixture.a.mood = { refuses: 503 };
  fixture.b.mood = { refuses: 401 };
  await fixture.start();
  await eventually(
    () => states(fixture),
    (now) => now["provider_a"] === "waiting" && now["provider_b"] === "failed",
  );
  const body = {
    type: "build-done",
    content: { title: "Build 17" },
    channels: ["provider_a", "provider_b", "provider_c", "slack"],
  };
  const answer = await fixture.daemon.request("/api/channel-events", { method: "POST", body });
  // Provider C has no notification_target, and slack no section.
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { ok: true, event_id: expect.any(String), skipped: ["provider_c", "slack"] },
  ]);
  fixture.a.mood = fixture.b.mood = "takes";
  expect((await fixture.svc("reload")).code).toBe(0);
  await eventually(
    () => [fixture.a.sent, fixture.b.sent].map(({ length }) => length),
    (counts) => counts.join() === "1,1",
  );
  expect([...fixture.a.sent, ...fixture.b.sent].map(({ text }) => text)).toEqual(["Build 17", "Build 17"]);
});

describe("a reload", () => {
  test("that takes a channel away leaves its messages; brought back, it delivers them once and in order", async () => {
    await using fixture = await startPlatforms();
    fixture.a.mood = "resets";
    const words = Array.from({ length: 5 }, (_, n) => `wait ${n}`);
    for (const text of words) expect((await fixture.post("provider_a", fixture.from.a({ text }))).status).toBe(200);
    await eventually(
      async () => (await fixture.json<{ messages: Line[] }>("inbox", "list", "--box", "out")).messages.length,
      (count) => count === words.length,
    );
    fixture.config(undefined, ["provider_b"]);
    expect((await fixture.svc("reload")).code).toBe(0);
    expect((await fixture.post("provider_a", fixture.from.a())).status).toBe(404);
    fixture.a.mood = "takes";
    const before = fixture.a.requests.length;
    fixture.config("[gateway]\nmax_body_bytes = 3\n");
    expect((await fixture.svc("reload")).code).toBe(78);
    expect(fixture.a.requests.length).toBe(before);
    fixture.config();
    expect((await fixture.svc("reload")).code).toBe(0);
    await eventually(
      () => fixture.a.sent.length,
      (count) => count >= words.length,
    );
    expect(fixture.a.sent.map(({ text }) => text.split("\n")[0])).toEqual(words);
  });

  test("with another secret takes what is signed with it, and no more what was signed with the old one", async () => {
    await using fixture = await startPlatforms();
    const old = fixture.from.c();
    const rotated = { ...old, query: "?token=rotated-token-of-the-test" };
    const key = "channels_config.provider_c.callback_token";
    expect([(await fixture.post("provider_c", rotated)).status, fixture.c.sent]).toEqual([401, []]);
    const set = await runBinary(["secrets", "set", key], { home: fixture.home, input: "rotated-token-of-the-test" });
    expect(set.code).toBe(0);
    expect((await fixture.post("provider_c", old)).status).toBe(401);
    expect((await fixture.post("provider_c", rotated)).status).toBe(200);
  });
});

test("told twice to end, the service ends, whatever platforms it waits for", async () => {
  await using fixture = await startPlatforms({ more: "[daemon]\ndrain_secs = 3600\n" });
  for (const platform of [fixture.a, fixture.b, fixture.c, fixture.d]) platform.mood = "hangs";
  await fixture.post("provider_a", fixture.from.a());
  await fixture.post("provider_b", fixture.from.b());
  await eventually(
    () => fixture.a.requests.filter(({ method }) => method === "POST").length,
    (count) => count >= 2,
  );
  void fixture.daemon.stop();
  expect(await fixture.daemon.stop("SIGINT")).toEqual({ code: 0, signal: null });
});
