// Conversations over /api: everybody sees their own and can't find out whose else there are; an operator sees all.
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness, sessionInfo } from "./harness.ts";
import { SHOWN } from "./world.ts";
import { type Call, call } from "./http.ts";

async function started() {
  const harness = new Harness();
  const headers = { authorization: `Bearer ${harness.device("operator")}` };
  const reader = { authorization: `Bearer ${harness.device("read")}` };
  const session = { updatedAt: 1000, turns: 2 };
  harness.sessions.push(
    sessionInfo({ ...session, id: "1", clientId: "client-read" as ClientId, name: "mine" }),
    sessionInfo({ ...session, id: "2", clientId: "client-operator" as ClientId, name: "his", running: true }),
    sessionInfo({ ...session, id: "3", clientId: "anonymous" as ClientId, name: "nobody's", isArchived: false }),
  );
  const gateway = await harness.start();
  const ask = (path: string, as = headers, options: Call = {}) =>
    call(gateway, {
      path: `/api/sessions${path}`,
      headers: { ...as, ...(options.body !== undefined && { "content-type": "application/json" }) },
      ...options,
    });
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
    const calls = [
      { callId: "c1", tool: "shell", input: { line: "ls" }, ok: true, outcome: "done" as const, output: "a" },
    ];
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
    const shown = { turn_id: "t1", at: "1970-01-01T00:00:01.000Z", author: null, files: [], ...of };
    const author = { kind: "device", id: "dev-operator", name: "operator" };
    expect((await ask("/1/messages", reader)).json).toEqual({
      messages: [
        { ...shown, role: "user", text: "hi", calls: [], author },
        {
          ...shown,
          role: "assistant",
          text: "ho",
          calls: [{ call_id: "c1", tool: "shell", input: { line: "ls" }, ok: true, outcome: "done", output: "a" }],
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

describe("a change", () => {
  const patch = (body: unknown) => ({ method: "PATCH", body: JSON.stringify(body) });

  test("is an operator's to make, and reaches no conversation of another", async () => {
    const { gateway, reader, headers, ask } = await started();
    expect((await ask("/1", reader, patch({ pinned: true }))).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await ask("/1/read", reader, { method: "POST", body: '{"turns":1}' })).json.code).toBe("FORBIDDEN_SCOPE");
    const changed = await ask("/1", headers, patch({ title: "  Backup ", pinned: true }));
    expect([changed.status, changed.json.id]).toEqual([200, "1"]);
    expect((await ask("/2", headers, patch({ archived: true, title: null }))).status).toBe(200);
    expect((await ask("/2/read", headers, { method: "POST", body: '{"turns":3}' })).status).toBe(200);
    expect((await ask("/none", headers, patch({ pinned: true }))).json.code).toBe("SESSION_UNKNOWN");
    expect(gateway.updates).toEqual([
      ["1", { title: "Backup", pinned: true }],
      ["2", { archived: true, title: null }],
      ["2", { turns: 3 }],
    ]);
  });

  test.each([
    [{ title: "" }],
    [{ title: " " }],
    [{ title: "x".repeat(121) }],
    [{ title: "two\nlines" }],
    [{ title: "\u0000" }],
    [{ title: "\ud800" }],
    [{ title: 7 }],
    [{ pinned: "yes" }],
    [{ name: "x" }],
    [[]],
  ])("%j is 400, and nothing changes", async (body) => {
    const { gateway, headers, ask } = await started();
    const answer = await ask("/1", headers, patch(body));
    expect([answer.status, answer.json.code]).toEqual([400, "BAD_REQUEST"]);
    expect(gateway.updates).toEqual([]);
  });

  test.each([[{}], [{ turns: -1 }], [{ turns: 1.5 }], [{ turns: "1" }]])("%j read is 400", async (body) => {
    const { headers, ask } = await started();
    const answer = await ask("/1/read", headers, { method: "POST", body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
  });
});

describe("the search", () => {
  test("is of a token's own conversations, and an operator's of all", async () => {
    const { gateway, reader, ask } = await started();
    expect((await ask("/search?q=a%20%22b", reader)).json).toMatchObject({
      results: [{ session: { id: "1" }, turn_id: "t-1", role: "user", snippet: [{ text: 'a "b', hit: true }] }],
      before: null,
    });
    await ask("/search?q=a&limit=3&before=9");
    expect(gateway.searches).toEqual([
      { query: 'a "b', clientId: "client-read", limit: 50, before: undefined },
      { query: "a", limit: 3, before: "9" },
    ]);
  });

  test.each(["", "?q=", `?q=${"x".repeat(201)}`, "?q=a&limit=0", "?q=a&q=b"])("%s is 400", async (query) => {
    const { ask } = await started();
    expect((await ask(`/search${query}`)).json.code).toBe("BAD_REQUEST");
  });
});

describe("an export", () => {
  test("is a file to save, as Markdown or JSON, and never a page", async () => {
    const { gateway, reader, ask } = await started();
    gateway.sessions[0] = sessionInfo({ ...gateway.sessions[0]!, title: '../<b>"evil"\r\nX: y' });
    gateway.messages.push({
      ...SHOWN,
      turnId: "t1",
      at: 1000,
      role: "user",
      text: "<script>alert(1)</script>",
      calls: [],
    });
    const markdown = await ask("/1/export", reader);
    expect(markdown.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": 'attachment; filename="b-evil-x-y-1970-01-01.md"',
      "x-content-type-options": "nosniff",
    });
    expect(markdown.text).toContain("## Person, 1970-01-01T00:00:01.000Z\n\n<script>");
    const json = await ask("/1/export?format=json", reader);
    expect(json.headers["content-disposition"]).toContain(".json");
    expect(JSON.parse(json.text)).toMatchObject({
      session: { id: "1" },
      messages: [{ text: "<script>alert(1)</script>" }],
    });
    expect((await ask("/2/export", reader)).json.code).toBe("SESSION_UNKNOWN");
    expect((await ask("/1/export?format=html")).json.code).toBe("BAD_REQUEST");
  });
});

test("archived conversations are listed where they are asked for", async () => {
  const { gateway, ask } = await started();
  gateway.sessions[2] = sessionInfo({ ...gateway.sessions[2]!, isArchived: true });
  const ids = async (query: string) => (await ask(query)).json.sessions.map(({ id }: { id: string }) => id);
  expect([await ids(""), await ids("?archived=true"), await ids("?archived=all")]).toEqual([
    ["1", "2"],
    ["3"],
    ["1", "2", "3"],
  ]);
  expect((await ask("?archived=yes")).json.code).toBe("BAD_REQUEST");
  expect((await ask("?before=forged")).json.code).toBe("BAD_REQUEST");
});

test("the configuration is an operator's to see, secrets or not", async () => {
  const { gateway, headers, reader } = await started();
  expect((await call(gateway, { path: "/api/config", headers: reader })).json.code).toBe("FORBIDDEN_SCOPE");
  expect((await call(gateway, { path: "/api/config", headers })).json.gateway).toEqual({ port: 42617 });
});
