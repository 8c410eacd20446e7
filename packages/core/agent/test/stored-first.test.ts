// A message that is answered, or acted on, and that a kill could still lose; two commits where one would do.
import { SvcError } from "@svc/contract";
import { openStore, type Store } from "@svc/store";
import { describe, expect, test } from "vitest";
import type { StoredMessage } from "../src/types.ts";
import { fakeClock } from "@svc/testkit/fake-clock";
import { act, ask, call, failure, gate, hang, agentFixture, scripted, text, until } from "./agent-fixture.ts";

/** A store whose commits wait for the gate, and are counted. */
function slowDisk(refuses: () => SvcError | undefined = () => undefined) {
  const store = openStore({ file: ":memory:", clock: fakeClock(), idempotency: { ttlMs: 1000, maxKeys: 10 } });
  const disk = gate();
  let commits = 0;
  const write: Store["write"] = async (change) => {
    commits += 1;
    await disk.opened;
    const refused = refuses();
    if (refused) throw refused;
    return store.write(change);
  };
  return { store: { ...store, write } as Store, disk, commits: () => commits };
}

const untilAsked = (model: { asked: readonly unknown[] }): Promise<void> => until(() => model.asked.length > 0);
const aWhile = async (): Promise<void> => {
  for (let turns = 0; turns < 10; turns += 1) await new Promise(setImmediate);
};

describe("before the message is on disk", () => {
  test("the model is asked, but no tool runs and nothing is told; then all of it, in order", async () => {
    const { store, disk } = slowDisk();
    const ran: string[] = [];
    const tool = { ...act, run: async () => ran.push("act") };
    const model = scripted([call("act")], [text("d")]);
    const { agent, events } = agentFixture({ store, model, tools: [tool], isListened: () => true });
    const told: (string | StoredMessage)[] = [];
    const turn = ask(agent, "go", {
      onStored: () => told.push("stored"),
      onEvent: ({ type }: { type: string }) => told.push(type),
    });
    await untilAsked(model);
    await aWhile();
    expect({ ran, told, events }).toEqual({ ran: [], told: [], events: [] });
    disk.open();
    await turn;
    expect(ran).toEqual(["act"]);
    expect(told).toEqual(["stored", "turn-start", "tool-call", "tool-result", "text-delta", "turn-end"]);
    expect(events.map(({ type }) => type)).toEqual(told.slice(1));
  });

  test("a disk that refuses it ends the turn at once: nothing is told, kept or answered", async () => {
    const { store, disk } = slowDisk(() => new SvcError("STORE_FULL"));
    const model = scripted(hang);
    const { agent, events } = agentFixture({ store, model, isListened: () => true });
    const told: string[] = [];
    const turn = failure(ask(agent, "go", { onStored: () => told.push("stored") }));
    await untilAsked(model);
    disk.open();
    expect(await turn).toMatchObject({ code: "STORE_FULL" });
    expect({ told, events, list: agent.sessions.list({}, 5) }).toEqual({ told: [], events: [], list: [] });
  });
});

describe("a turn that ends at once", () => {
  test("is one commit, and told as any other", async () => {
    const { store, disk, commits } = slowDisk();
    disk.open();
    const { agent, events } = agentFixture({ store, model: scripted([text("y")]) });
    const told: string[] = [];
    await ask(agent, "go", {
      onStored: () => told.push("stored"),
      onEvent: ({ type }: { type: string }) => told.push(type),
    });
    expect(commits()).toBe(1);
    expect(told).toEqual(["stored", "turn-start", "text-delta", "turn-end"]);
    expect(events.map(({ type }) => type)).toEqual(told.slice(1));
    expect(store.openTurns.all()).toEqual([]);
  });

  test("and that the disk refuses was never told to be stored", async () => {
    const { store, disk } = slowDisk(() => new SvcError("STORE_FULL"));
    disk.open();
    const { agent, events } = agentFixture({ store, model: scripted([text("y")]) });
    const told: string[] = [];
    expect(await failure(ask(agent, "go", { onStored: () => told.push("stored") }))).toMatchObject({
      code: "STORE_FULL",
    });
    expect({ told, events }).toEqual({ told: [], events: [] });
  });
});
