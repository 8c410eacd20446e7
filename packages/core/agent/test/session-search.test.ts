// Search and titles show what a person may read: never a secret, and never whether one was said.
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { exportSession } from "../src/index.ts";
import { ask, call, failure, agentFixture, scripted, text, until } from "./agent-fixture.ts";

const SECRET = "sk-hunter2hunter2";
const redact = (said: string): string => said.replaceAll(SECRET, "[secret]");
const other = "other" as ClientId;

const found = (agent: ReturnType<typeof agentFixture>["agent"], query: string, clientId?: ClientId) =>
  agent.sessions.search({ query, clientId, limit: 10 }).results;
const marked = (snippet: readonly { text: string; isHit: boolean }[]): string =>
  snippet.map(({ text, isHit }) => (isHit ? `[${text}]` : text)).join("");

describe("the search", () => {
  test("shows the message with most of the words, and which of them were found", async () => {
    const long = `${"so many words before it, ".repeat(20)}the Déjà vu, and ${"more after it ".repeat(30)}`;
    const { agent } = agentFixture({ model: scripted([text(long)], [text("no")]) });
    const { turnId } = await ask(agent, "what is it called?", { session: "a" });
    await ask(agent, "again?", { session: "b", clientId: other });
    const [hit, ...more] = found(agent, "DEJA vu");
    expect(more).toEqual([]);
    expect(hit).toMatchObject({ turnId, role: "assistant", session: { name: "a", title: "what is it called?" } });
    expect(marked(hit!.snippet)).toMatch(/^….*the \[Déjà\] \[vu\], and more after it .*…$/);
    expect(marked(hit!.snippet).length).toBeLessThan(200);
    expect(found(agent, "called deja").map(({ role }) => role)).toEqual(["user"]);
    expect(found(agent, "again", "client" as ClientId)).toEqual([]);
    expect(found(agent, "again", other)).toHaveLength(1);
  });

  test("goes on page by page, without missing or repeating a turn", async () => {
    const { agent } = agentFixture({ model: scripted(...Array.from({ length: 7 }, () => [text("yes")])) });
    for (let n = 0; n < 7; n += 1) await ask(agent, `needle ${n}`, { session: `s${n % 2}` });
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = agent.sessions.search({ query: "needle", limit: 3, before });
      seen.push(...page.results.map(({ snippet }) => snippet.map(({ text }) => text).join("")));
      before = page.before;
    } while (before !== undefined);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `needle ${n}`));
    expect(() => agent.sessions.search({ query: "needle", limit: 3, before: "x' OR 1" })).toThrow(
      expect.objectContaining({ code: "BAD_REQUEST" }),
    );
  });

  test("finds no secret, not by its beginning and not by its neighbours alone", async () => {
    const { agent } = agentFixture({ model: scripted([text("I keep it")]), redact });
    await ask(agent, `the key is ${SECRET}, remember it`, { session: "a" });
    for (const query of [SECRET, "sk-hunter", "hunter2", "hun", "key hunter2hunter2"]) {
      expect(found(agent, query)).toEqual([]);
    }
    const [hit] = found(agent, "remember key");
    expect(marked(hit!.snippet)).toBe("the [key] is [secret], [remember] it");
    expect(JSON.stringify(agent.sessions.list({}, 10))).not.toContain("hunter2");
  });
});

describe("a change", () => {
  test("is told to every page, and what the person chose answers", async () => {
    const agents = { clerk: { instructions: "You are a clerk." } };
    const model = scripted([text("1")], [text("2")], [text("3")]);
    const { agent, changed, events } = agentFixture({ model, agents });
    await ask(agent, "hello", { session: "a" });
    const { id } = agent.sessions.list({}, 1)[0]!;
    const renamed = await agent.sessions.update(id, { title: "Mine", pinned: true, agent: "clerk" });
    expect(renamed).toMatchObject({ title: "Mine", isPinned: true, agent: "clerk", unread: 1 });
    expect(await agent.sessions.markRead(id, 1)).toMatchObject({ unread: 0 });
    // Nothing was news: nobody is told.
    await agent.sessions.markRead(id, 1);
    expect(changed).toEqual([
      { type: "session-updated", id, sessionId: "a", owner: "client" },
      { type: "session-updated", id, sessionId: "a", owner: "client" },
    ]);
    await ask(agent, "and now?", { session: "a" });
    const answered = () => events.findLast(({ type }) => type === "turn-start");
    expect(answered()).toMatchObject({ agent: "clerk" });
    await agent.sessions.update(id, { agent: null });
    await ask(agent, "and now?", { session: "a" });
    expect(answered()).toMatchObject({ agent: "default" });
  });

  test("is refused for an agent or a model that there is not, and then nothing changes", async () => {
    const { agent } = agentFixture({ model: scripted([text("1")]) });
    await ask(agent, "hello", { session: "a" });
    const { id } = agent.sessions.list({}, 1)[0]!;
    expect(await failure(agent.sessions.update(id, { title: "x", agent: "nobody" }))).toMatchObject({
      code: "AGENT_UNKNOWN",
    });
    expect(await failure(agent.sessions.update(id, { title: "x", model: "gpt-99" }))).toMatchObject({
      code: "BAD_REQUEST",
    });
    expect(agent.sessions.find(id)).toMatchObject({ title: "hello", agent: undefined, model: undefined });
    expect(await agent.sessions.update("none", { pinned: true })).toBeUndefined();
    expect(await agent.sessions.markRead("none", 1)).toBeUndefined();
  });
});

