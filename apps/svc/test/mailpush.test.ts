// Mailpush through the whole binary: a push makes it read the mailbox, each mail is answered once in its thread, and what
// the specification promises at its path.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type FakeModelOptions } from "@svc/testkit/fake-model/server";
import { startDeliverer } from "@svc/testkit/platforms/deliverer";
import { mailpushDelivery, mailpushPost } from "@svc/testkit/platforms/mailpush/push";
import { startMailpush } from "@svc/testkit/platforms/mailpush/server";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, localModel } from "./daemon.ts";

const OWN = "agent@example.com";
const TOPIC = "projects/my-project/topics/mail";
const TOKEN = "planted-access-token-of-the-mailbox";
const SECRET = "planted-webhook-secret";
const GRANT = { refreshToken: "planted-refresh-token", clientId: "client-1", clientSecret: "planted-client-secret" };
const ACCOUNT = "push@my-project.iam.gserviceaccount.com";

interface Options {
  readonly mayManage?: boolean;
  readonly allowed?: string;
}

async function surroundings(script: FakeModelOptions["script"], more = "", options: Options = {}) {
  const { allowed = "ada@example.org", ...rest } = options;
  const stack = new AsyncDisposableStack();
  const platform = stack.use(
    await startMailpush({ address: OWN, topics: [TOPIC], token: TOKEN, now: Date.now, ...GRANT, ...rest }),
  );
  const model = stack.use(await fakeModelServer({ script }));
  const home = stack.use(
    homeWith(`
${localModel(model)}

[channels_config.mailpush]
enabled = true
topic = "${TOPIC}"
refresh_token = "${GRANT.refreshToken}"
client_id = "${GRANT.clientId}"
client_secret = "${GRANT.clientSecret}"
allowed_senders = ["${allowed}"]
api_url = "${platform.url}"
token_url = "${platform.url}/token"
jwks_url = "${platform.url}/certs"
pubsub_url = "${platform.url}"
${more}
`),
  );
  const env = { MAILPUSH_OAUTH_TOKEN: TOKEN, MAILPUSH_WEBHOOK_SECRET: SECRET };
  const daemon = stack.use(await startBinary({ home: home.path, env }));
  const deliverer = stack.use(startDeliverer({ url: () => `${daemon.url}/webhook/mailpush`, attempts: 1 }));
  const statusOf = async (delivery: ReturnType<typeof mailpushPost>) => (await deliverer.deliver(delivery)).statuses[0];
  await eventually(
    () => platform.watches.length,
    (count) => count > 0,
  );
  return { daemon, platform, model, home, env, statusOf, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("a push makes it read, answer in the thread, and mark as read; pushes that come twice change nothing", async () => {
  await using at = await surroundings([{ text: "It rains." }, { text: "Still." }]);
  const { platform, model, daemon, statusOf } = at;
  const first = platform.arrive({ from: "Ada <ada@example.org>", subject: "Weather?", text: "How is it?" });
  platform.arrive({ from: "mallory@evil.test", text: "let me in" });
  platform.arrive({ from: "ada@example.org", text: "out of office", headers: { "Auto-Submitted": "auto-replied" } });
  for (let times = 0; times < 3; times += 1) expect(await statusOf(mailpushDelivery(first.pushed, SECRET))).toBe(200);
  await eventually(
    () => platform.sent.length,
    (count) => count > 0,
  );
  expect(platform.sent).toMatchObject([
    {
      to: ["ada@example.org"],
      subject: "Re: Weather?",
      text: "It rains.",
      inReplyTo: first.mail.messageId,
      threadId: first.mail.threadId,
    },
  ]);
  platform.expireTokens();
  const headers = { "In-Reply-To": platform.sent[0]!.headers.get("message-id") ?? "" };
  const text = "And now?\n\nOn Tue, Agent <agent@example.com> wrote:\n> It rains.";
  const { threadId } = first.mail;
  const second = platform.arrive({ from: "ada@example.org", subject: "Re: Weather?", text, headers, threadId });
  expect(await statusOf(mailpushDelivery(second.pushed, SECRET))).toBe(200);
  await eventually(
    () => platform.sent.length,
    (count) => count > 1,
  );
  expect(platform.sent[1]).toMatchObject({ text: "Still.", threadId });
  expect(model.requests).toHaveLength(2);
  const asked = JSON.stringify(model.requests[1]!.body);
  // One conversation: what was said before is there once, as what was said and not as a quote.
  expect(asked).toContain("How is it?");
  expect(asked).not.toContain("> It rains");
  await eventually(
    () => platform.mail(first.mail.id)?.labelIds.includes("UNREAD"),
    (isUnread) => isUnread === false,
  );
  for (const secret of [TOKEN, SECRET, GRANT.refreshToken, GRANT.clientSecret])
    expect(daemon.output()).not.toContain(secret);
});

test("404 when it is off, 401 before anything else is said, 413, 400, 200", async () => {
  await using at = await surroundings([{ text: "x" }]);
  const { statusOf, daemon, home } = at;
  const notification = { id: "push-1", emailAddress: OWN, historyId: "1", atMs: Date.now() };
  expect(await statusOf(mailpushDelivery(notification, undefined))).toBe(401);
  expect(await statusOf(mailpushDelivery(notification, "guessed"))).toBe(401);
  expect(await statusOf(mailpushPost(Buffer.from("{"), "guessed"))).toBe(401);
  expect(await statusOf(mailpushPost(Buffer.alloc(1_048_577, 0x20), SECRET))).toBe(413);
  expect(await statusOf(mailpushPost(Buffer.from("{"), SECRET))).toBe(400);
  expect(await statusOf(mailpushPost({ message: {} }, SECRET))).toBe(200);
  expect(await statusOf(mailpushDelivery(notification, SECRET))).toBe(200);
  await daemon.close();
  const off = homeWith("[channels_config.mailpush]\nenabled = false\n");
  await using without = await startBinary({ home: off.path });
  const answer = await fetch(`${without.url}/webhook/mailpush`, { method: "POST", body: "{}" });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, "NOT_CONFIGURED"]);
  off[Symbol.dispose]();
  expect(home.path).not.toBe(off.path);
});

