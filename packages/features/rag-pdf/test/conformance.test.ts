// `pdf_read` keeps what every tool keeps, asks no one, and starts no process before it is called.
import { SvcError } from "@svc/contract";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import * as v from "valibot";
import { expect, test } from "vitest";
import definition from "../src/index.ts";
import type { PdfPages } from "../src/pdf-process.ts";
import { create, pdfRead } from "../src/pdf.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });

/** Three pages, whatever the file is; the workspace is asked as for a real one. */
const threePages: PdfPages = {
  async read(path, ranges, taker, { workspace, signal }) {
    signal.throwIfAborted();
    await workspace.read(path, 1024);
    taker.document({ pages: 3, info: { title: "Leaves" } });
    for (const page of [1, 2, 3]) {
      const isWanted = ranges.some(([first, last]) => page >= first && page <= (last ?? 3));
      const text = page === 2 ? "" : "a leaf\n".repeat(page * 100);
      if (isWanted && !taker.page({ page, text, isDamaged: false })) return;
    }
  },
};
const tool = pdfRead(threePages);

toolConformance(tool, {
  input: { path: "a.pdf" },
  badInputs: [
    { path: "" },
    { path: "a.pdf", pages: "" },
    { path: "a.pdf", pages: "0" },
    { path: "a.pdf", pages: "one" },
    { path: "a.pdf", pages: "1,,2" },
    { path: "a.pdf", pages: 1 },
    { path: "a.pdf", max_chars: 199 },
    { path: "a.pdf", max_chars: 1e6 },
    { path: "a.pdf", offset: -1 },
    { path: "a.pdf", more: true },
  ],
  refused: [
    { input: { path: "../a.pdf" }, code: "PATH_OUTSIDE_WORKSPACE" },
    { input: { path: "a.pdf", pages: "3-1" }, code: "TOOL_BAD_INPUT" },
    { input: { path: "a.pdf", pages: "4-" }, code: "TOOL_BAD_INPUT" },
  ],
  files: { "a.pdf": "%PDF-1.4" },
  maxResultBytes: 65_536,
});

test("an answer that is full says where to go on", async () => {
  const files = { "a.pdf": "%PDF-1.4" };
  const run = (input: object) => tool.run(v.parse(tool.input, { path: "a.pdf", ...input }), fakeToolContext({ files }));
  expect(await run({ max_chars: 500 })).toEqual({
    page_count: 3,
    title: "Leaves",
    pages: [{ page: 1, text: expect.stringMatching(/^(a leaf\n)+(a lea?)?/) }],
    truncated: true,
    next_page: 1,
    next_offset: expect.any(Number),
  });
  expect(await run({ max_chars: 900 })).toMatchObject({
    notes: ["Page 2 has no text; it may be a scan."],
    truncated: true,
    next_page: 3,
  });
});

test("what is no PDF is told of before any process is started", async () => {
  const [real] = create(fakeFeatureContext(undefined)).tools!;
  const files = { "a.pdf": "hello", "empty.pdf": "" };
  for (const path of ["a.pdf", "empty.pdf"]) {
    const error = await real!.run(v.parse(real!.input, { path }), fakeToolContext({ files })).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({ code: "PDF_INVALID", message: "The file is no PDF: it does not begin as one." });
  }
});
