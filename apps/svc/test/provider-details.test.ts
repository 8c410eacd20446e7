// Details of the providers' formats that a delivery shows over HTTP: the exact prefix of a signature, a message without a chat,
// and a gateway that listens on the IPv6 loopback address as a URL spells it.
import type { SampleDelivery } from "@svc/contract";
import { providerBSigned } from "@svc/testkit/platforms/provider-b/delivery";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./channel-house.ts";
import { homeWith } from "./daemon.ts";
import { LINE, PERSON, planted } from "./leak-house.ts";
import { type PlatformsHouse, startPlatforms } from "./platforms-house.ts";

let house: PlatformsHouse;
beforeAll(async () => (house = await startPlatforms()));
afterAll(() => house[Symbol.asyncDispose]());

test("Provider A's signature begins with sha256= in lower case, else the delivery is refused", async () => {
  const delivery = house.from.a({ text: "prefix" });
  const name = "x-hub-signature-256";
  const hex = delivery.headers[name]!.replace("sha256=", "");
  const withPrefix = (prefix: string): SampleDelivery => ({
    ...delivery,
    headers: { ...delivery.headers, [name]: `${prefix}${hex}` },
  });
  const statuses = [];
  for (const prefix of ["SHA256=", "Sha256=", "", "sha1="]) {
    statuses.push((await house.post("provider_a", withPrefix(prefix))).status);
  }
  expect(statuses).toEqual([401, 401, 401, 401]);
  expect(await house.json("inbox", "list")).toEqual({ messages: [] });
  expect((await house.post("provider_a", withPrefix("sha256="))).status).toBe(200);
});

test("Provider B's message without a chat id is answered to its sender's number", async () => {
  const before = house.b.sent.length;
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
  expect((await house.post("provider_b", delivery)).status).toBe(200);
  const sent = await eventually(
    () => house.b.sent.slice(before),
    (messages) => messages.length > 0,
  );
  expect(sent).toMatchObject([{ text: expect.stringContaining("is anyone there?") }]);
  const begun = house.b.requests.filter(({ path, method }) => method === "POST" && path.endsWith("/chats"));
  expect(begun).toMatchObject([{ json: { from: LINE, to: [PERSON] } }]);
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
