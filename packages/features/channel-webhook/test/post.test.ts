// What a receiver gets: exactly the documented body, signed so that the reference library takes it, at every try with the same
// id; and what its answers come to.
import type { FetchOptions } from "@svc/contract";
import { startPlatform } from "@svc/testkit/platforms/base";
import { startWebhookReceiver } from "@svc/testkit/platforms/webhook/receiver";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { message, never, open, SECRET } from "./open-webhook.ts";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("a message", () => {
  test("is posted as three fields, and the library takes its signature", async () => {
    await using receiver = await startWebhookReceiver({ secret: SECRET });
    const { channel } = open({ url: receiver.hook, url_secret: SECRET }, { nowMs: Date.now() });
    expect(await channel.send(message(), never)).toEqual({});
    const { method, headers, body } = await receiver.arrived(0);
    expect([method, headers["content-type"]]).toEqual(["POST", "application/json"]);
    expect(text(body)).toBe('{"content":"The backup is done.","conversation":"operations","thread_id":null}');
    const verified = new Webhook(SECRET).verify(text(body), headers as Record<string, string>);
    expect(verified).toEqual({ content: "The backup is done.", conversation: "operations", thread_id: null });
    expect(() => new Webhook(SECRET).verify(`${text(body)} `, headers as Record<string, string>)).toThrow("signature");
    expect(headers["webhook-id"]).toBe(message().deliveryId);
  });

  test("names its thread, and has no half characters", async () => {
    await using receiver = await startWebhookReceiver({ secret: SECRET });
    const { channel } = open({ url: receiver.hook, url_secret: SECRET }, { nowMs: Date.now() });
    const conversation = { channel: "webhook", id: "operations", thread: "t-7" };
    await channel.send(message({ conversation, text: "a \u{1F44B} b \ud83d c" }), never);
    expect(receiver.sent).toMatchObject([{ threadId: "t-7", text: "a \u{1F44B} b \ufffd c" }]);
  });

  test("that answers a request whose caller did not wait has the name that he knows his session by", async () => {
    await using receiver = await startWebhookReceiver({ secret: SECRET });
    const { channel } = open({ url: receiver.hook, url_secret: SECRET }, { nowMs: Date.now() });
    const conversation = { channel: "webhook", id: "ops@dev-3f2a" };
    await channel.send(message({ conversation, replyData: { session: "ops" } }), never);
    for (const [n, replyData] of [null, { session: 7 }, ["ops"], "ops"].entries()) {
      await channel.send(message({ conversation, replyData, deliveryId: `other-${n}` }), never);
    }
    expect(receiver.sent.map((sent) => sent.conversation)).toEqual(["ops", ...Array<string>(4).fill("ops@dev-3f2a")]);
  });

  test("is put where the section says so, and takes the credentials along", async () => {
    await using receiver = await startWebhookReceiver({ method: "PUT", authorization: "Bearer abc" });
    const { channel } = open(
      { url: receiver.hook, method: "PUT", authorization: " Bearer abc " },
      { nowMs: Date.now() },
    );
    await channel.send(message(), never);
    expect(receiver.sent).toHaveLength(1);
  });

  test("is signed with the bytes of a key that is any text", async () => {
    await using receiver = await startWebhookReceiver({ secret: "schlüssel der werkstatt" });
    const section = { url: receiver.hook, url_secret: "schlüssel der werkstatt" };
    await open(section, { nowMs: Date.now() }).channel.send(message(), never);
    expect(receiver.sent).toHaveLength(1);
  });

  test.each([undefined, "", "  "])("is not signed without a key (%j), and that is said at start", async (secret) => {
    await using receiver = await startWebhookReceiver();
    const { channel, made, context } = open({ url: receiver.hook, url_secret: secret }, { nowMs: Date.now() });
    await made.register?.(never);
    expect(context.log.text()).toContain("NOT SIGNED");
    await channel.send(message(), never);
    const { headers } = await receiver.arrived(0);
    expect(headers).not.toHaveProperty("webhook-signature");
    expect(headers).toHaveProperty("webhook-id");
  });

  test("keeps its id over tries, while time and signature are those of the try", async () => {
    await using receiver = await startWebhookReceiver({ secret: SECRET });
    const { channel, context } = open({ url: receiver.hook, url_secret: SECRET }, { nowMs: Date.now() });
    receiver.mood = { refuses: 503 };
    await expect(channel.send(message(), never)).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
    context.clock.setWallClock(Date.now() + 60_000);
    receiver.mood = "takes";
    await channel.send(message(), never);
    const [first, second] = receiver.requests.map(({ headers }) => headers);
    expect(first!["webhook-id"]).toBe(second!["webhook-id"]);
    expect(Number(second!["webhook-timestamp"]) - Number(first!["webhook-timestamp"])).toBeGreaterThanOrEqual(60);
    expect(first!["webhook-signature"]).not.toBe(second!["webhook-signature"]);
  });
});

