// The browser tool with a driver that does as it is told: whose browser it is, when it ends, what is refused, and what is told.
import { type ClientId, type Json, SvcError } from "@svc/contract";
import {
  type BrowserAction,
  type BrowserDriver,
  browserFeature,
  type DriverCall,
  type DriverResult,
} from "@svc/kit/browser";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { toolConformance } from "../src/conformance/tool-conformance.ts";
import { fakeClock, settled } from "../src/fake-clock.ts";
import { fakeToolContext } from "../src/fake-tool-context.ts";
import { fakeFeatureContext } from "../src/feature-context.ts";

const PAGE: DriverResult = { url: "https://example.com/", title: "Example" };

interface Scripted {
  readonly perform?: (action: BrowserAction, call: DriverCall, browser: FakeBrowser) => Promise<DriverResult>;
  readonly proxied?: boolean;
}

interface FakeBrowser {
  readonly number: number;
  closed: boolean;
  stuck?: boolean;
  die(): void;
}

function bench({ perform = async () => PAGE, proxied = false }: Scripted = {}) {
  const clock = fakeClock();
  const browsers: FakeBrowser[] = [];
  const done: string[] = [];
  const driver: BrowserDriver = {
    backend: "fake",
    proxied,
    async open() {
      const ended = Promise.withResolvers<void>();
      const browser: FakeBrowser = { number: browsers.length, closed: false, die: ended.resolve };
      browsers.push(browser);
      return {
        get isStuck() {
          return browser.stuck ?? false;
        },
        async perform(action, call) {
          done.push(`${browser.number} ${action.action}`);
          return perform(action, call, browser);
        },
        async close() {
          browser.closed = true;
          ended.resolve();
        },
        ended: ended.promise,
      };
    },
  };
  const config: unknown = { allowed_domains: ["example.com"], idle_secs: 300 };
  const resolve = async (url: string) => {
    if (new URL(url).hostname.startsWith("inside.")) throw new SvcError("ADDRESS_REFUSED");
    return ["93.184.215.14"];
  };
  const context = fakeFeatureContext(config, { clock: clock as never, resolve });
  const made = browserFeature(context, driver);
  const [tool] = made.tools ?? [];
  if (tool === undefined) throw new Error("there is no tool");
  const call = (input: Record<string, Json>, client = "ada", signal?: AbortSignal): Promise<any> =>
    Promise.resolve(
      tool.run(v.parse(tool.input, input), {
        ...fakeToolContext(signal === undefined ? {} : { signal }),
        clientId: client as ClientId,
      }),
    );
  return { tool, made, clock, browsers, done, call, log: context.log };
}

const OPEN = { action: "open", url: "https://example.com/" };
const living = (browsers: readonly FakeBrowser[]): number[] =>
  browsers.filter(({ closed }) => !closed).map(({ number }) => number);

toolConformance(bench().tool, {
  input: OPEN,
  badInputs: [
    { action: "evaluate" },
    { action: "open", url: 5 },
    { action: "open", url: "https://example.com/", extra: 1 },
  ],
  refused: [
    { input: { action: "open" }, code: "TOOL_BAD_INPUT" },
    { input: { action: "open", url: "https://example.com/", text: "x" }, code: "TOOL_BAD_INPUT" },
    { input: { action: "open", url: "https://other.com/" }, code: "DOMAIN_REFUSED" },
    { input: { action: "open", url: "https://inside.example.com/" }, code: "ADDRESS_REFUSED" },
    { input: { action: "download", url: "https://other.com/file" }, code: "DOMAIN_REFUSED" },
    { input: { action: "tabs", op: "new", url: "https://other.com/" }, code: "DOMAIN_REFUSED" },
    { input: { action: "tabs", op: "list", tab: 1 }, code: "TOOL_BAD_INPUT" },
    { input: { action: "download" }, code: "TOOL_BAD_INPUT" },
  ],
});

describe("approval", () => {
  const { tool } = bench();
  const approval = (action: string) => typeof tool.approval === "function" && tool.approval({ action } as never);
  test.each([
    "open",
    "snapshot",
    "hover",
    "scroll",
    "wait",
    "get_text",
    "get_title",
    "get_url",
    "find",
    "screenshot",
    "tabs",
    "close",
  ])("%s only reads", (action) => expect(approval(action)).toBe("auto"));
  test.each(["click", "fill", "type", "press", "select", "upload", "download", "pdf"])("%s acts", (action) =>
    expect(approval(action)).toBe("ask"),
  );
});

