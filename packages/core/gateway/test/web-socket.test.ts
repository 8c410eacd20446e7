// The one way in that a browser opens without a preflight and that ends in a turn of the agent: who may open it, and what
// is no proper way to ask.
import { describe, expect, test } from "vitest";
import { bearer, SocketReader } from "./event-stream.ts";
import { type Answer, call, codeOf, raw, statusOf, until, Wire } from "./http.ts";
import { originOf, signIn } from "./sign-in.ts";
import { started, upgradeBytes } from "./socket-fixture.ts";

const codeIn = (opened: SocketReader | Answer): unknown =>
  opened instanceof SocketReader ? "open" : [opened.status, opened.json.code];

describe("who may open one", () => {
  test("a token among the protocols or in the header, a signed-in page; only svc.v1 is echoed", async () => {
    const { harness, tokens } = await started();
    const page = await signIn(harness, tokens.operator);
    const { "x-svc-csrf": csrf, ...cookie } = page.headers;
    const opened = [
      await SocketReader.open(harness, { protocols: ["svc.v1", `bearer.${tokens.operator}`] }),
      await SocketReader.open(harness, { protocols: [`bearer.${tokens.read}`, "svc.v1"] }),
      await SocketReader.open(harness, { headers: bearer(tokens.webhook) }),
      await SocketReader.open(harness, { protocols: [], headers: bearer(tokens.operator) }),
      await SocketReader.open(harness, {
        protocols: ["svc.v1", `csrf.${csrf}`],
        headers: { ...cookie, origin: originOf(harness) },
      }),
    ];
    expect(opened.map((one) => (one instanceof SocketReader ? one.ws.protocol : one.text))).toEqual([
      "svc.v1",
      "svc.v1",
      "svc.v1",
      "",
      "svc.v1",
    ]);
  });

  test("nobody else, and each is told so by HTTP in the shape of every error", async () => {
    const { harness, tokens } = await started();
    const { headers } = await signIn(harness, tokens.operator);
    const { "x-svc-csrf": csrf, ...cookie } = headers;
    const good = ["svc.v1", `bearer.${tokens.operator}`];
    const open = async (options: Parameters<typeof SocketReader.open>[1]): Promise<unknown> =>
      codeIn(await SocketReader.open(harness, options));
    expect([
      await open({}),
      await open({ protocols: ["svc.v1", `bearer.svc_${"0".repeat(64)}`] }),
      await open({ protocols: ["svc.v1", `bearer.${tokens.operator}`, `bearer.${tokens.read}`] }),
      await open({ headers: cookie }),
      await open({ protocols: ["svc.v1", "csrf.wrong"], headers: cookie }),
      await open({ protocols: ["svc.v1", `csrf.${csrf}`] }),
      await open({ protocols: [`bearer.${tokens.operator}`] }),
      await open({ protocols: good, headers: { origin: "https://evil.example" } }),
      await open({ protocols: good, headers: { origin: "null" } }),
      await open({ protocols: good, headers: { host: "evil.example" } }),
    ]).toEqual([
      ...Array.from({ length: 6 }, () => [401, "UNAUTHORIZED"]),
      [400, "BAD_REQUEST"],
      [403, "BAD_ORIGIN"],
      [403, "BAD_ORIGIN"],
      [403, "BAD_HOST"],
    ]);
    expect(harness.hub.subscribers).toBe(0);
  });

  test("guessing is counted as it is for every other path", async () => {
    const { harness } = await started({ config: { trust_forwarded_headers: true } });
    const guess = {
      protocols: ["svc.v1", `bearer.svc_${"0".repeat(64)}`],
      headers: { "x-forwarded-for": "203.0.113.9" },
    };
    for (let count = 0; count < 10; count += 1) await SocketReader.open(harness, guess);
    expect(codeIn(await SocketReader.open(harness, guess))).toEqual([429, "LOCKED_OUT"]);
  });

  test("a token in the query string opens nothing", async () => {
    const { harness, tokens } = await started();
    const text = await raw(harness, upgradeBytes("", `/ws?token=${tokens.operator}&bearer.${tokens.operator}`));
    expect([statusOf(text), codeOf(text)]).toEqual([401, "UNAUTHORIZED"]);
  });

  test("with a webhook secret in the config, a token for messages must go by the way that asks for it", async () => {
    const { harness, tokens } = await started({ webhook: { secret: "s3cret" } });
    expect(codeIn(await SocketReader.open(harness, { headers: bearer(tokens.webhook) }))).toEqual([
      403,
      "FORBIDDEN_SCOPE",
    ]);
    expect(codeIn(await SocketReader.open(harness, { headers: bearer(tokens.operator) }))).toBe("open");
  });
});

