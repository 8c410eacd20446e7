// The wall clock jumps: NTP after a boot, an operator, a battery that is empty. A delivery that was handled must not become
// new by it, and one that is being handled never does.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fixture } from "./fixture.ts";

const YEAR_MS = 31_536_000_000;
const KEY = { scope: "c", key: "delivery-1" };

test("a key that was kept stays a duplicate when the clock is set back, and over a restart", async () => {
  using at = fixture();
  const first = at.open();
  expect(first.idempotency.claim(KEY)).toBe("new");
  await first.write(() => first.idempotency.keep(KEY, "turn", "done"));
  first.idempotency.release(KEY);
  at.clock.setWallClock(at.clock.now() - YEAR_MS);
  expect(first.idempotency.claim(KEY)).toBe("duplicate");
  first.close();
  const again = at.open();
  expect(again.idempotency.claim(KEY)).toBe("duplicate");
  again.close();
});

test("a jump ahead and back again forgets nothing, though other keys are claimed and kept in between", async () => {
  using at = fixture();
  const store = at.open();
  const keep = async (key: string): Promise<void> => {
    const claim = { scope: "c", key };
    store.idempotency.claim(claim);
    await store.write(() => store.idempotency.keep(claim, `turn-${key}`, "done"));
    store.idempotency.release(claim);
  };
  await keep("delivery-1");
  const now = at.clock.now();
  at.clock.setWallClock(now + YEAR_MS);
  await keep("another");
  at.clock.setWallClock(now);
  expect(store.idempotency.claim(KEY)).toBe("duplicate");
  store.close();
});

test("a key whose turn runs is a duplicate, whatever the clock says", () => {
  using at = fixture();
  const store = at.open();
  const start = at.clock.now();
  expect(store.idempotency.claim(KEY)).toBe("new");
  fc.assert(
    fc.property(fc.integer({ min: -start, max: 10 * YEAR_MS }), (moveMs) => {
      at.clock.setWallClock(start + moveMs);
      expect(store.idempotency.claim(KEY)).toBe("duplicate");
    }),
  );
  store.close();
});
