// The command line as scripts and people meet it: exit codes, JSON, errors that say what to do.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/command-table.ts";
import { commandWord } from "../src/cli/options.ts";
import { homeWith } from "./daemon.ts";

const json = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe("help", () => {
  test("lists every command, and each has examples of its own", async () => {
    using home = temporaryHome();
    const all = (await runBinary(["--help"], { home: home.path })).stdout;
    for (const entry of COMMANDS) {
      expect(all).toContain(entry.summary);
      const own = await runBinary([commandWord(entry), "--help"], { home: home.path });
      expect(own.code).toBe(0);
      for (const example of entry.examples) expect(own.stdout).toContain(example);
      for (const action of entry.actions ?? []) expect(own.stdout).toContain(`svc ${commandWord(entry)} ${action}`);
    }
  });

  test("what nobody knows is exit 64, with what was meant", async () => {
    using home = temporaryHome();
    const wrong = await runBinary(["stauts"], { home: home.path });
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("svc status")]);
    expect((await runBinary(["status", "--nope"], { home: home.path })).code).toBe(64);
    const bare = await runBinary(["config"], { home: home.path });
    expect([bare.code, bare.stdout]).toEqual([0, expect.stringContaining("svc config check")]);
    expect((await runBinary(["config", "--nope"], { home: home.path })).code).toBe(64);
    expect((await runBinary(["config", "eat"], { home: home.path })).code).toBe(64);
    expect((await runBinary(["config", "get"], { home: home.path })).stderr).toContain("svc config get needs <key>");
    expect((await runBinary(["config", "path", "x"], { home: home.path })).code).toBe(64);
    expect(json((await runBinary(["pair", "--json", "--scope"], { home: home.path })).stderr)).toMatchObject({
      code: "USAGE",
    });
  });
});

describe("without a daemon", () => {
  test("status says so and exits 69; pair says how to start one", async () => {
    using home = temporaryHome();
    const status = await runBinary(["status", "--json"], { home: home.path });
    expect([status.code, json(status.stdout)]).toEqual([69, { status: "stopped", home: home.path }]);
    const pair = await runBinary(["pair"], { home: home.path });
    expect([pair.code, pair.stderr]).toEqual([69, expect.stringContaining("svc daemon")]);
  });

  test("chat and tools work all the same, and words survive as typed", async () => {
    using home = temporaryHome();
    for (const words of ["007", "1e3", "--", "-x", "two  words"]) {
      const said = await runBinary(["chat", "--json", `--message=${words}`], { home: home.path });
      expect(json(said.stdout)["response"]).toContain(`${words}\n`);
    }
    expect((await runBinary(["chat", "-m", "/tool file_list {}"], { home: home.path })).stdout).toContain("entries");
    const listed = await runBinary(["tools", "list", "--json"], { home: home.path });
    expect((json(listed.stdout)["tools"] as { name: string }[]).map((tool) => tool.name).toSorted()).toEqual([
      "file_list",
      "file_read",
      "file_write",
      "http_get",
      "shell",
    ]);
  });
});

describe("tools run", () => {
  test("is under the policy: asking is refused where nobody can be asked, in a sentence", async () => {
    using home = temporaryHome();
    const refused = await runBinary(["tools", "run", "shell", "--input", '{"command":"id"}'], { home: home.path });
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/^TOOL_REFUSED: .*\. .*\./);
  });

  test("stays in the workspace, knows near names, explains bad input", async () => {
    using home = temporaryHome();
    const run = async (name: string, input: object): Promise<string> =>
      (await runBinary(["tools", "run", name, "--input", JSON.stringify(input)], { home: home.path })).stdout;
    expect(await run("file_read", { path: "../config.toml" })).toContain("PATH_OUTSIDE_WORKSPACE");
    expect(await run("file_read", { path: "/etc/passwd" })).toContain("PATH_OUTSIDE_WORKSPACE");
    expect(await run("http_get", { url: "http://127.0.0.1:1/" })).toContain("ADDRESS_REFUSED");
    expect(await run("file_raed", {})).toContain("file_read");
    expect(await run("file_read", { path: 7 })).toContain("TOOL_BAD_INPUT");
    expect(await run("pdf_read", { path: "a.pdf" })).toMatch(/TOOL_UNAVAILABLE.*rag-pdf/);
  });
});

