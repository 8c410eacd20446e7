// The web-platform tests for IndexedDB: the crypto store passes all that fake-indexeddb alone passes, except for Blobs, which it
// refuses. SVC_WPT_INDEXEDDB names the folder src/test/web-platform-tests of a checkout of fake-indexeddb: it has the tests as
// modules, their environment, and a list of those whose outcome depends on the machine.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";

const CHILD = fileURLToPath(new URL("wpt-child.ts", import.meta.url));
/** A test that hangs says nothing more. */
const LIMIT_MS = 60_000;
/** Of what a test cannot have here: a page, a worker, another origin. */
const NEEDS_A_BROWSER = /^(?:idlharness|resources\/|idbfactory-origin|idb-partitioned|database-names|idb_webworkers)/;
/** Tests that store a Blob or a File, and those that come after it in the same file. */
const STORES_BLOBS =
  /blob|Blob[:,] |File[:,] |^keypath\.any\.js|^nested-cloning-large-multiple|Abort on completed transaction should throw/;

test("passes what fake-indexeddb passes", async (context) => {
  const folder = process.env["SVC_WPT_INDEXEDDB"];
  if (folder === undefined || !existsSync(join(folder, "converted"))) {
    requireReal(context, {
      name: "web-platform tests for IndexedDB",
      reason: "SVC_WPT_INDEXEDDB names no folder src/test/web-platform-tests of a checkout of fake-indexeddb",
      tier: "B",
    });
  }
  using scratch = temporaryHome();
  const files = readdirSync(join(folder, "converted"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js") && !NEEDS_A_BROWSER.test(file) && !file.startsWith("blob-"))
    .sort();
  const plain = new Set<string>();
  const store = new Set<string>();
  const waiting = [...files];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const unstable = unstableOf(folder, file);
      for (const [kind, passed] of [
        ["plain", plain],
        ["store", store],
      ] as const) {
        for (const name of await passedOf(kind, join(folder, "converted", file), scratch.path)) {
          if (!unstable.has(name)) passed.add(`${file}: ${name}`);
        }
      }
    }
  };
  await Promise.all([work(), work()]);
  const relevant = [...plain].filter((name) => !STORES_BLOBS.test(name));
  const failed = relevant.filter((name) => !store.has(name));
  console.log(
    `web-platform tests: ${plain.size} passed by fake-indexeddb, ${store.size} by the store, ${relevant.length} relevant`,
  );
  expect(failed).toEqual([]);
  expect(relevant.length).toBeGreaterThan(1000);
});

/** Names of the tests of a file that passed. */
function passedOf(kind: "plain" | "store", file: string, scratch: string): Promise<string[]> {
  const options = {
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    env: { ...process.env, SVC_WPT_SCRATCH: scratch },
  } as const;
  return new Promise((resolve) => {
    // Many of these tests end a process by an error that no one handles; what was printed before counts.
    execFile(process.execPath, [CHILD, kind, file], options, (_error, stdout) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith('{"testResult"'));
      const results = lines.map((line) => JSON.parse(line) as { testResult: Record<string, { passed: boolean }> });
      resolve(
        results.flatMap(({ testResult }) =>
          Object.entries(testResult).flatMap(([name, { passed }]) => (passed ? [name] : [])),
        ),
      );
    });
  });
}

/** As fake-indexeddb's own list says. */
function unstableOf(folder: string, file: string): ReadonlySet<string> {
  const list = join(folder, "manifests", file.replace(/\.js$/, ".toml"));
  const text = existsSync(list) ? readFileSync(list, "utf8") : "";
  const entries = text.matchAll(/^\[(".*")\]\nexpectation = "UNSTABLE"/gm);
  return new Set([...entries].map(([, name]) => JSON.parse(name!) as string));
}
