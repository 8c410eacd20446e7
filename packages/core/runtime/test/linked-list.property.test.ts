// A queue that forgets somebody makes a turn wait for ever; one that forgets nothing fills the memory.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Link, LinkedList } from "../src/index.ts";

const step = fc.oneof(
  fc.constant({ do: "add" as const }),
  fc.constant({ do: "shift" as const }),
  fc.record({ do: fc.constantFrom("delete" as const, "move" as const), which: fc.nat({ max: 30 }) }),
);

test("behaves like an array, whoever leaves whenever", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const list = new LinkedList<number>();
      let expected: number[] = [];
      const links: Link<number>[] = [];
      const told: unknown[] = [];
      const right: unknown[] = [];
      for (const action of steps) {
        const link = "which" in action ? links[action.which] : undefined;
        if (action.do === "add") {
          expected.push(links.length);
          links.push(list.add(links.length));
        } else if (action.do === "shift") {
          told.push(list.shift());
          right.push(expected.shift());
        } else if (link && action.do === "move") {
          list.moveToEnd(link);
          if (expected.includes(link.item)) expected = [...expected.filter((item) => item !== link.item), link.item];
        } else if (link) {
          told.push(list.delete(link));
          right.push(expected.includes(link.item));
          expected = expected.filter((item) => item !== link.item);
        }
        told.push(list.items(), list.size, list.first);
        right.push([...expected], expected.length, expected[0]);
      }
      expect(told).toEqual(right);
    }),
  );
});

test("a link that is out leads nowhere, and is not taken out of another list", () => {
  const list = new LinkedList<string>();
  const other = new LinkedList<string>();
  const [one, two] = [list.add("one"), list.add("two")];
  const foreign = other.add("foreign");
  expect(list.delete(foreign)).toBe(false);
  list.delete(one);
  expect([one.list, one.previous, one.next, two.previous]).toEqual([undefined, undefined, undefined, undefined]);
  expect(list.delete(one)).toBe(false);
  expect(other.items()).toEqual(["foreign"]);
});