describe("a request that is no proper handshake", () => {
  test("without an upgrade, or of another version, is told what is missing", async () => {
    const { harness, tokens } = await started();
    const plain = await call(harness, { path: "/ws", headers: bearer(tokens.read) });
    expect([plain.status, plain.json.code, plain.headers["upgrade"]]).toEqual([426, "UPGRADE_REQUIRED", "websocket"]);
    const old = upgradeBytes(`Authorization: Bearer ${tokens.read}\r\n`).replace("Version: 13", "Version: 7");
    const wire = new Wire(harness);
    wire.write(old);
    expect((await wire.responses(1))[0]).toMatch(/^HTTP\/1\.1 426 .*sec-websocket-version: 13/is);
    wire.socket.destroy();
  });

  test("is told so with one Connection header, also where the connection ends with it", async () => {
    const { harness, tokens } = await started();
    const asked = `GET /ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.read}\r\n`;
    const answers = [
      await raw(harness, `${asked}Connection: close\r\n\r\n`),
      await raw(harness, `${asked}Connection: close\r\nContent-Length: 5\r\n\r\nhello`),
    ];
    for (const answer of answers) expect(answer.match(/^connection: .*$/gim)).toEqual(["connection: upgrade, close"]);
  });

  test("with a malformed key or malformed protocols is refused in our shape", async () => {
    const { harness, tokens } = await started();
    const authorized = `Authorization: Bearer ${tokens.read}\r\n`;
    const answers = [
      await raw(harness, upgradeBytes(authorized).replace(/Key: .*/, "Key: short")),
      await raw(harness, upgradeBytes(`${authorized}Sec-WebSocket-Protocol: svc.v1, svc.v1\r\n`)),
      await raw(harness, upgradeBytes(`${authorized}Sec-WebSocket-Protocol: svc.v1,,\r\n`)),
      await raw(harness, upgradeBytes(`Sec-WebSocket-Protocol: ${"x".repeat(20_000)}\r\n`)),
    ];
    expect(answers.map((text) => [statusOf(text), codeOf(text)])).toEqual([
      ...Array.from({ length: 3 }, () => [400, "BAD_REQUEST"]),
      [431, "HEADERS_TOO_LARGE"],
    ]);
  });

  test("with a body, of another path or method, or behind another request, is served as if it had not asked", async () => {
    let answer: Promise<object> = Promise.resolve({});
    const { harness, tokens } = await started({ run: () => answer });
    const authorized = `Authorization: Bearer ${tokens.operator}\r\nContent-Type: application/json\r\n`;
    const body = '{"message":"hi"}';
    const framed = `${authorized}Content-Length: ${body.length}\r\n`;
    const ask = async (bytes: string, count = 1): Promise<number[]> => {
      const wire = new Wire(harness);
      wire.write(bytes);
      const statuses = (await wire.responses(count)).map(statusOf);
      wire.socket.destroy();
      return statuses;
    };
    expect(await ask(upgradeBytes(framed, "/webhook", "POST") + body)).toEqual([200]);
    expect(await ask(upgradeBytes(framed) + body)).toEqual([426]);
    expect(await ask(upgradeBytes(authorized, "/health"))).toEqual([200]);
    const turn = `POST /webhook HTTP/1.1\r\nHost: localhost\r\n${framed}\r\n${body}`;
    const { promise, resolve } = Promise.withResolvers<object>();
    answer = promise;
    harness.turns.length = 0;
    const statuses = ask(turn + upgradeBytes(authorized) + turn, 3);
    await until(() => harness.turns.length === 2);
    resolve({});
    expect(await statuses).toEqual([200, 426, 200]);
  });
});
