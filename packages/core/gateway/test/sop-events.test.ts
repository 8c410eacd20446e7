// A message or a request that starts its procedures twice, or never, or that has to wait for them.
import type { Arrival, Arrived } from "@svc/store";
import { SvcError } from "@svc/contract";
import type { Dispatched } from "@svc/sop";
import { describe, expect, test } from "vitest";
import { messageEvents, receivedEvents } from "../src/sop-events.ts";
import { channelWith, delivery, PATH } from "./channel.ts";
import { FakeSops } from "./fake-sops.ts";
import { Harness } from "./harness.ts";
import { call, post, tick, until } from "./http.ts";
import { signed } from "./signed.ts";

const STARTED: Dispatched = { runs: [{ sop: "triage", runId: "run-1" }], skipped: [] };

describe("a request to /webhook", () => {
  const started = async (options: Parameters<Harness["start"]>[0] = {}) => {
    const fixture = new Harness();
    const token = fixture.device("webhook");
    fixture.sops.paths.set("/webhook", STARTED);
    await fixture.start(options);
    return {
      fixture,
      send: (body: unknown = { message: "hi", ref: 1 }, headers = {}) => post(fixture, token, body, headers),
    };
  };

  test("starts procedures beside its turn, with all of its body", async () => {
    const { fixture, send } = await started();
    expect((await send()).json).toMatchObject({ response: "echo: hi" });
    await until(() => fixture.sops.committed === 1);
    expect(fixture.sops.started).toEqual([
      {
        source: "webhook",
        topic: "/webhook",
        payload: '{"message":"hi","ref":1}',
        by: "webhook /webhook, device webhook",
      },
    ]);
  });

  test("does not wait for them, and does not fail with them", async () => {
    const { fixture, send } = await started();
    fixture.failWrite = new SvcError("STORE_FULL");
    expect((await send()).status).toBe(200);
    fixture.failWrite = undefined;
    fixture.sops.fails = new Error("s3cret");
    expect((await send()).status).toBe(200);
    await until(() => fixture.log.lines.filter(({ level }) => level === "error").length === 2);
    fixture.sops.unforeseen = new Error("the library is broken");
    expect((await send()).status).toBe(200);
  });

  test("that is refused, or a duplicate, starts nothing", async () => {
    const { fixture, send } = await started();
    const key = { "x-idempotency-key": "k" };
    expect((await send({ text: "hi" })).status).toBe(400);
    expect((await send({ message: "hi" }, { "x-session-id": "a b" })).status).toBe(400);
    expect((await send({ message: "hi" }, { authorization: "Bearer x" })).status).toBe(401);
    const answers = await Promise.all([send({ message: "hi" }, key), send({ message: "hi" }, key)]);
    expect(answers.map(({ json }) => json.status).toSorted()).toEqual(["duplicate", undefined]);
    await until(() => fixture.sops.committed === 1);
    expect(fixture.sops.started).toHaveLength(1);
  });

  test("whose turn failed may come again, and starts only the turn again", async () => {
    let failing = true;
    const run = () => (failing ? Promise.reject(new SvcError("MODEL_UNREACHABLE")) : Promise.resolve({}));
    const { fixture, send } = await started({ run });
    const key = { "x-idempotency-key": "k" };
    expect((await send({ message: "hi" }, key)).status).toBe(502);
    await until(() => fixture.sops.committed === 1);
    // As the agent does with the claim of a turn that failed before anything acted.
    fixture.claimed.delete("client-webhook k");
    failing = false;
    expect((await send({ message: "hi" }, key)).status).toBe(200);
    await tick();
    await tick();
    expect([fixture.sops.started.length, fixture.turns.length]).toEqual([1, 2]);
  });

  test("that is signed is told apart by its id as well", async () => {
    const { fixture, send } = await started({ webhook: { signing_secret: "whsec_c2VjcmV0" } });
    const body = '{"message":"hi"}';
    const { headers } = signed("msg-1", body, fixture.clock.now());
    expect((await send(body, { ...headers, "x-idempotency-key": "k" })).status).toBe(200);
    await until(() => fixture.sops.committed === 1);
    expect([...fixture.kept]).toEqual(["client-webhook beside k", "client-webhook beside webhook-id:msg-1"]);
  });

  test("costs nothing where no procedure looks at it", async () => {
    const { fixture, send } = await started();
    fixture.sops.paths.clear();
    expect((await send({ message: "hi" }, { "x-idempotency-key": "k" })).status).toBe(200);
    expect([fixture.sops.started, [...fixture.claimed]]).toEqual([[], ["client-webhook k"]]);
  });
});

