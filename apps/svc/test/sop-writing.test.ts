// Procedures written at the command line and by the API of the built binary: a file outside that is written, a token that may only
// read and writes, a disabled procedure that starts, a name that a shell takes for a command.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let daemon: RunningBinary;
beforeAll(async () => {
  daemon = await startBinary({ env: { SVC__SECURITY__SANDBOX__BACKEND: "none" } });
});
afterAll(() => daemon.close());

const svc = (...words: string[]) => runBinary(words, { home: daemon.home });
const json = async (...words: string[]): Promise<any> => JSON.parse((await svc(...words, "--json")).stdout);
const at = (path: string): string => join(daemon.home, "workspace", "sops", path);
const file = (name: string, text: string): string => {
  const path = join(daemon.home, name);
  writeFileSync(path, text);
  return path;
};

describe("svc sop", () => {
  test("writes, corrects, copies, tries, switches and retries a procedure", async () => {
    expect((await svc("sop", "new", "note")).stdout).toContain("svc sop test note");
    const toml = file(
      "note.toml",
      `[sop]
execution_mode = "deterministic"
enabled = false

[[triggers]] # from the build
type = "webhook"
path = "/sop/note"
condition = "$.n >= 3"

[[triggers]]
type = "cron"
expression = "0 4 * * *"

[[steps]]
title = "Write"
tool = "file_write"
args = { path = "note.txt", content = "$.text" }
requires_confirmation = true

[[steps]]
title = "Read"
tool = "file_read"
args = { path = "missing.txt" }
`,
    );
    const wrong = file("wrong.toml", "[sop]\npriority = 'urgent'\n");
    const refused = await svc("sop", "edit", "note", "--toml", wrong);
    expect([refused.code, refused.stderr]).toEqual([65, expect.stringContaining("SOP.toml:2  sop.priority")]);
    expect((await svc("sop", "edit", "note", "--toml", toml)).code).toBe(65);
    await svc("sop", "edit", "note", "--toml", toml, "--markdown", file("note.md", "Notes of builds.\n"));
    expect(readFileSync(at("note/SOP.toml"), "utf8")).toContain("# from the build");
    expect((await svc("sop", "duplicate", "note", "note-two")).code).toBe(0);
    expect((await svc("sop", "duplicate", "note", "note-two")).code).toBe(73);

    // Disabled: its path is there, starts nothing and says so; the clock is not told of it.
    const token = await daemon.pair();
    const post = () => daemon.request("/sop/note", { token, body: { n: 3, text: "hello" } });
    const skipped = (await (await post()).json()) as { skipped: object[] };
    expect(skipped.skipped).toContainEqual({ sop: "note", reason: "disabled" });
    expect((await json("sop", "calendar")).times).toEqual([]);

    const unmet = await svc("sop", "test", "note", "--trigger", "1", "--payload", '{"n":1}');
    expect([unmet.code, unmet.stderr]).toEqual([64, expect.stringContaining("SOP_NOT_TRIGGERED")]);
    const tried = await json("sop", "test", "note", "--trigger", "1", "--payload", '{"n":3,"text":"tried"}');
    expect(tried).toMatchObject({ test: true, source: "webhook" });
    expect(existsSync(join(daemon.home, "workspace", "note.txt"))).toBe(false);
    await expect.poll(async () => (await json("approvals", "list")).approvals[0]?.title).toBe("Test: note: Write");
    await svc("approvals", "approve", String((await json("approvals", "list")).approvals[0].n));
    await expect.poll(async () => (await json("sop", "show", tried.id)).status).toBe("failed");

    // The first step has acted: a retry from it waits, one from the second does not.
    const retried = await json("sop", "retry", `#${tried.n}`);
    expect(retried).toMatchObject({ test: true, retry_of: tried.id, first_step: 2, asks: [] });
    await expect.poll(async () => (await json("sop", "show", String(retried.n))).status).toBe("failed");
    const again = await json("sop", "retry", tried.id, "--step", "1");
    expect(again).toMatchObject({ asks: [1] });
    await svc("sop", "cancel", again.id, "--yes");
    expect((await json("sop", "runs", "--tests", "--source", "webhook")).runs).toHaveLength(3);

    expect((await svc("sop", "enable", "note")).code).toBe(0);
    const started = (await (await post()).json()) as { runs: object[] };
    expect(started.runs).toMatchObject([{ sop: "note" }]);
    expect((await json("sop", "calendar", "--days", "2")).times).toMatchObject([{ sop: "note", at: { length: 2 } }]);
  });

  test("names, deletes and brings back a procedure; a run that has begun goes on with its old definition", async () => {
    const toml = file("gate.toml", '[sop]\nexecution_mode = "supervised"\n\n[[triggers]]\ntype = "manual"\n');
    const markdown = file(
      "gate.md",
      "## Steps\n\n1. **Look** — Say hello.\n2. **Decide** — Say yes.\n   - kind: checkpoint\n",
    );
    await svc("sop", "new", "gate", "--toml", toml, "--markdown", markdown);
    const run = await json("sop", "run", "gate");
    await expect.poll(async () => (await json("sop", "show", run.id)).status).toBe("waiting_approval");

    expect(await json("sop", "rename", "gate", "door")).toMatchObject({ name: "door", version: expect.any(Number) });
    expect([existsSync(at("gate")), (await svc("sop", "show", "gate")).code]).toEqual([false, 64]);
    expect((await json("sop", "show", "door")).name).toBe("door");
    const deleted = await json("sop", "delete", "door");
    expect(deleted).toMatchObject({ name: "door", revision: null });
    expect((await svc("sop", "delete", "door")).stderr).toContain("SOP_UNKNOWN");
    expect((await svc("sop", "versions", "door")).stdout).toMatch(/delete +door/);

    // Both gates of the run, which has begun as `gate`.
    for (const title of ["gate: Look", "gate: Decide"]) {
      await expect.poll(async () => (await json("approvals", "list")).approvals[0]?.title).toBe(title);
      await svc("approvals", "approve", String((await json("approvals", "list")).approvals[0].n));
    }
    await expect.poll(async () => (await json("sop", "show", run.id)).status).toBe("completed");
    expect((await svc("sop", "retry", run.id, "--step", "1")).stderr).toContain("SOP_UNKNOWN");

    const undone = await svc("sop", "undo", String(deleted.version));
    expect(undone.stdout).toContain("+ 1. **Look** — Say hello.");
    expect(readFileSync(at("door/SOP.toml"), "utf8")).toBe(readFileSync(toml, "utf8"));
    const [last, , first] = (await json("sop", "versions", "door")).versions;
    expect([last.what, first.what, first.sops]).toEqual(["undo", "rename", ["door", "gate"]]);
    await json("sop", "undo", String(first.version));
    expect([existsSync(at("gate")), existsSync(at("door"))]).toEqual([true, false]);
    for (const number of ["0", "x", "99999"]) expect((await svc("sop", "undo", number)).code).not.toBe(0);
  });

  test("writes nothing outside of the workspace, whatever links stand in it", async () => {
    const outside = join(daemon.home, "outside");
    mkdirSync(outside);
    mkdirSync(at(""), { recursive: true });
    symlinkSync(outside, at("linked"));
    const { code, stderr } = await svc("sop", "new", "linked");
    expect([code, stderr]).toEqual([73, expect.stringContaining("SOP_UNWRITABLE")]);
    expect(readdirSync(outside)).toEqual([]);
    for (const name of ["../out", "A", "a/b", "a".repeat(65)]) expect((await svc("sop", "new", name)).code).toBe(65);
  });

  test("is for operators: a token that may read tries every route that writes", async () => {
    const code = (await json("pair", "--scope", "read")).code as string;
    const token = await daemon.pair(code);
    const ask = async (method: string, path: string, body: object) =>
      (await daemon.request(path, { method, token, body })).status;
    await svc("sop", "new", "guarded");
    const before = readFileSync(at("guarded/SOP.toml"), "utf8");
    const asked = [
      await ask("PUT", "/api/sops/guarded", { toml: "", markdown: null, revision: null }),
      await ask("PATCH", "/api/sops/guarded", { enabled: true }),
      await ask("POST", "/api/sops/guarded/copies", { name: "mine" }),
      await ask("POST", "/api/sops/guarded/rename", { name: "mine" }),
      await ask("DELETE", "/api/sops/guarded", {}),
      await ask("POST", "/api/sop-versions/1/undo", { revision: "0".repeat(32) }),
      await ask("POST", "/api/sops/guarded/test-runs", {}),
      await ask("POST", "/api/sop-drafts", { name: "guarded" }),
      await ask("POST", "/api/sop-runs/r-1/retry", { step: 1 }),
    ];
    expect(asked).toEqual(asked.map(() => 403));
    for (const path of ["/api/sops/guarded", "/api/sop-versions", "/api/sop-versions/1"]) {
      expect((await daemon.request(path, { token })).status).toBe(403);
    }
    expect((await daemon.request("/api/sop-calendar", { token })).status).toBe(200);
    expect(readFileSync(at("guarded/SOP.toml"), "utf8")).toBe(before);
    expect(existsSync(at("mine"))).toBe(false);
  });
});

