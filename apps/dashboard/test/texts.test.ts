// The page speaks the language that its browser asks for, and counts, dates and pays in it; a wrong plural or a lost value is the bug here.
import { afterEach, describe, expect, test } from "vitest";
import { dates, languageOf, number, rich, showLanguage, t, wordOf } from "../src/texts/texts.ts";
import { brief, bytes, dollars, duration, relative } from "../src/texts/format.ts";

afterEach(() => showLanguage("en"));

describe("the language of a browser", () => {
  const browser = (languages: readonly string[], chosen: string | null = null) =>
    languageOf({
      navigator: { languages } as Navigator,
      localStorage: { getItem: () => chosen } as unknown as Storage,
    });

  test.each([
    [["de-AT", "en"], "de"],
    [["fr", "zh-CN", "de"], "zh-Hans"],
    [["zh"], "zh-Hans"],
    [["zh-Hans-SG"], "zh-Hans"],
    [["zh-TW", "de"], "de"],
    [["zh-Hant"], "en"],
    [["EN-us", "de"], "en"],
    [["pt-BR"], "en"],
    [[], "en"],
  ])("%j gets %s", (languages, wanted) => expect(browser(languages)).toBe(wanted));

  test("is the chosen one if the page has it", () => {
    expect(browser(["en"], "de")).toBe("de");
    expect(browser(["de"], "tlh")).toBe("de");
  });

  test("needs no storage", () => {
    const blocked = { getItem: () => void expect.fail("read") } as unknown as Storage;
    expect(languageOf({ navigator: { languages: ["de"] } as unknown as Navigator, localStorage: blocked })).toBe("de");
  });
});

test("a text has its values and its plural form", async () => {
  expect(t("chats.n-results", { n: 1 })).toBe("1 result");
  expect(t("chats.n-results", { n: 1234 })).toBe("1,234 results");
  expect(t("approvals.said-once", { title: "{title} $& $1" })).toBe("Approved: {title} $& $1");
  await showLanguage("de");
  expect([1, 2, 1234].map((n) => t("chats.n-results", { n }))).toEqual([
    "1 Ergebnis",
    "2 Ergebnisse",
    "1.234 Ergebnisse",
  ]);
  await showLanguage("zh-Hans");
  expect(t("chats.n-results", { n: 1 })).toBe("1 条结果");
});

test("elements are where the language has their placeholders", async () => {
  const values = { agent: "A", tool: "T" };
  expect(rich("approvals.the-agent-may-use-without", values)).toEqual([
    "The agent ",
    "A",
    " may use ",
    "T",
    " without asking, exactly:",
  ]);
  await showLanguage("de");
  expect(rich("approvals.the-agent-may-use-without", values)).toContain("A");
});

test("a daemon's identifier is translated, or shown unchanged", async () => {
  await showLanguage("de");
  expect([wordOf("waiting_approval"), wordOf("never_heard-of")]).toEqual(["wartet auf Freigabe", "never heard of"]);
});

test.each([
  ["en", "2 minutes ago", "3 min 4 s", "121.0 MB", "$0.0123", "1,234.5", "18 November 2026"],
  ["de", "vor 2 Minuten", "3 min 4 s", "121,0 MB", "0,0123 $", "1.234,5", "18. November 2026"],
  ["zh-Hans", "2分钟前", "3 分钟 4 秒", "121.0 MB", "US$0.0123", "1,234.5", "2026年11月18日"],
] as const)("times, sizes, money and numbers in %s", async (language, ago, took, size, cost, figure, day) => {
  await showLanguage(language);
  const at = Date.UTC(2026, 10, 18, 12);
  expect(relative(at - 120_000, at)).toBe(ago);
  expect([duration(184_000), bytes(121_000_000), dollars(0.0123)].map(plainSpaces)).toEqual([took, size, cost]);
  expect(number(1234.5)).toBe(figure);
  expect(dates({ dateStyle: "long", timeZone: "UTC" }).format(at)).toBe(day);
  expect(brief(at - 300_000, at)).toBe(t("unit.min", { n: 5 }));
});

const plainSpaces = (text: string): string => text.replaceAll(/\s/gu, " ");
