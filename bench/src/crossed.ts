/**
 * `npm run crossed`: which shipped files a message crosses. It runs the sources of the daemon, sends one message to warm up, then lists
 * the files of which a function ran until the next one was stored, or answered.
 */
import { generate, readCatalogue, resolveProfile, workspaceRoot } from "@svc/compose";
import { EVERYDAY } from "@svc/testkit/platforms/everyday";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const SHIPPED = /^(?:packages\/(?:core|features)|apps)\//;
/** The packages whose subject is the message; the others carry it. */
const PIPELINE = /^packages\/(?:core\/(?:agent|messaging|store|gateway)|features\/channel-)/;
const COMMIT_FILE = join(workspaceRoot, "packages/core/store/src/engine/group-commit.ts");
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

  const whole = await coverage.filesAtNextCommit(() => post(daemon, token, "hello"));
  print("POST /webhook to the commit that stores its message", whole.atCommit);
  print("POST /webhook to its answer", whole.atEnd);
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

/** Of the inspector: an answer, or an event. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
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
    const { id, method, result } = JSON.parse(String(data)) as Message;
    if (id !== undefined) waiting.get(id)?.(result);
    if (method === "Debugger.paused") paused();
  });
  let last = 0;
  let paused = (): void => undefined;
  const call = <T>(method: string, params: object = {}): Promise<T> =>
    new Promise((resolve) => {
      waiting.set((last += 1), resolve as (result: unknown) => void);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await call("Profiler.enable");
  await call("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  /** Each read starts the counts anew. */
  const filesSinceLast = async (): Promise<string[]> => {
    const { result } = await call<{ result: ScriptCoverage[] }>("Profiler.takePreciseCoverage");
    return result
      .filter(({ url, functions }) => url.startsWith("file:") && functions.some(({ ranges }) => ranges[0]!.count > 0))
      .map(({ url }) => relative(workspaceRoot, fileURLToPath(url)))
      .filter((file) => SHIPPED.test(file) && file.includes("/src/"))
      .toSorted();
  };

  return {
    filesSinceLast,
    /** The daemon is stopped right before its next COMMIT, read, and let go. */
    async filesAtNextCommit(work: () => Promise<void>): Promise<{ atCommit: string[]; atEnd: string[] }> {
      const lineNumber = readFileSync(COMMIT_FILE, "utf8")
        .split("\n")
        .findIndex((line) => line.includes('exec("COMMIT")'));
      await call("Debugger.enable");
      const place = { url: pathToFileURL(COMMIT_FILE).href, lineNumber };
      const { breakpointId } = await call<{ breakpointId: string }>("Debugger.setBreakpointByUrl", place);
      await filesSinceLast();
      const stopped = Promise.withResolvers<void>();
      paused = stopped.resolve;
      const working = work();
      await stopped.promise;
      const atCommit = await filesSinceLast();
      await call("Debugger.removeBreakpoint", { breakpointId });
      await call("Debugger.resume");
      await working;
      return { atCommit, atEnd: [...new Set([...atCommit, ...(await filesSinceLast())])].toSorted() };
    },
    async [Symbol.asyncDispose]() {
      socket.close();
    },
  };
}