describe("the command line", () => {
  test("lists what a group has when it is named alone, in no colour into a pipe", async () => {
    const { code, stdout } = await svc("sop");
    expect([code, stdout]).toEqual([0, (await svc("sop", "list")).stdout]);
    expect((await svc("service")).stdout).toContain("svc service install");
    expect(stdout).not.toContain("\u001b");
  });

  test("completes names and keys, and evaluates none", async () => {
    const marker = join(daemon.home, "evaluated");
    const hostile = "$(touch evaluated) `touch evaluated`; touch evaluated";
    await daemon.pair((await json("pair", "--name", hostile)).code as string);
    const script = (await svc("completions", "bash")).stdout;
    const complete = (...words: string[]): string[] => {
      const typed = words.map((word) => `'${word}'`).join(" ");
      const asked = `svc() { "${binaryPath()}" "$@"; }; COMP_WORDS=(svc ${typed}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const env = { ...process.env, SVC_HOME: daemon.home };
      return execFileSync("bash", ["-c", `${script}\n${asked}`], { encoding: "utf8", env })
        .trim()
        .split("\n");
    };
    expect(complete("sop", "show", "gua")).toEqual(["guarded"]);
    expect(complete("config", "get", "gateway.po")).toEqual(["gateway.port"]);
    expect(complete("secrets", "set", "model.api")).toEqual(["model.api_key"]);
    const [device] = complete("devices", "revoke", "$");
    expect(execFileSync("bash", ["-c", `printf %s ${device}`], { encoding: "utf8", cwd: daemon.home })).toBe(hostile);
    expect(existsSync(marker)).toBe(false);
    expect((await svc("devices", "revoke", hostile, "--yes")).code).toBe(0);
  });

  test("a name that is the beginning of another's id names neither", async () => {
    const { devices } = (await json("devices", "list")) as { devices: { id: string }[] };
    const prefix = devices[0]!.id.slice(0, 6);
    await daemon.pair((await json("pair", "--name", prefix)).code as string);
    expect((await svc("devices", "revoke", prefix, "--yes")).code).toBe(64);
  });

  test("svc open hands the browser a file of this user's alone, whose link signs in once", async () => {
    const browser = file(
      "browser",
      '#!/bin/sh\nprintf "%s" "$1" > "$SVC_HOME/opened"\ncat "${1#file://}" > "$SVC_HOME/page"\n',
    );
    chmodSync(browser, 0o700);
    const opening = runBinary(["open"], { home: daemon.home, env: { BROWSER: browser } });
    await expect.poll(() => existsSync(join(daemon.home, "page"))).toBe(true);
    await expect.poll(() => readFileSync(join(daemon.home, "page"), "utf8")).toMatch(/#pair=\d{6}"/);
    expect(readFileSync(join(daemon.home, "opened"), "utf8")).toMatch(/^file:\/\/[^#]*\.html$/);
    const code = /#pair=(\d{6})/.exec(readFileSync(join(daemon.home, "page"), "utf8"))![1]!;
    await daemon.pair(code);
    const { code: exit, stdout } = await opening;
    expect([exit, stdout.includes(code)]).toEqual([0, false]);
    expect(readdirSync(join(daemon.home, "run")).filter((name) => name.endsWith(".html"))).toEqual([]);
    expect((await svc("open", "--print")).stdout).toMatch(/#pair=\d{6}/);
  });
});