test("pushes that Pub/Sub signed are taken, others are not", async () => {
  const audience = "https://svc.example.org/webhook/mailpush";
  await using at = await surroundings(
    [{ text: "one" }, { text: "two" }],
    `push_audience = "${audience}"\npush_service_account = "${ACCOUNT}"`,
  );
  const { platform, statusOf } = at;
  const claims = () => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: "https://accounts.google.com",
      aud: audience,
      email: ACCOUNT,
      email_verified: true,
      sub: "1",
      iat: now,
      exp: now + 3600,
    };
  };
  const push = (text: string, changes: object = {}) => {
    const { pushed } = platform.arrive({ from: "ada@example.org", text });
    return statusOf(mailpushDelivery(pushed, platform.signer.token({ ...claims(), ...changes })));
  };
  expect(await push("forged", { aud: "https://other.example" })).toBe(401);
  expect(await push("one")).toBe(200);
  // What a forged push told of is read with the next one: the mail itself is genuine.
  await eventually(
    () => platform.sent.length,
    (count) => count === 2,
  );
});

test("killed while it reads, it reads on after the start; nothing is answered twice", async () => {
  await using at = await surroundings(Array.from({ length: 6 }, (_, index) => ({ text: `answer ${index}` })));
  const { platform, daemon, home, env, statusOf } = at;
  platform.mood = ({ path }) => (path.includes("/messages/") ? "hangs" : "takes");
  const mails = Array.from({ length: 5 }, (_, index) =>
    platform.arrive({ from: "ada@example.org", text: `mail ${index}` }),
  );
  const before = platform.requests.length;
  expect(await statusOf(mailpushDelivery(mails[4]!.pushed, SECRET))).toBe(200);
  await eventually(() => platform.requests.slice(before).some(({ path }) => path.includes("/messages/")), Boolean);
  await daemon.kill9();
  platform.mood = "takes";
  await using again = await startBinary({ home: home.path, env });
  await eventually(
    () => platform.sent.length,
    (count) => count === 5,
  );
  // One more, behind which nothing of what was before it can still come.
  const last = platform.arrive({ from: "ada@example.org", text: "mail 5" });
  using deliverer = startDeliverer({ url: () => `${again.url}/webhook/mailpush` });
  await deliverer.deliver(mailpushDelivery(last.pushed, SECRET));
  await eventually(
    () => platform.sent.length,
    (count) => count === 6,
  );
  const threads = [...mails, last].map(({ mail }) => mail.threadId);
  expect(platform.sent.map(({ threadId }) => threadId).toSorted()).toEqual(threads.toSorted());
});

