// A stranger at a channel's path: what is forged, recorded and played again, too large or of no shape must change nothing,
// and the paths that take any Host must lead to nothing else.
import type { SampleDelivery } from "@svc/contract";
import { signedByProviderA } from "@svc/testkit/platforms/provider-a/delivery";
import { providerBSigned } from "@svc/testkit/platforms/provider-b/delivery";
import { providerDActivity } from "@svc/testkit/platforms/provider-d/delivery";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { planted } from "./leak-fixture.ts";
import { type PlatformsFixture, startPlatforms } from "./platforms-fixture.ts";

let fixture: PlatformsFixture;
beforeAll(async () => (fixture = await startPlatforms()));
afterAll(() => fixture[Symbol.asyncDispose]());

const answeredTo = (text: string): number => fixture.a.sent.filter((sent) => sent.text.includes(text)).length;

/** States of what was to be sent. */
async function answers(): Promise<string[]> {
  const { messages } = await fixture.json<{ messages: { state: string }[] }>("inbox", "list", "--box", "out");
  return messages.map(({ state }) => state);
}

describe("a delivery", () => {
  test("that is forged, or whose proof is missing, is refused by every channel, and nothing of it is kept", async () => {
    const { a, b, c, d } = fixture.from;
    const forged = (delivery: SampleDelivery): SampleDelivery[] => {
      const headers = Object.entries(delivery.headers).filter(([name]) => !name.includes("signature"));
      const twisted = Object.fromEntries(
        Object.entries(delivery.headers).map(([name, value]) => [name, value.replace(/[0-9a-f]{8}$/, "00000000")]),
      );
      return [
        { ...delivery, query: "", headers: Object.fromEntries(headers) },
        { ...delivery, query: "?token=guessed", headers: twisted },
      ];
    };
    const statuses = [];
    for (const [channel, delivery] of [
      ["provider_a", a()],
      ["provider_b", b()],
      ["provider_c", c()],
      ["provider_d", d()],
    ] as const) {
      for (const one of forged(delivery)) statuses.push((await fixture.post(channel, one)).status);
    }
    expect(statuses).toEqual(Array(8).fill(401));
    expect(await fixture.json("inbox", "list")).toEqual({ messages: [] });
  });

  test("of Provider D is good once, also after a kill and a new start", async () => {
    const delivery = fixture.from.d({ text: "only once" });
    expect((await fixture.post("provider_d", delivery)).status).toBe(200);
    expect((await fixture.post("provider_d", delivery)).status).toBe(401);
    // Killed between the platform's yes and our note of it, it would be sent again: the one window there is.
    await eventually(answers, (states) => states.join() === "sent");
    await fixture.daemon.kill9();
    await fixture.start();
    expect((await fixture.post("provider_d", delivery)).status).toBe(401);
    await fixture.post("provider_d", fixture.from.d({ text: "the next" }));
    await eventually(answers, (states) => states.join() === "sent,sent");
    const texts = fixture.d.sent.map(({ text }) => text.split("\n")[0]);
    expect(texts).toEqual(["ann: only once", "ann: the next"]);
  });

  test("that comes three hundred times at once is one turn", async () => {
    const delivery = fixture.from.a({ text: "three hundred" });
    const answers = await Promise.all(Array.from({ length: 300 }, () => fixture.post("provider_a", delivery)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await fixture.post("provider_a", fixture.from.a({ text: "the next one" }));
    await eventually(
      () => answeredTo("the next one"),
      (count) => count > 0,
    );
    expect(answeredTo("three hundred")).toBe(1);
  });

  test("of a megabyte is read, of one byte more is not; nested deeper than anybody nests it is no JSON", async () => {
    const appSecret = planted("provider_a.app_secret");
    const ofBytes = (bytes: number) => signedByProviderA({ appSecret }, Buffer.from(`"${"x".repeat(bytes - 2)}"`));
    expect((await fixture.post("provider_a", ofBytes(1_048_576))).status).toBe(200);
    expect((await fixture.post("provider_a", ofBytes(1_048_577))).status).toBe(413);
    const deep = Buffer.from("[".repeat(500_000));
    const answers = [
      await fixture.post("provider_a", signedByProviderA({ appSecret }, deep)),
      await fixture.post("provider_b", providerBSigned(deep, planted("provider_b.signing_secret"), Date.now())),
      await fixture.post("provider_c", { ...fixture.from.c(), body: deep }),
      await fixture.post("provider_d", providerDActivity(deep, planted("provider_d.webhook_secret"))),
    ];
    const codes = answers.map(({ status, body }) => `${status} ${(JSON.parse(body) as { code: string }).code}`);
    expect(codes).toEqual(Array(4).fill("400 BAD_JSON"));
  });
});

/** Status of one request as it is written, which no client would send. */
function statusOf(target: string, token: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(fixture.daemon.url).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.once("close", () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])));
    const lines = ["Host: evil.example", "Origin: https://evil.example", `Authorization: Bearer ${token}`];
    socket.write(`GET ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`);
  });
}

test("a path that takes any Host is that path and no other", async () => {
  const [, code] = /(\d{6})/.exec((await fixture.svc("pair")).stdout)!;
  const token = await fixture.daemon.pair(code);
  const twisted = [
    "/provider-a/../api/inbox",
    "/provider-a/",
    "//provider-a",
    "/provider-a/api/inbox",
    "/provider-a%2f..%2fapi%2finbox",
    "/provider-a\\..\\api\\inbox",
    "/provider-a#/api/inbox",
    "/provider-a;/api/inbox",
    "/%70rovider-a",
    "/PROVIDER-A",
    "/health/../api/inbox",
    "http://evil.example/api/inbox",
    "/api/inbox?/provider-a",
  ];
  const statuses = await Promise.all(twisted.map(async (target) => [target, await statusOf(target, token)]));
  expect(statuses).toEqual(twisted.map((target) => [target, 403]));
  const handshake = new URLSearchParams({
    "hub.mode": "subscribe",
    "hub.challenge": "42",
    "hub.verify_token": planted("provider_a.verify_token"),
  });
  expect(await statusOf(`/provider-a?${handshake}`, token)).toBe(200);
});

test("who may only read, or only send to /webhook, sees nothing of the inbox", async () => {
  for (const scope of ["read", "webhook"]) {
    const [, code] = /(\d{6})/.exec((await fixture.svc("pair", "--scope", scope)).stdout)!;
    const token = await fixture.daemon.pair(code);
    for (const [method, path] of [
      ["GET", "/api/inbox"],
      ["GET", "/api/inbox/in-1"],
      ["POST", "/api/inbox/in-1/replay"],
      ["DELETE", "/api/inbox/in-1"],
    ] as const) {
      expect((await fixture.daemon.request(path, { method, token })).status, `${scope} ${method} ${path}`).toBe(403);
    }
  }
});
