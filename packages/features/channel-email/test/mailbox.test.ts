// How a mailbox is read: at once, to the end, from where it was read last; and whatever happens to it meanwhile.
import { fakeClock } from "@svc/testkit/fake-clock";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { closeAll, connected, eventually, mailFrom, never, open, PERSON, portsOf, startMail } from "./open.ts";

afterEach(closeAll);

const textsOf = ({ received }: { readonly received: readonly { readonly text: string }[] }): string[] =>
  received.map(({ text }) => text);

type Channel = Awaited<ReturnType<typeof connected>>;

const linesOf = ({ mail }: Pick<Channel, "mail">): string[] =>
  mail.requests.map(({ line }) => line.replace(/ .*/s, ""));

/** Until nothing more is asked but whether there is something new. */
const isWaiting = (channel: Pick<Channel, "mail">) => () => linesOf(channel).at(-1) === "IDLE";

test("a mail is pushed: it is received without the clock moving, and nothing is asked in between", async () => {
  const channel = await connected();
  await eventually(isWaiting(channel));
  const before = channel.mail.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(channel.mail.requests).toHaveLength(before);
  channel.mail.inbox.add(mailFrom(PERSON, { text: "at once" }));
  await eventually(() => channel.context.received.length === 1);
  expect(textsOf(channel.context)).toEqual(["at once"]);
});

test("IDLE is begun anew every five minutes, over the same connection; what was read is not read again", async () => {
  const channel = await connected();
  channel.mail.inbox.add(mailFrom(PERSON, { text: "read" }));
  await eventually(() => channel.context.received.length === 1);
  await eventually(isWaiting(channel));
  const fetches = (): number => channel.mail.requests.filter(({ line }) => line.startsWith("UID FETCH")).length;
  const before = fetches();
  const first = linesOf(channel).filter((line) => line === "IDLE").length;
  const idles = (): number => linesOf(channel).filter((line) => line === "IDLE").length;
  for (let time = 1; time <= 8; time += 1) {
    await eventually(() => isWaiting(channel)() && idles() === first + time - 1);
    await channel.context.clock.advance(299_000);
    expect(idles()).toBe(first + time - 1);
    await channel.context.clock.advance(1000);
  }
  await eventually(() => idles() === first + 8);
  expect(fetches()).toBe(before);
  const lines = linesOf(channel);
  expect(lines.filter((line) => line === "AUTHENTICATE")).toHaveLength(1);
  expect(lines.filter((line) => line === "NOOP")).toHaveLength(8);
});

test("a server that is silent is found out, and run fails so that it is called again", async () => {
  const channel = await connected();
  await eventually(isWaiting(channel));
  channel.mail.mood = "hangs";
  await channel.context.clock.advance(300_000);
  await eventually(() => linesOf(channel).at(-1) === "NOOP");
  await channel.context.clock.advance(60_000);
  await expect(channel.running).rejects.toMatchObject({ code: "REMOTE_TIMEOUT" });
});

test.each([
  ["has no IDLE", { hasIdle: false }, undefined],
  ["refuses IDLE", {}, { refuses: 400 }],
] as const)("a server that %s is looked at every poll_interval_secs", async (_, options, mood) => {
  const mail = await startMail(options);
  if (mood !== undefined) mail.mood = ({ line }) => (line === "IDLE" ? mood : "takes");
  const channel = open({ ...portsOf(mail), poll_interval_secs: 30 });
  channel.run();
  await eventually(async () => (await channel.context.state.get("place")) !== undefined);
  mail.inbox.add(mailFrom(PERSON, { text: "found" }));
  let secs = 0;
  await eventually(async () => {
    await channel.context.clock.advance(1000);
    secs += 1;
    return channel.context.received.length === 1;
  });
  expect(linesOf({ mail }).filter((line) => line === "NOOP").length).toBeLessThanOrEqual(secs / 30 + 1);
});

