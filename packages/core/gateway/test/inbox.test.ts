// Messages of channels over /api: other people's words, so only an operator's to see, to take up again and to give up.
import { describe, expect, test } from "vitest";
import { channelIdentity } from "../src/identity.ts";
import { Harness, sessionInfo } from "./harness.ts";
import { type Call, call } from "./http.ts";

async function started() {
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const reader = { authorization: `Bearer ${harness.device("read")}` };
  const poster = { authorization: `Bearer ${harness.device("webhook")}` };
  const gateway = await harness.start();
  const ask = (path = "", options: Call = {}) => call(gateway, { path: `/api/inbox${path}`, headers, ...options });
  return { gateway, messageAdmin: gateway.messageAdmin, reader, poster, ask };
}

const ANSWER = {
  id: "out-7",
  state: "dead",
  waits_for: null,
  channel: "provider_a",
  conversation: { id: "+4911", thread: "t" },
  sender: null,
  text: "ho",
  attempts: 12,
  at: "1970-01-01T00:00:02.000Z",
  ended_at: "1970-01-01T00:00:03.000Z",
  error: "DELIVERY_REFUSED",
  turn_id: "turn-1",
};

describe("the list", () => {
  test("tells of both boxes, how many there are of all, and how long the oldest waits", async () => {
    const { messageAdmin, ask } = await started();
    const { json } = await ask();
    expect(json.messages.map((one: any) => one.id)).toEqual(["in-13", "out-7", "in-12"]);
    expect(json.messages[1]).toEqual(ANSWER);
    expect(json.messages[0]).toMatchObject({ conversation: null, ended_at: null, error: null, turn_id: null });
    expect([json.counts.inbox.waiting, json.counts.outbox.dead, json.oldest_waiting_secs]).toEqual([1, 1, 61]);
    expect(messageAdmin.asked).toEqual([{ filter: {}, limit: 50 }]);
  });

  test("says which message waits for its keys", async () => {
    const { messageAdmin, ask } = await started();
    messageAdmin.mails = messageAdmin.mails.map((mail) => ({
      ...mail,
      waitsFor: mail.id === "in-13" ? "keys" : undefined,
    }));
    const { json } = await ask();
    expect(json.messages.map((one: any) => one.waits_for)).toEqual(["keys", null, null]);
  });

  test("is asked for by box, channel and state, as many as one likes up to 200", async () => {
    const { messageAdmin, ask } = await started();
    await ask("?box=out&channel=provider_a&state=dead&limit=200");
    expect(messageAdmin.asked).toEqual([{ filter: { box: "out", channel: "provider_a", state: "dead" }, limit: 200 }]);
    expect((await ask("?limit=1")).json.messages).toHaveLength(1);
  });

  test.each([
    ["box=both", "box must be in or out"],
    ["state=running", "state must be waiting, done, failed, dropped, sent or dead"],
    ["limit=0", "limit must be 1 to 200"],
    ["limit=201", "limit must be 1 to 200"],
    ["channel=a&channel=b", "channel must be a channel's id"],
    [`channel=${"x".repeat(65)}`, "channel must be a channel's id"],
  ])("%s is 400", async (query, error) => {
    const { messageAdmin, ask } = await started();
    const answer = await ask(`?${query}`);
    expect([answer.status, answer.json.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.json.error).toContain(error);
    expect(messageAdmin.asked).toEqual([]);
  });
});

describe("one of them", () => {
  test("is shown with what went out for it", async () => {
    const { ask } = await started();
    expect((await ask("/in-12")).json).toMatchObject({ id: "in-12", kind: "message", sender: "+4911", notice: null });
    expect((await ask("/in-12")).json.deliveries).toEqual([ANSWER]);
    expect((await ask("/out-7")).json).toEqual({
      ...ANSWER,
      kind: "delivery",
      files: [{ kind: "image", name: "a.png" }],
      deliveries: [],
      platform_id: "p-1",
      platform_status: "read",
      platform_reason: null,
      notice: null,
    });
    expect((await ask("/in-13")).json).toMatchObject({ kind: "notice", notice: { historyId: "9" } });
  });

  test("is taken up again, and given up", async () => {
    const { messageAdmin, ask } = await started();
    expect((await ask("/out-7/replay", { method: "POST" })).json).toEqual({ ...ANSWER, state: "waiting" });
    expect((await ask("/in-13", { method: "DELETE" })).json).toMatchObject({ id: "in-13", state: "dropped" });
    expect([messageAdmin.replayed, messageAdmin.dropped]).toEqual([["out-7"], ["in-13"]]);
  });

  test.each(["MESSAGE_STATE", "STORE_FULL"] as const)("that can't be changed because of %s says so", async (code) => {
    const { messageAdmin, ask } = await started();
    messageAdmin.fails = code;
    const status = code === "MESSAGE_STATE" ? 409 : 503;
    for (const [path, method] of [
      ["/in-12/replay", "POST"],
      ["/in-12", "DELETE"],
    ] as const) {
      const answer = await ask(path, { method });
      expect([answer.status, answer.json.code]).toEqual([status, code]);
    }
  });

  test.each(["in-99", "..%2f..%2fconfig", "%00", "in-12%2freplay", "x".repeat(5000)])(
    "of the id %s is none",
    async (id) => {
      const { ask } = await started();
      expect((await ask(`/${id}`)).status).toBe(404);
    },
  );
});

test("they are an operator's alone", async () => {
  const { gateway, messageAdmin, reader, poster } = await started();
  const routes = [
    ["GET", ""],
    ["GET", "/in-12"],
    ["POST", "/in-12/replay"],
    ["DELETE", "/in-12"],
  ] as const;
  for (const [method, path] of routes) {
    for (const [headers, code] of [
      [reader, "FORBIDDEN_SCOPE"],
      [poster, "FORBIDDEN_SCOPE"],
      [{}, "UNAUTHORIZED"],
    ] as const) {
      expect((await call(gateway, { method, path: `/api/inbox${path}`, headers })).json.code).toBe(code);
    }
  }
  expect([messageAdmin.asked, messageAdmin.replayed, messageAdmin.dropped]).toEqual([[], [], []]);
});

test("which channels there are is whoever may read's to see", async () => {
  const { gateway, reader, poster } = await started();
  const { json } = await call(gateway, { path: "/api/channels", headers: reader });
  expect(json.channels).toMatchObject([{ id: "provider_a", state: "running", signed: true }]);
  expect((await call(gateway, { path: "/api/channels", headers: poster })).json.code).toBe("FORBIDDEN_SCOPE");
});

test("conversations of a channel are seen by operators, marked with no device, and by nobody who only reads", async () => {
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const reader = { authorization: `Bearer ${harness.device("read")}` };
  const clientId = channelIdentity().channel("provider_a");
  harness.sessions.push(sessionInfo({ id: "7", clientId, name: "chat" }));
  const gateway = await harness.start();
  const list = async (as: Record<string, string>) => (await call(gateway, { path: "/api/sessions", headers: as })).json;
  expect((await list(headers)).sessions).toMatchObject([{ id: "7", session_id: "chat", device: null }]);
  expect((await list(reader)).sessions).toEqual([]);
  for (const path of ["/api/sessions/7", "/api/sessions/7/messages"]) {
    expect((await call(gateway, { path, headers })).status).toBe(200);
    expect((await call(gateway, { path, headers: reader })).json.code).toBe("SESSION_UNKNOWN");
  }
  const cancel = { method: "POST", path: "/api/sessions/7/cancel" };
  expect((await call(gateway, { ...cancel, headers })).json).toEqual({ id: "7", cancelled: false });
  expect((await call(gateway, { ...cancel, headers: reader })).json.code).toBe("FORBIDDEN_SCOPE");
});
