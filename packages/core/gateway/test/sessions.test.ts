// Conversations over /api: everybody sees their own and can't find out whose else there are; an operator sees all.
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { SHOWN } from "./world.ts";
import { type Call, call } from "./http.ts";

async function started() {
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const reader = { authorization: `Bearer ${harness.device("read")}` };
  const session = { createdAt: 0, updatedAt: 1000, turns: 2, running: false, channel: undefined };
  harness.sessions.push(
    { ...session, id: "1", clientId: "client-read" as ClientId, name: "mine" },
    { ...session, id: "2", clientId: "client-operator" as ClientId, name: "his", running: true },
    { ...session, id: "3", clientId: "anonymous" as ClientId, name: "nobody's" },
  );
  const gateway = await harness.start();
  const ask = (path: string, as = headers, options: Call = {}) =>
    call(gateway, { path: `/api/sessions${path}`, headers: as, ...options });
  return { gateway, headers, reader, ask };
}

describe("the list", () => {
  test("holds a token's own; an operator's holds all, marked with the device and without ClientIds", async () => {
    const { reader, headers, ask } = await started();
    const names = (answer: { json: any }) => answer.json.sessions.map((one: any) => [one.session_id, one.device]);
    expect(names(await ask("", reader))).toEqual([["mine", { id: "dev-read", name: "read" }]]);
    const all = await ask("", headers);
    expect(names(all)).toEqual([
      ["mine", { id: "dev-read", name: "read" }],
      ["his", { id: "dev-operator", name: "operator" }],
      ["nobody's", null],
    ]);
    expect(all.json.sessions[1]).toMatchObject({ turns: 2, running: true, updated_at: "1970-01-01T00:00:01.000Z" });
    expect(all.text).not.toContain("client-");
    expect(names(await ask("?limit=1"))).toHaveLength(1);
  });

  test.each(["0", "-1", "201", "x", "1e2", "", "1&limit=2", "%D9%A3"])("limit=%s is 400", async (limit) => {
    const { ask } = await started();
    const answer = await ask(`?limit=${limit}`);
    expect([answer.status, answer.json.code]).toEqual([400, "BAD_REQUEST"]);
  });
});

describe("one of them", () => {
  test("is told to its owner and to operators", async () => {
    const { reader, ask } = await started();
    expect((await ask("/1", reader)).json).toMatchObject({ id: "1", session_id: "mine" });
    expect((await ask("/3")).json).toMatchObject({ id: "3", device: null });
  });

  test("that is another's is answered exactly as one that is not there, wherever it is asked for", async () => {
    const { reader, ask } = await started();
    for (const rest of ["", "/messages", "/messages?limit=1"]) {
      const [foreign, absent] = [await ask(`/2${rest}`, reader), await ask(`/nope${rest}`, reader)];
      expect(foreign).toMatchObject({ status: 404, json: { code: "SESSION_UNKNOWN" } });
      expect(foreign.text).toBe(absent.text);
    }
  });

  test.each(["..%2f..%2fconfig", "%00", "%ff", "a%2Fb", "x".repeat(5000)])("of the name %s is nobody's", async (id) => {
    const { ask } = await started();
    expect((await ask(`/${id}`)).status).toBe(404);
  });

  test("is read from its end backwards", async () => {
    const { gateway, reader, ask } = await started();
    const calls = [{ callId: "c1", tool: "shell", input: { line: "ls" }, ok: true, output: "a" }];
    gateway.messages.push(
      {
        ...SHOWN,
        turnId: "t1",
        at: 1000,
        role: "user",
        text: "hi",
        calls: [],
        author: { kind: "device", id: "dev-operator", name: "its old name" },
      },
      { ...SHOWN, turnId: "t1", at: 1000, role: "assistant", text: "ho", calls },
    );
    const of = { state: "done", kind: "message", replaced: false, problem: null };
    const shown = { turn_id: "t1", at: "1970-01-01T00:00:01.000Z", author: null, ...of };
    const author = { kind: "device", id: "dev-operator", name: "operator" };
    expect((await ask("/1/messages", reader)).json).toEqual({
      messages: [
        { ...shown, role: "user", text: "hi", calls: [], author },
        {
          ...shown,
          role: "assistant",
          text: "ho",
          calls: [{ call_id: "c1", tool: "shell", input: { line: "ls" }, ok: true, output: "a" }],
        },
      ],
      before: "older",
      newest: { turn_id: "t", can: ["retry", "edit"] },
    });
    expect((await ask("/1/messages?limit=1", reader)).json.messages).toHaveLength(1);
    expect((await ask("/1/messages?before=older", reader)).json).toEqual({ messages: [], before: null, newest: null });
    expect((await ask("/1/messages?before=forged", reader)).status).toBe(400);
    expect((await ask(`/1/messages?before=${"x".repeat(201)}`, reader)).status).toBe(400);
  });

  test("is stopped and deleted by operators alone", async () => {
    const { gateway, reader, headers, ask } = await started();
    const [stop, remove] = [{ method: "POST" }, { method: "DELETE" }];
    expect((await ask("/1/cancel", reader, stop)).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await ask("/1", reader, remove)).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await ask("/2/cancel", headers, stop)).json).toEqual({ id: "2", cancelled: true });
    expect((await ask("/3/cancel", headers, stop)).json).toEqual({ id: "3", cancelled: false });
    expect(gateway.cancelled).toEqual(["2", "3"]);
    expect((await ask("/3", headers, remove)).json).toEqual({ id: "3", deleted: true });
    expect((await ask("/3", headers, remove)).json.code).toBe("SESSION_UNKNOWN");
    expect((await ask("/3/cancel", headers, stop)).json.code).toBe("SESSION_UNKNOWN");
    expect(gateway.sessions.map(({ id }) => id)).toEqual(["1", "2"]);
  });
});

test("the configuration is an operator's to see, secrets or not", async () => {
  const { gateway, headers, reader } = await started();
  expect((await call(gateway, { path: "/api/config", headers: reader })).json.code).toBe("FORBIDDEN_SCOPE");
  expect((await call(gateway, { path: "/api/config", headers })).json.gateway).toEqual({ port: 42617 });
});
