import { defineConfig } from "vitest/config";

// One root config with two inline projects: a project per package starts a server per package (9-20 s instead of 1 s).
export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/*/test/**/*.test.ts"],
          exclude: ["**/*.e2e.test.ts", "**/node_modules/**"],
          pool: "threads",
          isolate: false,
          // Many wait for sockets of their own. Without this a machine with two cores has one worker.
          maxWorkers: 2,
          // On a busy machine a property test takes several times as long; what hangs is told all the same.
          testTimeout: 60_000,
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
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
