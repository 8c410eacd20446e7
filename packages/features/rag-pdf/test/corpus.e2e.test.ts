// PDFs of twenty programs (fixtures/make.sh): their words come in the order in which pdftotext gives them, page by page.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { requireReal } from "@svc/testkit/require-real";
import { describe, expect, test } from "vitest";
import { similarity, wordsOf } from "./similarity.ts";
import { fixture, type PdfAnswer, reading } from "./reading.ts";

const FOLDER = `${import.meta.dirname}/fixtures`;
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".pdf") && !name.startsWith("encrypted-") && name !== "broken-truncated.pdf")
  .map((name) => name.slice(0, -4));

/** Least likeness of any page. Where pdftotext takes the words of a line apart, ours are the ones that a person reads. */
const FLOORS: Readonly<Record<string, number>> = {
  "cairo-pages": 0.69, // a table, which pdftotext gives by columns and we by rows
  "inkscape-poster": 0.6, // pdftotext puts the second line last
  "libreoffice-calc": 0.93, // the heading is drawn before the table, with the foot
  "librsvg-poster": 0.6,
  "pdflatex-article": 0.94, // a table again
  "poppler-cairo-again": 0.94,
  "qpdf-object-streams": 0.94,
  "pdflatex-two-columns": 0.94, // pdftotext puts the abstract behind the first section
  "pdflatex-bitmap": 0.93, // pdftotext puts the end of a sentence behind the number of the page
  "qpdf-rotated": 0.93, // pdftotext takes the table of a turned page apart
  "qpdf-scan-among-text": 0.69, // the same table
  "reportlab-form": 0.83, // what was filled in comes last, with its name
};
const FLOOR = 0.99;

test("there are at least thirty of them", () => expect(NAMES.length).toBeGreaterThan(30));

describe("words in order, as pdftotext has them", () => {
  const { read } = reading();
  test.for(NAMES)("%s", async (name, context) => {
    const expected = (await pdftotext(name)) ?? requireReal(context, PDFTOTEXT);
    const answer = await whole(read, name);
    expect(answer.map(({ page }) => page)).toEqual(expected.map((_, at) => at + 1));
    const worst = Math.min(...answer.map(({ text }, at) => similarity(wordsOf(text), wordsOf(expected[at] ?? ""))));
    expect(worst).toBeGreaterThanOrEqual(FLOORS[name] ?? FLOOR);
  });
});

/** All pages, however many answers that takes; one without text as an empty one. */
async function whole(
  read: ReturnType<typeof reading>["read"],
  name: string,
): Promise<{ page: number; text: string }[]> {
  const texts = new Map<number, string>();
  let count = 0;
  for (let next: Partial<PdfAnswer> | undefined = { next_page: 1 }; next;) {
    const answer: PdfAnswer = await read(fixture(name), {
      pages: `${next.next_page}-`,
      offset: next.next_offset ?? 0,
    });
    count = answer.page_count;
    for (const { page, text } of answer.pages) texts.set(page, (texts.get(page) ?? "") + text);
    next = answer.truncated ? answer : undefined;
  }
  return Array.from({ length: count }, (_, at) => ({ page: at + 1, text: texts.get(at + 1) ?? "" }));
}

const PDFTOTEXT = { name: "pdftotext", reason: "it is not on PATH; apt-get install poppler-utils" };

/** By page; undefined: there is no such program here. */
async function pdftotext(name: string): Promise<string[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)("pdftotext", ["-enc", "UTF-8", `${FOLDER}/${name}.pdf`, "-"]);
    // A form feed ends each page.
    return stdout.split("\f").slice(0, -1);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

