// The path of a channel that is not configured, not built or out of service: its platform is told which, in the words of the
// specification, and the path is nobody else's.
import type { Ingress } from "@svc/contract";
import { vectorCases } from "@svc/testkit/vectors";
import { describe, expect, test } from "vitest";
import { ingressPathsOf } from "../src/index.ts";
import { channelWith, delivery, FEATURE, PATH } from "./channel.ts";
import { Harness } from "./harness.ts";
import { type Answer, call } from "./http.ts";

const PATHS = new Map([[PATH, { feature: FEATURE, title: "Provider A" }]]);

const told = ({ status, json }: Answer) => [status, json?.code];

describe("a channel that is not there", () => {
  test.each(["GET", "POST", "PUT", "DELETE", "OPTIONS"])(
    "is 404 NOT_CONFIGURED by its name, for %s too",
    async (method) => {
      const gateway = await new Harness().start({ ingressPaths: PATHS });
      const answer = await call(gateway, delivery(undefined, { method }));
      expect([answer.status, answer.json]).toEqual([
        404,
        { error: "Provider A not configured", code: "NOT_CONFIGURED" },
      ]);
      gateway.gateway.drain();
      expect((await call(gateway, delivery(undefined, { method }))).status).toBe(404);
    },
  );

  test("because its feature gave up is 503 with a time to come back, whether or not it ever came up", async () => {
    for (const ingress of [[], [channelWith()]]) {
      const gateway = await new Harness().start({ ingress, ingressPaths: PATHS });
      gateway.failed.add(FEATURE);
      for (const method of ["POST", "GET"]) {
        const answer = await call(gateway, delivery(undefined, { method }));
        expect([told(answer), answer.headers["retry-after"]]).toEqual([[503, "CHANNEL_DOWN"], "60"]);
      }
      gateway.failed.clear();
      expect((await call(gateway, delivery())).status).toBe(ingress.length === 0 ? 404 : 200);
      expect(gateway.arrivals).toHaveLength(ingress.length);
    }
  });

  test("can't take a path of core: neither the configured one nor the mere name of one", async () => {
    for (const path of ["/webhook", "/health", "/openapi.json"]) {
      await expect(new Harness().start({ ingress: [channelWith({ path })] })).rejects.toMatchObject({
        code: "FEATURE_CONFLICT",
      });
    }
    const ingressPaths = new Map([["/webhook", { feature: FEATURE, title: "Provider A" }]]);
    const gateway = await new Harness().start({ ingressPaths });
    const answer = await call(gateway, { method: "POST", path: "/webhook", headers: { host: "evil.example" } });
    expect(told(answer)).toEqual([403, "BAD_HOST"]);
  });

  test("nor a path of another channel", async () => {
    const ingress = [channelWith(), channelWith({}, { feature: "channel-other" })];
    await expect(new Harness().start({ ingress })).rejects.toMatchObject({ code: "FEATURE_CONFLICT" });
  });
});

describe("mailpush.http", () => {
  const path = "/webhook/mailpush";
  const ingressPaths = new Map([[path, { feature: "channel-mailpush", title: "Mailpush" }]]);

  test.each(vectorCases<any, any>("mailpush.http"))("$name", async ({ input, expected }) => {
    const isOpen = input.webhook_secret === "";
    const verify: Ingress["verify"] = () =>
      isOpen ? { ok: true } : { ok: false, code: "UNAUTHORIZED", why: "the bearer is missing or wrong" };
    const ingress = channelWith({ path, verify, parse: () => ({}), signed: !isOpen }, { feature: "channel-mailpush" });
    const gateway = await new Harness().start({ ingressPaths, ingress: input.enabled ? [ingress] : [] });
    const answer = await call(gateway, { method: "POST", path, body: "x".repeat(input.body_bytes ?? 2) });
    expect([answer.status, answer.json]).toEqual([expected.status, expect.objectContaining(expected.body)]);
  });
});

test("paths and their titles are those of the whole catalogue", () => {
  const entry = (id: string, ...ingress: string[]) => ({
    id,
    ingress,
    flag: id,
    kind: "channel" as const,
    summary: "",
    sections: [],
    tools: [],
    commands: [],
    children: [],
    platforms: [],
    native: [],
    routes: [],
    open: [],
    included: false,
    planned: true,
    profiles: [],
    build: "npx pnpm build home --with it",
  });
  const catalogue = [
    entry("channel-provider-a", "/provider-a"),
    entry("tool-x"),
    entry("channel-mailpush", "/webhook/mailpush", "/m"),
  ];
  expect([...ingressPathsOf(catalogue)]).toEqual([
    ["/provider-a", { feature: "channel-provider-a", title: "Provider A" }],
    ["/webhook/mailpush", { feature: "channel-mailpush", title: "Mailpush" }],
    ["/m", { feature: "channel-mailpush", title: "Mailpush" }],
  ]);
});
