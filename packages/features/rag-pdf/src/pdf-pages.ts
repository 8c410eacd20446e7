/** Reads PDFs of the workspace, a few at a time, each in a separate process. */
import type { FeatureContext, SharedHandle, ToolContext } from "@svc/contract";
import { failed, LIMITS, type Limits, notAPdf, tellPages, tooMuch } from "./pdf-process.ts";
import type { DocumentFacts, PageRange } from "./protocol.ts";

export interface PageOfPdf {
  readonly page: number;
  /** Empty where it is missing: a scan, perhaps. */
  readonly text: string;
  /** Something is there that can't be read. */
  readonly isDamaged: boolean;
}

/** Callbacks for the results; `page` returns whether to read the next page. */
export interface PageTaker {
  document(facts: DocumentFacts): void;
  page(page: PageOfPdf): boolean;
}

export interface PdfPages {
  /** Rejects with PDF_*, with what the workspace rejects with, and with the signal's reason. */
  read(
    path: string,
    ranges: readonly PageRange[],
    taker: PageTaker,
    context: Pick<ToolContext, "clientId" | "signal" | "workspace">,
  ): Promise<void>;
}

export function pdfPages(
  { child, clock, shared, perClient }: FeatureContext<unknown>,
  limits: Limits = LIMITS,
): PdfPages {
  // One file at a time for one client, two for all: a client with hostile files holds up no other.
  const own = perClient("reading", () => null);
  const places = [shared("place-1", null), shared("place-2", null)];
  return {
    async read(path, ranges, taker, { clientId, signal, workspace }) {
      signal.throwIfAborted();
      const { bytes: first } = await workspace.read(path, HEAD_BYTES);
      if (!Buffer.from(first).includes("%PDF-")) throw notAPdf();
      const pieces = piecesOf(path, workspace, limits.fileBytes);
      const read = async (): Promise<void> => {
        const command = child("pdf-text");
        for await (const line of tellPages(pieces, ranges, { command, clock, limits, signal })) {
          if ("failed" in line) throw failed(line.failed);
          if ("end" in line) return;
          if ("document" in line) taker.document(line.document);
          else if (!taker.page({ page: line.page, text: line.text, isDamaged: line.damaged === true })) return;
        }
      };
      await own.of(clientId).write(() => inFreePlace(places, read, signal), signal);
    },
  };
}

/** Where readers look for the header: `%PDF-` may come after something else. */
const HEAD_BYTES = 1024;
const PIECE_BYTES = 1_048_576;

async function* piecesOf(
  path: string,
  workspace: ToolContext["workspace"],
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; ;) {
    const { bytes, truncated } = await workspace.read(path, PIECE_BYTES, offset);
    offset += bytes.byteLength;
    if (offset > maxBytes || (offset === maxBytes && truncated)) throw tooMuch("file");
    yield bytes;
    if (!truncated || bytes.byteLength === 0) return;
  }
}

/** Runs the work in whichever place is free first. */
async function inFreePlace(
  places: readonly SharedHandle<null>[],
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<null> {
  let isTaken = false;
  await new Promise<void>((resolve, reject) => {
    for (const place of places) {
      const once = async (): Promise<null> => {
        if (isTaken) return null;
        isTaken = true;
        await work().then(resolve, reject);
        return null;
      };
      place.write(once, signal).catch(reject);
    }
  });
  return null;
}
