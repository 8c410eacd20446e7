// The live connection: a doubled event counts twice, a missed one leaves a list stale,
// and pages that reconnect at the same instant overload a starting daemon.
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Live, type LiveEvent, isNews, parseEventId } from "../src/client/live.ts";
import type { Topic } from "../src/client/topics.ts";

class FakeSocket extends EventTarget {
  readonly sent: unknown[] = [];
  readyState = 0;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.readyState = 3;
  }

  open(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }

  lose(): void {
    this.readyState = 3;
    this.dispatchEvent(new Event("close"));
  }

  tell(id: string, type: string, payload: object = {}): void {
    const data = JSON.stringify({ id, type, timestamp: "2026-01-01T00:00:00.000Z", payload });
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

function connected() {
  const sockets: FakeSocket[] = [];
  let checks = 0;
  const live = new Live({
    open: () => {
      sockets.push(new FakeSocket());
      return sockets.at(-1) as unknown as WebSocket;
    },
    check: async () => void (checks += 1),
  });
  const events: LiveEvent[] = [];
  const stale: (readonly Topic[] | undefined)[] = [];
  live.listen({ event: (event) => events.push(event), stale: (topics) => stale.push(topics) });
  live.start();
  const last = (): FakeSocket => sockets.at(-1)!;
  return { live, sockets, last, events, stale, checks: () => checks };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("the connection", () => {
  test("resumes after the last event, without doubles", () => {
    const { live, last, events, sockets } = connected();
    last().open();
    last().tell("boot-1", "turn-start");
    last().tell("boot-2", "turn-end");
    last().lose();
    expect(live.state.value).toBe("reconnecting");
    vi.advanceTimersByTime(400);
    expect(sockets).toHaveLength(2);
    last().open();
    expect(last().sent).toEqual([{ type: "resume", last_event_id: "boot-2" }]);
    last().tell("boot-2", "turn-end");
    last().tell("boot-3", "turn-start");
    expect(events.map(({ id }) => id)).toEqual(["boot-1", "boot-2", "boot-3"]);
  });

  test("marks all lists stale after a reconnect, dropped events, and a restart of the daemon", () => {
    const { last, stale } = connected();
    last().open();
    last().tell("one-7", "message-received");
    expect(stale).toEqual([undefined, ["status", "inbox"]]);
    last().tell("one-9", "events-dropped", { reason: "slow" });
    last().tell("two-1", "text-delta");
    expect(stale.slice(2)).toEqual([undefined, undefined]);
  });

  test("retries with growing delays and checks the sign-in", async () => {
    const { live, last, sockets, checks } = connected();
    last().lose();
    for (const waitMs of [400, 800, 1_600]) {
      const before = sockets.length;
      await vi.advanceTimersByTimeAsync(waitMs);
      expect(sockets.length).toBe(before + 1);
      last().lose();
    }
    expect(checks()).toBe(3);
    live.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(4);
  });

  test("ignores a dropped connection and invalid frames", () => {
    const { live, last, sockets, events } = connected();
    last().open();
    live.reconnect();
    sockets[0]!.tell("boot-1", "turn-start");
    sockets[0]!.lose();
    expect(sockets).toHaveLength(2);
    last().open();
    for (const data of ["", "{", "null", "7", '{"type":1}', '{"id":"x","type":"turn-start"}']) {
      last().dispatchEvent(new MessageEvent("message", { data }));
    }
    expect(events).toEqual([]);
    expect(live.state.value).toBe("open");
  });
});

describe("ids of events", () => {
  test("parse any text or reject it, and round-trip", () => {
    fc.assert(fc.property(fc.string(), (text) => void parseEventId(text)));
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme-ascii" }), fc.nat(), (boot, n) => {
        expect(parseEventId(`${boot}-${n}`)).toEqual({ boot, n });
      }),
    );
  });

  test("are new after a restart of the daemon", () => {
    expect(isNews({ boot: "b", n: 1 }, { boot: "a", n: 9 })).toBe(true);
    expect(isNews({ boot: "a", n: 9 }, { boot: "a", n: 9 })).toBe(false);
  });
});
