import { randomInt } from "node:crypto";
import { defineConfig } from "vitest/config";

// Of all property tests. Those of one run differ from those of the next; npm test prints it, and so does what fails.
const seed = process.env["SVC_SEED"] ?? String(randomInt(2 ** 31));

// One root config with two inline projects: a project per package starts a server per package (9-20 s instead of 1 s).
export default defineConfig({
  test: {
    env: { SVC_SEED: seed },
    setupFiles: ["packages/tooling/cases/src/property-defaults.ts"],
    // Limits end what hangs. A slow machine beside other work must not reach one.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/*/test/**/*.test.ts", "bench/test/**/*.test.ts"],
          exclude: ["**/*.e2e.test.ts", "**/node_modules/**"],
          pool: "threads",
          isolate: false,
          // Many wait for sockets of their own. Without this a machine with two cores has one worker.
          maxWorkers: 2,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["apps/*/test/**/*.test.ts", "packages/*/*/test/**/*.e2e.test.ts"],
          pool: "forks",
          // They wait a third of their time. Without this a machine with two cores runs one file after the other.
          maxWorkers: 3,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
