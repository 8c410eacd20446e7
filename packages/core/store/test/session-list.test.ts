// Thousands of conversations must stay in order, be found by what was said, and leave nothing in the index when they go.
import { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { checkDatabase, phrasesOf, type Store, wordsOf } from "../src/index.ts";
import { indexedWords, shortened } from "../src/sessions/search-index.ts";
import { fixture, type Fixture, session, turn } from "./fixture.ts";

let home: Fixture;
let store: Store;
beforeEach(() => {
  home = fixture();
  store = home.open();
  return () => {
    store.close();
    home[Symbol.dispose]();
  };
});

const texts = (...said: readonly string[]) =>
  said.map((text, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text }] }));

let turns = 0;
const say = (name: string, said: readonly string[], client = "c"): Promise<unknown> =>
  store.write(() => {
    const one = session(name, client);
    const place = store.sessions.find(one.clientId, name);
    return store.sessions.append(one, place, turn(`t${(turns += 1)}-${name}`, { messages: texts(...said) }));
  });

const namesOf = (found: readonly { session: { name: string } }[]): string[] => found.map((one) => one.session.name);
const find = (query: string, clientId?: string, before?: number) =>
  store.sessions.search(phrasesOf(query), { clientId: clientId as ClientId | undefined }, 10, before);

describe("the list", () => {
  test("has pinned ones first and goes on after any row of it", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await say(name, [name]);
    await store.write(() => {
      store.sessions.change("id-c-b", { pinned: true }, 1);
      store.sessions.change("id-c-d", { archived: true }, 1);
    });
    const listed = store.sessions.list({}, 10);
    expect(listed.map(({ name }) => name)).toEqual(["b", "e", "d", "c", "a"]);
    for (const [index, { isPinned, newestTurn }] of listed.entries()) {
      const rest = store.sessions.list({}, 10, { isPinned, newestTurn });
      expect(rest).toEqual(listed.slice(index + 1));
    }
    expect(store.sessions.list({ archived: false }, 2).map(({ name }) => name)).toEqual(["b", "e"]);
    expect(store.sessions.list({ archived: true }, 2).map(({ name }) => name)).toEqual(["d"]);
    expect(store.sessions.list({ clientId: "other" as ClientId }, 2)).toEqual([]);
  });

  test("has the first words as a title until a person gives one, and the beginning of what was said last", async () => {
    await say("a", ["Why does the backup\nfail?  It did not before.", "The disk is full."]);
    expect(store.sessions.byId("id-c-a")).toMatchObject({
      title: "Why does the backup fail? It did not before.",
      preview: "The disk is full.",
      titledBy: "words",
    });
    await store.write(() => {
      store.sessions.change("id-c-a", { title: "Backup" }, 1);
      expect(store.sessions.suggestTitle("id-c-a", "A model's words")).toBe(false);
    });
    await say("a", ["thanks"]);
    expect(store.sessions.byId("id-c-a")).toMatchObject({ title: "Backup", titledBy: "person", preview: "thanks" });
    await store.write(() => store.sessions.change("id-c-a", { title: null }, 1));
    expect(store.sessions.byId("id-c-a")).toMatchObject({ titledBy: "words" });
    expect(store.sessions.byId("id-c-a")!.title).toMatch(/^Why does the backup/);
    await store.write(() => expect(store.sessions.suggestTitle("id-c-a", "Disk full")).toBe(true));
    expect(store.sessions.byId("id-c-a")).toMatchObject({ title: "Disk full", titledBy: "model" });
    expect(await store.write(() => store.sessions.change("none", { title: "x" }, 1))).toBe(false);
  });

  test("counts what no operator has read, and what came while it was read stays unread", async () => {
    for (const text of ["1", "2", "3"]) await say("a", [text]);
    const unread = () => store.sessions.byId("id-c-a")!.unread;
    expect(unread()).toBe(3);
    expect(await store.write(() => store.sessions.markRead("id-c-a", 2))).toBe(true);
    expect(unread()).toBe(1);
    expect(await store.write(() => store.sessions.markRead("id-c-a", 1))).toBe(false);
    expect(await store.write(() => store.sessions.markRead("id-c-a", 999))).toBe(true);
    await say("a", ["4"]);
    expect(unread()).toBe(1);
  });

  test("brings an archived conversation back with its next message", async () => {
    await say("a", ["1"]);
    await store.write(() => store.sessions.change("id-c-a", { archived: true }, 1));
    expect(store.sessions.list({ archived: false }, 9)).toEqual([]);
    await say("a", ["2"]);
    expect(store.sessions.list({ archived: false }, 9)).toHaveLength(1);
  });
});

