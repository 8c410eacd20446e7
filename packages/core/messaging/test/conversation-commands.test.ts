// What commands do: a conversation that is not new, a model that nobody offers or that another pays for, a status that tells ids.
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { act, call, gate, type AgentFixtureOptions, text } from "@svc/agent/agent-fixture";
import {
  afterKill,
  lastAsked,
  messagingFixture,
  type MessagingFixtureOptions,
  quiet,
  said,
  saidIn,
  thinking,
} from "./messaging-fixture.ts";

const NEW = "A new conversation begins.";
const DOLLAR = { input_per_million: 100_000, output_per_million: 0 };
/** "big" answers, and "small" may; each says its name. */
const twoModels = (more: MessagingFixtureOptions = {}): MessagingFixtureOptions => ({
  choices: ["small"],
  config: { model: { provider: "openai", name: "big", price: DOLLAR } },
  model: ({ name }) => thinking(() => [text(`${name} says`)]),
  ...more,
});

describe("/new", () => {
  test("has the next message asked without what was said before; the old conversation is there to be looked at", async () => {
    using made = messagingFixture();
    await made.receive(said("one"), said("two"), said("/new"), said("three"), said("four"));
    expect(made.model.asked.map(({ prompt }) => prompt.length)).toEqual([1, 3, 1, 3]);
    const sessions = made.agent.sessions.list({}, 10);
    expect(sessions.map(({ name, turns }) => [name, turns])).toEqual([
      ['["chat","room"]', 2],
      ['["chat","room"].1', 2],
    ]);
    expect(made.agent.sessions.messages(sessions[1]!.id, { limit: 10 }).messages.map((one) => one.text)).toEqual([
      "one",
      "echo one",
      "two",
      "echo two",
    ]);
    expect(made.agent.sessions.find(sessions[1]!.id)).toMatchObject({ turns: 2, running: false });
    expect(await made.agent.sessions.remove(sessions[1]!.id)).toBe(true);
    await made.receive(said("five"));
    expect(made.model.asked.at(-1)!.prompt).toHaveLength(5);
  });

  test("concerns its own conversation only, and says so where there was none", async () => {
    using made = messagingFixture();
    await made.receive(saidIn("a", "one"), saidIn("b", "one"));
    await made.receive(saidIn("b", "/new"), saidIn("c", "/reset"));
    await made.receive(saidIn("a", "two"), saidIn("b", "two"));
    expect(made.chat.taken.filter((words) => words === NEW)).toHaveLength(2);
    const asked = made.model.asked.filter((options) => lastAsked(options) === "two");
    expect(asked.map(({ prompt }) => prompt.length).toSorted()).toEqual([1, 3]);
  });

  test("holds over a restart", async () => {
    const home = temporaryHome();
    using made = messagingFixture();
    await made.receive(said("one"), said("/new"));
    afterKill(made.folder, home.path);
    using next = messagingFixture({ folder: home.path });
    await next.receive(said("two"));
    expect(next.model.asked.map(({ prompt }) => prompt.length)).toEqual([1]);
    home.remove();
  });
});

