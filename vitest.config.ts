import { randomInt } from "node:crypto";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Of all property tests. Those of one run differ from those of the next; npm test prints it, and so does what fails.
const seed = process.env["SVC_SEED"] ?? String(randomInt(2 ** 31));

/** They take minutes. The last to begin would keep one worker busy when the others have nothing left to do. */
const slow = [
  "packages/features/channel-federated/test/synapse.e2e.test.ts",
  "packages/features/browser-agent/test/conformance.e2e.test.ts",
  "packages/features/sandbox-container/test/podman.e2e.test.ts",
  "apps/svc/test/abuse.test.ts",
  "packages/features/sandbox-fsrestrict/test/conformance.e2e.test.ts",
  "packages/tooling/create/test/new.e2e.test.ts",
  "packages/features/browser-native/test/conformance.e2e.test.ts",
  "apps/dashboard/test/passkeys.test.ts",
  "apps/dashboard/test/dashboard.test.ts",
  "packages/tooling/docs/test/guide.e2e.test.ts",
  "apps/dashboard/test/attacks.test.ts",
  "apps/dashboard/test/chats.test.ts",
  "packages/features/rag-pdf/test/hostile.e2e.test.ts",
  "apps/svc/test/channel-crash.test.ts",
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = slow.indexOf(relative(import.meta.dirname, moduleId).replaceAll("\\", "/"));
      return found === -1 ? slow.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

// One root config with two inline projects: a project per package starts a server per package (9-20 s instead of 1 s).
export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    env: { SVC_SEED: seed },
    setupFiles: ["packages/tooling/cases/src/property-defaults.ts"],
    // Limits end what hangs. A slow machine beside other work must not reach one.
    expect: { poll: { timeout: 120_000, interval: 20 } },
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