describe("browsers", () => {
  test("each client has its own", async () => {
    const { call, done } = bench();
    await call(OPEN, "ada");
    await call(OPEN, "bob");
    await call({ action: "snapshot" }, "ada");
    expect(done).toEqual(["0 open", "1 open", "0 snapshot"]);
  });

  test("one that is not used is closed after idle_secs, and the next call is told", async () => {
    const { call, clock, browsers } = bench();
    await call(OPEN);
    await clock.advance(299_000);
    await call({ action: "get_url" });
    await clock.advance(299_000);
    expect(living(browsers)).toEqual([0]);
    await clock.advance(2_000);
    expect(living(browsers)).toEqual([]);
    await expect(call({ action: "get_url" })).rejects.toThrow(/300 seconds without a call/);
    expect(clock.waiting).toBe(0);
  });

  test("a fifth client's takes the place of the one not used for longest, which is told", async () => {
    const { call, browsers } = bench();
    for (const client of ["a", "b", "c", "d"]) await call(OPEN, client);
    await call({ action: "get_url" }, "a");
    await call(OPEN, "e");
    expect(living(browsers)).toEqual([0, 2, 3, 4]);
    const again = await call(OPEN, "b");
    expect(again.notes.join()).toMatch(/new browser.*make room/);
    expect(living(browsers)).toEqual([0, 3, 4, 5]);
  });

  test("while all are at work, nobody's is taken", async () => {
    const held = Promise.withResolvers<DriverResult>();
    const { call, browsers } = bench({
      perform: (action) => (action.action === "wait" ? held.promise : Promise.resolve(PAGE)),
    });
    const waits = await Promise.all(
      ["a", "b", "c", "d"].map(async (client) => {
        await call(OPEN, client);
        return [call({ action: "wait", text: "x" }, client)];
      }),
    );
    await expect(call(OPEN, "e")).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
    expect(living(browsers)).toEqual([0, 1, 2, 3]);
    held.resolve(PAGE);
    await Promise.all(waits.flat());
    await call(OPEN, "e");
  });

  test("one that ends by itself is told, and open starts another", async () => {
    const { call, browsers } = bench();
    await call(OPEN);
    browsers[0]?.die();
    await settled();
    await expect(call({ action: "get_url" })).rejects.toThrow(/ended by itself/);
    await call(OPEN);
    expect(living(browsers)).toEqual([1]);
  });

  test("one whose page is stuck may be asked on; open starts another", async () => {
    const { call, browsers, done } = bench();
    await call(OPEN);
    browsers[0]!.stuck = true;
    await call({ action: "get_text" });
    const again = await call(OPEN);
    expect(again.notes.join()).toMatch(/new browser.*did not answer/);
    expect(done).toEqual(["0 open", "0 get_text", "1 open"]);
    expect(living(browsers)).toEqual([1]);
  });

  test("one that is found stuck by an open is replaced, and the page is opened there; once", async () => {
    let opened = 0;
    const { call, browsers, done } = bench({
      async perform(_action, _call, browser) {
        opened += 1;
        if (opened === 1 || opened === 3) return PAGE;
        browser.stuck = true;
        throw new SvcError("BROWSER_FAILED", "The page does not answer any more.");
      },
    });
    await call(OPEN);
    expect((await call(OPEN)).notes.join()).toMatch(/new browser.*did not answer/);
    expect(done).toEqual(["0 open", "0 open", "1 open"]);
    await expect(call(OPEN)).rejects.toMatchObject({ code: "BROWSER_FAILED" });
    expect(done.slice(3)).toEqual(["1 open", "2 open"]);
    expect(living(browsers)).toEqual([2]);
  });

  test("shutdown closes all, and no call starts another", async () => {
    const { call, browsers, made, clock } = bench();
    await call(OPEN, "a");
    await call(OPEN, "b");
    await made.shutdown?.();
    expect(living(browsers)).toEqual([]);
    await expect(call(OPEN, "a")).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
    await made.shutdown?.();
    expect(clock.waiting).toBe(0);
  });
});