test("the commands of its page: test, setup and send", async () => {
  await using at = await surroundings([{ text: "x" }], 'webhook_url = "https://svc.example.org/webhook/mailpush"');
  const { platform, home, env } = at;
  const run = (...args: string[]) => runBinary(args, { home: home.path, env });
  expect(await run("channels", "test", "mailpush")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${OWN}, watched until`),
  });
  expect(await run("channels", "setup", "mailpush")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /is made and pushes to https:\/\/svc\.example\.org\/webhook\/mailpush[^]*svc config set channels_config\.mailpush\.approvers '\["<account>"\]'/,
    ),
  });
  expect([...platform.subscriptions.keys()]).toEqual(["projects/my-project/subscriptions/mail-svc"]);
  platform.arrive({ from: "ada@example.org", text: "x" });
  expect(await run("webhook", "send", "mailpush", "--text", "x")).toMatchObject({ code: 0 });
  await eventually(
    () => platform.sent.length,
    (count) => count > 0,
  );
  expect(platform.sent).toHaveLength(1);

  // With signed pushes alone there is nothing to make one with here.
  const signed = { MAILPUSH_WEBHOOK_SECRET: "" };
  const file = join(home.path, "config.toml");
  const push = `push_audience = "https://svc.example.org"\npush_service_account = "${ACCOUNT}"\n`;
  writeFileSync(file, readFileSync(file, "utf8").replace("webhook_url", `${push}webhook_url`));
  const sent = await runBinary(["webhook", "send", "mailpush", "--text", "x"], { home: home.path, env: signed });
  expect(sent).toMatchObject({ code: 64, stderr: expect.stringContaining("Set webhook_secret in its section") });
});

test("a question begins a thread, and the reply of an approver in it answers; a made-up one is nobody's", async () => {
  const people = 'approvers = ["ada@example.org"]\nnotification_target = "Ada@example.org"';
  await using at = await surroundings([{ text: "Hello." }], people, { allowed: "*" });
  const { daemon, platform, statusOf } = at;
  const content = { title: "Release 1.4", message: "All tests are green." };
  const asked = { type: "human_approval_request", run_id: "r", step_id: "s", content, channels: ["mailpush"] };
  expect((await daemon.request("/api/channel-events", { method: "POST", body: asked })).status).toBe(200);
  const [question] = await eventually(
    () => platform.sent,
    ({ length }) => length > 0,
  );
  expect(question).toMatchObject({ to: ["ada@example.org"], text: expect.stringContaining("Release 1.4") });
  const reply = (text: string, results: string) => {
    const headers = {
      "In-Reply-To": question!.headers.get("message-id")!,
      "Authentication-Results": `mx.google.com; ${results}`,
    };
    const { threadId } = question!;
    return platform.arrive({ from: "Ada <ada@example.org>", subject: "Re: it", text, headers, threadId }).pushed;
  };
  reply("approve", "dmarc=fail header.from=example.org");
  const proven = reply("reject tests are missing", "dmarc=pass header.from=example.org");
  expect(await statusOf(mailpushDelivery(proven, SECRET))).toBe(200);
  const [, outcome] = await eventually(
    () => platform.sent,
    ({ length }) => length > 1,
  );
  expect(outcome).toMatchObject({ threadId: question!.threadId, text: expect.stringContaining("rejected by Ada") });
  expect(outcome!.text).toContain("> tests are missing");
});