describe("the answer", () => {
  test.each([
    [400, "DELIVERY_REFUSED"],
    [404, "DELIVERY_REFUSED"],
    [405, "DELIVERY_REFUSED"],
    [410, "DELIVERY_REFUSED"],
    [422, "DELIVERY_REFUSED"],
    [401, "CHANNEL_UNAUTHORIZED"],
    [403, "CHANNEL_UNAUTHORIZED"],
    [408, "DELIVERY_FAILED"],
    [425, "DELIVERY_FAILED"],
    [429, "DELIVERY_FAILED"],
    [500, "DELIVERY_FAILED"],
    [503, "DELIVERY_FAILED"],
    [599, "DELIVERY_FAILED"],
  ])("%i is %s, with the time that it asks for", async (status, code) => {
    await using receiver = await startWebhookReceiver();
    receiver.mood = { refuses: status, headers: { "retry-after": "9" } };
    const { channel } = open({ url: receiver.hook });
    await expect(channel.send(message(), never)).rejects.toMatchObject({ code, retryAfterMs: 9_000 });
  });

  test.each([200, 201, 202, 204, 299])("%i is an acceptance", async (status) => {
    await using receiver = await startPlatform(() => ({ status }));
    await expect(open({ url: receiver.url }).channel.send(message(), never)).resolves.toEqual({});
  });

  test("is not read to an end that never comes", async () => {
    await using receiver = await startPlatform(() => (response) => {
      response.writeHead(200);
      const write = (): void => {
        if (response.destroyed) return;
        response.write("x".repeat(65_536));
        setImmediate(write);
      };
      write();
    });
    await expect(open({ url: receiver.url }).channel.send(message(), never)).resolves.toEqual({});
  });

  test("that redirects to another host is not followed, and nothing arrives there", async () => {
    await using elsewhere = await startWebhookReceiver();
    await using receiver = await startWebhookReceiver();
    receiver.mood = { redirects: elsewhere.hook };
    await expect(open({ url: receiver.hook }).channel.send(message(), never)).rejects.toMatchObject({
      code: "DELIVERY_FAILED",
    });
    expect(elsewhere.requests).toEqual([]);
  });

  test.each([301, 302, 303, 307, 308])(
    "%i on the same host is no acceptance, and nothing is posted there",
    async (status) => {
      await using receiver = await startPlatform(({ path }) =>
        path === "/new" ? { status: 200 } : { status, headers: { location: "/new" } },
      );
      await expect(open({ url: `${receiver.url}/old` }).channel.send(message(), never)).rejects.toMatchObject({
        code: "DELIVERY_FAILED",
      });
      expect(receiver.requests.map(({ path }) => path)).toEqual(["/old"]);
    },
  );

  test("is waited for as long as the section says", async () => {
    const asked: (FetchOptions | undefined)[] = [];
    const fetch = (url: string, options?: FetchOptions) => {
      asked.push(options);
      return Promise.resolve({ status: 200, headers: {}, bytes: new Uint8Array(), truncated: false, url });
    };
    const { channel } = open({ url: "https://receiver.example.org/hook#a", timeout_secs: 7 }, { fetch });
    await channel.send(message(), never);
    expect(await channel.check!(never)).toContain("receiver.example.org answers");
    expect(asked.map((options) => options?.timeoutMs)).toEqual([7_000, 7_000]);
  });
});
