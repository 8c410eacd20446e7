// What was said must be found again, a turn that runs away stopped, and a conversation that should not be kept removed.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { atTerminal, needScript } from "./at-terminal.ts";
import { homeWith, post, startPaired, UNGUARDED } from "./daemon.ts";

interface Line {
  readonly id: string;
  readonly session_id: string;
  readonly device: { readonly name: string } | null;
  readonly turns: number;
  readonly running: boolean;
}

const run = (home: string, ...words: string[]) => runBinary(["sessions", ...words], { home });

async function listed(home: string): Promise<Line[]> {
  return (JSON.parse((await run(home, "list", "--json")).stdout) as { sessions: Line[] }).sessions;
}

describe("with a daemon", () => {
  test("conversations are listed with their device, shown with what tools did, and deleted for good", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "good morning", { "X-Session-Id": "diary" });
    await post(daemon, token, '/tool shell {"command":"echo done"}', { "X-Session-Id": "diary" });
    await runBinary(["chat", "-m", "from the terminal"], { home: home.path });
    const sessions = await listed(home.path);
    expect(sessions.map(({ session_id, turns, device }) => [session_id, turns, device?.name])).toEqual([
      ["terminal", 1, undefined],
      ["diary", 2, "device"],
    ]);
    const diary = sessions[1]!.id;
    const shown = (await run(home.path, "show", diary.slice(0, 8))).stdout;
    expect(shown).toContain("good morning");
    expect(shown).toMatch(/\[shell .*echo done.*: done\]/);
    const page = JSON.parse((await run(home.path, "show", diary, "--limit", "2", "--json")).stdout) as {
      before: string;
    };
    expect((await run(home.path, "show", diary, "--limit", "9", "--before", page.before)).stdout).toContain(
      "good morning",
    );
    expect((await run(home.path, "delete", diary.slice(0, 8))).code).toBe(0);
    expect((await listed(home.path)).map(({ session_id }) => session_id)).toEqual(["terminal"]);
    const again = await run(home.path, "show", diary);
    expect([again.code, again.stderr]).toEqual([64, expect.stringContaining("SESSION_UNKNOWN")]);
  });

  test("they are found by what was said, named, pinned, archived and saved", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    await post(daemon, token, "Where is the café key?", { "X-Session-Id": "keys" });
    await post(daemon, token, "nothing of interest", { "X-Session-Id": "other" });
    const found = await run(home.path, "search", "CAFE key");
    expect(found.stdout).toMatch(/Where is the café key\?/);
    expect((await run(home.path, "search", '" OR (')).stdout).toBe("no message has all of these words\n");
    const keys = (await listed(home.path)).find(({ session_id: name }) => name === "keys")!.id;
    expect((await run(home.path, "rename", keys, "Fixture keys")).stdout).toBe(`${keys}: Fixture keys\n`);
    expect((await run(home.path, "rename", keys, "two\nlines")).stderr).toContain("title must have");
    expect((await run(home.path, "pin", keys.slice(0, 8))).stdout).toContain("(pinned)");
    expect((await run(home.path, "list")).stdout.split("\n")[0]).toContain("[pinned] Fixture keys");
    expect((await run(home.path, "archive", keys)).stdout).toContain("archived");
    expect((await listed(home.path)).map(({ session_id: name }) => name)).toEqual(["other"]);
    expect((await run(home.path, "list", "--archived")).stdout).toContain("Fixture keys");
    expect((await run(home.path, "unarchive", keys)).code).toBe(0);
    const exported = (await run(home.path, "export", keys)).stdout;
    expect(exported).toMatch(/^# Fixture keys\n\n## Person, /);
    const json = JSON.parse((await run(home.path, "export", keys, "--format", "json")).stdout) as {
      messages: unknown[];
    };
    expect(json.messages).toHaveLength(2);
    expect((await run(home.path, "export", keys, "--format", "html")).code).toBe(64);
  });

  test("tokens search their own, operators all; what is archived or removed is so at once, and after a kill", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    const pairAs = async (...options: string[]): Promise<string> => {
      const { stdout } = await runBinary(["pair", ...options], { home: home.path });
      return daemon.pair(/\b\d{6}\b/.exec(stdout)![0]);
    };
    const reader = await pairAs("--scope", "read", "--name", "wall");
    const program = await pairAs("--scope", "webhook", "--name", "ci");
    await post(daemon, token, "the treasure is buried here", { "X-Session-Id": "a" });
    await post(daemon, program, "treasure of the program", { "X-Session-Id": "a" });
    const ask = async (path: string, as: string) =>
      (await daemon.request(`/api/sessions${path}`, { token: as })).json();
    const hits = async (as: string, query = "treasure"): Promise<string[]> => {
      const { results } = (await ask(`/search?q=${encodeURIComponent(query)}`, as)) as {
        results: { session: Line; snippet: { text: string }[] }[];
      };
      return results.map(({ session }) => session.id);
    };
    const all = await hits(token);
    expect(all).toHaveLength(2);
    expect(await hits(reader)).toEqual([]);
    expect(await ask("/search?q=treasure", program)).toMatchObject({ code: "FORBIDDEN_SCOPE" });
    for (const query of ['"', "a OR b", "NEAR(a", "*", "words:x", "\0", "';--", "((((", "😀"]) {
      expect(await ask(`/search?q=${encodeURIComponent(query)}`, token)).toEqual({ results: [], before: null });
    }
    const patch = (id: string, body: object, as = token) =>
      daemon.request(`/api/sessions/${id}`, { method: "PATCH", token: as, body });
    expect((await patch(all[0]!, { title: "<b>x</b>" })).status).toBe(200);
    expect((await patch(all[0]!, { title: "y" }, reader)).status).toBe(403);
    expect((await patch(all[0]!, { agent: "nobody" })).status).toBeGreaterThanOrEqual(400);
    const file = await daemon.request(`/api/sessions/${all[0]}/export`, { token });
    expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="b-x-b-[\d-]+\.md"$/);
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    await daemon.request(`/api/sessions/${all[1]}`, { method: "DELETE", token });
    await daemon.kill9();
    const again = await startBinary({ home: home.path });
    await using __ = again;
    const { results } = (await (await again.request("/api/sessions/search?q=treas", { token })).json()) as {
      results: { session: { id: string; title: string } }[];
    };
    expect(results.map(({ session }) => [session.id, session.title])).toEqual([[all[0], "<b>x</b>"]]);
  });

  test("a running turn is listed as such, and stopped", async () => {
    using home = homeWith(UNGUARDED);
    const { daemon, token } = await startPaired({ home: home.path });
    await using _ = daemon;
    const message = '/tool shell {"command":"touch begun; sleep 300"}';
    const turn = post(daemon, token, message, { "X-Session-Id": "stuck" });
    while (!existsSync(join(home.path, "workspace/begun"))) await new Promise((resolve) => setTimeout(resolve, 10));
    const [session] = await listed(home.path);
    expect(session).toMatchObject({ session_id: "stuck", running: true });
    expect((await run(home.path, "cancel", session!.id)).stdout).toContain("stopped");
    expect((await turn).body.code).toBe("TURN_CANCELLED");
    const idle = await run(home.path, "cancel", session!.id, "--json");
    expect(idle.code).not.toBe(0);
  });
});