describe("calls", () => {
  test("of one client come one after the other", async () => {
    const first = Promise.withResolvers<DriverResult>();
    const { call, done } = bench({
      perform: (action) => (action.action === "wait" ? first.promise : Promise.resolve(PAGE)),
    });
    await call(OPEN);
    const waiting = call({ action: "wait", text: "x" });
    const next = call({ action: "get_url" });
    await settled();
    expect(done).toEqual(["0 open", "0 wait"]);
    first.resolve(PAGE);
    await Promise.all([waiting, next]);
    expect(done.at(-1)).toBe("0 get_url");
  });

  test("one that is stopped ends at once; what goes on in spite of it ends with its browser", async () => {
    const { call, clock, browsers } = bench({
      perform: (action) => (action.action === "click" ? new Promise(() => undefined) : Promise.resolve(PAGE)),
    });
    await call(OPEN);
    const stop = new AbortController();
    const click = call({ action: "click", target: "@e1" }, "ada", stop.signal);
    await settled();
    stop.abort(new Error("the turn was stopped"));
    await expect(click).rejects.toThrow("the turn was stopped");
    await settled();
    expect(living(browsers)).toEqual([0]);
    await clock.advance(2_500);
    expect(living(browsers)).toEqual([]);
  });

  test("one that takes too long is told as that", async () => {
    const { call, clock } = bench({
      perform: (action, { signal }) =>
        action.action === "open"
          ? Promise.resolve(PAGE)
          : new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            }),
    });
    await call(OPEN);
    const slow = call({ action: "snapshot" });
    slow.catch(() => undefined);
    await clock.advance(20_000);
    await expect(slow).rejects.toMatchObject({ code: "BROWSER_FAILED" });
  });
});

describe("what the page came to", () => {
  test.each([
    ["https://other.com/", "DOMAIN_REFUSED"],
    ["http://127.0.0.1/", "DOMAIN_REFUSED"],
    ["file:///etc/passwd", "ADDRESS_REFUSED"],
    ["data:text/html,x", "ADDRESS_REFUSED"],
    ["chrome://settings/", "ADDRESS_REFUSED"],
    ["blob:https://other.com/1", "DOMAIN_REFUSED"],
    ["chrome-error://chromewebdata/", "REMOTE_UNREACHABLE"],
  ])("%s is %s, and nothing of it is told", async (url, code) => {
    const { call, browsers } = bench({ perform: async () => ({ url, title: "secret", content: "secret" }) });
    await expect(call(OPEN)).rejects.toMatchObject({ code });
    // An error page of the browser's own is nobody's: the browser may stay.
    expect(living(browsers)).toEqual(code === "REMOTE_UNREACHABLE" ? [0] : []);
  });

  test("is told within bounds, with the page's words marked", async () => {
    const long = '\u001b[31m"\n\\'.repeat(100_000);
    const { call } = bench({
      perform: async () => ({
        url: `https://example.com/${"a".repeat(100_000)}`,
        title: long,
        content: long,
        tabs: Array.from({ length: 100 }, () => ({ url: long, title: long, current: false })),
        dialogs: Array.from({ length: 100 }, () => ({ kind: "alert", message: long }) as const),
        notes: Array.from({ length: 100 }, () => "A note."),
      }),
    });
    const told = await call(OPEN);
    const text = JSON.stringify(told);
    expect(text.length).toBeLessThan(65_536);
    expect(text).not.toContain("\\u001b");
    expect(told.truncated).toBe(true);
    expect(told.untrusted).toMatch(/stranger/);
    expect(told.backend).toBe("fake");
  });

  test("an error of the driver's that is none of ours tells nothing of itself", async () => {
    const { call } = bench({ perform: () => Promise.reject(new Error("secret path /home/x")) });
    const error = await call(OPEN).catch((error: unknown) => error as SvcError);
    expect(error).toMatchObject({ code: "BROWSER_FAILED" });
    expect(error.message).not.toContain("secret");
  });
});

test("an empty list is told in the log", async () => {
  const context = fakeFeatureContext<unknown>({ allowed_domains: [], idle_secs: 300 });
  const driver: BrowserDriver = { backend: "fake", proxied: false, open: () => Promise.reject(new Error("not now")) };
  await browserFeature(context, driver).register?.(new AbortController().signal);
  expect(context.log.text()).toContain("no allowed_domains configured");
});
