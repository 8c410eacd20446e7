// A browser that is signed in is made to send things by other sites; a device is revoked in the middle of everything it does; a
// token that may only read looks around. None of them may get further than it should.
import { request } from "node:http";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { startProcedures, manual, steps } from "./procedures-fixture.ts";

interface Page {
  readonly cookie: string;
  readonly csrf: string;
}

const newCode = async (home: string, scope = "operator"): Promise<string> =>
  (JSON.parse((await runBinary(["pair", "--scope", scope, "--json"], { home })).stdout) as { code: string }).code;

async function signIn(daemon: RunningBinary, code: string): Promise<Page> {
  const headers = { origin: daemon.url, "x-pairing-code": code };
  const answer = await daemon.request("/api/session", { method: "POST", headers });
  const { csrf } = (await answer.json()) as { csrf: string };
  return { cookie: answer.headers.get("set-cookie")!.split(";")[0]!, csrf };
}

type Headers = Readonly<Record<string, string>>;

/** By a client that leaves all headers as they are; resolves with the status, also of an answer that goes on. */
function statusOf({ url }: RunningBinary, method: string, path: string, headers: Headers, body = ""): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, url), { method, headers, agent: false }, (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    asked.on("upgrade", (_answer, socket) => {
      resolve(101);
      socket.destroy();
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

async function operationsOf(daemon: RunningBinary): Promise<readonly (readonly [string, string])[]> {
  const { paths } = (await (await daemon.request("/openapi.json")).json()) as { paths: Record<string, object> };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x")] as const),
  );
  return all.filter(([, path]) => /^\/(?:api|ws)/.test(path) && path !== "/api/channel-events");
}

const FOR_EVERYBODY: ReadonlySet<string> = new Set(["POST /api/session", "GET /api/session/ways"]);

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

test("half a sign-in opens no route, a whole one opens none for another site, and no name of ours is another's", async () => {
  await using daemon = await startBinary();
  const page = await signIn(daemon, await newCode(daemon.home));
  const both = { cookie: page.cookie, "x-svc-csrf": page.csrf };
  const attempts: readonly (readonly [string, Headers, number])[] = [
    ["the cookie alone", { cookie: page.cookie }, 401],
    ["the cookie alone, from our own page", { cookie: page.cookie, origin: daemon.url }, 401],
    ["the other half alone", { "x-svc-csrf": page.csrf }, 401],
    [
      "the cookie and the halves swapped",
      { cookie: `svc_session=${page.csrf}`, "x-svc-csrf": page.cookie.slice(12) },
      401,
    ],
    ["all of it, from another site", { ...both, origin: "https://evil.example" }, 403],
    ["all of it, from another port", { ...both, origin: "http://127.0.0.1:1" }, 403],
    ["all of it, from a frame without a site", { ...both, origin: "null" }, 403],
    ["all of it, to a name that leads here", { ...both, host: "rebound.example" }, 403],
  ];
  const operations = await operationsOf(daemon);
  expect(operations.length).toBeGreaterThan(25);
  for (const [method, path] of operations) {
    const isSocket = path === "/ws";
    for (const [what, headers, status] of attempts) {
      // Who signs in, or asks how, proves himself by neither.
      if (FOR_EVERYBODY.has(`${method} ${path}`) && status === 401) continue;
      // The one thing that the cookie alone does, for our own page: it returns the other half.
      if (`${method} ${path}` === "GET /api/session" && what === "the cookie alone, from our own page") continue;
      const answered = await statusOf(daemon, method, path, { ...headers, ...(isSocket && UPGRADE) });
      expect([method, path, what, answered]).toEqual([method, path, what, status]);
    }
  }
  // What opens /ws for a page among the protocols, and what does not.
  const offer = (csrf: string): Headers => ({
    ...UPGRADE,
    cookie: page.cookie,
    "sec-websocket-protocol": `svc.v1, csrf.${csrf}`,
  });
  expect(await statusOf(daemon, "GET", "/ws", { ...offer(page.csrf), origin: daemon.url })).toBe(101);
  expect(await statusOf(daemon, "GET", "/ws", { ...offer(page.csrf), origin: "https://evil.example" })).toBe(403);
  expect(await statusOf(daemon, "GET", "/ws", { ...offer(page.csrf), host: "rebound.example" })).toBe(403);
  expect(await statusOf(daemon, "GET", "/ws", offer(`${page.csrf}x`))).toBe(401);
  for (const path of ["/", "/webhook", "/pair", "/api/channel-events"]) {
    const method = path === "/" ? "GET" : "POST";
    expect(await statusOf(daemon, method, path, { ...both, host: "rebound.example" })).toBe(403);
    expect(await statusOf(daemon, method, path, { ...both, origin: "https://evil.example" })).toBe(403);
  }
  // Forms, and what programs post: the sign-in of a page is nothing there.
  const forms = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
  for (const type of forms) {
    const headers = { ...both, "content-type": type };
    expect(await statusOf(daemon, "POST", "/webhook", headers, '{"message":"x"}')).toBe(401);
    expect(await statusOf(daemon, "POST", "/api/approvals/a/b", headers, '{"approved":true}')).toBe(415);
    expect(await statusOf(daemon, "POST", "/api/channel-events", headers, '{"type":"x"}')).toBe(415);
  }
  expect(
    await statusOf(daemon, "POST", "/webhook", { ...both, "content-type": "application/json" }, '{"message":"x"}'),
  ).toBe(401);
  // After all of it the page is who it was.
  expect(await statusOf(daemon, "GET", "/api/session", both)).toBe(200);
});

test("a token for messages signs no page in, nor does its code, and a cookie that was planted is never taken for a sign-in", async () => {
  await using daemon = await startBinary();
  const token = await daemon.pair(await newCode(daemon.home, "webhook"));
  const own = { origin: daemon.url };
  expect(await statusOf(daemon, "POST", "/api/session", { ...own, authorization: `Bearer ${token}` })).toBe(403);
  expect(
    await statusOf(daemon, "POST", "/api/session", { ...own, "x-pairing-code": await newCode(daemon.home, "webhook") }),
  ).toBe(403);
  const planted = `svc_session=${"A".repeat(43)}`;
  const headers = { ...own, cookie: planted, "x-pairing-code": await newCode(daemon.home) };
  const answer = await daemon.request("/api/session", { method: "POST", headers });
  const { csrf } = (await answer.json()) as { csrf: string };
  expect(answer.headers.get("set-cookie")).not.toContain("A".repeat(43));
  expect(await statusOf(daemon, "GET", "/api/session", { cookie: planted, "x-svc-csrf": csrf })).toBe(401);
});

test("a device that is revoked loses its stream, its socket, its turn, its page and its click at once", async () => {
  await using fixture = await startProcedures({ script: () => ({ fault: "hang" }) });
  const { daemon } = fixture.chat;
  await fixture.write({ gated: { toml: manual('execution_mode = "supervised"'), md: steps("Look.") } });
  const run = await fixture.run("gated");
  await fixture.becomes(run, "waiting_approval");
  const [gate] = await fixture.approvals("waiting");
  const token = await daemon.pair(await newCode(fixture.home));
  const signed = await daemon.request("/api/session", {
    method: "POST",
    token,
    headers: { origin: daemon.url },
  });
  const { csrf, device } = (await signed.json()) as { csrf: string; device: { id: string } };
  const both = { cookie: signed.headers.get("set-cookie")!.split(";")[0]!, "x-svc-csrf": csrf };
  const ended: string[] = [];
  const stream = await daemon.request("/api/events", { token });
  const pageStream = await daemon.request("/api/events", { headers: both });
  for (const [name, { body }] of Object.entries({ stream, pageStream })) {
    void body!.pipeTo(new WritableStream()).then(
      () => ended.push(name),
      () => ended.push(name),
    );
  }
  const ws = new WebSocket(`${daemon.url.replace("http", "ws")}/ws`, ["svc.v1", `bearer.${token}`]);
  await new Promise((resolve) => ws.addEventListener("open", resolve));
  ws.addEventListener("close", ({ code }) => ended.push(`socket ${code}`));
  const turn = daemon.request("/webhook", { token, body: { message: "think long" } }).then(({ status }) => status);
  await eventually(
    () => fixture.model.requests.length,
    (count) => count > 0,
  );
  // The click: its body comes in halves, and the end of it after the revocation.
  const click = new Promise<number>((resolve, reject) => {
    const body = '{"approved":true}';
    const headers = { ...both, origin: daemon.url, "content-type": "application/json", "content-length": body.length };
    const path = `/api/approvals/${gate!.run_id}/${gate!.step_id}`;
    const asked = request(new URL(path, daemon.url), { method: "POST", headers, agent: false }, ({ statusCode }) =>
      resolve(statusCode ?? 0),
    );
    asked.on("error", reject);
    asked.write(body.slice(0, 5));
    setTimeout(() => {
      void runBinary(["devices", "revoke", device.id], { home: fixture.home }).then(() => asked.end(body.slice(5)));
    }, 200);
  });
  expect([await click, await turn]).toEqual([401, 401]);
  await eventually(
    () => ended.length,
    (count) => count === 3,
  );
  expect(ended.toSorted()).toEqual(["pageStream", "socket 1008", "stream"]);
  expect(await statusOf(daemon, "GET", "/api/session", both)).toBe(401);
  expect(await statusOf(daemon, "GET", "/api/status", { authorization: `Bearer ${token}` })).toBe(401);
  // Nobody has answered: the run waits.
  expect((await fixture.show(run)).status).toBe("waiting_approval");
});

test("a token that may only read is told nothing that others write, ask or answer", async () => {
  await using fixture = await startProcedures();
  const { daemon } = fixture.chat;
  const token = await daemon.pair(await newCode(fixture.home, "read"));
  const stream = await daemon.request("/api/events", { token });
  let told = "";
  void stream
    .body!.pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write: (text) => void (told += text) }))
    .catch(() => {});
  await fixture.api("/webhook", { message: "word-of-another" }, { "X-Session-Id": "theirs" });
  await fixture.chat.write({ text: "word-in-a-chat" });
  await fixture.write({
    gated: { toml: manual('execution_mode = "supervised"'), md: steps("Look at word-of-a-step.") },
  });
  const run = await fixture.run("gated", { text: "word-of-a-payload" });
  await fixture.becomes(run, "waiting_approval");
  const [gate] = await fixture.approvals("waiting");
  await fixture.answer(run, gate!.step_id, false, "word-of-feedback");
  await daemon.request("/api/channel-events", {
    method: "POST",
    body: { type: "x", content: { title: "word-of-a-program" } },
  });
  await eventually(
    () => told,
    (text) => text.includes("sop-run-end"),
  );
  const paths = (await operationsOf(daemon)).filter(
    ([method, path]) => method === "GET" && !/\/x\b|events|ws/.test(path),
  );
  const { sessions } = (await fixture.api<{ sessions: { id: string }[] }>("/api/sessions")).body;
  const ids = sessions.map(({ id }) => `/api/sessions/${encodeURIComponent(id)}/messages`);
  const answers = await Promise.all(
    [...paths.map(([, path]) => path), ...ids, `/api/sop-runs/${run}`].map(async (path) => {
      const response = await daemon.request(path, { token });
      return `${path} ${response.status} ${await response.text()}`;
    }),
  );
  expect(ids.length).toBeGreaterThan(0);
  expect([told, ...answers].filter((text) => text.includes("word-")).map((text) => text.slice(0, 300))).toEqual([]);
});
