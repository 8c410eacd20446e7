// The native backend drives a real Chromium against hostile sites on this machine.
import { browserConformance } from "@svc/testkit/conformance/browser-conformance";
import { existsSync } from "node:fs";
import definition from "../src/index.ts";

const missing = () =>
  existsSync("/usr/bin/chromium") ? undefined : { name: "chromium", reason: "apt-get install chromium" };

browserConformance(definition, { backend: "rust_native", proxied: true, missing });
