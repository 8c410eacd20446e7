// The log as an operator has it: JSON where nobody reads along, ids that lead from an answer to its lines, a line for each
// turn unless the config says otherwise, and a word about a backend that this build does not have.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, fullestBinaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";
import { startPlatform } from "@svc/testkit/platforms/base";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { daemonLog } from "../src/service/context.ts";
import { homeWith, localModel, post, startPaired } from "./daemon.ts";

type Line = Readonly<Record<string, unknown>>;

const backend = (name: string): string => `[observability]\nbackend = "${name}"\n`;

const logOf = (home: string): Line[] =>
  readFileSync(join(home, "logs", "svc.log"), "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as Line);

const turnsIn = (home: string): Line[] => logOf(home).filter(({ message }) => message === "a turn ended");

async function logs(home: string, ...words: string[]): Promise<Line[]> {
  const { code, stdout } = await runBinary(["logs", "--json", ...words], { home });
  expect(code).toBe(0);
  return stdout
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as Line);
}

async function reloadWith(daemon: RunningBinary, toml: string): Promise<void> {
  writeFileSync(join(daemon.home, "config.toml"), toml, { mode: 0o600 });
  expect((await runBinary(["reload"], { home: daemon.home })).code).toBe(0);
}

/** Of a daemon that has ended: everything it had to say is said. */
async function ended(daemon: RunningBinary): Promise<void> {
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
}

describe("lines", () => {
  test("are JSON on standard error where that is no terminal, and the same in the file", async () => {
    using home = homeWith("");
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "hello");
    await ended(daemon);
    const said = daemon
      .output()
      .split("\n")
      .filter((text) => text.startsWith('{"time":'));
    expect(said.map((text) => JSON.parse(text) as Line)).toEqual(logOf(home.path));
    expect(logOf(home.path).length).toBeGreaterThan(3);
  });

  test.each(["", "process.exit(3);", 'throw new Error("unforeseen");'])(
    "that wait for others are written although the process ends: %j",
    (end) => {
      using home = temporaryHome();
      const script = `
        import { homeOf } from ${JSON.stringify(import.meta.resolve("@svc/config"))};
        import { ${daemonLog.name} } from ${JSON.stringify(new URL("../src/service/context.ts", import.meta.url).href)};
        const config = { core: { log: { level: "info", file: true, max_file_mb: 1, max_files: 2 } }, secrets: () => [] };
        const { log } = daemonLog(homeOf({ SVC_HOME: process.argv[1] }), config);
        log.info("first");
        log.info("second");
        ${end}`;
      const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, home.path], {
        encoding: "utf8",
      });
      expect(logOf(home.path).map(({ message }) => message)).toEqual(["first", "second"]);
      expect(stderr).toContain('"second"');
    },
  );

  test("of a turn tell what it was and what it cost, under the ids of its request and its own", async () => {
    using home = homeWith("");
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    for (const text of ["one", "two", "three"]) await post(daemon, token, text);
    await ended(daemon);
    const turns = turnsIn(home.path);
    expect(turns).toHaveLength(3);
    for (const turn of turns) {
      expect(turn).toMatchObject({
        level: "info",
        request: expect.stringMatching(/^[0-9a-f]{8}-\d+$/),
        turn: expect.stringMatching(/^t-/),
        agent: "default",
        ok: true,
        duration_ms: expect.any(Number),
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
      });
    }
    for (const name of ["request", "turn"]) expect(new Set(turns.map((turn) => turn[name])).size).toBe(3);
    expect(JSON.stringify(turns)).not.toMatch(/one|two|three/);
  });

  test("are found by the X-Request-Id of an answer, and by the turn that they name, however many run and wait for each other", async () => {
    await using model = await startPlatform(() => ({ json: {} }));
    model.mood = { refuses: 403 };
    using home = homeWith(`[gateway]\nwebhook_rate_limit_per_minute = 0\n${localModel(model)}`);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const ids = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => {
        const headers = { "X-Session-Id": `room-${number % 3}` };
        const response = await daemon.request("/webhook", { token, headers, body: { message: "hello" } });
        expect(response.status).toBeGreaterThanOrEqual(500);
        return response.headers.get("x-request-id")!;
      }),
    );
    expect(new Set(ids).size).toBe(30);
    const last = ids.at(-1)!;
    const lines = await logs(home.path, "--request", last);
    for (const line of lines) expect(line["request"]).toBe(last);
    const { turn } = lines.find(({ message }) => message === "a turn failed")!;
    const ofTurn = await logs(home.path, "--turn", String(turn));
    expect(ofTurn.length).toBeGreaterThan(0);
    for (const line of ofTurn) expect(line).toMatchObject({ request: last, turn });
    await ended(daemon);
    const told = (message: string): Line[] => logOf(home.path).filter((line) => line["message"] === message);
    for (const message of ["a turn failed", "a request to /webhook failed"])
      expect(
        told(message)
          .map((line) => line["request"])
          .toSorted(),
      ).toEqual(ids.toSorted());
    expect(new Set(told("a turn failed").map((line) => line["turn"])).size).toBe(30);
  });
});

