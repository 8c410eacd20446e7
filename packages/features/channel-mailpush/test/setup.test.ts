// `svc channels setup mailpush`: makes or fixes the push subscription, and says what is left where the token may not.
import { afterEach, expect, test } from "vitest";
import { closePlatforms, never, open, startPlatform, TOPIC, urlsOf } from "./open-channel.ts";

afterEach(closePlatforms);

const url = "https://svc.example.org/webhook/mailpush";
const SUBSCRIPTION = "projects/my-project/subscriptions/mail-svc";
const signed = { push_audience: "aud", push_service_account: "push@my-project.iam.gserviceaccount.com" };

test("makes the subscription, signed, and watches", async () => {
  const platform = await startPlatform();
  const { channel } = open({ ...urlsOf(platform), ...signed });
  expect(await channel.setup({ url }, never)).toBe(
    `${SUBSCRIPTION} is made and pushes to ${url}. The mailbox is watched until 2026-02-10T12:00Z; svc renews that by itself.`,
  );
  expect(platform.subscriptions.get(SUBSCRIPTION)).toEqual({
    topic: TOPIC,
    pushConfig: {
      pushEndpoint: url,
      oidcToken: { serviceAccountEmail: signed.push_service_account, audience: "aud" },
    },
  });
  expect(platform.requests[0]?.json).toMatchObject({ expirationPolicy: {}, ackDeadlineSeconds: 60 });
  expect(platform.watches).toHaveLength(1);
});

test("fixes one that is there; webhook_url comes before the address that is told", async () => {
  const platform = await startPlatform();
  await open(urlsOf(platform)).channel.setup({ url: "https://old.example/webhook/mailpush" }, never);
  const { channel } = open({ ...urlsOf(platform), webhook_url: "https://relay.example/in" });
  expect(await channel.setup({ url }, never)).toMatch(
    /is updated and pushes to https:\/\/relay\.example\/in\..*not signed/,
  );
  expect(platform.subscriptions.get(SUBSCRIPTION)?.pushConfig).toEqual({ pushEndpoint: "https://relay.example/in" });
});

test("a token that may not, a topic that is not there: the command to do it by hand, without a secret", async () => {
  for (const options of [{ mayManage: false }, { topics: ["projects/my-project/topics/other"] }]) {
    const platform = await startPlatform(options);
    const { channel, context } = open({ ...urlsOf(platform), ...signed });
    const error: unknown = await channel.setup({ url }, never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "CHANNEL_CANNOT",
      hint: expect.stringMatching(/gcloud pubsub subscriptions create mail-svc .*--push-auth-service-account=push@/),
    });
    expect(JSON.stringify(error)).not.toContain(context.config.oauth_token);
  }
});

test("a subscription of that name for another topic is left alone", async () => {
  const other = "projects/my-project/topics/other";
  const platform = await startPlatform({ topics: [TOPIC, other] });
  await open(urlsOf(platform)).channel.setup({ url }, never);
  const { pushConfig } = platform.subscriptions.get(SUBSCRIPTION)!;
  (platform.subscriptions as Map<string, object>).set(SUBSCRIPTION, { topic: other, pushConfig });
  await expect(open(urlsOf(platform)).channel.setup({ url }, never)).rejects.toMatchObject({ code: "CHANNEL_CANNOT" });
});

test.each(["", "http://svc.example.org/webhook/mailpush"])("%j is no URL to push to", async (address) => {
  const { channel } = open();
  await expect(channel.setup({ url: address }, never)).rejects.toMatchObject({
    code: "CHANNEL_CANNOT",
    hint: expect.stringContaining("public_url"),
  });
});

test("refused credentials and a platform that is down are told as they are", async () => {
  const platform = await startPlatform();
  const { channel } = open(urlsOf(platform));
  platform.mood = { refuses: 401 };
  await expect(channel.setup({ url }, never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
  platform.mood = { refuses: 503 };
  await expect(channel.setup({ url }, never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
});
