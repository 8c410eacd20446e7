// What people see while the agent is at it, on the channels of every day: an answer that is being written, and goes on in the
// same message after a kill; a question with buttons before a tool acts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { describe, expect, test, vi } from "vitest";
import { type EverydayFixture, startEveryday } from "./everyday-fixture.ts";

const WAIT = { timeout: 60_000, interval: 20 };
const STORY = Array.from({ length: 40 }, (_, at) => `Sentence number ${at + 1} of a story.`).join(" ");

const texts = ({ platforms: [platform] }: EverydayFixture): string[] => platform!.seen().map(({ text }) => text);

async function connected(options: Parameters<typeof startEveryday>[0]): Promise<EverydayFixture> {
  const fixture = await startEveryday(options);
  await fixture.daemon.waitFor(/the platform knows this channel/);
  return fixture;
}

describe.each(["telegram", "discord", "slack"] as const)("%s", (channel) => {
  test("an answer is seen being written; after a kill -9 in the middle there is one, and it is whole", async () => {
    let isStuck = true;
    await using fixture = await connected({
      channels: [channel],
      keys: "draft_update_interval_ms = 100",
      script: () => ({ text: STORY, ...(isStuck && { midway: () => new Promise<void>(() => {}) }) }),
    });
    fixture.platforms[0]!.write("tell me a story");
    await vi.waitFor(() => expect(texts(fixture)).toEqual([expect.stringMatching(/^Sentence number 1 of/)]), WAIT);
    expect(texts(fixture)[0]).not.toContain("number 40");
    // A kill between the platform's yes and our note of it is the one moment that can't be closed.
    await vi.waitFor(() => expect(draftsOf(fixture)).toHaveLength(1), WAIT);
    await fixture.daemon.kill9();
    isStuck = false;
    await fixture.start();
    await vi.waitFor(() => expect(texts(fixture).join("\n")).toContain("number 40"), WAIT);
    const { messages } = await fixture.json<{ messages: { state: string }[] }>("inbox", "list", "--box", "out");
    expect(messages.map(({ state }) => state)).toEqual(["sent"]);
    expect(texts(fixture)).toEqual([STORY]);
  });

  test("/stop ends it, and what was written stays", async () => {
    await using fixture = await connected({
      channels: [channel],
      keys: "draft_update_interval_ms = 100",
      script: () => ({ text: STORY, midway: () => new Promise<void>(() => {}) }),
    });
    fixture.platforms[0]!.write("tell me a story");
    await vi.waitFor(() => expect(texts(fixture)[0]).toMatch(/^Sentence number 1 of/), WAIT);
    fixture.platforms[0]!.write("/stop");
    await vi.waitFor(() => expect(texts(fixture).at(-1)).toBe("Stopped."), WAIT);
    expect(texts(fixture)).toHaveLength(2);
  });

  test("a tool that acts waits for the press of a button, and the buttons go", async () => {
    const section = { telegram: "5551001", discord: "200000000000000001", slack: "U0PERSON1" }[channel];
    await using fixture = await connected({
      channels: [channel],
      keys: `approvers = ["${section}"]`,
      script: writesNote,
    });
    const platform = fixture.platforms[0]!;
    const note = join(fixture.home, "workspace", "note.txt");
    platform.write("write it down");
    await vi.waitFor(() => expect(platform.seen().at(-1)?.buttons).toHaveLength(2), WAIT);
    expect(existsSync(note)).toBe(false);
    platform.press(true);
    await vi.waitFor(() => expect(texts(fixture).at(-1)).toMatch(/^the tool said/), WAIT);
    expect(readFileSync(note, "utf8")).toBe("once\n");
    await vi.waitFor(() => expect(platform.seen().flatMap(({ buttons = [] }) => buttons)).toEqual([]), WAIT);
  });
});

/** The messages that stand for answers which are being written. */
function draftsOf({ home }: EverydayFixture): string[] {
  using database = new DatabaseSync(join(home, "state/svc.db"), { readOnly: true });
  return (database.prepare("SELECT draft FROM inbox_open WHERE draft IS NOT NULL").all() as { draft: string }[]).map(
    ({ draft }) => draft,
  );
}

/** Writes a note when it is told to, and says what came of it. */
function writesNote({ body }: ModelRequest): ModelStep {
  const { role, content } = (body["messages"] as { role: string; content: string }[]).at(-1)!;
  if (role === "tool") return { text: `the tool said ${content}` };
  return { calls: [{ name: "file_write", input: { path: "note.txt", content: "once\n", mode: "append" } }] };
}