const OWNER = { device: undefined, isProcedure: false };

test("an export has every message in order, and what tools did", async () => {
  const model = scripted([text("let me look"), call("read", { what: "it" })], [text("I saw it")], [text("bye")]);
  const { agent } = agentFixture({ model, redact });
  await ask(agent, `look at ${SECRET}`, { session: "a" });
  await ask(agent, "bye", { session: "a" });
  const [session] = agent.sessions.list({}, 1);
  const markdown = await exportSession(agent.sessions, session!, OWNER, "markdown");
  expect(markdown.fileName).toBe("look-at-secret-2026-01-01.md");
  expect(markdown.text.indexOf("let me look")).toBeLessThan(markdown.text.indexOf("I saw it"));
  expect(markdown.text).toContain('"tool": "read"');
  expect(markdown.text).not.toContain(SECRET);
  const json = JSON.parse((await exportSession(agent.sessions, session!, OWNER, "json")).text);
  expect(json.messages.map(({ text }: { text: string }) => text)).toEqual([
    "look at [secret]",
    "let me look",
    "I saw it",
    "bye",
    "bye",
  ]);
});

describe("a title by the model", () => {
  const titled = (title: string) => {
    const made: string[] = [];
    const chat = scripted([text("The disk is full.")], [text("Yes.")], [text("Sure.")]);
    const small = scripted([text(title)], [text("Another")]);
    const model = ({ name }: { name?: string | undefined }) => {
      made.push(name ?? "");
      return name === "small" ? small : chat;
    };
    const config = { model: { provider: "openai", name: "big" }, agent: { title_model: "small" } } as const;
    return { ...agentFixture({ model, config, choices: ["small"], redact }), small, chat };
  };

  test("is made once, by the model that the config names, and told to every page", async () => {
    const { agent, changed, small, store } = titled('"Full disk."\n\nIt fits.');
    await ask(agent, "why does the backup fail?", { session: "a" });
    await until(() => changed.length === 1);
    expect(agent.sessions.list({}, 1)[0]).toMatchObject({ title: "Full disk", titledBy: "model" });
    expect(JSON.stringify(small.asked[0]!.prompt)).toContain("The disk is full.");
    await ask(agent, "and now?", { session: "a" });
    await until(() => agent.load().running === 0);
    expect(small.asked).toHaveLength(1);
    const used = store.usage.list("2026-01-01").map(({ model: name }) => name);
    expect(used).toContain("small");
  });

  test.each([[""], ["x".repeat(121)], ["\u0007\u001b[2J"]])("that is %j leaves the first words", async (title) => {
    const { agent, small } = titled(title);
    await ask(agent, "why does the backup fail?", { session: "a" });
    await until(() => small.asked.length === 1);
    await ask(agent, "and now?", { session: "a" });
    expect(agent.sessions.list({}, 1)[0]).toMatchObject({ title: "why does the backup fail?", titledBy: "words" });
  });

  test("is not asked for where the config names no model, or one that the agent does not have", async () => {
    const { agent, chat } = titled("unused");
    agent.reconfigure({
      ...agentFixture({ model: chat }).set({ model: chat, config: { agent: { title_model: "nowhere" } } }),
    });
    await ask(agent, "hello", { session: "b" });
    expect(chat.asked).toHaveLength(1);
    expect(agent.sessions.list({}, 1)[0]).toMatchObject({ title: "hello" });
  });
});
