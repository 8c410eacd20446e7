// Which messages a topic filter matches decides what starts by itself: by section 4.7 of MQTT 3.1.1, and by the broker's own
// judgement, which sends what matches its copy of the filter.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { topicFilterFault, topicMatches, TopicTree } from "../src/triggers/topic-filter.ts";

describe("a topic filter", () => {
  test.each([
    ["sport/tennis/player1/#", "sport/tennis/player1", true],
    ["sport/tennis/player1/#", "sport/tennis/player1/ranking", true],
    ["sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true],
    ["sport/tennis/player1/#", "sport/tennis/player10", false],
    ["a/#", "a", true],
    ["a/#", "a/", true],
    ["sport/tennis/+", "sport/tennis/player1/ranking", false],
    ["sport/+", "sport", false],
    ["sport/+", "sport/", true],
    ["+/+", "/finance", true],
    ["/+", "/finance", true],
    ["+", "/finance", false],
    ["#", "$SYS/broker", false],
    ["+/monitor/Clients", "$SYS/monitor/Clients", false],
    ["$SYS/#", "$SYS/broker", true],
    ["$SYS/#", "$SYS", true],
    ["$SYS/monitor/+", "$SYS/monitor/Clients", true],
    ["ACCOUNTS", "Accounts", false],
    ["a//b", "a/b", false],
    ["a/+/b", "a//b", true],
  ])("%s and the topic %s: %s", (filter, topic, expected) => {
    expect(topicFilterFault(filter)).toBeUndefined();
    expect(topicMatches(filter, topic)).toBe(expected);
  });

  test.each(["a/#/b", "a#", "#/a", "a+", "a/+b", "++", "a\0b", "$share/group/a", "x".repeat(65_536)])(
    "%.20j is none",
    (filter) => {
      expect(topicFilterFault(filter)).toMatch(/^must|^may/);
    },
  );
});

/** Section 4.7 once more, as a regular expression. */
function naive(filter: string, topic: string): boolean {
  if (topic.startsWith("$") && /^[+#]/.test(filter)) return false;
  const quoted = filter.replaceAll(/[.*?^${}()|[\]\\]/g, "\\$&").replaceAll("+", "[^/]*");
  const pattern = quoted === "#" ? ".*" : quoted.replace(/\/#$/, "(?:/.*)?");
  return new RegExp(`^${pattern}$`, "s").test(topic);
}

const level = fc.constantFrom("a", "b", "", "$s", ".");
const topics = fc.array(level, { minLength: 1, maxLength: 5 }).map((levels) => levels.join("/"));
const filters = fc
  .tuple(fc.array(fc.oneof(level, fc.constant("+")), { maxLength: 4 }), fc.boolean())
  .map(([levels, open]) => (open || levels.length === 0 ? [...levels, "#"] : levels).join("/"));

test("a tree of filters finds what each filter alone matches", () => {
  fc.assert(
    fc.property(fc.array(filters, { maxLength: 20 }), topics, (all, topic) => {
      const tree = new TopicTree<number>();
      for (const [index, filter] of all.entries()) tree.add(filter, index);
      const expected = all.flatMap((filter, index) => (naive(filter, topic) ? [index] : []));
      expect(tree.matching(topic).toSorted((a, b) => a - b)).toEqual(expected);
    }),
    { numRuns: cases(1000) },
  );
});

test("a topic of 32 000 levels is looked up at once", () => {
  const tree = new TopicTree<string>();
  for (const filter of ["#", "+/+/+", "a/#"]) tree.add(filter, filter);
  expect(tree.matching("a/".repeat(32_000))).toEqual(["#", "a/#"]);
});
