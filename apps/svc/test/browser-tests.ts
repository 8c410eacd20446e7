/** What an agent with a browser has to do in the real binary, whoever drives it. */
import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, expect, test, vi } from "vitest";
import { homeWith, localModel, post, UNGUARDED } from "./daemon.ts";

const CHROMIUM = "/usr/bin/chromium";

export interface Backend {
  /** As results name it. */
  readonly name: string;
  readonly binary: string;
  /** Lines of `[browser]`. */
  readonly browser: string;
  /** Processes that stay for a while when the browser is closed. */
  readonly keepers: number;
}

/** The tests of a file, called once in it. */
export function browserTests(backend: Backend): void {
  beforeEach((context) => {
    if (!existsSync(CHROMIUM)) requireReal(context, { name: "chromium", reason: "apt-get install chromium" });
  });

  test("an agent opens a page, reads it, keeps a picture; what is off the list is refused", async () => {
    await using site = await startSite();
    await using fixture = await startFixture(
      site,
      backend,
      plan(
        { action: "open", url: `http://127.0.0.1:${site.port}/first` },
        { action: "snapshot" },
        { action: "screenshot" },
        { action: "open", url: `http://localhost:${site.port}/second` },
        { action: "open", url: "file:///etc/passwd" },
        { action: "close" },
      ),
    );
    const told = await fixture.ask();
    expect(told).toContain(backend.name);
    expect(told).toContain("Hello from the page");
    expect(told).toMatch(/button.{1,4}Press.*ref=@e\d+/);
    expect(told).toContain("does not list the host localhost");
    expect(told).not.toContain("root:");
    // A browser asks for a picture of its own beside.
    expect(site.asked.filter((path) => path !== "/favicon.ico")).toEqual(["/first"]);
    const [picture = ""] = readdirSync(join(fixture.daemon.home, "workspace", "browser"));
    expect(
      readFileSync(join(fixture.daemon.home, "workspace", "browser", picture))
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
    await vi.waitFor(() => expect(browsersOf(fixture.daemon.home)).toHaveLength(backend.keepers), {
      timeout: 60_000,
      interval: 50,
    });
  });

  test.each(["SIGKILL", "SIGTERM"] as const)(
    "after %s no browser is left, and the next start removes its folder",
    async (signal) => {
      await using site = await startSite();
      await using fixture = await startFixture(
        site,
        backend,
        plan({ action: "open", url: `http://127.0.0.1:${site.port}/` }),
      );
      await fixture.ask();
      const { home } = fixture.daemon;
      expect(browsersOf(home).length).toBeGreaterThan(0);
      await fixture.daemon.stop(signal);
      await vi.waitFor(() => expect(browsersOf(home)).toEqual([]), { timeout: 60_000, interval: 50 });
      await using next = await startBinary({ binary: backend.binary, home });
      expect(readdirSync(join(next.home, "run", "browser"))).toEqual([]);
    },
  );
}

/** Calls the browser with each input in turn, and ends with what the tool has told. */
const plan =
  (...inputs: { action: string; [key: string]: string }[]) =>
  ({ body }: ModelRequest): ModelStep => {
    const told = (body["messages"] as { role: string; content: string }[]).filter(({ role }) => role === "tool");
    const input = inputs[told.length];
    return input === undefined
      ? { text: told.map(({ content }) => content).join("\n---\n") }
      : { calls: [{ name: "browser", input }] };
  };

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly string[];
}

async function startSite(): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<title>The page</title><h1>Hello from the page</h1><button>Press</button>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Fixture extends AsyncDisposable {
  readonly daemon: RunningBinary;
  ask(): Promise<string>;
}

/** `binary`: copied away from its checkout. `browser`: keys of its section. */
async function startFixture(
  site: Site,
  { binary, browser }: Backend,
  script: (request: ModelRequest) => ModelStep,
): Promise<Fixture> {
  const folder = temporaryHome();
  const copy = join(folder.path, "svc");
  copyFileSync(binary, copy);
  const model = await fakeModelServer({ script });
  const home = homeWith(`${localModel(model)}
${UNGUARDED}
[security.net]
allow_private = ["127.0.0.1:${site.port}"]
[browser]
enabled = true
allowed_domains = ["127.0.0.1"]
${browser}
`);
  const daemon = await startBinary({ binary: copy, home: home.path });
  const token = await daemon.pair();
  return {
    daemon,
    async ask() {
      const { status, body } = await post(daemon, token, "look");
      expect([status, body.error]).toEqual([200, undefined]);
      return body.response;
    },
    async [Symbol.asyncDispose]() {
      await daemon.close();
      await model.close();
      home.remove();
      folder.remove();
    },
  };
}

/** Processes that were started for browsers of this home: the program, Chromium, the keeper. */
function browsersOf(home: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) =>
    ["cmdline", "environ"].some((file) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, "latin1").includes(`${home}/run/browser`);
      } catch {
        return false;
      }
    }),
  );
}
