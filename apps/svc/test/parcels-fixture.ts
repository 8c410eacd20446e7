/**
 * A binary with a feature of somebody else's: the example of docs/shared-state.md, copied out of this repository and composed
 * like any stranger's, a daemon of it, and the carrier that it asks.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "@svc/compose";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { type Answer, UNGUARDED } from "./daemon.ts";

/** Takes some seconds, all of them the composer's. */
export async function parcelsBinary(): Promise<{ readonly path: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "svc-parcels-"));
  const feature = join(folder, "tool-parcels");
  cpSync(join(import.meta.dirname, "tool-parcels"), feature, { recursive: true });
  const { binary } = await build({ profile: "minimal", with: [feature], outDir: join(folder, "out") });
  return { path: binary, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Asked {
  readonly what: string;
  /** After `Bearer `. */
  readonly token: string;
  readonly code: string | undefined;
}

export interface Carrier extends AsyncDisposable {
  readonly url: string;
  /** Keys that it takes. Of one that is taken away the sessions are worth nothing either. */
  readonly keys: Set<string>;
  /** In order. */
  readonly asked: readonly Asked[];
  /** While it is set, questions for a parcel are answered when it resolves. */
  held: Promise<void> | undefined;
}

async function startCarrier(...keys: string[]): Promise<Carrier> {
  const asked: Asked[] = [];
  const opened = new Map<string, string>();
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const what = `${request.method} ${request.url}`;
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const [code] = [request.headers["x-door-code"]].flat();
    asked.push({ what, token, code });
    const isParcel = request.url?.startsWith("/parcels/") === true;
    const say = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (!carrier.keys.has(isParcel ? (opened.get(token) ?? "") : token)) return say(401, {});
    if (isParcel) await carrier.held;
    if (what === "GET /account") return say(200, { name: `account ${[...carrier.keys].indexOf(token) + 1}` });
    if (what !== "POST /sessions") return say(200, { place: `place of ${request.url?.split("/").at(-1)}` });
    const session = `session-${opened.size + 1}`;
    opened.set(session, token);
    say(200, { session });
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const carrier: Carrier = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: new Set(keys),
    asked,
    held: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return carrier;
}

export interface ParcelsFixture extends AsyncDisposable {
  readonly home: string;
  readonly daemon: RunningBinary;
  readonly carrier: Carrier;
  /** The config from here on; `section`: in place of the carrier's. */
  config(key: string, more?: string, section?: string): void;
  svc(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** `svc secrets set`, which tells the daemon by itself. */
  setSecret(key: string, value: string): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Of `/health`: another one says that the service was started anew. */
  instance(): Promise<string>;
  reload(): Promise<{ changed: string[]; features: string[] }>;
  /** Another device; resolves with its token. */
  pair(name: string): Promise<string>;
  /** Calls a tool in a turn of its own; resolves with what the tool gave. */
  call<T = Found>(token: string, tool: string, input: object): Promise<T>;
  where(token: string, parcel: string): Promise<Found>;
}

/** What `parcel_where` gives, or why it gives nothing. */
export interface Found {
  readonly place?: string;
  readonly calls?: number;
  readonly own?: readonly string[];
  readonly ofAll?: number;
  readonly account?: string;
  readonly error?: string;
}

export interface ParcelsOptions {
  /** Of the config, beside what the carrier needs. */
  readonly more?: string;
  /** Default: true. */
  readonly isPaired?: boolean;
}

export async function startParcels(binary: string, options: ParcelsOptions = {}): Promise<ParcelsFixture> {
  const { more = "", isPaired = true } = options;
  const home = temporaryHome();
  const carrier = await startCarrier("first-key");
  const sectionOf = (key: string): string => `[parcels]\napi_url = "${carrier.url}"\napi_key = "${key}"\n`;
  const config = (key: string, text = more, section = sectionOf(key)): void =>
    writeFileSync(
      join(home.path, "config.toml"),
      `${text}\n[gateway]\nwebhook_rate_limit_per_minute = 0\nrequire_pairing = ${isPaired}\n${UNGUARDED}
[secrets]\nencrypt = false\n${section}`,
      { mode: 0o600 },
    );
  config("first-key");
  const daemon = await startBinary({ binary, home: home.path });
  const svc = (...args: readonly string[]) => runBinary(args, { binary, home: home.path });
  const fixture: ParcelsFixture = {
    home: home.path,
    daemon,
    carrier,
    config,
    svc,
    setSecret: (key, value) => runBinary(["secrets", "set", key], { binary, home: home.path, input: value }),
    async instance() {
      const response = await daemon.request("/health");
      return ((await response.json()) as { instance: string }).instance;
    },
    async reload() {
      const { stdout, stderr } = await svc("reload", "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as never;
    },
    async pair(name) {
      const { stdout } = await svc("pair", "--name", name, "--json");
      return daemon.pair((JSON.parse(stdout) as { code: string }).code);
    },
    async call<T>(token: string, tool: string, input: object) {
      const response = await daemon.request("/webhook", { token, body: { message: callOf(tool, input) } });
      return said((await response.json()) as Answer) as T;
    },
    where: (token, parcel) => fixture.call(token, "parcel_where", { parcel }),
    async [Symbol.asyncDispose]() {
      await daemon.close();
      await carrier[Symbol.asyncDispose]();
      home.remove();
    },
  };
  return fixture;
}

/** What has the built-in model call a tool. */
export const callOf = (tool: string, input: object): string => `/tool ${tool} ${JSON.stringify(input)}`;

/** The built-in model answers with what the tool gave, as JSON, or with why it gave nothing. */
export function said({ response }: Answer): object {
  const [json] = /[{"].*[}"]/s.exec(response) ?? [];
  try {
    const value = JSON.parse(json ?? "") as unknown;
    return typeof value === "object" && value !== null ? value : { error: response };
  } catch {
    return { error: response };
  }
}
