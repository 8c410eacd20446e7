// What is this backend's own: pages and browsers that crash, what a page may keep on the disk, files that nobody asked for, and that
// nothing of a browser is left.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type ClientId, type Contributions, type Json, SvcError } from "@svc/contract";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { create } from "../src/native.ts";

const CHROMIUM = "/usr/bin/chromium";
const WAIT = { timeout: 60_000 };
const closing: (() => unknown)[] = [];
beforeEach((context) => {
  if (!existsSync(CHROMIUM)) requireReal(context, { name: "chromium", reason: "apt-get install chromium" });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
};

/** Pages by path. `http://localhost` is a secure context. */
async function site(pages: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(pages[request.url ?? ""] ?? "<title>Other</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

interface Backend {
  readonly made: Contributions;
  readonly home: string;
  call(input: Json): Promise<{ readonly title: string; readonly notes?: string[]; readonly content?: string }>;
}

function backend(section: Readonly<Record<string, unknown>> = {}): Backend {
  const home = temporaryHome();
  closing.push(() => home.remove());
  const config: unknown = { allowed_domains: ["localhost"], native_headless: true, idle_secs: 300, ...section };
  const context = fakeFeatureContext(config, {
    clock: clock as never,
    homeFolder: home.path,
    resolve: async () => ["127.0.0.1"],
  });
  const made = create(context);
  closing.push(() => made.shutdown?.());
  const [tool] = made.tools ?? [];
  const call = async (input: Json) => {
    if (tool === undefined) throw new SvcError("TOOL_UNKNOWN");
    return (await tool.run(input, { ...fakeToolContext(), clientId: "ada" as ClientId })) as never;
  };
  return { made, home: home.path, call };
}

/** Processes of this home's browsers whose command line has the word. */
function processesOf(home: string, word: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      return line.includes(`${home}/run/browser/`) && line.includes(word);
    } catch {
      return false;
    }
  });
}

/** The browser's first process: it is nobody's helper. */
const browserOf = (home: string): number => {
  const helpers = new Set(processesOf(home, "--type="));
  return processesOf(home, "--remote-debugging-pipe").find((pid) => !helpers.has(pid)) ?? 0;
};

describe("what crashes", () => {
  test("a browser that is killed is told, and open starts another", async () => {
    const origin = await site({ "/": "<title>Page</title>" });
    const { call, home } = backend();
    await call({ action: "open", url: `${origin}/` });
    process.kill(browserOf(home), "SIGKILL");
    await vi.waitFor(async () => {
      await expect(call({ action: "get_title" })).rejects.toMatchObject({ code: "BROWSER_FAILED" });
      expect(browserOf(home)).toBe(0);
    }, WAIT);
    const opened = await call({ action: "open", url: `${origin}/` });
    expect(opened.title).toBe("Page");
  });

  test("a page that crashes is told once, and its tab can be used on", async () => {
    const origin = await site({ "/": "<title>Page</title>" });
    const { call, home } = backend();
    await call({ action: "open", url: `${origin}/` });
    for (const pid of processesOf(home, "--type=renderer")) process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(call({ action: "snapshot" })).rejects.toThrow(/crashed/), WAIT);
    expect((await call({ action: "open", url: `${origin}/` })).title).toBe("Page");
  });
});

test("pages keep no more than a bounded part of the disk", async () => {
  const origin = await site({
    "/": `<title>Keeps</title><script type="module">
      const megabyte = new Uint8Array(1048576);
      let kept = 0;
      try {
        const cache = await caches.open("x");
        for (; kept < 600; kept++) await cache.put("/" + kept, new Response(crypto.getRandomValues(new Uint8Array(65536)) && new Blob([megabyte])));
      } catch (error) { document.body.append(error.name + " "); }
      document.body.append("kept " + kept);
    </script><body></body>`,
  });
  const { call } = backend();
  await call({ action: "open", url: `${origin}/` });
  await call({ action: "wait", text: "kept", seconds: 60 });
  const { content = "" } = await call({ action: "get_text" });
  const [, kept] = /kept ([0-9]+)/.exec(content) ?? [];
  expect(content).toContain("QuotaExceededError");
  expect(Number(kept)).toBeLessThan(300);
});

test("what pages ask people for is refused", async () => {
  const origin = await site({
    "/": `<title>Asks</title><script type="module">
      const states = await Promise.all(["geolocation", "camera", "microphone", "notifications", "clipboard-read"].map(
        async (name) => name + ":" + (await navigator.permissions.query({ name })).state));
      document.body.append("states " + states.join(" "));
    </script><body></body>`,
  });
  const { call } = backend();
  await call({ action: "open", url: `${origin}/` });
  await call({ action: "wait", text: "states" });
  const { content = "" } = await call({ action: "get_text" });
  expect(content).toContain(
    "geolocation:denied camera:denied microphone:denied notifications:denied clipboard-read:denied",
  );
});

test("closing leaves no process and no folder", async () => {
  const origin = await site({});
  const { call, home, made } = backend();
  await call({ action: "open", url: `${origin}/` });
  expect(readdirSync(join(home, "run", "browser"))).toHaveLength(1);
  await call({ action: "close" });
  expect(readdirSync(join(home, "run", "browser"))).toEqual([]);
  await vi.waitFor(() => expect(processesOf(home, "")).toEqual([]), WAIT);
  await call({ action: "open", url: `${origin}/` });
  await made.shutdown?.();
  expect(readdirSync(join(home, "run", "browser"))).toEqual([]);
});
