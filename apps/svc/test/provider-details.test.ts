// Details of the providers' formats that a delivery shows over HTTP: the exact prefix of a signature, a message without a chat or
// without a time of its own, and a gateway that listens on the IPv6 loopback address as a URL spells it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SampleDelivery } from "@svc/contract";
import { providerBSigned } from "@svc/testkit/platforms/provider-b/delivery";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith } from "./daemon.ts";
import { LINE, PERSON, planted } from "./leak-fixture.ts";
import { type PlatformsFixture, startPlatforms } from "./platforms-fixture.ts";

let fixture: PlatformsFixture;
beforeAll(async () => (fixture = await startPlatforms()));
afterAll(() => fixture[Symbol.asyncDispose]());

test("Provider A's signature begins with sha256= in lower case, else the delivery is refused", async () => {
  const delivery = fixture.from.a({ text: "prefix" });
  const name = "x-hub-signature-256";
  const hex = delivery.headers[name]!.replace("sha256=", "");
  const withPrefix = (prefix: string): SampleDelivery => ({
    ...delivery,
    headers: { ...delivery.headers, [name]: `${prefix}${hex}` },
  });
  const statuses = [];
  for (const prefix of ["SHA256=", "Sha256=", "", "sha1="]) {
    statuses.push((await fixture.post("provider_a", withPrefix(prefix))).status);
  }
  expect(statuses).toEqual([401, 401, 401, 401]);
  expect(await fixture.json("inbox", "list")).toEqual({ messages: [] });
  expect((await fixture.post("provider_a", withPrefix("sha256="))).status).toBe(200);
});

test("Provider B's message without a chat id is answered to its sender's number", async () => {
  const before = fixture.b.sent.length;
  const event = {
    event_type: "message.received",
    created_at: new Date().toISOString(),
    data: {
      id: "b-without-a-chat",
      direction: "inbound",
      sender_handle: { handle: PERSON, is_me: false },
      parts: [{ type: "text", value: "is anyone there?" }],
    },
  };
  const body = Buffer.from(JSON.stringify(event));
  const delivery = providerBSigned(body, planted("provider_b.signing_secret"), Date.now());
  expect((await fixture.post("provider_b", delivery)).status).toBe(200);
  const sent = await eventually(
    () => fixture.b.sent.slice(before),
    (messages) => messages.length > 0,
  );
  expect(sent).toMatchObject([{ text: expect.stringContaining("is anyone there?") }]);
  const begun = fixture.b.requests.filter(({ path, method }) => method === "POST" && path.endsWith("/chats"));
  expect(begun).toMatchObject([{ json: { from: LINE, to: [PERSON] } }]);
});

test("a yes of Provider B without a time of its own is as old as its event: one from before the question approves nothing", async () => {
  await using asking = await startPlatforms({ idle: true });
  const file = join(asking.home, "config.toml");
  const keys = `notification_target = "${PERSON}"\napprovers = ["${PERSON}"]\n`;
  writeFileSync(file, readFileSync(file, "utf8").replace("[channels_config.provider_b]\n", `$&${keys}`));
  await asking.start();
  const question = {
    type: "human_approval_request",
    run_id: "deploy",
    step_id: "s",
    content: { title: "Deploy" },
    channels: ["provider_b"],
  };
  await asking.daemon.request("/api/channel-events", { method: "POST", body: question });
  const texts = async (count: number): Promise<string[]> => {
    const sent = await eventually(
      () => asking.b.sent,
      (messages) => messages.length >= count,
    );
    return sent.map(({ text }) => text);
  };
  await texts(1);
  const answer = async (id: string, createdAtMs: number): Promise<void> => {
    const event = {
      api_version: "v3",
      webhook_version: "2026-02-03",
      event_type: "message.received",
      event_id: `event-${id}`,
      created_at: new Date(createdAtMs).toISOString(),
      data: {
        id,
        direction: "inbound",
        chat: { id: asking.b.sent[0]!.chatId },
        sender_handle: { handle: PERSON, is_me: false },
        parts: [{ type: "text", value: "yes" }],
      },
    };
    const body = Buffer.from(JSON.stringify(event));
    const delivery = providerBSigned(body, planted("provider_b.signing_secret"), Date.now());
    expect((await asking.post("provider_b", delivery)).status).toBe(200);
  };
  await answer("early", Date.now() - 3_600_000);
  expect((await texts(2))[1]).toContain("Nothing was answered");
  await answer("now", Date.now() + 1000);
  expect((await texts(3))[2]).toContain("approved");
});

test("a gateway listens on [::1] as on ::1: no public address, and it needs no pairing there", async () => {
  using home = homeWith('[gateway]\nhost = "[::1]"\nrequire_pairing = false\n');
  expect(await runBinary(["config", "check"], { home: home.path })).toMatchObject({ code: 0 });
  await using daemon = await startBinary({ home: home.path });
  expect(new URL(daemon.url).hostname).toBe("[::1]");
  const answer = await daemon.request("/webhook", { method: "POST", body: { message: "hello" } });
  expect(answer.status).toBe(200);
  using open = homeWith('[gateway]\nhost = "[::]"\nrequire_pairing = false\n');
  expect(await runBinary(["config", "check"], { home: open.path })).toMatchObject({
    code: 78,
    stderr: expect.stringContaining("gateway.require_pairing"),
  });
});
