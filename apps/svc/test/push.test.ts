// The whole way of a push message: a signed-in page subscribes, an approval is asked for, and a push service over TLS gets
// something that only the browser can open. Nothing of the subscription may be readable on disk.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { decryptPush, makeBrowserKeys, type PushServer, startPushServer, subscriptionOf } from "@svc/testkit/web-push";
import { expect, test } from "vitest";

async function openPage(daemon: RunningBinary, token: string) {
  const origin = daemon.url.replace("127.0.0.1", "localhost");
  const response = await daemon.request("/api/session", { method: "POST", token, headers: { origin } });
  const cookie = /svc_session=[^;]+/.exec(response.headers.get("set-cookie") ?? "")![0];
  const { csrf } = (await response.json()) as { csrf: string };
  return { cookie, "x-svc-csrf": csrf };
}

type Page = Awaited<ReturnType<typeof openPage>>;

async function push(daemon: RunningBinary, headers: Page, method = "GET", body?: object) {
  const response = await daemon.request("/api/push", { method, headers, ...(body && { body }) });
  return (await response.json()) as { code?: string; subscription: { last_error: { message: string } | null } | null };
}

const ask = (daemon: RunningBinary, runId: string) =>
  daemon.request("/api/channel-events", {
    method: "POST",
    body: {
      type: "human_approval_request",
      run_id: runId,
      step_id: "go",
      content: { title: "Deploy?", message: "" },
      channels: [],
    },
  });

function homeWith(pushes: PushServer, allowed: boolean) {
  const home = temporaryHome();
  const net = allowed ? `[security.net]\nallow_private = ["localhost:${pushes.port}"]\n` : "";
  writeFileSync(join(home.path, "config.toml"), net, { mode: 0o600 });
  const cert = join(home.path, "push.pem");
  writeFileSync(cert, pushes.cert);
  return { home, start: () => startBinary({ home: home.path, env: { NODE_EXTRA_CA_CERTS: cert } }) };
}

test("an approval reaches the browser that subscribed, over a kill, until the push service ends it", async () => {
  await using pushes = await startPushServer();
  const { home, start } = homeWith(pushes, true);
  using _ = home;
  const browser = makeBrowserKeys();
  const endpoint = `${pushes.url}/send/endpoint-of-the-test`;
  let page: Page;
  {
    await using daemon = await start();
    page = await openPage(daemon, await daemon.pair());
    const answer = await push(daemon, page, "PUT", { ...subscriptionOf(browser, endpoint), details: true });
    expect(answer.subscription).toMatchObject({ last_error: null });
    await daemon.kill9();
  }
  for (const file of readdirSync(join(home.path, "state"))) {
    expect(readFileSync(join(home.path, "state", file)).includes("endpoint-of-the-test")).toBe(false);
  }
  await using daemon = await start();
  expect((await ask(daemon, "r1")).status).toBe(200);
  await expect.poll(() => pushes.pushed.length).toBe(1);
  const [{ path, headers, body }] = pushes.pushed as [(typeof pushes.pushed)[number]];
  expect(path).toBe("/send/endpoint-of-the-test");
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", authorization: expect.stringMatching(/^vapid t=/) });
  expect(JSON.parse(decryptPush(body, browser))).toEqual({ tag: "r1 go", details: expect.stringContaining("Deploy?") });

  pushes.status = 410;
  await ask(daemon, "r2");
  await expect.poll(async () => (await push(daemon, page)).subscription).toBe(null);
  await ask(daemon, "r3");
  await ask(daemon, "r4");
  expect(pushes.pushed).toHaveLength(2);
});

test("a push service of a private address is refused, unless the config names it", async () => {
  await using pushes = await startPushServer();
  const { home, start } = homeWith(pushes, false);
  using _ = home;
  await using daemon = await start();
  const page = await openPage(daemon, await daemon.pair());
  for (const endpoint of [
    `${pushes.url}/x`,
    "https://169.254.169.254/latest",
    "https://[::1]/x",
    "https://10.0.0.1/x",
  ]) {
    const answer = await push(daemon, page, "PUT", subscriptionOf(makeBrowserKeys(), endpoint));
    expect(answer.code).toBe("ADDRESS_REFUSED");
  }
  expect(pushes.pushed).toEqual([]);
});
