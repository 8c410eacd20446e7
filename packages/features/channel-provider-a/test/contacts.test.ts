// The name of the wrong person, or a delivery full of contacts that keeps everybody else waiting while it is read.
import { describe, expect, test } from "vitest";
import { contactNames } from "../src/delivery.ts";
import { parsed } from "./harness.ts";

const contact = (id: string, name: string) => ({ wa_id: id, profile: { name } });

describe("the name of who wrote", () => {
  test("is that of the contact with the number, else with the user id, else of the only one", () => {
    const nameOf = contactNames([
      contact("1", "Ann"),
      contact("1", "Impostor"),
      { user_id: "DE.x", profile: { username: "bo" } },
    ]);
    expect(nameOf({ from: "1" })).toBe("Ann");
    expect(nameOf({ from: "2", from_user_id: "DE.x" })).toBe("bo");
    expect(nameOf({ from: "2" })).toBeUndefined();
    expect(contactNames([contact("5215550001", "Cy")])({ from: "525550001" })).toBe("Cy");
    for (const list of [undefined, {}, [null, 1], [{ wa_id: {} }]]) expect(contactNames(list)({})).toBeUndefined();
  });

  test("is looked up: thousands of messages look at each of thousands of contacts once", () => {
    let looks = 0;
    const contacts = Array.from({ length: 1000 }, (_, n) => ({
      get wa_id() {
        looks += 1;
        return `c${n}`;
      },
    }));
    const nameOf = contactNames(contacts);
    for (let n = 0; n < 1000; n += 1) nameOf({ from: "nobody" });
    expect(looks).toBe(1000);
  });
});

test.each([
  ["a number", "+15557654321"],
  ["too short", "15557654321"],
  ["too long", "g".repeat(257)],
  ["a megabyte", "g".repeat(900_000)],
  ["words", "a group / with spaces in it"],
])("a group that is none of the platform's can't be answered, and is nobody's conversation: %s", (_what, groupId) => {
  const message = { from: "15551234567", group_id: groupId, id: "wamid.1", type: "text", text: { body: "x" } };
  expect(parsed(JSON.stringify({ entry: [{ changes: [{ value: { messages: [message] } }] }] })).inbound).toEqual([]);
});
