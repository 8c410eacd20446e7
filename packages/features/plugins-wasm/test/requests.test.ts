// Requests of plugins reach approved hosts and nobody else, whatever the URL, the redirect or the name's address is. Real servers,
// the guarded client itself.
import { createGuardedFetch, type Lookup } from "@svc/kit";
import { captureLogger } from "@svc/testkit/capture-logger";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { InstalledPlugin } from "../src/installed.ts";
import { pluginRequests } from "../src/requests.ts";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Site {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly url: string;
  readonly seen: readonly Seen[];
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Answers by path: what `paths` has, else 404. */
async function site(
  paths: Readonly<Record<string, { status?: number; headers?: Record<string, string>; body?: string | Buffer }>>,
): Promise<Site> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      const { status = 200, headers: own = {}, body = "" } = paths[url ?? ""] ?? { status: 404 };
      response.writeHead(status, own).end(body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, seen };
}

/** `approved`: at install. `exempt`: what the operator lets be private, as these servers are. */
function requests(
  approved: readonly string[],
  { exempt = approved, lookup }: { exempt?: readonly string[]; lookup?: Lookup } = {},
) {
  const log = captureLogger();
  const fetch = createGuardedFetch({ allowPrivate: exempt, log, ...(lookup && { lookup }) });
  const plugin = { name: "p", allowedHosts: approved } as InstalledPlugin;
  const request = pluginRequests(plugin, { fetch, log });
  const send = (
    url: string,
    {
      method = "GET",
      headers = {},
      body = "",
    }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => request({ method, url, headers }, Buffer.from(body), new AbortController().signal);
  return { send, log };
}

it("an approved host is reached, with method, headers and body, and what it answers comes back", async () => {
  const to = await site({ "/a?b": { status: 201, headers: { "x-answer": "yes" }, body: "thanks" } });
  const { send, log } = requests([to.host]);
  const answer = await send(`${to.url}/a?b#c`, { method: "POST", headers: { "X-Own": "1" }, body: "please" });
  expect(answer).toMatchObject({ status: 201, headers: { "x-answer": "yes" } });
  expect(Buffer.from(answer.body).toString()).toBe("thanks");
  expect(to.seen).toMatchObject([
    { method: "POST", url: "/a?b", headers: { "x-own": "1", host: to.host }, body: "please" },
  ]);
  expect(log.lines).toMatchObject([
    { level: "info", fields: { plugin: "p", request: 1, method: "POST", host: to.host, status: 201, bytes: 6 } },
  ]);
  expect(log.text()).not.toMatch(/thanks|please/);
});

it("what is not 2xx is an answer like any other", async () => {
  const to = await site({});
  expect(await requests([to.host]).send(`${to.url}/`)).toMatchObject({ status: 404 });
});

describe("a URL that is none of the approved ones is refused, and nobody is asked", () => {
  it.each([
    ["another host", (host: string) => `http://example.org:${host.split(":")[1]}/`],
    ["another port", () => "http://127.0.0.1:1/"],
    ["the scheme's own port", () => "http://127.0.0.1/"],
    ["the host as a user name", (host: string) => `http://${host}@example.org/`],
    ["a user name", (host: string) => `http://me:secret@${host}/`],
    ["a host that begins with it", (host: string) => `http://${host.replace(":", ".example.org:")}/`],
    ["a name that resolves to it", (host: string) => `http://localhost:${host.split(":")[1]}/`],
    ["a file", () => "file:///etc/passwd"],
    ["data", () => "data:text/plain,hello"],
    ["nothing", () => ""],
    ["a path", () => "/"],
  ])("%s", async (_, url) => {
    const to = await site({});
    const refusal = await requests([to.host])
      .send(url(to.host))
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "ADDRESS_REFUSED" });
    expect((refusal as Error).message).not.toContain("secret");
    expect(to.seen).toEqual([]);
  });

  it("any, where none was approved", async () => {
    const to = await site({});
    await expect(requests([], { exempt: [to.host] }).send(to.url)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(to.seen).toEqual([]);
  });
});