describe("svc logs -f", () => {
  test("with a filter shows only what fits, as it comes, over a rotation", async () => {
    using home = homeWith("[log]\nmax_file_mb = 1\n");
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "before");
    const filter = ["--grep", "TURN ended", "--field", "ok=true", "-n", "1"];
    const follower = spawnBinary(binaryPath(), ["logs", "-f", "--json", ...filter], home.path);
    let seen = "";
    const closed = once(follower, "close");
    const shows = async (count: number): Promise<void> => {
      while (seen.split("\n").length <= count) seen += String((await once(follower.stdout!, "data"))[0]);
    };
    await shows(1);
    // A megabyte that does not fit: the next line goes into a new file.
    appendFileSync(join(home.path, "logs", "svc.log"), `${"x".repeat(1_048_576)}\n`);
    await Promise.all([shows(2), post(daemon, token, "after the rotation")]);
    expect(existsSync(join(home.path, "logs", "svc.log.1"))).toBe(true);
    follower.kill("SIGINT");
    expect(await closed).toEqual([0, null]);
    const lines = seen
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as Line);
    expect(lines).toMatchObject([{ message: "a turn ended" }, { message: "a turn ended" }]);
    expect(lines[0]!["turn"]).not.toBe(lines[1]!["turn"]);
  });
});

describe("backends", () => {
  test("a reload switches them while the service runs", async () => {
    using home = homeWith(backend("none"));
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "not told");
    await reloadWith(daemon, backend("log"));
    await post(daemon, token, "told");
    await post(daemon, token, "told");
    await reloadWith(daemon, backend("noop"));
    await post(daemon, token, "not told");
    await ended(daemon);
    expect(turnsIn(home.path)).toHaveLength(2);
    const messages = logOf(home.path).map(({ message }) => message);
    expect(messages.indexOf("a turn ended")).toBeGreaterThan(messages.indexOf("the config was reloaded"));
    expect(messages.lastIndexOf("a turn ended")).toBeLessThan(messages.lastIndexOf("the config was reloaded"));
  });

  test("one that is not in the build: a warning at the start, in the status and for the doctor, and the log instead", async () => {
    using home = homeWith(backend("opentelemetry"));
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "told");
    const warning = /observability-otel.*pnpm build minimal --with observability-otel.*log/;
    const [status, doctor] = await Promise.all([
      runBinary(["status"], { home: home.path }),
      runBinary(["doctor", "--json"], { home: home.path }),
    ]);
    expect(status.stdout).toMatch(warning);
    const { findings } = JSON.parse(doctor.stdout) as { findings: { id: string; level: string; fix?: string }[] };
    expect(findings.filter(({ id }) => id === "observability")).toMatchObject([
      { level: "warning", fix: "npx pnpm build minimal --with observability-otel" },
    ]);
    await ended(daemon);
    expect(logOf(home.path)[0]).toMatchObject({ level: "warn", message: expect.stringMatching(warning) });
    expect(turnsIn(home.path)).toHaveLength(1);
  });
});

describe("GET /metrics says what to do", () => {
  const hintOf = async (toml: string, binary: string): Promise<string> => {
    using home = homeWith(toml);
    const { daemon } = await startPaired({ home: home.path, binary });
    await using _ = daemon;
    const response = await daemon.request("/metrics");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    return response.text();
  };
  const build = "npx pnpm build minimal --with observability-metrics";

  test.each([
    ["", `${build}, then set [observability] backend = "metrics"`],
    [backend("metrics"), build],
  ])("where it is not built (%j)", async (toml, hint) => {
    const text = await hintOf(toml, binaryPath());
    expect(text).toMatch(/^# metrics are off: [^\n]+\n$/);
    expect(text).toContain(hint);
  });

  test("where it is built and not turned on", async () => {
    expect(await hintOf("", fullestBinaryPath())).toBe(
      '# metrics are off: set [observability] backend = "metrics" in the config, then run: svc reload\n',
    );
  });
});
