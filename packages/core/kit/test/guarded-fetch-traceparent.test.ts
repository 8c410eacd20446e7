// A trace goes on at whoever is asked, and nowhere else: not at a stranger that a redirect leads to, and not where nobody traces.
import type { IncomingHttpHeaders } from "node:http";
import { afterEach, expect, test } from "vitest";
import { client, closeServers, listen } from "./loopback.ts";

afterEach(closeServers);

const OURS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const THEIRS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

interface Hearing {
  readonly host: string;
  /** In the order of the requests. */
  readonly heard: IncomingHttpHeaders[];
}

/** Redirects what is posted to /from, once, to `to`. */
async function hearing(to: () => string = () => ""): Promise<Hearing> {
  const heard: IncomingHttpHeaders[] = [];
  const host = await listen((request, response) => {
    heard.push(request.headers);
    if (request.url === "/from") response.writeHead(307, { location: to() });
    response.end();
  });
  return { host, heard };
}

test("each request says what it is part of itself", async () => {
  const { host, heard } = await hearing();
  let now: string | undefined = OURS;
  const fetch = client([host], { traceparent: () => now });
  await fetch(`http://${host}/`);
  now = undefined;
  await fetch(`http://${host}/`);
  expect(heard.map(({ traceparent }) => traceparent)).toEqual([OURS, undefined]);
});

test("nobody traces: there is no such header", async () => {
  const { host, heard } = await hearing();
  await client([host])(`http://${host}/`);
  expect(heard[0]).not.toHaveProperty("traceparent");
});

test.each(["traceparent", "TraceParent"])("a caller's own %s stands", async (name) => {
  const { host, heard } = await hearing();
  await client([host], { traceparent: () => OURS })(`http://${host}/`, { headers: { [name]: THEIRS } });
  expect(heard[0]?.["traceparent"]).toBe(THEIRS);
});

test("a redirect takes it along at home, and to no stranger", async () => {
  const stranger = await hearing();
  const near = await hearing(() => "/to");
  const far = await hearing(() => `http://${stranger.host}/`);
  const fetch = client([near.host, far.host, stranger.host], { traceparent: () => OURS });
  await fetch(`http://${near.host}/from`, { method: "POST", body: "x" });
  await fetch(`http://${far.host}/from`, { method: "POST", body: "x" });
  expect(near.heard.map(({ traceparent }) => traceparent)).toEqual([OURS, OURS]);
  expect(far.heard[0]?.["traceparent"]).toBe(OURS);
  expect(stranger.heard).toHaveLength(1);
  expect(stranger.heard[0]).not.toHaveProperty("traceparent");
});