describe("approved does not mean that it may be private", () => {
  it("an address", async () => {
    const to = await site({});
    await expect(requests([to.host], { exempt: [] }).send(to.url)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(to.seen).toEqual([]);
  });

  it("a name, which was public when it was looked up before", async () => {
    const to = await site({});
    const port = to.host.split(":")[1];
    let lookups = 0;
    const lookup: Lookup = async () => {
      lookups += 1;
      return ["127.0.0.1"];
    };
    const { send } = requests([`rebound.example:${port}`], { exempt: [], lookup });
    await expect(send(`http://rebound.example:${port}/`)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect({ lookups, seen: to.seen }).toEqual({ lookups: 1, seen: [] });
  });
});

describe("a redirect", () => {
  it("to a host that was not approved is refused, private or not, and nobody is asked", async () => {
    const inside = await site({ "/": { body: "secret" } });
    const to = await site({ "/": { status: 302, headers: { location: `${inside.url}/` } } });
    await expect(requests([to.host], { exempt: [to.host, inside.host] }).send(`${to.url}/`)).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
    expect([to.seen.length, inside.seen.length]).toEqual([1, 0]);
  });

  it("to another approved host is followed, without headers that may hold a credential", async () => {
    const other = await site({ "/b": { body: "there" } });
    const to = await site({ "/a": { status: 307, headers: { location: `${other.url}/b` } } });
    const { send } = requests([to.host, other.host]);
    const answer = await send(`${to.url}/a`, {
      method: "POST",
      headers: { "x-api-key": "k", authorization: "Bearer t", accept: "text/plain" },
      body: "again",
    });
    expect(Buffer.from(answer.body).toString()).toBe("there");
    expect(to.seen[0]?.headers).toMatchObject({ "x-api-key": "k", authorization: "Bearer t" });
    expect(other.seen).toMatchObject([{ method: "POST", body: "again", headers: { accept: "text/plain" } }]);
    expect(other.seen[0]?.headers).not.toHaveProperty("x-api-key");
    expect(other.seen[0]?.headers).not.toHaveProperty("authorization");
  });

  it("after a POST is a GET without a body, where HTTP has it so", async () => {
    const to = await site({ "/a": { status: 303, headers: { location: "b" } }, "/b": { body: "done" } });
    await requests([to.host]).send(`${to.url}/a`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "x",
    });
    expect(to.seen[1]).toMatchObject({ method: "GET", url: "/b", body: "" });
    expect(to.seen[1]?.headers).not.toHaveProperty("content-type");
  });

  it("to itself, for ever, ends", async () => {
    const to = await site({ "/": { status: 302, headers: { location: "/" } } });
    await expect(requests([to.host]).send(`${to.url}/`)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
    expect(to.seen).toHaveLength(6);
  });
});

describe("headers", () => {
  it.each([
    "Host",
    "X-Forwarded-For",
    "x-forwarded-host",
    "Forwarded",
    "X-Real-IP",
    "Via",
    "Traceparent",
    "Connection",
    "Transfer-Encoding",
    "Content-Length",
    "Proxy-Authorization",
  ])("%s can't be set", async (name) => {
    const to = await site({});
    await expect(requests([to.host]).send(to.url, { headers: { [name]: "1" } })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
    expect(to.seen).toEqual([]);
  });

  it.each([
    ["a line break", { "x-a": "1\r\nhost: other" }],
    ["more of them than thirty-two", Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`x-${at}`, "1"]))],
  ])("%s is refused", async (_, headers) => {
    const to = await site({});
    await expect(requests([to.host]).send(to.url, { headers })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(to.seen).toEqual([]);
  });
});

it("another method than HTTP clients have is refused", async () => {
  const to = await site({});
  await expect(requests([to.host]).send(to.url, { method: "CONNECT" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  await expect(requests([to.host]).send(to.url, { method: "GET / HTTP/1.1\r\n" })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
  expect(to.seen).toEqual([]);
});

it("an answer that is too large is none, rather than half of one", async () => {
  const to = await site({ "/": { body: Buffer.alloc(4_194_305) } });
  await expect(requests([to.host]).send(`${to.url}/`)).rejects.toMatchObject({ code: "TOO_LARGE" });
});

it("twenty requests are made in a call, and no more", async () => {
  const to = await site({});
  const { send } = requests([to.host]);
  for (let count = 0; count < 20; count += 1) await send(to.url);
  await expect(send(to.url)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  expect(to.seen).toHaveLength(20);
});