describe("what else is in them", () => {
  const { read, readAsFile } = reading();
  const textOf = async (name: string): Promise<string> =>
    (await read(fixture(name))).pages.map(({ text }) => text).join("\n");

  test("letters that the file does not bring along, by encodings of before Unicode too", async () => {
    const text = await textOf("reportlab-cjk-not-embedded");
    for (const words of ["灯塔立在长长的沙嘴尽头", "灯台は長い砂嘴の先に立っている", "등대는 긴 모래톱 끝에 서 있다"])
      expect(text).toContain(words);
    for (const words of ["毎朝、天気を書き留めた", "每天早晨记录天气", "每天早晨記錄天氣", "매일 아침 날씨를 적었다"])
      expect(text).toContain(words);
  });

  test("ligatures are letters, right-to-left is in the order of reading, and no mark steers a terminal", async () => {
    const text = await textOf("chromium-scripts");
    expect(text).toContain("المنارة تقف في نهاية اللسان");
    expect(text).toContain("המגדלור עומד בקצה לשון החוף הארוכה");
    expect(text).not.toMatch(/[\u202A-\u202E]/);
    expect(await textOf("pdflatex-article")).toContain(
      "Difficult offices are efficient when the staff finds a fluffy flag: affluent",
    );
  });

  test("a word that was parted at the end of a line is whole", async () => {
    expect(await textOf("pdflatex-two-columns")).toContain("takes away some forty centimetres of the cliff");
  });

  test("rows of a table stay rows, and its cells apart", async () => {
    expect(await textOf("libreoffice-calc")).toContain("Little Skerry  3  77  1");
  });

  test("what was filled in to a form, after the text", async () => {
    expect(await textOf("reportlab-form")).toMatch(/See the rules of the harbour\n\nName of the boat: Sea Holly/);
  });

  test("title, author, producer, dates", async () => {
    expect(await read(fixture("hand-metadata"))).toEqual({
      page_count: 1,
      title: "Übersicht Mai",
      author: "The almanac",
      subject: expect.not.stringContaining("\u001B"),
      producer: "by hand",
      created: "2020-05-01T08:00:00+02:00",
      modified: "2021",
      pages: [{ page: 1, text: "Metadata is in UTF-16" }],
      truncated: false,
    });
  });

  test("a page that is a picture is told of", async () => {
    const answer = await read(fixture("qpdf-scan-among-text"));
    expect(answer.notes).toEqual(["Page 2 has no text; it may be a scan."]);
    expect(answer.pages.map(({ page }) => page)).toEqual([1, 3, 4]);
    expect(await read(fixture("img2pdf-scan"))).toMatchObject({
      pages: [],
      notes: ["Page 1 has no text; it may be a scan."],
    });
  });

  test("page ranges, and pages beyond the end", async () => {
    const answer = await read(fixture("pdflatex-long"), { pages: "138-500, 7 ,1-2" });
    expect(answer.pages.map(({ page }) => page)).toEqual([1, 2, 7, 138, 139, 140]);
    expect(answer).toMatchObject({ page_count: 140, truncated: false });
    await expect(read(fixture("pdflatex-long"), { pages: "141-" })).rejects.toMatchObject({
      code: "TOOL_BAD_INPUT",
      message: "There is no such page: the PDF has 140 pages.",
    });
  });

  test("in small answers it is the same text, nothing lost and nothing twice", async () => {
    const texts = new Map<number, string>();
    const small = { max_chars: 2500 };
    let input: object | undefined = { ...small, pages: "1-3" };
    while (input) {
      const answer: PdfAnswer = await read(fixture("pdflatex-two-columns"), input);
      expect(JSON.stringify(answer.pages).length).toBeLessThanOrEqual(2520);
      for (const { page, text } of answer.pages) texts.set(page, (texts.get(page) ?? "") + text);
      input = answer.truncated
        ? { ...small, pages: `${answer.next_page}-`, offset: answer.next_offset ?? 0 }
        : undefined;
    }
    const all = await read(fixture("pdflatex-two-columns"), { max_chars: 49_152 });
    expect([...texts].map(([page, text]) => ({ page, text }))).toEqual(all.pages);
  });

  test("as a file: all pages as one text, in pieces of any size", async () => {
    const { text: all, nextOffset, notes } = await readAsFile(fixture("qpdf-scan-among-text"), 0, 49_152);
    expect([nextOffset, notes]).toEqual([undefined, ["Page 2 has no text; it may be a scan."]]);
    expect(all).toMatch(/^\[page 1\]\nLetter to the keeper[^]*\n\n\[page 2\]\n\n\n\[page 3\]\nLeaves[^]*\[page 4\]/);
    const scripts = (await readAsFile(fixture("chromium-scripts"), 0, 49_152)).text;
    let joined = "";
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const part: Awaited<ReturnType<typeof readAsFile>> = await readAsFile(fixture("chromium-scripts"), offset, 301);
      expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(301);
      joined += part.text;
      offset = part.nextOffset;
    }
    expect(joined).toBe(scripts);
    expect(await readAsFile(fixture("chromium-scripts"), 1_000_000, 100)).toEqual({
      text: "",
      nextOffset: undefined,
      notes: [],
    });
  });

  test.each(["encrypted-aes256", "encrypted-rc4-40"])("%s needs a password", async (name) => {
    await expect(read(fixture(name))).rejects.toMatchObject({ code: "PDF_ENCRYPTED" });
  });

  test("cut off before anything leads to its pages", async () => {
    await expect(read(fixture("broken-truncated"))).rejects.toMatchObject({
      code: "PDF_INVALID",
      message: expect.stringMatching(/damaged, or cut off/),
    });
  });
});
