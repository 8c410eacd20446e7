// A request that is too slow to arrive ends in a 408 of our shape. Node's timers measure real time, so the error is
// handed to the listener here; test/malformed-http.test.ts has what the parser itself refuses.
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { onClientError } from "../src/http/parser-errors.ts";
import { codeOf, statusOf } from "./http.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });

async function answerTo(code: string, inFlight?: object): Promise<string> {
  const socket = Object.assign(new PassThrough(), { _httpMessage: inFlight, destroySoon() {} });
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  onClientError(failure(code), socket);
  await closed;
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
    const response = await answerTo("ERR_HTTP_REQUEST_TIMEOUT", { headersSent: false, req: { complete: false } });
    expect(statusOf(response)).toBe(408);
  });

  test("in the body of a request that was answered already adds nothing to that answer", async () => {
    expect(await answerTo("ERR_HTTP_REQUEST_TIMEOUT", { headersSent: true, req: { complete: false } })).toBe("");
  });

  test("of a client that is gone is nobody's to read", async () => {
    expect(await answerTo("ECONNRESET")).toBe("");
  });
});