describe("without a daemon", () => {
  test("they are read from the database, and deleting asks at a terminal", async (context) => {
    needScript(context);
    using home = temporaryHome();
    await runBinary(["chat", "-m", "remember the milk"], { home: home.path });
    const [session] = await listed(home.path);
    expect((await run(home.path, "show", session!.id)).stdout).toContain("remember the milk");
    const prompt = "Delete the conversation";
    expect((await atTerminal(home.path, `sessions delete ${session!.id}`, [[prompt, "\r"]])).code).toBe(1);
    expect(await listed(home.path)).toHaveLength(1);
    expect((await atTerminal(home.path, `sessions delete ${session!.id}`, [[prompt, "y"]])).code).toBe(0);
    expect(await listed(home.path)).toEqual([]);
  });

  test("one that is put aside by a command is listed still, by a name under which it goes on", async () => {
    using home = temporaryHome();
    const chat = (...words: string[]) => runBinary(["chat", "-m", ...words], { home: home.path });
    await chat("remember the milk");
    expect((await chat(" /New ")).stdout).toBe("A new conversation begins.\n");
    await chat("hello");
    const names = (await listed(home.path)).map(({ session_id, turns }) => [session_id, turns]);
    expect(names).toEqual([
      ["terminal", 1],
      ["terminal.1", 1],
    ]);
    expect((await run(home.path, "show", (await listed(home.path))[1]!.id)).stdout).toContain("remember the milk");
    expect((await chat("/status", "--session", "terminal.1")).stdout).toContain("This conversation: 1 answer");
    expect((await chat("/model")).stdout).toBe("builtin answers here. No others are configured.\n");
  });

  test.for([[["show"]], [["show", ""]], [["show", "nobody"]], [["list", "--limit", "all"]], [["list", "x"]]])(
    "%j is exit 64",
    async ([words]) => {
      using home = temporaryHome();
      expect((await run(home.path, ...words!)).code).toBe(64);
    },
  );

  test("looking leaves no trace in an empty home", async () => {
    using home = temporaryHome();
    expect((await run(home.path, "list")).stdout).toBe("no conversation is kept\n");
    expect(readdirSync(home.path)).toEqual([]);
  });
});

test("what a model wrote does not drive the terminal that shows it", async (context) => {
  needScript(context);
  using home = temporaryHome();
  await runBinary(["chat", "--session", "evil", "-m", "a\u001b]0;owned\u0007b"], { home: home.path });
  const [session] = await listed(home.path);
  const { screen } = await atTerminal(home.path, `sessions show ${session!.id}`, []);
  expect(screen).toContain("owned");
  expect(screen).not.toContain("\u001b]0;");
});
