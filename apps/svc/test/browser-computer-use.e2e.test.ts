// The backend computer_use in the minimal binary: the service on this machine is reached with its key, as the one private address
// that is; no page and no other tool gets there by it; one elsewhere without https is refused.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { startComputerUseServer } from "@svc/testkit/platforms/computer-use/server";
import { expect, test } from "vitest";
import { homeWith, localModel, post, UNGUARDED } from "./daemon.ts";

const KEY = "the-key-of-a-test";

/** Makes each call in turn, and ends with what the tools have told. */
const plan =
  (...calls: { name: string; input: Record<string, unknown> }[]) =>
  ({ body }: ModelRequest): ModelStep => {
    const told = (body["messages"] as { role: string; content: string }[]).filter(({ role }) => role === "tool");
    const call = calls[told.length];
    return call === undefined
      ? { text: told.map(({ content }) => content).join("\n---\n") }
      : { calls: [call as never] };
  };
const browser = (input: Record<string, unknown>) => ({ name: "browser", input });

test("an agent acts on the screen; the service's address is open to nothing else", async () => {
  await using service = await startComputerUseServer({ key: KEY });
  const model = await fakeModelServer({
    script: plan(
      browser({ action: "screenshot" }),
      browser({ action: "mouse_click", x: 3, y: 4 }),
      browser({ action: "open", url: service.endpoint }),
      { name: "http_get", input: { url: service.endpoint } },
    ),
  });
  using home = homeWith(`${localModel(model)}
${UNGUARDED}
[browser]
enabled = true
backend = "computer_use"
allowed_domains = ["*"]
computer_use_endpoint = "${service.endpoint}"
computer_use_api_key = "${KEY}"
`);
  await using daemon = await startBinary({ binary: binaryPath(), home: home.path });
  const { status, body } = await post(daemon, await daemon.pair(), "look");
  await model.close();
  expect([status, body.error]).toEqual([200, undefined]);
  expect(service.refused).toEqual([]);
  expect(service.done.map(({ action }) => action)).toEqual(["screenshot", "mouse_click"]);
  expect(service.requests).toHaveLength(2);
  expect(readdirSync(join(daemon.home, "workspace", "browser"))).toEqual([expect.stringMatching(/-screenshot\.png$/)]);
  expect(body.response.match(/private, loopback|Private, loopback/g)?.length).toBe(2);
  expect(`${body.response}${daemon.output()}`).not.toContain(KEY);
});

test("a service elsewhere needs https and a key: else the browser is out of service, and why is told", async () => {
  using home = homeWith(
    '[browser]\nenabled = true\nbackend = "computer_use"\ncomputer_use_endpoint = "http://192.0.2.1/v1/actions"\n',
  );
  await using daemon = await startBinary({ binary: binaryPath(), home: home.path });
  await daemon.waitFor(/not on this machine needs https and a key/);
  expect((await daemon.request("/health")).status).toBe(200);
});
