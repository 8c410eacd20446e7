// GET /metrics is always there: the numbers of whoever has them, a comment where nobody has, an error in our shape when
// they can't be told; and whoever asks a thousand times at once has them made once.
import type { Exposition } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { call } from "./http.ts";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";
const NUMBERS = "# HELP svc_turns_total Turns.\n# TYPE svc_turns_total counter\nsvc_turns_total 3\n";

const telling = (text: () => Promise<string>): Promise<Harness> => new Harness().start({ exposition: { text } });

describe("without numbers", () => {
  test("it is a comment on how to have them, and needs no token", async () => {
    const answer = await call(await new Harness().start(), { path: "/metrics" });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, TYPE]);
    expect(answer.text).toBe("# metrics are off: this is a test\n");
  });
});

describe("with numbers", () => {
  test("they are told as they are made", async () => {
    const answer = await call(await telling(() => Promise.resolve(NUMBERS)), { path: "/metrics" });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, TYPE]);
    expect(answer.text).toBe(NUMBERS);
  });

  test("HEAD is told how long they are", async () => {
    const gateway = await telling(() => Promise.resolve(NUMBERS));
    const answer = await call(gateway, { method: "HEAD", path: "/metrics" });
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([200, TYPE, ""]);
    expect(answer.headers["content-length"]).toBe(String(NUMBERS.length));
  });

  test("whoever asks while they are made is told the same; whoever asks later, later ones", async () => {
    let made = 0;
    const ready = Promise.withResolvers<void>();
    const gateway = await telling(async () => {
      made += 1;
      await ready.promise;
      return `# ${made}\n`;
    });
    const asked = Array.from({ length: 20 }, () => call(gateway, { path: "/metrics" }));
    const last = call(gateway, { path: "/health" });
    await last;
    ready.resolve();
    const texts = (await Promise.all(asked)).map(({ text }) => text);
    expect(new Set(texts)).toEqual(new Set(["# 1\n"]));
    expect((await call(gateway, { path: "/metrics" })).text).toBe("# 2\n");
  });

  test.each<[string, Exposition["text"]]>([
    ["rejects", () => Promise.reject(new Error("secret in here"))],
    [
      "throws",
      () => {
        throw new Error("secret in here");
      },
    ],
    ["tells no text", () => Promise.resolve(undefined as unknown as string)],
  ])("500 in the shape of every error when it %s, one line of it in the log, and the next is told", async (_, text) => {
    let fails = true;
    const gateway = await telling(() => (fails ? text() : Promise.resolve(NUMBERS)));
    for (let time = 0; time < 3; time += 1) {
      const answer = await call(gateway, { path: "/metrics" });
      expect([answer.status, answer.json?.code]).toEqual([500, "INTERNAL"]);
    }
    expect(gateway.log.lines.filter(({ level }) => level === "error")).toEqual([
      { level: "error", message: "the metrics could not be told", fields: expect.objectContaining({ times: 1 }) },
    ]);
    expect(JSON.stringify(gateway.log.lines)).not.toContain("secret in here");
    fails = false;
    expect((await call(gateway, { path: "/metrics" })).text).toBe(NUMBERS);
  });

  test("a reload takes them away; who is waiting for them still gets them", async () => {
    const ready = Promise.withResolvers<void>();
    const gateway = await telling(() => ready.promise.then(() => NUMBERS));
    const waiting = call(gateway, { path: "/metrics" });
    await call(gateway, { path: "/health" });
    const before = gateway.reconfigure({ exposition: undefined });
    let idle = false;
    void before.idle().then(() => (idle = true));
    expect((await call(gateway, { path: "/metrics" })).text).toMatch(/^# metrics are off/);
    expect(idle).toBe(false);
    ready.resolve();
    expect((await waiting).text).toBe(NUMBERS);
    await before.idle();
  });
});
