// What is told and asked on a WebSocket: a turn for the wrong one, an answer that is lost, or a limit that is not there
// because somebody came by another door.
import { SvcError, type TurnEvent } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { delta } from "./event-stream.ts";
import { call, post, until } from "./http.ts";
import { started } from "./socket-fixture.ts";

describe("events", () => {
  test("are the same as on the stream, as text frames of the same JSON", async () => {
    const { harness, hub, tokens, open } = await started();
    const [operator, read] = [await open(), await open(tokens.read)];
    for (const reader of [operator, read]) reader.say({ type: "resume", last_event_id: "boot-1-0" });
    const { json } = hub.publish(delta("his"));
    hub.publish(delta("mine", "read"));
    await until(() => operator.frames.length === 2 && read.frames.length === 1);
    expect([operator.frames[0], read.texts]).toEqual([JSON.parse(json), ["mine"]]);
    expect(harness.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("wait a second for the client to say what it has seen, and none of that second is lost", async () => {
    const { hub, clock, open } = await started();
    hub.publish(delta("before"));
    const [quiet, back, eager] = [await open(), await open(), await open()];
    eager.say({ type: "resume" });
    await until(() => hub.subscribers === 1);
    hub.publish(delta("during"));
    await until(() => eager.frames.length === 1);
    back.say({ type: "resume", last_event_id: "boot-1-0" });
    await until(() => back.frames.length === 2);
    expect([back.texts, quiet.texts, eager.texts]).toEqual([["before", "during"], [], ["during"]]);
    await clock.advance(1_000);
    await until(() => quiet.frames.length === 1);
    expect(quiet.texts).toEqual(["during"]);
  });

  test("after a resume with an unknown id begin with events-dropped; a second resume is refused", async () => {
    const { hub, open } = await started();
    const reader = await open();
    reader.say({ type: "resume", last_event_id: "boot-0-7" });
    await until(() => reader.frames.length === 1);
    hub.publish(delta("live"));
    reader.say({ type: "resume", last_event_id: "boot-1-0" });
    expect(await reader.answer()).toMatchObject({ type: "error", code: "BAD_REQUEST" });
    expect(reader.frames[0]).toMatchObject({ type: "events-dropped", payload: { reason: "another-boot" } });
    expect(reader.texts.slice(1, 2)).toEqual(["live"]);
  });

  test("a peer that is gone without a word is cut at the second ping that it does not answer", async () => {
    const { harness, clock, open } = await started();
    const [here, gone] = [await open(), await open()];
    // Its network is unplugged: the kernel takes what is sent, and nobody answers.
    gone.ws.pause();
    await clock.advance(30_000);
    await until(() => here.pings === 1);
    await call(harness, { path: "/health" });
    await clock.advance(30_000);
    await until(() => harness.gateway.connections === 1);
    expect([here.closed, here.pings]).toEqual([undefined, 2]);
  });
});

describe("chat", () => {
  test("runs a turn for the device, in the conversation it names, and answers", async () => {
    const { harness, open } = await started({ webhook: { agent: "helper" } });
    const reader = await open();
    reader.say({ type: "message", content: "hello", session_id: "mine", more: 1 });
    expect(await reader.answer()).toEqual({
      type: "reply",
      response: "echo: hello",
      model: "fake",
      session_id: "mine",
    });
    reader.say({ type: "message", content: "again", session_id: null });
    expect(await reader.answer(2)).toMatchObject({ session_id: "s-new" });
    expect(harness.turns[0]).toMatchObject({
      clientId: "client-operator",
      owner: "client-operator",
      session: "mine",
      agent: "helper",
    });
  });

  test("the pieces of the answer come as events, also to a token for messages, which sees those of its own turns alone", async () => {
    const { hub, tokens, open } = await started({
      run: async ({ text, onEvent }) => {
        const of = { turnId: `t-${text}`, sessionId: "s", owner: "client-webhook" as never };
        const tell = (event: object): void => {
          const whole = { ...event, ...of } as unknown as TurnEvent;
          onEvent?.(whole);
          hub.publish(whole);
        };
        tell({ type: "turn-start", agent: "default", clientId: "client-webhook" });
        tell({ type: "text-delta", text: `piece of ${text}` });
        return {};
      },
    });
    const [one, other] = [await open(tokens.webhook), await open(tokens.webhook)];
    other.say({ type: "resume", last_event_id: "boot-1-0" });
    hub.publish(delta("foreign"));
    one.say({ type: "message", content: "mine" });
    await one.answer();
    other.say({ type: "message", content: "" });
    await other.answer();
    expect(one.texts).toEqual(["turn-start", "piece of mine", "reply"]);
    expect(other.texts).toEqual(["error"]);
  });

  test.each([
    ["BAD_BODY", { type: "message" }],
    ["BAD_BODY", { type: "message", content: " \n" }],
    ["BAD_BODY", { type: "message", content: 7 }],
    ["BAD_SESSION_ID", { type: "message", content: "x", session_id: "a b" }],
    ["BAD_SESSION_ID", { type: "message", content: "x", session_id: 7 }],
    ["BAD_REQUEST", { type: "resume", last_event_id: 7 }],
    ["BAD_REQUEST", { type: "subscribe" }],
    ["BAD_REQUEST", []],
    ["BAD_REQUEST", "null"],
    ["BAD_JSON", "s3cret{"],
    ["BAD_JSON", `${"[".repeat(200)}${"]".repeat(200)}`],
    ["BAD_JSON", ""],
  ])("%s for %j, which is not quoted, and the connection goes on", async (code, frame) => {
    const { harness, open } = await started();
    const reader = await open();
    reader.say(frame);
    expect(await reader.answer()).toEqual({ type: "error", code, error: expect.not.stringContaining("s3cret") });
    reader.say({ type: "message", content: "still here" });
    expect(await reader.answer(2)).toMatchObject({ type: "reply" });
    expect(harness.turns).toHaveLength(1);
  });

  test("a turn that fails is told with its code and conversation; a read token, and one too many, with theirs", async () => {
    const stop: (() => void)[] = [];
    const { harness, tokens, open } = await started({
      run: ({ text }) =>
        text === "fail"
          ? Promise.reject(new SvcError("COST_LIMIT", undefined, { retryAfterMs: 5_000 }))
          : new Promise((resolve) => stop.push(() => resolve({}))),
    });
    const [reader, read] = [await open(), await open(tokens.read)];
    reader.say({ type: "message", content: "fail", session_id: "s" });
    expect(await reader.answer()).toMatchObject({ type: "error", code: "COST_LIMIT", retry_after: 5, session_id: "s" });
    read.say({ type: "message", content: "hi" });
    expect(await read.answer()).toMatchObject({ type: "error", code: "FORBIDDEN_SCOPE" });
    for (let count = 0; count < 5; count += 1) reader.say({ type: "message", content: "wait" });
    expect(await reader.answer(2)).toMatchObject({ type: "error", code: "BUSY" });
    expect(harness.turns).toHaveLength(5);
    for (const end of stop) end();
    await reader.answer(6);
  });

  test("counts for the limit of POST /webhook, and is counted there", async () => {
    const { harness, tokens, open } = await started({ config: { webhook_rate_limit_per_minute: 2 } });
    const reader = await open();
    reader.say({ type: "message", content: "1" });
    await reader.answer();
    expect((await post(harness, tokens.operator)).status).toBe(200);
    expect((await post(harness, tokens.operator)).status).toBe(429);
    reader.say({ type: "message", content: "2" });
    expect(await reader.answer(2)).toMatchObject({ type: "error", code: "RATE_LIMITED", retry_after: 60 });
  });

  test("a turn goes on when its connection is lost, and is stopped when its device is revoked", async () => {
    const stopped: unknown[] = [];
    const { harness, open } = await started({
      run: ({ signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => (stopped.push(signal.reason), reject(signal.reason))),
        ),
    });
    const reader = await open();
    reader.say({ type: "message", content: "hi" });
    await until(() => harness.turns.length === 1);
    reader.ws.terminate();
    await until(() => harness.gateway.connections === 0);
    expect(stopped).toEqual([]);
    await harness.gateway.devices.revoke("dev-operator");
    await until(() => stopped.length === 1);
  });

  test("a reload holds for connections that are open: the agent, and the secret that bars a token for messages", async () => {
    const { harness, tokens, open } = await started({ webhook: { agent: "old" } });
    const [operator, webhook] = [await open(), await open(tokens.webhook)];
    harness.reconfigure({ webhook: { agent: "new", secret: "s3cret" } });
    for (const reader of [operator, webhook]) reader.say({ type: "message", content: "hi" });
    expect(await operator.answer()).toMatchObject({ type: "reply" });
    expect(await webhook.answer()).toMatchObject({ type: "error", code: "FORBIDDEN_SCOPE" });
    expect(harness.turns.map(({ agent }) => agent)).toEqual(["new"]);
  });

  test("no turn begins while the service stops", async () => {
    const { harness, open } = await started();
    const reader = await open();
    harness.gateway.drain();
    reader.say({ type: "message", content: "hi" });
    expect(await reader.answer()).toMatchObject({ type: "error", code: "DRAINING" });
    expect(harness.turns).toEqual([]);
  });
});
