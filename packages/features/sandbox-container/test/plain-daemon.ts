/** The suite for a daemon of an ordinary user's, with podman without root: run by itself, as that user. Prints what fails. */
import { existsSync } from "node:fs";
import { failures, makeContainerImage, sandboxChecks } from "@svc/testkit";
import definition from "../src/index.ts";

using image = makeContainerImage(["podman"]);
/** Control groups of version 2 alone are an ordinary user's too. */
const groups = existsSync("/sys/fs/cgroup/cgroup.controllers");
const checks = sandboxChecks(definition, {
  config: { container_image: image.name },
  ownSystem: true,
  unenforced: () => (groups ? [] : ["memoryMb", "pids"]),
});
for (const { name, error } of await failures(checks)) console.log(`${name}: ${String(error)}`);
console.log(`${checks.length} checks`);
