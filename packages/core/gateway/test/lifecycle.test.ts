// Start, drain and close: a public bind is refused before anything listens, and a shutdown never cuts a turn that could
// have ended in time, nor waits for ever for one that could not.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { call, post, splitResponses, statusOf, tick, until, Wire } from "./http.ts";

const codeOfStart = (config: Parameters<Harness["start"]>[0]) =>
  new Harness().start(config).then(
    () => "started",
    (error: unknown) => (error as SvcError).code,
  );

describe("start", () => {
  test.each(["0.0.0.0", "::", "", "10.0.0.1", "example.org", "127.0.0.1.example.org", "127.1", "localhost."])(
    "host %j is public: refused before it listens",
    async (host) => expect(await codeOfStart({ config: { host } })).toBe("PUBLIC_BIND"),
  );

  test("allow_public_bind allows it", async () => {
    const gateway = await new Harness().start({ config: { host: "0.0.0.0", allow_public_bind: true } });
    expect(gateway.gateway.url).toBe(`http://127.0.0.1:${gateway.port}`);
    expect((await call(gateway, { path: "/health" })).status).toBe(200);
  });

  test("but never together with require_pairing = false, whatever else is set", async () => {
    const config = { host: "0.0.0.0", allow_public_bind: true, require_pairing: false };
    expect(await codeOfStart({ config, webhook: { secret: "s" } })).toBe("PUBLIC_BIND");
  });

  test("a taken port is ADDRESS_IN_USE, a malformed proxy block CONFIG_INVALID without being quoted", async () => {
    const first = await new Harness().start();
    expect(await codeOfStart({ config: { port: first.port } })).toBe("ADDRESS_IN_USE");
    const config = { trust_forwarded_headers: true, trusted_proxies: ["10.0.0.0/8", "s3cret/99"] };
    const failure = await new Harness().start({ config }).catch((error: unknown) => error as SvcError);
    expect(failure).toMatchObject({ code: "CONFIG_INVALID", message: expect.not.stringContaining("s3cret") });
  });
});

describe("drain", () => {
  test("refuses new work and /health with 503 and ends connections, but still lets people look", async () => {
    const harness = new Harness();
    const token = harness.device();
    const gateway = await harness.start();
    gateway.gateway.drain();
    const refused = [
      await post(gateway, token),
      await call(gateway, { method: "POST", path: "/pair" }),
      await call(gateway, { path: "/health" }),
      await call(gateway, { method: "POST", path: "/api/anything" }),
    ];
    for (const answer of refused) {
      expect([answer.status, answer.json.code, answer.headers["connection"]]).toEqual([503, "DRAINING", "close"]);
    }
    const headers = { authorization: `Bearer ${token}` };
    expect((await call(gateway, { path: "/api/status", headers })).status).toBe(200);
    expect(gateway.turns).toHaveLength(0);
  });
});

describe("close", () => {
  async function withRunningTurn(onAbort?: (reason: unknown) => void) {
    let finish = () => {};
    const harness = new Harness();
    const token = harness.device();
    const gateway = await harness.start({
      run: ({ signal }) =>
        new Promise((resolve, reject) => {
          finish = () => resolve({});
          signal.addEventListener("abort", () => (onAbort?.(signal.reason), reject(signal.reason)));
        }),
    });
    const answer = post(gateway, token);
    await until(() => gateway.turns.length === 1);
    return { gateway, token, answer, finish: () => finish() };
  }

  test("waits for a running turn, answers it, and is over when everything is closed", async () => {
    const { gateway, answer, finish } = await withRunningTurn();
    const idle = new Wire(gateway);
    let isClosed = false;
    const closed = gateway.gateway.close(30_000).then(() => (isClosed = true));
    await gateway.clock.advance(29_999);
    expect(isClosed).toBe(false);
    finish();
    expect((await answer).status).toBe(200);
    await closed;
    expect(gateway.gateway.connections).toBe(0);
    await idle.closed;
    await expect(call(gateway, { path: "/health" })).rejects.toThrow(/ECONNREFUSED/);
  });

  test("aborts what does not end in time, and says so to its client", async () => {
    let reason: unknown;
    const { gateway, answer } = await withRunningTurn((given) => (reason = given));
    const closed = gateway.gateway.close(30_000);
    await gateway.clock.advance(30_000);
    expect((await answer).json.code).toBe("TURN_CANCELLED");
    expect(reason).toBeInstanceOf(SvcError);
    await gateway.clock.advance(1_000);
    await closed;
  });

  test("also waits for a turn whose client is gone", async () => {
    let finish = () => {};
    const harness = new Harness();
    const token = harness.device();
    const gateway = await harness.start({ run: () => new Promise((resolve) => (finish = () => resolve({}))) });
    const wire = new Wire(gateway);
    wire.write(
      `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{"message":"hi"}',
    );
    await until(() => gateway.turns.length === 1);
    wire.socket.destroy();
    let isClosed = false;
    const closed = gateway.gateway.close(30_000).then(() => (isClosed = true));
    await until(() => gateway.gateway.connections === 0);
    await tick();
    expect(isClosed).toBe(false);
    finish();
    await closed;
  });

  test("goes on listening while a turn runs: who comes now is told 503, not refused", async () => {
    const { gateway, token, answer, finish } = await withRunningTurn();
    const closed = gateway.gateway.close(30_000);
    expect((await call(gateway, { path: "/health" })).json.code).toBe("DRAINING");
    expect((await post(gateway, token)).status).toBe(503);
    finish();
    expect((await answer).status).toBe(200);
    await closed;
  });

  const bodyComes = (token: string): string =>
    `POST /webhook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
    "Content-Type: application/json\r\nContent-Length: 16\r\n\r\n";

  test.each([
    ["headers", () => "POST /webhook HTTP/1.1\r\nHost: lo"],
    ["a body", (token: string) => `${bodyComes(token)}{"mess`],
    ["a refused body", () => 'POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n\r\n{"mess'],
  ])("gives a request that is half here, %s, one second, not the time that turns get", async (_name, bytesOf) => {
    const harness = new Harness();
    const token = harness.device();
    const gateway = await harness.start();
    const wire = new Wire(gateway);
    wire.write(bytesOf(token));
    await until(() => gateway.gateway.connections === 1);
    // Once this is answered, what was written before it has been read.
    await call(gateway, { path: "/health" });
    let isClosed = false;
    const closed = gateway.gateway.close(30_000).then(() => (isClosed = true));
    await tick();
    expect(isClosed).toBe(false);
    await gateway.clock.advance(1_000);
    await closed;
    expect(splitResponses(await wire.closed).filter((response) => statusOf(response) === 200)).toEqual([]);
  });

  test("a body that was complete only after the drain had begun starts no turn", async () => {
    const harness = new Harness();
    const token = harness.device();
    const gateway = await harness.start();
    const wire = new Wire(gateway);
    wire.write(`${bodyComes(token)}{"message"`);
    await until(() => gateway.gateway.connections === 1);
    // Once this is answered, what was written before it has been read.
    await call(gateway, { path: "/health" });
    const closed = gateway.gateway.close(30_000);
    wire.write(':"hi"}');
    expect(statusOf((await wire.responses(1))[0]!)).toBe(503);
    await closed;
    expect(gateway.turns).toHaveLength(0);
  });

  test("twice is once", async () => {
    const gateway = await new Harness().start();
    await expect(Promise.all([gateway.gateway.close(0), gateway.gateway.close(0)])).resolves.toHaveLength(2);
  });
});