describe("a message by a channel's path", () => {
  const started = async () => {
    const fixture = new Harness();
    fixture.sops.paths.set(PATH, STARTED);
    return fixture.start({ ingress: [channelWith()] });
  };

  test("starts procedures in the transaction that keeps it, with the message as it is kept", async () => {
    const fixture = await started();
    expect((await call(fixture, delivery({ id: "m-1", text: "hi" }))).status).toBe(200);
    const message = { id: "m-1", conversation: { channel: "provider_a", id: "+4911" }, sender: "+4911", text: "hi" };
    expect(fixture.sops.started).toEqual([
      { source: "webhook", topic: PATH, payload: JSON.stringify(message), by: `webhook ${PATH}` },
    ]);
    expect([fixture.arrivals.length, fixture.sops.committed]).toEqual([1, 1]);
  });

  test("that was seen before, or is not proven, or could not be kept, starts nothing", async () => {
    const fixture = await started();
    fixture.accept = ({ messages }) => Promise.resolve({ state: "kept", messages: messages.map(() => "duplicate") });
    expect((await call(fixture, delivery())).status).toBe(200);
    fixture.accept = () => Promise.resolve({ state: "replayed" });
    expect((await call(fixture, delivery({ text: "hi", once: "r" }))).status).toBe(401);
    fixture.accept = () => Promise.reject(new SvcError("STORE_FULL"));
    expect((await call(fixture, delivery())).status).toBe(503);
    expect((await call(fixture, delivery({ text: "hi" }, { headers: { "x-signature": "0" } }))).status).toBe(401);
    expect((await call(fixture, delivery({ from: "+4912" }))).status).toBe(200);
    expect([fixture.sops.started, fixture.sops.committed]).toEqual([[], 0]);
  });

  test("is not taken when its runs can't be kept, so that its platform brings it again", async () => {
    const fixture = await started();
    fixture.sops.fails = new SvcError("STORE_FULL");
    expect((await call(fixture, delivery())).status).toBe(503);
    expect(fixture.arrivals).toEqual([]);
  });
});

describe("of what arrives together", () => {
  const conversation = { channel: "mail", id: "a" };
  const arrival: Arrival = {
    channel: "mail",
    messages: ["message", "reaction", "notice", "message", "message"].map((kind, n) => ({
      kind: kind as "message",
      conversationKey: "l",
      body: { conversation, text: `${n}` },
    })),
  };
  const kept: Arrived = {
    state: "kept",
    messages: [0, 1, 2, 3, 4].map((n) => (n === 3 ? ("duplicate" as const) : { n, turnId: `t-${n}` })),
  };

  test("each message that is new is one event: no reaction, no notice, no duplicate", () => {
    const sops = new FakeSops();
    sops.paths.set("/mail", STARTED);
    sops.inTransaction = true;
    const committed = messageEvents(sops, "/mail")?.(arrival, kept);
    expect(sops.started.map(({ payload }) => JSON.parse(payload!).text)).toEqual(["0", "4"]);
    expect(sops.committed).toBe(0);
    committed?.();
    expect(sops.committed).toBe(2);
  });

  test("what a channel hands over itself belongs to its only path, and to none when there are several", () => {
    const sops = new FakeSops();
    const mail = channelWith({ path: "/webhook/mail" }, { channel: "mail" });
    expect(receivedEvents(sops, [mail], "mail")).toBeUndefined();
    sops.paths.set("/webhook/mail", STARTED);
    expect(receivedEvents(sops, [channelWith(), mail], "mail")).toBeDefined();
    expect(receivedEvents(sops, [channelWith(), mail], "chat")).toBeUndefined();
    expect(receivedEvents(sops, [mail, channelWith({ path: "/more" }, { channel: "mail" })], "mail")).toBeUndefined();
  });
});
