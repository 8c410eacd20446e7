/** An agent whose model is a real provider library, on a real config section, against a server on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { inspect } from "node:util";
import type { SvcError } from "@svc/contract";
import { type FakeModelOptions, type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { expect } from "vitest";
import { ask, failure, agentFixture, type AgentFixture, type AgentFixtureOptions } from "./agent-fixture.ts";

export const PROVIDERS = ["openai", "anthropic", "openai-compatible"] as const;
export type Provider = (typeof PROVIDERS)[number];

export const KEY = "sk-live-0123456789-Xy_z";

/** The agent with this provider at `url`. */
export function fixtureAt(provider: Provider, url: string, options: AgentFixtureOptions = {}): AgentFixture {
  const model = { provider, name: "model-1", base_url: url, api_key: KEY, ...options.config?.model };
  return agentFixture({ ...options, config: { ...options.config, model } });
}

export interface Provided extends AgentFixture, AsyncDisposable {
  readonly server: FakeModelServer;
}

export async function against(
  provider: Provider,
  script: FakeModelOptions["script"],
  options: AgentFixtureOptions = {},
): Promise<Provided> {
  const server = await fakeModelServer({ script });
  return { server, ...fixtureAt(provider, server.url, options), [Symbol.asyncDispose]: server.close };
}

export interface RawServer extends AsyncDisposable {
  readonly url: string;
  /** A client takes the server for a proxy and asks for a tunnel. */
  onConnect(take: (request: IncomingMessage, socket: Duplex) => void): void;
}

/** A server that answers as the test says, byte by byte if it likes. */
export async function rawServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<RawServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    onConnect: (take) => void server.on("connect", take),
    [Symbol.asyncDispose]: close,
  };
}

/** A stream of server-sent events, ended in good order. */
export function sendEvents(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const name = "type" in event ? `event: ${String(event.type)}\n` : "";
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** Resolves when the turn sleeps before another try: beside the turn's limit, one more timer waits. */
export async function sleeping({ clock }: AgentFixture): Promise<void> {
  while (clock.waiting < 2) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for the work and lets every back-off on the way pass at once. */
export async function throughBackoffs<T>({ clock }: AgentFixture, work: Promise<T>): Promise<T> {
  const over = work.then(
    () => true,
    () => true,
  );
  const turnOfTheLoop = (): Promise<false> => new Promise((resolve) => setImmediate(resolve, false));
  while (!(await Promise.race([over, turnOfTheLoop()]))) {
    if (clock.waiting > 1) await clock.advance(30_000);
  }
  return work;
}

/**
 * What a turn fails with. Whatever it is, neither the key nor `also` may be in anything that the error, its causes, the
 * events or the log can show.
 */
export async function failureOf(
  made: AgentFixture,
  more: object = {},
  also: readonly string[] = [],
): Promise<SvcError> {
  const error = await failure(ask(made.agent, "hello", more));
  const shown = `${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(made.events)}${made.log.text()}`;
  for (const secret of [KEY, ...also]) expect(shown).not.toContain(secret);
  return error;
}
