// The suite of all sandboxes, with the real podman and an image that holds nothing but busybox.
import { existsSync } from "node:fs";
import { sandboxConformance } from "@svc/testkit/conformance/sandbox-conformance";
import { makeContainerImage, missingEngine } from "@svc/testkit/real/container-image";
import { afterAll } from "vitest";
import definition from "../src/index.ts";

const missing = await missingEngine();
const image = missing ? undefined : makeContainerImage(["podman"]);
afterAll(() => image?.[Symbol.dispose]());

/** An ordinary user has control groups of version 2 alone. */
const groups = process.getuid?.() === 0 || existsSync("/sys/fs/cgroup/cgroup.controllers");

sandboxConformance(definition, {
  missing: () => missing,
  config: { container_image: image?.name },
  ownSystem: true,
  unenforced: () => (groups ? [] : ["memoryMb", "pids"]),
});