describe("config", () => {
  test("check tells every problem at once, with file and line, and exits 78", async () => {
    using home = homeWith(
      '[gateway]\nprot = 1\nport = "x"\n\n[model]\napi_key = "sk-very-secret"\nprovider = "opnai"\n',
    );
    const checked = await runBinary(["config", "check"], { home: home.path, env: { SVC__GATEWAY__HOOST: "x" } });
    expect(checked.code).toBe(78);
    expect(checked.stderr).toMatch(/config\.toml:2.*prot.*did you mean.*port/i);
    expect(checked.stderr).toMatch(/config\.toml:3.*gateway\.port/);
    expect(checked.stderr).toMatch(/config\.toml:7.*model\.provider/);
    expect(checked.stderr).toMatch(/SVC__GATEWAY__HOOST/);
    expect(checked.stderr).not.toContain("sk-very-secret");
    const asJson = await runBinary(["config", "check", "--json"], { home: home.path });
    expect(json(asJson.stderr)["problems"]).toHaveLength(3);
  });

  test("a section of a feature that is not in this build names the line, the flag and the way to get it", async () => {
    using home = homeWith(
      '[model]\nprovider = "builtin"\n\n[channels_config.federated]\nhomeserver = "https://hs.test"\n',
    );
    const checked = await runBinary(["daemon"], { home: home.path });
    expect(checked.code).toBe(78);
    expect(checked.stderr).toMatch(/config\.toml:4.*channels_config\.federated.*channel-federated/s);
  });

  test("show and status never print a secret; the environment overrides the file", async () => {
    const secret = "sk-planted-0123456789";
    using home = homeWith(
      `[model]\nprovider = "openai"\nname = "m"\napi_key = "${secret}"\n[channels_config.webhook]\nsecret = "${secret}w"\n`,
    );
    await using daemon = await startBinary({ home: home.path, env: { SVC__AGENT__MAX_STEPS: "7" } });
    const shown = await runBinary(["config", "show"], { home: home.path, env: { SVC__AGENT__MAX_STEPS: "7" } });
    expect(json(shown.stdout)).toMatchObject({ agent: { max_steps: 7 }, model: { api_key: "••••••••" } });
    const token = await daemon.pair();
    const texts = [
      shown.stdout,
      (await runBinary(["status"], { home: home.path })).stdout,
      await (await daemon.request("/api/status", { token })).text(),
      await (
        await daemon.request("/webhook", { token, headers: { "X-Webhook-Secret": "wrong" }, body: { message: "x" } })
      ).text(),
      daemon.output(),
    ];
    expect(texts.join("\n")).not.toContain(secret);
    expect(texts.join("\n")).not.toContain(token);
  });

  test("get prints one key as a script wants it: a default too, a secret as dots, nothing as exit 66", async () => {
    using home = homeWith('[gateway]\nport = 5\n[model]\napi_key = "sk-planted-0123456789"\n[agents.night-owl]\n');
    const get = (...words: string[]) => runBinary(["config", "get", ...words], { home: home.path });
    expect((await get("gateway.port")).stdout).toBe("5\n");
    expect((await get("gateway.host")).stdout).toBe("127.0.0.1\n");
    expect((await get("gateway.host", "--json")).stdout).toBe('"127.0.0.1"\n');
    expect((await get("tools.disabled")).stdout).toBe("[]\n");
    expect((await get("model.api_key")).stdout).toBe("••••••••\n");
    const unset = await get("gateway.public_url");
    expect([unset.code, unset.stdout, unset.stderr]).toEqual([66, "", expect.stringContaining("svc config set")]);
    expect((await get("agents.night-owl.workspace")).code).toBe(66);
    const wrong = await get("gateway.prot");
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("gateway.port")]);
    expect((await runBinary(["config", "path"], { home: home.path })).stdout).toBe(`${home.path}/config.toml\n`);
  });

  test("set changes one line of the file when the result loads, and tells the running daemon", async () => {
    const before = "# mine\n[agent]\nmax_steps = 3 # few\n";
    using home = homeWith(before);
    const file = join(home.path, "config.toml");
    const set = (...words: string[]) => runBinary(["config", "set", ...words], { home: home.path });
    expect((await set("agent.max_steps", "4")).stdout).toMatch(/is set\nno daemon runs/);
    await using _ = await startBinary({ home: home.path });
    expect((await set("agent.max_steps", "5")).stdout).toBe("agent.max_steps is set\nchanged: [agent]\n");
    expect((await set("gateway.port", "0")).stdout).toContain("gateway.port");
    for (const [key, value, told] of [
      ["agent.max_steps", "0", "1 to 1000"],
      ["gateway.host", "0.0.0.0", "allow_public_bind"],
      ["model.api_key", "sk-planted", "svc secrets set model.api_key"],
      ["model.provider", "openai", "model.name"],
    ] as const) {
      const refused = await set(key, value);
      expect([refused.code, refused.stderr]).toEqual([
        expect.toSatisfy((code) => code === 64 || code === 78),
        expect.stringContaining(told),
      ]);
      expect(refused.stderr).not.toContain("planted");
    }
    expect(readFileSync(file, "utf8")).toBe(`${before.replace("3", "5")}\n[gateway]\nport = 0\n`);
  });

  test("schema is JSON Schema that the written config points at", async () => {
    using home = temporaryHome();
    const schema = json((await runBinary(["config", "schema"], { home: home.path })).stdout);
    expect(schema).toMatchObject({
      type: "object",
      properties: { gateway: { properties: { port: { type: "integer" } } } },
    });
  });

  test("--config names another file, which must be there", async () => {
    using home = temporaryHome();
    writeFileSync(join(home.path, "other.toml"), "[gateway]\nport = 5\n");
    const shown = await runBinary(["config", "show", "--config", join(home.path, "other.toml")], { home: home.path });
    expect(json(shown.stdout)).toMatchObject({ gateway: { port: 5 } });
    expect((await runBinary(["config", "show", "--config", "nowhere.toml"], { home: home.path })).code).toBe(66);
  });
});

