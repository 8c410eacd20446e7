// Found by the fuzzer: requests that two readers cut in two ways were served, with whatever stood behind them; a refused
// request with a broken body was answered twice or not at all; /x/../api/status was /api/status.
import { describe, expect, test } from "vitest";
import { Harness } from "./harness.ts";
import { call, codeOf, raw, splitResponses, statusOf, Wire } from "./http.ts";

const CRLF = "\r\n";
const lines = (...all: string[]) => all.join(CRLF) + CRLF + CRLF;

async function started() {
  const harness = new Harness();
  const token = harness.device();
  return { gateway: await harness.start(), token };
}

describe("a request that has no certain end", () => {
  test.each([
    ["a coding that nobody undoes", "HTTP/1.1", "gzip, chunked"],
    ["an empty coding first", "HTTP/1.1", ",chunked"],
    ["identity", "HTTP/1.1", "identity, chunked"],
    ["chunks in HTTP/1.0, which has none", "HTTP/1.0", "chunked"],
  ])("%s: 400, the last answer, and nothing behind it is read", async (_name, version, coding) => {
    const { gateway, token } = await started();
    const doubtful = lines(
      `GET /health ${version}`,
      "Host: localhost",
      "Connection: keep-alive",
      `Transfer-Encoding: ${coding}`,
    );
    const hidden = lines(
      "POST /webhook HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      "Content-Length: 16",
    );
    const response = await raw(gateway, `${doubtful}0${CRLF}${CRLF}${hidden}{"message":"hi"}`);
    expect(splitResponses(response).map((one) => [statusOf(one), codeOf(one)])).toEqual([[400, "BAD_REQUEST"]]);
    expect(response.toLowerCase()).toContain("connection: close");
    expect(gateway.turns).toHaveLength(0);
  });

  test.each(["HTTP/0.9", "HTTP/2.0"])("nor behind one of a version that is written otherwise: %s", async (version) => {
    const { gateway, token } = await started();
    const hidden = lines("GET /health HTTP/1.1", "Host: localhost");
    const request = lines(`GET /api/status ${version}`, "Host: localhost", `Authorization: Bearer ${token}`);
    const response = await raw(gateway, request + hidden);
    expect(splitResponses(response).map(codeOf)).toEqual(["BAD_REQUEST"]);
  });

  test("nor behind one that expects what nobody can do", async () => {
    const { gateway, token } = await started();
    const doubtful = lines(
      "POST /webhook HTTP/1.1",
      "Host: localhost",
      "Expect: the-unexpected",
      "Transfer-Encoding: gzip, chunked",
    );
    const hidden = lines(
      "POST /webhook HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      "Content-Length: 16",
    );
    const response = await raw(gateway, `${doubtful}0${CRLF}${CRLF}${hidden}{"message":"hi"}`);
    expect([splitResponses(response).length, gateway.turns.length]).toEqual([1, 0]);
  });

  test("chunked, however it is spelled, is none of them", async () => {
    const { gateway } = await started();
    const request = lines("GET /health HTTP/1.1", "Host: localhost", "Connection: close", "Transfer-Encoding: Chunked");
    expect(statusOf(await raw(gateway, `${request}0${CRLF}${CRLF}`))).toBe(200);
  });
});

describe("a body that breaks after its request was answered", () => {
  const refused = lines("POST /webhook HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked");

  test("in the same piece: the answer comes, once, and the connection ends", async () => {
    const { gateway } = await started();
    const response = await raw(gateway, `${refused}zz${CRLF}`);
    expect(splitResponses(response).map(statusOf)).toEqual([401]);
  });

  test("so does one that has no body", async () => {
    const { gateway } = await started();
    const asked = lines("OPTIONS /webhook HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked");
    expect(statusOf(await raw(gateway, `${asked}zz${CRLF}`))).toBe(204);
  });

  test("later: no second answer, which would be taken for the next request's", async () => {
    const { gateway } = await started();
    const wire = new Wire(gateway);
    wire.write(refused);
    expect(statusOf((await wire.responses(1))[0]!)).toBe(401);
    wire.write(`zz${CRLF}`);
    expect(splitResponses(await wire.closed)).toHaveLength(1);
  });

  test("never, because the client ends in the middle: no second answer either", async () => {
    const { gateway } = await started();
    const wire = new Wire(gateway);
    wire.write(lines("POST /webhook HTTP/1.1", "Host: localhost", "Content-Length: 16"));
    expect(statusOf((await wire.responses(1))[0]!)).toBe(401);
    wire.socket.end("half");
    expect(splitResponses(await wire.closed)).toHaveLength(1);
  });
});

describe("a client that is still sending when it is answered", () => {
  test("after a 431 gets to read it", async () => {
    const { gateway } = await started();
    const wire = new Wire(gateway);
    wire.write(`GET / HTTP/1.1${CRLF}Host: localhost${CRLF}X: ${"x".repeat(20_000)}`);
    expect(statusOf((await wire.responses(1))[0]!)).toBe(431);
    for (let count = 0; count < 50; count += 1) wire.write("x".repeat(10_000));
    wire.socket.end();
    expect(splitResponses(await wire.closed)).toHaveLength(1);
  });

  test("is not cut off because it wants the connection closed afterwards", async () => {
    const { gateway } = await started();
    const wire = new Wire(gateway);
    const ended = wire.closed.then(() => "ended");
    wire.write(lines("POST /webhook HTTP/1.1", "Host: localhost", "Connection: close", "Content-Length: 500000"));
    expect(statusOf((await wire.responses(1))[0]!)).toBe(401);
    wire.write("x".repeat(400_000));
    // Whatever the gateway does with the connection by itself, it has done before it answers another one.
    await call(gateway, { path: "/health" });
    expect(await Promise.race([ended, Promise.resolve("open")])).toBe("open");
    wire.write("x".repeat(100_000));
    expect(splitResponses(await wire.closed)).toHaveLength(1);
  });
});

test("two Authorizations are refused: a proxy may have gone by the other one", async () => {
  const { gateway, token } = await started();
  for (const others of [
    [`Bearer ${token}`, "Bearer x"],
    ["Bearer x", `Bearer ${token}`],
  ]) {
    const request = lines(
      "GET /api/status HTTP/1.1",
      "Host: localhost",
      "Connection: close",
      ...others.map((one) => `Authorization: ${one}`),
    );
    const response = await raw(gateway, request);
    expect([statusOf(response), codeOf(response)]).toEqual([400, "BAD_REQUEST"]);
  }
});

test.each([
  "/x/../api/status",
  "/x/%2e%2E/api/status",
  "/./api/status",
  "/api/status/.",
  "/api/x/..\\status",
  "/api\\status",
])("%s is not /api/status, whatever a proxy makes of it", async (path) => {
  const { gateway, token } = await started();
  const request = lines(
    `GET ${path} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    `Authorization: Bearer ${token}`,
  );
  const response = await raw(gateway, request);
  expect([statusOf(response), codeOf(response)]).toEqual([404, "NOT_FOUND"]);
});
