// Reads PDFs as the feature does, in its child process, out of a workspace that holds one file.
import { type ClientId, type Clock, type DocumentText, SvcError, type ToolContext } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { LIMITS, type Limits, type PdfPages, pdfPages } from "../src/pdf-process.ts";
import { pdfRead, pdfReader } from "../src/pdf.ts";

export const CHILD = `${import.meta.dirname}/child.ts`;
export const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(`${import.meta.dirname}/fixtures/${name}.pdf`));

export interface PdfAnswer {
  readonly page_count: number;
  readonly pages: readonly { readonly page: number; readonly text: string }[];
  readonly notes?: readonly string[];
  readonly truncated: boolean;
  readonly next_page?: number;
  readonly next_offset?: number;
  readonly title?: string;
  readonly author?: string;
  readonly producer?: string;
  readonly created?: string;
  readonly modified?: string;
}

export interface ReadingOptions {
  readonly limits?: Partial<Limits>;
  /** Default: one that stands still, so that no limit of time is ever reached. */
  readonly clock?: Clock;
  readonly child?: readonly [string, ...string[]];
}

export function reading({ limits, clock = fakeClock(), child = [process.execPath, CHILD] }: ReadingOptions = {}) {
  const context = fakeFeatureContext(undefined, { clock: clock as ReturnType<typeof fakeClock>, child: () => child });
  const pdf: PdfPages = pdfPages(context, { ...LIMITS, ...limits });
  const tool = pdfRead(pdf);
  return {
    pdf,
    read: async (bytes: Uint8Array, input: object = {}, more: Partial<ToolContext> = {}): Promise<PdfAnswer> =>
      (await tool.run(
        v.parse(tool.input, { path: "a.pdf", ...input }),
        contextOf(bytes, more),
      )) as unknown as PdfAnswer,
    readAsFile: (bytes: Uint8Array, offset: number, maxBytes: number): Promise<DocumentText> =>
      pdfReader(pdf).read("a.pdf", { offset, maxBytes }, contextOf(bytes)),
  };
}

function contextOf(bytes: Uint8Array, more: Partial<ToolContext> = {}): ToolContext {
  const context = fakeToolContext();
  const read: ToolContext["workspace"]["read"] = async (_path, maxBytes, offset = 0) => ({
    bytes: bytes.slice(offset, offset + maxBytes),
    truncated: bytes.byteLength > offset + maxBytes,
  });
  return { ...context, workspace: { ...context.workspace, read }, ...more };
}

export const client = (name: string): ClientId => name as ClientId;

/** The code it rejects with. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "it succeeded",
    (error: unknown) => (error instanceof SvcError ? error.code : `no code: ${String(error)}`),
  );
