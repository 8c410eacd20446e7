// A recording that is sent to the wrong place, with a key that leaks, again and again, or that keeps its message from the agent.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { SvcError } from "@svc/contract";
import { createGuardedFetch } from "@svc/kit";
import { captureLogger, type FakeClock, fakeClock, settled } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import type { TranscriptionSettings } from "../src/index.ts";
import { type Recording, transcribe } from "../src/messaging/transcription/transcribe.ts";
import { failure } from "./house.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface Service extends AsyncDisposable {
  readonly seen: { url: string | undefined; headers: IncomingMessage["headers"]; body: string }[];
  readonly clock: FakeClock;
  readonly leave: AbortController;
  ask(more?: Partial<TranscriptionSettings>, recording?: Partial<Recording>): Promise<string>;
}

/** A service on loopback, and the guarded client that may reach it. */
async function service(...answers: Answer[]): Promise<Service> {
  const seen: Service["seen"] = [];
  const server = createServer((request, response) => {
    void readText(request.setEncoding("latin1")).then((body) => {
      seen.push({ url: request.url, headers: request.headers, body });
      const answer = answers.shift() ?? ((_, end) => end.writeHead(418).end());
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const clock = fakeClock();
  const fetch = createGuardedFetch({ allowPrivate: [`127.0.0.1:${port}`], log: captureLogger() });
  const settings: TranscriptionSettings = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: "sk-secret",
    model: "w-1",
    language: undefined,
    maxBytes: 1000,
  };
  const leave = new AbortController();
  return {
    seen,
    clock,
    leave,
    ask: (more = {}, recording = {}) =>
      transcribe(
        { fetch, clock, signal: leave.signal },
        { ...settings, ...more },
        { name: "voice.ogg", mimeType: "audio/ogg", bytes: new Uint8Array([1, 2, 255]), ...recording },
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** Moves the clock on until the work is done. */
async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  done.catch(() => {});
  while (!state.isDone) {
    await settled();
    if (clock.waiting > 0) await clock.advance(500);
  }
  return done;
}

describe("a transcription", () => {
  test("sends the recording as the form that OpenAI's interface takes, and gives the text", async () => {
    await using made = await service(json(200, { text: "  Hello there. " }));
    expect(await made.ask({ language: "de" })).toBe("Hello there.");
    const [{ url, headers, body }] = made.seen as [(typeof made.seen)[number]];
    expect([url, headers.authorization]).toEqual(["/v1/audio/transcriptions", "Bearer sk-secret"]);
    expect(headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    const part = (name: string) => new RegExp(`name="${name}"[^]*?\\r\\n\\r\\n([^]*?)\\r\\n--`).exec(body)?.[1];
    expect([part("model"), part("language"), part("response_format"), part("file")]).toEqual([
      "w-1",
      "de",
      "json",
      "\u0001\u0002\u00ff",
    ]);
    expect(body).toMatch(/name="file"; filename="voice.ogg"\r\nContent-Type: audio\/ogg/);
  });

  test("without a key or a language sends neither", async () => {
    await using made = await service(json(200, { text: "hi" }));
    await made.ask({ apiKey: undefined });
    expect(made.seen[0]!.headers.authorization).toBeUndefined();
    expect(made.seen[0]!.body).not.toContain("language");
  });

  test("is tried again while the service is busy, and not for longer than a few seconds", async () => {
    await using made = await service(
      json(503, {}),
      json(429, {}, { "retry-after": "3600" }),
      json(200, { text: "late" }),
    );
    expect(await passing(made.clock, made.ask())).toBe("late");
    expect(made.clock.monotonic()).toBeLessThan(20_000);
    expect(made.seen).toHaveLength(3);
  });

  test.each([
    ["is refused for good", [json(401, { error: { message: "sk-secret is wrong" } })], 1],
    ["stays busy", [json(503, {}), json(503, {}), json(503, {})], 3],
    ["is answered with something else", [json(200, ["text"])], 1],
    ["is answered without a text", [json(200, { text: 7 })], 1],
    ["is answered with no JSON", [(_: unknown, response: ServerResponse) => response.end("hello")], 1],
    ["is redirected elsewhere", [json(307, {}, { location: "http://127.0.0.1:1/" })], 1],
  ])("that %s is an error of ours with no word of theirs", async (_, answers, tries) => {
    await using made = await service(...(answers as Answer[]));
    const error = await passing(made.clock, failure(made.ask()));
    expect(error).toBeInstanceOf(SvcError);
    expect(error.code).toBe("TRANSCRIPTION_FAILED");
    expect(`${error.message} ${error.hint}`).not.toContain("sk-secret");
    expect(made.seen).toHaveLength(tries);
  });

  test("whose connection breaks is tried again", async () => {
    await using made = await service((request) => request.socket.destroy(), json(200, { text: "there" }));
    expect(await passing(made.clock, made.ask())).toBe("there");
  });

  test("of a recording that is too large is not asked for", async () => {
    await using made = await service();
    expect(await failure(made.ask({}, { bytes: new Uint8Array(1001) }))).toMatchObject({
      code: "TRANSCRIPTION_FAILED",
    });
    expect(made.seen).toEqual([]);
  });

  test("that is called off ends at once, with the reason", async () => {
    const reason = new Error("enough");
    await using made: Service = await service(() => made.leave.abort(reason));
    const asked = made.ask();
    await expect(asked).rejects.toBe(reason);
  });
});
