// The whole feature: what is installed becomes tools, what changes is another tool after a reload, and calls of the old one end well.
import type { Contributions, Json, Tool } from "@svc/contract";
import { createGuardedFetch } from "@svc/kit";
import { captureLogger } from "@svc/testkit/capture-logger";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import definition from "../src/index.ts";
import type { InstalledPlugin } from "../src/installed.ts";
import { create, pluginTool, survey } from "../src/plugins.ts";
import { HOST_COMMAND, pluginRoom } from "./running/plugin-room.ts";
import { ECHO, pluginWat, text, wasmOf } from "./running/wat.ts";

const room = pluginRoom();
afterAll(() => room[Symbol.dispose]());

const CONFIG = { enabled: true, plugins_dir: "plugins" };

/** The feature as the service makes it of what was surveyed. */
function made(told: Json): Contributions {
  return create(fakeFeatureContext(CONFIG, { survey: told, child: () => HOST_COMMAND, clock: fakeClock() }));
}

const asSurveyed = (...plugins: InstalledPlugin[]): Json => JSON.parse(JSON.stringify(plugins)) as Json;

async function run(tool: Tool | undefined, input: string): Promise<Json> {
  return tool!.run({ input }, fakeToolContext());
}

it("no folder of plugins is no plugins, and tells nothing wrong", async () => {
  using home = temporaryHome();
  const context = fakeFeatureContext(CONFIG, { homeFolder: home.path });
  const told = await survey(context);
  expect(told).toEqual([]);
  expect(context.log.lines).toEqual([]);
  expect(made(told).tools).toEqual([]);
});

it("a plugin is a tool of its name with a prefix, described by its manifest, and asks where it has hosts to talk to", async () => {
  const alone = await room.plugin(ECHO, { name: "echo", description: "Says what it is told." });
  const talks = { ...alone, name: "file_read", allowedHosts: ["example.org", "example.net:8443"] };
  const { tools = [], shutdown } = made(asSurveyed(alone, talks));
  expect(tools).toMatchObject([
    {
      name: "plugin_echo",
      approval: "auto",
      description: expect.stringMatching(/^Says what it is told\.[^]*no network/),
    },
    {
      name: "plugin_file_read",
      approval: "ask",
      description: expect.stringMatching(/example\.org, example\.net:8443/),
    },
  ]);
  expect(await run(tools[0], "hello")).toBe("hello");
  await shutdown?.();
  await shutdown?.();
});

it("what was made anew has the plugin as it is now, while a call of the old one ends as it began", async () => {
  const before = await room.plugin(
    pluginWat(`(call $output_set ${text(8, "old").call} (i64.const 3))`, { before: text(8, "old").data }),
  );
  const now = {
    ...(await room.plugin(
      pluginWat(`(call $output_set ${text(8, "new").call} (i64.const 3))`, { before: text(8, "new").data }),
    )),
    name: before.name,
  };
  const [old, next] = [made(asSurveyed(before)), made(asSurveyed(now))];
  expect(JSON.stringify(asSurveyed(before))).not.toBe(JSON.stringify(asSurveyed(now)));
  const running = run(old.tools?.[0], "");
  expect(await run(next.tools?.[0], "")).toBe("new");
  expect(await running).toBe("old");
  await old.shutdown?.();
  expect(await run(next.tools?.[0], "")).toBe("new");
  await expect(run(old.tools?.[0], "")).rejects.toMatchObject({ code: "DRAINING" });
  await next.shutdown?.();
});

it("a plugin talks to its host, is given the answer's body, status and headers, and is stopped where it may not", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
    else response.writeHead(418, { "x-tea": "green" }).end(`${request.method} tea`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetch = createGuardedFetch({ allowPrivate: [host], log: captureLogger() });
  // The input is the request, the output is the body of the answer; the headers go to the log.
  const wat = pluginWat(
    `(local $body i64) (local $headers i64)
     (local.set $body (call $http_request (call $input_offset) (i64.const 0)))
     (local.set $headers (call $http_headers))
     (if (i32.ne (call $http_status_code) (i32.const 418)) (then unreachable))
     (call $log_info (local.get $headers))
     (call $output_set (local.get $body) (call $length (local.get $body)))`,
  );
  try {
    const plugin = await room.plugin(wat, { allowedHosts: [host] });
    const ask = (url: string, more = {}) => room.call(plugin, JSON.stringify({ url, ...more }), { fetch });
    expect(await ask(`http://${host}/`)).toBe("GET tea");
    expect(await ask(`http://${host}/`, { method: "POST", headers: { accept: "*/*" } })).toBe("POST tea");
    expect(room.log.lines.at(-1)?.fields["line"]).toContain('"x-tea":"green"');
    for (const url of [`http://${host}/away`, "http://169.254.169.254/", "https://example.org/"]) {
      await expect(ask(url)).rejects.toMatchObject({
        code: "TOOL_FAILED",
        message: "The plugin was stopped: it asked for a host that was not approved when it was installed.",
      });
    }
    await expect(ask(`http://${host}/`, { headers: { Host: "other" } })).rejects.toMatchObject({ code: "TOOL_FAILED" });
    // Approved by whoever installed it, and private all the same: the operator has the last word.
    const unexempt = createGuardedFetch({ allowPrivate: [], log: captureLogger() });
    await expect(
      room.call(plugin, JSON.stringify({ url: `http://${host}/` }), { fetch: unexempt }),
    ).rejects.toMatchObject({
      code: "TOOL_FAILED",
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

describe("its tool", async () => {
  const bytes = await wasmOf(ECHO);
  const plugin = await room.plugin(bytes, { name: "echo" });
  toolConformance(pluginTool(plugin, room.host), {
    input: { input: "hello" },
    badInputs: [{ input: 5 }, { input: "x", more: 1 }, { input: "x".repeat(1_000_001) }],
  });
});

it("is of the definition that the build has", async () => {
  expect((await definition.load()).survey).toBe(survey);
});
