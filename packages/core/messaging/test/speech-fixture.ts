/** A service of speech on loopback, and the guarded client that may reach it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { createGuardedFetch, type GuardedFetch } from "@svc/kit";
import { captureLogger } from "@svc/testkit/capture-logger";
import { type FakeClock, fakeClock, settled } from "@svc/testkit/fake-clock";

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export interface SpeechFixture extends AsyncDisposable {
  readonly baseUrl: string;
  /** Bodies as latin1. */
  readonly seen: { url: string | undefined; headers: IncomingMessage["headers"]; body: string }[];
  readonly clock: FakeClock;
  readonly fetch: GuardedFetch;
  /** Calls off what is asked. */
  readonly leave: AbortController;
}

/** Answers in turn, and 418 when there is none left. */
export async function speechFixture(...answers: Answer[]): Promise<SpeechFixture> {
  const seen: SpeechFixture["seen"] = [];
  const server = createServer((request, response) => {
    void readText(request.setEncoding("latin1")).then((body) => {
      seen.push({ url: request.url, headers: request.headers, body });
      const answer = answers.shift() ?? ((_, end) => end.writeHead(418).end());
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    seen,
    clock: fakeClock(),
    fetch: createGuardedFetch({ allowPrivate: [`127.0.0.1:${port}`], log: captureLogger() }),
    leave: new AbortController(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** Moves the clock on until the work is done. */
export async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  done.catch(() => {});
  while (!state.isDone) {
    await settled();
    if (clock.waiting > 0) await clock.advance(500);
  }
  return done;
}
