// A request that is too slow to arrive ends in a 408 of our shape. Node's timers measure real time, so the error is
// handed to the listener here; test/malformed-http.test.ts has what the parser itself refuses.
import { connect, createServer, type AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { onClientError } from "../src/http/connections.ts";
import { codeOf, statusOf } from "./http.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });

/** What a client is sent until its connection ends. */
async function answerTo(code: string, state: object = {}): Promise<string> {
  const server = createServer((socket) => onClientError(failure(code), Object.assign(socket, state)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  client.on("data", (chunk) => (text += chunk.toString()));
  client.on("error", () => {});
  await new Promise((resolve) => client.once("close", resolve));
  await new Promise((resolve) => server.close(resolve));
  return text;
}

describe("a client error", () => {
  test.each([
    ["ERR_HTTP_REQUEST_TIMEOUT", 408, "REQUEST_TIMEOUT"],
    ["HPE_HEADER_OVERFLOW", 431, "HEADERS_TOO_LARGE"],
    ["HPE_CHUNK_EXTENSIONS_OVERFLOW", 413, "TOO_LARGE"],
    ["HPE_SOMETHING_NEW", 400, "BAD_REQUEST"],
  ])("%s → %i", async (error, status, code) => {
    const response = await answerTo(error);
    expect([statusOf(response), codeOf(response)]).toEqual([status, code]);
    expect(response).toMatch(/^HTTP\/1\.1 \d+ [\w ]+\r\nconnection: close\r\n/);
  });

  test("in the body of a request that was not answered yet is told", async () => {
    const state = { _httpMessage: { headersSent: false, req: { complete: false } } };
    expect(statusOf(await answerTo("ERR_HTTP_REQUEST_TIMEOUT", state))).toBe(408);
  });

  test("in the body of a request that was answered already adds nothing to that answer", async () => {
    expect(await answerTo("ERR_HTTP_REQUEST_TIMEOUT", { parser: { incoming: { complete: false } } })).toBe("");
  });

  test("of a client that is gone is nobody's to read", async () => {
    expect(await answerTo("ECONNRESET")).toBe("");
  });
});
