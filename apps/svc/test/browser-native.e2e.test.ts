// The native browser in the real binary, copied away from its checkout: an agent opens a page and reads it, what is off the list is
// refused, a picture of the page is in the workspace, and no Chromium outlives the daemon, however that ends.
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { browserTests } from "./browser-tests.ts";
import { homeWith } from "./daemon.ts";

browserTests({ name: "rust_native", binary: fullestBinaryPath(), browser: 'backend = "native"', keepers: 0 });

test("without a Chromium at chromium_path the browser alone is out of service, and why is told", async () => {
  using home = homeWith('[browser]\nenabled = true\nbackend = "native"\nchromium_path = "/nowhere/chromium"\n');
  await using daemon = await startBinary({ binary: fullestBinaryPath(), home: home.path });
  await daemon.waitFor(/There is no program at browser\.chromium_path/);
  expect((await daemon.request("/health")).status).toBe(200);
});
