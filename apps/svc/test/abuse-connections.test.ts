// Out of file descriptors the daemon refused its own operator, silently; half a request on its control socket was a failure
// in its log.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attackControl, openIdle } from "@svc/fuzz";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { post } from "./daemon.ts";

test("what comes in by the control socket, from an svc of another version or none at all", async () => {
  expect((await attackControl({ seed: 1, count: 300 })).problems).toEqual([]);
});

test("more connections than files it may open: others are served, commands run, svc status answers, and it is said", async (context) => {
  if (process.platform === "win32") context.skip("there is no limit on open files to lower");
  using home = temporaryHome();
  const limited = join(home.path, "limited");
  writeFileSync(limited, `#!/bin/sh\nulimit -n 256\nexec "${binaryPath()}" "$@"\n`);
  chmodSync(limited, 0o755);
  await using daemon = await startBinary({ binary: limited });
  const token = await daemon.pair();
  const { hostname: host, port } = new URL(daemon.url);
  {
    using hoard = await openIdle({ host, port: Number(port) }, 400);
    expect(hoard.reached).toBe(400);
    expect((await daemon.request("/health")).status).toBe(200);
    expect((await post(daemon, token, "hello")).status).toBe(200);
    expect((await runBinary(["status"], { home: daemon.home })).code).toBe(0);
    expect(daemon.output()).toContain("idle connections are closed early");
  }
  expect((await post(daemon, token, "hello again")).status).toBe(200);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});
