/**
 * `npm run crossed`: which shipped files a message crosses. It runs the sources of the daemon, sends one message to warm up, then lists
 * the files of which a function ran while the next one was answered.
 */
import { generate, readCatalogue, resolveProfile, workspaceRoot } from "@svc/compose";
import { EVERYDAY } from "@svc/testkit/platforms/everyday";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const SHIPPED = /^(?:packages\/(?:core|features)|apps)\//;
/** The packages whose subject is the message; the others carry it. */
const PIPELINE = /^packages\/(?:core\/(?:agent|messaging|store|gateway)|features\/channel-)/;
/** What follows a reply: its receipt is stored. */
const RECEIPT_MS = 200;

await main();

async function main(): Promise<void> {
  using home = temporaryHome();
  await using platform = await telegramIn(home.path);
  await using daemon = await startBinary({ home: home.path, binary: sourcesAsBinary(home.path) });
  await using coverage = await startCoverage(await daemon.waitFor(/Debugger listening on (\S+)/));

  const token = await daemon.pair();
  await platform.answered("warm up");
  await post(daemon, token, "warm up");
  await sleep(RECEIPT_MS);

  await coverage.filesSinceLast();
  await platform.answered("hello");
  await sleep(RECEIPT_MS);
  print("Telegram update to its reply", await coverage.filesSinceLast());

  await coverage.filesSinceLast();
  await post(daemon, token, "hello");
  print("POST /webhook to its commit", await coverage.filesSinceLast());
}

function print(title: string, files: readonly string[]): void {
  const byPackage = Map.groupBy(files, (file) => file.slice(0, file.indexOf("/src/")));
  const lines = [...byPackage].flatMap(([name, inside]) => [
    `  ${name}: ${inside.length}`,
    ...inside.map((file) => `    ${file.slice(name.length + "/src/".length)}`),
  ]);
  const own = files.filter((file) => PIPELINE.test(file)).length;
  process.stdout.write(`${title}: ${files.length} files, ${own} of the pipeline\n${lines.join("\n")}\n\n`);
}

/** A program that is started as the binary is, and runs the sources under the inspector. */
function sourcesAsBinary(folder: string): string {
  const catalogue = readCatalogue();
  const { entry } = generate(catalogue, resolveProfile(catalogue, { profile: "minimal" }), "0000000");
  const hooks = fileURLToPath(import.meta.resolve("@svc/compose/dev-resolve"));
  const command = [process.execPath, "--inspect=127.0.0.1:0", "--import", pathToFileURL(hooks).href, entry];
  const file = join(folder, "svc");
  writeFileSync(file, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o755 });
  return file;
}

async function telegramIn(home: string) {
  const platform = await EVERYDAY.telegram();
  writeFileSync(join(home, "config.toml"), platform.section());
  return {
    async answered(text: string): Promise<void> {
      const before = platform.seen().length;
      platform.write(text);
      while (platform.seen().length === before) await sleep(5);
    },
    [Symbol.asyncDispose]: () => platform.close(),
  };
}

async function post(daemon: RunningBinary, token: string, message: string): Promise<void> {
  const response = await daemon.request("/webhook", { token, body: { message } });
  if (response.status !== 200) throw new Error(`POST /webhook was answered ${response.status}`);
  await response.text();
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

/** V8's precise coverage of the daemon, through its inspector. */
async function startCoverage([, url = ""]: RegExpExecArray) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error(`no inspector at ${url}`)));
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let last = 0;
  const call = <T>(method: string, params: object = {}): Promise<T> =>
    new Promise((resolve) => {
      waiting.set((last += 1), resolve as (result: unknown) => void);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await call("Profiler.enable");
  await call("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

  return {
    /** Each read starts the counts anew. */
    async filesSinceLast(): Promise<string[]> {
      const { result } = await call<{ result: ScriptCoverage[] }>("Profiler.takePreciseCoverage");
      return result
        .filter(({ url, functions }) => url.startsWith("file:") && functions.some(({ ranges }) => ranges[0]!.count > 0))
        .map(({ url }) => relative(workspaceRoot, fileURLToPath(url)))
        .filter((file) => SHIPPED.test(file) && file.includes("/src/"))
        .toSorted();
    },
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
}
