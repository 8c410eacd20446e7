// Idempotency keys of turns that fail: one that acted must not run again, one that did not must be allowed to.
import { describe, expect, test } from "vitest";
import { SvcError } from "@svc/contract";
import type { Store } from "@svc/store";
import { act, ask, call, failure, agentFixture, rolesOf, scripted, text } from "./agent-fixture.ts";

const claim = { scope: "client", key: "k" };
const claimed = (store: Store) => store.idempotency.claim(claim);

describe("idempotency keys", () => {
  test("a turn that answered keeps its key", async () => {
    const { agent, store } = agentFixture({ model: scripted([text("yes")]) });
    expect(claimed(store)).toBe("new");
    await ask(agent, "go", { claim });
    expect(claimed(store)).toBe("duplicate");
  });

  test("a turn that failed before anything acted gives it back, even after a reading tool", async () => {
    const { agent, store } = agentFixture({ model: scripted([call("read")], new Error("model down")) });
    claimed(store);
    expect(await failure(ask(agent, "go", { claim }))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(claimed(store)).toBe("new");
  });

  test("a turn that failed after something acted keeps it, and the conversation tells what happened", async () => {
    const model = scripted([call("act")], new Error("model down"), [text("so I did")]);
    const { agent, store } = agentFixture({ model });
    claimed(store);
    expect(await failure(ask(agent, "go", { claim, session: "s" }))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(claimed(store)).toBe("duplicate");
    await ask(agent, "what happened?", { session: "s" });
    expect(rolesOf(model.asked.at(-1))).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  });

  test("a turn cut off between two calls tells of the one that did not run, or the provider refuses the next turn", async () => {
    const cancel = new AbortController();
    const stop = { ...act, name: "stop", run: () => Promise.reject((cancel.abort(), cancel.signal.reason)) };
    const model = scripted([call("act"), call("stop"), call("act", {}, "third")], [text("I see")]);
    const { agent } = agentFixture({ model, tools: [act, stop] });
    expect(await failure(ask(agent, "go", { session: "s", signal: cancel.signal }))).toMatchObject({
      code: "TURN_CANCELLED",
    });
    await ask(agent, "what happened?", { session: "s" });
    const results = model.asked[1]!.prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
    expect(results.map((part) => (part.type === "tool-result" ? part.toolCallId : "")).toSorted()).toEqual([
      "call-act",
      "call-stop",
      "third",
    ]);
    expect(JSON.stringify(results)).toContain("interrupted, outcome unknown");
  });

  test("a call whose start found no room on the disk did not act: the key is given back", async () => {
    const { store } = agentFixture({});
    let isFull = true;
    const full: Store = {
      ...store,
      // What a group commit does: the change is made, and undone.
      write: (change) => {
        if (!isFull) return store.write(change);
        isFull = false;
        return store.write(() => {
          change();
          throw new SvcError("STORE_FULL");
        });
      },
    };
    const { agent } = agentFixture({ model: scripted([call("act")]), store: full });
    claimed(store);
    expect(await failure(ask(agent, "go", { claim }))).toMatchObject({ code: "STORE_FULL" });
    expect(claimed(store)).toBe("new");
  });

  test("a turn refused by a refused tool call acted on nothing", async () => {
    const { agent, store } = agentFixture({
      model: scripted([call("act")], new Error("down")),
      tools: [act],
      verdict: "ask",
    });
    claimed(store);
    expect(await failure(ask(agent, "go", { claim }))).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(claimed(store)).toBe("new");
  });
});