describe("/model", () => {
  test("says which model answers, and which there are; where there is one, only that", async () => {
    using made = messagingFixture(twoModels());
    await made.receive(said("/model"));
    expect(made.chat.taken[0]).toMatch(/^big answers here\. There are: big, small\.\n\/model <name> /);
    using other = messagingFixture();
    await other.receive(said("/model"), said("/model big"));
    expect(other.chat.taken).toEqual([
      "builtin answers here. No others are configured.",
      "There is nothing to choose: no other models are configured.",
    ]);
  });

  test("with a name has that one answer from the next turn on: in the answer, the price and the records", async () => {
    using made = messagingFixture(twoModels());
    await made.receive(
      said("one"),
      said("/model SMALL"),
      said("two"),
      said("/model"),
      said("/model default"),
      said("three"),
    );
    expect(made.chat.taken).toEqual([
      "big says",
      "From the next message on, small answers here.",
      "small says",
      expect.stringMatching(/^small answers here\. There are: big, small\./),
      "From the next message on, big answers here.",
      "big says",
    ]);
    const ends = made.turns.flatMap((event) => (event.type === "turn-end" ? [event.model] : []));
    expect(ends).toEqual(["big", "small", "big"]);
    expect(made.store.usage.list("2026-01-01").map(({ model, turns }) => [model, turns])).toEqual([
      ["big", 2],
      ["small", 1],
    ]);
    const place = made.store.sessions.find("channel chat" as never, '["chat","room"]')!;
    expect(made.store.sessions.recentTurns(place, 1e6).map(({ model }) => model)).toEqual(["big", "small", "big"]);
  });

  test("with another name changes nothing, and repeats nothing of it", async () => {
    using made = messagingFixture(twoModels());
    await made.receive(said("/model gpt-evil"), said("one"));
    expect(made.chat.taken).toEqual(["No model of this name can be chosen here. There are: big, small.", "big says"]);
  });

  test("is a matter of its conversation, and stays when that begins anew", async () => {
    using made = messagingFixture(twoModels());
    await made.receive(saidIn("a", "/model small"));
    await made.receive(saidIn("a", "/new"), saidIn("b", "one"));
    await made.receive(saidIn("a", "one"));
    expect(made.chat.taken.slice(1).toSorted()).toEqual([NEW, "big says", "small says"]);
  });

  test("holds over a restart; one that the config offers no more counts as none, until it does again", async () => {
    const home = temporaryHome();
    using made = messagingFixture(twoModels());
    await made.receive(said("/model small"));
    afterKill(made.folder, home.path);
    {
      using next = messagingFixture(twoModels({ folder: home.path }));
      await next.receive(said("one"));
      expect(next.chat.taken).toEqual(["small says"]);
    }
    {
      using next = messagingFixture(twoModels({ folder: home.path, choices: ["tiny"] }));
      await next.receive(said("two"), said("/model"));
      expect(next.chat.taken).toEqual([
        "big says",
        expect.stringMatching(/^big answers here\. There are: big, tiny\./),
      ]);
    }
    using last = messagingFixture(twoModels({ folder: home.path }));
    await last.receive(said("three"));
    expect(last.chat.taken).toEqual(["small says"]);
    home.remove();
  });

  test("that the config takes away is gone with the reload", async () => {
    using made = messagingFixture(twoModels());
    await made.receive(said("/model small"), said("one"));
    const { choices: _, ...without } = twoModels();
    made.agent.reconfigure(made.set(without as AgentFixtureOptions));
    await made.receive(said("two"), said("/model"));
    expect(made.chat.taken.slice(1)).toEqual(["small says", "big says", "big answers here. No others are configured."]);
  });

  test("spends within the same limit", async () => {
    const config = {
      model: { provider: "openai", name: "big", price: DOLLAR },
      agent: { max_cost_per_day: 2 },
    } as const;
    using made = messagingFixture(twoModels({ config }));
    await made.receive(said("one"), said("/model small"), said("two"), said("three"));
    expect(made.chat.taken).toEqual([
      "big says",
      expect.any(String),
      "small says",
      expect.stringMatching(/^Sorry, .*reached its daily cost limit/),
    ]);
  });

  test("leaves a turn that was begun with its model, and what it did has an end", async () => {
    const open = gate();
    const model: MessagingFixtureOptions["model"] = ({ name }) =>
      thinking(async (options) => {
        if (options.prompt.length === 1) return [call("act")];
        await open.opened;
        return [text(`${name} says`)];
      });
    using made = messagingFixture(twoModels({ model, tools: [act] }));
    await made.receive(said("one"), said("/model small"));
    open.open();
    await quiet();
    expect(made.chat.taken).toEqual(["big says", "From the next message on, small answers here."]);
  });
});

describe("/status", () => {
  test("tells what is left to the person who asks, where each has a limit of its own", async () => {
    const config = {
      model: { provider: "openai", name: "big", price: DOLLAR },
      agent: { max_cost_per_day: 2.5, client_max_cost_per_day: 1 },
    } as const;
    using made = messagingFixture(twoModels({ config }));
    await made.receive(said("one"), said("/status"), said("two"));
    expect(made.chat.taken[1]).toContain("Today: $1.0000 of $2.5000.\nToday by you: $1.0000 of $1.0000.");
    expect(made.chat.taken[2]).toMatch(/^Sorry, .*: this client reached its daily cost limit\.$/);
  });

  test("tells agent, model, what waits, what was used and what is left, and no ids", async () => {
    const config = {
      model: { provider: "openai", name: "big", price: DOLLAR },
      agent: { max_cost_per_day: 2.5 },
    } as const;
    using made = messagingFixture(twoModels({ config }));
    await made.receive(said("/status"));
    expect(made.chat.taken).toEqual([
      [
        "Agent: default",
        "Model: big",
        "Nothing else runs or waits here.",
        "This conversation: nothing was answered yet.",
        "Today: $0.0000 of $2.5000.",
      ].join("\n"),
    ]);
    await made.receive(said("one"), said("/model small"), said("/status"), said("two"), said("three"));
    expect(made.chat.taken[3]).toBe(
      [
        "Agent: default",
        "Model: small",
        "2 messages wait here.",
        "This conversation: 1 answer, 10 tokens in, 5 out, $1.0000.",
        "Today: $1.0000 of $2.5000.",
      ].join("\n"),
    );
    await made.receive(said("/new"), said("/status"));
    expect(made.chat.taken.at(-1)).toContain("nothing was answered yet");
    expect(made.chat.taken.join()).not.toMatch(/\+49170|in-\d|[0-9a-f]{8}-/);
  });

  test("of a model without a price tells no cost, and of a conversation in which one waits says so", async () => {
    const config = { model: { provider: "openai", name: "big" } } as const;
    using made = messagingFixture({ config });
    await made.receive(said("one"), said("/status"), said("two"));
    expect(made.chat.taken[1]).toBe(
      "Agent: default\nModel: big\n1 message waits here.\nThis conversation: 1 answer, 10 tokens in, 5 out.",
    );
  });
});