test("what was there before the first connection is never answered, what came while away is, once", async () => {
  const mail = await startMail();
  mail.inbox.add(mailFrom(PERSON, { text: "old" }));
  const first = await connectedTo(mail);
  mail.inbox.add(mailFrom(PERSON, { text: "new" }));
  await eventually(() => first.context.received.length === 1);
  mail.disconnect();
  await expect(first.running).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  for (let number = 0; number < 45; number += 1) mail.inbox.add(mailFrom(PERSON, { text: `away ${number}` }));
  const second = await connectedTo(mail, first.context.state);
  await eventually(() => second.context.received.length === 45);
  expect(textsOf(second.context)).toEqual(Array.from({ length: 45 }, (_, number) => `away ${number}`));
});

async function connectedTo(
  mail: Awaited<ReturnType<typeof startMail>>,
  state = open(portsOf(mail)).context.state,
  nowMs = Date.now(),
) {
  const clock = fakeClock(nowMs);
  const channel = open({ ...portsOf(mail), max_answers_per_hour: 0 }, { state, clock });
  const running = channel.run();
  await eventually(async () => (await state.get("place")) !== undefined);
  return { ...channel, running };
}

test("another mailbox is read from its own beginning", async () => {
  const mail = await startMail();
  const first = await connectedTo(mail);
  mail.mailbox("Done").add(mailFrom(PERSON, { text: "there before" }));
  const other = open({ ...portsOf(mail), mailbox: "Done" }, { state: first.context.state });
  other.run();
  await eventually(async () => (await first.context.state.get("place"))?.includes("Done") === true);
  mail.mailbox("Done").add(mailFrom(PERSON, { text: "after that" }));
  await eventually(() => other.context.received.length === 1);
  expect(textsOf(other.context)).toEqual(["after that"]);
});

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 5, 1, 12);

test.each([
  ["keeps when its mails came", false],
  ["says of all that they came today", true],
])(
  "a mailbox that is made anew and %s: what was answered is not answered again, what is new is",
  async (_, isCopied) => {
    const mail = await startMail();
    const add = (text: string, atMs: number) =>
      mail.inbox.add(mailFrom(PERSON, { text, atMs, messageId: `<${text}@example.org>` }), [], atMs);
    add("before", NOW_MS - 20 * DAY_MS);
    const first = await connectedTo(mail, undefined, NOW_MS - 10 * DAY_MS);
    add("answered-long-ago", NOW_MS - 9 * DAY_MS);
    add("answered", NOW_MS - DAY_MS);
    await eventually(() => first.context.received.length === 2);
    await first.context.clock.advance(10 * DAY_MS);
    mail.disconnect();
    await first.running.catch(() => undefined);
    mail.rebuild(isCopied ? NOW_MS : undefined);
    add("new", NOW_MS);
    // The same inbox: what it has seen, it knows.
    const second = await connectedTo(mail, first.context.state, NOW_MS);
    await eventually(() => second.context.received.some(({ text }) => text === "new"));
    const known = new Set(first.context.received.map(({ id }) => id));
    const heard = second.context.received.filter(({ id }) => !known.has(id));
    expect(textsOf({ received: heard })).toEqual(["new"]);
    expect(textsOf(second.context)).not.toContain("before");
    expect(textsOf(second.context)).not.toContain("answered-long-ago");
    // And it goes on from there.
    add("later", NOW_MS);
    await eventually(() => second.context.received.at(-1)?.text === "later");
    expect(second.context.log.lines.some(({ message }) => message.includes("made anew"))).toBe(true);
  },
);

test("what was there before the channel is not answered, although a copied mailbox says that it came today", async () => {
  const mail = await startMail();
  const add = (text: string, atMs: number) => mail.inbox.add(mailFrom(PERSON, { text, atMs }), [], atMs);
  add("before", NOW_MS - 3 * DAY_MS);
  const first = await connectedTo(mail, undefined, NOW_MS - 2 * DAY_MS);
  mail.disconnect();
  await first.running.catch(() => undefined);
  mail.rebuild(NOW_MS);
  add("new", NOW_MS);
  const second = await connectedTo(mail, first.context.state, NOW_MS);
  await eventually(() => second.context.received.length > 0);
  expect(textsOf(second.context)).toEqual(["new"]);
});