describe("the search", () => {
  test("finds all words of a turn, whatever their case and accents, the newest first", async () => {
    await say("a", ["The Café in Zürich", "closed on Mondays"]);
    await say("b", ["a cafe, anywhere", "東京に行きました"]);
    expect(namesOf(find("CAFÉ"))).toEqual(["b", "a"]);
    expect(namesOf(find("cafe zurich mondays"))).toEqual(["a"]);
    expect(namesOf(find("京に"))).toEqual(["b"]);
    expect(namesOf(find("mond"))).toEqual(["a"]);
    expect(namesOf(find("mond cafe"))).toEqual([]);
    expect(namesOf(find('"in zurich"'))).toEqual(["a"]);
    expect(namesOf(find('"zurich in"'))).toEqual([]);
    const [first] = find("cafe");
    expect(namesOf(find("cafe", undefined, first!.n))).toEqual(["a"]);
  });

  test("holds one owner's conversations for one owner", async () => {
    await say("a", ["our secret plan"], "alice");
    await say("b", ["my secret plan"], "bob");
    expect(namesOf(find("secret", "alice"))).toEqual(["a"]);
    expect(namesOf(find("secret", "nobody"))).toEqual([]);
    expect(namesOf(find("secret"))).toEqual(["b", "a"]);
  });

  test.each([
    '"',
    '""',
    '"a',
    "a OR",
    "AND",
    "NOT a",
    "a NEAR/2 b",
    "words:x",
    "-a",
    "(",
    "))",
    "*",
    "^a",
    "a*b",
    "{a b}:c",
    "'; DROP TABLE turns; --",
    "\0",
    "\ud800",
    "%",
    "_",
    "\\",
    "𝕏",
    "\u202e",
    "a".repeat(200),
    "( ".repeat(100),
  ])("takes %j for words", async (query) => {
    await say("a", ["nothing in it"]);
    expect(() => find(query)).not.toThrow();
  });

  test("never fails, and finds every text by each of its words", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme", maxLength: 60 }),
        fc.string({ unit: "binary" }),
        async (text, q) => {
          await say("p", [text]);
          expect(() => find(q)).not.toThrow();
          const newest = `t${turns}-p`;
          for (const { word } of wordsOf(text).slice(0, 5)) {
            const found = store.sessions.search([{ words: [word], isOpen: false }], {}, 1);
            expect(found[0]?.turn.id).toBe(newest);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("forgets what was removed or is too old, in the same transaction", async () => {
    await say("a", ["apple one"]);
    await say("a", ["apple two"]);
    await say("b", ["apple three"]);
    await store.write(() => store.sessions.remove("id-c-a"));
    expect(namesOf(find("apple"))).toEqual(["b"]);
    const limits = { sessionDays: 0, maxSessions: 1, toolCallDays: 1, messageDays: 1 };
    await say("c", ["pear"]);
    await store.prune(limits, 1);
    expect(find("apple")).toEqual([]);
    const db = new DatabaseSync(home.file, { readOnly: true });
    expect(db.prepare("SELECT count(*) AS n FROM turn_words").get()).toEqual({ n: 1 });
    db.close();
    expect(await checkDatabase(home.file, { quick: false, clock: home.clock })).toMatchObject({ problems: [] });
  });

  test("finds turns that no batch has taken, after a kill, too, and adds each once", async () => {
    const long = "word ".repeat(180_000);
    for (let n = 0; n < 600; n += 1) await say("a", [`apple ${n}`]);
    await say("a", ["no letters: …"]);
    const rows = (): number => {
      const db = new DatabaseSync(home.file, { readOnly: true });
      const { n } = db.prepare("SELECT count(*) AS n FROM turn_words").get() as { n: number };
      db.close();
      return n;
    };
    expect(rows()).toBe(512);
    await say("b", [long, "apple long"]);
    await say("b", [long, "apple long too"]);
    await say("b", [long, "apple longer"]);
    // Many words are a batch, too.
    expect(rows()).toBe(603);
    store = home.crash(store);
    expect(store.sessions.search(phrasesOf("apple"), {}, 1000)).toHaveLength(603);
    expect(find("longer").map(({ turn: { id } }) => id)).toEqual([`t${turns}-b`]);
    expect(find("apple 599")).toHaveLength(1);
    expect(rows()).toBe(604);
    // The number of a turn that is removed is given to the next one.
    await store.write(() => store.sessions.remove("id-c-b"));
    await say("c", ["pear"]);
    expect(namesOf(find("pear"))).toEqual(["c"]);
    expect(find("longer")).toEqual([]);
  });

  test("does not show turns of a dropped conversation as another's that has its row number", async () => {
    await say("a", ["hidden treasure"], "alice");
    const db = new DatabaseSync(home.file);
    // Dropped, and not swept when the next conversation begins.
    db.exec("DELETE FROM sessions");
    db.close();
    await say("b", ["hello"], "bob");
    expect(find("treasure")).toEqual([]);
    expect(find("treasure", "bob")).toEqual([]);
  });

  test("has all that a killed process had committed, and nothing else", async () => {
    await say("a", ["kept words"]);
    store = home.crash(store);
    expect(namesOf(find("kept"))).toEqual(["a"]);
    await expect(
      store.write(() => {
        store.sessions.append(session("b"), undefined, turn("t-b", { messages: texts("undone words") }));
        throw new Error("the transaction fails");
      }),
    ).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(find("undone")).toEqual([]);
  });
});

test("words are told apart in every script, and know where they stand", () => {
  const text = "Übergröße 3½ naïve-東京タワー กา 한국어 x\u0301y";
  const words = wordsOf(text);
  expect(words.map(({ word }) => word).join(" ")).toBe("ubergroße 31 2 naive 東 京 タ ワ ー ก า 한국어 xy");
  for (const { start, end } of words) expect(text.slice(start, end)).not.toMatch(/\s/);
  expect(wordsOf("a".repeat(1000))).toEqual([{ word: "a".repeat(64), start: 0, end: 1000 }]);
});

test("a word of more than 64 characters is indexed by its first 64, wherever it stands", () => {
  for (let before = 0; before < 200; before += 1) {
    const text = (word: string): string => `${"ab ".repeat(before).slice(0, before)} ${word} end`;
    const wordsIn = (word: string): string => indexedWords([{ role: "user", text: text(word) }]);
    expect(wordsIn("x".repeat(65))).not.toContain("x".repeat(65));
    expect(wordsIn("x".repeat(65))).toContain(`${"x".repeat(64)} end`);
    expect(wordsIn("x".repeat(64))).toBe(text("x".repeat(64)));
    expect(wordsIn(`${"x".repeat(64)}-${"y".repeat(64)}`)).toBe(text(`${"x".repeat(64)}-${"y".repeat(64)}`));
  }
});

test("turns that are stored together are found, however many there are", async () => {
  await Promise.all(Array.from({ length: 1300 }, (_, n) => say(`s${n}`, [`word${n} shared`])));
  for (const n of [0, 511, 512, 575, 576, 1023, 1024, 1152, 1299]) {
    expect(store.sessions.search(phrasesOf(`"word${n}"`), {}, 10)).toHaveLength(1);
  }
});

test.each([
  ["a\u0007bell", 20, "a bell"],
  [" one line ", 20, "one line"],
  ["one  line\n\tonly", 20, "one line only"],
  ["cut between words here", 16, "cut between…"],
  ["nospacesinthisonehere", 10, "nospacesi…"],
  ["😀😀😀😀", 4, "😀…"],
])("%j in %i characters is %j", (text, most, short) => {
  expect(shortened(text, most)).toBe(short);
  expect(shortened(text, most).length).toBeLessThanOrEqual(most);
});

test("a line has one space between its words, whatever stood there", () => {
  const piece = fc.constantFrom("a", "b~", " ", "  ", "\n", "\t", "\0", "\u001f", "\u007f", "\u0085", "é", "\u2003");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      expect(shortened(text, 400)).toBe(
        text
          .split(/[\s\p{Cc}]+/u)
          .filter(Boolean)
          .join(" "),
      );
    }),
  );
});
