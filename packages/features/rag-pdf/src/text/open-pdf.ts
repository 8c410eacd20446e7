/** pdf.js over bytes, with all it would ask the network, the system or a browser for switched off. */
import { getResolvedPDFJS } from "unpdf";
import { CMaps } from "./cmaps.ts";

export type Pdf = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>["getDocument"]>["promise"]>;

/** Rejects with errors of pdf.js, `PasswordException` where an empty password does not open it. */
export async function openPdf(data: Uint8Array<ArrayBuffer>): Promise<Pdf> {
  const { getDocument, VerbosityLevel } = await getResolvedPDFJS();
  return getDocument({
    data,
    verbosity: VerbosityLevel.ERRORS,
    BinaryDataFactory,
    cMapUrl: "cmaps/",
    cMapPacked: true,
    useWorkerFetch: false,
    useWasm: false,
    useSystemFonts: true, // "The system has the standard fonts": else their data would be asked for, which only painting needs.
    disableFontFace: true,
    disableAutoFetch: true,
    disableRange: true,
    disableStream: true,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    enableXfa: false,
    maxImageSize: 0,
  }).promise;
}

/** Whom pdf.js asks for what is not in the file. */
class BinaryDataFactory {
  readonly #cMaps = new CMaps();

  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    if (kind !== "cMapUrl") throw new Error("only CMaps are there");
    return this.#cMaps.find(filename);
  }
}