describe("with a daemon", () => {
  test("status, pair, chat and tools go to it", async () => {
    await using daemon = await startBinary({ env: { SVC__SECURITY__SANDBOX__BACKEND: "none" } });
    const run = (...words: string[]) => runBinary(words, { home: daemon.home });
    expect(json((await run("status", "--json")).stdout)).toMatchObject({
      status: "ok",
      pid: daemon.pid,
      url: daemon.url,
      sandbox: { effective: "none" },
    });
    const issued = json((await run("pair", "--json", "--scope", "webhook", "--name", "ci")).stdout);
    const token = await daemon.pair(String(issued["code"]));
    expect((await daemon.request("/webhook", { token, body: { message: "x" } })).status).toBe(200);
    expect((await daemon.request("/api/status", { token })).status).toBe(403);
    expect((await run("chat", "-m", "over the socket")).stdout).toContain("over the socket");
    expect((await run("pair", "--scope", "king")).code).toBe(64);
    expect((await run("pair", "--name", "evil\u001b]0;x\u0007")).code).toBe(64);
    const absent = await run("hardware", "discover");
    expect(absent.code).toBe(78);
    expect(absent.stderr).toContain("belongs to the feature hardware, which is not in this build");
    const planned = readFileSync(join(import.meta.dirname, "../../../profiles/planned.toml"), "utf8");
    const listed = (await run("features", "--all")).stdout;
    for (const [, id] of planned.matchAll(/^\[([\w-]+)\]$/gm)) expect(listed).toMatch(new RegExp(`${id}\\s+planned`));
  });
});

test("completions are scripts that their shell takes", async () => {
  using home = temporaryHome();
  const script = (await runBinary(["completions", "bash"], { home: home.path })).stdout;
  const complete = (...words: string[]): string => {
    const asked = `COMP_WORDS=(svc ${words.join(" ")}); COMP_CWORD=${words.length}; _svc; echo \${COMPREPLY[@]}`;
    return execFileSync("bash", ["-c", `${script}\n${asked}`], { encoding: "utf8" }).trim();
  };
  expect(complete("con")).toBe("config");
  expect(complete("devices", "r")).toBe("rename revoke");
  expect(complete("init", "--web")).toBe("--webhook-secret");
  expect((await runBinary(["completions", "fish"], { home: home.path })).stdout).toContain("complete -c svc");
});

test("the version on a full disk is one sentence and exit 74", async (context) => {
  if (!existsSync("/dev/full")) context.skip("no /dev/full on this system");
  const child = spawn("/bin/sh", ["-c", 'exec "$0" --version > /dev/full', binaryPath()], {
    env: {},
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect([code, told]).toEqual([74, "svc: the output could not be written (ENOSPC)\n"]);
});