test("a mailbox that is made anew brings nobody's old mail back, who may write only now", async () => {
  const mail = await startMail();
  const first = await connectedTo(mail, undefined, NOW_MS - 5 * DAY_MS);
  const add = (from: string, text: string, atMs: number) => mail.inbox.add(mailFrom(from, { text, atMs }), [], atMs);
  add("eve@example.com", "of a stranger", NOW_MS - 2 * DAY_MS);
  add(PERSON, "newest", NOW_MS - DAY_MS);
  await eventually(() => first.context.received.length === 1);
  mail.disconnect();
  await first.running.catch(() => undefined);
  mail.rebuild();
  const { state } = first.context;
  const second = open({ ...portsOf(mail), allowed_senders: ["*"] }, { state, clock: fakeClock(NOW_MS) });
  second.run();
  add("eve@example.com", "of a friend", NOW_MS);
  await eventually(() => textsOf(second.context).includes("of a friend"));
  expect(textsOf(second.context)).not.toContain("of a stranger");
});

test("a mail that is deleted while it is read is left out, and the next one is read", async () => {
  const channel = await connected();
  await eventually(isWaiting(channel));
  const { mail } = channel;
  let gone: number | undefined;
  mail.mood = ({ line }) => {
    if (gone === undefined && line.startsWith("UID FETCH")) {
      gone = mail.inbox.mails[0]!.uid;
      mail.inbox.remove(gone);
    }
    return "takes";
  };
  mail.inbox.add(mailFrom(PERSON, { text: "deleted" }));
  await eventually(() => gone !== undefined);
  mail.inbox.add(mailFrom(PERSON, { text: "stays" }));
  await eventually(() => channel.context.received.length > 0);
  expect(textsOf(channel.context)).toEqual(["stays"]);
});

test("a mail that the server breaks down over is read in a simpler way, in the end not at all, and stops no others", async () => {
  const mail = await startMail();
  const { context } = open(portsOf(mail));
  const { state } = context;
  const channel = open({ ...portsOf(mail) }, { state });
  const failures: unknown[] = [];
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const supervised = async (): Promise<void> => {
    while (!over.signal.aborted) await channel.run().catch((error: unknown) => failures.push(error));
  };
  void supervised();
  await eventually(async () => (await state.get("place")) !== undefined);
  mail.mood = ({ line }) =>
    /^UID FETCH 1 .*(?:BODYSTRUCTURE|BODY\.PEEK\[\]|BODY\.PEEK\[1\])/.test(line) ? "resets" : "takes";
  mail.inbox.add(mailFrom(PERSON, { text: "breaks the server", subject: "Hard" }));
  mail.inbox.add(mailFrom(PERSON, { text: "is fine" }));
  await eventually(() => channel.context.received.length === 2);
  expect(textsOf(channel.context)).toEqual(["Subject: Hard\n\n[the mail can't be read]", "is fine"]);
  expect(failures).toHaveLength(6);
});

test("an answer that can't be read: the mail is read by its source", async () => {
  const channel = await connected();
  channel.mail.mood = ({ line }) =>
    line.includes("BODYSTRUCTURE") ? { babbles: "* 1 FETCH (UID 1 BODYSTRUCTURE (((" } : "takes";
  const files = [{ name: "a.pdf", mimeType: "application/pdf", bytes: Buffer.from("x") }];
  channel.mail.inbox.add(mailFrom(PERSON, { text: "by its source", files }));
  const again = async (): Promise<boolean> => {
    if (channel.context.received.length > 0) return true;
    const next = channel.made.run!(never);
    await Promise.race([next.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 200))]);
    return channel.context.received.length > 0;
  };
  await eventually(again);
  expect(textsOf(channel.context)).toEqual(["by its source\n\n[a file that can't be fetched: a.pdf]"]);
});

test("a mail that the server says is there and does not show is asked for again, and left out in the end", async () => {
  const channel = await connected();
  const { mail } = channel;
  mail.inbox.add(mailFrom(PERSON, { text: "hidden" }));
  mail.mood = ({ line }) => (/^UID FETCH (?:1|1,2) /.test(line) ? { refuses: 404 } : "takes");
  await expect(channel.running).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await expect(channel.made.run!(never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  channel.run();
  await eventually(() => channel.context.log.lines.some(({ message }) => message.includes("does not show")));
  mail.inbox.add(mailFrom(PERSON, { text: "shown" }));
  await eventually(() => channel.context.received.length === 1);
  expect(textsOf(channel.context)).toEqual(["shown"]);
});
