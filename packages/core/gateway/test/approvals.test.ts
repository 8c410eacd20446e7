// The second of two people who answer is told he was the first; a reader reads, or answers, what others were asked.
import { describe, expect, test } from "vitest";
import { call, statusOf, until, Wire } from "./http.ts";
import { Harness } from "./harness.ts";
import { signIn } from "./sign-in.ts";

const started = async () => {
  const harness = new Harness();
  const tokens = {
    operator: harness.device("operator", "phone"),
    read: harness.device("read"),
    webhook: harness.device("webhook"),
  };
  const gateway = await harness.start({});
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const get = (path: string, token = tokens.operator) => call(gateway, { path, headers: as(token) });
  const answer = (path: string, body: unknown, token = tokens.operator) =>
    call(gateway, {
      method: "POST",
      path: `/api/approvals/${path}`,
      headers: { ...as(token), "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { gateway, tokens, get, answer };
};

describe("the list", () => {
  test("shows what waits and what was answered, the newest first, a page at a time", async () => {
    const { gateway, get } = await started();
    const all = await get("/api/approvals");
    expect(all.json.approvals.map(({ n }: { n: number }) => n)).toEqual([3, 2, 1]);
    expect(all.json.approvals[1]).toEqual({
      n: 2,
      run_id: "run-2",
      step_id: "step-1",
      origin: "external",
      title: "Deploy?",
      message: "Version 2 is built.",
      approve_keywords: ["approve", "yes"],
      reject_keywords: ["reject", "no"],
      channels: ["provider_a"],
      asked_by: "a program on this machine",
      status: "approved",
      created_at: "1970-01-01T00:00:01.000Z",
      expires_at: "1970-01-01T00:00:02.000Z",
      prompts: [{ channel: "provider_a", conversation: "C1", thread: null }],
      answer: {
        approved: true,
        feedback: "go",
        by: "phone",
        via: "page",
        at: "1970-01-01T00:00:01.500Z",
        holds: "once",
      },
      detail: null,
      offers: { conversation: null, always: null, reason: null },
    });
    const first = await get("/api/approvals?limit=2");
    expect([first.json.approvals.length, first.json.before]).toEqual([2, 2]);
    const last = await get(`/api/approvals?limit=2&before=${first.json.before}`);
    expect([last.json.approvals.length, last.json.before]).toEqual([1, null]);
    expect((await get("/api/approvals?status=waiting")).json.approvals).toHaveLength(1);
    expect(gateway.approvals.asked.at(-1)).toEqual({ filter: { status: "waiting" }, limit: 50 });
  });

  test.each([
    "limit=0",
    "limit=201",
    "limit=x",
    "limit=1&limit=2",
    "before=",
    "before=-1",
    "before=1e3",
    "before=1.5",
    `before=${"9".repeat(16)}`,
    "status=no",
    "status=",
  ])("refuses ?%s and names what is wrong", async (query) => {
    const { get } = await started();
    const { status, json } = await get(`/api/approvals?${query}`);
    expect([status, json.error.startsWith(query.slice(0, query.indexOf("=")))]).toEqual([400, true]);
  });

  test("is an operator's", async () => {
    const { get, tokens } = await started();
    for (const token of [tokens.read, tokens.webhook]) expect((await get("/api/approvals", token)).status).toBe(403);
    expect((await get("/api/approvals", "x")).status).toBe(401);
  });
});

describe("an answer", () => {
  test("is kept with the device's name", async () => {
    const { answer } = await started();
    const { status, json } = await answer("run-3/step-1", { approved: false, feedback: "not on a Friday" });
    expect([status, json.status, json.answer]).toEqual([
      200,
      "rejected",
      {
        approved: false,
        feedback: "not on a Friday",
        by: "phone",
        via: "api",
        at: "1970-01-01T00:00:01.700Z",
        holds: null,
      },
    ]);
  });

  test("from the page is told from one by a token", async () => {
    const { gateway, tokens } = await started();
    const { headers } = await signIn(gateway, tokens.operator);
    const { status, json } = await call(gateway, {
      method: "POST",
      path: "/api/approvals/run-3/step-1",
      headers: { ...headers, "content-type": "application/json" },
      body: '{"approved":true}',
    });
    expect([status, json.answer]).toMatchObject([200, { by: "phone", via: "page" }]);
  });

  test("that is given many times at once counts once; the others are told who was first, and when", async () => {
    const { answer } = await started();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => answer("run-3/step-1", { approved: n % 2 === 0 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const late = answers.filter(({ status }) => status === 409);
    expect(late).toHaveLength(19);
    expect(late[0]!.json).toEqual({
      error: "phone was first.",
      code: "APPROVAL_RESOLVED",
      by: "phone",
      at: "1970-01-01T00:00:01.700Z",
    });
  });

  test("that nobody waits for is 410, and to nothing 404", async () => {
    const { answer } = await started();
    expect((await answer("run-1/step-1", { approved: true })).json.code).toBe("APPROVAL_EXPIRED");
    expect((await answer("run-9/step-1", { approved: true })).json.code).toBe("APPROVAL_UNKNOWN");
    expect((await answer("run-3", { approved: true })).json.code).toBe("NOT_FOUND");
    expect((await answer("run-3/step-1/x", { approved: true })).json.code).toBe("NOT_FOUND");
  });

  test.each([
    ["a/b", "c?d#e"],
    ["100%", "%2F"],
    ["ä😀", "x;y=z"],
    ["a\\b", "&=+"],
    ["...", "__proto__"],
    ["run:1", "'\"<>"],
    ["%25", "%"],
    [":id", "*"],
  ])("reaches a run and a step of any name: %s, %s", async (runId, stepId) => {
    const { gateway, answer } = await started();
    gateway.approvals.add({ runId, stepId });
    const path = `${encodeURIComponent(runId)}/${encodeURIComponent(stepId)}`;
    const { status, json } = await answer(path, { approved: true });
    expect([status, json.run_id, json.step_id]).toEqual([200, runId, stepId]);
  });

  test.each([
    "{}",
    "[]",
    "null",
    '{"approved":"yes"}',
    '{"approved":1}',
    '{"approved":true,"feedback":1}',
    "",
    '["approved"]',
  ])("without a yes or no is refused, and nothing is decided: %s", async (body) => {
    const { gateway, answer } = await started();
    const { status, json } = await answer("run-3/step-1", body);
    expect([status, json.code]).toEqual([400, "BAD_REQUEST"]);
    expect((await answer("run-3/step-1", `{"approved":true,"feedback":"${"x".repeat(5_000)}"}`)).status).toBe(413);
    expect(gateway.approvals.rows[2]?.status).toBe("waiting");
  });

  test("a blank word is no feedback, and one beyond the limit is refused", async () => {
    const { gateway, answer } = await started();
    gateway.reconfigure({ config: { max_body_bytes: 1_000_000 } });
    expect((await answer("run-3/step-1", { approved: true, feedback: "x".repeat(4_097) })).status).toBe(400);
    expect((await answer("run-3/step-1", { approved: true, feedback: " \n" })).json.answer.feedback).toBeNull();
  });

  test("is an operator's to give, and not a device's that is revoked while it gives it", async () => {
    const { gateway, answer, tokens } = await started();
    for (const token of [tokens.read, tokens.webhook]) {
      expect((await answer("run-3/step-1", { approved: true }, token)).status).toBe(403);
    }
    const wire = new Wire(gateway);
    const body = '{"approved":true}';
    const head = `POST /api/approvals/run-3/step-1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.operator}\r\n`;
    wire.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 3)}`);
    await until(() => gateway.gateway.connections === 1);
    expect((await call(gateway, { path: "/openapi.json" })).status).toBe(200);
    await gateway.gateway.devices.revoke("dev-phone");
    wire.write(body.slice(3));
    expect(statusOf((await wire.responses(1))[0]!)).toBe(401);
    await wire.closed;
    expect(gateway.approvals.rows[2]?.status).toBe("waiting");
  });
});
